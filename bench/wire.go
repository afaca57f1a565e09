//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"modeldex/dataset"
	"modeldex/httpapi"
	"modeldex/httpapi/rows"
	"modeldex/httpapi/wiretest"
	"modeldex/index"
	"modeldex/quota"
)

// wireCmd checks every response of a server against its request, over connections used in every
// legal and many illegal ways; see package wiretest.
type wireCmd struct {
	Responses int    `default:"300000" help:"Responses to check."`
	Seed      uint64 `default:"1" help:"Decides what is sent, but for the timing of segments."`
	Data      string `default:"data" placeholder:"DIR" help:"Dataset to serve."`
}

// Run attacks a server in this process until the responses are checked.
func (c *wireCmd) Run() error {
	dir, err := os.MkdirTemp("", "wire")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	addr, secret, stop, err := c.serve(filepath.Join(dir, "modeldex.db"))
	if err != nil {
		return err
	}
	began := time.Now()
	report, err := wiretest.Run(wiretest.Options{Addr: addr, Secret: secret, Responses: c.Responses, Seed: c.Seed})
	if err = errors.Join(err, stop()); err != nil {
		return err
	}
	fmt.Printf("%d responses on %d connections, %d of them broken off, in %.0f s: %d faults\n",
		report.Responses, report.Connections, report.BrokenOff, time.Since(began).Seconds(), len(report.Faults))
	for _, f := range report.Faults {
		fmt.Println(f)
	}
	if len(report.Faults) > 0 {
		return errors.New("responses were lost, swapped or torn")
	}
	return nil
}

// serve starts a server with a key that may call without end.
func (c *wireCmd) serve(path string) (addr, secret string, stop func() error, err error) {
	set, err := dataset.Load(context.Background(), dataset.Dir(c.Data), dataset.Options{})
	if err != nil {
		return "", "", nil, err
	}
	gen, err := index.Build(context.Background(), set, rows.Renderers)
	if err != nil {
		return "", "", nil, err
	}
	live := &index.Live{}
	live.Publish(gen)
	ledger, err := quota.Open(path, quota.Options{})
	if err != nil {
		return "", "", nil, err
	}
	tiers, err := quota.NewTiers(quota.Tier{Name: quota.FreeTier, CallsPerMonth: quota.MaxLimit, Burst: quota.Burst{Rate: 1_000_000, PerSeconds: 1, Depth: 1_000_000}})
	if err != nil {
		return "", "", nil, err
	}
	keeper, err := quota.NewKeeper(ledger, quota.Config{Tiers: tiers})
	if err != nil {
		return "", "", nil, err
	}
	issued, _, err := keeper.Issue(context.Background(), quota.IssueRequest{Name: "wire", Email: "wire@example.com", UseCase: "tests"})
	if err != nil {
		return "", "", nil, err
	}
	server, err := httpapi.New(httpapi.Config{Live: live, Keeper: keeper})
	if err != nil {
		return "", "", nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", nil, err
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	return ln.Addr().String(), issued.Secret.Reveal(), func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		return errors.Join(server.Shutdown(ctx), <-served, keeper.Close(ctx), ledger.Close())
	}, nil
}

//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// ledgersCmd compares a server whose ledger is in etcd with one whose ledger is a file.
type ledgersCmd struct {
	Data   string        `default:"data" placeholder:"DIR" help:"Dataset to serve."`
	Round  time.Duration `default:"2s" help:"How long one round asks one server."`
	Rounds int           `default:"9" help:"Rounds; figures are medians of them."`
	Conns  int           `default:"32" help:"Connections."`
	Keys   int           `default:"100" help:"Keys that take turns."`
}

// minLedgerRatio is the goal: the share of the file's rate that etcd's must reach.
const minLedgerRatio = 0.97

// Run prints a table; it ends with 1 if the goal is missed. It needs the etcd program.
func (c *ledgersCmd) Run() (err error) {
	dir, err := os.MkdirTemp("", "bench-ledgers")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, data, err := programAndData(dir, c.Data)
	if err != nil {
		return err
	}
	member, err := startMember(dir)
	if err != nil {
		return err
	}
	defer member.stop()
	address := "etcd://" + member.addr + "/bench"

	file := filepath.Join(dir, "modeldex.db")
	keys, err := issueKeys(file, c.Keys, "free")
	if err != nil {
		return err
	}
	if out, err := exec.Command(program, "ledger", "copy", file, address).CombinedOutput(); err != nil {
		return fmt.Errorf("copying the ledger: %w\n%s", err, out)
	}
	var targets []*target
	q := question{name: "first-page", path: first, keys: c.Keys}
	for _, ledger := range []string{address, file} {
		own, err := os.MkdirTemp(dir, "server")
		if err != nil {
			return err
		}
		s, err := serve(program, own, data, ledger, keys, "--log-level", "error")
		if err != nil {
			return err
		}
		defer s.stop()
		targets = append(targets, &target{name: ours, process: s.process, ask: s.ask(q), status: q.wants()})
	}
	targets[0].name, targets[1].name = "etcd", "file"
	o := &options{compareCmd: compareCmd{Round: c.Round, Rounds: c.Rounds, Conns: c.Conns}}
	rates, err := o.measure(q, targets)
	if err != nil {
		return err
	}
	fmt.Println("| ledger | pages per second | p50, us | p99, us | processor time of the server, us per page |")
	fmt.Println("|---|---|---|---|---|")
	for _, r := range rates {
		fmt.Printf("| %s | %.0f | %.0f | %.0f | %.1f |\n", r.Target, median(r.PerSec), median(r.P50), median(r.P99), median(r.CPU))
	}
	ratios := rates[1].Ratios
	fmt.Printf("\nRate with the ledger in etcd as a share of that with a file, by round: median %.2f, %.2f to %.2f\n",
		median(ratios), slices.Min(ratios), slices.Max(ratios))
	if median(ratios) < minLedgerRatio {
		return fmt.Errorf("the median is below the goal of %.2f", minLedgerRatio)
	}
	return nil
}

// startMember runs an etcd of one member.
func startMember(dir string) (*process, error) {
	client, err := freeAddr()
	if err != nil {
		return nil, err
	}
	peer, err := freeAddr()
	if err != nil {
		return nil, err
	}
	p, err := startProcess(dir, client, "etcd", "--data-dir", filepath.Join(dir, "etcd"), "--log-level", "error",
		"--listen-client-urls", "http://"+client, "--advertise-client-urls", "http://"+client,
		"--listen-peer-urls", "http://"+peer, "--initial-advertise-peer-urls", "http://"+peer,
		"--initial-cluster", "default=http://"+peer)
	if err != nil {
		return nil, fmt.Errorf("%w (Debian: etcd-server)", err)
	}
	return p, p.awaitListening(10 * time.Second)
}

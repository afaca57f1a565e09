package httpapi

import (
	"context"
	"flag"
	"net"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
	"modeldex/httpapi/wiretest"
)

var wireResponses = flag.Int("wire", datasettest.Rounds(300, 2500), "responses the wire test checks")

// TestWire attacks the connections of the server; see package wiretest.
func TestWire(t *testing.T) {
	t.Parallel()
	s := newService(t, mustShipped(t).live)
	s.pay(t) // so that there are streams among the responses
	attack(t, wiretest.Options{Addr: s.listenTCP(t), Secret: s.secret, Responses: *wireResponses, Seed: seedOf(t)})
}

func attack(t *testing.T, opt wiretest.Options) {
	t.Helper()
	report, err := wiretest.Run(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d responses on %d connections, %d broken off", report.Responses, report.Connections, report.BrokenOff)
	for _, f := range report.Faults {
		t.Error(f)
	}
}

// listenTCP serves on a real port as well, until the test ends.
func (s *service) listenTCP(t *testing.T) string {
	t.Helper()
	_, addr := s.limitedTCP(t, 0, 0)
	return addr
}

// limitedTCP is listenTCP with limits of connections.
func (s *service) limitedTCP(t *testing.T, most, perAddress int) (server *Server, addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.cfg
	cfg.Connections, cfg.ConnectionsPerAddress, cfg.TrustedProxies = most, perAddress, nil
	other, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	other.streams.Max, other.streams.PerKey = s.streams.Max, s.streams.PerKey
	served := make(chan error, 1)
	go func() { served <- other.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := other.Shutdown(ctx); err != nil {
			t.Errorf("shutting down: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return other, ln.Addr().String()
}

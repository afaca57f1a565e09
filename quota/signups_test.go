package quota

import (
	"net/netip"
	"sync"
	"testing"
	"time"
)

// An address is forgotten when its hour is over.
func TestSignupsForget(t *testing.T) {
	s := &signups{limit: 1, issued: map[netip.Prefix][]time.Duration{}}
	addr := func(i byte) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, i}) }
	for i := range byte(100) {
		if wait := s.take(addr(i), time.Duration(i)*time.Minute); wait != 0 {
			t.Fatalf("take(%v) = %v, want 0", addr(i), wait)
		}
	}
	if len(s.issued) != 60 {
		t.Errorf("limiter knows %d addresses, want those of the last hour", len(s.issued))
	}
	if wait := s.take(addr(99), 100*time.Minute); wait != 59*time.Minute {
		t.Errorf("the address that asked last has to wait %v, want 59 minutes", wait)
	}
}

// A key that could not be issued after all gives its place back, and parallel requests never
// pass the limit.
func TestSignupsGiveBack(t *testing.T) {
	s := &signups{limit: 5, issued: map[netip.Prefix][]time.Duration{}}
	addr := netip.MustParseAddr("192.0.2.1")
	for range 20 {
		if wait := s.take(addr, time.Minute); wait != 0 {
			t.Fatalf("take() = %v, want 0", wait)
		}
		s.giveBack(addr, time.Minute)
	}
	var mu sync.Mutex
	var tasks sync.WaitGroup
	taken := 0
	for range 50 {
		tasks.Go(func() {
			if s.take(addr, 2*time.Minute) == 0 {
				mu.Lock()
				taken++
				mu.Unlock()
			}
		})
	}
	tasks.Wait()
	if taken != 5 {
		t.Errorf("%d of 50 parallel requests passed, want 5", taken)
	}
}

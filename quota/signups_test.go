package quota

import (
	"net/netip"
	"sync"
	"testing"
	"time"
)

// However many addresses ask, the limiter's memory is bounded, and the ones that asked last
// are those it knows.
func TestSignupsAreBounded(t *testing.T) {
	s := &signups{limit: 1, issued: map[netip.Prefix][]time.Duration{}}
	addr := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}) }
	for i := range maxSources + 10 {
		if wait := s.take(addr(i), time.Duration(i)); wait != 0 {
			t.Fatalf("take(%v) = %v, want 0", addr(i), wait)
		}
	}
	if len(s.issued) != maxSources {
		t.Errorf("limiter knows %d addresses, want %d", len(s.issued), maxSources)
	}
	if s.take(addr(0), time.Second) != 0 {
		t.Error("the address quiet longest is still known")
	}
	if wait := s.take(addr(maxSources+9), time.Minute); wait < 59*time.Minute {
		t.Error("the address that asked last is forgotten")
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

package fairuse

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

var (
	start = time.Date(2026, 11, 22, 6, 0, 0, 0, time.UTC)
	home  = netip.MustParseAddr("192.0.2.7")
)

func TestTake(t *testing.T) {
	l := New(60, 3, start)
	now := start.Add(time.Hour)
	for i := range 3 {
		if wait := l.Take(home, 1, now); wait != 0 {
			t.Fatalf("request %d of 3 waits %s", i+1, wait)
		}
	}
	wait := l.Take(home, 1, now)
	if wait != time.Second {
		t.Fatalf("the fourth request waits %s, want 1s", wait)
	}
	if again := l.Take(home, 1, now.Add(wait-time.Nanosecond)); again <= 0 {
		t.Error("a request that comes too early is let through")
	}
	if again := l.Take(home, 1, now.Add(wait)); again != 0 {
		t.Errorf("a request that waited as told waits %s more", again)
	}
	if other := l.Take(netip.MustParseAddr("192.0.2.8"), 3, now); other != 0 {
		t.Errorf("another address waits %s", other)
	}
}

func TestCost(t *testing.T) {
	l := New(60, 10, start)
	if wait := l.Take(home, 5, start) + l.Take(home, 5, start); wait != 0 {
		t.Fatalf("10 units of 10 wait %s", wait)
	}
	if wait := l.Take(home, 5, start); wait != 5*time.Second {
		t.Errorf("5 units of an empty allowance wait %s, want 5s", wait)
	}
	if wait := l.Take(home, 100, start.Add(time.Hour)); wait != 0 {
		t.Errorf("more than the whole allowance, when it is full, waits %s", wait)
	}
	if wait := l.Take(home, 0, start.Add(time.Hour)); wait != 0 {
		t.Errorf("a request that costs nothing waits %s", wait)
	}
}

func TestSubscriber(t *testing.T) {
	l := New(60, 1, start)
	tests := []struct {
		name, first, second string
		same                bool
	}{
		{"one network of IPv6", "2001:db8:0:1::1", "2001:db8:0:1:ffff::2", true},
		{"two networks of IPv6", "2001:db8:0:2::1", "2001:db8:0:3::1", false},
		{"IPv4 written as IPv6", "198.51.100.1", "::ffff:198.51.100.1", true},
		{"two addresses of IPv4", "198.51.100.2", "198.51.100.3", false},
		{"zones", "fe80::1%eth0", "fe80::1%eth1", true},
	}
	for _, test := range tests {
		if wait := l.Take(netip.MustParseAddr(test.first), 1, start); wait != 0 {
			t.Errorf("%s: the first request waits %s", test.name, wait)
		}
		if limited := l.Take(netip.MustParseAddr(test.second), 1, start) > 0; limited != test.same {
			t.Errorf("%s: the second request is limited: %t, want %t", test.name, limited, test.same)
		}
	}
}

func TestNoLimit(t *testing.T) {
	l := New(0, 10, start)
	for range 1000 {
		if wait := l.Take(home, 100, start); wait != 0 {
			t.Fatalf("without a limit a request waits %s", wait)
		}
	}
}

// TestMemory holds that any number of addresses takes bounded memory, and that an address that
// goes on asking is not forgotten meanwhile.
func TestMemory(t *testing.T) {
	l := New(1, 2, start)
	random := rand.New(rand.NewPCG(1, 2))
	l.Take(home, 2, start)
	for i := range 5 * maxClients {
		var b [16]byte
		for j := range b {
			b[j] = byte(random.Uint32())
		}
		l.Take(netip.AddrFrom16(b), 1, start)
		if n := len(l.recent) + len(l.older); n > 2*maxClients {
			t.Fatalf("after %d addresses %d are remembered, want at most %d", i+1, n, 2*maxClients)
		}
	}
	l.Take(home, 2, start.Add(time.Hour))
	for i := range maxClients / 2 {
		l.Take(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), 1, start)
	}
	if wait := l.Take(home, 1, start.Add(time.Hour)); wait == 0 {
		t.Error("an address with an empty allowance was forgotten after few others")
	}
}

// TestModel compares the limiter with a bucket that is refilled in plain steps.
func TestModel(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	l := New(60, 8, start)
	tokens, last := 8.0, start
	now := start
	for i := range 5000 {
		now = now.Add(time.Duration(random.IntN(4)) * 250 * time.Millisecond)
		tokens = min(8, tokens+now.Sub(last).Seconds())
		last = now
		cost := 1 + random.IntN(3)
		want := tokens >= float64(cost)
		if got := l.Take(home, cost, now) == 0; got != want {
			t.Fatalf("step %d: %d units of %.2f are let through: %t, want %t", i, cost, tokens, got, want)
		}
		if want {
			tokens -= float64(cost)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	l := New(120, 240, start)
	b.ReportAllocs()
	for i := range b.N {
		l.Take(netip.AddrFrom4([4]byte{10, byte(i >> 12), byte(i >> 8), byte(i)}), 1, start.Add(time.Duration(i)*time.Millisecond))
	}
}

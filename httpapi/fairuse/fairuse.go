// Package fairuse limits how much each client address may ask for without a key.
//
// Each address has an allowance: a number of requests at once, refilled at a steady rate (a token
// bucket). A request can cost more than one. One address is a whole IPv4 address, or the
// first 64 bits of an IPv6 address, which is what one subscriber is given.
//
// The rule is the generic cell rate algorithm (ITU-T I.371), which needs one number for each
// address: the time when its allowance is full again. A limiter of golang.org/x/time/rate for each
// address would take ten times the memory, and have a lock each.
//
// A Limiter is safe for concurrent use. It forgets everything at a restart.
package fairuse

import (
	"net/netip"
	"sync"
	"time"
)

// maxClients bounds the addresses in each of the two halves of the memory: about 6 MB in all.
const maxClients = 1 << 15

// Limiter counts requests of addresses.
type Limiter struct {
	step  time.Duration // in which one request is refilled
	depth time.Duration // in which the whole allowance is refilled

	mu sync.Mutex
	// recent and older map an address to the time when its allowance is full again. When recent has as many as it may, it
	// becomes older, and what was older is forgotten: those addresses have asked for nothing since 32,768 others did.
	recent, older map[netip.Addr]time.Duration
	start         time.Time
}

// New makes a limiter of perMinute requests, with at most burst at once. It is nil, which means no limit, if perMinute
// is not above 0. A burst below 1 counts as 1.
func New(perMinute, burst int, start time.Time) *Limiter {
	if perMinute <= 0 {
		return nil
	}
	step := time.Minute / time.Duration(perMinute)
	return &Limiter{step: step, depth: step * time.Duration(max(burst, 1)), recent: map[netip.Addr]time.Duration{}, start: start}
}

// Take counts a request of so many units at a time. It returns 0, or how long to wait until the
// allowance is enough; nothing is counted then. A request that costs more than the whole allowance
// is counted once that is full. Addresses that are not valid share one allowance.
func (l *Limiter) Take(addr netip.Addr, cost int, now time.Time) time.Duration {
	if l == nil || cost <= 0 {
		return 0
	}
	at := now.Sub(l.start)
	l.mu.Lock()
	defer l.mu.Unlock()
	key := subscriber(addr)
	full := max(l.fullAt(key), at)
	price := min(l.step*time.Duration(cost), l.depth)
	if wait := full + price - at - l.depth; wait > 0 {
		return wait
	}
	l.keep(key, full+price)
	return 0
}

func (l *Limiter) fullAt(key netip.Addr) time.Duration {
	if at, known := l.recent[key]; known {
		return at
	}
	return l.older[key]
}

func (l *Limiter) keep(key netip.Addr, full time.Duration) {
	if _, known := l.recent[key]; !known && len(l.recent) >= maxClients {
		l.older, l.recent = l.recent, map[netip.Addr]time.Duration{}
	}
	l.recent[key] = full
}

func subscriber(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.Addr()
		}
	}
	return addr
}

// Daily gives each address so many calls a day (UTC). It is safe for concurrent use and forgets everything at a restart.
type Daily struct {
	perDay int

	mu   sync.Mutex
	day  time.Time // when the calls of used began to count
	used map[netip.Addr]int
}

// NewDaily allows perDay calls; nil, which must not be used, if perDay is not above 0.
func NewDaily(perDay int) *Daily {
	if perDay <= 0 {
		return nil
	}
	return &Daily{perDay: perDay}
}

// NextDay is when the calls of a day begin anew.
func NextDay(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour) }

// Take counts a call of an address, and reports whether it has one left.
func (d *Daily) Take(addr netip.Addr, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := d.begin(addr, now)
	if d.used[key] >= d.perDay {
		return false
	}
	d.used[key]++
	return true
}

// GiveBack takes a call of the same day back.
func (d *Daily) GiveBack(addr netip.Addr, now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if key := d.begin(addr, now); d.used[key] > 0 {
		d.used[key]--
	}
}

// Left is how many calls of the limit an address has left today.
func (d *Daily) Left(addr netip.Addr, now time.Time) (limit, left int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.perDay, d.perDay - d.used[d.begin(addr, now)]
}

// begin starts a new day, and starts anew where more addresses have called than are remembered.
func (d *Daily) begin(addr netip.Addr, now time.Time) netip.Addr {
	if day := now.UTC().Truncate(24 * time.Hour); !day.Equal(d.day) || len(d.used) >= 2*maxClients {
		d.day, d.used = day, map[netip.Addr]int{}
	}
	return subscriber(addr)
}

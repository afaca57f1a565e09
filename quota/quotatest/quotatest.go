// Package quotatest helps tests that need a keeper, and has the tests that every quota.Store passes. New makes a keeper
// on a ledger in the test's directory, with a clock that does not run. When the test ends, it checks that the ledger
// never shows fewer calls than were charged.
package quotatest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modeldex/quota"
)

// Start is where every clock begins: a moment in the middle of a month.
var Start = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

// Clock is a wall clock and a monotonic clock that move only when told. Safe for concurrent use.
type Clock struct{ wall, mono atomic.Int64 }

// NewClock returns a clock at t.
func NewClock(t time.Time) *Clock {
	c := &Clock{}
	c.Jump(t)
	c.mono.Store(int64(time.Hour))
	return c
}

// Now is the wall clock, for quota.Config.Now.
func (c *Clock) Now() time.Time { return time.Unix(0, c.wall.Load()).UTC() }

// Mono is the monotonic clock, for quota.Config.Mono.
func (c *Clock) Mono() time.Duration { return time.Duration(c.mono.Load()) }

// Advance lets d, which must not be negative, pass on both clocks.
func (c *Clock) Advance(d time.Duration) {
	c.wall.Add(int64(d))
	c.mono.Add(int64(d))
}

// Jump sets the wall clock to t; the monotonic clock does not notice.
func (c *Clock) Jump(t time.Time) { c.wall.Store(t.UnixNano()) }

// Kit is a keeper with its ledger and clock. The embedded keeper changes with Reopen.
type Kit struct {
	*quota.Keeper
	Ledger *quota.Ledger
	Clock  *Clock
	Path   string

	tb     testing.TB
	cfg    quota.Config
	issued int

	mu      sync.Mutex
	charged map[quota.Count]uint64 // calls MustSpend has charged, by ID and Month
}

// New returns a kit whose keeper was made with cfg; clocks cfg leaves nil are the kit's. When
// the test ends the keeper and the ledger are closed and the invariants checked.
func New(tb testing.TB, cfg quota.Config) *Kit {
	tb.Helper()
	kit := &Kit{Clock: NewClock(Start), Path: filepath.Join(tb.TempDir(), "modeldex.db"), tb: tb, charged: map[quota.Count]uint64{}}
	if cfg.Now == nil {
		cfg.Now, cfg.Mono = kit.Clock.Now, kit.Clock.Mono
	}
	cfg.CommitEvery = cmp.Or(cfg.CommitEvery, time.Microsecond) // tests need not spare the disk
	cfg.LeaseWait = cmp.Or(cfg.LeaseWait, 30*time.Second)       // a slow machine must not look like a failing ledger
	kit.cfg = cfg
	kit.Start()
	tb.Cleanup(func() {
		if kit.Keeper != nil {
			kit.Stop()
		}
		if report, err := quota.Check(kit.Path); err != nil || len(report.Findings) > 0 {
			kit.tb.Errorf("after the test the ledger has findings: %v, %v", report.Findings, err)
		}
	})
	return kit
}

// Start opens the ledger and makes a keeper, after a Stop.
func (kit *Kit) Start() {
	kit.tb.Helper()
	var err error
	if kit.Ledger, err = quota.Open(kit.Path, quota.Options{}); err != nil {
		kit.tb.Fatal(err)
	}
	if kit.Keeper, err = quota.NewKeeper(context.Background(), kit.Ledger, kit.cfg); err != nil {
		kit.tb.Fatal(err)
	}
}

// Stop closes keeper and ledger, so that the file is free for others. It compares what MustSpend charged with the
// ledger. Calls the test charged by other means may come on top.
func (kit *Kit) Stop() {
	kit.tb.Helper()
	patience := time.Minute
	if kit.tb.Failed() {
		patience = time.Second // a test that failed may have left calls without an end
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := kit.Keeper.Close(ctx)
	for of, charged := range kit.charged {
		batch := []quota.Count{of}
		if err := kit.Ledger.Counts(ctx, batch); err != nil || batch[0].Total < charged {
			kit.tb.Errorf("ledger shows %d calls of %s in %s (%v), fewer than the %d charged", batch[0].Total, of.ID, of.Month, err, charged)
		}
	}
	if err := errors.Join(err, kit.Ledger.Close()); err != nil {
		kit.tb.Error(err)
	}
	kit.Keeper, kit.Ledger = nil, nil
}

// Reopen stops the keeper cleanly and starts another one on the same file.
func (kit *Kit) Reopen() {
	kit.tb.Helper()
	kit.Stop()
	kit.Start()
}

// Key is an issued key ready to call with.
type Key struct {
	Secret quota.Secret
	Digest quota.Digest
	ID     quota.ID
}

// MustIssue issues a key in a tier; an empty one is free. Every key has an address of its own.
func (kit *Kit) MustIssue(tier string, limit uint64) Key {
	kit.tb.Helper()
	kit.issued++
	issued, refusal, err := kit.Issue(context.Background(), quota.IssueRequest{
		Name: "A tester", Email: fmt.Sprintf("tester-%d@example.com", kit.issued), UseCase: "Testing", Tier: tier, Limit: limit,
	})
	if err != nil || refusal.Reason != 0 {
		kit.tb.Fatalf("Issue() = %+v, %v, want a key", refusal, err)
	}
	return kit.KeyOf(issued)
}

// KeyOf returns an issued key ready to call with.
func (kit *Kit) KeyOf(issued quota.IssuedKey) Key {
	kit.tb.Helper()
	digest, ok := quota.ParseKey(issued.Secret.Reveal(), kit.KeyPrefix())
	if !ok {
		kit.tb.Fatalf("ParseKey(%v) = false, want the issued key to parse", issued.Secret)
	}
	return Key{issued.Secret, digest, issued.Account.ID}
}

// MustSpend admits and charges n calls, letting as much time pass as the burst asks for, and
// returns the last standing. Any other rejection fails the test.
func (kit *Kit) MustSpend(key Key, n int) (last quota.Standing) {
	kit.tb.Helper()
	for range n {
		call := kit.Admit(key.Digest)
		for call.Verdict == quota.BurstExceeded {
			kit.Clock.Advance(call.Standing().RetryAfter)
			call = kit.Admit(key.Digest)
		}
		if call.Verdict != quota.Admitted {
			kit.tb.Fatalf("Admit() = %v, want admitted", call.Verdict)
		}
		last = call.Charge()
		kit.mu.Lock()
		kit.charged[quota.Count{ID: key.ID, Month: quota.MonthOf(time.Unix(last.Reset-1, 0))}]++
		kit.mu.Unlock()
	}
	return last
}

package quota

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// Config tunes a Keeper. The zero value is a working keeper with the contract's tiers and no limits on issuing.
type Config struct {
	Tiers     Tiers  // empty: defaultTiers
	KeyPrefix string // what new keys start with; empty: "mdx"

	// SignupsPerHour is the maximum number of keys per address per hour; 0 means no limit. Local requests, operators and
	// unknown addresses are exempt.
	SignupsPerHour int
	// KeysPerEmail is the maximum number of unrevoked keys per e-mail address; 0 means no limit. Local requests and
	// operators are exempt. Addresses are compared after NFKC, case folding and IDNA.
	KeysPerEmail int
	// PlusTags compares e-mail addresses without the tag after a plus sign: name+tag@example.com
	// counts as name@example.com.
	PlusTags bool

	Now  func() time.Time     // the wall clock, for months; nil: time.Now
	Mono func() time.Duration // a clock that never jumps, for bursts and rates; nil: the monotonic part of Now

	// LeaseSpan is how much of a key's own traffic is leased ahead; 0: one second. A longer span
	// means fewer writes and, after a crash, more calls counted that were not answered.
	LeaseSpan time.Duration

	LeaseWait    time.Duration // how long a call may wait for a lease; 0: 2 seconds
	CommitEvery  time.Duration // the least time from one commit's start to the next; 0: 25 ms, so 40 a second
	StoreTimeout time.Duration // how long one commit may take; 0: 5 seconds

	// OnError gets the errors that no caller waits for: leases that could not be written,
	// a watch that ended. It may be called from several goroutines; nil drops them. Leases that cannot be
	// written are reported at first, when the reason changes, and once per minute.
	OnError func(error)
	// OnRecovered is called when leases can be written again, with for how long they could not; nil drops it.
	OnRecovered func(after time.Duration)
}

func (c *Config) fill() error {
	if c.Tiers.list == nil {
		c.Tiers = defaultTiers()
	}
	c.KeyPrefix = cmp.Or(c.KeyPrefix, "mdx")
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.OnError == nil {
		c.OnError = func(error) {}
	}
	if c.OnRecovered == nil {
		c.OnRecovered = func(time.Duration) {}
	}
	c.LeaseSpan = orDefault(c.LeaseSpan, time.Second)
	c.LeaseWait = orDefault(c.LeaseWait, 2*time.Second)
	c.CommitEvery = orDefault(c.CommitEvery, 25*time.Millisecond)
	c.StoreTimeout = orDefault(c.StoreTimeout, 5*time.Second)
	return CheckPrefix(c.KeyPrefix)
}

func orDefault(d, def time.Duration) time.Duration { return cmp.Or(max(d, 0), def) }

// Keeper decides calls from memory and keeps the ledger ahead of them. Safe for concurrent use.
type Keeper struct {
	*accounts // issues keys and changes them

	stop  context.CancelFunc
	tasks sync.WaitGroup
}

// NewKeeper loads all accounts of store and starts the committer. The loading ends when start does, and after a minute;
// what the keeper does later does not depend on it. The store stays the caller's, who closes it after the keeper. A
// tier some account has but cfg.Tiers lacks is an AccountTierError, because the account would have no limits; one that
// is revoked needs none.
func NewKeeper(start context.Context, store Store, cfg Config) (*Keeper, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	k := &Keeper{accounts: &accounts{
		cfg: &cfg, store: store, clock: &clock{now: cfg.Now, mono: cfg.Mono, started: cfg.Now()}, health: &health{lost: make(chan struct{})},
		directory: &directory{tiers: cfg.Tiers, byID: map[ID]*account{}, byDigest: map[Digest]credential{}, plans: map[planKey]*plan{}},
		signups:   &signups{limit: cfg.SignupsPerHour, issued: map[netip.Prefix][]time.Duration{}},
	}}
	k.leases = &leases{cfg: &cfg, store: store, clock: k.clock, health: k.health, kick: make(chan struct{}, 1)}
	if err := k.load(start); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	k.tasks.Go(func() { k.leases.run(ctx) })
	k.tasks.Go(func() { k.runWatch(ctx) })
	return k, nil
}

// load reads the accounts and this month's counts.
func (k *Keeper) load(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	newest, err := k.store.Newest(ctx)
	if err != nil {
		return err
	}
	now := k.cfg.Now()
	cal := calendarOf(MonthOf(now))
	if newest > cal.month && calendarOf(newest).covers(now.Unix()) {
		cal = calendarOf(newest) // the clock fell back a little across a month's end while no process served
	}
	cal.again = newest > cal.month
	k.clock.cal.Store(cal)
	return k.store.Load(ctx, cal.month, func(r Record, calls uint64) error {
		acc, _, err := k.directory.apply(r)
		if err == nil {
			acc.loaded = uint64(cal.month)<<countBits | calls
		}
		return err
	})
}

// Close stops the keeper and settles the ledger: calls leased and never spent are taken back, so the counts are exact.
// From its first moment on no call is admitted. Calls still held are waited for until ctx ends; those held longer stay
// counted. The store is left open. A second Close returns ErrClosed.
func (k *Keeper) Close(ctx context.Context) error {
	if !k.leases.close() {
		return ErrClosed
	}
	k.stop()
	k.tasks.Wait()
	for k.leases.drain() > 0 && sleep(ctx, 5*time.Millisecond) == nil { // what is held then stays counted
	}
	return k.leases.settleAll()
}

// sleep waits for d or for ctx to end.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runWatch follows changes that other processes make to the ledger. When the watch breaks, that is
// reported once, and all accounts are read again before the next watch begins.
func (k *Keeper) runWatch(ctx context.Context) {
	apply := func(r Record) {
		if err := k.apply(r); err != nil {
			k.cfg.OnError(err)
		}
	}
	for ctx.Err() == nil {
		err := k.store.Watch(ctx, apply)
		for err != nil && ctx.Err() == nil {
			if note(&k.health.blind, err) {
				k.cfg.OnError(fmt.Errorf("watching ledger: %w", err))
			}
			if err = sleep(ctx, rewatchEvery); err == nil {
				err = k.reload(ctx)
			}
		}
		if ctx.Err() == nil {
			k.health.blind.Store(nil)
		}
	}
}

// rewatchEvery is the pause before a broken watch is tried again.
const rewatchEvery = 250 * time.Millisecond

// reload catches up on changes missed while nothing was watched. Accounts that cannot be taken over, such as those
// of a tier that only other servers know yet, are reported together and do not keep back the others.
func (k *Keeper) reload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	var first error
	failed := 0
	err := k.store.Load(ctx, k.clock.cal.Load().month, func(r Record, _ uint64) error {
		if err := k.apply(r); err != nil {
			failed++
			first = cmp.Or(first, err)
		}
		return nil
	})
	if failed > 0 {
		k.cfg.OnError(fmt.Errorf("rereading accounts: %d cannot be used, the first: %w", failed, first))
	}
	return err
}

// loadTimeout bounds one reading of all accounts: a million take some seconds.
const loadTimeout = time.Minute

// Lost returns a channel that is closed once the ledger's file was removed or replaced while it was in use
// (ErrRemoved). Nothing written from then on would be found after a restart, so nothing is acknowledged any more, and
// the process should end with an error. It is noticed at every write, and within about a second without one.
func (k *Keeper) Lost() <-chan struct{} { return k.health.lost }

// Warnings lists problems that do not stop service: those found when the store was opened, and a failed account change.
func (k *Keeper) Warnings() (out []string) {
	if w, ok := k.store.(interface{ Warnings() []string }); ok {
		out = w.Warnings()
	}
	if unkept := k.health.unkept.Load(); unkept != nil {
		out = append(out, "the last change of a key could not be written: "+reason(*unkept))
	}
	return out
}

// pingTimeout bounds Ready: load balancers give up after a few seconds.
const pingTimeout = 2 * time.Second

// Ready reports whether the ledger answers and leases can be written.
func (k *Keeper) Ready(ctx context.Context) error {
	closed, failing := k.leases.state()
	if closed {
		return ErrClosed
	}
	if blind := k.health.blind.Load(); blind != nil {
		failing = errors.Join(failing, *blind)
	}
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	return errors.Join(failing, k.health.noteLost(k.store.Ping(ctx)))
}

// Stats are counters for metrics.
type Stats struct {
	Accounts int    // accounts in memory, of every status
	Periods  int    // accounts that called this month
	Commits  uint64 // lease commits that succeeded
	Failures uint64 // lease commits that failed
	Failing  bool   // the last one did
	Blind    bool   // changes that other processes make to accounts are not seen at present
	Unkept   bool   // the last change of an account could not be written
}

// Stats returns the counters. It is cheap enough for every scrape.
func (k *Keeper) Stats() Stats {
	l := k.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	return Stats{
		Accounts: k.directory.size(), Periods: len(l.live), Commits: l.commits, Failures: l.failures, Failing: l.outage.err != nil,
		Blind: k.health.blind.Load() != nil, Unkept: k.health.unkept.Load() != nil,
	}
}

// Tiers returns the tiers the keeper works with.
func (k *Keeper) Tiers() Tiers { return k.cfg.Tiers }

// KeyPrefix returns what the keeper's keys start with.
func (k *Keeper) KeyPrefix() string { return k.cfg.KeyPrefix }

// health is what is known of the state of the ledger beside the leases.
type health struct {
	lost   chan struct{}         // closed when the store has returned ErrRemoved
	once   sync.Once             // closes lost
	blind  atomic.Pointer[error] // why changes of other processes are not seen; nil when they are
	unkept atomic.Pointer[error] // why the last change of an account could not be written; nil when it was
}

// noteLost closes lost if err says that the file is gone, and returns err.
func (h *health) noteLost(err error) error {
	if errors.Is(err, ErrRemoved) {
		h.once.Do(func() { close(h.lost) })
	}
	return err
}

// noteChange notes whether a change of an account was written, and returns err. Calls may go on while none can be: a
// lease is a small write.
func (h *health) noteChange(err error) error {
	for _, answered := range []error{ErrNotFound, ErrFinal, ErrTaken, ErrTooMany, ErrClosed, errSuperseded, context.Canceled} {
		if errors.Is(err, answered) {
			return err // the ledger was not at fault
		}
	}
	note(&h.unkept, err)
	return h.noteLost(err)
}

// note stores an error, or that there is none, and reports whether there was none before.
func note(at *atomic.Pointer[error], err error) (first bool) {
	if err == nil {
		return at.Swap(nil) == nil
	}
	return at.Swap(&err) == nil
}

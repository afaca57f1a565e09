package quota

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

const (
	// A failing store is left alone for firstRetry, then for twice as long each time, at most lastRetry.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
	// reportEvery is how often an outage is reported while it lasts: an attempt comes every few seconds.
	reportEvery = time.Minute
	// refreshEvery is how often to reread the ledger for a key that is rejected because other processes have leased the
	// rest of its quota. They may return part of it.
	refreshEvery = 2 * time.Second
	// sweepEvery is how often periods are looked over for leases to take back.
	sweepEvery = time.Second
	// idleAfter is how long a key must be silent before its lease is taken back to one call.
	idleAfter = 2 * time.Second
	// coldAfter is how long a key must be silent before that call is taken back as well.
	coldAfter = 10 * time.Minute
	// settleBatch is how many counts one transaction settles.
	settleBatch = 10_000
)

// leases keeps the ledger ahead of the calls: it writes what periods lease, and takes back what they do not use.
type leases struct {
	cfg    *Config
	store  Store
	clock  *clock
	health *health

	// commitMu is held while leases change: by the committer for a whole commit, and by
	// every other function that takes leases back. It is taken before mu.
	commitMu sync.Mutex
	round    uint64 // commits begun; guarded by commitMu

	mu     sync.Mutex // guards what follows; never held across a call to the store
	live   []*period  // every period in memory: of keys that called this month, and unsettled ones of earlier months
	queue  []*period  // periods that want a lease
	closed bool
	outage outage

	commits, failures uint64 // that succeeded, and that failed

	kick chan struct{} // one slot: the queue has something
}

// outage is the state of a store that fails; zero when it does not. Calls without a lease are
// rejected until retry, and from then on wait for what the next attempt brings.
type outage struct {
	err             error
	retry           time.Time // real time, like the timer that ends it
	delay           time.Duration
	began, reported time.Time
}

// run writes leases until ctx ends. A wanted lease is written at once, but never sooner than
// CommitEvery after the last commit began, and not before the retry time of a failing store.
func (l *leases) run(ctx context.Context) {
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		sweeping := false
		select {
		case <-ctx.Done():
			return
		case <-l.kick:
		case <-sweep.C:
			sweeping = true
		}
		began := time.Now()
		l.commit(sweeping)
		if sleep(ctx, max(l.cfg.CommitEvery-time.Since(began), time.Until(l.outage.retry))) != nil {
			return
		}
	}
}

// want puts p in the committer's queue. It is called once a lease, not once a call.
func (l *leases) want(p *period) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wantLocked(p)
}

func (l *leases) wantLocked(p *period) {
	if !p.queued.CompareAndSwap(false, true) {
		return
	}
	l.queue = append(l.queue, p)
	select {
	case l.kick <- struct{}{}:
	default: // a kick is on its way already
	}
}

// change is one period's part in a commit.
type change struct {
	p    *period
	grow uint64 // calls the lease grows by once the ledger holds them
}

// commit serves the queue and, in a sweep, takes leases back, in one transaction. Leases that grow
// are spent from after the write. Leases that shrink are taken back before it, and stay taken
// when it fails: the ledger may then hold either count, and memory must assume the lower.
func (l *leases) commit(sweeping bool) {
	l.commitMu.Lock()
	defer l.commitMu.Unlock()
	l.round++
	l.mu.Lock()
	asked, demand := l.queue, make([]int, len(l.queue)) // and the number of callers that wait for each
	l.queue = nil
	for i, p := range asked {
		demand[i] = p.waiting
		p.queued.Store(false) // from here on a charge asks again
	}
	l.mu.Unlock()
	now := l.clock.instant()
	err := l.readCounts(asked, now)
	if err == nil {
		changes := l.planLeases(asked, demand, now)
		if sweeping {
			changes = append(changes, l.takeBack(now)...)
		}
		if len(changes) == 0 && (len(asked) == 0 || l.outage.err != nil) {
			// A removed file is noticed without traffic, and that a store that failed is back.
			err = l.within(l.store.Ping)
		} else {
			err = l.write(changes)
		}
	}
	if sweeping { // settled periods of other months leave memory
		month := l.clock.monthAt(now.unix)
		l.mu.Lock()
		l.live = slices.DeleteFunc(l.live, func(p *period) bool { return p.month != month && p.drop() })
		l.mu.Unlock()
	}
	l.finish(asked, l.health.noteLost(err))
}

func (l *leases) periods() []*period {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.live)
}

// within makes a request to the store, which ends when it takes too long.
func (l *leases) within(ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.StoreTimeout)
	defer cancel()
	return ask(ctx)
}

// readCounts reads the ledger's counts of periods that are counted in for the first time, and of exhausted ones that other
// processes count in too.
func (l *leases) readCounts(asked []*period, now instant) error {
	var stale []*period
	var batch []Count
	for _, p := range asked {
		if !p.opened.Load() || p.mayGainCalls() && now.mono-p.asked >= refreshEvery {
			p.asked = now.mono
			stale = append(stale, p)
			batch = append(batch, Count{ID: p.acc.id, Month: p.month})
		}
	}
	if len(stale) == 0 {
		return nil
	}
	if err := l.within(func(ctx context.Context) error { return l.store.Counts(ctx, batch) }); err != nil {
		return err
	}
	for i, p := range stale {
		if !p.opened.Load() {
			p.open(batch[i])
		} else if batch[i].Own == p.written && !p.dirty {
			p.setForeign(batch[i].Total - batch[i].Own)
		}
	}
	return nil
}

// planLeases works out how much each lease is to grow.
func (l *leases) planLeases(asked []*period, demand []int, now instant) []change {
	changes := make([]change, 0, len(asked))
	month := l.clock.monthAt(now.unix)
	for i, p := range asked {
		grow, limit := uint64(0), p.acc.plan.Load().limit
		p.trim(limit)
		if p.month == month || demand[i] > 0 { // a month that is over needs nothing ahead
			grow = p.growth(limit, uint64(demand[i]), now.mono, l.cfg.LeaseSpan)
		}
		if grow > 0 || p.unsettled() {
			changes = append(changes, change{p, grow})
			p.round = l.round
		}
	}
	return changes
}

// takeBack takes back leases that are not used: all of a period that is over, and all but one
// call of a key that is silent, in the end that too. Of others it takes what is above the longest lease, which
// calls leave that waited together and then ended free.
func (l *leases) takeBack(now instant) (changes []change) {
	month := l.clock.monthAt(now.unix)
	for _, p := range l.periods() {
		if !p.opened.Load() || p.round == l.round {
			continue
		}
		silence := p.silence(now.mono)
		switch {
		case p.month != month || silence >= coldAfter:
			p.reclaim(0)
		case silence >= idleAfter:
			p.reclaim(1)
		default:
			p.reclaim(leaseSize(p.acc.plan.Load().limit, p.charged(), maxLease))
		}
		if p.unsettled() {
			changes = append(changes, change{p, 0})
		}
	}
	return changes
}

// write stores the changes and, when that succeeded, lets leases grow.
func (l *leases) write(changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	batch := make([]Count, len(changes))
	for i, c := range changes {
		batch[i] = Count{ID: c.p.acc.id, Month: c.p.month, Own: c.p.own() + c.grow, Limit: c.p.acc.plan.Load().limit}
		if !c.p.dirty {
			batch[i].Before = c.p.written
		}
	}
	if err := l.within(func(ctx context.Context) error { return l.store.Reserve(ctx, batch) }); err != nil {
		for _, c := range changes {
			c.p.dirty = true
		}
		return err
	}
	l.mu.Lock()
	l.commits++
	l.mu.Unlock()
	for i, c := range changes {
		c.p.stored(batch[i], c.grow)
	}
	return nil
}

// finish wakes those who wait, and notes and reports the beginning and the end of an outage, once each. While it lasts
// it is reported again when the reason changes, and every reportEvery.
func (l *leases) finish(asked []*period, err error) {
	now := time.Now()
	l.mu.Lock()
	for _, p := range asked {
		p.wake()
		if err != nil {
			l.wantLocked(p)
		}
	}
	was, report := l.outage, false
	l.outage = outage{}
	if err != nil {
		l.failures++
		delay := min(max(2*was.delay, firstRetry), lastRetry)
		l.outage = outage{err: err, delay: delay, retry: now.Add(delay), began: was.began, reported: was.reported}
		if was.err == nil {
			l.outage.began = now
		}
		if report = was.err == nil || was.err.Error() != err.Error() || now.Sub(was.reported) >= reportEvery; report {
			l.outage.reported = now
		}
	}
	l.mu.Unlock()
	switch {
	case report:
		l.cfg.OnError(fmt.Errorf("writing leases: %w", err))
	case err == nil && was.err != nil:
		l.cfg.OnRecovered(now.Sub(was.began))
	}
}

// drop unlinks p if nothing is leased, held, waiting or unwritten in it. The caller holds both locks.
func (p *period) drop() bool {
	if p.opened.Load() {
		p.reclaim(0)
	}
	if p.leased.Load() != p.charged() || p.waiting > 0 || p.queued.Load() || p.unsettled() {
		return false
	}
	if current := p.acc.period.Load(); current != p {
		unlink(current, p)
	} else {
		p.acc.period.Store(p.prev)
	}
	return true
}

// close rejects what is not decided yet, and reports whether it was the first to do so.
func (l *leases) close() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.closed = true
	for _, p := range l.live {
		p.wake() // everybody who waits looks again
	}
	return true
}

// drain takes back all leases and returns how many calls are still held.
func (l *leases) drain() (held uint64) {
	l.commitMu.Lock()
	defer l.commitMu.Unlock()
	for _, p := range l.periods() {
		p.reclaim(0)
		held += p.spent() - p.charged()
	}
	return held
}

// settleAll writes the exact counts, some thousands a transaction.
func (l *leases) settleAll() error {
	l.commitMu.Lock()
	defer l.commitMu.Unlock()
	var changes []change
	for _, p := range l.live {
		if p.unsettled() {
			changes = append(changes, change{p, 0})
		}
	}
	for part := range slices.Chunk(changes, settleBatch) {
		if err := l.write(part); err != nil {
			return fmt.Errorf("settling leases: %w", err)
		}
	}
	return nil
}

// state reports whether leases are no longer given, and why they cannot be written; nil when they can.
func (l *leases) state() (closed bool, failing error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed, l.outage.err
}

// hold holds n more calls for c once there is a lease for them: in the period that it has, or else in that of this
// month. It waits at most Config.LeaseWait. With any verdict but Admitted it holds nothing more, and c.retryAfter says
// how long to wait.
func (l *leases) hold(c *Call, n uint64) Verdict {
	timeout := time.NewTimer(l.cfg.LeaseWait)
	defer timeout.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for late := false; ; {
		if l.closed {
			c.retryAfter = time.Second
			return LedgerUnavailable
		}
		now := l.clock.instant()
		cal, pl, p := l.clock.calendar(now.unix), c.acc.plan.Load(), c.held
		if p == nil {
			c.plan, c.reset = pl, cal.to
			if v := pl.verdict(); v != Admitted {
				return v
			}
			p = l.periodLocked(c.acc, cal)
			c.charged = p.charged()
		}
		v, wait := QuotaExhausted, time.Second
		switch retry := time.Until(l.outage.retry); {
		case p.charged()+c.calls+n > pl.limit:
			if p.shared.Load() {
				l.wantLocked(p) // other processes may have given calls back
			}
			wait = time.Duration(p.reset-now.unix) * time.Second
		case p.holdWithin(pl.limit, n):
			c.held, c.calls = p, c.calls+n
			return Admitted
		case p.full(pl.limit): // the last calls are held by others, who may still give them back
		case retry > 0:
			l.wantLocked(p) // so that a lease is there when the store is
			v, wait = LedgerUnavailable, retry
		case !late:
			late = !l.wait(p, n, timeout.C)
			continue
		default:
			v = LedgerUnavailable
		}
		c.retryAfter = max(time.Second, wait)
		return v
	}
}

// wait queues p and waits, without the lock, until the committer has looked at it; false: the time is over first.
func (l *leases) wait(p *period, n uint64, timeout <-chan time.Time) bool {
	l.wantLocked(p)
	p.waiting += int(n)
	if p.leaseReady == nil {
		p.leaseReady = make(chan struct{})
	}
	turn, inTime := p.leaseReady, true
	l.mu.Unlock()
	select {
	case <-turn:
	case <-timeout:
		inTime = false
	}
	l.mu.Lock()
	p.waiting -= int(n)
	return inTime
}

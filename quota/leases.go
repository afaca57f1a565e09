package quota

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A failing store is left alone for firstRetry, then for twice as long each time, at most lastRetry.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
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
	live   []*period  // every period in memory
	cursor int        // where in live the next sweep begins
	queue  []*period  // periods that want a lease
	closed bool
	outage outage

	kick     chan struct{} // one slot: the queue has something
	commits  atomic.Uint64
	failures atomic.Uint64
}

// outage is the state of a store that fails; zero when it does not. Calls without a lease are
// rejected until retry, and from then on wait for what the next attempt brings.
type outage struct {
	err   error
	retry time.Time // real time, like the timer that ends it
	delay time.Duration
}

// run writes leases until ctx ends. A wanted lease is written at once, but never sooner than
// CommitEvery after the last commit began, and not before the retry time of a failing store.
func (l *leases) run(ctx context.Context) {
	notices := notices{cfg: l.cfg}
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		var look []*period
		select {
		case <-ctx.Done():
			return
		case <-l.kick:
		case <-sweep.C:
			look = l.nextSweep()
		}
		began := time.Now()
		notices.after(l.commit(look))
		rest := max(l.cfg.CommitEvery-time.Since(began), time.Until(l.outage.retry))
		if sleep(ctx, rest) != nil {
			return
		}
	}
}

// notices reports the beginning and the end of an outage, once each. While it lasts it is reported again when the reason
// changes, and every reportEvery: an attempt comes every few seconds.
type notices struct {
	cfg             *Config
	reason          string
	began, reported time.Time // zero without an outage
}

const reportEvery = time.Minute

// after is given the outcome of each commit.
func (n *notices) after(err error) {
	now := time.Now()
	switch {
	case err == nil && n.began.IsZero():
	case err == nil:
		n.cfg.OnRecovered(now.Sub(n.began))
		*n = notices{cfg: n.cfg}
	case err.Error() != n.reason || now.Sub(n.reported) >= reportEvery:
		if n.began.IsZero() {
			n.began = now
		}
		n.reason, n.reported = err.Error(), now
		n.cfg.OnError(fmt.Errorf("writing leases: %w", err))
	}
}

// want puts p in the committer's queue. It is called once a lease, not once a call.
func (l *leases) want(p *period) {
	l.mu.Lock()
	l.wantLocked(p)
	l.mu.Unlock()
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

// commit serves the queue and takes leases back from look, in one transaction. Leases that grow
// are spent from after the write. Leases that shrink are taken back before it, and stay taken
// when it fails: the ledger may then hold either count, and memory must assume the lower.
func (l *leases) commit(look []*period) (err error) {
	defer func() { err = l.health.noteLost(err) }()
	l.commitMu.Lock()
	defer l.commitMu.Unlock()
	l.round++
	asked, demand := l.takeQueue()
	now := l.clock.instant()
	err = l.openPeriods(asked)
	if err == nil {
		err = l.refresh(asked, now)
	}
	var changes []change
	if err == nil {
		changes = l.planLeases(asked, demand, now)
		changes = l.takeBack(changes, look, now)
		err = l.write(changes)
	}
	if err == nil && len(changes) == 0 {
		err = l.probe(len(asked) == 0)
	}
	l.finish(asked, err)
	l.retire(look, now)
	return err
}

// takeQueue empties the queue and returns it with the number of callers waiting for each.
func (l *leases) takeQueue() ([]*period, []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	asked := l.queue
	l.queue = nil
	demand := make([]int, len(asked))
	for i, p := range asked {
		demand[i] = p.waiting
		p.queued.Store(false) // from here on a charge asks again
	}
	return asked, demand
}

// openPeriods reads the ledger's counts of periods that are counted in for the first time.
func (l *leases) openPeriods(asked []*period) error {
	var fresh []*period
	var batch []Count
	for _, p := range asked {
		if !p.opened.Load() {
			fresh = append(fresh, p)
			batch = append(batch, Count{ID: p.acc.id, Month: p.month})
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.StoreTimeout)
	defer cancel()
	if err := l.store.Counts(ctx, batch); err != nil {
		return err
	}
	for i, p := range fresh {
		p.open(batch[i])
	}
	return nil
}

// refreshEvery is how often the ledger is read for a key whose calls are rejected because other processes have
// leased the rest of its quota. They may return some of it.
const refreshEvery = 2 * time.Second

// refresh reads the ledger's counts of exhausted periods that other processes count in too.
func (l *leases) refresh(asked []*period, now instant) error {
	var stale []*period
	var batch []Count
	for _, p := range asked {
		if p.mayGainCalls() && (p.asked == 0 || now.mono-p.asked >= refreshEvery) {
			p.asked = now.mono
			stale = append(stale, p)
			batch = append(batch, Count{ID: p.acc.id, Month: p.month})
		}
	}
	if len(stale) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.StoreTimeout)
	defer cancel()
	if err := l.store.Counts(ctx, batch); err != nil {
		return err
	}
	for i, p := range stale {
		if batch[i].Own == p.written && !p.dirty {
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
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.StoreTimeout)
	defer cancel()
	if err := l.store.Reserve(ctx, batch); err != nil {
		for _, c := range changes {
			c.p.dirty = true
		}
		return err
	}
	l.commits.Add(1)
	for i, c := range changes {
		c.p.stored(batch[i], c.grow)
	}
	return nil
}

// probe pings the store when there is nothing to write. It does so in every sweep, so that a
// removed file is noticed without traffic, and as long as the store fails, to see whether it is
// back.
func (l *leases) probe(sweeping bool) error {
	l.mu.Lock()
	failing := l.outage.err != nil
	l.mu.Unlock()
	if !failing && !sweeping {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.StoreTimeout)
	defer cancel()
	return l.store.Ping(ctx)
}

// finish wakes those who wait, and notes the beginning and end of an outage.
func (l *leases) finish(asked []*period, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range asked {
		p.wake()
	}
	if err == nil {
		l.outage = outage{}
		return
	}
	l.failures.Add(1)
	l.outage.fail(err)
	for _, p := range asked {
		l.wantLocked(p)
	}
}

// fail notes a failure and doubles the time to the next attempt.
func (o *outage) fail(err error) {
	o.err = err
	o.delay = min(max(2*o.delay, firstRetry), lastRetry)
	o.retry = time.Now().Add(o.delay)
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

// state reports whether leases are no longer given, and why they cannot be written; nil when they can.
func (l *leases) state() (closed bool, failing error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed, l.outage.err
}

func (l *leases) stats(s *Stats) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.Periods, s.Waiting, s.Failing = len(l.live), len(l.queue), l.outage.err != nil
	s.Commits, s.Failures = l.commits.Load(), l.failures.Load()
}

const (
	// sweepEvery is how often periods are looked over for leases to take back.
	sweepEvery = time.Second
	// A sweep looks at a sixteenth of the periods, and at no fewer than sweepLeast, so that
	// a million of them do not hold the queue lock for long.
	sweepShare = 16
	sweepLeast = 4096
	// idleAfter is how long a key must be silent before its lease is taken back to one call.
	idleAfter = 2 * time.Second
	// coldAfter is how long a key must be silent before its period leaves memory.
	coldAfter = 10 * time.Minute
)

// nextSweep returns the periods to look over next.
func (l *leases) nextSweep() []*period {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.live), max(sweepLeast, len(l.live)/sweepShare))
	if l.cursor >= len(l.live) {
		l.cursor = 0
	}
	look := slices.Clone(l.live[l.cursor:min(l.cursor+n, len(l.live))])
	l.cursor += n
	return look
}

// takeBack takes back leases that are not used: all of a period that is over, and all but one
// call of a key that is silent. Of others it takes what is above the longest lease, which
// calls leave that waited together and then ended free.
func (l *leases) takeBack(changes []change, look []*period, now instant) []change {
	month := l.clock.monthAt(now.unix)
	for _, p := range look {
		if !p.opened.Load() || p.round == l.round {
			continue
		}
		switch {
		case p.month != month:
			p.leased.Add(-p.reclaim(0))
		case p.silence(now.mono) >= idleAfter:
			p.leased.Add(-p.reclaim(1))
		default:
			p.leased.Add(-p.reclaim(leaseSize(p.acc.plan.Load().limit, p.charged(), maxLease)))
		}
		if p.unsettled() {
			changes = append(changes, change{p, 0})
		}
	}
	return changes
}

// retire drops settled periods from memory: those of other months, and those of keys that have
// long been silent, whose count is kept in the account. The caller holds commitMu.
func (l *leases) retire(look []*period, now instant) {
	month := l.clock.monthAt(now.unix)
	l.mu.Lock()
	defer l.mu.Unlock()
	gone := map[*period]bool{}
	for _, p := range look {
		cold := p.month == month && p.opened.Load() && now.mono-p.quiet >= coldAfter && p.quiet != 0 && !p.mayGainCalls()
		if (cold || p.month != month) && l.dropLocked(p) {
			gone[p] = true
		}
	}
	if len(gone) > 0 {
		l.live = slices.DeleteFunc(l.live, func(p *period) bool { return gone[p] })
	}
}

// dropLocked unlinks p if nothing is leased, held, waiting or unwritten in it.
func (l *leases) dropLocked(p *period) bool {
	if p.opened.Load() {
		p.leased.Add(-p.reclaim(0))
	}
	if p.leased.Load() != p.charged() || p.waiting > 0 || p.queued.Load() || p.unsettled() {
		return false
	}
	current := p.acc.period.Load()
	if current != p {
		unlink(current, p)
		return true
	}
	if p.prev != nil {
		return false // the older month goes first
	}
	if p.known.Load() {
		p.acc.setCold(p.month, p.charged())
	}
	p.acc.period.Store(nil)
	return true
}

// drain takes back all leases and returns how many calls are still held.
func (l *leases) drain() (held uint64) {
	l.commitMu.Lock()
	defer l.commitMu.Unlock()
	l.mu.Lock()
	live := slices.Clone(l.live)
	l.mu.Unlock()
	for _, p := range live {
		p.leased.Add(-p.reclaim(0))
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
	for part := range slices.Chunk(changes, 10_000) {
		if err := l.write(part); err != nil {
			return fmt.Errorf("settling leases: %w", err)
		}
	}
	return nil
}

package quota

import (
	"context"
	"fmt"
	"time"
)

// A failing store is left alone for firstRetry, then for twice as long each time, at most lastRetry.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// runCommitter writes leases until ctx ends. A wanted lease is written at once, but never sooner than
// CommitEvery after the last commit began, and not before the retry time of a failing store.
func (k *Keeper) runCommitter(ctx context.Context) {
	notices := notices{cfg: &k.cfg}
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for {
		var look []*period
		select {
		case <-ctx.Done():
			return
		case <-k.kick:
		case <-sweep.C:
			look = k.nextSweep()
		}
		began := time.Now()
		notices.after(k.commit(look))
		rest := max(k.cfg.CommitEvery-time.Since(began), k.untilRetry())
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

// untilRetry returns how long a failing store is to be left alone.
func (k *Keeper) untilRetry() time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.outage.err == nil {
		return 0
	}
	return time.Until(k.outage.retry)
}

// want puts p in the committer's queue. It is called once a lease, not once a call.
func (k *Keeper) want(p *period) {
	k.mu.Lock()
	k.wantLocked(p)
	k.mu.Unlock()
}

func (k *Keeper) wantLocked(p *period) {
	if !p.queued.CompareAndSwap(false, true) {
		return
	}
	k.queue = append(k.queue, p)
	select {
	case k.kick <- struct{}{}:
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
func (k *Keeper) commit(look []*period) (err error) {
	defer func() { err = k.noteLost(err) }()
	k.commitMu.Lock()
	defer k.commitMu.Unlock()
	k.round++
	asked, demand := k.takeQueue()
	now := k.instant()
	err = k.openPeriods(asked)
	if err == nil {
		err = k.refresh(asked, now)
	}
	var changes []change
	if err == nil {
		changes = k.planLeases(asked, demand, now)
		changes = k.takeBack(changes, look, now)
		err = k.write(changes)
	}
	if err == nil && len(changes) == 0 {
		err = k.probe(len(asked) == 0)
	}
	k.finish(asked, err)
	k.retire(look, now)
	return err
}

// takeQueue empties the queue and returns it with the number of callers waiting for each.
func (k *Keeper) takeQueue() ([]*period, []int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	asked := k.queue
	k.queue = nil
	demand := make([]int, len(asked))
	for i, p := range asked {
		demand[i] = p.waiting
		p.queued.Store(false) // from here on a charge asks again
	}
	return asked, demand
}

// openPeriods reads the ledger's counts of periods that are counted in for the first time.
func (k *Keeper) openPeriods(asked []*period) error {
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
	ctx, cancel := context.WithTimeout(context.Background(), k.cfg.StoreTimeout)
	defer cancel()
	if err := k.store.Counts(ctx, batch); err != nil {
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
func (k *Keeper) refresh(asked []*period, now instant) error {
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
	ctx, cancel := context.WithTimeout(context.Background(), k.cfg.StoreTimeout)
	defer cancel()
	if err := k.store.Counts(ctx, batch); err != nil {
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
func (k *Keeper) planLeases(asked []*period, demand []int, now instant) []change {
	changes := make([]change, 0, len(asked))
	month := k.monthAt(now.unix)
	for i, p := range asked {
		grow, limit := uint64(0), p.acc.plan.Load().limit
		p.trim(limit)
		if p.month == month || demand[i] > 0 { // a month that is over needs nothing ahead
			grow = p.growth(limit, uint64(demand[i]), now.mono, k.cfg.LeaseSpan)
		}
		if grow > 0 || p.unsettled() {
			changes = append(changes, change{p, grow})
			p.round = k.round
		}
	}
	return changes
}

// write stores the changes and, when that succeeded, lets leases grow.
func (k *Keeper) write(changes []change) error {
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
	ctx, cancel := context.WithTimeout(context.Background(), k.cfg.StoreTimeout)
	defer cancel()
	if err := k.store.Reserve(ctx, batch); err != nil {
		for _, c := range changes {
			c.p.dirty = true
		}
		return err
	}
	k.commits.Add(1)
	for i, c := range changes {
		c.p.stored(batch[i], c.grow)
	}
	return nil
}

// probe pings the store when there is nothing to write. It does so in every sweep, so that a
// removed file is noticed without traffic, and as long as the store fails, to see whether it is
// back.
func (k *Keeper) probe(sweeping bool) error {
	k.mu.Lock()
	failing := k.outage.err != nil
	k.mu.Unlock()
	if !failing && !sweeping {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), k.cfg.StoreTimeout)
	defer cancel()
	return k.store.Ping(ctx)
}

// finish wakes those who wait, and notes the beginning and end of an outage.
func (k *Keeper) finish(asked []*period, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range asked {
		p.wake()
	}
	if err == nil {
		k.outage = outage{}
		return
	}
	k.failures.Add(1)
	k.outage.fail(err)
	for _, p := range asked {
		k.wantLocked(p)
	}
}

// fail notes a failure and doubles the time to the next attempt.
func (o *outage) fail(err error) {
	o.err = err
	o.delay = min(max(2*o.delay, firstRetry), lastRetry)
	o.retry = time.Now().Add(o.delay)
}

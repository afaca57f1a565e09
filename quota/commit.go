package quota

import (
	"context"
	"fmt"
	"slices"
	"time"
)

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

	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// runCommitter writes leases until ctx ends: at once when one is wanted, but never sooner than
// CommitEvery after the last commit began, and not before the retry time of a failing store.
func (k *Keeper) runCommitter(ctx context.Context) {
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
		k.commit(look)
		rest := max(k.cfg.CommitEvery-time.Since(began), k.untilRetry())
		if sleep(ctx, rest) != nil {
			return
		}
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
	if !p.wanted.CompareAndSwap(false, true) {
		return
	}
	k.queue = append(k.queue, p)
	select {
	case k.kick <- struct{}{}:
	default: // a kick is on its way already
	}
}

// await holds a call for c once a lease for it is written, or refuses c.
func (k *Keeper) await(c *Call) {
	timeout := time.NewTimer(k.cfg.LeaseWait)
	defer timeout.Stop()
	for {
		now := k.instant()
		p, turn := k.enter(c, now)
		if p == nil {
			return
		}
		late := false
		select {
		case <-turn:
		case <-timeout.C:
			late = true
		}
		k.leave(p)
		if late {
			if p.hold() { // written in the last moment
				c.held = p
			} else {
				c.refuse(LedgerUnavailable, time.Second)
			}
			return
		}
	}
}

// enter decides c if it can be decided now. Otherwise it queues the period and returns it with
// the channel to wait on; leave must follow.
func (k *Keeper) enter(c *Call, now instant) (*period, chan struct{}) {
	cal := k.calendar(now.unix)
	c.plan, c.reset = c.acc.plan.Load(), cal.to
	if v := c.plan.verdict(); v != Admitted {
		c.Verdict = v
		return nil, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		c.refuse(LedgerUnavailable, time.Second)
		return nil, nil
	}
	p := k.periodLocked(c.acc, cal)
	c.charged = p.charged()
	switch {
	case c.charged >= c.plan.limit:
		c.refuse(QuotaExhausted, time.Duration(cal.to-now.unix)*time.Second)
	case p.hold():
		c.held = p
	case p.leased.Load() >= c.plan.limit:
		// The last calls are held by others, who may still give them back.
		c.refuse(QuotaExhausted, time.Second)
	case time.Until(k.outage.retry) > 0:
		k.wantLocked(p) // so that a lease is there when the store is
		c.refuse(LedgerUnavailable, max(time.Second, time.Until(k.outage.retry)))
	default:
		k.wantLocked(p)
		p.waiting++
		if p.turn == nil {
			p.turn = make(chan struct{})
		}
		return p, p.turn
	}
	return nil, nil
}

func (k *Keeper) leave(p *period) {
	k.mu.Lock()
	p.waiting--
	k.mu.Unlock()
}

// periodLocked returns the account's period for the month of cal, making it current.
func (k *Keeper) periodLocked(acc *account, cal *calendar) *period {
	current := acc.period.Load()
	for p := current; p != nil; p = p.prev {
		if p.month == cal.month {
			if p != current {
				unlink(current, p)
				p.prev = current
				acc.period.Store(p)
			}
			return p
		}
	}
	p := &period{month: cal.month, reset: cal.to, acc: acc, prev: current}
	if calls, ok := acc.coldCalls(cal.month); ok {
		// Own and all calls are told apart when the period is opened.
		p.word.Store(calls << availBits)
		p.leased.Store(calls)
		p.known.Store(true)
	}
	acc.period.Store(p)
	if p.known.Load() {
		acc.cold.Store(0) // after the period is there to be asked; see spent
	}
	k.live = append(k.live, p)
	return p
}

// unlink takes p out of the chain that begins at current, in which it is not the first.
func unlink(current, p *period) {
	for ; current != nil; current = current.prev {
		if current.prev == p {
			current.prev = p.prev
			return
		}
	}
}

// wakeAll lets everybody who waits look again. The caller holds mu.
func (k *Keeper) wakeAll() {
	for _, p := range k.live {
		p.wake()
	}
}

func (p *period) wake() {
	if p.turn != nil {
		close(p.turn)
		p.turn = nil
	}
}

// change is one period's part in a commit.
type change struct {
	p    *period
	grow uint64 // calls the lease grows by once the ledger holds them
}

// commit serves the queue and takes leases back from look, in one transaction. Leases that
// grow are spent from after the write; leases that shrink are taken back before it, and stay
// taken when it fails: the ledger may then hold either count, and memory must assume the lower.
func (k *Keeper) commit(look []*period) {
	if err := k.commitLocked(look); err != nil {
		k.cfg.OnError(fmt.Errorf("writing leases: %w", err))
	}
}

func (k *Keeper) commitLocked(look []*period) error {
	k.commitMu.Lock()
	defer k.commitMu.Unlock()
	k.round++
	asked, demand := k.takeQueue()
	now := k.instant()
	err := k.openPeriods(asked)
	var changes []change
	if err == nil {
		changes = k.planLeases(asked, demand, now)
		changes = k.takeBack(changes, look, now)
		err = k.write(changes)
	}
	if err == nil && len(changes) == 0 {
		err = k.probe()
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
		p.wanted.Store(false) // from here on a charge asks anew
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

// open sets the counts of a period nothing has been leased in yet.
func (p *period) open(c Count) {
	p.word.Store(c.Total << availBits)
	p.leased.Store(c.Total)
	p.foreign = c.Total - c.Own
	p.written = c.Own
	p.base = c.Total
	p.known.Store(true)
	p.opened.Store(true)
}

// planLeases works out how much each lease is to grow.
func (k *Keeper) planLeases(asked []*period, demand []int, now instant) []change {
	changes := make([]change, 0, len(asked))
	month := k.calendar(now.unix).month
	for i, p := range asked {
		grow := uint64(0)
		if p.month == month || demand[i] > 0 { // a month that is over needs nothing ahead
			grow = p.growth(p.acc.plan.Load().limit, uint64(demand[i]), now.mono)
		}
		if grow > 0 || p.unsettled() {
			changes = append(changes, change{p, grow})
			p.round = k.round
		}
	}
	return changes
}

// growth returns by how many calls the lease should grow: so that everyone who waits can go on,
// and that a lease of leaseSize stands ahead of the calls charged. Growing by less than half
// of that is left for later.
func (p *period) growth(limit, waiting uint64, now time.Duration) uint64 {
	spent, leased, charged := p.spent(), p.leased.Load(), p.charged()
	size := leaseSize(limit, charged, p.traffic(now, spent)+waiting)
	p.low.Store(uint32(size / 2))
	target := min(limit, max(charged+size, spent+waiting))
	if target <= leased {
		return 0
	}
	if waiting == 0 && leased-spent > size/2 {
		return 0
	}
	return target - leased
}

// takeBack takes back leases that are not used: all of a period that is over, all but one call
// of a key that is silent, and of others what is above the longest lease: calls that waited
// together and then ended free leave that.
func (k *Keeper) takeBack(changes []change, look []*period, now instant) []change {
	month := k.calendar(now.unix).month
	for _, p := range look {
		if !p.opened.Load() || p.round == k.round {
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

// silence returns how long the sweeps have seen no call of the key.
func (p *period) silence(now time.Duration) time.Duration {
	if spent := p.spent(); spent != p.quietAt || p.quiet == 0 {
		p.quietAt, p.quiet = spent, now
	}
	return now - p.quiet
}

// write stores the changes and, when that succeeded, lets leases grow.
func (k *Keeper) write(changes []change) error {
	if len(changes) == 0 {
		return nil
	}
	batch := make([]Count, len(changes))
	for i, c := range changes {
		batch[i] = Count{ID: c.p.acc.id, Month: c.p.month, Own: c.p.own() + c.grow, Limit: c.p.acc.plan.Load().limit}
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

// stored takes over what the ledger holds now: the growth it granted becomes spendable, and
// calls of other processes count as charged here.
func (p *period) stored(c Count, grow uint64) {
	p.dirty, p.written = false, c.Own
	granted := uint64(0)
	if before := p.own(); c.Own > before {
		granted = min(c.Own-before, grow)
	}
	others := c.Total - c.Own - p.foreign // may be below zero; the sums wrap rightly
	p.foreign += others
	p.leased.Add(granted + others)
	p.word.Add(others<<availBits + granted)
}

// probe asks a store that failed last time whether it is back, when there is nothing to write.
func (k *Keeper) probe() error {
	k.mu.Lock()
	failing := k.outage.err != nil
	k.mu.Unlock()
	if !failing {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), k.cfg.StoreTimeout)
	defer cancel()
	return k.store.Ping(ctx)
}

// finish tells those who wait, and keeps the books of an outage.
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

// nextSweep returns the periods to look over next.
func (k *Keeper) nextSweep() []*period {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := min(len(k.live), max(sweepLeast, len(k.live)/sweepShare))
	if k.cursor >= len(k.live) {
		k.cursor = 0
	}
	look := slices.Clone(k.live[k.cursor:min(k.cursor+n, len(k.live))])
	k.cursor += n
	return look
}

// retire drops settled periods from memory: those of other months, and those of keys that have
// long been silent, whose count is kept in the account. The caller holds commitMu.
func (k *Keeper) retire(look []*period, now instant) {
	month := k.calendar(now.unix).month
	k.mu.Lock()
	defer k.mu.Unlock()
	gone := map[*period]bool{}
	for _, p := range look {
		cold := p.month == month && p.opened.Load() && now.mono-p.quiet >= coldAfter && p.quiet != 0
		if (cold || p.month != month) && k.dropLocked(p) {
			gone[p] = true
		}
	}
	if len(gone) > 0 {
		k.live = slices.DeleteFunc(k.live, func(p *period) bool { return gone[p] })
	}
}

// dropLocked unlinks p if nothing is leased, held, waiting or unwritten in it.
func (k *Keeper) dropLocked(p *period) bool {
	if p.opened.Load() {
		p.leased.Add(-p.reclaim(0))
	}
	if p.leased.Load() != p.charged() || p.waiting > 0 || p.wanted.Load() || p.unsettled() {
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
func (k *Keeper) drain() (held uint64) {
	k.commitMu.Lock()
	defer k.commitMu.Unlock()
	k.mu.Lock()
	live := slices.Clone(k.live)
	k.mu.Unlock()
	for _, p := range live {
		p.leased.Add(-p.reclaim(0))
		held += p.spent() - p.charged()
	}
	return held
}

// settleAll writes the exact counts, some thousands a transaction.
func (k *Keeper) settleAll() error {
	k.commitMu.Lock()
	defer k.commitMu.Unlock()
	var changes []change
	for _, p := range k.live {
		if p.unsettled() {
			changes = append(changes, change{p, 0})
		}
	}
	for part := range slices.Chunk(changes, 10_000) {
		if err := k.write(part); err != nil {
			return fmt.Errorf("settling leases: %w", err)
		}
	}
	return nil
}

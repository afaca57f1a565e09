package quota

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// A period's word has the calls charged in its upper 40 bits and the calls leased and still
// available in its lower 24. The rest are the calls held: leased - charged - available.
const (
	countBits = 40
	availBits = 24
	availMask = 1<<availBits - 1
	oneCharge = 1 << availBits

	// maxLease is the largest lease, in calls: well inside 24 bits, with room for calls that are given back.
	maxLease = 1 << 20
)

// period is one account's month while calls are counted in it.
//
// The word is written by every call. leased and the fields below it are guarded by
// the keeper's commit lock; prev, waiting and leaseReady by its queue lock.
type period struct {
	word        atomic.Uint64
	refillBelow atomic.Uint32 // a charge that leaves this many leased calls or fewer asks for more
	queued      atomic.Bool   // asked, and not yet looked at by the committer
	month       Month
	reset       int64 // Unix seconds of the month's end
	acc         *account

	leased  atomic.Uint64 // calls charged, held and available; the ledger counts at least as many
	opened  atomic.Bool   // the ledger's count has been read into word and leased
	dirty   bool          // a write failed, so the ledger may hold another count than written
	written uint64        // own calls the ledger holds, unless dirty
	foreign uint64        // calls of other processes in leased
	shown   atomic.Uint64 // calls charged are shown as no fewer than this; see setForeign
	shared  atomic.Bool   // other processes have counted calls in this month
	asked   time.Duration // when the ledger was last read, on the monotonic clock
	round   uint64        // the commit that last served this period from the queue

	window  time.Duration // when the traffic window began, on the monotonic clock
	base    uint64        // calls spent when it began
	before  uint64        // calls spent in the second before it began
	quiet   time.Duration // since when spent has not changed
	quietAt uint64        // the spent seen then

	prev       *period       // an older month of the account that is not settled yet
	waiting    int           // calls that callers wait to hold
	leaseReady chan struct{} // closed when they should look again; nil when no call waits
}

// holdWithin takes n leased calls, or none. False means that fewer are available, or that the lease passes limit: see
// trim.
func (p *period) holdWithin(limit, n uint64) bool {
	for p.leased.Load() <= limit {
		w := p.word.Load()
		if w&availMask < n {
			return false
		}
		if p.word.CompareAndSwap(w, w-n) {
			return true
		}
	}
	return false
}

// full reports whether the lease can neither grow within limit nor is one for the committer to trim.
func (p *period) full(limit uint64) bool {
	leased := p.leased.Load()
	return leased == limit || leased > limit && p.word.Load()&availMask == 0
}

// trim takes back what is available above limit: calls that were held when the limit was lowered and
// are then given back must not be held again. The caller holds the commit lock.
func (p *period) trim(limit uint64) {
	if p.leased.Load() > limit {
		p.reclaim(limit - min(limit, p.spent()))
	}
}

// reclaim takes back all available calls except keep. The caller must hold the commit lock.
func (p *period) reclaim(keep uint64) {
	for {
		w := p.word.Load()
		avail := w & availMask
		if avail <= keep {
			return
		}
		if p.word.CompareAndSwap(w, w-(avail-keep)) {
			p.leased.Add(keep - avail) // below zero it wraps, and so does the sum
			return
		}
	}
}

// spent returns the calls charged and held. The caller holds the commit lock.
func (p *period) spent() uint64 { return p.leased.Load() - p.word.Load()&availMask }

func (p *period) charged() uint64 { return p.word.Load() >> availBits }

// growth returns by how many calls the lease should grow: enough for all callers that wait, and to be leaseSize ahead
// of the calls charged. Growth by less than half of leaseSize is left for later.
func (p *period) growth(limit, waiting uint64, now, span time.Duration) uint64 {
	spent, leased, charged := p.spent(), p.leased.Load(), p.charged()
	size := leaseSize(limit, charged, uint64(float64(p.traffic(now, spent))*span.Seconds())+waiting)
	p.refillBelow.Store(uint32(size / 2))
	target := min(limit, max(charged+size, spent+waiting))
	if target <= leased || waiting == 0 && leased-spent > size/2 {
		return 0
	}
	return target - leased
}

// leaseSize returns how many calls the ledger may count ahead of those charged: the key's traffic of
// Config.LeaseSpan, but at most one hundredth of its quota. It is also at most an eighth of what is
// left of the quota, so that a crash near its end loses few calls. It is at least one.
func leaseSize(limit, charged, traffic uint64) uint64 {
	left := limit - min(charged, limit)
	return max(1, min(traffic, limit/100, left/8, maxLease))
}

// traffic returns how many calls the key spent in the last second. These are the calls of the current window,
// and the share of the previous window that the last second still covers.
func (p *period) traffic(now time.Duration, spent uint64) uint64 {
	spent = max(spent, p.base) // calls given back may have lowered it
	age := now - p.window
	if age < time.Second {
		return spent - p.base + uint64(float64(p.before)*(1-age.Seconds()))
	}
	p.before = uint64(float64(spent-p.base) / age.Seconds())
	p.window, p.base = now, spent
	return p.before
}

// silence returns how long the sweeps have seen no call of the key.
func (p *period) silence(now time.Duration) time.Duration {
	if spent := p.spent(); spent != p.quietAt || p.quiet == 0 {
		p.quietAt, p.quiet = spent, now
	}
	return now - p.quiet
}

// open sets the counts of a period nothing has been leased in yet.
func (p *period) open(c Count) {
	if before := p.charged(); c.Total < before {
		p.shown.Store(before) // another process gave calls back while this one was silent
	}
	p.word.Store(c.Total << availBits)
	p.leased.Store(c.Total)
	p.foreign = c.Total - c.Own
	p.shared.Store(p.foreign > 0)
	p.written = c.Own
	p.base = c.Total
	p.opened.Store(true)
}

// stored takes over what the ledger holds now: the growth it granted becomes spendable, and
// calls of other processes count as charged here.
func (p *period) stored(c Count, grow uint64) {
	granted := min(max(c.Own, p.own())-p.own(), grow)
	p.dirty, p.written = false, c.Own
	p.setForeign(c.Total - c.Own)
	p.leased.Add(granted)
	p.word.Add(granted)
}

// setForeign brings the calls of other processes up to what the ledger counts now. They may have
// become fewer, because another process gave leased calls back. Then the number shown to callers
// stays at what this process may have shown until its own calls catch up: what is left of a quota
// never rises. Every call that is charged in the meantime is among those leased before.
func (p *period) setForeign(calls uint64) {
	before := p.foreign
	if calls < before {
		p.shown.Store(max(p.shown.Load(), p.leased.Load()))
	}
	p.foreign = calls
	p.shared.Store(calls > 0 || p.shared.Load())
	change := calls - before // below zero it wraps, and so do the sums it is added to
	p.leased.Add(change)
	p.word.Add(change << availBits)
}

// own is what the ledger should have for this process.
func (p *period) own() uint64 { return p.leased.Load() - p.foreign }

// unsettled reports whether the ledger holds, or may hold, another count than it should.
func (p *period) unsettled() bool {
	return p.opened.Load() && (p.dirty || p.own() != p.written)
}

// mayGainCalls reports whether leases of other processes are part of why the quota is used up. They may return
// calls, so such a period stays in memory: a rejected call causes it to be read again.
func (p *period) mayGainCalls() bool {
	return p.shared.Load() && p.charged() >= p.acc.plan.Load().limit
}

// wake has those who wait for a lease look again. The caller holds the queue lock.
func (p *period) wake() {
	if p.leaseReady != nil {
		close(p.leaseReady)
		p.leaseReady = nil
	}
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

// periodLocked returns the account's period for the month of cal, making it current.
func (l *leases) periodLocked(acc *account, cal *calendar) *period {
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
	p.word.Store(acc.loadedIn(cal.month) << availBits) // own and all calls are distinguished when the period is opened
	p.leased.Store(p.charged())
	acc.period.Store(p)
	l.live = append(l.live, p)
	return p
}

// charged returns the calls charged to acc in the month of cal, and as how many they are shown at least. After the clock
// fell far back, the count of a month that memory does not have is read. A store that fails is taken for no calls, which
// is only shown: nothing is leased before the count has been read.
func (l *leases) charged(acc *account, cal *calendar) (calls, shown uint64) {
	p := acc.period.Load()
	if p != nil && p.month == cal.month && (p.opened.Load() || !cal.again) {
		return p.charged(), p.shown.Load()
	}
	if !cal.again {
		return acc.loadedIn(cal.month), 0
	}
	l.mu.Lock()
	for p != nil && p.month != cal.month {
		p = p.prev
	}
	l.mu.Unlock()
	if p != nil && p.opened.Load() {
		return p.charged(), p.shown.Load()
	}
	batch := []Count{{ID: acc.id, Month: cal.month}}
	if l.within(func(ctx context.Context) error { return l.store.Counts(ctx, batch) }) != nil {
		return 0, 0
	}
	return batch[0].Total, 0
}

// shrink takes back an account's leases after its limit was lowered, so that no call passes the
// new limit; the committer leases again within it. A month that is over has a lease until the next
// sweep, and is counted in again if the clock is set back to it.
func (l *leases) shrink(acc *account) {
	l.commitMu.Lock()
	defer l.commitMu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	current := acc.period.Load()
	for p := current; p != nil; p = p.prev {
		p.reclaim(0)
	}
	if current != nil {
		l.wantLocked(current)
	}
}

// exactMonths replaces the ledger's counts, which hold leases, by those of memory.
func (l *leases) exactMonths(acc *account, months []MonthCalls) []MonthCalls {
	l.mu.Lock()
	defer l.mu.Unlock()
	for p := acc.period.Load(); p != nil; p = p.prev {
		if p.opened.Load() {
			months = setMonth(months, p.month, p.charged())
		}
	}
	return slices.DeleteFunc(months, func(m MonthCalls) bool { return m.Calls == 0 })
}

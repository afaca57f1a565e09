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
	known   atomic.Bool   // word has the month's calls, from memory or from the ledger
	opened  atomic.Bool   // the ledger's count has been read into word and leased
	dirty   bool          // a write failed, so the ledger may hold another count than written
	written uint64        // own calls the ledger holds, unless dirty
	foreign uint64        // calls of other processes in leased
	shown   atomic.Uint64 // calls charged are shown as no fewer than this; see setForeign
	shared  atomic.Bool   // other processes have counted calls in this month
	asked   time.Duration // when the ledger was last read because of a rejected call
	round   uint64        // the commit that last had a change of this period from the queue

	window  time.Duration // when the traffic window began, on the monotonic clock
	base    uint64        // calls spent when it began
	before  uint64        // calls spent in the second before it began
	quiet   time.Duration // since when spent has not changed
	quietAt uint64        // the spent seen then

	prev       *period       // an older month of the account that is not settled yet
	waiting    int           // calls that callers wait to hold
	leaseReady chan struct{} // closed when they should look again; nil when no call waits
}

// holdWithin is holdAll, but takes nothing from a lease that passes limit: see trim.
func (p *period) holdWithin(limit, n uint64) bool { return p.leased.Load() <= limit && p.holdAll(n) }

// full reports whether the lease can neither grow within limit nor is one for the committer to trim.
func (p *period) full(limit uint64) bool {
	leased := p.leased.Load()
	return leased == limit || leased > limit && p.word.Load()&availMask == 0
}

// trim takes back what is available above limit: calls that were held when the limit was lowered and
// are then given back must not be held again. The caller holds the commit lock.
func (p *period) trim(limit uint64) {
	if p.leased.Load() > limit {
		p.leased.Add(-p.reclaim(limit - min(limit, p.spent())))
	}
}

// holdAll takes n leased calls, or none. False means that fewer are available.
func (p *period) holdAll(n uint64) bool {
	for {
		w := p.word.Load()
		if w&availMask < n {
			return false
		}
		if p.word.CompareAndSwap(w, w-n) {
			return true
		}
	}
}

// reclaim takes back the available calls except keep of them, and returns how many.
func (p *period) reclaim(keep uint64) uint64 {
	for {
		w := p.word.Load()
		avail := w & availMask
		if avail <= keep {
			return 0
		}
		if p.word.CompareAndSwap(w, w-(avail-keep)) {
			return avail - keep
		}
	}
}

// spent returns the calls charged and held. The caller holds the commit lock.
func (p *period) spent() uint64 { return p.leased.Load() - p.word.Load()&availMask }

func (p *period) charged() uint64 { return p.word.Load() >> availBits }

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
	if calls, ok := acc.coldCalls(cal.month); ok {
		// Own and all calls are distinguished when the period is opened.
		p.word.Store(calls << availBits)
		p.leased.Store(calls)
		p.known.Store(true)
	}
	acc.period.Store(p)
	if p.known.Load() {
		acc.cold.Store(0) // after the period is there to be asked; see spent
	}
	l.live = append(l.live, p)
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

// spent returns the calls charged to acc in the month of cal.
func (l *leases) spent(acc *account, cal *calendar) uint64 {
	for {
		p := acc.period.Load()
		if p != nil && p.month == cal.month && (p.known.Load() || !cal.again) {
			return p.charged()
		}
		if calls, ok := acc.coldCalls(cal.month); ok {
			return calls
		}
		if acc.period.Load() == p { // or the count has just moved from cold into a period
			break
		}
	}
	if !cal.again {
		return 0
	}
	return l.recall(acc, cal.month)
}

// recall finds the count of a month that is counted in again, because the clock has fallen far
// back: memory keeps an account's latest month only. A store that fails is taken for no calls,
// which is only shown: nothing is leased before the count has been read.
func (l *leases) recall(acc *account, m Month) uint64 {
	l.mu.Lock()
	for p := acc.period.Load(); p != nil; p = p.prev {
		if p.month == m && p.known.Load() {
			l.mu.Unlock()
			return p.charged()
		}
	}
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), l.cfg.StoreTimeout)
	defer cancel()
	batch := []Count{{ID: acc.id, Month: m}}
	if err := l.store.Counts(ctx, batch); err != nil {
		return 0
	}
	acc.setCold(m, batch[0].Total)
	return batch[0].Total
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
	if current == nil {
		return
	}
	for p := current; p != nil; p = p.prev {
		p.leased.Add(-p.reclaim(0))
	}
	l.wantLocked(current)
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

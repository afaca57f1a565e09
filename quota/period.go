package quota

import (
	"sync/atomic"
	"time"
)

// A period's word holds the calls charged in its upper 40 bits and the calls leased and still
// to be had in its lower 24. Between them stand the calls held: leased - charged - avail.
const (
	countBits = 40
	availBits = 24
	availMask = 1<<availBits - 1
	oneCharge = 1 << availBits

	maxLease = 1 << 20 // well inside 24 bits, with room for calls that are given back
)

// period is one account's month while calls are counted in it.
//
// The word is written by every call. leased and the fields below it belong to whoever holds
// the keeper's commit lock; prev, waiting and turn to its queue lock.
type period struct {
	word   atomic.Uint64
	low    atomic.Uint32 // a charge that leaves this many leased calls or fewer asks for more
	wanted atomic.Bool   // asked, and not yet looked at by the committer
	month  Month
	reset  int64 // Unix seconds of the month's end
	acc    *account

	leased  atomic.Uint64 // calls charged, held and to be had; the ledger holds at least as many
	known   atomic.Bool   // word holds the month's calls, by memory's word or the ledger's
	opened  atomic.Bool   // the ledger's count has been read into word and leased
	dirty   bool          // a write failed, so the ledger may hold another count than written
	written uint64        // own calls the ledger holds, unless dirty
	foreign uint64        // calls of other processes in leased
	round   uint64        // the commit that last had a change of this period from the queue

	window  time.Duration // when the traffic window began, on the monotonic clock
	base    uint64        // calls spent when it began
	before  uint64        // calls spent in the second before it began
	quiet   time.Duration // since when spent has not changed
	quietAt uint64        // the spent seen then

	prev    *period       // an older month of the account that is not settled yet
	waiting int           // callers waiting for a lease
	turn    chan struct{} // closed when they should look again; nil when nobody waits
}

// hold takes one leased call. False means that there is none to be had.
func (p *period) hold() bool {
	for {
		w := p.word.Load()
		if w&availMask == 0 {
			return false
		}
		if p.word.CompareAndSwap(w, w-1) {
			return true
		}
	}
}

// reclaim takes back leased calls that nobody holds, all but keep of them, and returns how many.
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

// unsettled tells whether the ledger holds, or may hold, another count than it should.
func (p *period) unsettled() bool {
	return p.opened.Load() && (p.dirty || p.own() != p.written)
}

// own is what the ledger should hold for this process.
func (p *period) own() uint64 { return p.leased.Load() - p.foreign }

// traffic returns how many calls the key spent in the last second: those of the running
// window and the share of the window before it that the last second still covers.
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

// leaseSize returns how many calls may stand in the ledger ahead of those charged: the key's
// traffic of one second, at most one hundredth of its quota, and an eighth of what is left of
// it, so that a crash near the end takes little from the last calls. Always at least one.
func leaseSize(limit, charged, traffic uint64) uint64 {
	left := limit - min(charged, limit)
	return max(1, min(traffic, limit/100, left/8, maxLease))
}

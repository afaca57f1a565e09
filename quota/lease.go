package quota

import (
	"time"
)

// maxLease is the largest lease, in calls: well inside 24 bits, with room for calls that are given back.
const maxLease = 1 << 20

// growth returns by how many calls the lease should grow: enough for all callers that wait, and to
// be leaseSize ahead of the calls charged. Growth by less than half of leaseSize is left for
// later.
func (p *period) growth(limit, waiting uint64, now, span time.Duration) uint64 {
	spent, leased, charged := p.spent(), p.leased.Load(), p.charged()
	size := leaseSize(limit, charged, uint64(float64(p.traffic(now, spent))*span.Seconds())+waiting)
	p.refillBelow.Store(uint32(size / 2))
	target := min(limit, max(charged+size, spent+waiting))
	if target <= leased {
		return 0
	}
	if waiting == 0 && leased-spent > size/2 {
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
	p.known.Store(true)
	p.opened.Store(true)
}

// stored takes over what the ledger holds now: the growth it granted becomes spendable, and
// calls of other processes count as charged here.
func (p *period) stored(c Count, grow uint64) {
	p.dirty, p.written = false, c.Own
	granted := uint64(0)
	if before := p.own(); c.Own > before {
		granted = min(c.Own-before, grow)
	}
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

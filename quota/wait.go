package quota

import (
	"time"
)

// await holds a call for c once a lease for it is written, or rejects c.
func (l *leases) await(c *Call) {
	timeout := time.NewTimer(l.cfg.LeaseWait)
	defer timeout.Stop()
	for {
		now := l.clock.instant()
		p, turn := l.enter(c, now)
		if p == nil {
			return
		}
		late := false
		select {
		case <-turn:
		case <-timeout.C:
			late = true
		}
		l.leave(p, 1)
		if late {
			if p.holdWithin(c.plan.limit, 1) { // written in the last moment
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
func (l *leases) enter(c *Call, now instant) (*period, chan struct{}) {
	cal := l.clock.calendar(now.unix)
	c.plan, c.reset = c.acc.plan.Load(), cal.to
	if v := c.plan.verdict(); v != Admitted {
		c.Verdict = v
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		c.refuse(LedgerUnavailable, time.Second)
		return nil, nil
	}
	p := l.periodLocked(c.acc, cal)
	c.charged = p.charged()
	switch {
	case c.charged >= c.plan.limit:
		c.refuse(QuotaExhausted, time.Duration(cal.to-now.unix)*time.Second)
	case p.holdWithin(c.plan.limit, 1):
		c.held = p
	case p.full(c.plan.limit):
		// The last calls are held by others, who may still give them back.
		c.refuse(QuotaExhausted, time.Second)
	case time.Until(l.outage.retry) > 0:
		l.wantLocked(p) // so that a lease is there when the store is
		c.refuse(LedgerUnavailable, max(time.Second, time.Until(l.outage.retry)))
	default:
		return p, l.queueLocked(p, 1)
	}
	return nil, nil
}

// queueLocked asks for a lease of calls and returns what is closed when it may be there. The caller
// holds mu, and leave must follow.
func (l *leases) queueLocked(p *period, calls int) chan struct{} {
	l.wantLocked(p)
	p.waiting += calls
	if p.leaseReady == nil {
		p.leaseReady = make(chan struct{})
	}
	return p.leaseReady
}

// leave takes back what queueLocked asked for.
func (l *leases) leave(p *period, calls int) {
	l.mu.Lock()
	p.waiting -= calls
	l.mu.Unlock()
}

func (p *period) wake() {
	if p.leaseReady != nil {
		close(p.leaseReady)
		p.leaseReady = nil
	}
}

// maxExtend is the largest number of calls one request can cost: half of what a period can have
// available, so that no lease overflows.
const maxExtend = 1 << (availBits - 1)

// Extend makes a call that Admit returned cost a number of calls, 1 to maxExtend, in place of one.
// It is all or nothing: on any verdict but Admitted the call still holds the one it had, to be
// released, and its standing says how long to wait. QuotaExhausted means that the month has fewer
// calls left. Like Admit it waits at most Config.LeaseWait for a lease. Charge then counts all of
// them in one step, and Release gives all of them back.
func (c *Call) Extend(calls uint64) Verdict {
	p := c.held
	if p == nil || calls <= 1+c.more {
		return Admitted
	}
	more := min(calls, maxExtend) - 1 - c.more
	timeout := time.NewTimer(c.k.cfg.LeaseWait)
	defer timeout.Stop()
	for {
		v, turn := c.k.leases.enterMore(c, p, more)
		if turn == nil {
			return v
		}
		late := false
		select {
		case <-turn:
		case <-timeout.C:
			late = true
		}
		c.k.leases.leave(p, int(more))
		if late {
			return c.refused(LedgerUnavailable, time.Second)
		}
	}
}

// enterMore decides an extension if it can be decided now. Otherwise it queues the period and returns
// the channel to wait on; leave must follow.
func (l *leases) enterMore(c *Call, p *period, more uint64) (Verdict, chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	limit, charged := p.acc.plan.Load().limit, p.charged()
	switch {
	case l.closed:
		return c.refused(LedgerUnavailable, time.Second), nil
	case charged+c.more+1+more > limit:
		return c.refused(QuotaExhausted, time.Duration(p.reset-l.clock.instant().unix)*time.Second), nil
	case p.holdWithin(limit, more):
		c.more += more
		return Admitted, nil
	case p.full(limit):
		// The last calls are held by others, who may still give them back.
		return c.refused(QuotaExhausted, time.Second), nil
	case time.Until(l.outage.retry) > 0:
		l.wantLocked(p)
		return c.refused(LedgerUnavailable, max(time.Second, time.Until(l.outage.retry))), nil
	default:
		return 0, l.queueLocked(p, int(more))
	}
}

// refused notes how long a caller has to wait, and leaves the call as it is.
func (c *Call) refused(v Verdict, retry time.Duration) Verdict {
	c.retryAfter = retry
	return v
}

package quota

import (
	"time"
)

// await holds a call for c once a lease for it is written, or rejects c.
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
		k.leave(p, 1)
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
	case p.holdWithin(c.plan.limit, 1):
		c.held = p
	case p.full(c.plan.limit):
		// The last calls are held by others, who may still give them back.
		c.refuse(QuotaExhausted, time.Second)
	case time.Until(k.outage.retry) > 0:
		k.wantLocked(p) // so that a lease is there when the store is
		c.refuse(LedgerUnavailable, max(time.Second, time.Until(k.outage.retry)))
	default:
		return p, k.queueLocked(p, 1)
	}
	return nil, nil
}

// queueLocked asks for a lease of calls and returns what is closed when it may be there. The caller
// holds mu, and leave must follow.
func (k *Keeper) queueLocked(p *period, calls int) chan struct{} {
	k.wantLocked(p)
	p.waiting += calls
	if p.leaseReady == nil {
		p.leaseReady = make(chan struct{})
	}
	return p.leaseReady
}

// leave takes back what queueLocked asked for.
func (k *Keeper) leave(p *period, calls int) {
	k.mu.Lock()
	p.waiting -= calls
	k.mu.Unlock()
}

// wakeAll lets everybody who waits look again. The caller holds mu.
func (k *Keeper) wakeAll() {
	for _, p := range k.live {
		p.wake()
	}
}

func (p *period) wake() {
	if p.leaseReady != nil {
		close(p.leaseReady)
		p.leaseReady = nil
	}
}

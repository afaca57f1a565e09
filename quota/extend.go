package quota

import "time"

// MaxExtend is the largest number of calls one request can cost: half of what a period can have
// available, so that no lease overflows.
const MaxExtend = 1 << (availBits - 1)

// Extend makes a call that Admit returned cost a number of calls, 1 to MaxExtend, in place of one.
// It is all or nothing: on any verdict but Admitted the call still holds the one it had, to be
// released, and its standing says how long to wait. QuotaExhausted means that the month has fewer
// calls left. Like Admit it waits at most Config.LeaseWait for a lease. Charge then counts all of
// them in one step, and Release gives all of them back.
func (c *Call) Extend(calls uint64) Verdict {
	p := c.held
	if p == nil || calls <= 1+c.more {
		return Admitted
	}
	more := min(calls, MaxExtend) - 1 - c.more
	timeout := time.NewTimer(c.k.cfg.LeaseWait)
	defer timeout.Stop()
	for {
		v, turn := c.k.enterMore(c, p, more)
		if turn == nil {
			return v
		}
		late := false
		select {
		case <-turn:
		case <-timeout.C:
			late = true
		}
		c.k.leave(p, int(more))
		if late {
			return c.refused(LedgerUnavailable, time.Second)
		}
	}
}

// enterMore decides an extension if it can be decided now. Otherwise it queues the period and returns
// the channel to wait on; leave must follow.
func (k *Keeper) enterMore(c *Call, p *period, more uint64) (Verdict, chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	limit, charged := p.acc.plan.Load().limit, p.charged()
	switch {
	case k.closed:
		return c.refused(LedgerUnavailable, time.Second), nil
	case charged+c.more+1+more > limit:
		return c.refused(QuotaExhausted, time.Duration(p.reset-k.instant().unix)*time.Second), nil
	case p.holdWithin(limit, more):
		c.more += more
		return Admitted, nil
	case p.full(limit):
		// The last calls are held by others, who may still give them back.
		return c.refused(QuotaExhausted, time.Second), nil
	case time.Until(k.outage.retry) > 0:
		k.wantLocked(p)
		return c.refused(LedgerUnavailable, max(time.Second, time.Until(k.outage.retry))), nil
	default:
		return 0, k.queueLocked(p, int(more))
	}
}

// refused notes how long a caller has to wait, and leaves the call as it is.
func (c *Call) refused(v Verdict, retry time.Duration) Verdict {
	c.retryAfter = retry
	return v
}

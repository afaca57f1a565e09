package quota

import (
	"sync/atomic"
	"time"
)

// meter is a key's burst limit, by GCRA (the generic cell rate algorithm of ITU-T I.371). Its one word is the
// theoretical arrival time of the next call, in nanoseconds of the keeper's monotonic clock. The zero value is
// a key that has not called yet.
type meter struct {
	tat atomic.Int64
}

// pace is a burst in the algorithm's terms, both in nanoseconds.
type pace struct {
	step  int64 // time a call costs
	depth int64 // time that may be owed: as many steps as calls may come at once
}

// take counts one call at now. It returns how long the meter then needs to be full again,
// and how long a rejected caller has to wait; a wait above zero means that nothing was counted.
func (m *meter) take(p pace, now int64) (full, wait time.Duration) {
	for {
		tat := m.tat.Load()
		next := max(tat, now) + p.step
		if over := next - now - p.depth; over > 0 {
			return time.Duration(tat - now), time.Duration(over)
		}
		if m.tat.CompareAndSwap(tat, next) {
			return time.Duration(next - now), 0
		}
	}
}

// giveBack undoes one take whose call was rejected for another reason.
func (m *meter) giveBack(p pace) { m.tat.Add(-p.step) }

// peek returns how long the meter needs to be full again, without counting anything.
func (m *meter) peek(now int64) time.Duration {
	return time.Duration(max(m.tat.Load()-now, 0))
}

// left returns how many calls may still come at once.
func (p pace) left(full time.Duration) int {
	return int(max(p.depth-int64(full), 0) / p.step)
}

// SpendBurst takes more of the key's burst allowance than the one call Admit took, down to none:
// for a request that cost as much work as several calls. It changes the burst figures of the
// standings that follow and never the month's. A key without an account is left alone.
func (c *Call) SpendBurst(calls int) {
	if c.acc == nil || calls <= 0 {
		return
	}
	c.burstFull = c.acc.meter.spend(c.plan.pace, int64(calls), int64(c.k.clock.instant().mono))
}

// spend counts calls at now, whether or not the burst limit has room for them. It never empties the meter by
// more than its depth, so a caller waits no longer than for a full burst. It returns how long the meter then
// needs to be full again.
func (m *meter) spend(p pace, calls, now int64) time.Duration {
	for {
		tat := m.tat.Load()
		next := max(tat, min(max(tat, now)+calls*p.step, now+p.depth))
		if m.tat.CompareAndSwap(tat, next) {
			return time.Duration(max(next-now, 0))
		}
	}
}

package quota

import "time"

// SpendBurst takes more of the key's burst allowance than the one call Admit took, down to none:
// for a request that cost as much work as several calls. It changes the burst figures of the
// standings that follow and never the month's. A key without an account is left alone.
func (c *Call) SpendBurst(calls int) {
	if c.acc == nil || calls <= 0 {
		return
	}
	c.burstFull = c.acc.meter.spend(c.plan.pace, int64(calls), int64(c.k.instant().mono))
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

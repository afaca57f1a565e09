package quota

import (
	"time"
)

// Verdict says whether a call may be answered, or why not.
type Verdict uint8

// The verdicts. Zero is not a verdict and is never returned.
const (
	// Admitted is a call that may be answered.
	Admitted Verdict = iota + 1
	// UnknownKey is a digest no account has.
	UnknownKey
	// Suspended is a key an operator has stopped for a time.
	Suspended
	// Revoked is a key that was ended for ever.
	Revoked
	// Rotated is a secret that was replaced and whose grace is over.
	Rotated
	// BurstExceeded is a call that came too soon after others of its key.
	BurstExceeded
	// QuotaExhausted is a call above the month's limit.
	QuotaExhausted
	// LedgerUnavailable is a call for which no lease could be written.
	LedgerUnavailable
)

var verdictNames = [...]string{
	"no verdict", "admitted", "unknown_key", "suspended", "revoked", "rotated", "burst_exceeded", "quota_exhausted", "ledger_unavailable",
}

// String returns the verdict in lower case with underscores.
func (v Verdict) String() string {
	return verdictNames[min(int(v), len(verdictNames))%len(verdictNames)]
}

// NoTier is the tier in the standing of an unknown key.
const NoTier = "none"

// Standing is what is left of a key's allowances after a call. That of an unknown key is zero, in tier NoTier.
type Standing struct {
	Tier      string
	Limit     uint64 // calls per month
	Remaining uint64 // calls left in the month
	Reset     int64  // Unix seconds at which the month ends (UTC)

	Burst          Burst         // zero for an unknown key
	BurstRemaining int           // calls that may still come at once
	BurstReset     time.Duration // until all of Burst.Depth may come at once

	// RetryAfter is how long to wait before a rejected call may be admitted; zero when it was
	// admitted or waiting does not help. A caller that waits less is rejected again.
	RetryAfter time.Duration
}

// RetrySeconds returns RetryAfter in whole seconds, rounded up, at least 1.
func (s Standing) RetrySeconds() int64 {
	return max(1, int64((s.RetryAfter+time.Second-1)/time.Second))
}

// Call is one call being decided. An admitted one from Admit holds a leased call until the first Charge or Release;
// what comes later only reports. A Call belongs to one goroutine; copies of it must not be charged as well.
type Call struct {
	Verdict Verdict

	k          *Keeper
	acc        *account
	plan       *plan
	held       *period // nil once charged or released, and when nothing was held
	calls      uint64  // that are held in it: one, or as many as Extend says
	reset      int64
	charged    uint64
	shown      uint64 // charged is shown as no fewer than this
	burstFull  time.Duration
	retryAfter time.Duration
}

// ID returns the account the call belongs to, zero when the key is unknown.
func (c *Call) ID() ID {
	if c.acc == nil {
		return 0
	}
	return c.acc.id
}

// Charge counts the call and returns the standing after it. Remaining comes from the one atomic step that counted: over
// parallel calls it falls by exactly one each, or by what Extend made of it.
func (c *Call) Charge() Standing {
	if p := c.held; p != nil {
		c.held = nil
		w := p.word.Add(oneCharge * c.calls)
		c.charged, c.shown = w>>availBits, p.shown.Load()
		if w&availMask <= uint64(p.refillBelow.Load()) && !p.queued.Load() {
			c.k.leases.want(p)
		}
	}
	return c.Standing()
}

// Release gives the held call back uncounted and returns the standing. After a Charge it
// changes nothing, so it may be deferred.
func (c *Call) Release() Standing {
	if p := c.held; p != nil {
		c.held = nil
		c.charged, c.shown = p.word.Add(c.calls)>>availBits, p.shown.Load()
	}
	return c.Standing()
}

// maxExtend is the largest number of calls one request can cost: half of what a period can have
// available, so that no lease overflows.
const maxExtend = 1 << (availBits - 1)

// Extend makes a call that Admit returned cost a number of calls, 1 to maxExtend, in place of one. It is all or
// nothing: on any verdict but Admitted the call still holds the one it had, to be released, and its standing says how
// long to wait. QuotaExhausted means that the month has fewer calls left. Like Admit it waits at most Config.LeaseWait
// for a lease. Charge then counts all of them in one step, and Release gives all of them back.
func (c *Call) Extend(calls uint64) Verdict {
	calls = min(calls, maxExtend)
	if c.held == nil || calls <= c.calls {
		return Admitted
	}
	return c.k.leases.hold(c, calls-c.calls)
}

// Standing returns what was left when the call was last decided, charged or released.
func (c *Call) Standing() Standing {
	if c.plan == nil {
		return Standing{Tier: NoTier}
	}
	return Standing{
		Tier:           c.plan.tier,
		Limit:          c.plan.limit,
		Remaining:      c.plan.limit - min(max(c.charged, c.shown), c.plan.limit),
		Reset:          c.reset,
		Burst:          c.plan.burst,
		BurstRemaining: c.plan.pace.left(c.burstFull),
		BurstReset:     c.burstFull,
		RetryAfter:     c.retryAfter,
	}
}

// Admit decides one call of the key with digest d: it authenticates, counts the burst and holds one call of the month's
// quota. A rejected call costs neither burst nor quota. It takes well under a microsecond and allocates nothing, except
// when the key has no lease to spend from: then it waits for one, at most Config.LeaseWait. Safe for concurrent use.
func (k *Keeper) Admit(d Digest) Call {
	c, now, cal := k.begin(&d)
	if c.Verdict != Admitted {
		return c
	}
	if !c.takeBurst(now.mono) {
		return c
	}
	if p := c.acc.period.Load(); p != nil && p.month == cal.month && p.holdWithin(c.plan.limit, 1) {
		c.held, c.calls = p, 1
		return c
	}
	if c.Verdict = k.leases.hold(&c, 1); c.Verdict != Admitted {
		c.acc.meter.giveBack(c.plan.pace)
		c.burstFull = c.acc.meter.peek(int64(now.mono))
	}
	return c
}

// AdmitFree decides a call that no quota counts, such as a key asking about itself. It is
// authenticated and counted for the burst; Charge and Release only report.
func (k *Keeper) AdmitFree(d Digest) Call {
	c, now, _ := k.begin(&d)
	if c.Verdict == Admitted {
		c.takeBurst(now.mono)
	}
	return c
}

func (k *Keeper) begin(d *Digest) (Call, instant, *calendar) {
	cred := k.directory.get(d)
	if cred.acc == nil {
		return Call{Verdict: UnknownKey}, instant{}, nil
	}
	now := k.clock.instant()
	cal := k.clock.calendar(now.unix)
	acc := cred.acc
	c := Call{Verdict: cred.verdict(now.unix), k: k, acc: acc, plan: acc.plan.Load(), reset: cal.to}
	c.charged, c.shown = k.leases.charged(acc, cal)
	if c.Verdict != Admitted {
		c.burstFull = acc.meter.peek(int64(now.mono))
	}
	return c, now, cal
}

func (pl *plan) verdict() Verdict { return statusVerdict(pl.status) }

func statusVerdict(s Status) Verdict {
	switch s {
	case StatusActive:
		return Admitted
	case StatusSuspended:
		return Suspended
	default:
		return Revoked
	}
}

func (c *Call) takeBurst(now time.Duration) bool {
	full, wait := c.acc.meter.take(c.plan.pace, int64(now))
	c.burstFull = full
	if wait > 0 {
		c.Verdict, c.retryAfter = BurstExceeded, wait
		return false
	}
	return true
}

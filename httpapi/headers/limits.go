package headers

import (
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"modeldex/quota"
)

// plan is what the limit headers of all calls in a tier have in common in a month. Accounts with a limit of
// their own have their own plan.
type plan struct {
	tier  string
	limit uint64 // calls per month
	burst quota.Burst
}

// Plans keeps the header lines of the plans that call in a month, so that their numbers are written once and not for
// every response. Safe for concurrent use.
type Plans struct{ known atomic.Pointer[monthPlans] }

// monthPlans are the plans of one month, by its end in Unix seconds. They are replaced, never changed.
type monthPlans struct {
	reset int64
	lines map[plan]Lines
}

// maxPlans is how many plans are kept. More are written for every response.
const maxPlans = 100

// of is the header lines of a plan in the month that ends at reset. They are never changed.
func (p *Plans) of(pl plan, reset int64) Lines {
	known := p.known.Load()
	if known == nil || known.reset < reset {
		known = &monthPlans{reset: reset}
	}
	if lines, ok := known.lines[pl]; ok && known.reset == reset {
		return lines
	}
	lines := pl.headers(reset)
	if known.reset == reset && len(known.lines) < maxPlans {
		more := map[plan]Lines{pl: lines}
		maps.Copy(more, known.lines)
		p.known.Store(&monthPlans{reset, more}) // without one that another call adds now: it is added when it calls again
	}
	return lines
}

// headers are the header lines of a plan, the same for all its calls in the month that ends at reset.
func (pl plan) headers(reset int64) Lines {
	lines := Lines{}.AddInt("X-RateLimit-Limit", int64(pl.limit)).AddInt("X-RateLimit-Reset", reset).Add("X-RateLimit-Tier", pl.tier)
	if pl.burst.Depth == 0 { // no key, no policy
		return lines
	}
	month := reset - quota.MonthOf(time.Unix(reset-1, 0)).Start().Unix()
	policy := appendPair(nil, `"burst";q=`, int64(pl.burst.Depth), `;w=`, int64(pl.burst.PerSeconds))
	return lines.Add("RateLimit-Policy", string(appendPair(policy, `, "month";q=`, int64(pl.limit), `;w=`, month)))
}

// AppendLines adds a standing under the usual names and those of the IETF draft
// (draft-ietf-httpapi-ratelimit-headers-10); now is in Unix seconds.
func (p *Plans) AppendLines(lines Lines, st quota.Standing, now int64) Lines {
	lines = append(lines, p.of(plan{st.Tier, st.Limit, st.Burst}, st.Reset)...)
	lines = lines.AddInt("X-RateLimit-Remaining", int64(st.Remaining))
	if st.Burst.Depth == 0 {
		return lines
	}
	lines = appendPair(lines, `RateLimit: "burst";r=`, int64(st.BurstRemaining), `;t=`, int64((st.BurstReset+time.Second-1)/time.Second))
	lines = appendPair(lines, `, "month";r=`, int64(st.Remaining), `;t=`, max(0, st.Reset-now))
	return append(lines, "\r\n"...)
}

func appendPair(dst []byte, before string, first int64, between string, second int64) []byte {
	dst = strconv.AppendInt(append(dst, before...), first, 10)
	return strconv.AppendInt(append(dst, between...), second, 10)
}

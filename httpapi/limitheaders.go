package httpapi

import (
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"modeldex/quota"

	"github.com/valyala/fasthttp"
)

// plan is what the limit headers of all calls in a tier have in common in a month. Accounts with a limit of
// their own have their own plan.
type plan struct {
	tier  string
	limit uint64 // calls per month
	burst quota.Burst
}

// planTexts are the values of the headers that say it.
type planTexts struct{ limit, reset, policy string }

// plans keeps the texts of the plans that call in a month, so that their numbers are written once and not for
// every response. Safe for concurrent use.
type plans struct{ known atomic.Pointer[monthPlans] }

// monthPlans are the plans of one month, by its end in Unix seconds. They are replaced, never changed.
type monthPlans struct {
	reset int64
	texts map[plan]planTexts
}

// maxPlans is how many plans are kept. More are written for every response.
const maxPlans = 100

// of is the texts of a plan in the month that ends at reset.
func (p *plans) of(pl plan, reset int64) planTexts {
	known := p.known.Load()
	if known == nil || known.reset < reset {
		known = &monthPlans{reset: reset}
	}
	if texts, ok := known.texts[pl]; ok && known.reset == reset {
		return texts
	}
	texts := pl.texts(reset)
	if known.reset == reset && len(known.texts) < maxPlans {
		more := map[plan]planTexts{pl: texts}
		maps.Copy(more, known.texts)
		p.known.Store(&monthPlans{reset, more}) // without one that another call adds now: it is added when it calls again
	}
	return texts
}

func (pl plan) texts(reset int64) planTexts {
	text := func(n int64) string { return strconv.FormatInt(n, 10) }
	month := reset - quota.MonthOf(time.Unix(reset-1, 0)).Start().Unix()
	return planTexts{
		limit: text(int64(pl.limit)), reset: text(reset),
		policy: `"burst";q=` + text(int64(pl.burst.Depth)) + `;w=` + text(int64(pl.burst.PerSeconds)) + `, "month";q=` + text(int64(pl.limit)) + `;w=` + text(month),
	}
}

// limitHeaders writes a standing under the usual names and those of the IETF draft
// (draft-ietf-httpapi-ratelimit-headers-10); now is in Unix seconds.
func (p *plans) limitHeaders(h *fasthttp.ResponseHeader, st quota.Standing, now int64) {
	texts := p.of(plan{st.Tier, st.Limit, st.Burst}, st.Reset)
	setHeader(h, "X-RateLimit-Limit", texts.limit)
	setHeaderInt(h, "X-RateLimit-Remaining", int64(st.Remaining))
	setHeader(h, "X-RateLimit-Reset", texts.reset)
	setHeader(h, "X-RateLimit-Tier", st.Tier)
	if st.Burst.Depth == 0 { // no key, no policy
		return
	}
	setHeader(h, "RateLimit-Policy", texts.policy)
	var space [96]byte // on the stack
	b := appendPair(space[:0], `"burst";r=`, int64(st.BurstRemaining), `;t=`, int64((st.BurstReset+time.Second-1)/time.Second))
	b = appendPair(b, `, "month";r=`, int64(st.Remaining), `;t=`, max(0, st.Reset-now))
	setHeaderBytes(h, "RateLimit", b)
}

func appendPair(dst []byte, before string, first int64, between string, second int64) []byte {
	dst = strconv.AppendInt(append(dst, before...), first, 10)
	return strconv.AppendInt(append(dst, between...), second, 10)
}

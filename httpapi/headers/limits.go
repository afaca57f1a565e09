package headers

import (
	"strconv"
	"time"

	"modeldex/quota"
)

// AddLimits adds a standing under the usual names and those of the IETF draft
// (draft-ietf-httpapi-ratelimit-headers-10); now is in Unix seconds.
func (l Lines) AddLimits(st quota.Standing, now int64) Lines {
	l = l.AddInt("X-RateLimit-Limit", int64(st.Limit)).AddInt("X-RateLimit-Remaining", int64(st.Remaining))
	l = l.AddInt("X-RateLimit-Reset", st.Reset).Add("X-RateLimit-Tier", st.Tier)
	if st.Burst.Depth == 0 { // no key, no policy
		return l
	}
	month := st.Reset - quota.MonthOf(time.Unix(st.Reset-1, 0)).Start().Unix()
	l = appendPair(l, `RateLimit-Policy: "burst";q=`, int64(st.Burst.Depth), `;w=`, int64(st.Burst.PerSeconds))
	l = appendPair(l, `, "month";q=`, int64(st.Limit), `;w=`, month)
	l = appendPair(l, "\r\n"+`RateLimit: "burst";r=`, int64(st.BurstRemaining), `;t=`, int64((st.BurstReset+time.Second-1)/time.Second))
	l = appendPair(l, `, "month";r=`, int64(st.Remaining), `;t=`, max(0, st.Reset-now))
	return append(l, "\r\n"...)
}

func appendPair(dst []byte, before string, first int64, between string, second int64) []byte {
	dst = strconv.AppendInt(append(dst, before...), first, 10)
	return strconv.AppendInt(append(dst, between...), second, 10)
}

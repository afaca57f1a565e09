package httpapi

import (
	"strconv"
	"time"
	"unsafe"

	"modeldex/quota"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

const (
	jsonType       = "application/json"
	exposedHeaders = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Tier, X-RateLimit-Reset, RateLimit-Policy, RateLimit, " +
		"X-Request-Id, Dataset-Version, ETag, Link, Retry-After, Location, WWW-Authenticate, Allow"
	// Five minutes, the documented time an answer may be kept.
	privateCache = "private, max-age=300"
	publicCache  = "public, max-age=300"
	foreverCache = "public, max-age=31536000, immutable"
	keyedVary    = "Authorization, Accept-Encoding"
	openVary     = "Accept-Encoding"
)

// setHeader writes a header in the spelling given: fasthttp would make X-Ratelimit-Limit and
// Etag of X-RateLimit-Limit and ETag, which is the same to programs but not to readers. The
// header keeps copies.
func setHeader(h *fasthttp.ResponseHeader, name, value string) {
	setHeaderBytes(h, name, unsafe.Slice(unsafe.StringData(value), len(value)))
}

func setHeaderBytes(h *fasthttp.ResponseHeader, name string, value []byte) {
	// Neither is written to; an empty value has no first byte, but its length is zero.
	h.SetCanonical(unsafe.Slice(unsafe.StringData(name), len(name)), value)
}

// standing settles the held call by the status of the answer and writes where the key stands.
func (s *Server) standing(x *exchange, status int) {
	if x.rt.access == open {
		return
	}
	if x.gen != nil {
		setHeader(&x.c.Context().Response.Header, "Dataset-Version", x.gen.Info.Version)
	}
	var st quota.Standing
	switch {
	case !x.keyed:
		st = quota.Standing{Tier: quota.NoTier, Reset: quota.MonthOf(x.started).End().Unix()}
	case status == fiber.StatusOK || status == fiber.StatusNotFound:
		st = x.call.Charge()
	default:
		st = x.call.Release()
	}
	s.limitHeaders(x, st)
}

// limitHeaders writes the standing in the names of old and of the IETF draft
// (draft-ietf-httpapi-ratelimit-headers-10). The values are put together in one buffer on the
// stack; the header keeps a copy.
func (s *Server) limitHeaders(x *exchange, st quota.Standing) {
	h := &x.c.Context().Response.Header
	var space [160]byte
	b := space[:0]
	setHeaderBytes(h, "X-RateLimit-Limit", strconv.AppendUint(b, st.Limit, 10))
	setHeaderBytes(h, "X-RateLimit-Remaining", strconv.AppendUint(b, st.Remaining, 10))
	setHeaderBytes(h, "X-RateLimit-Reset", strconv.AppendInt(b, st.Reset, 10))
	setHeader(h, "X-RateLimit-Tier", st.Tier)
	if st.Burst.Depth == 0 { // no key, no policy
		return
	}
	b = append(b, `"burst";q=`...)
	b = strconv.AppendInt(b, int64(st.Burst.Depth), 10)
	b = append(b, `;w=`...)
	b = strconv.AppendInt(b, int64(st.Burst.PerSeconds), 10)
	b = append(b, `, "month";q=`...)
	b = strconv.AppendUint(b, st.Limit, 10)
	b = append(b, `;w=`...)
	b = strconv.AppendInt(b, secondsOfMonth(st.Reset), 10)
	setHeaderBytes(h, "RateLimit-Policy", b)

	b = append(space[:0], `"burst";r=`...)
	b = strconv.AppendInt(b, int64(st.BurstRemaining), 10)
	b = append(b, `;t=`...)
	b = strconv.AppendInt(b, int64((st.BurstReset+time.Second-1)/time.Second), 10)
	b = append(b, `, "month";r=`...)
	b = strconv.AppendUint(b, st.Remaining, 10)
	b = append(b, `;t=`...)
	b = strconv.AppendInt(b, max(0, st.Reset-x.started.Unix()), 10)
	setHeaderBytes(h, "RateLimit", b)
}

// secondsOfMonth is the length of the UTC month that ends at reset.
func secondsOfMonth(reset int64) int64 {
	return reset - quota.MonthOf(time.Unix(reset-1, 0)).Start().Unix()
}

// entryHeaders writes what belongs to a finished answer.
func (s *Server) entryHeaders(x *exchange, e *entry) {
	h := &x.c.Context().Response.Header
	if e.contentType == "" {
		h.SetContentType(jsonType)
	} else {
		h.SetContentType(e.contentType)
	}
	setHeader(h, fiber.HeaderETag, e.etag)
	if e.coding != identity {
		setHeader(h, fiber.HeaderContentEncoding, codingNames[e.coding])
	}
	if e.link != "" {
		setHeader(h, fiber.HeaderLink, e.link)
	}
	if e.policy != "" {
		setHeader(h, "Content-Security-Policy", e.policy)
	}
	s.dataHeaders(x)
	if e.forever {
		setHeader(h, fiber.HeaderCacheControl, foreverCache)
	}
}

// dataHeaders writes how long and by whom an answer may be kept.
func (s *Server) dataHeaders(x *exchange) {
	h := &x.c.Context().Response.Header
	if x.rt.access == open {
		setHeader(h, fiber.HeaderCacheControl, publicCache)
		setHeader(h, fiber.HeaderVary, openVary)
		return
	}
	setHeader(h, fiber.HeaderCacheControl, privateCache)
	setHeader(h, fiber.HeaderVary, keyedVary)
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

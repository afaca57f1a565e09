package httpapi

import (
	"fmt"
	"strconv"
	"sync/atomic"
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

// A head takes the headers of an answer: into a response of fasthttp, or, where there is none,
// as the bytes that go over the line. What writes headers does not know which.
type head struct {
	to  *fasthttp.ResponseHeader // nil: lines takes them
	raw []byte
}

// headOf is the head of the response fasthttp will send.
func headOf(ctx *fasthttp.RequestCtx) head { return head{to: &ctx.Response.Header} }

// set writes a header in the spelling given: fasthttp would make X-Ratelimit-Limit and Etag of
// X-RateLimit-Limit and ETag, which is the same to programs but not to readers. The head keeps
// copies.
func (h *head) set(name, value string) {
	h.setBytes(name, unsafe.Slice(unsafe.StringData(value), len(value)))
}

func (h *head) setBytes(name string, value []byte) {
	if h.to != nil {
		// Neither is written to; an empty value has no first byte, but its length is zero.
		h.to.SetCanonical(unsafe.Slice(unsafe.StringData(name), len(name)), value)
		return
	}
	h.raw = append(append(h.raw, name...), ": "...)
	h.raw = append(append(h.raw, value...), "\r\n"...)
}

func (h *head) setInt(name string, n int64) {
	var space [20]byte
	h.setBytes(name, strconv.AppendInt(space[:0], n, 10))
}

// settle ends the held call by the status of the answer and returns where the key stands.
func (s *Server) settle(x *exchange, status int) quota.Standing {
	switch {
	case !x.keyed:
		return quota.Standing{Tier: quota.NoTier, Reset: quota.MonthOf(x.started).End().Unix()}
	case status == fiber.StatusOK || status == fiber.StatusNotFound:
		return x.call.Charge()
	default:
		return x.call.Release()
	}
}

// standing settles the call and writes where the key stands and what it was answered from.
func (s *Server) standing(x *exchange, status int) {
	if x.rt.access == open {
		return
	}
	h := headOf(x.ctx)
	if x.gen != nil {
		h.set("Dataset-Version", x.gen.Info.Version)
	}
	s.limitHeaders(&h, s.settle(x, status), x.started.Unix())
}

// limitHeaders writes a standing in the names of old and of the IETF draft
// (draft-ietf-httpapi-ratelimit-headers-10); now is in Unix seconds.
func (s *Server) limitHeaders(h *head, st quota.Standing, now int64) {
	if h.to != nil {
		planHeaders(h, st)
	} else {
		h.raw = append(h.raw, s.plans.lines(st)...)
	}
	h.setInt("X-RateLimit-Remaining", int64(st.Remaining))
	if st.Burst.Depth == 0 { // no key, no policy
		return
	}
	var space [96]byte // on the stack
	b := append(space[:0], `"burst";r=`...)
	b = strconv.AppendInt(b, int64(st.BurstRemaining), 10)
	b = append(b, `;t=`...)
	b = strconv.AppendInt(b, int64((st.BurstReset+time.Second-1)/time.Second), 10)
	b = append(b, `, "month";r=`...)
	b = strconv.AppendUint(b, st.Remaining, 10)
	b = append(b, `;t=`...)
	b = strconv.AppendInt(b, max(0, st.Reset-now), 10)
	h.setBytes("RateLimit", b)
}

// planHeaders writes what of a standing is the same for all calls of a plan in a month.
func planHeaders(h *head, st quota.Standing) {
	h.setInt("X-RateLimit-Limit", int64(st.Limit))
	h.setInt("X-RateLimit-Reset", st.Reset)
	h.set("X-RateLimit-Tier", st.Tier)
	if st.Burst.Depth != 0 {
		h.set("RateLimit-Policy", fmt.Sprintf(`"burst";q=%d;w=%d, "month";q=%d;w=%d`,
			st.Burst.Depth, st.Burst.PerSeconds, st.Limit, secondsOfMonth(st.Reset)))
	}
}

// planLines keeps the lines of the plans that call, so that they are written once a plan and
// month and not once an answer. Plans are few; one that shares its slot is written each time.
type planLines [16]atomic.Pointer[planLine]

type planLine struct {
	tier  string
	limit uint64
	reset int64
	burst quota.Burst
	text  []byte
}

func (p *planLines) lines(st quota.Standing) []byte {
	slot := &p[(st.Limit^uint64(st.Burst.Depth))*0x9e3779b97f4a7c15>>60]
	line := slot.Load()
	if line == nil || line.tier != st.Tier || line.limit != st.Limit || line.reset != st.Reset || line.burst != st.Burst {
		var h head
		planHeaders(&h, st)
		line = &planLine{tier: st.Tier, limit: st.Limit, reset: st.Reset, burst: st.Burst, text: h.raw}
		slot.Store(line)
	}
	return line.text
}

// secondsOfMonth is the length of the UTC month that ends at reset.
func secondsOfMonth(reset int64) int64 {
	return reset - quota.MonthOf(time.Unix(reset-1, 0)).Start().Unix()
}

// commonHeaders writes what every answer has.
func commonHeaders(h *head) {
	h.set("Access-Control-Allow-Origin", "*")
	h.set("Access-Control-Expose-Headers", exposedHeaders)
	h.set("X-Content-Type-Options", "nosniff")
}

// entryHeaders writes what belongs to a finished answer of a route.
func entryHeaders(h *head, rt *route, e *entry, status int) {
	if e.contentType == "" {
		h.set(fiber.HeaderContentType, jsonType)
	} else {
		h.set(fiber.HeaderContentType, e.contentType)
	}
	if e.coding != identity && status == fiber.StatusOK {
		h.set(fiber.HeaderContentEncoding, codingNames[e.coding])
	}
	if e.version != "" {
		h.set("Dataset-Version", e.version)
	}
	h.set(fiber.HeaderETag, e.etag)
	if e.link != "" {
		h.set(fiber.HeaderLink, e.link)
	}
	if e.policy != "" {
		h.set("Content-Security-Policy", e.policy)
	}
	dataHeaders(h, rt, e.forever)
}

// dataHeaders writes how long and by whom an answer may be kept.
func dataHeaders(h *head, rt *route, forever bool) {
	switch {
	case forever:
		h.set(fiber.HeaderCacheControl, foreverCache)
	case rt.access == open:
		h.set(fiber.HeaderCacheControl, publicCache)
	default:
		h.set(fiber.HeaderCacheControl, privateCache)
	}
	if rt.access == open {
		h.set(fiber.HeaderVary, openVary)
	} else {
		h.set(fiber.HeaderVary, keyedVary)
	}
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

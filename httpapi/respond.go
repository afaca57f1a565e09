package httpapi

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"modeldex/quota"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// write hands a response to fasthttp, with what belongs to this one request: its id and what is
// left of the quota. It is the only function that touches fasthttp's response; the bytes themselves
// are written by fasthttp, and for large cached bodies and pages of rows by directwrite.go.
func (s *Server) write(req *request, resp *response, status int, standing quota.Standing) {
	out := &req.ctx.Response
	closing := out.Header.ConnectionClose() || req.ctx.Request.Header.ConnectionClose()
	resp.header.CopyTo(&out.Header)
	if closing {
		out.Header.SetConnectionClose()
	}
	var id [maxRequestID]byte
	setHeaderBytes(&out.Header, "X-Request-Id", appendRequestID(id[:0], s.idPrefix, req.number))
	if len(req.peek(originHeader, fiber.HeaderOrigin)) > 0 {
		setHeader(&out.Header, "Access-Control-Expose-Headers", exposedHeaders)
	}
	if req.keyed || s.showsStanding(req) {
		limitHeaders(&out.Header, standing, req.started.Unix())
	}
	if resp.ages && s.cfg.Mirror != nil {
		staleHeaders(&out.Header, s.cfg.Mirror(), req.started)
	}
	switch {
	case status == http.StatusNotModified:
		out.Header.SetStatusCode(status)
		out.Header.SetContentEncoding("")
	case resp.stream != nil:
		s.sendStream(req, resp)
	case resp.shared:
		sendShared(req.ctx, resp.body, &resp.readers)
	case resp.parts != nil:
		sendParts(req.ctx, resp.parts)
	default:
		out.SetBodyRaw(resp.body)
	}
}

// rejection is the response to a connection that is not served, head and all.
func (s *Server) rejection(f *failure) []byte {
	id := string(appendRequestID(nil, s.idPrefix, s.idCount.Add(1)))
	resp := newProblem(f, problemOf(f, s.cfg.SupportEmail, "/", id, strings.TrimSuffix(s.cfg.BaseURL, "/")))
	var out fasthttp.Response
	resp.header.CopyTo(&out.Header)
	setHeader(&out.Header, "X-Request-Id", id)
	out.SetBodyRaw(resp.body)
	var b bytes.Buffer
	_, _ = out.WriteTo(&b) // into memory
	return b.Bytes()
}

// limitHeaders writes a standing under the usual names and those of the IETF draft
// (draft-ietf-httpapi-ratelimit-headers-10); now is in Unix seconds.
func limitHeaders(h *fasthttp.ResponseHeader, st quota.Standing, now int64) {
	setHeaderInt(h, "X-RateLimit-Limit", int64(st.Limit))
	setHeaderInt(h, "X-RateLimit-Remaining", int64(st.Remaining))
	setHeaderInt(h, "X-RateLimit-Reset", st.Reset)
	setHeader(h, "X-RateLimit-Tier", st.Tier)
	if st.Burst.Depth == 0 { // no key, no policy
		return
	}
	var space [96]byte // on the stack
	b := appendPair(space[:0], `"burst";q=`, int64(st.Burst.Depth), `;w=`, int64(st.Burst.PerSeconds))
	b = appendPair(b, `, "month";q=`, int64(st.Limit), `;w=`, secondsOfMonth(st.Reset))
	setHeaderBytes(h, "RateLimit-Policy", b)
	b = appendPair(b[:0], `"burst";r=`, int64(st.BurstRemaining), `;t=`, int64((st.BurstReset+time.Second-1)/time.Second))
	b = appendPair(b, `, "month";r=`, int64(st.Remaining), `;t=`, max(0, st.Reset-now))
	setHeaderBytes(h, "RateLimit", b)
}

func appendPair(dst []byte, before string, first int64, between string, second int64) []byte {
	dst = strconv.AppendInt(append(dst, before...), first, 10)
	return strconv.AppendInt(append(dst, between...), second, 10)
}

// secondsOfMonth is the length of the UTC month that ends at reset.
func secondsOfMonth(reset int64) int64 {
	return reset - quota.MonthOf(time.Unix(reset-1, 0)).Start().Unix()
}

// sendStream has fasthttp ask for the body piece by piece. With HTTP/1.1 it sends each as a chunk,
// so that a body which ends early is seen to be cut: the last chunk is missing, and the connection is
// closed. HTTP/1.0 has no chunks: there the body is made twice, the first time to know its length.
func (s *Server) sendStream(req *request, resp *response) {
	body := &streamBody{stream: resp.stream, size: resp.stream.size, number: req.number, slow: func() { s.limit.closedSlow.Add(1) }, failed: s.streamFailed}
	if body.size < 0 && !req.ctx.Request.Header.IsHTTP11() {
		body.measure()
	}
	if req.ctx.IsHead() {
		// Without a body stream: behind the head of one with chunks fasthttp writes the empty line
		// that ends the last chunk.
		req.ctx.Response.Header.SetContentLength(body.size)
		_ = body.Close() // never fails
		return
	}
	req.ctx.Response.SetBodyStream(body, body.size)
}

func (s *Server) streamFailed(number uint64, err error) {
	s.cfg.Log.Error("a response was cut", "request_id", string(appendRequestID(nil, s.idPrefix, number)), "cause", err)
}

package httpapi

import (
	"bytes"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// entryStatuses are what a finished answer can be sent with, in the order of entry.heads.
var entryStatuses = [...]int{fiber.StatusOK, fiber.StatusNotModified}

// appendHead appends the first lines of the answer: those that are the same for every caller.
func (e *entry) appendHead(dst []byte, rt *route, status, length int) []byte {
	h := head{raw: dst}
	if status == fiber.StatusNotModified {
		h.raw = append(h.raw, "HTTP/1.1 304 Not Modified\r\n"...)
	} else {
		h.raw = append(h.raw, "HTTP/1.1 200 OK\r\n"...)
		h.setInt(fiber.HeaderContentLength, int64(length))
	}
	commonHeaders(&h)
	entryHeaders(&h, rt, e, status)
	return h.raw
}

// finish writes the heads.
func (e *entry) finish() {
	for i, status := range entryStatuses {
		e.heads[i] = bytes.Clone(e.appendHead(nil, e.rt, status, len(e.body)))
	}
}

// hit answers a request whose answer is finished and found by the address as it was sent: it
// needs no router. False means that the request has to go the long way; nothing was done then.
func (s *Server) hit(ctx *fasthttp.RequestCtx, number uint64) bool {
	if !mayHit(ctx) {
		return false
	}
	x := exchanges.Get().(*exchange)
	s.take(x, ctx)
	e := s.found(x)
	hit := e != nil && e.rt != nil
	if hit {
		x.rt, x.hit, x.number = e.rt, e, number
		s.answer(x)
	}
	x.free()
	return hit
}

// mayHit says whether hit looks for the answer of a request. It says the same until the answer is
// sent.
func mayHit(ctx *fasthttp.RequestCtx) bool { return plainAccept(ctx) && takesWhole(ctx) }

// plainAccept says whether the Accept header lets JSON through at a glance.
func plainAccept(ctx *fasthttp.RequestCtx) bool {
	accept := ctx.Request.Header.Peek(fiber.HeaderAccept)
	return len(accept) == 0 || string(accept) == "*/*" || string(accept) == jsonType
}

// sendEntry settles the call and sends a finished answer, or that the caller has it already.
func (s *Server) sendEntry(x *exchange, rep reply) {
	status := fiber.StatusOK
	if etagMatches(x.ctx.Request.Header.Peek(fiber.HeaderIfNoneMatch), rep.entry.etag) {
		status, rep.parts = fiber.StatusNotModified, nil
	}
	x.ctx.SetStatusCode(status)
	if takesWhole(x.ctx) {
		s.sendWhole(x, rep, status)
		return
	}
	s.standing(x, status)
	h := headOf(x.ctx)
	commonHeaders(&h)
	entryHeaders(&h, x.rt, rep.entry, status)
	if status == fiber.StatusOK {
		x.ctx.Response.SetBodyRaw(rep.whole())
	}
}

// sendWhole has the socket send the answer, head and all: the lines that are the caller's own
// are written into its buffer, the others and the body leave from where they lie.
func (s *Server) sendWhole(x *exchange, rep reply, status int) {
	k, e := socketOf(x.ctx), rep.entry
	h := head{raw: k.lines[:0]}
	first := e.heads[0]
	switch {
	case first == nil:
		h.raw = e.appendHead(h.raw, x.rt, status, rep.length())
	case status == fiber.StatusNotModified:
		first = e.heads[1]
	}
	var id [maxRequestID]byte
	h.setBytes(requestID, s.requestID(x, id[:0]))
	h.setBytes(fiber.HeaderDate, s.date(x.ctx.Time()))
	if x.rt.access != open {
		s.limitHeaders(&h, s.settle(x, status), x.started.Unix())
	}
	h.raw = append(h.raw, "\r\n"...)
	k.lines = h.raw
	k.give(first, k.lines)
	if status == fiber.StatusOK {
		k.give(e.body)
		k.give(rep.parts...)
	}
	x.ctx.Response.SkipBody = true
}

// requestID appends the id of the request.
func (s *Server) requestID(x *exchange, dst []byte) []byte {
	if x.number == 0 {
		return append(dst, x.ctx.Response.Header.Peek(requestID)...)
	}
	return appendRequestID(dst, s.idPrefix, x.number)
}

// date is the value of the Date header. It is written once a second, not once an answer.
func (s *Server) date(now time.Time) []byte {
	d := s.dateLine.Load()
	if unix := now.Unix(); d == nil || d.unix != unix {
		d = &dateLine{unix: unix, text: fasthttp.AppendHTTPDate(nil, now)}
		s.dateLine.Store(d)
	}
	return d.text
}

type dateLine struct {
	unix int64 // seconds
	text []byte
}

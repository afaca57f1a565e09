package httpapi

import (
	"bytes"
	"net/http"
	"strings"

	"modeldex/httpapi/connections"
	"modeldex/httpapi/headers"
	"modeldex/quota"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// typicalLines is more than the headers of a page of rows take in bytes.
const typicalLines = 1536

// write hands a response to fasthttp, with what belongs to this request: its id and what is left of the quota. No
// other function touches the response of fasthttp.
func (s *Server) write(req *request, resp *response, status int, standing quota.Standing) {
	out := &req.ctx.Response
	closing := out.Header.ConnectionClose() || req.ctx.Request.Header.ConnectionClose() || s.stopping.Load()
	resp.begin(&out.Header, status)
	if closing {
		out.Header.SetConnectionClose()
	}
	var space [typicalLines]byte // on the stack
	lines := append(headers.Lines(space[:0]), resp.lines...)
	if len(req.peek(fiber.HeaderOrigin)) > 0 {
		lines = lines.Add("Access-Control-Expose-Headers", exposedHeaders)
	}
	if req.keyed || s.showsStanding(req) {
		lines = lines.AddLimits(standing, req.started.Unix())
	}
	var id [maxRequestID]byte
	lines.SendTo(&out.Header, "X-Request-Id", s.appendRequestID(id[:0], req.number))
	if req.ctx.IsHead() {
		out.Header.SetContentLength(0) // as GET of nothing has; a body sets its own length
	}
	switch {
	case status == http.StatusNotModified: // no body
	case resp.stream != nil:
		connections.SendStream(req.ctx, resp.stream, s.streamFailed(req.number))
	case resp.parts != nil:
		for _, part := range resp.parts {
			out.AppendBody(part)
		}
	default:
		out.SetBodyRaw(resp.body)
	}
}

func (s *Server) rejection(why connections.Refusal) []byte {
	f := &failure{code: serverBusy, retryAfter: 1, close: true}
	if why == connections.ManyOfOne {
		f.code = tooManyConnections
	}
	id := s.requestID(s.idCount.Add(1))
	resp := newProblem(f, problemOf(f, s.cfg.SupportEmail, "/", id, strings.TrimSuffix(s.cfg.BaseURL, "/")))
	var out fasthttp.Response
	resp.begin(&out.Header, resp.status)
	resp.lines.SendTo(&out.Header, "X-Request-Id", []byte(id))
	out.SetBodyRaw(resp.body)
	var b bytes.Buffer
	_, _ = out.WriteTo(&b) // into memory
	return b.Bytes()
}

func (s *Server) streamFailed(number uint64) func(error) {
	return func(err error) {
		s.cfg.Log.Error("a response was cut", "request_id", s.requestID(number), "cause", err)
	}
}

package httpapi

import (
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"modeldex/quota"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// handle is where fasthttp hands over a request. Most are answered from the cache, which knows a response by the
// address as it was sent. So the second caller who spells a query the same way needs no router and no parser. The
// router finds the route of all others.
func (s *Server) handle(ctx *fasthttp.RequestCtx) {
	f := malformed(&ctx.Request.Header)
	req := s.newRequest(ctx) // takes the generation, once
	if f != nil {
		req.route, req.early = &rejected, f
	} else if doubledSlash(&ctx.Request) {
		req.route, req.early = &unknownEndpoint, fail(unknownRoute)
	} else if req.hit = s.hit(req); req.hit != nil {
		req.route = req.hit.route.(*route)
	} else {
		req.free()
		s.router(ctx)
		return
	}
	s.serve(req)
}

// hit is the cached response to a request, nil if there is none. Only responses with status 200 are found so.
func (s *Server) hit(req *request) *response {
	if h := &req.ctx.Request.Header; !h.IsGet() && !h.IsHead() || !req.accepts.Any {
		return nil
	}
	if resp := s.cache.Find(req.content[:], req.coding, req.accepts.Best, req.ctx.RequestURI()); resp != nil {
		return resp
	}
	return s.open.Find(req.content[:], req.coding, req.accepts.Best, s.spelling(req))
}

// routed goes on with a request whose route is known. c is nil, and early the failure, where it
// was rejected before it had one of its own.
func (s *Server) routed(ctx *fasthttp.RequestCtx, c *fiber.Ctx, rt *route, early *failure) {
	req := s.newRequest(ctx)
	req.c, req.route, req.early = c, rt, early
	s.serve(req)
}

// serve takes one request through its steps, first to last: key, cache, parameters, ETag, charge, write.
func (s *Server) serve(req *request) {
	resp := s.respond(req) // key, cache, parameters, rendering
	if resp.status/100 == 2 && req.route.id != preflight.id && req.refuses(resp.etag) {
		resp = s.problem(req, fail(preconditionFailed))
	}
	status := resp.status
	if resp.etag != "" && req.has(resp.etag) {
		status = http.StatusNotModified
	}
	standing := s.settle(req, status) // charges the call, or gives it back
	s.write(req, resp, status, standing)
	s.note(req, status)
	req.free()
}

func (s *Server) respond(req *request) (resp *response) {
	defer func() {
		if cause := recover(); cause != nil {
			resp = s.problem(req, &failure{code: internal, cause: fmt.Errorf("panic: %v", cause)})
		}
	}()
	found, f := s.find(req)
	if f != nil {
		return s.problem(req, f)
	}
	return found
}

// find checks the key and what the caller accepts, and asks the route where the cache had nothing.
func (s *Server) find(req *request) (*response, *failure) {
	if f := s.admit(req); f != nil {
		return nil, f
	}
	switch {
	case req.early != nil:
		return nil, req.early
	case req.route.access >= keyed && !req.accepts.JSON && !req.route.filed():
		return nil, fail(notAcceptable)
	case req.route.access == charged && req.gen == nil:
		return nil, &failure{code: notReady, retryAfter: 1}
	case req.hit != nil:
		return req.hit, nil
	}
	if h := &req.ctx.Request.Header; !h.IsGet() && !h.IsHead() && !h.IsOptions() && req.refuses("") {
		return nil, &failure{code: preconditionFailed, detail: "The target of this request has no ETag, so If-Match cannot succeed. Send the request without If-Match."}
	}
	return req.route.answer(s, req)
}

// settle ends the held call by the status of its response and returns the standing of the key
// after it. Data found, data missing and messages sent are charged; everything else is free.
func (s *Server) settle(req *request, status int) quota.Standing {
	switch {
	case req.tried && status != http.StatusOK && status != http.StatusNotFound:
		s.trial.GiveBack(s.client(req.ctx).Addr, req.started)
		fallthrough
	case !req.keyed:
		return s.trialStanding(req)
	case req.route.sends && status != http.StatusOK:
		return req.call.Release()
	case status == http.StatusOK || status == http.StatusNotFound:
		return req.call.Charge()
	default:
		return req.call.Release()
	}
}

// note counts a finished request and, at debug level, logs it: by route and key id, never by address, query or key.
func (s *Server) note(req *request, status int) {
	took := time.Since(req.began)
	if m := s.measured[req.route]; m != nil {
		m.Count(status, took)
	}
	if !s.cfg.Log.Enabled(req.ctx, slog.LevelDebug) {
		return
	}
	attrs := []slog.Attr{
		slog.String("request_id", s.requestID(req.number)),
		slog.String("method", string(req.ctx.Method())), slog.String("route", req.route.id), slog.Int("status", status),
		slog.Duration("took", took),
	}
	if req.keyed {
		attrs = append(attrs, slog.String("key", req.call.ID().String()))
	}
	s.cfg.Log.LogAttrs(req.ctx, slog.LevelDebug, "request", attrs...)
}

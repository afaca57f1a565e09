package httpapi

import (
	"bytes"
	"errors"
	"net"
	"path"
	"slices"
	"strings"

	"modeldex/httpapi/headers"
	"modeldex/httpapi/suggest"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// Limits of a request. A request larger than these is rejected before any handler sees it.
const (
	maxBody    = 4 << 10
	maxNames   = 64 << 10 // the body of POST /api/v1/resolve and /api/v1/fit: 200 names, 100 pairs; and of /mcp
	maxAddress = 8 << 10

	// maxForm is the most bytes of a form that was filled in: a pasted output of 64 KiB takes up to
	// three times as much with its signs escaped.
	maxForm = 224 << 10
)

// rejected, unknownEndpoint and wrongMethod are the routes of requests without one of their own:
// they are counted under these names. rejected and wrongMethod show the standing of a valid key.
var (
	rejected        = route{id: "rejected", access: shown}
	unknownEndpoint = route{id: "unknown", answer: answerUnknown}
	wrongMethod     = route{id: "wrong_method", access: shown}
)

// bodyLimits lets the endpoints that take a list of names or pairs have a larger body than the others.
func bodyLimits(h *fasthttp.RequestHeader) (config fasthttp.RequestConfig) {
	if !h.IsPost() {
		return config
	}
	switch path, _, _ := bytes.Cut(h.RequestURI(), []byte{'?'}); string(path) {
	case resolvePath, fitPath, mcpPath:
		config.MaxRequestBodySize = maxNames
	case contributePath:
		config.MaxRequestBodySize = maxForm
	}
	return config
}

// malformed rejects what no route should see; nil means nothing to reject. fasthttp has read the head and rejected
// what is not HTTP at all.
func malformed(h *fasthttp.RequestHeader) *failure {
	if version := h.Protocol(); string(version) != "HTTP/1.1" && string(version) != "HTTP/1.0" {
		return closing(fail(versionNotSupported))
	}
	raw := h.RawHeaders()
	keys, last := 0, false
	for len(raw) > 0 {
		line := raw
		if end := bytes.IndexByte(raw, '\n'); end >= 0 {
			line, raw = raw[:end], raw[end+1:]
		} else {
			raw = nil
		}
		colon := bytes.IndexByte(line, ':')
		if colon < 0 {
			if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
				return closing(oddHeader())
			}
			continue // the empty line at the end
		}
		name, value := line[:colon], line[colon+1:]
		switch {
		case bytes.IndexByte(name, ' ') >= 0 || bytes.IndexByte(name, '\t') >= 0:
			return closing(oddHeader())
		case len(name) == len("transfer-encoding") && headers.EqualFold(name, "transfer-encoding"):
			// Two ideas of where a body ends are how requests are smuggled past proxies.
			return closing(fail(lengthRequired))
		case len(name) == len("connection") && headers.EqualFold(name, "connection"):
			// fasthttp knows close in lower case, on its own and in the last line of the header only.
			last = last || listsClose(value)
		case len(name) == len("authorization") && headers.EqualFold(name, "authorization"):
			if keys++; keys > 1 {
				h.Del(fiber.HeaderAuthorization) // none of them is taken
				return &failure{code: badRequest, detail: "The request has more than one Authorization header."}
			}
		}
	}
	if last { // the caller wants the connection closed after the response
		h.SetConnectionClose()
	}
	if len(h.RequestURI()) > maxAddress {
		return fail(uriTooLong)
	}
	if !knownMethod(h.Method()) {
		// fiber answers methods it does not know in plain text; any method that has no route
		// makes it look for the routes of the path and answer 404 or 405.
		h.SetMethod(fiber.MethodTrace)
	}
	return nil
}

func oddHeader() *failure {
	return &failure{code: badRequest, detail: "A header name contains a space, or a header is folded over several lines."}
}

// doubledSlash reports whether the path of a request has two slashes in a row. It leaves one at the start of the
// address: fasthttp may read what follows two as a host, and an error page would link there.
func doubledSlash(r *fasthttp.Request) bool {
	address := r.Header.RequestURI()
	path, _, _ := bytes.Cut(address, []byte{'?'})
	if !bytes.HasPrefix(path, []byte{'/'}) || !bytes.Contains(path, []byte("//")) {
		return false
	}
	r.SetRequestURIBytes(append([]byte{'/'}, bytes.TrimLeft(address, "/")...))
	return true
}

// closing ends the connection behind a failure: requests that follow on it cannot be separated.
func closing(f *failure) *failure {
	f.close = true
	return f
}

func knownMethod(method []byte) bool {
	switch string(method) {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodDelete,
		fiber.MethodPatch, fiber.MethodOptions, fiber.MethodConnect, fiber.MethodTrace:
		return true
	}
	return false
}

func listsClose(value []byte) bool {
	for item := range bytes.SplitSeq(value, []byte{','}) {
		if headers.EqualFold(bytes.TrimSpace(item), "close") {
			return true
		}
	}
	return false
}

// onRouterError answers what the router found no route for: fiber raises an error with a status.
func (s *Server) onRouterError(c *fiber.Ctx, err error) error {
	status := fiber.StatusInternalServerError
	var raised *fiber.Error
	if errors.As(err, &raised) {
		status = raised.Code
	}
	switch {
	case c.Method() == fiber.MethodOptions && (status == fiber.StatusMethodNotAllowed || forServer(c)):
		s.routed(c.Context(), c, &preflight, nil)
	case status == fiber.StatusMethodNotAllowed:
		s.routed(c.Context(), c, &wrongMethod, &failure{code: methodNotAllowed, allow: allowed(c)})
	case status == fiber.StatusNotFound:
		s.routed(c.Context(), c, &unknownEndpoint, nil)
	default:
		s.routed(c.Context(), c, &rejected, &failure{code: internal, cause: err})
	}
	return nil
}

// answerUnknown answers an address without a route: not found, except for a slash too many.
func answerUnknown(s *Server, req *request) (*response, *failure) {
	if resp := s.slashMoved(req); resp != nil {
		return resp, nil
	}
	near := new(suggest.Suggester).Address(hideKeys(string(req.ctx.Path()), s.cfg.Keeper.KeyPrefix()), s.paths, listNames())
	if near == "" {
		return nil, fail(unknownRoute)
	}
	return nil, &failure{
		code: unknownRoute, detail: "This address does not exist. Did you mean " + near + ". See /docs for the routes.",
		faults: []Fault{{In: "path", Name: "path", Detail: "is not an address of this service", Suggestion: near}},
	}
}

func (s *Server) paths(yield func(string) bool) {
	for i := range s.routes {
		if !yield(s.routes[i].path) {
			return
		}
	}
}

// forServer reports whether a request is for the server as a whole, not for an address (RFC 9110, 9.3.7): OPTIONS has that form.
func forServer(c *fiber.Ctx) bool { return string(c.Request().Header.RequestURI()) == "*" }

const allMethods = "GET, HEAD, POST, PATCH, DELETE, OPTIONS"

func allowed(c *fiber.Ctx) string {
	if forServer(c) {
		return allMethods
	}
	return strings.Clone(c.GetRespHeader(fiber.HeaderAllow)) + ", OPTIONS"
}

const requestHeaders = "Authorization, Content-Type, If-Match, If-None-Match, If-Range, Range, " +
	"Mcp-Protocol-Version, Mcp-Session-Id, traceparent, x-grafana-device-id"

var preflight = route{id: "preflight", answer: func(_ *Server, req *request) (*response, *failure) {
	allow := allowed(req.c)
	resp := newResponse(fiber.StatusNoContent, "", nil)
	resp.set(fiber.HeaderAllow, allow)
	resp.set("Access-Control-Allow-Methods", allow)
	resp.set("Access-Control-Allow-Headers", requestHeaders)
	resp.set("Access-Control-Max-Age", "86400")
	return resp, nil
}}

// onReadError answers a request that could not be read. The error is never shown, and logged only
// where it is the connection's: a parser's text holds the head of the request, key included.
func (s *Server) onReadError(ctx *fasthttp.RequestCtx, err error) {
	var network net.Error
	code := badRequest
	switch {
	case errors.As(err, new(*fasthttp.ErrSmallBuffer)):
		code = headersTooLarge
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		code = bodyTooLarge
	case errors.As(err, &network) && network.Timeout():
		code = requestTimeout
	case errors.As(err, &network):
		s.cfg.Log.Debug("connection lost inside a request", "cause", network.Error())
	}
	s.routed(ctx, nil, &rejected, closing(fail(code)))
}

// slashMoved answers an address with slashes at its end where the same address without them has a
// route. Other requests get nil.
func (s *Server) slashMoved(req *request) *response {
	h := &req.ctx.Request.Header
	address := string(req.ctx.Path())
	short := strings.TrimRight(address, "/")
	if short == address || !h.IsGet() && !h.IsHead() {
		return nil
	}
	for i := range s.routes {
		if rt := &s.routes[i]; rt.method == fiber.MethodGet && rt.matches(short) {
			return req.moved(short)
		}
	}
	return nil
}

// matches reports whether a path belongs to a route without a wildcard. It accepts only characters that need no
// escaping, so the path can be echoed.
func (rt *route) matches(address string) bool {
	if strings.Trim(address, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/") != "" {
		return false
	}
	want, got := strings.Split(rt.path, "/"), strings.Split(address, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool {
		if name, isParam := strings.CutPrefix(w, ":"); isParam {
			return len(g) > len(path.Ext(name)) && strings.HasSuffix(g, path.Ext(name))
		}
		return w == g
	})
}

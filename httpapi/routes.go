package httpapi

import (
	"sync"
	"time"

	"modeldex/index"
	"modeldex/quota"
	"modeldex/snapshot"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// access is what a route asks of its caller.
type access uint8

const (
	open    access = iota // no key
	keyed                 // a key; counts for the burst only
	charged               // a key; 200 and 404 are counted
)

// route is one address and method. The table of routes feeds the router and OpenAPI.
type route struct {
	method  string
	path    string // as fiber writes it
	doc     string // path as OpenAPI writes it; empty: the same
	id      string // operationId
	summary string
	tag     string
	access  access
	// list is the resource whose parameters the route takes, record the one it answers one of.
	list, record *resource
	answer       func(s *Server, x *exchange) reply
}

// routes is every address of the public listener, in the order they are documented in. The
// steps of a request are the same for all of them: see handler.
var routes = buildRoutes()

func buildRoutes() []route {
	out := []route{
		{method: "POST", path: "/api/v1/keys", id: "issueKey", tag: "keys", summary: "Issue a free-tier key; it is shown this once", answer: issueKey},
		{method: "GET", path: "/api/v1/keys/self", id: "showKey", tag: "keys", summary: "Usage and state of the calling key", access: keyed, answer: showKey},
		{method: "DELETE", path: "/api/v1/keys/self", id: "revokeKey", tag: "keys", summary: "Revoke the calling key for good", access: keyed, answer: revokeKey},
		{method: "POST", path: "/api/v1/keys/self/rotate", id: "rotateKey", tag: "keys", summary: "Replace the calling key; its counters go on", access: keyed, answer: rotateKey},
	}
	for _, r := range resources {
		out = append(out, r.routes()...)
	}
	return append(out,
		route{method: "GET", path: "/api/v1/changes", id: "listChanges", tag: "dataset", summary: "What happened to records while this process ran, field by field", list: changesList, answer: listChanges},
		route{method: "GET", path: "/api/v1/dataset", id: "showDataset", tag: "dataset", summary: "What is being served: version, digest, counts, times, licence", answer: showDataset},
		route{method: "GET", path: "/api/v1/snapshots", id: "listSnapshots", tag: "snapshots", summary: "Published model-intelligence snapshots, newest first", answer: listSnapshots},
		route{method: "GET", path: "/api/v1/snapshots/latest", id: "latestSnapshot", tag: "snapshots", summary: "The newest snapshot document", answer: latestSnapshot},
		route{method: "GET", path: "/api/v1/snapshots/:hash", doc: "/api/v1/snapshots/{hash}", id: "getSnapshot", tag: "snapshots", summary: "One snapshot document by its hash; the address never changes its answer", answer: snapshotByHash},
		route{method: "GET", path: "/api/v1/schemas/:name.json", doc: "/api/v1/schemas/{name}.json", id: "getSchema", tag: "documents", summary: "JSON Schema of snapshot documents and dataset records", answer: showSchema},
		route{method: "GET", path: "/healthz", id: "alive", tag: "operation", summary: "The process answers", answer: alive},
		route{method: "GET", path: "/readyz", id: "ready", tag: "operation", summary: "A dataset is loaded and the ledger answers", answer: ready},
		route{method: "GET", path: "/openapi.json", id: "openapi", tag: "documents", summary: "This document", answer: static("openapi.json")},
		route{method: "GET", path: "/docs", id: "docs", tag: "documents", summary: "Reference page", answer: static("docs")},
		route{method: "GET", path: "/", id: "front", tag: "documents", summary: "Front page", answer: front},
		route{method: "GET", path: "/problems/:code", doc: "/problems/{code}", id: "problem", tag: "documents", summary: "What an error code means and what to do", answer: showProblem},
		route{method: "GET", path: "/assets/:name", doc: "/assets/{name}", id: "asset", tag: "documents", summary: "Files of the pages", answer: asset},
	)
}

// routes is the list of a resource and the address of each of its records.
func (r *resource) routes() []route {
	one := route{
		method: "GET", path: "/api/v1/" + r.name + "/*", doc: "/api/v1/" + r.name + "/{slug}", id: "get" + titleCase(r.singular),
		summary: "One " + r.singular, tag: r.name, access: charged, record: r, answer: r.one,
	}
	switch r {
	case models:
		one.summary = "One model with architecture, quantizations, KV cache and every benchmark held for it"
	case hardware:
		one.summary = "One piece of hardware"
	case benchmarks:
		one.doc = "/api/v1/benchmarks/{id}"
	}
	return []route{
		{method: "GET", path: "/api/v1/" + r.name, id: "list" + titleCase(r.name), summary: "List " + r.name, tag: r.name, access: charged, list: r, answer: r.page},
		one,
	}
}

func titleCase(s string) string { return string(s[0]-'a'+'A') + s[1:] }

// exchange is one request being answered and what has been found out about it.
type exchange struct {
	c       *fiber.Ctx
	rt      *route
	gen     *index.Generation // nil before the first load
	shelf   *snapshot.Shelf
	content [16]byte // names gen and shelf, see contentOf
	digest  quota.Digest
	call    quota.Call
	keyed   bool // call was decided
	started time.Time
}

// reply is what a route answers: exactly one of entry, failure, location, or body.
type reply struct {
	entry    *entry
	failure  *failure
	location string // 301
	body     []byte // uncached JSON, with status
	status   int    // of body
}

// exchanges are reused: one a request would be the only allocation of a warm answer.
var exchanges = sync.Pool{New: func() any { return new(exchange) }}

// handler makes the steps every request takes, first to last.
func (s *Server) handler(rt *route) fiber.Handler {
	return func(c *fiber.Ctx) error {
		x := exchanges.Get().(*exchange)
		*x = exchange{c: c, rt: rt, started: s.cfg.Now()}
		s.send(x, s.decide(x))
		s.note(x)
		*x = exchange{} // nothing of this request may be met by the next, or kept alive
		exchanges.Put(x)
		return nil
	}
}

// decide takes the generation, admits the caller and asks the route.
func (s *Server) decide(x *exchange) (rep reply) {
	x.gen, x.shelf = s.cfg.Live.Current(), s.shelf()
	x.content = contentOf(x.gen, x.shelf)
	if x.rt.access != open {
		if f := s.admit(x); f != nil {
			return reply{failure: f}
		}
	}
	// A panic in a route must not keep the held call; guard answers it. Release does nothing
	// after the Charge in send.
	settled := false
	defer func() {
		if !settled && x.keyed {
			x.call.Release()
		}
	}()
	switch {
	case !acceptsJSON(x):
		rep = reply{failure: fail(&notAcceptable)}
	case x.gen == nil && x.rt.access == charged:
		rep = reply{failure: &failure{code: &notReady, retryAfter: 1}}
	default:
		rep = x.rt.answer(s, x)
	}
	settled = true
	return rep
}

// acceptsJSON says whether the Accept header lets the route's form through. Pages and
// documents are sent whatever it says.
func acceptsJSON(x *exchange) bool {
	if x.rt.access == open {
		return true
	}
	accept := x.c.Request().Header.Peek(fiber.HeaderAccept)
	return len(accept) == 0 || string(accept) == "*/*" || x.c.Accepts("application/json", "application/problem+json") != ""
}

// send settles the call and writes status, headers and body. The standing in the headers is
// the one the settling step itself returned.
func (s *Server) send(x *exchange, rep reply) {
	ctx := x.c.Context()
	if rep.entry != nil && etagMatches(x.c.Get(fiber.HeaderIfNoneMatch), rep.entry.etag) {
		s.standing(x, fiber.StatusNotModified)
		s.entryHeaders(x, rep.entry)
		ctx.Response.Header.Del(fiber.HeaderContentEncoding)
		ctx.SetStatusCode(fiber.StatusNotModified)
		return
	}
	switch {
	case rep.entry != nil:
		s.standing(x, fiber.StatusOK)
		s.entryHeaders(x, rep.entry)
		ctx.SetStatusCode(fiber.StatusOK)
		setBody(ctx, rep.entry.body)
	case rep.failure != nil:
		s.standing(x, rep.failure.code.status)
		s.refuse(ctx, rep.failure)
	case rep.location != "":
		s.standing(x, fiber.StatusMovedPermanently)
		s.dataHeaders(x)
		setHeader(&ctx.Response.Header, fiber.HeaderLocation, rep.location)
		ctx.SetStatusCode(fiber.StatusMovedPermanently)
	default:
		s.standing(x, rep.status)
		setHeader(&ctx.Response.Header, fiber.HeaderCacheControl, "no-store")
		ctx.Response.Header.SetContentType(jsonType)
		ctx.SetStatusCode(rep.status)
		ctx.Response.SetBodyRaw(rep.body)
	}
}

// refuse writes a failure as a problem. It is the only place a status number meets an error.
func (s *Server) refuse(ctx *fasthttp.RequestCtx, f *failure) {
	h := &ctx.Response.Header
	id := string(h.Peek("X-Request-Id"))
	if f.code.status >= 500 {
		s.cfg.Log.Error("request failed", "request_id", id, "code", f.code.name, "cause", f.cause)
	}
	if f.code.status == fiber.StatusUnauthorized {
		setHeader(h, fiber.HeaderWWWAuthenticate, `Bearer realm="modeldex"`)
	}
	if f.retryAfter > 0 {
		setHeaderBytes(h, fiber.HeaderRetryAfter, appendInt(nil, f.retryAfter))
	}
	setHeader(h, fiber.HeaderCacheControl, "no-store")
	setHeader(h, fiber.HeaderVary, "Authorization, Accept-Encoding")
	h.SetContentType("application/problem+json")
	ctx.SetStatusCode(f.code.status)
	ctx.Response.SetBodyRaw(s.problem(f, string(ctx.Path()), id, s.base(ctx)))
}

package httpapi

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"modeldex/httpapi/encoding"
	"modeldex/httpapi/headers"
	"modeldex/httpapi/query"
	"modeldex/index"
	"modeldex/quota"
	"modeldex/snapshot"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// Addresses that handlers name too.
const (
	apiPath        = "/api/v1" // the list of endpoints, and the start of the addresses it lists
	schemasPath    = apiPath + "/schemas"
	fitPath        = apiPath + "/fit"
	askPath        = apiPath + "/ask"
	resolvePath    = apiPath + "/resolve"
	contributePath = "/contribute"
	mcpPath        = "/mcp"
)

// access is what a route asks of its caller.
type access uint8

const (
	open    access = iota // no key
	shown                 // no key, but a valid one counts for the burst and its standing is shown
	keyed                 // a key; counts for the burst only
	charged               // a key; responses 200 and 404 are counted
)

type route struct {
	method  string
	path    string // as fiber writes it
	doc     string // path as OpenAPI writes it; empty: the same
	id      string // operationId
	summary string
	tag     string
	access  access
	// sends routes send a message for the key, which counts as one call.
	sends bool
	// pages is what a large document that needs no key costs of the allowance of an address.
	pages int
	// trial routes answer a few calls a day without a key.
	trial bool
	// list is the resource whose parameters the route takes, record the one it answers one of.
	list, record *resource
	answer       func(s *Server, req *request) (*response, *failure)
}

// request is one request on its way through the pipeline. It belongs to one goroutine and is
// reused for another request after free.
type request struct {
	ctx     *fasthttp.RequestCtx
	c       *fiber.Ctx // nil where the request was rejected before the router
	route   *route
	early   *failure          // of a request rejected before its route
	hit     *response         // from the cache, where it was found before the route
	number  uint64            // unique in this process
	gen     *index.Generation // nil before the first load
	catalog *snapshot.Catalog
	content [16]byte        // names gen and catalog, see contentOf
	coding  encoding.Coding // the preferred encoding that the client accepts
	accepts headers.Acceptance
	digest  quota.Digest
	call    quota.Call
	keyed   bool      // call was decided
	tried   bool      // without a key, as one of the calls of the day
	started time.Time // by the clock of the server
	began   time.Time // when it came; of one that could not be read, when that was known
}

// requests are reused: one per request would be the only allocation of a cached response.
var requests = sync.Pool{New: func() any { return new(request) }}

// newRequest begins a request: from here on it sees one generation.
func (s *Server) newRequest(ctx *fasthttp.RequestCtx) *request {
	req := requests.Get().(*request)
	req.ctx = ctx
	req.number, req.began = s.idCount.Add(1), ctx.Time()
	if req.began.IsZero() {
		req.began = time.Now()
	}
	if req.started = req.began; s.cfg.Now != nil {
		req.started = s.cfg.Now()
	}
	req.gen, req.catalog = s.cfg.Live.Current(), s.catalog()
	req.content = contentOf(req.gen, req.catalog)
	req.coding = encoding.Accepted(req.peek(fiber.HeaderAcceptEncoding))
	req.accepts = headers.Accepted(req.peek(fiber.HeaderAccept))
	return req
}

// peek is the value of a header, or nil. Repeated header lines form one list (RFC 9110, 5.3).
func (req *request) peek(name string) []byte {
	switch lines := req.ctx.Request.Header.PeekAll(name); len(lines) {
	case 0:
		return nil
	case 1:
		return lines[0]
	default:
		return bytes.Join(lines, []byte(", "))
	}
}

// free clears the request before reuse.
func (req *request) free() {
	*req = request{}
	requests.Put(req)
}

// param is a part of the path, in a copy that may be kept.
func (req *request) param(name string) string { return strings.Clone(req.c.Params(name)) }

// requestID is the id of a request: unique in this process by the number, among processes by the prefix. A counter,
// because a random id costs a lock or a system call.
func (s *Server) requestID(number uint64) string { return string(s.appendRequestID(nil, number)) }

func (s *Server) appendRequestID(dst []byte, number uint64) []byte {
	end := len(dst) + len(s.idPrefix)
	dst = strconv.AppendUint(append(dst, s.idPrefix...), 1<<40|number, 16)
	return slices.Delete(dst, end, end+1) // ten digits are left
}

// maxRequestID is longer than any request id.
const maxRequestID = 40

// has says whether the caller says to have the entity with a tag already, on any line of the header: one
// may be a mere star.
func (req *request) has(etag string) bool {
	return req.names(fiber.HeaderIfNoneMatch, etag, "W/")
}

// refuses says whether the caller wants another version than the one with a tag, which is empty if there is none: If-Match
// names others only.
func (req *request) refuses(etag string) bool {
	return len(req.ctx.Request.Header.PeekAll(fiber.HeaderIfMatch)) > 0 && !req.names(fiber.HeaderIfMatch, etag, "")
}

// names says whether any line of a header names an entity tag.
func (req *request) names(header, etag, ignored string) bool {
	return slices.ContainsFunc(req.ctx.Request.Header.PeekAll(header), func(line []byte) bool { return etagMatches(line, etag, ignored) })
}

// noParameters rejects any query on an address that takes none.
func (req *request) noParameters() *failure {
	return failureOf(&query.Read(nil, req.ctx.QueryArgs().All()).Faults)
}

// moved sends the caller to another address for good, with the parameters of the request, unless the
// address has them already.
func (req *request) moved(location string) *response {
	if query := req.ctx.URI().QueryString(); len(query) > 0 && !strings.Contains(location, "?") {
		location += "?" + string(query)
	}
	resp := newResponse(http.StatusMovedPermanently, "", nil)
	resp.set(fiber.HeaderLocation, location)
	if req.route.access == open || req.route.access == shown {
		resp.public()
	} else {
		resp.private()
	}
	if req.gen != nil && req.route.access >= shown {
		resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
	}
	return resp
}

var noSnapshots = &snapshot.Catalog{}

func (s *Server) catalog() *snapshot.Catalog {
	if s.cfg.Snapshots != nil {
		if catalog := s.cfg.Snapshots(); catalog != nil {
			return catalog
		}
	}
	return noSnapshots
}

// contentOf names what answers of data are made of: the dataset and the newest snapshot. It
// goes into cache keys and entity tags, so a change of either outdates them at once.
func contentOf(gen *index.Generation, catalog *snapshot.Catalog) (content [16]byte) {
	if gen != nil {
		copy(content[:], gen.Digest[:])
	}
	if published, ok := catalog.Latest(); ok {
		for i := range 8 {
			content[i] ^= published.Hash[i] // hex digits, 32 bits of hash
		}
	}
	return content
}

package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strconv"

	"modeldex/httpapi/cache"
	"modeldex/httpapi/connections"
	"modeldex/httpapi/encoding"
	"modeldex/httpapi/headers"

	"github.com/cespare/xxhash/v2"
	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

const (
	jsonType = "application/json"
	// exposedHeaders may be read by a page of another origin.
	exposedHeaders = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Tier, X-RateLimit-Reset, RateLimit-Policy, RateLimit, " +
		"X-Request-Id, Dataset-Version, Dataset-Digest, ETag, Link, Retry-After, Location, WWW-Authenticate, Allow, " +
		"Content-Disposition, Accept-Ranges, Content-Range"
	// Five minutes, the documented time a response may be kept.
	privateCache = "private, max-age=300"
	publicCache  = "public, max-age=300"
	foreverCache = "public, max-age=31536000, immutable"
	keyedVary    = "Authorization, Accept-Encoding, Origin"
	filedVary    = "Authorization, Accept, Accept-Encoding, Origin"
	openVary     = "Accept-Encoding, Origin"
)

// response is what a caller is sent, apart from what belongs to one request: its id, the date and
// the standing of the key. Cached responses are shared by all callers, so nothing of what is
// sent changes after the function that made it has returned it.
type response struct {
	status int
	// lines are the headers that are the same for every caller, without contentType and encoding, for which
	// fasthttp has fields. Those two are empty if the response has no such header.
	lines                 headers.Lines
	contentType, encoding string
	close                 bool // the connection ends after the response
	body                  []byte
	etag                  string              // empty: the response is not compared with If-None-Match
	stream                *connections.Stream // in place of body
	coding                encoding.Coding     // of the body
	// route is that of cached data, a *route; responses know of no routes.
	route any
	parts [][]byte // in place of body in a response that only one caller has
}

func newResponse(status int, contentType string, body []byte) *response {
	const typical = 512
	lines := append(make(headers.Lines, 0, typical), "Access-Control-Allow-Origin: *\r\nX-Content-Type-Options: nosniff\r\n"...)
	return &response{status: status, contentType: contentType, lines: lines, body: body}
}

// newEntity begins a response with status 200 and an entity tag, which content and address make. The body is
// compressed if it is worth it.
func newEntity(body []byte, c encoding.Coding, contentType string, content []byte, address string) *response {
	if len(body) <= encoding.CompressFrom {
		c = encoding.Identity
	}
	return encodedEntity(encoding.Compress(body, c), c, contentType, contentTag(content, c, address))
}

// encodedEntity is newEntity of a body that is compressed already.
func encodedEntity(body []byte, c encoding.Coding, contentType, tag string) *response {
	resp := newResponse(http.StatusOK, contentType, body)
	resp.etag, resp.coding = tag, c
	if tag != "" {
		resp.set(fiber.HeaderETag, tag)
	}
	if c != encoding.Identity {
		resp.set(fiber.HeaderContentEncoding, encoding.Names[c])
	}
	return resp
}

func uncached(status int, body []byte) *response {
	resp := newResponse(status, jsonType, body)
	resp.set(fiber.HeaderCacheControl, "no-store")
	return resp
}

// Size is the number of bytes of the body, for the cache.
func (resp *response) Size() int { return len(resp.body) }

func (resp *response) set(name, value string) {
	switch name {
	case fiber.HeaderContentType:
		resp.contentType = value
	case fiber.HeaderContentEncoding:
		resp.encoding = value
	default:
		resp.lines = resp.lines.Set(name, value)
	}
}

// begin makes the head of a response with a status of everything but lines, which are to follow.
func (resp *response) begin(h *fasthttp.ResponseHeader, status int) {
	h.Reset() // of what the router has set
	h.SetStatusCode(status)
	h.SetContentType(resp.contentType)
	if status != http.StatusNotModified {
		h.SetContentEncoding(resp.encoding)
	}
	if resp.close {
		h.SetConnectionClose()
	}
}

// public lets every cache keep the response for five minutes, private the caller's own, and
// forever every cache for good: the address holds a hash of the content.
func (resp *response) public() { resp.keep(publicCache, openVary) }

func (resp *response) private() { resp.keep(privateCache, keyedVary) }

func (resp *response) forever() { resp.keep(foreverCache, openVary) }

func (resp *response) keep(control, vary string) {
	resp.set(fiber.HeaderCacheControl, control)
	resp.set(fiber.HeaderVary, vary)
}

// madeOf names the dataset a response was made of.
func (resp *response) madeOf(version, digest string) {
	resp.set("Dataset-Version", version)
	resp.set("Dataset-Digest", digest)
}

// etagMatches says whether one line of If-None-Match or If-Match names an entity tag. The first is compared weakly (RFC 9110,
// 13.1.2): the mark of a weak tag, W/, is ignored. The second is not (13.1.1), and every tag here is strong.
func etagMatches(header []byte, etag, ignored string) bool {
	if string(bytes.TrimSpace(header)) == "*" {
		return true
	}
	for len(header) > 0 {
		var item []byte
		item, header, _ = bytes.Cut(header, []byte{','})
		if string(bytes.TrimPrefix(bytes.TrimSpace(item), []byte(ignored))) == etag {
			return true
		}
	}
	return false
}

func appendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// contentTag is the etag of a response that is a function of content, address and coding; empty without content. It
// has the first 16 bytes of the content, a digest, and a hash of all three. The hash need not withstand attacks: tags
// are compared with those of the same address only.
func contentTag(content []byte, c encoding.Coding, address string) string {
	if content == nil {
		return ""
	}
	const typical = 512
	key := cache.AppendKey(make([]byte, 0, typical), content, c, address)
	return quoted(binary.BigEndian.AppendUint64(bytes.Clone(content[:16]), xxhash.Sum64(key)))
}

func quoted(b []byte) string {
	const typical = 40
	out := base64.RawURLEncoding.AppendEncode(append(make([]byte, 0, typical), '"'), b)
	return string(append(out, '"'))
}

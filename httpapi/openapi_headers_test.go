package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"modeldex/httpapi/encoding"
)

// headerDoc describes one response header. Where sometimes is set the header may be absent
// from an answer that lists it.
type headerDoc struct {
	name, text string
	schema     object
	sometimes  bool
}

var headerDocs = []headerDoc{
	{"X-Request-Id", "Id of this request; include it in support questions.", obj("type", "string", "pattern", "^[0-9a-f]+-[0-9a-f]+$"), false},
	{"Access-Control-Allow-Origin", "Any origin may read the response.", obj("type", "string", "const", "*"), false},
	{"X-Content-Type-Options", "Browsers must not guess another content type.", obj("type", "string", "const", "nosniff"), false},
	{"Access-Control-Expose-Headers", "Headers that scripts from other origins may read; sent if the request has an Origin header.", obj("type", "string"), true},
	{"X-RateLimit-Limit", "Calls per month of the key; 0 without a key.", obj("type", "integer", "minimum", 0), false},
	{"X-RateLimit-Remaining", "Calls left this month after this one; 0 without a key.", obj("type", "integer", "minimum", 0), false},
	{"X-RateLimit-Reset", "When the month ends, in seconds since 1970.", obj("type", "integer", "minimum", 0), false},
	{"X-RateLimit-Tier", "Plan of the key; none without one.", obj("type", "string"), false},
	{
		"RateLimit-Policy", "Both limits: q calls in w seconds (draft-ietf-httpapi-ratelimit-headers-10). Absent without a key.",
		obj("type", "string", "pattern", `^"burst";q=[0-9]+;w=[0-9]+, "month";q=[0-9]+;w=[0-9]+$`), true,
	},
	{
		"RateLimit", "What is left of both: r calls, all of them again in t seconds. Absent without a key.",
		obj("type", "string", "pattern", `^"burst";r=[0-9]+;t=[0-9]+, "month";r=[0-9]+;t=[0-9]+$`), true,
	},
	{"Dataset-Version", "Version of the dataset being served.", obj("type", "string", "minLength", 1), false},
	{"Dataset-Digest", "SHA-256 over the files of the dataset being served, in hex: it differs wherever the content does.", obj("type", "string", "pattern", "^[0-9a-f]{64}$"), false},
	{"ETag", "Strong ETag of dataset, query and content encoding.", obj("type", "string", "pattern", `^"[^"]+"$`), false},
	{"Cache-Control", "By whom and how long the answer may be kept.", obj("type", "string", "minLength", 1), false},
	{"Vary", "Request headers the answer depends on.", obj("type", "string", "minLength", 1), false},
	{"Content-Encoding", "Coding of the body; absent when it has none.", obj("type", "string", "enum", encoding.Names[1:]), true},
	{"Link", `Address of the next page, with rel="next"; absent on the last.`, obj("type", "string", "pattern", `^</api/v1/[^>]+>; rel="next"$`), true},
	{"Location", "Address of the record.", obj("type", "string", "format", "uri-reference", "minLength", 1), false},
	{"Retry-After", "Seconds to wait before the next request.", obj("type", "integer", "minimum", 1), false},
	{"WWW-Authenticate", "Authentication scheme of the API.", obj("type", "string", "pattern", "^Bearer "), false},
	{"Allow", "Methods of the address; on 405 only.", obj("type", "string", "minLength", 1), true},
	{"Accept-Ranges", "Ranges of bytes may be asked for.", obj("type", "string", "const", "bytes"), false},
	{"Content-Range", "Range of bytes of the file that is sent, and its size.", obj("type", "string", "pattern", "^bytes "), false},
	{"Content-Disposition", "Name to keep a file under; absent from JSON.", obj("type", "string", "pattern", `^attachment; filename="[0-9A-Za-z_.-]+"$`), true},
	{"Content-Security-Policy", "What the page may load: nothing of another origin.", obj("type", "string", "minLength", 1), false},
}

// headersOf names the headers of an answer: those every answer has, those of a key on routes
// that take one, and more. A name that ends in a question mark may be absent.
func headersOf(a access, more ...string) object {
	names := []string{"X-Request-Id", "Access-Control-Allow-Origin", "X-Content-Type-Options", "Access-Control-Expose-Headers"}
	if a != open {
		names = append(names, "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-RateLimit-Tier", "RateLimit-Policy", "RateLimit")
	}
	names = append(names, more...)
	for _, name := range more { // what names the version names the digest
		if rest, ok := strings.CutPrefix(name, "Dataset-Version"); ok {
			names = append(names, "Dataset-Digest"+rest)
		}
	}
	var out object
	for _, d := range headerDocs { // in one order everywhere
		switch {
		case slices.Contains(names, d.name):
			out.set(d.name, ref("headers", d.name))
		case slices.Contains(names, d.name+"?"):
			out.set(d.name, d.component(false))
		}
	}
	if len(out) != len(names) {
		panic("a header is named twice or not described: " + strings.Join(names, ", "))
	}
	return out
}

func (d *headerDoc) component(required bool) object {
	return obj("description", d.text, "required", required, "schema", d.schema)
}

func headerComponents() object {
	var out object
	for i := range headerDocs {
		out.set(headerDocs[i].name, headerDocs[i].component(!headerDocs[i].sometimes))
	}
	return out
}

// TestHeadersDescribed: the document describes every header that is sent, and the guide names the files outside the API.
func TestHeadersDescribed(t *testing.T) {
	s := shippedService(t)
	plain := []string{"Content-Type", "Content-Length", "Date", "Server", "Connection"} // of HTTP itself
	for _, path := range []string{
		"/api/v1/models?limit=1", "/api/v1/fit?model=gpt-oss-20b&hardware=nvidia-rtx-4090", "/api/v1/models/none", "/api/v1/dataset", "/api/v1/models?color=red",
	} {
		for name := range s.ask(t, http.MethodGet, path, "Origin", "https://example.com").header {
			if !slices.Contains(plain, name) && !slices.ContainsFunc(headerDocs, func(d headerDoc) bool { return strings.EqualFold(d.name, name) }) {
				t.Errorf("%s: the header %s is not described", path, name)
			}
		}
	}
	for _, rt := range crawlerRoutes() {
		if !strings.Contains(rt.path, ":") && !strings.Contains(about(), rt.path) { // the sitemap names its parts
			t.Errorf("the guide does not name %s", rt.path)
		}
	}
}

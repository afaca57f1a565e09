package httpapi

import (
	"net/http"
	"testing"
)

// TestHeaderOnSeveralLines holds that several lines of a header are one list (RFC 9110, 5.3), wherever what is
// looked for is in it.
func TestHeaderOnSeveralLines(t *testing.T) {
	s := smallService(t)
	const list, page = "/api/v1/models?limit=20", "/models/nothing"
	tag := s.ask(t, http.MethodGet, list).header.Get("ETag")
	tests := []struct {
		path, name string
		lines      []string
		status     int
		reply, is  string // a header of the answer
	}{
		{list, "Accept", []string{"text/html", "application/json"}, 200, "Content-Type", "application/json"},
		{list, "Accept", []string{"application/json;q=0.5", "text/csv"}, 200, "Content-Type", "text/csv; charset=utf-8; header=present"},
		{list, "Accept", []string{"text/html", "image/png"}, 406, "Content-Type", "application/problem+json"},
		{list, "Accept", []string{"", "application/x-ndjson"}, 200, "Content-Type", "application/x-ndjson"},
		{list, "Accept-Encoding", []string{"br;q=0", "gzip"}, 200, "Content-Encoding", "gzip"},
		{list, "Accept-Encoding", []string{"deflate", "gzip;q=0.1, br;q=0.2"}, 200, "Content-Encoding", "br"},
		{list, "If-None-Match", []string{`"a"`, tag}, 304, "ETag", tag},
		{list, "If-None-Match", []string{"*", `"a"`}, 304, "ETag", tag},
		{list, "If-None-Match", []string{`"a"`, "*"}, 304, "ETag", tag},
		{list, "If-None-Match", []string{`"a"`, `"b"`}, 200, "ETag", tag},
		{"/docs", "Accept-Encoding", []string{"deflate", "gzip"}, 200, "Content-Encoding", "gzip"},
		{page, "Accept", []string{"application/json", "text/html"}, 404, "Content-Type", htmlType},
	}
	for _, tt := range tests {
		q := asked{method: http.MethodGet, path: tt.path, header: http.Header{"Authorization": {"Bearer " + s.secret}, tt.name: tt.lines}}
		a, err := fetch(s.transport, "service", q)
		if err != nil {
			t.Fatal(err)
		}
		if a.status != tt.status || a.header.Get(tt.reply) != tt.is {
			t.Errorf("GET %s with %s %q = %d with %s %q, want %d with %q", tt.path, tt.name, tt.lines, a.status, tt.reply, a.header.Get(tt.reply), tt.status, tt.is)
		}
	}
}

// TestHeadOfNothing holds that HEAD has the length of a body that GET leaves empty.
func TestHeadOfNothing(t *testing.T) {
	s := smallService(t)
	for _, path := range []string{
		"/api/v1/models?q=nothing&format=ndjson", "/api/v1/benchmarks?q=nothing&format=ndjson",
		"/api/v1/models/", "/api/v1/models/llama2:7b", "/explore/models?q=",
	} {
		get, head := s.ask(t, http.MethodGet, path), s.ask(t, http.MethodHead, path)
		if len(get.body) > 0 || get.status >= 400 {
			t.Fatalf("GET %s = %d with %d bytes, want none", path, get.status, len(get.body))
		}
		if got, want := head.header.Get("Content-Length"), get.header.Get("Content-Length"); got != want || want != "0" {
			t.Errorf("Content-Length of %s: GET %q, HEAD %q, want 0 of both", path, want, got)
		}
	}
}

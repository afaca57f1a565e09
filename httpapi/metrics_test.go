package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRequestsAreCounted: each response counts once, by its route and the class of its status, and has a latency.
func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	s := newService(t, mustShipped(t).live)
	etag := s.ask(t, "GET", "/api/v1/tools").header.Get("ETag")
	s.ask(t, "GET", "/api/v1/tools", "If-None-Match", etag)
	s.ask(t, "HEAD", "/api/v1/tools")
	s.ask(t, "GET", "/api/v1/tools?x=1")
	s.ask(t, "GET", "/api/v1/tools/none")
	s.ask(t, "GET", "/api/v1/tools/llama.cpp")
	page := httptest.NewRecorder()
	s.Metrics().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	for _, want := range []string{
		`modeldex_requests_total{class="2xx",route="listTools"} 2`, `modeldex_requests_total{class="3xx",route="listTools"} 1`,
		`modeldex_requests_total{class="4xx",route="listTools"} 1`, `modeldex_requests_total{class="5xx",route="listTools"} 0`,
		`modeldex_requests_total{class="2xx",route="getTool"} 1`, `modeldex_requests_total{class="4xx",route="getTool"} 1`,
		`modeldex_request_duration_seconds_count{route="listTools"} 4`, `modeldex_request_duration_seconds_count{route="getTool"} 2`,
	} {
		if !strings.Contains(page.Body.String(), want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
}

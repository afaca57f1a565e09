package httpapi

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"modeldex/dataset/datasettest"
)

// TestRequestsAreCounted: each response counts once, by its route and the class of its status, and has a latency.
func TestRequestsAreCounted(t *testing.T) {
	s := shippedService(t)
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

// TestOperation: what happens to a server is among its metrics and on its page of status, and every query of the dashboard
// and of the alert rules names a metric that it serves, with the labels it has.
func TestOperation(t *testing.T) {
	t.Parallel()
	s := newSite(t, `{"tiers": [{"name": "free", "calls_per_month": 1000, "burst": {"rate": 1, "per_seconds": 3600, "depth": 2}}]}`)
	s.flags = []string{"--keys-per-email=1"}
	s.start()
	c := s.caller()
	form := `{"name": "n", "email": "a@example.com", "use_case": "u"}`
	secret := newKey(t, c, "POST", "/api/v1/keys", "", form)
	if h, err := c.send("POST", "/api/v1/keys", "", form, "X-Forwarded-For: 203.0.113.9"); err != nil || h.code != tooManyKeys.name {
		t.Fatalf("a second key: %v, %s", err, h.body)
	}
	for _, want := range []int{200, 200, 429, 429, 429} {
		s.must(c, want, "/api/v1/models", secret)
	}
	scraped := s.metrics()
	for _, want := range []string{
		`modeldex_build_info\{goversion="go1[^"]+",platform="\w+/\w+",version="dev"\} 1`,
		`modeldex_dataset_info\{digest="[0-9a-f]{64}",version="[\d.]+"\} 1`, `modeldex_dataset_age_seconds \d`,
		`modeldex_signups_total\{result="issued"\} 1`, `modeldex_signups_total\{result="refused"\} 1`, `modeldex_signups_total\{result="failed"\} 0`,
		`modeldex_limited_total\{code="burst_exceeded",tier="free"\} 3`, `modeldex_limited_total\{code="page_limited",tier="none"\} 0`,
	} {
		if !regexp.MustCompile("(?m)^" + want).MatchString(scraped) {
			t.Errorf("no metric %s", want)
		}
	}
	status := string(s.must(c, 200, "/status", "").body)
	for _, want := range []string{`>dev<`, `99% within 25 ms`, `\d+\.\d\d% of 5, median`, `0 of \d`, `Too many requests at once</a></td>\s*<td[^>]*>3<`} {
		if !regexp.MustCompile(want).MatchString(status) {
			t.Errorf("/status does not say %q:\n%s", want, status)
		}
	}
	name, labels := regexp.MustCompile(`\b(modeldex|go|process)_[a-z_]+[a-z]`), regexp.MustCompile(`\b(?:by|with) \(([^)]*)\)|\{([a-z]+)[=!]`)
	for _, file := range []string{"dashboard.json", "alerts.yml"} {
		b, err := os.ReadFile("../packaging/grafana/" + file)
		datasettest.Must(t, err)
		names := name.FindAllString(string(b), -1)
		if len(names) < 10 {
			t.Errorf("%s has %d queries", file, len(names))
		}
		for _, n := range names {
			if !regexp.MustCompile(`(?m)^` + n + `[ {]`).MatchString(scraped) {
				t.Errorf("%s asks for %s, which is not served", file, n)
			}
		}
		for _, m := range labels.FindAllStringSubmatch(string(b), -1) {
			for _, label := range strings.Split(m[1]+m[2], ", ") {
				if label != "instance" && label != "job" && !strings.Contains(scraped, label+`="`) {
					t.Errorf("%s groups by %s, which no metric has", file, label)
				}
			}
		}
	}
}

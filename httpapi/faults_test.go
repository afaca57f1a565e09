package httpapi

import (
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// hostile are requests made to cost as much as possible, each as long as an address may be.
func hostile() []struct{ name, path string } {
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte('a' + rnd.IntN(26))
		}
		return string(b)
	}
	fill := func(start, between string, item func(i int) string) string {
		var b strings.Builder
		b.WriteString(start)
		for i := 0; b.Len() < maxAddress-100; i++ {
			if i > 0 {
				b.WriteString(between)
			}
			b.WriteString(item(i))
		}
		return b.String()
	}
	fifty := func(start string, letters int) string {
		words := make([]string, maxValues)
		for i := range words {
			words[i] = word(letters)
		}
		return start + strings.Join(words, ",")
	}
	return []struct{ name, path string }{
		{"unknown-hardware=261", fill("/api/v1/benchmarks?hardware=", ",", func(int) string { return word(30) })},
		{"unknown-models=2700", fill("/api/v1/benchmarks?model=", ",", func(int) string { return word(2) })},
		{"model-repeated", fill("/api/v1/benchmarks?", "&", func(int) string { return "model=" + word(3) })},
		{"empty-values", fill("/api/v1/benchmarks?model=", "", func(int) string { return "," })},
		{"unknown-parameters", fill("/api/v1/benchmarks?", "&", func(i int) string { return fmt.Sprintf("x%d=1", i) })},
		{"keyless-parameters", fill("/api/v1/changes?", "&", func(i int) string { return fmt.Sprintf("x%d=1", i) })},
		{"repeated-number", fill("/api/v1/benchmarks?", "&", func(int) string { return "min_tps=x" })},
		{"bad-vendors", fill("/api/v1/hardware?vendor=", ",", func(int) string { return word(2) })},
		{"bad-vendors=50", fifty("/api/v1/hardware?vendor=", 40)},
		{"accepted-hardware=50", fifty("/api/v1/benchmarks?hardware=", 30)},
		{"accepted-all=200", fifty("/api/v1/benchmarks?hardware=", 30) + strings.Replace(fifty("&model=", 30)+fifty("&tool=", 30)+fifty("&family=", 30), "?", "", 1)},
		{"search", "/api/v1/benchmarks?sort=-generation_tps&limit=500&q=a%20e%20i%20o%20u%20n%20r%20s"},
		{"record", "/api/v1/models/" + word(40)},
		{"record-long", "/api/v1/models/" + word(8000)},
	}
}

// TestNamesNotSeen: a name that is empty, blank or invisible is reported in a sentence that shows what is wrong with it,
// wherever names are read.
func TestNamesNotSeen(t *testing.T) {
	t.Parallel()
	s := newService(t, mustSmallLive(t))
	names := []struct{ name, inQuery, inBody string }{
		{"", "a parameter has no name", "a field has no name"},
		{" ", `" " is not a parameter of this endpoint`, `" " is not a known field`},
		{"\x00", `"\x00" is not a parameter of this endpoint`, `"\x00" is not a known field`},
		{"\n", `"\n" is not a parameter of this endpoint`, `"\n" is not a known field`},
		{"\u200b", `"\u200b" is not a parameter of this endpoint`, `"\u200b" is not a known field`},
		{"\u00a0", `"\u00a0" is not a parameter of this endpoint`, `"\u00a0" is not a known field`},
		{"lim\u202eit", `"lim\u202eit" is not a parameter of this endpoint`, `"lim\u202eit" is not a known field`},
		{"limit ", `"limit " is not a parameter of this endpoint`, `"limit " is not a known field`},
		{"nothing", "nothing is not a parameter of this endpoint", "nothing is not a known field"},
	}
	detailOf := func(a *answer) string {
		var p Problem
		if err := json.Unmarshal(a.body, &p); err != nil || a.status != http.StatusBadRequest {
			t.Errorf("%s %s: %d, %v: %.300s", a.method, a.path, a.status, err, a.body)
		}
		return p.Detail
	}
	for _, name := range names {
		query := "?" + url.QueryEscape(name.name) + "=x"
		for _, path := range []string{
			"/api/v1/models", "/api/v1/hardware/facets", "/api/v1/benchmarks/stats", "/api/v1/models/llama-2-7b", "/api/v1/fit", "/api/v1/resolve", "/api/v1/changes", "/api/v1/dataset",
			"/api/v1/keys/self", "/charts/model-memory.svg", "/explore/models", "/models/llama-2-7b", "/fit", "/feeds/changes.json",
		} {
			if got := detailOf(s.ask(t, http.MethodGet, path+query)); !strings.HasPrefix(got, name.inQuery) {
				t.Errorf("GET %s%s: %q, want %q", path, query, got, name.inQuery)
			}
		}
		a := s.ask(t, http.MethodGet, "/fit"+query, "Accept", "text/html")
		shown := strings.NewReplacer("<code>", "", "</code>", "", "A parameter", "a parameter").Replace(html.UnescapeString(string(a.body)))
		if !strings.Contains(shown, "<li><p>"+name.inQuery) {
			t.Errorf("the page of GET /fit%s does not say %q: %s", query, name.inQuery, a.body)
		}
		body, err := json.Marshal(map[string]int{name.name: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/api/v1/keys", "/api/v1/fit", "/api/v1/resolve", "/api/v1/keys/self/rotate"} {
			q := asked{method: http.MethodPost, path: path, header: http.Header{"Authorization": {"Bearer " + s.secret}, "Content-Type": {jsonType}}, body: body}
			a, err := fetch(s.transport, "service", q)
			if err != nil {
				t.Fatal(err)
			}
			if got := detailOf(a); !strings.HasSuffix(got, name.inBody) {
				t.Errorf("POST %s %s: %q, want %q", path, body, got, name.inBody)
			}
		}
	}
	for _, param := range []string{"family", "sort", "limit", "fields", "min_params_b", "q", "fits"} {
		for _, blank := range []string{"", "%20", "%0A", "%C2%A0"} {
			if got, want := detailOf(s.ask(t, http.MethodGet, "/api/v1/models?"+param+"="+blank)), param+" must not be empty"; got != want {
				t.Errorf("%s=%s: %q, want %q", param, blank, got, want)
			}
		}
	}
	if got, want := detailOf(s.ask(t, http.MethodGet, "/api/v1/models?fields=%E2%80%8B")), `fields "\u200b" is not a field of models`; got != want {
		t.Errorf("fields: %q, want %q", got, want)
	}
}

// TestHostile: what a request can cost is bounded before the work is done, whatever it asks.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := newService(t, mustShipped(t).live)
	for _, tt := range hostile() {
		t.Run(tt.name, func(t *testing.T) {
			a := s.ask(t, "GET", tt.path)
			if a.status == http.StatusOK {
				return
			}
			var p Problem
			if err := json.Unmarshal(a.body, &p); err != nil {
				t.Fatal(err)
			}
			if len(p.Errors) > maxFaults || len(a.body) > 16<<10 {
				t.Errorf("status %d lists %d faults in %d bytes, want at most %d and 16 KiB", a.status, len(p.Errors), len(a.body), maxFaults)
			}
			if p.ErrorsOmitted > 0 && !strings.HasSuffix(p.Detail, fmt.Sprintf("and %d more", p.ErrorsOmitted)) {
				t.Errorf("detail does not end with the number of omitted faults, %d: %.300s", p.ErrorsOmitted, p.Detail)
			}
		})
	}
	t.Run("comparisons", func(t *testing.T) {
		gen := mustShipped(t).live.Current()
		for _, tt := range hostile() {
			path, query, _ := strings.Cut(tt.path, "?")
			for _, r := range resources {
				if path != "/api/v1/"+r.name {
					continue
				}
				var args fasthttp.Args
				args.Parse(query)
				p := &parser{r: r, gen: gen, values: map[string][]string{}}
				p.parse(&args)
				if p.faults.compared > maxCompared {
					t.Errorf("%s: %d names are compared, want at most %d", tt.name, p.faults.compared, maxCompared)
				}
			}
		}
	})
}

// BenchmarkHostile is the cost of the worst requests, accepted and rejected.
func BenchmarkHostile(b *testing.B) {
	for _, bm := range hostile() {
		b.Run(bm.name, func(b *testing.B) {
			x := newBench(b, "/api/v1/tools/ollama")
			for range warmUp { // until calls no longer wait for a lease
				x.ask()
			}
			x.ctx.Request.SetRequestURI(bm.path)
			b.ReportAllocs()
			for b.Loop() {
				x.s.cache.cache.Clear()
				x.ask()
			}
			b.ReportMetric(float64(len(x.ctx.Response.Body())), "body-bytes")
		})
	}
}

// TestFitFaults: what is wrong with a pair is said once, and all of it is counted, in the address and in a body.
func TestFitFaults(t *testing.T) {
	t.Parallel()
	s := newService(t, mustSmallLive(t))
	const empty, noHardware = "must not be empty", "is required, unless memory_gb describes the machine"
	strange := make([]string, maxFaults+5)
	for i := range strange {
		strange[i] = fmt.Sprintf(`"x%d":1`, i)
	}
	for _, tt := range []struct {
		query, body string
		want        []string // name and detail; nil: not compared
		omitted     int
	}{
		{query: "", want: []string{"model is required", "hardware " + noHardware}},
		{query: "model=&hardware=", want: []string{"model " + empty, "hardware " + empty}},
		{query: "model=llama-2-7b&memory_gb=", want: []string{"memory_gb " + empty}},
		{body: `{"queries":[{}]}`, want: []string{"queries[0].model is required", "queries[0].hardware " + noHardware}},
		{body: `{"queries":[{"model":null,"hardware":"nvidia-rtx-4090"}]}`, want: []string{"queries[0].model is required"}},
		{body: `{"queries":[{"model":"llama-2-7b","hardware":"nvidia-rtx-4090"},{"model":"","hardware":""}]}`, want: []string{"queries[1].hardware " + empty, "queries[1].model " + empty}},
		{body: `{"queries":[{` + strings.Join(strange, ",") + `},{}]}`, omitted: 5 + 2 + 2},
	} {
		q := asked{method: http.MethodGet, path: "/api/v1/fit?" + tt.query, header: http.Header{"Authorization": {"Bearer " + s.secret}}}
		if tt.body != "" {
			q.method, q.path, q.body = http.MethodPost, "/api/v1/fit", []byte(tt.body)
			q.header.Set("Content-Type", "application/json")
		}
		a, err := fetch(s.transport, "service", q)
		if err != nil {
			t.Fatal(err)
		}
		var p Problem
		if err := json.Unmarshal(a.body, &p); err != nil || a.status != http.StatusBadRequest {
			t.Fatalf("%s %s: status %d, %v: %s", q.path, tt.body, a.status, err, a.body)
		}
		var got []string
		for _, f := range p.Errors {
			got = append(got, f.Name+" "+f.Detail)
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if tt.want != nil && !slices.Equal(got, tt.want) {
			t.Errorf("%s %s: faults %q, want %q", q.path, tt.body, got, tt.want)
		}
		if p.ErrorsOmitted != tt.omitted {
			t.Errorf("%s %.60s: errors_omitted %d, want %d", q.path, tt.body, p.ErrorsOmitted, tt.omitted)
		}
	}
}

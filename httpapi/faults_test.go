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

	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/httpapi/suggest"

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
		words := make([]string, query.MaxValues)
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
	s := smallService(t)
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
			"/api/v1/keys/self", "/charts/model-speeds.svg", "/explore/models", "/models/llama-2-7b", "/fit", "/feeds/changes.atom",
		} {
			if got := detailOf(s.ask(t, http.MethodGet, path+query)); !strings.HasPrefix(got, name.inQuery) {
				t.Errorf("GET %s%s: %q, want %q", path, query, got, name.inQuery)
			}
		}
		a := s.ask(t, http.MethodGet, "/fit"+query, "Accept", "text/html")
		shown := strings.NewReplacer("<code>", "", "</code>", "").Replace(html.UnescapeString(string(a.body)))
		inPage := strings.NewReplacer("a parameter of this endpoint", "an option on this page", "a parameter has", "The address has").Replace(name.inQuery)
		if !strings.Contains(shown, "<li><p>"+inPage) {
			t.Errorf("the page of GET /fit%s does not say %q: %s", query, inPage, a.body)
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
	s := shippedService(t)
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
			if len(p.Errors) > query.MaxFaults || len(a.body) > 16<<10 {
				t.Errorf("status %d lists %d faults in %d bytes, want at most %d and 16 KiB", a.status, len(p.Errors), len(a.body), query.MaxFaults)
			}
			if p.ErrorsOmitted > 0 && !strings.HasSuffix(p.Detail, fmt.Sprintf("and %d more", p.ErrorsOmitted)) {
				t.Errorf("detail does not end with the number of omitted faults, %d: %.300s", p.ErrorsOmitted, p.Detail)
			}
		})
	}
	t.Run("comparisons", func(t *testing.T) {
		gen := mustShipped(t).live.Current()
		for _, tt := range hostile() {
			path, text, _ := strings.Cut(tt.path, "?")
			for _, r := range resources {
				if path != "/api/v1/"+r.name {
					continue
				}
				var args fasthttp.Args
				args.Parse(text)
				v := query.Read(r.params, args.All())
				_, _ = r.parse(v, gen, export.JSON)
				// The first search is always made, and these have about as many names as may be compared.
				if most := max(suggest.MaxCompared, len(gen.Models.Names()), len(gen.Hardware.Names())); v.Compared > most {
					t.Errorf("%s: %d names are compared, want at most %d", tt.name, v.Compared, most)
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
				x.s.cache.Clear()
				x.ask()
			}
			b.ReportMetric(float64(len(x.ctx.Response.Body())), "body-bytes")
		})
	}
}

// TestFaultsAreWhole: each endpoint says everything that is wrong with a request, once each, and counts what it does not list.
func TestFaultsAreWhole(t *testing.T) {
	s := smallService(t)
	s.pay(t)
	const (
		empty, noHardware = "must not be empty", "is required, unless memory_gb is given"
		notValue          = "must be a string, a number, true or false"
		several           = "must be one name; POST /api/v1/fit takes up to 100 pairs"
		pair              = `"model":"llama-2-7b","hardware":"nvidia-rtx-4090"`
	)
	amount := func(gb string) string {
		return "is a memory size, not a hardware name: /fit.json?memory_gb=" + gb + " shows what runs in it, /api/v1/fit?memory_gb=" + gb +
			" whether one model does, and /api/v1/hardware?min_vram_gb=" + gb + "&max_vram_gb=" + gb + " what hardware has it"
	}
	numbered := func(n int, form, between string) string {
		texts := make([]string, n)
		for i := range texts {
			texts[i] = fmt.Sprintf(form, i)
		}
		return strings.Join(texts, between)
	}
	for _, tt := range []struct {
		path, body string   // with a body: POST
		want       []string // names and details; nil: not compared
		omitted    int
	}{
		{path: "fit", want: []string{"hardware " + noHardware, "model is required"}},
		{path: "fit?model=&hardware=", want: []string{"hardware " + empty, "model " + empty}},
		{path: "fit?model=llama-2-7b&memory_gb=", want: []string{"memory_gb " + empty}},
		{path: "fit?model=llama-2-7b&hardware=nvidia-rtx-4090&usd_per_kwh=x&hours_per_day=0", want: []string{
			"hours_per_day must be a number above 0 to 24", "usd_per_kwh must be a number from 0 to 1000000",
		}},
		{path: "fit?model=llama-2-7b&hardware=nvidia-rtx-4090&context=5000", want: []string{"context must be at most 4096, the limit of llama-2-7b, or pass allow_extended=true; got 5000"}},
		{path: "fit", body: `{"queries":[{}]}`, want: []string{"queries[0].hardware " + noHardware, "queries[0].model is required"}},
		{path: "fit", body: `{"queries":[{"model":null,"hardware":"nvidia-rtx-4090"}]}`, want: []string{"queries[0].model is required"}},
		{path: "fit", body: `{"queries":[{` + pair + `},{"model":"","hardware":""}]}`, want: []string{"queries[1].hardware " + empty, "queries[1].model " + empty}},
		{path: "fit", body: `{"queries":[{"model":["llama-2-7b","llama-2-7b"],"hardware":{},"count":1e400}]}`, want: []string{
			"queries[0].count must be a whole number from 1 to 8", "queries[0].hardware " + notValue, "queries[0].model " + notValue,
		}},
		{path: "fit", body: `{"queries":[{` + pair + `},{` + pair + `,"context":5000}]}`, want: []string{"queries[1].context must be at most 4096, the limit of llama-2-7b, or pass allow_extended=true; got 5000"}},
		{path: "fit", body: `{"queries":{` + pair + `}}`, want: []string{"queries must be a list of objects"}},
		{path: "fit", body: `{"queries":[{` + pair + `},null]}`, want: []string{"queries must be a list of objects"}},
		{path: "fit", body: `{"queries":[{` + numbered(query.MaxFaults+5, `"x%d":1`, ",") + `},{}]}`, omitted: 5 + 2 + 2},

		{path: "hardware?runs=llama-2-7b&context=5000", want: []string{"context must be at most 4096, the limit of llama-2-7b, or pass allow_extended=true; got 5000"}},
		{path: "models?fits=12GB", want: []string{"fits " + amount("12")}},
		{path: "models?fits=7.5%20GiB%20VRAM", want: []string{"fits " + amount("7.5")}},
		{path: "fit?model=llama-2-7b&hardware=24gb%20gpu", want: []string{"hardware " + amount("24")}},
		{path: "models?fits=12", want: []string{"fits " + amount("12")}},
		{path: "models?fits=5000", want: []string{"fits is not known"}},
		{path: "models?fits=0GB", want: []string{"fits is not known"}},
		{path: "fit?model=llama-2-7b,Llama%202%207B&hardware=nvidia-rtx-4090", want: []string{"model " + several}},
		{path: "fit?model=llama-2-7b,zzz&hardware=nvidia-rtx-4090", want: []string{"model is not known"}},
		{path: "models?fits=RTX%20512GB%20Card", want: []string{"fits is not known"}},
		{path: "hardware?runs=12GB", want: []string{"runs is not known"}},
		{path: "resolve?q=a&q=b", want: []string{"q must be given once"}},
		{path: "resolve?q=" + strings.Repeat("x", 401), want: []string{"q must be at most 400 bytes long, got 401"}},
		{path: "resolve?q=x&kind=", want: []string{"kind " + empty}},
		{path: "resolve", body: `{"names":"x"}`, want: []string{"names must be a list"}},
		{path: "resolve", body: `{"names":["x",{"q":"x","kind":7}]}`, want: []string{"names[1].kind must be one of model, hardware, tool"}},

		{path: "benchmarks/stats?group_by=hardware,model,tool", want: []string{"group_by must have at most 2 values, got 3"}},
		{path: "benchmarks/stats?group_by=hardware&value=n", want: []string{"value is a parameter of shape=pivot"}},
		{path: "benchmarks/stats?group_by=hardware,model&shape=pivot&sort=n", want: []string{"shape pivot does not support sort, limit and cursor"}},
		{path: "benchmarks?limit=all&format=csv&cursor=x", want: []string{
			"cursor cannot be used with limit=all, which is not paginated", "cursor is damaged or was not made by this service; start again without it",
		}},
		{path: "benchmarks?hardware=" + numbered(query.MaxValues+1, "x%d", ","), want: []string{"hardware must have at most 50 values, got 51"}},
		{path: "benchmarks?hardware_count=99999999999999999999", want: []string{"hardware_count must be a whole number such as 1"}},
		{path: "hardware?vendor=nvidia,,amd", want: []string{"vendor must not have an empty value between commas"}},
		{path: "changes?slug=" + numbered(query.MaxValues+1, "x%d", ","), want: []string{"slug must have at most 50 values, got 51"}},
		{path: "models?q=" + numbered(9, "w%d", "+"), want: []string{"q must be 1 to 8 words, at most 100 characters"}},
	} {
		q := asked{method: http.MethodGet, path: "/api/v1/" + tt.path, header: http.Header{"Authorization": {"Bearer " + s.secret}}}
		if tt.body != "" {
			q.method, q.body = http.MethodPost, []byte(tt.body)
			q.header.Set("Content-Type", "application/json")
		}
		a, err := fetch(s.transport, "service", q)
		if err != nil {
			t.Fatal(err)
		}
		var p Problem
		if err := json.Unmarshal(a.body, &p); err != nil || a.status != http.StatusBadRequest {
			t.Errorf("%.60s %.60s: status %d, %v: %.300s", tt.path, tt.body, a.status, err, a.body)
			continue
		}
		var got []string
		for _, f := range p.Errors {
			got = append(got, f.Name+" "+f.Detail)
		}
		slices.Sort(got)
		if tt.want != nil && !slices.Equal(got, tt.want) {
			t.Errorf("%.60s %.80s: faults %q, want %q", tt.path, tt.body, got, tt.want)
		}
		if p.ErrorsOmitted != tt.omitted {
			t.Errorf("%.60s %.60s: errors_omitted %d, want %d", tt.path, tt.body, p.ErrorsOmitted, tt.omitted)
		}
	}
}

package httpapi

import (
	"bytes"
	"encoding/json"
	"html"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"modeldex/dataset/datasettest"
	"modeldex/index"
)

// shownPages are pages of every kind over the dataset of this repository.
var shownPages = []string{
	"/",
	"/explore/models", "/explore/models?family=llama&min_params_b=7&sort=-params_b&q=instruct", "/explore/models?fits=nvidia-rtx-4090",
	"/explore/hardware", "/explore/hardware?vendor=apple,intel&max_price_usd=2000", "/explore/hardware?runs=gpt-oss-20b&context=32768&sort=street_price_usd",
	"/explore/tools", "/explore/tools?category=runner&backend=vulkan",
	"/explore/benchmarks", "/explore/benchmarks?model=llama-3.1-8b-instruct&settings=single_stream&sort=-generation_tps", "/explore/benchmarks?scenario=offline",
	"/fit", "/fit?hardware=nvidia-rtx-4090", "/fit?hardware=apple-m3-max-40gpu&memory_gb=64", "/fit?memory_gb=12&bandwidth_gbps=400&context=16384&min_tps=20", "/fit?model=gpt-oss-20b", "/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b",
	"/compare", "/compare?hardware=nvidia-rtx-4090,nvidia-rtx-3090,amd-rx-7900-xtx", "/compare?models=llama-3.1-8b-instruct,qwen3-8b",
	"/snapshots", "/about", "/about/estimates", "/changes", "/changes?table=hardware", "/credits", "/contribute?model=qwen3-8b",
	"/models/llama-3.1-8b-instruct", "/models/gpt-oss-20b?context=32768", "/hardware/nvidia-rtx-4090", "/hardware/nvidia-rtx-4090?context=131072&system_memory_gb=64", "/hardware/apple-m2-ultra", "/tools/llama.cpp", "/benchmarks/bm-adfbf9a134d4",
}

var (
	leads     = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	unescaped = regexp.MustCompile(`<(?:style|script)>| style=| onclick=|javascript:|ZgotmplZ|&lt;nil&gt;|%!`)
)

// TestPages asks for pages of every kind and holds them to what browsers, crawlers and caches need.
func TestPages(t *testing.T) {
	s := shippedService(t)
	c, checked := &leadChecker{service: s, shapes: map[string]int{}}, map[string]bool{}
	for _, path := range shownPages {
		a := s.ask(t, "GET", path, "Authorization", "", "Accept", "text/html")
		if a.status != http.StatusOK || a.header.Get("Content-Type") != htmlType {
			t.Errorf("%s: status %d, %s: %.200s", path, a.status, a.header.Get("Content-Type"), a.body)
			continue
		}
		body := string(a.body)
		if got := a.header.Get("Content-Security-Policy"); got != pagePolicy {
			t.Errorf("%s has the policy %q", path, got)
		}
		if strings.Count(body, "<h1") != 1 || strings.Count(body, `id="main"`) != 1 || !strings.Contains(body, `<html lang="en">`) {
			t.Errorf("%s: want one h1, one main part and a language", path)
		}
		if m := unescaped.FindString(body); m != "" {
			t.Errorf("%s holds %q", path, m)
		}
		for _, m := range leads.FindAllStringSubmatch(body, -1) {
			c.checkLead(t, path, html.UnescapeString(m[1]), checked)
		}
		again := s.ask(t, "GET", path, "Authorization", "", "If-None-Match", a.header.Get("ETag"))
		if again.status != http.StatusNotModified {
			t.Errorf("%s: status %d where the page did not change, want 304", path, again.status)
		}
		if packed := s.ask(t, "GET", path, "Accept-Encoding", "br"); len(packed.raw) > 60<<10 {
			t.Errorf("%s: %d bytes compressed, want less than 60 KiB", path, len(packed.raw))
		}
	}
	t.Logf("%d addresses checked", len(checked))
}

// TestPageSizes holds that the largest pages, those of the records with the most runs among them, are at most 200 KB
// before they are compressed: a telephone reads all of it.
func TestPageSizes(t *testing.T) {
	s := shippedService(t)
	gen := mustShipped(t).live.Current()
	paths := []string{"/", "/credits", "/changes", "/explore/models", "/explore/hardware", "/explore/benchmarks", "/fit?hardware=nvidia-rtx-4090", "/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b"}
	for kind, table := range map[string]*index.Table{"/models/": gen.Models, "/hardware/": gen.Hardware, "/tools/": gen.Tools} {
		for _, ord := range table.Select(index.Query{Sort: index.Sort{Field: "benchmark_count", Desc: true}, Limit: 6}).Ords {
			paths = append(paths, kind+table.Slug(ord))
		}
	}
	for _, path := range paths {
		if a := s.ask(t, "GET", path, "Authorization", "", "Accept", "text/html"); a.status != http.StatusOK || len(a.body) > 200_000 {
			t.Errorf("%s: status %d, %d bytes, want at most 200,000", path, a.status, len(a.body))
		}
	}
}

// leadChecker asks for what pages lead to, one address of each shape.
type leadChecker struct {
	*service
	shapes map[string]int
}

// digitsAndNames are what differs between addresses of one shape: the name of a record, the values of parameters.
var digitsAndNames = regexp.MustCompile(`(^/(?:models|hardware|tools|benchmarks)/|=)[^&]*`)

// checkLead holds an address a page leads to: of this service and there, or a page of others.
func (s *leadChecker) checkLead(t *testing.T, path, href string, checked map[string]bool) {
	t.Helper()
	address, _, _ := strings.Cut(href, "#")
	base := "http://service"
	address = strings.TrimPrefix(address, base)
	switch {
	case address == "" || checked[address] || address == "/api/v1/keys" || address == "/ask": // which take POST or a question
	case strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://"):
	case !strings.HasPrefix(address, "/"):
		t.Errorf("%s leads to %q", path, href)
	default:
		checked[address] = true
		shape := digitsAndNames.ReplaceAllString(address, "$1")
		if s.shapes[shape]++; s.shapes[shape] > 1 {
			return
		}
		if a := s.ask(t, "HEAD", address, "Accept", "text/html, */*"); a.status != http.StatusOK && a.status != http.StatusSeeOther {
			t.Errorf("%s leads to %s: status %d", path, address, a.status)
		}
	}
}

// TestPageForms holds that the data of a page is what the API answers, and no more.
func TestPageForms(t *testing.T) {
	s := shippedService(t)
	for _, tt := range []struct{ page, api string }{
		{"/explore/models.json?family=llama&limit=7", "/api/v1/models?family=llama&limit=7&sort=-capability"},
		{"/explore/hardware.json?runs=gpt-oss-20b&sort=street_price_usd", "/api/v1/hardware?runs=gpt-oss-20b&sort=street_price_usd"},
		{"/models/gemma-3-1b-it.json", "/api/v1/models/gemma-3-1b-it?benchmarks_limit=500"},
		{"/hardware/nvidia-rtx-4090.json", "/api/v1/hardware/nvidia-rtx-4090"},
		{"/tools/llama.cpp.json", "/api/v1/tools/llama.cpp"},
		{"/benchmarks/bm-adfbf9a134d4.json", "/api/v1/benchmarks/bm-adfbf9a134d4"},
		{"/explore/models.csv?family=llama&limit=7", "/api/v1/models?family=llama&limit=7&sort=-capability&format=csv"},
		{"/models/gemma-3-1b-it.csv", "/api/v1/models/gemma-3-1b-it?benchmarks_limit=500&format=csv"},
		{"/benchmarks/bm-adfbf9a134d4.csv", "/api/v1/benchmarks/bm-adfbf9a134d4?format=csv"},
		{"/explore/models.json?fits=nvidia-rtx-4090&sort=-intelligence", "/api/v1/models?fits=nvidia-rtx-4090&sort=-intelligence"},
		{"/explore/models.csv?fits=nvidia-rtx-4090", "/api/v1/models?fits=nvidia-rtx-4090&format=csv"},
		{"/explore/hardware.json?runs=gpt-oss-20b&prefer=measured", "/api/v1/hardware?runs=gpt-oss-20b&prefer=measured"},
		{"/explore/models.json?family=llama&sort=slug", "/api/v1/models?family=llama"},
		{"/compare.json?hardware=nvidia-rtx-3090,nvidia-rtx-4090", "/api/v1/hardware?slug=nvidia-rtx-3090,nvidia-rtx-4090"},
		{"/compare.csv?models=qwen3-8b", "/api/v1/models?slug=qwen3-8b&format=csv"},
		{"/fit.json?hardware=nvidia-rtx-4090&model=gpt-oss-20b", "/api/v1/fit?hardware=nvidia-rtx-4090&model=gpt-oss-20b"},
		{"/snapshots.json", "/api/v1/snapshots"},
	} {
		page, api := s.ask(t, "GET", tt.page, "Authorization", ""), s.ask(t, "GET", tt.api)
		if page.status != http.StatusOK || string(page.body) != string(api.body) {
			t.Errorf("%s: status %d and not the body of %s", tt.page, page.status, tt.api)
		}
	}
	for _, path := range []string{"/explore/models.md", "/models/llama-3.1-8b-instruct.md", "/hardware/nvidia-rtx-4090.md", "/tools/llama.cpp.md", "/benchmarks/bm-adfbf9a134d4.md", "/fit.md?hardware=nvidia-rtx-4090", "/compare.md?models=qwen3-8b", "/snapshots.md", "/changes.md", "/credits.md"} {
		a := s.ask(t, "GET", path, "Authorization", "")
		if a.status != http.StatusOK || a.header.Get("Content-Type") != markdownType || !strings.HasPrefix(string(a.body), "# ") || strings.Contains(string(a.body), "<") {
			t.Errorf("%s: status %d, %s: %.80s", path, a.status, a.header.Get("Content-Type"), a.body)
		}
	}
	for path, want := range map[string]string{
		"/fit.csv?hardware=nvidia-rtx-4090":                   "model,hardware,count,quantization,bits_per_weight,verdict",
		"/fit.csv?hardware=nvidia-rtx-4090&model=gpt-oss-20b": "quantization,format,bits_per_weight,verdict,",
	} {
		a := s.ask(t, "GET", path, "Authorization", "")
		if lines := strings.Count(string(a.body), "\n"); a.status != http.StatusOK || !strings.HasPrefix(string(a.body), want) || lines < 2 {
			t.Errorf("%s: status %d, want the columns %s and rows: %.200s", path, a.status, want, a.body)
		}
	}
	var list listEnvelope
	if err := json.Unmarshal(s.ask(t, "GET", "/explore/models.json").body, &list); err != nil || list.Links.Next == nil {
		t.Fatalf("%v: the first page of models leads nowhere", err)
	}
	_, query, _ := strings.Cut(*list.Links.Next, "?")
	if a := s.ask(t, "GET", "/explore/models.json?"+query, "Authorization", ""); a.status != http.StatusBadRequest {
		t.Errorf("rows beyond the first page as data without a key: status %d, want 400", a.status)
	}
}

// TestFailurePages holds that a browser is shown an error as a page, with the status programs get.
func TestFailurePages(t *testing.T) {
	s := shippedService(t)
	for _, tt := range []struct {
		path, code string
		status     int
		leads      string // to what the reader may have meant
	}{
		{"/models/llama-3.1-8b-instruc", "not_found", 404, `href="/models/llama-3.1-8b-instruct"`},
		{"/explore/hardware?vendor=nvida&type=gpu", "invalid_parameter", 400, `href="/explore/hardware?type=gpu&amp;vendor=nvidia"`},
		{"/explore/hardware?vendr=nvidia", "unknown_parameter", 400, `href="/explore/hardware?vendor=nvidia"`},
		{"/compare?hardware=nvidia-rtx-4o90", "invalid_parameter", 400, `href="/compare?hardware=nvidia-rtx-4090`},
		{"/<script>alert(1)</script>", "unknown_route", 404, ""},
		{"/models/%3Cscript%3Ealert(1)%3C/script%3E", "not_found", 404, ""},
		{"/problems/none", "unknown_route", 404, ""},
	} {
		page := s.ask(t, "GET", tt.path, "Authorization", "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		if page.status != tt.status || page.header.Get("Content-Type") != htmlType || page.header.Get("Content-Security-Policy") != pagePolicy {
			t.Errorf("%s in a browser: status %d, %s", tt.path, page.status, page.header.Get("Content-Type"))
		}
		if body := string(page.body); !strings.Contains(body, tt.code) || !strings.Contains(body, tt.leads) || strings.Contains(body, "<script>alert") {
			t.Errorf("%s in a browser: want %s and %s in %s", tt.path, tt.code, tt.leads, body)
		}
		program := s.ask(t, "GET", tt.path, "Authorization", "", "Accept", "application/json")
		if program.status != tt.status || program.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s in a program: status %d, %s", tt.path, program.status, program.header.Get("Content-Type"))
		}
	}
	if a := s.ask(t, "GET", "/api/v1/models?x=1", "Accept", "text/html,*/*;q=0.8"); a.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("an error of the API in a browser is %s", a.header.Get("Content-Type"))
	}
}

// TestFailureWords holds that the page of an error has the words of a visitor, not those of the API, and a way on.
func TestFailureWords(t *testing.T) {
	s := shippedService(t)
	api := regexp.MustCompile(`(?i)parameter\b|route|endpoint|cursor|record\b|retry-after|links\.next|/api/|slug|listed in errors|dataset_version`)
	for path, way := range map[string]string{
		"/models/llama-3.1-8b-instruc":                      `href="/explore/models"`,
		"/benchmarks/bm-000000000000":                       `href="/explore/benchmarks"`,
		"/nowhere":                                          `href="/"`,
		"/explore/hardware?vendor=nvida&type=gpu":           `href="/explore/hardware"`,
		"/explore/models?family=llama&cursor=abc":           `href="/explore/models?family=llama"`,
		"/changes?since=2020.01.01":                         `href="/changes"`,
		"/fit?hardware=rtx+4o90":                            `action="/fit"`,
		"/compare?hardware=nvidia-rtx-4o90,nvidia-rtx-4090": `href="/compare"`,
		"/explore/models?familly=llama":                     `href="/explore/models?family=llama"`,
		"/explore/models?min_params_b=9&max_params_b=2":     `href="/explore/models"`,
	} {
		body := string(s.ask(t, "GET", path, "Authorization", "", "Accept", "text/html").body)
		_, shown, _ := strings.Cut(body, `<h1>`)
		shown, _, _ = strings.Cut(shown, `<p class="source">Error `)
		shown, _, _ = strings.Cut(shown, `</main>`)
		if m := api.FindString(visible.ReplaceAllString(shown, " ")); m != "" || !strings.Contains(shown, way) {
			t.Errorf("%s says %q, want no such word, and the way on %s: %s", path, m, way, shown)
		}
	}
}

// TestStatedMachine holds that the memory and the number of devices in the name of a machine are not dropped, and that a
// name nobody knows leads to several records by their own names.
func TestStatedMachine(t *testing.T) {
	s := shippedService(t)
	for stated, plain := range map[string]string{
		"Raspberry+Pi+5+8GB":        "broadcom-raspberry-pi-5&memory_gb=8",
		"Raspberry+Pi+5+16GB":       "broadcom-raspberry-pi-5",
		"Apple+M2+16+GB":            "apple-m2&memory_gb=16",
		"2x+RTX+3090":               "nvidia-rtx-3090&count=2",
		"2x+RTX+3090&count=3":       "nvidia-rtx-3090&count=3",
		"RTX+4090+24GB":             "nvidia-rtx-4090",
		"RTX+3060+8GB":              "nvidia-rtx-3060-8gb",
		"Apple+M2+16GB&memory_gb=8": "apple-m2&memory_gb=8",
	} {
		for _, path := range []string{"/fit.json?hardware=", "/api/v1/fit?model=qwen3-8b&hardware="} {
			a, b := s.ask(t, "GET", path+stated), s.ask(t, "GET", path+plain)
			got, _, _ := strings.Cut(string(a.body), `,"meta":`)
			want, _, _ := strings.Cut(string(b.body), `,"meta":`)
			if a.status != http.StatusOK || got != want {
				t.Errorf("%s%s: status %d, and not the answer to %s", path, stated, a.status, plain)
			}
		}
	}
	for path, want := range map[string]struct{ self, says string }{
		"models?limit=3&fits=2x+RTX+3090":         {"models?fits=nvidia-rtx-3090&count=2&limit=3", "was read as nvidia-rtx-3090"},
		"models?limit=3&fits=2x+RTX+3090&count=4": {"models?fits=nvidia-rtx-3090&count=4&limit=3", "was read as nvidia-rtx-3090"},
		"models?limit=3&fits=Apple+M2+8GB":        {"models?fits=apple-m2&limit=3&memory_gb=8", "was read as apple-m2"},
		"models?limit=3&fits=apple-m2":            {"models?fits=apple-m2&limit=3", ""},
		"hardware?limit=3&runs=Qwen3+8B+Q4_K_M":   {"hardware?runs=qwen3-8b&limit=3", "was read as qwen3-8b"},
	} {
		l, plain := s.list(t, "/api/v1/"+path), s.list(t, "/api/v1/"+want.self)
		var said string
		for _, n := range l.Meta.Notices {
			if n.Code == "name_resolved" {
				said = n.Detail
			}
		}
		if l.Links.Self != plain.Links.Self || *l.Meta.Total != *plain.Meta.Total || !strings.Contains(said, want.says) || (said == "") != (want.says == "") {
			t.Errorf("%s: %d rows of %s, and says %q; want %d of %s, and %q", path, *l.Meta.Total, l.Links.Self, said, *plain.Meta.Total, plain.Links.Self, want.says)
		}
	}
}

var visible = regexp.MustCompile(`<[^>]*>`)

// allowedBy reports whether a robots.txt of one group allows a path by RFC 9309: the longest rule that matches decides.
func allowedBy(robots, path string) bool {
	allowed, longest := true, 0
	for line := range strings.Lines(robots) {
		name, rule, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name != "Allow" && name != "Disallow" {
			continue
		}
		pattern := "^" + strings.NewReplacer(`\*`, ".*", `\$`, "$").Replace(regexp.QuoteMeta(rule))
		if regexp.MustCompile(pattern).MatchString(path) && (len(rule) > longest || len(rule) == longest && name == "Allow") {
			allowed, longest = name == "Allow", len(rule)
		}
	}
	return allowed
}

// TestCrawlerFiles reads what crawlers and agents are given, and asks for some of what it names.
func TestCrawlerFiles(t *testing.T) {
	s := shippedService(t)
	if a := s.ask(t, "GET", "/favicon.ico", "Authorization", ""); a.status != http.StatusOK || a.header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(string(a.body), "<svg") {
		t.Errorf("/favicon.ico: status %d, %s, %.40s", a.status, a.header.Get("Content-Type"), a.body)
	}
	security := regexp.MustCompile(`\AContact: mailto:support@example.com\nExpires: \d{4}-\d\d-\d\dT00:00:00Z\n`)
	if a := s.ask(t, "GET", "/.well-known/security.txt", "Authorization", ""); a.status != http.StatusOK || !security.Match(a.body) {
		t.Errorf("security.txt: status %d, %s", a.status, a.body)
	}
	robots := string(s.ask(t, "GET", "/robots.txt", "Authorization", "").body)
	if !strings.Contains(robots, "Disallow: /explore/*?") || !strings.Contains(robots, "Sitemap: http://service/sitemap.xml") {
		t.Errorf("robots.txt is %s", robots)
	}
	for _, m := range regexp.MustCompile(`http://service(/[^)\s]*)`).FindAllStringSubmatch(string(s.ask(t, "GET", "/llms.txt", "Authorization", "").body), -1) {
		if path := strings.TrimRight(m[1], ".,"); path != "/api/v1/keys" && !allowedBy(robots, path) { // a key is asked for by POST
			t.Errorf("llms.txt recommends %s, which robots.txt forbids", path)
		}
	}
	for path, want := range map[string]bool{"/explore/models?family=qwen": false, "/fit?hardware=x": false, "/models/x": true, "/explore/models.md?family=qwen": true, "/openapi.json": true, "/models/x.csv": true, "/api/v1/models": false} {
		if allowedBy(robots, path) != want {
			t.Errorf("robots.txt allows %s: %t, want %t", path, !want, want)
		}
	}
	loc := regexp.MustCompile(`<loc>http://service(/[^<]*)</loc>`)
	seen := map[string]int{}
	for _, u := range loc.FindAllStringSubmatch(string(s.ask(t, "GET", "/sitemap.xml", "Authorization", "").body), -1) {
		kind, _, _ := strings.Cut(u[1][1:], "/")
		if seen[kind]++; seen[kind] < 3 {
			if a := s.ask(t, "HEAD", u[1]); a.status != http.StatusOK {
				t.Errorf("the sitemap names %s: status %d", u[1], a.status)
			}
		}
	}
	gen := mustShipped(t).live.Current()
	if seen["models"] != gen.Models.Len() || seen["hardware"] != gen.Hardware.Len() || seen["tools"] != gen.Tools.Len() || seen["benchmarks"] != gen.Benchmarks.Len() {
		t.Errorf("the sitemap names %v", seen)
	}
	llms := s.ask(t, "GET", "/llms.txt", "Authorization", "")
	found := regexp.MustCompile(`\]\(http://service(/[^)]*)\)`).FindAllStringSubmatch(string(llms.body), -1)
	if llms.status != http.StatusOK || !strings.HasPrefix(string(llms.body), "# modeldex\n") || len(found) < 10 || strings.Contains(string(llms.body), "%!") {
		t.Fatalf("llms.txt: status %d, %d links: %.200s", llms.status, len(found), llms.body)
	}
	for _, m := range found[:10] {
		if a := s.ask(t, "HEAD", m[1]); a.status != http.StatusOK {
			t.Errorf("llms.txt names %s: status %d", m[1], a.status)
		}
	}
}

// TestPageText holds that the text of a record is text, whatever it contains.
func TestPageText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(mustSmallData(t))); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "models", "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%v: no models", err)
	}
	raw, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	const evil = `<script>alert(1)</script> " onload="x' {{.}} | a | _b_ [c](javascript:d) שלום`
	edit := func(slug, name string) {
		text := regexp.MustCompile(`"slug": "[^"]*"`).ReplaceAllString(string(raw), `"slug": "`+slug+`"`)
		text = regexp.MustCompile(`"hf_repo": "[^"]*"`).ReplaceAllString(text, `"hf_repo": null`)
		text = regexp.MustCompile(`"aliases": \[[^\]]*\]`).ReplaceAllString(text, `"aliases": []`)
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		text = regexp.MustCompile(`"name": "[^"]*",\n  "organization": "[^"]*"`).ReplaceAllLiteralString(text, `"name": `+string(quoted)+`, "organization": `+string(quoted))
		if err := os.WriteFile(filepath.Join(dir, "models", slug+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit("evil", evil)
	edit("long", strings.Repeat("Verylongname", 60))
	_, live, err := generationOf(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	s := newService(t, live)
	for _, path := range []string{"/models/evil", "/models/long", "/explore/models", "/explore/models?q=alert(1)", "/explore/models?organization=" + "%3Cscript%3Ealert(1)%3C/script%3E"} {
		a := s.ask(t, "GET", path, "Authorization", "")
		body := string(a.body)
		if a.status != http.StatusOK {
			t.Errorf("%s: status %d: %.300s", path, a.status, body)
		}
		if strings.Contains(body, "<script>") || strings.Contains(body, `onload="x`) || strings.Contains(body, "javascript:d)\"") {
			t.Errorf("%s holds markup of a name", path)
		}
	}
	if a := s.ask(t, "GET", "/models/evil.md", "Authorization", ""); strings.Contains(string(a.body), "<script") || regexp.MustCompile(`[^\\]\]\(javascript`).Match(a.body) {
		t.Errorf("the Markdown of a page holds markup of a name: %.300s", a.body)
	}
}

// TestPreview: pages name the picture that other sites show beside a link to them.
func TestPreview(t *testing.T) {
	s := shippedService(t)
	page := s.ask(t, "GET", "/models/gpt-oss-20b", "Authorization", "", "Accept", "text/html")
	m := regexp.MustCompile(`<meta property="og:image" content="http://service(/assets/preview\.[^"]+)">`).FindSubmatch(page.body)
	if m == nil {
		t.Fatalf("no picture is named: %.600s", page.body)
	}
	a := s.ask(t, "GET", string(m[1]), "Authorization", "")
	head, err := png.DecodeConfig(bytes.NewReader(a.body))
	if err != nil || head.Width != 1200 || head.Height != 630 || a.header.Get("Content-Type") != "image/png" || a.header.Get("Cache-Control") != foreverCache {
		t.Errorf("%s: %v, %d x %d, headers %v", m[1], err, head.Width, head.Height, a.header)
	}
}

// TestFitUnknown holds that pages say which facts are missing, in words, where what fits cannot be said: such a
// machine is not one that nothing fits on.
func TestFitUnknown(t *testing.T) {
	s := shippedService(t)
	for _, tt := range []struct{ path, want, not string }{
		{"/fit?hardware=apple-m3-max", `href="/fit?hardware=apple-m3-max&amp;memory_gb=64"`, "No known quantization"},
		{"/fit?hardware=apple-m3-max", "<details open>", "shorter context"},
		{"/fit?hardware=amd-epyc-7282&context=4096", `href="/fit?context=4096&amp;hardware=amd-epyc-7282&amp;memory_gb=128"`, "No known quantization"},
		{"/fit?hardware=apple-m3-max&model=gpt-oss-20b", "Not published for Apple M3 Max (GPU cores not stated): memory.", "vram_gb"},
		{"/fit?hardware=apple-m3-max&model=gpt-oss-20b", `href="/fit?hardware=apple-m3-max&amp;memory_gb=64&amp;model=gpt-oss-20b"`, "hardware.memory"},
		{"/fit?hardware=nvidia-rtx-4090&model=deepseek-v4.1-flash-1017", "Not published for DeepSeek V4.1 Flash 1017: parameters.", "params_b"},
	} {
		body := string(s.ask(t, "GET", tt.path, "Authorization", "", "Accept", "text/html").body)
		if main := body[max(strings.Index(body, "<main"), 0):]; !strings.Contains(main, tt.want) || strings.Contains(main, tt.not) {
			t.Errorf("%s: want %q and not %q in %.1200s", tt.path, tt.want, tt.not, main)
		}
	}
	// Every fact that a verdict on the shipped records lacks has words. The short form asks for each model on the
	// machine whose facts are all published, and for every eighth on the others.
	gen := mustShipped(t).live.Current()
	for ord := range uint32(gen.Models.Len()) {
		for i, hardware := range []string{"nvidia-rtx-4090", "amd-epyc-7282", "apple-m3-max"} {
			if i > 0 && int(ord)%datasettest.Rounds(8, 1) != 0 {
				continue
			}
			slug := gen.Models.Slug(ord)
			body := string(s.ask(t, "GET", "/fit.md?hardware="+hardware+"&model="+slug, "Authorization", "").body)
			_, rest, _ := strings.Cut(body, "cannot tell whether it fits.")
			lead, _, said := strings.Cut(rest, "\n")
			if said && (!strings.Contains(lead, ": ") || strings.Contains(lead, "\\_")) {
				t.Errorf("%s on %s: %q says not what is missing", slug, hardware, lead)
			}
		}
	}
}

var (
	severalRuns = regexp.MustCompile(`<td [^>]*>(?:<a href="([^"]*)"[^>]*>)?[^<]*(?:</a>)?(?: <small>)?\s?\((\d+) benchmarks, `)
	countedRuns = regexp.MustCompile(`<td data-label="Benchmarks" class="n"><a href="(/explore/benchmarks[^"]*)"[^>]*>([\d,]+)</a>`)
	listTitle   = regexp.MustCompile(`id="results-title">([\d,]+) benchmarks?<`)
)

// TestListedRuns holds that a number of runs leads to the list of them, and of no others: that of a cell of a comparison,
// and that of a row, also where the quantization is not known and of hardware with variants.
func TestListedRuns(t *testing.T) {
	s := shippedService(t)
	for path, number := range map[string]*regexp.Regexp{
		"/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090,amd-rx-7900-xtx": severalRuns, "/compare?models=llama-2-7b,llama-3-8b": severalRuns,
		"/compare?hardware=apple-m2-ultra,apple-m3-max-40gpu": severalRuns,
		"/hardware/apple-m4-10gpu":                            countedRuns, "/hardware/nvidia-rtx-a4000": countedRuns, "/models/glm-4.7-flash": countedRuns, "/models/llama-2-7b": countedRuns,
	} {
		found := number.FindAllStringSubmatch(string(s.ask(t, "GET", path, "Authorization", "").body), -1)
		if len(found) == 0 {
			t.Errorf("%s has no numbers of runs", path)
		}
		for _, m := range found {
			list := listTitle.FindSubmatch(s.ask(t, "GET", html.UnescapeString(m[1]), "Authorization", "").body)
			if m[1] == "" || list == nil || string(list[1]) != m[2] {
				t.Errorf("%s: %s runs lead to %q, a list of %s", path, m[2], m[1], list)
			}
		}
	}
}

var descriptionOf = regexp.MustCompile(`<meta name="description" content="([^"]*)">`)

// TestDescriptionsApart holds that pages of like records have descriptions of their own, with what tells them apart.
func TestDescriptionsApart(t *testing.T) {
	s := shippedService(t)
	paths := []string{"/models/mixtral-8x7b-v0.1", "/models/mixtral-8x7b-instruct-v0.1", "/hardware/apple-m2-pro", "/hardware/apple-m2-pro-16gpu"}
	gen := mustShipped(t).live.Current()
	for _, ord := range gen.Benchmarks.Select(index.Query{Sets: []index.Set{{Field: index.Model, Values: []string{"llama-2-70b"}}, {Field: index.Hardware, Values: []string{"nvidia-h100-sxm5-80gb"}}}, Limit: 30}).Ords {
		paths = append(paths, "/benchmarks/"+gen.Benchmarks.Slug(ord))
	}
	seen := map[string]string{}
	for _, path := range paths {
		m := descriptionOf.FindStringSubmatch(string(s.ask(t, "GET", path, "Authorization", "", "Accept", "text/html").body))
		if m == nil || seen[m[1]] != "" {
			t.Fatalf("%s is described as %s is: %q", path, seen[m[1]], m)
		}
		seen[m[1]] = path
	}
	if len(seen) < 10 {
		t.Errorf("%d pages compared, want more", len(seen))
	}
}

var (
	speedRow  = regexp.MustCompile(`<td data-label="Tok/s" class="n">([\d.,]+)</td><td data-label="Basis">(.*?)</td>`)
	restsLink = regexp.MustCompile(`^<a href="(/[^"]+)" rel="nofollow" class="(?:measured|estimate)">`)
)

// TestSpeedsLeadToRuns holds that each speed of what runs leads to the runs it rests on, and that the page there has
// the same speed.
func TestSpeedsLeadToRuns(t *testing.T) {
	s := shippedService(t)
	for _, path := range []string{
		"/fit?hardware=nvidia-rtx-4090", "/fit?hardware=nvidia-rtx-4090&context=32768", "/fit?hardware=apple-m2&memory_gb=16&kv=q8_0", "/fit?memory_gb=24&bandwidth_gbps=500", "/fit?hardware=nvidia-rtx-3090&count=2",
		"/hardware/amd-rx-7900-xtx", "/explore/hardware?runs=gpt-oss-20b&context=16384", "/explore/models?fits=nvidia-rtx-3060",
	} {
		rows := speedRow.FindAllStringSubmatch(string(s.ask(t, "GET", path, "Authorization", "").body), -1)
		if len(rows) < 4 {
			t.Errorf("%s has %d speeds", path, len(rows))
		}
		for i, row := range rows {
			link := restsLink.FindStringSubmatch(row[2])
			if link == nil {
				t.Errorf("%s: the speed %s leads nowhere: %s", path, row[1], row[2])
				break
			}
			if strings.Contains(link[0], "estimate") && i > 5 && i < len(rows)-5 {
				continue
			}
			to, _, _ := strings.Cut(html.UnescapeString(link[1]), "#")
			a := s.ask(t, "GET", to, "Authorization", "")
			body := string(a.body)
			if a.status != http.StatusOK || !strings.Contains(body, `href="/benchmarks/bm-`) {
				t.Errorf("%s: the speed %s leads to %s, status %d, which names no run", path, row[1], to, a.status)
			}
			if strings.HasPrefix(to, "/fit?") && !strings.Contains(body, row[1]+" tok/s") {
				t.Errorf("%s: the speed %s is not on its page %s", path, row[1], to)
			}
		}
	}
	if body := string(s.ask(t, "GET", "/benchmarks/bm-d20987d408c6", "Authorization", "").body); !strings.Contains(body, "#rests") {
		t.Error("the estimate beside a measurement does not lead to what it rests on")
	}
}

// TestWordsAreExplained holds that each page with words of the trade leads to what they mean, before its first table,
// and that they are there.
func TestWordsAreExplained(t *testing.T) {
	s := shippedService(t)
	for _, path := range []string{"/fit", "/fit?hardware=nvidia-rtx-3060", "/hardware/nvidia-rtx-3060", "/models/gpt-oss-20b", "/explore/models", "/explore/benchmarks", "/compare?hardware=nvidia-rtx-3060,intel-arc-b580"} {
		body := string(s.ask(t, "GET", path, "Authorization", "").body)
		link, table := strings.Index(body, `href="/about#words"`), strings.Index(body, "<table")
		if link < 0 || table >= 0 && link > table {
			t.Errorf("%s uses words that it does not explain, nor says where", path)
		}
	}
	about := string(s.ask(t, "GET", "/about", "Authorization", "").body)
	for _, word := range []string{"Token", "Context", "Quantization", "key-value cache", "Generation, prompt", "Measured, estimated", "Offloading", "Backend", "Flash attention", "Attention", "Speculative decoding"} {
		if !strings.Contains(about, word) {
			t.Errorf("the page about words does not have %q", word)
		}
	}
}

var notes = regexp.MustCompile(`<p class="note">(.*?)</p>`)

// TestNoteWords holds that what a list says of its filters has the words of a visitor, not those of the API.
func TestNoteWords(t *testing.T) {
	s := shippedService(t)
	api := regexp.MustCompile(`_|(?i)\brecords?\b|slug|/api/|excluded|apple-m2|nvidia-`)
	for path, want := range map[string]string{
		"/explore/models?min_context=8192":                "more have no known context length and are hidden.",
		"/explore/hardware?max_price_usd=800":             "more have no known street price and are hidden.",
		"/explore/benchmarks?settings=single_stream":      "more have no known settings and are hidden.",
		"/explore/benchmarks?sort=-generation_tps":        "do not compare them directly",
		"/explore/models?fits=Apple+M2+16GB":              "We took “Apple M2 16GB” to mean Apple M2",
		"/explore/models?fits=apple-m2":                   "sold with several memory sizes",
		"/explore/models?fits=apple-m3-max":               "more may work",
		"/explore/models?fits=rtx+4090&min_tps=5":         "may be fast enough",
		"/explore/hardware?runs=qwen3-32b&min_tps=5":      "of these are sold with several memory sizes",
		"/explore/models?family=lama":                     "No results for “lama” (family). Did you mean llama",
		"/explore/benchmarks?hardware=GTX+1060":           "“GTX 1060” could be NVIDIA GeForce GTX 1060 6GB or",
		"/explore/benchmarks?family=%3Cscript%3Ealert(1)": "No results for “&lt;script&gt;",
	} {
		said := ""
		for _, m := range notes.FindAllStringSubmatch(string(s.ask(t, "GET", path, "Authorization", "").body), -1) {
			said += visible.ReplaceAllString(m[1], "") + "\n"
		}
		if m := api.FindString(said); m != "" || !strings.Contains(said, want) {
			t.Errorf("%s says %q, want %q and no such word in\n%s", path, m, want, said)
		}
	}
}

// TestNotesOfOthers holds that nobody is shown how a name was read that somebody else has asked for.
func TestNotesOfOthers(t *testing.T) {
	s := shippedService(t)
	for _, form := range []string{"", ".json", ".md"} {
		for range 2 { // the second time from the cache
			for _, name := range []string{"Apple+M2+16GB", "apple-m2", "Apple+M2+8GB"} {
				body := string(s.ask(t, "GET", "/explore/models"+form+"?fits="+name, "Authorization", "").body)
				for _, gb := range []string{"16", "8"} {
					if strings.Contains(body, "Apple M2 "+gb+"GB") != (name == "Apple+M2+"+gb+"GB") {
						t.Errorf("/explore/models%s: %s is told how Apple M2 %sGB was read, or is not", form, name, gb)
					}
				}
			}
		}
	}
}

// TestFirstClicks holds that what visitors come for is one click from the front page, and how fast prompts are read one
// from a comparison.
func TestFirstClicks(t *testing.T) {
	s := shippedService(t)
	for path, links := range map[string][]string{
		"/": {"/contribute", "/changes", "/docs/dumps", "/docs#key", "/about#words", "/explore/models", "/fit"},
		"/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090": {"/explore/benchmarks?hardware=nvidia-rtx-3090%2Cnvidia-rtx-4090&settings=single_stream&sort=-prompt_tps"},
	} {
		main, _, _ := strings.Cut(string(s.ask(t, "GET", path, "Authorization", "").body), "<footer")
		for _, link := range links {
			if !strings.Contains(html.UnescapeString(main), `href="`+link+`"`) {
				t.Errorf("%s does not lead to %s", path, link)
			}
			if to := s.ask(t, "GET", link, "Authorization", ""); to.status != 200 {
				t.Errorf("%s leads to %s, which answers %d", path, link, to.status)
			}
		}
	}
}

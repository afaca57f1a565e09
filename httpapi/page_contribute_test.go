package httpapi

import (
	"bytes"
	"cmp"
	"html"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/contribute"
	"modeldex/dataset/record"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/webhook"
)

// contributing is a service whose page compares with the shipped records.
func contributing(t *testing.T, repository string) *service {
	t.Helper()
	l := mustShipped(t)
	s := newService(t, l.live)
	s.cfg.Records = func() *webhook.Dataset { return &webhook.Dataset{Set: l.set, Generation: l.live.Current()} }
	s.pages.Site = pages.New(pages.Config{RepositoryURL: repository})
	return s
}

// send sends a form as a browser does.
func (s *service) send(t *testing.T, form url.Values, more ...string) *answer {
	t.Helper()
	q := asked{method: "POST", path: contributePath, header: http.Header{"Content-Type": {formType}, "Accept": {"text/html"}}, body: []byte(form.Encode())}
	for i := 0; i < len(more); i += 2 {
		q.header.Set(more[i], more[i+1])
	}
	a, err := fetch(s.transport, "service", q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func validForm(changes ...string) url.Values {
	v := url.Values{
		"model": {"qwen3-8b"}, "quantization": {"Q4_K_M"}, "hardware": {"RTX 4090"}, "tool": {"llama.cpp"}, "generation_tps": {"101.27"},
		"source_url": {"https://example.com/run"}, "run_date": {"2026-05-01"},
	}
	for i := 0; i < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
	}
	return v
}

var codeBlock = regexp.MustCompile(`(?s)<code>(\{.*?)</code>`)

// TestContribute: the page makes the line of what is filled in, and a way to propose it.
func TestContribute(t *testing.T) {
	t.Parallel()
	s := contributing(t, "https://github.com/example/modeldex")
	empty := s.ask(t, "GET", contributePath+"?model=qwen3-8b&hardware=rtx+4090&quantization=Q8_0", "Authorization", "", "Accept", "text/html")
	for _, want := range []string{`value="qwen3-8b"`, `value="nvidia-rtx-4090"`, `value="Q8_0"`, `name="robots"`} {
		if empty.status != http.StatusOK || !strings.Contains(string(empty.body), want) {
			t.Errorf("the form that begins with names: status %d, want %s in it", empty.status, want)
		}
	}
	a := s.send(t, validForm("notes", "</code><script>alert(1)</script>", "flash_attention", "true", "rate_basis", "decode"), "Accept-Encoding", "br")
	body := string(a.body)
	if a.status != http.StatusOK || a.header.Get("Cache-Control") != "no-store" || a.header.Get("ETag") != "" || a.header.Get("Content-Security-Policy") != pagePolicy || a.header.Get("Referrer-Policy") != "strict-origin-when-cross-origin" || a.header.Get("Dataset-Digest") == "" {
		t.Errorf("status %d, headers %v", a.status, a.header)
	}
	if strings.Contains(body, "<script>") {
		t.Error("what was entered is markup of the page")
	}
	m := codeBlock.FindStringSubmatch(body)
	if m == nil {
		t.Fatalf("the page has no line: %.3000s", body[strings.Index(body, "<main"):])
	}
	line := html.UnescapeString(m[1])
	var b dataset.Benchmark
	if problems := record.Decode([]byte(line), &b); problems != nil || b.Model != "qwen3-8b" || b.Hardware != "nvidia-rtx-4090" || *b.Notes != "</code><script>alert(1)</script>" {
		t.Errorf("%v: %s", problems, line)
	}
	leads := regexp.MustCompile(`href="(https://github.com/example/modeldex/[^"]*)"`).FindStringSubmatch(body)
	if leads == nil {
		t.Fatal("the page does not lead to the repository")
	}
	u, err := url.Parse(html.UnescapeString(leads[1]))
	q := u.Query()
	if err != nil || u.Path != "/example/modeldex/issues/new" || q.Get("template") != "measurement.yml" || q.Get("title") != "Measurement: qwen3-8b on RTX 4090" ||
		q.Get("flash_attention") != "yes" || q.Get("rate_basis") != "generation only, one request" || q.Has("tool_version") {
		t.Errorf("%v: the link is %s", err, u)
	}
	form, err := os.ReadFile("../.github/ISSUE_TEMPLATE/measurement.yml")
	if err != nil {
		t.Fatal(err)
	}
	issue := "" // as GitHub writes it when the filled form is sent
	for _, g := range contribute.Groups {
		for _, f := range g.Fields {
			if q.Has(f.Name) && !strings.Contains(string(form), "id: "+f.Name+"\n") {
				t.Errorf("the form of issues has no %s", f.Name)
			}
			issue += "### " + f.Label + "\n\n" + cmp.Or(q.Get(f.Name), "_No response_") + "\n\n"
		}
	}
	values, err := contribute.ReadIssue(issue)
	if err != nil {
		t.Fatal(err)
	}
	d := s.cfg.Records()
	if r := contribute.NewDesk(d.Set, d.Generation.Names, nil).Check(values); len(r.Lines) != 1 || r.Lines[0].Text != line {
		t.Errorf("the page makes\n%s\nand the issue %v %v", line, r.Lines, r.Faults)
	}
	bad := s.send(t, validForm("model", "qwen3-8c", "generation_tps", "<b>"))
	for _, want := range []string{`id="f-model" name="model" value="qwen3-8c"`, "no model has this name", "<code>qwen3-8b</code>", `aria-invalid="true"`, "must be a number, got &#34;&lt;b&gt;&#34;", "2 fields need attention"} {
		if bad.status != http.StatusOK || !strings.Contains(string(bad.body), want) {
			t.Errorf("a form with faults: status %d, want %s in it", bad.status, want)
		}
	}
	if codeBlock.Match(bad.body) {
		t.Error("a form with faults gives a line")
	}
}

// TestContributeWithoutRepository: without the flag the page shows the line and the command.
func TestContributeWithoutRepository(t *testing.T) {
	t.Parallel()
	s := contributing(t, "")
	body := string(s.send(t, validForm()).body)
	if strings.Contains(body, "Submit it as") || !strings.Contains(body, "modeldex fmt data &amp;&amp; modeldex check data") || !strings.Contains(body, "cat &gt;&gt; data/benchmarks/2026.ndjson") {
		t.Errorf("want the command and no link: %.2000s", body[strings.Index(body, `id="outcome"`):])
	}
	for _, tt := range []struct {
		name   string
		form   url.Values
		more   []string
		status int
		code   string
	}{
		{"JSON", validForm(), []string{"Content-Type", "application/json"}, 415, "unsupported_media_type"},
		{"no type", validForm(), []string{"Content-Type", ""}, 415, "unsupported_media_type"},
		{"multipart", validForm(), []string{"Content-Type", "multipart/form-data; boundary=x"}, 415, "unsupported_media_type"},
		{"another charset", validForm(), []string{"Content-Type", formType + "; charset=latin1"}, 415, "unsupported_media_type"},
		{"compressed", validForm(), []string{"Content-Encoding", "gzip"}, 415, "unsupported_media_type"},
		{"too many fields", url.Values{"a": make([]string, mostFormFields+1)}, nil, 400, "bad_request"},
	} {
		a := s.send(t, tt.form, tt.more...)
		if a.status != tt.status || !strings.Contains(string(a.body), tt.code) || a.header.Get("Content-Type") != htmlType {
			t.Errorf("%s: status %d, %s: %.200s; want %d", tt.name, a.status, a.header.Get("Content-Type"), a.body, tt.status)
		}
	}
	if a := s.send(t, validForm(), "Accept", "application/json", "Content-Type", "text/plain"); a.status != 415 || a.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("an error for a program: status %d, %s", a.status, a.header.Get("Content-Type"))
	}
	for _, path := range []string{contributePath + "?model=no-such-model", contributePath + "?x=1"} {
		if a := s.ask(t, "GET", path, "Authorization", ""); a.status != http.StatusBadRequest {
			t.Errorf("%s: status %d, want 400", path, a.status)
		}
	}
	s.cfg.Records = nil
	if a := s.send(t, validForm()); a.status != http.StatusServiceUnavailable {
		t.Errorf("without records: status %d, want 503", a.status)
	}
}

// TestContributeOutput: a pasted output gives its lines and says what became of the other rows.
func TestContributeOutput(t *testing.T) {
	t.Parallel()
	s := contributing(t, "https://gitlab.example.com/a/b")
	table := "  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes\n| model | size | params | backend | ngl | test | t/s |\n|---|---|---|---|---|---|---|\n" +
		"| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | pp512 | 9121.33 ± 10.1 |\n| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | 124.65 ± 0.08 |\n" +
		"| llama 8B Q4_K - Medium | 4.58 GiB | 8.03 B | CUDA | 99 | tg128 | <img src=x> |\n\nbuild: 01234567 (7361)\n"
	a := s.send(t, url.Values{"output": {table}, "model": {"Llama 3.1 8B Instruct"}, "source_url": {"https://example.com/run"}})
	body := string(a.body)
	for _, want := range []string{"1 entry is ready", "Skipped rows", "&lt;img src=x&gt;", "https://gitlab.example.com/a/b/issues/new?body="} {
		if !strings.Contains(body, want) {
			t.Errorf("want %q in %.3000s", want, body[max(0, strings.Index(body, `id="outcome"`)):])
		}
	}
	if strings.Contains(body, "<img") {
		t.Error("what was pasted is markup of the page")
	}
	long := s.send(t, url.Values{"output": {table + strings.Repeat("#", 8000)}, "model": {"Llama 3.1 8B Instruct"}, "source_url": {"https://example.com/run"}})
	if !strings.Contains(string(long.body), "too long for a link") || !strings.Contains(string(long.body), `issues/new?title=Measurement`) {
		t.Errorf("a long output: %.2000s", long.body[bytes.Index(long.body, []byte(`id="outcome"`)):])
	}
}

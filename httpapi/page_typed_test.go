package httpapi

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// TestTypedForms holds that what people type into the forms of pages is read as they meant it: the redirect leads to the
// address with plain values.
func TestTypedForms(t *testing.T) {
	t.Parallel()
	s := newService(t, mustShipped(t).live)
	for typed, want := range map[string]string{
		"/fit?hardware=24+GB":                                    "/fit?memory_gb=24",
		"/fit?hardware=16GB+RAM&context=":                        "/fit?memory_gb=16",
		"/fit?memory_gb=24+GB&bandwidth_gbps=1,008+GB/s":         "/fit?memory_gb=24&bandwidth_gbps=1008",
		"/fit?hardware=rtx+4090&context=32k":                     "/fit?hardware=rtx+4090&context=32768",
		"/fit?hardware=rtx+4090&context=32,768&min_tps=20+tok/s": "/fit?hardware=rtx+4090&context=32768&min_tps=20",
		"/explore/models?fits=rtx+4090&min_tps=20+tok/s":         "/explore/models?fits=rtx+4090&min_tps=20",
		"/explore/hardware?runs=gpt-oss-20b&context=128K":        "/explore/hardware?runs=gpt-oss-20b&context=131072",
		"/fit?hardware=rtx+4090&context=many":                    "",
		"/fit?hardware=rtx+4090&context=1,23":                    "",
	} {
		a := s.ask(t, "GET", typed, "Authorization", "", "Accept", "text/html")
		got := a.header.Get("Location")
		wantStatus := 303
		if want == "" {
			wantStatus = 400
		}
		if plain, err := url.QueryUnescape(got); err != nil || a.status != wantStatus || plain != strings.ReplaceAll(want, "+", " ") {
			t.Errorf("%s answers %d and leads to %q, want %d and %q", typed, a.status, got, wantStatus, want)
		}
	}
}

// TestTypedElsewhere holds that a name in the wrong field, a question and a search without results lead on.
func TestTypedElsewhere(t *testing.T) {
	t.Parallel()
	s := newService(t, mustShipped(t).live)
	api := regexp.MustCompile(`/api/v1/(fit|hardware)`)
	for typed, want := range map[string]string{
		"/fit?hardware=ollama":                      `href="/tools/ollama"`,
		"/fit?hardware=deepseek+r1":                 `href="/models/deepseek-r1"`,
		"/explore/models?fits=24+GB":                `href="/fit?memory_gb=24"`,
		"/compare?hardware=3090,5090":               "“5090” was read as NVIDIA GeForce RTX 5090",
		"/explore/models?q=24+GB":                   `href="/fit?memory_gb=24"`,
		"/explore/models?q=ollama":                  `href="/tools/ollama"`,
		"/explore/benchmarks?q=deepseek-r1+macbook": "No record matches",
	} {
		body := string(s.ask(t, "GET", typed, "Authorization", "", "Accept", "text/html").body)
		if !strings.Contains(body, want) {
			t.Errorf("%s does not have %s", typed, want)
		}
		main, _, _ := strings.Cut(body, "<footer")
		if found := api.FindString(main); found != "" {
			t.Errorf("%s tells a visitor of %s", typed, found)
		}
	}
	missing := string(s.ask(t, "GET", "/models/deepseek", "Authorization", "", "Accept", "text/html").body)
	if n := strings.Count(missing, `href="/models/deepseek-r1"`); n != 1 {
		t.Errorf("the page of a missing model suggests DeepSeek R1 %d times, want once", n)
	}
}

// TestTypedFormIsKept holds that a mistake in the form of what runs keeps what was typed, and that what it may mean is
// offered without the words of an error.
func TestTypedFormIsKept(t *testing.T) {
	t.Parallel()
	pageSays(t, map[string][]string{
		"/fit?hardware=gtx+1060&context=16384":      {"“gtx 1060” may be", `href="/fit?context=16384&amp;hardware=nvidia-gtx-1060-6gb"`, `value="16384"`},
		"/fit?hardware=foo+bar+9999&model=qwen3-8b": {`value="foo bar 9999"`, `value="qwen3-8b"`, `name="memory_gb"`, "!several records"},
		"/fit?hardware=raspberry+pi":                {`href="/fit?hardware=broadcom-raspberry-pi-5"`},
		"/fit?hardware=gpt-oss-20b":                 {`href="/models/gpt-oss-20b"`, `value="gpt-oss-20b"`},
		"/fit?hardware=rtx+4090&unified_share=much": {"“much” (Share of unified memory) must be", `value="much"`},
		"/fit?hardware=rtx+4090&context=99999999":   {"from 1 to 16777216"},
		"/compare?hardware=3090,5090":               {"NVIDIA GeForce RTX 5090"},
	})
}

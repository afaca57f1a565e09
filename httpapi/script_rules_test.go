package httpapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJudge(t *testing.T) {
	tests := []struct {
		got, rule string
		want      bool
	}{
		{"abc", "abc", true},
		{"abc", "ab", false},
		{"a b", `"a b"`, true},
		{`"tag"`, `is "tag"`, true},
		{"abc", "contains bc", true},
		{"abc", "contains x", false},
		{"abc", "lacks x", true},
		{"abc", "lacks b", false},
		{"abc", "starts ab", true},
		{"abc", "starts b", false},
		{"abc", "matches ^a.c$", true},
		{"abc", "matches ^b", false},
		{"abc", "matches (", false},
		{"", "empty", true},
		{"abc", "empty", false},
		{"abc", "present", true},
		{"", "present", false},
	}
	for _, tt := range tests {
		if err := judge("it", tt.got, tt.rule); (err == nil) != tt.want {
			t.Errorf("judge(%q, %q) = %v, want ok %v", tt.got, tt.rule, err, tt.want)
		}
	}
}

func TestLookJSON(t *testing.T) {
	const body = `{"data":[{"slug":"a","n":1},{"slug":"b","n":null}],"meta":{"total":2.50}}`
	tests := []struct {
		path, want, err string
	}{
		{"data.0.slug", "a", ""},
		{"data.*.slug", `["a","b"]`, ""},
		{"data.*.n", "[1,null]", ""},
		{"data.1.n", "null", ""},
		{"meta.total", "2.50", ""},
		{"meta.count", "", `meta.count: nothing at "count"`},
		{"data.2.slug", "", `data.2.slug: nothing at "2"`},
		{"meta.total.x", "", `meta.total.x: nothing at "x"`},
	}
	for _, tt := range tests {
		v, err := lookJSON([]byte(body), tt.path)
		got, fault := "", ""
		if err != nil {
			fault = err.Error()
		} else {
			got = show(v)
		}
		if got != tt.want || fault != tt.err {
			t.Errorf("lookJSON(%s) = %q, %q, want %q, %q", tt.path, got, fault, tt.want, tt.err)
		}
	}
}

func TestParseScript(t *testing.T) {
	got := parseScript("# a comment\n\nGET /x\nfile f\n  one\n    two\n  # kept\nstatus 200\n")
	want := []statement{
		{line: 3, text: "GET /x"},
		{line: 4, text: "file f", block: []string{"one", "  two", "# kept"}},
		{line: 8, text: "status 200"},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(statement{})); diff != "" {
		t.Errorf("parseScript: -want +got\n%s", diff)
	}
}

// TestWatchCounts holds the scripts' own bookkeeping of quota to what it is for.
func TestWatchCounts(t *testing.T) {
	w := newWatch()
	see := func(path string, status int, remaining, id string) int {
		a := &answer{asked: asked{method: "GET", path: path, header: map[string][]string{"Authorization": {"Bearer k"}}}, status: status}
		a.header = map[string][]string{"X-Ratelimit-Remaining": {remaining}, "X-Ratelimit-Limit": {"10"}, "X-Request-Id": {id}}
		return len(w.see(a))
	}
	for i, tt := range []struct {
		path          string
		status        int
		remaining, id string
		want          int
	}{
		{"/api/v1/models", 200, "9", "a", 0},
		{"/api/v1/models", 200, "8", "b", 0},
		{"/api/v1/models", 400, "8", "c", 0},
		{"/api/v1/keys/self", 200, "8", "d", 0},
		{"/api/v1/models", 200, "8", "e", 1}, // a charged call that was not counted
		{"/api/v1/models", 304, "7", "f", 1}, // a free call that was
		{"/api/v1/models/x", 404, "6", "g", 0},
		{"/api/v1/models", 200, "5", "g", 1}, // a request id that was used
	} {
		if got := see(tt.path, tt.status, tt.remaining, tt.id); got != tt.want {
			t.Errorf("step %d: %d faults, want %d", i, got, tt.want)
		}
	}
	w.secret("s3cret")
	for log, want := range map[string]int{
		`{"time":"t","level":"INFO","msg":"fine"}`:   0,
		`{"time":"t","level":"INFO","msg":"s3cret"}`: 1,
		`plain text`: 1,
		`{"time":"t","level":"ERROR","msg":"panic: nothing"}`: 1,
	} {
		if got := w.checkLog(log); len(got) != want {
			t.Errorf("checkLog(%s) = %v, want %d faults", log, got, want)
		}
	}
}

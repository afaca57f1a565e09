package httpapi

import "testing"

func TestJudge(t *testing.T) {
	tests := []struct {
		got  string
		rule []string
		want bool
	}{
		{"abc", []string{"abc"}, true},
		{"abc", []string{"ab"}, false},
		{"a b", []string{"a b"}, true},
		{`"tag"`, []string{"is", `"tag"`}, true},
		{"empty", []string{"is", "empty"}, true},
		{"abc", []string{"contains", "bc"}, true},
		{"abc", []string{"contains", "x"}, false},
		{"abc", []string{"lacks", "x"}, true},
		{"abc", []string{"lacks", "b"}, false},
		{"abc", []string{"starts", "ab"}, true},
		{"abc", []string{"starts", "b"}, false},
		{"abc", []string{"matches", "^a.c$"}, true},
		{"abc", []string{"matches", "^b"}, false},
		{"abc", []string{"matches", "("}, false},
		{"", []string{"empty"}, true},
		{"abc", []string{"empty"}, false},
		{"abc", []string{"present"}, true},
		{"", []string{"present"}, false},
		{"abc", []string{"holds", "abc"}, false},
		{"abc", nil, false},
		{"a b c", []string{"a", "b", "c"}, false},
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

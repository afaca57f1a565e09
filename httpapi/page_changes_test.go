package httpapi

import (
	"encoding/csv"
	"encoding/json"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/httpapi/changes"
)

// TestChangesPage: the page lists releases, newest first, and what they did; it can be narrowed and
// paged, and its forms have the same rows.
func TestChangesPage(t *testing.T) {
	t.Parallel()
	_, live, err := generationOf(dataset.Dir(mustSmallData(t)))
	if err != nil {
		t.Fatal(err)
	}
	s := newService(t, live)
	page := func(path string) string {
		t.Helper()
		a := s.ask(t, "GET", path, "Authorization", "", "Accept", "text/html")
		if a.status != http.StatusOK {
			t.Fatalf("%s: status %d: %.300s", path, a.status, a.body)
		}
		return string(a.body)
	}
	if body := page("/changes"); !strings.Contains(body, "Nothing like that is recorded") {
		t.Error("without a history the page does not say that there is none")
	}
	s.cfg.History = recordedAs(t, live.Current()) // the page of before must not be remembered
	body := page("/changes")
	for _, want := range []string{"2 releases", "The recorded history begins here", "Name: &lt;a&gt; &amp; b → c", `href="/feeds/changes.atom"`, `href="/models/llama-2-7b"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Index(body, "?release="+live.Current().Digest.String()[:12]) > strings.Index(body, "?release=000000000000") {
		t.Error("the newest release is not the first")
	}
	// Every page in turn, narrowed: each record once.
	rows, seen := regexp.MustCompile(`<th scope="row"><a href="(/[a-z]+/[^"]+)">`), map[string]bool{}
	for path := "/changes?table=hardware&limit=4"; path != ""; {
		body := page(path)
		for _, m := range rows.FindAllStringSubmatch(body, -1) {
			if seen[m[1]] || !strings.HasPrefix(m[1], "/hardware/") {
				t.Errorf("%s lists %s, again or of another kind", path, m[1])
			}
			seen[m[1]] = true
		}
		path = ""
		if m := regexp.MustCompile(`href="(/changes\?[^"]*cursor=[^"]*)" rel="nofollow next"`).FindStringSubmatch(body); m != nil {
			path = html.UnescapeString(m[1])
			file := strings.Replace(path, "/changes?", "/changes.csv?", 1)
			if a := s.ask(t, "GET", file, "Authorization", ""); a.status != http.StatusBadRequest || !strings.Contains(string(a.body), "which gives the first rows only") {
				t.Errorf("%s: status %d, %s; want 400, because files of the page have no cursor", file, a.status, a.body)
			}
		}
	}
	if want := live.Current().Hardware.Len(); len(seen) != want {
		t.Errorf("the pages list %d pieces of hardware, want %d", len(seen), want)
	}
	var list struct {
		Data  []changes.Row `json:"data"`
		Meta  struct{ Total, Count int }
		Links struct{ Self string }
	}
	a := s.ask(t, "GET", "/changes.json?field=name&limit=5", "Authorization", "")
	if err := json.Unmarshal(a.body, &list); err != nil || len(list.Data) != 5 || list.Meta.Count != 5 || list.Links.Self != "/changes.json?field=name&limit=5" {
		t.Errorf("%v: the data of the page is %.300s", err, a.body)
	}
	a = s.ask(t, "GET", "/changes.csv?field=name&limit=5", "Authorization", "")
	lines, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
	if err != nil || len(lines) != 6 || lines[0][3] != "slug" || lines[1][3] != list.Data[0].Slug || lines[1][6] != `"<a> & b"` {
		t.Errorf("%v: the page as a file is %s", err, a.body)
	}
	a = s.ask(t, "GET", "/changes.csv?slug=nvidia-rtx-4090", "Authorization", "")
	if !strings.Contains(string(a.body), ",hardware,nvidia-rtx-4090,added,,,\r\n") {
		t.Errorf("want one row without a field for an added record: %s", a.body)
	}
	for _, tt := range []struct {
		path   string
		status int
	}{
		{"/changes?release=2", 200},
		{"/changes?release=aaaaaaa", 200},
		{"/changes?release=none", 400},
		{"/changes?since=none", 410},
		{"/changes?table=users", 400},
		{"/changes?records=true", 400},
		{"/changes?cursor=x", 400},
		{"/changes.json?cursor=x", 400},
		{"/changes?limit=201", 400},
		{"/changes?slug=&table=models", 303},
		{"/changes.xml", 404},
		{"/credits?x=1", 400},
	} {
		if a := s.ask(t, "GET", tt.path, "Authorization", ""); a.status != tt.status {
			t.Errorf("%s: status %d, want %d", tt.path, a.status, tt.status)
		}
	}
}

// TestCreditsPage: every source is there once, in each form, and what was read from it.
func TestCreditsPage(t *testing.T) {
	t.Parallel()
	l := mustShipped(t)
	s := newService(t, l.live)
	var list struct{ Data []creditLine }
	if err := json.Unmarshal(s.ask(t, "GET", "/credits.json", "Authorization", "").body, &list); err != nil {
		t.Fatal(err)
	}
	a := s.ask(t, "GET", "/credits.csv", "Authorization", "")
	lines, err := csv.NewReader(strings.NewReader(string(a.body))).ReadAll()
	if err != nil || len(lines) != len(l.set.Origins)+1 || len(list.Data) != len(l.set.Origins) {
		t.Fatalf("%v: %d lines and %d entries, want %d sources", err, len(lines), len(list.Data), len(l.set.Origins))
	}
	page := string(s.ask(t, "GET", "/credits", "Authorization", "").body)
	measurements := 0
	for i, c := range list.Data {
		measurements += int(c.Measurements)
		if lines[i+1][0] != c.Key || strings.Count(page, `<a href="`+html.EscapeString(c.URL)+`" rel="noopener external">`+html.EscapeString(c.Key)+"</a>") != 1 {
			t.Errorf("%s is not on the page once, or not in the file", c.Key)
		}
	}
	keyed := 0
	for i := range l.set.Benchmarks.Len() {
		if l.set.Benchmarks.At(i).SourceKey != nil {
			keyed++
		}
	}
	if measurements != keyed {
		t.Errorf("the sources gave %d measurements, the records name one for %d", measurements, keyed)
	}
}

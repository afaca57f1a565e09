package httpapi

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"modeldex/dataset"
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
	if body := page("/changes"); !strings.Contains(body, "No changes match") {
		t.Error("without a history the page does not say that there is none")
	}
	s.cfg.History = recordedAs(t, live.Current()) // the page of before must not be remembered
	body := page("/changes")
	for _, want := range []string{"2 releases", "First recorded release", "Name: &lt;a&gt; &amp; b → c", `href="/feeds/changes.atom"`, `href="/models/llama-2-7b"`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Index(body, "?release="+live.Current().Digest.String()[:12]) > strings.Index(body, "?release=000000000000") {
		t.Error("the newest release is not the first")
	}
	rows := regexp.MustCompile(`<th scope="row"><a href="(/[a-z]+/[^"]+)">`).FindAllStringSubmatch(page("/changes?table=hardware"), -1)
	for _, m := range rows {
		if !strings.HasPrefix(m[1], "/hardware/") {
			t.Errorf("the changes of hardware list %s", m[1])
		}
	}
	if want := min(live.Current().Hardware.Len(), 50); len(rows) != want {
		t.Errorf("the page lists %d changes of hardware, want %d", len(rows), want)
	}
	for _, tt := range []struct {
		path   string
		status int
	}{
		{"/changes?release=2", 200},
		{"/changes?release=aaaaaaa", 200},
		{"/changes?release=none", 400},
		{"/changes?since=2001.1.1", 410},
		{"/changes?table=users", 400},
		{"/changes?records=true", 400},
		{"/changes?cursor=x", 400},
		{"/changes?limit=20", 400},
		{"/changes?slug=&table=models", 303},
		{"/changes.xml", 404},
		{"/changes.md?slug=nvidia-rtx-4090", 200},
		{"/credits?x=1", 400},
	} {
		if a := s.ask(t, "GET", tt.path, "Authorization", ""); a.status != tt.status {
			t.Errorf("%s: status %d, want %d", tt.path, a.status, tt.status)
		}
	}
}

// TestCreditsPage: every source is there once.
func TestCreditsPage(t *testing.T) {
	t.Parallel()
	l := mustShipped(t)
	page := string(newService(t, l.live).ask(t, "GET", "/credits", "Authorization", "").body)
	for _, o := range l.set.Origins {
		if n := strings.Count(page, `<a href="`+html.EscapeString(string(o.URL))+`" rel="external">`+html.EscapeString(o.Key)+"</a>"); n != 1 {
			t.Errorf("%s is on the page %d times", o.Key, n)
		}
	}
}

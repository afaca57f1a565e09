package feeds

import (
	"encoding/json"
	"encoding/xml"
	"slices"
	"strings"
	"testing"
	"time"
)

// hard is text that both forms have to escape, with characters that XML cannot hold in between.
const (
	hard    = "a <b> & \"c\" 'd' ]]> </content></script>\u2028\té漢🙂\n\x01\uFFFE."
	inXML   = "a <b> & \"c\" 'd' ]]> </content></script>\u2028\té漢🙂\n\uFFFD\uFFFD."
	invalid = "a\xffb"
)

func sample(text string) *Feed {
	at := time.Date(2026, 11, 22, 23, 30, 0, 0, time.FixedZone("", -3600))
	return &Feed{
		ID: ID("feed"), Title: "News " + text, Self: "https://example.test/feed?a=1&b=2", Page: "https://example.test/", Author: "Someone & Co",
		Updated: at, Entries: []Entry{
			{ID: ID("two"), Title: text, Page: "https://example.test/two", Text: text, Updated: at, Tags: []string{"x", text}},
			{ID: ID("one"), Title: "one", Page: "https://example.test/one", Updated: at.AddDate(0, 0, -1)},
		},
	}
}

// TestID holds the ids of things to what readers have seen: another one would show them all news again.
func TestID(t *testing.T) {
	for name, want := range map[string]string{
		"":                    "urn:uuid:16c3388b-510f-5fab-9afa-4d98df00a1c4",
		"change/2026.11.22/1": "urn:uuid:9e0ca62c-18fa-5a3a-972a-23dd25bb0a34",
	} {
		if got := ID(name); got != want {
			t.Errorf("ID(%q) is %s, want %s", name, got, want)
		}
	}
}

// TestAtom reads the feed back: every text is what it was, times are in UTC, and entries keep their order.
func TestAtom(t *testing.T) {
	for text, want := range map[string]string{hard: inXML, invalid: "a\uFFFDb", "": ""} {
		b, err := sample(text).Atom()
		if err != nil {
			t.Fatal(err)
		}
		var got atomFeed
		if err := xml.Unmarshal(b, &got); err != nil || !strings.HasPrefix(string(b), "<?xml") {
			t.Fatalf("%v\n%s", err, b)
		}
		e := got.Entries[0]
		if got.Title != "News "+want || e.Title != want || e.Content.Text != want || e.Content.Type != "text" || e.Categories[1].Term != want {
			t.Errorf("%q is read as %+v", text, got)
		}
		if got.Updated != "2026-11-23T00:30:00Z" || got.Entries[1].Published != "2026-11-22T00:30:00Z" || got.Entries[1].ID != ID("one") {
			t.Errorf("times or order: %+v", got)
		}
		if got.Links[0] != (atomLink{"self", "application/atom+xml", "https://example.test/feed?a=1&b=2"}) || got.Author.Name != "Someone & Co" {
			t.Errorf("links or author: %+v", got)
		}
	}
}

// TestJSON is TestAtom of the other form, which can also be put into a script element.
func TestJSON(t *testing.T) {
	for text, want := range map[string]string{hard: hard, invalid: "a\uFFFDb", "": ""} {
		b, err := sample(text).JSON()
		if err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(string(b), "<>&\u2028") {
			t.Errorf("not escaped: %s", b)
		}
		var got jsonFeed
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		e := got.Items[0]
		if got.Title != "News "+want || e.Title != want || e.Text != want || !slices.Equal(e.Tags, []string{"x", want}) || e.Modified != "2026-11-23T00:30:00Z" {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
	if b, err := (&Feed{}).JSON(); err != nil || !strings.Contains(string(b), `"items":[]`) {
		t.Errorf("a feed without news: %s %v", b, err)
	}
}

package httpapi

import (
	"encoding/json"
	"encoding/xml"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/httpapi/changes"
	"modeldex/index"
)

// atomDocument is what RFC 4287 asks of a feed, read by another decoder than the writer's types.
type atomDocument struct {
	XMLName xml.Name
	ID      []string `xml:"http://www.w3.org/2005/Atom id"`
	Title   []string `xml:"http://www.w3.org/2005/Atom title"`
	Updated []string `xml:"http://www.w3.org/2005/Atom updated"`
	Authors []string `xml:"http://www.w3.org/2005/Atom author>name"`
	Links   []struct {
		Rel  string `xml:"rel,attr"`
		Href string `xml:"href,attr"`
		Type string `xml:"type,attr"`
	} `xml:"http://www.w3.org/2005/Atom link"`
	Entries []struct {
		ID      []string `xml:"http://www.w3.org/2005/Atom id"`
		Title   []string `xml:"http://www.w3.org/2005/Atom title"`
		Updated []string `xml:"http://www.w3.org/2005/Atom updated"`
		Content []string `xml:"http://www.w3.org/2005/Atom content"`
		Link    []struct {
			Rel  string `xml:"rel,attr"`
			Href string `xml:"href,attr"`
		} `xml:"http://www.w3.org/2005/Atom link"`
	} `xml:"http://www.w3.org/2005/Atom entry"`
}

// TestFeeds checks feeds of the small dataset against the rules of RFC 4287 and JSON Feed 1.1: one
// id, title and time per feed and entry, ids that are IRIs and never repeat, times of releases, newest
// first; and both forms say the same.
func TestFeeds(t *testing.T) {
	_, live, err := generationOf(dataset.Dir(mustSmallData(t)))
	if err != nil {
		t.Fatal(err)
	}
	gen := live.Current()
	l := recordedAs(t, gen)
	for _, sc := range []*feedScope{
		{path: "/feeds/all", title: "all", page: "/"},
		recordScope(gen, models, "llama-2-7b"),
		recordScope(gen, hardware, "nvidia-rtx-4090"),
		familyScope(gen, "llama"),
	} {
		for _, benchmarksOnly := range []bool{true, false} {
			f := newsOf(l.Now().Recorded(gen), gen, sc, benchmarksOnly, "https://example.org")
			f.Self = "https://example.org/feeds/x"
			if len(f.Entries) == 0 || len(f.Entries) > maxEntries {
				t.Errorf("%s: %d entries, want 1 to %d", f.Title, len(f.Entries), maxEntries)
			}
			for _, e := range f.Entries {
				if strings.HasPrefix(e.Page, "https://example.org/api/") {
					t.Errorf("%s: %s leads to %s, which is not a page for people", f.Title, e.Title, e.Page)
				}
			}
			text, err := f.Atom()
			if err != nil {
				t.Fatal(err)
			}
			ids := checkAtom(t, f.Title, text)
			text, err = f.JSON()
			if err != nil {
				t.Fatal(err)
			}
			checkJSONFeed(t, f.Title, text, ids)
		}
	}
}

// spoken is how a feed titles a benchmark.
var spoken = regexp.MustCompile(`^[a-z0-9.-]+ on [a-z0-9.-]+(: [0-9.]+ tokens/s)?$`)

// TestFeedsOfRecords: the feeds of a record or a family are about its own benchmarks and no others.
func TestFeedsOfRecords(t *testing.T) {
	t.Parallel()
	gen := mustSmallLive(t).Current()
	l := recordedAs(t, gen)
	for _, tt := range []struct {
		sc    *feedScope
		field index.Field
		slug  string
	}{
		{recordScope(gen, models, "llama-2-7b"), index.Model, "llama-2-7b"},
		{recordScope(gen, hardware, "nvidia-rtx-4090"), index.Hardware, "nvidia-rtx-4090"},
		{recordScope(gen, hardware, "intel-core-i9-10900k"), index.Hardware, "intel-core-i9-10900k"},
		{familyScope(gen, "llama"), index.Family, "llama"},
	} {
		want := []string{}
		mine := gen.Benchmarks.Select(index.Query{Sets: []index.Set{{Field: tt.field, Values: []string{tt.slug}, OnlySelf: true}}, Limit: gen.Benchmarks.Len()})
		for _, ord := range mine.Ords {
			want = append(want, "https://example.org/benchmarks/"+gen.Benchmarks.Slug(ord))
		}
		for _, benchmarksOnly := range []bool{true, false} { // the first is in the order of the list
			got := []string{}
			for _, e := range newsOf(l.Now().Recorded(gen), gen, tt.sc, benchmarksOnly, "https://example.org").Entries {
				if strings.HasPrefix(e.Page, "https://example.org/benchmarks/") {
					if benchmarksOnly && !spoken.MatchString(e.Title) {
						t.Errorf("%s: the title %q names no model, hardware and speed", tt.slug, e.Title)
					}
					got = append(got, e.Page)
				}
			}
			if !benchmarksOnly {
				slices.Sort(got)
				slices.Sort(want)
			}
			if len(want) == gen.Benchmarks.Len() || !slices.Equal(got, want) {
				t.Errorf("%s, benchmarks only %t: entries %q, want %q, not all %d", tt.slug, benchmarksOnly, got, want, gen.Benchmarks.Len())
			}
		}
	}
}

// TestFeedsOfManyFields: an entry names the first 20 fields of a change, and says how many there are beyond them.
func TestFeedsOfManyFields(t *testing.T) {
	t.Parallel()
	for fields, end := range map[int]string{1: "", 20: "", 21: "and 1 more field", 25: "and 5 more fields"} {
		change := &record.Change{Table: "models", Act: record.Changed}
		want := "changed"
		for i := range fields {
			name := "field_" + strconv.Itoa(i)
			change.Fields = append(change.Fields, record.FieldChange{Field: name, Old: []byte("1"), New: []byte("2")})
			if i < 20 {
				want += "\n" + name + ": 1 -> 2"
			}
		}
		if end != "" {
			want += "\n" + end
		}
		s := &changes.Step{Step: &history.Step{Entries: []history.Entry{{Slug: "llama-2-7b", Change: change}}}}
		got := recordEntries(s, &feedScope{keys: map[string]bool{"models/llama-2-7b": true}}, "", maxEntries)
		if len(got) != 1 || got[0].Text != want {
			t.Errorf("%d fields: %+v, want %q", fields, got, want)
		}
	}
}

// TestFeedsOfRemoved: what a feed says of a removal leads to the release, and never to the page of the record, which may be gone.
func TestFeedsOfRemoved(t *testing.T) {
	t.Parallel()
	for act, want := range map[record.Act]string{
		record.Added:   "https://example.org/models/a%2Fb",
		record.Changed: "https://example.org/models/a%2Fb",
		record.Removed: "https://example.org/changes?release=0123456789ab&table=models&slug=a%2Fb",
	} {
		s := &changes.Step{Step: &history.Step{Release: record.Release{Digest: "0123456789abcdef"}, Entries: []history.Entry{{Slug: "a/b", Change: &record.Change{Table: "models", Act: act}}}}}
		got := recordEntries(s, &feedScope{keys: map[string]bool{"models/a/b": true}}, "https://example.org", maxEntries)
		if len(got) != 1 || got[0].Page != want {
			t.Errorf("%s: %+v, want a link to %s", act, got, want)
		}
		if none := recordEntries(s, &feedScope{keys: map[string]bool{"models/a/b": true}}, "", 0); none != nil {
			t.Errorf("%s: %d entries, want none beyond the most", act, len(none))
		}
	}
}

var uuidURN = regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func checkAtom(t *testing.T, name string, text []byte) (ids []string) {
	t.Helper()
	var doc atomDocument
	if err := xml.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, text)
	}
	one := func(where string, values []string) string {
		t.Helper()
		if len(values) != 1 || strings.TrimSpace(values[0]) == "" {
			t.Errorf("%s: %s is %q, want one text", name, where, values)
			return ""
		}
		return values[0]
	}
	when := func(where string, values []string) time.Time {
		t.Helper()
		at, err := time.Parse(time.RFC3339, one(where, values))
		if err != nil {
			t.Errorf("%s: %s: %v", name, where, err)
		}
		return at
	}
	if doc.XMLName.Space != "http://www.w3.org/2005/Atom" || doc.XMLName.Local != "feed" || len(doc.Authors) != 1 {
		t.Errorf("%s: root %v, authors %q", name, doc.XMLName, doc.Authors)
	}
	seen := map[string]bool{one("id", doc.ID): true}
	one("title", doc.Title)
	updated, last := when("updated", doc.Updated), time.Time{}
	rels := map[string]int{}
	for _, link := range doc.Links {
		rels[link.Rel]++
		if u, err := url.Parse(link.Href); err != nil || !u.IsAbs() || link.Type == "" {
			t.Errorf("%s: link %+v", name, link)
		}
	}
	if rels["self"] != 1 || rels["alternate"] != 1 {
		t.Errorf("%s: links %v, want one self and one alternate", name, rels)
	}
	for i, e := range doc.Entries {
		id, at := one("id of an entry", e.ID), when("updated of an entry", e.Updated)
		one("title of an entry", e.Title)
		one("content of an entry", e.Content)
		if seen[id] || !uuidURN.MatchString(id) {
			t.Errorf("%s: id %q comes twice or has another form", name, id)
		}
		if seen[id] = true; i == 0 && !at.Equal(updated) || i > 0 && at.After(last) {
			t.Errorf("%s: entry %d is of %v after %v in a feed of %v", name, i, at, last, updated)
		}
		if len(e.Link) != 1 || e.Link[0].Rel != "alternate" {
			t.Errorf("%s: links of an entry %+v", name, e.Link)
		}
		last, ids = at, append(ids, id)
	}
	return ids
}

func checkJSONFeed(t *testing.T, name string, text []byte, ids []string) {
	t.Helper()
	var doc struct {
		Version, Title string
		Home           string `json:"home_page_url"`
		Self           string `json:"feed_url"`
		Items          []struct {
			ID, URL, Title string
			Text           string    `json:"content_text"`
			Published      time.Time `json:"date_published"`
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if doc.Version != "https://jsonfeed.org/version/1.1" || doc.Title == "" || doc.Home == "" || doc.Self == "" || len(doc.Items) != len(ids) {
		t.Errorf("%s: %+v, want %d items", name, doc, len(ids))
		return
	}
	for i, item := range doc.Items {
		if item.ID != ids[i] || item.Text == "" || item.URL == "" || item.Published.IsZero() {
			t.Errorf("%s: item %+v, want the id %s", name, item, ids[i])
		}
	}
}

// recordedAs is a history in which the newest release made all records of a generation.
func recordedAs(t *testing.T, gen *index.Generation) *changes.History {
	t.Helper()
	commit, at, first := strings.Repeat("a", 40), "2026-02-03T04:05:06Z", strings.Repeat("0", 64)
	log := &history.Log{Steps: []history.Step{
		{Release: record.Release{Version: "1", Digest: first, Released: "2026-01-01"}},
		{Release: record.Release{Version: "2", Digest: gen.Digest.String(), Released: "2026-02-03", Commit: &commit, Committed: &at, After: &first}},
	}}
	for _, r := range resources {
		table := r.table(gen)
		for ord := range uint32(table.Len()) {
			c := &record.Change{Table: record.ChangeTable(r.name), Act: record.Added}
			if ord%3 == 0 && r != benchmarks {
				c.Act, c.Fields = record.Changed, []record.FieldChange{{Field: "name", Old: []byte(`"<a> & b"`), New: []byte(`"c"`)}}
			}
			log.Steps[1].Entries = append(log.Steps[1].Entries, history.Entry{Slug: table.Slug(ord), Change: c})
		}
	}
	history.Sort(log.Steps[1].Entries)
	var l changes.History
	l.Releases(&dataset.Set{Releases: log})
	return &l
}

package httpapi

import (
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

// TestFeeds checks feeds of the small dataset against the rules of RFC 4287: one id, title and time per feed and entry,
// ids that are IRIs and never repeat, times of releases, newest first. The feeds of a record are about its own benchmarks
// and no others.
func TestFeeds(t *testing.T) {
	t.Parallel()
	_, live, err := generationOf(dataset.Dir(mustSmallData(t)))
	if err != nil {
		t.Fatal(err)
	}
	gen := live.Current()
	s := newService(t, live)
	s.cfg.History = recordedAs(t, gen)
	for path, field := range map[string]index.Field{"": "", "models/llama-2-7b/": index.Model, "hardware/nvidia-rtx-4090/": index.Hardware, "hardware/intel-core-i9-10900k/": index.Hardware} {
		want := []string{}
		for ord := range uint32(gen.Benchmarks.Len()) {
			if field == "" || strings.HasSuffix(path, "/"+gen.Benchmarks.Text(field, ord)+"/") {
				want = append(want, "http://service/benchmarks/"+gen.Benchmarks.Slug(ord))
			}
		}
		for _, file := range feedFiles {
			doc := checkAtom(t, path+file, s.ask(t, "GET", "/feeds/"+path+file, "Authorization", "").body)
			if len(want) > 0 && len(doc.Entries) == 0 || len(doc.Entries) > maxEntries {
				t.Errorf("%s%s: %d entries, want 1 to %d", path, file, len(doc.Entries), maxEntries)
			}
			got := []string{}
			for _, e := range doc.Entries {
				page := e.Link[0].Href
				if strings.HasPrefix(page, "http://service/api/") {
					t.Errorf("%s: %s leads to %s, which is not a page for people", path, e.Title, page)
				}
				if strings.Contains(page, "/benchmarks/") {
					if got = append(got, page); file == "benchmarks.atom" && !spoken.MatchString(e.Title[0]) {
						t.Errorf("%s: the title %q names no model, hardware and speed", path, e.Title)
					}
				}
			}
			if file != "benchmarks.atom" {
				slices.Sort(got)
				slices.Sort(want)
			}
			if (path != "" || file == "benchmarks.atom") && !slices.Equal(got, want) {
				t.Errorf("%s%s: benchmarks %q, want %q", path, file, got, want)
			}
		}
	}
}

// spoken is how a feed titles a benchmark.
var spoken = regexp.MustCompile(`^[a-z0-9.-]+ on [a-z0-9.-]+(: [0-9.]+ tokens/s)?$`)

// TestFeedEntries: an entry names the first 20 fields of a change, and says how many there are beyond them. What a feed says
// of a removal leads to the release, and never to the page of the record, which may be gone.
func TestFeedEntries(t *testing.T) {
	t.Parallel()
	sc := &feedScope{of: models, slug: "a/b", base: "https://example.org"}
	for _, tt := range []struct {
		act       record.Act
		fields    int
		end, page string
	}{
		{record.Changed, 1, "\nfield_0: 1 -> 2", "/models/a%2Fb"},
		{record.Changed, 20, "\nfield_19: 1 -> 2", "/models/a%2Fb"},
		{record.Changed, 21, "\nfield_19: 1 -> 2\nand 1 more field", "/models/a%2Fb"},
		{record.Changed, 25, "\nfield_19: 1 -> 2\nand 5 more fields", "/models/a%2Fb"},
		{record.Added, 0, "added", "/models/a%2Fb"},
		{record.Removed, 0, "removed", "/changes?release=0123456789ab&table=models&slug=a%2Fb"},
	} {
		change := &record.Change{Table: "models", Act: tt.act}
		for i := range tt.fields {
			change.Fields = append(change.Fields, record.FieldChange{Field: "field_" + strconv.Itoa(i), Old: []byte("1"), New: []byte("2")})
		}
		got := sc.changes(&history.Step{Release: record.Release{Digest: "0123456789abcdef"}, Entries: []history.Entry{{Slug: "a/b", Change: change}}})
		if len(got) != 1 || !strings.HasSuffix(got[0].Content.Text, tt.end) || got[0].Link.Href != sc.base+tt.page {
			t.Errorf("%s of %d fields: %+v, want %q and a link to %s", tt.act, tt.fields, got, tt.end, tt.page)
		}
	}
}

var uuidURN = regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func checkAtom(t *testing.T, name string, text []byte) (doc atomDocument) {
	t.Helper()
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
		last = at
	}
	return doc
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
	l.Take(&dataset.Set{Releases: log})
	return &l
}

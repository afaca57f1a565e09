package changes

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// pastOf makes a past of releases, as "version/letter" each: the digest is the letter, sixty-four times. rows is the
// number of changes by letter, three where none is given.
func pastOf(releases string, rows map[string]int) *Past {
	log := &history.Log{}
	for i, text := range strings.Fields(releases) {
		version, letter, _ := strings.Cut(text, "/")
		commit := strings.Repeat("c0ffee", 7)[:39] + letter
		s := history.Step{Release: record.Release{Version: version, Digest: strings.Repeat(letter, 64), Released: dataset.Date(fmt.Sprintf("2026-01-%02d", 10*(i+1))), Commit: &commit}}
		n, given := rows[letter]
		if !given {
			n = 3
		}
		for j := range n {
			s.Entries = append(s.Entries, history.Entry{Slug: fmt.Sprintf("%s-%06d", letter, j), Change: &record.Change{Table: "tools", Act: record.Added}})
		}
		log.Steps = append(log.Steps, s)
	}
	var h History
	h.Take(&dataset.Set{Releases: log})
	return h.Past()
}

// served is a generation of a version with the digest of a letter.
func served(version, letter string) *index.Generation {
	g := &index.Generation{Info: dataset.Info{Version: version}}
	if _, err := hex.Decode(g.Digest[:], []byte(strings.Repeat(letter, 64))); err != nil {
		panic(err)
	}
	return g
}

func TestTrail(t *testing.T) {
	past := pastOf("1/a 2/b 2/c 1/a 3/d", nil)
	hex := func(letter string, n int) string { return strings.Repeat(letter, n) }
	newest, edited := served("3", "d"), served("4", "e")
	tests := []struct {
		name, since string
		past        *Past
		gen         *index.Generation
		want        string // digests of the steps
		gap, gone   bool
	}{
		{name: "nothing", gen: newest, want: "abcad"},
		{name: "nothing, before the last", gen: served("2", "c"), want: "abc"},
		{name: "the newest", since: "3", gen: newest},
		{name: "a version of two releases: the first of them", since: "2", gen: newest, want: "cad"},
		{name: "a version that came back: the first time", since: "1", gen: newest, want: "bcad"},
		{name: "a digest", since: hex("c", 64), gen: newest, want: "ad"},
		{name: "the head of a digest", since: hex("b", 12), gen: newest, want: "cad"},
		{name: "a digest that came back: the last time", since: hex("a", 20), gen: newest, want: "d"},
		{name: "too short a head", since: hex("b", 11), gen: newest, gone: true},
		{name: "unknown", since: "0.9", gen: newest, gone: true},
		{name: "not served yet", since: "3", gen: served("2", "c"), gone: true},
		{name: "a commit", since: "c0ffeec", gen: newest},
		{name: "a commit, whole", since: strings.Repeat("c0ffee", 7)[:39] + "b", gen: newest, want: "cad"},
		{name: "a day of a release", since: "2026-01-20", gen: newest, want: "bcad"},
		{name: "a day between releases", since: "2026-01-21", gen: newest, want: "cad"},
		{name: "a day after all", since: "2026-02-20", gen: newest},
		{name: "the first day", since: "2026-01-10", gen: newest, want: "bcad"},
		{name: "a day before all", since: "2026-01-09", gen: newest, gone: true},
		{name: "an edit", gen: edited, want: "abcad", gap: true},
		{name: "an edit, since a release", since: "3", gen: edited, gap: true},
		{name: "an edit, since itself", since: "4", gen: edited},
		{name: "an edit, since its digest", since: hex("e", 12), gen: edited},
		{name: "no release", past: &Past{}, gen: edited},
		{name: "no release, since another", since: "3", past: &Past{}, gen: edited, gone: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.past == nil {
				tt.past = past
			}
			trail, ok := tt.past.Trail(tt.gen, tt.since)
			got := ""
			for _, s := range trail.Steps {
				got += s.Digest[:1]
			}
			if got != tt.want || ok == tt.gone || trail.Gap != tt.gap {
				t.Errorf("trail since %q: %q, gap %t, known %t; want %q, gap %t, known %t", tt.since, got, trail.Gap, ok, tt.want, tt.gap, !tt.gone)
			}
		})
	}
}

// TestChangePages walks changes in pages of every size: each once, in order.
func TestChangePages(t *testing.T) {
	trail, _ := pastOf("1/a 2/b 3/c 4/d 5/e", map[string]int{"c": 0, "d": 5, "e": 1}).Trail(served("5", "e"), "1")
	var want []string
	for _, s := range trail.Steps {
		for _, e := range s.Entries {
			want = append(want, e.Slug)
		}
	}
	if len(want) != 9 {
		t.Fatalf("changes %q, want 9", want)
	}
	for limit := 1; limit <= len(want)+1; limit++ {
		q := &Query{Limit: limit}
		var got []string
		for page := 0; page <= len(want); page++ {
			found, total, last := trail.Page(q)
			for _, line := range trail.Rows(found, false) {
				var row Row
				if err := json.Unmarshal(line, &row); err != nil {
					t.Fatal(err)
				}
				got = append(got, row.Slug)
			}
			if total != len(want) || len(found) > limit {
				t.Errorf("%d changes of %d on a page of %d, want a total of %d", len(found), total, limit, len(want))
			}
			if q.After = last; last == nil {
				break
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	var many dataset.Findings
	for i := range 1000 {
		many = append(many, dataset.Finding{Path: "tools/a.json", Line: i + 1, Col: 1, Text: strings.Repeat("x", 2000)})
	}
	tests := []struct {
		name           string
		err            error
		count, listed  int
		text           string
		longestOfLists int
	}{
		{"one finding", fmt.Errorf("checking: %w", dataset.Findings{{Path: "a.json", Text: "is wrong"}}), 1, 1, "1 finding: a.json: is wrong", 100},
		{"a thousand", many, 1000, ShownFindings, "1000 findings, the first: tools/a.json:1:1: xxx", 1004},
		{"not read", errors.New("reading dataset: permission denied"), 0, 0, "reading dataset: permission denied", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var l History
			l.Refuse(tt.err, nil)
			r := l.Refused(nil)
			if r == nil || r.FindingCount != tt.count || len(r.Findings) != tt.listed || !strings.HasPrefix(r.Text, tt.text) || len(r.Text) > 1100 {
				t.Fatalf("refused %+v, want %d findings, %d of them listed, text %q", r, tt.count, tt.listed, tt.text)
			}
			for _, f := range r.Findings {
				if len(f) > tt.longestOfLists {
					t.Errorf("a finding of %d bytes is shown", len(f))
				}
			}
			if l.Accept(); l.Refused(nil) != nil || l.Refusals() != 1 {
				t.Errorf("after Accept %+v is shown, %d refusals are counted", l.Refused(nil), l.Refusals())
			}
		})
	}
	var none *History
	if none.Refused(nil) != nil || none.Refusals() != 0 || none.Past().Steps != nil {
		t.Error("a server without a History tells of some")
	}
}

// TestAddedRecords: an added record is shown as it was then, whatever happened to it since.
func TestAddedRecords(t *testing.T) {
	past := pastOf("1/a 2/b 3/c", map[string]int{"a": 0, "b": 0, "c": 0})
	entry := func(slug string, act record.Act, rec string, fields ...record.FieldChange) history.Entry {
		return history.Entry{Slug: slug, Change: &record.Change{Table: "tools", Act: act, Record: jsontext.Value(rec), Fields: fields}}
	}
	name := record.FieldChange{Field: "name", Old: jsontext.Value(`"old"`), New: jsontext.Value(`"new"`)}
	past.Steps[1].Entries = []history.Entry{entry("gone", record.Added, ""), entry("kept", record.Added, ""), entry("lost", record.Added, "")}
	past.Steps[2].Entries = []history.Entry{entry("gone", record.Removed, `{"slug":"gone"}`), entry("kept", record.Changed, "", name)}
	var h History
	h.Take(&dataset.Set{Tools: []dataset.Tool{{Slug: "kept", Name: "new"}}, Releases: &history.Log{Steps: past.Steps}})
	trail, _ := h.Past().Trail(served("3", "c"), "1")
	found, _, _ := trail.Page(&Query{Limit: 3})
	var got []any
	for _, records := range []bool{true, false} {
		for _, line := range trail.Rows(found, records) {
			var row struct{ Record *struct{ Slug, Name string } }
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			if got = append(got, nil); row.Record != nil {
				got[len(got)-1] = row.Record.Slug + " " + row.Record.Name
			}
		}
	}
	if diff := cmp.Diff([]any{"gone ", "kept old", nil, nil, nil, nil}, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

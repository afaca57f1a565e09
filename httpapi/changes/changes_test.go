package changes

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/diff"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/index"

	"github.com/google/go-cmp/cmp"
)

// editions makes a History of loads and of the releases that were recorded among them, as
// "version/letter" each: the digest is the letter, sixty-four times. rows is the number of changes
// by letter, three where none is given.
func editions(loads, releases string, rows map[string]int) *History {
	of := func(text string) (version, digest string) {
		version, letter, _ := strings.Cut(text, "/")
		return version, strings.Repeat(letter, 64)
	}
	entries := func(digest string) (out []diff.RecordChange) {
		n, given := rows[digest[:1]]
		if !given {
			n = 3
		}
		for i := range n {
			out = append(out, diff.RecordChange{Table: "tools", Slug: fmt.Sprintf("%.1s-%06d", digest, i), Change: record.Added})
		}
		return out
	}
	log := &history.Log{}
	for i, text := range strings.Fields(releases) {
		version, digest := of(text)
		commit := strings.Repeat("c0ffee", 7)[:39] + digest[:1]
		s := history.Step{Release: record.Release{Version: version, Digest: digest, Released: dataset.Date(fmt.Sprintf("2026-01-%02d", 10*(i+1))), Commit: &commit}}
		if i > 0 {
			s.After = &log.Steps[i-1].Digest
			s.Entries = (&diff.Changes{Records: entries(digest)}).Step(&dataset.Set{}).Entries
		}
		log.Steps = append(log.Steps, s)
	}
	var l History
	for i, text := range strings.Fields(loads) {
		version, digest := of(text)
		c := &diff.Changes{New: diff.Edition{Version: version, Digest: digest}}
		if i > 0 {
			c.Records = entries(digest)
		}
		set := &dataset.Set{Info: dataset.Info{Version: version}, Releases: log}
		l.Record(uint64(i+1), set, c)
	}
	return &l
}

// served is generation number n with the digest of a letter.
func served(n uint64, letter string) *index.Generation {
	g := &index.Generation{Number: n}
	if _, err := hex.Decode(g.Digest[:], []byte(strings.Repeat(letter, 64))); err != nil {
		panic(err)
	}
	return g
}

func TestTrail(t *testing.T) {
	// Of the loads alone: the second and third have one version; the fourth went back to the content
	// of the first.
	loads := editions("1/a 2/b 2/c 1/a 3/d", "", nil)
	// Releases 1, 2 and 3; this process has loaded 2, an edit of it, 3, and two edits of that.
	both := editions("2/b 2/e 3/c 3/d 3/f", "1/a 2/b 3/c", nil)
	// The edit that was loaded first is recorded nowhere.
	apart := editions("2/e 2/f", "1/a 2/b", nil)
	hex := func(letter string, n int) string { return strings.Repeat(letter, n) }
	tests := []struct {
		name, since string
		h           *History
		gen         *index.Generation
		want        string // digests of the steps
		gap, gone   bool
	}{
		{name: "nothing", h: loads, gen: served(5, "d"), want: "bcad"},
		{name: "nothing, before the last", h: loads, gen: served(4, "a"), want: "bca"},
		{name: "the first generation", since: "1", h: loads, gen: served(1, "a")},
		{name: "a version", since: "3", h: loads, gen: served(5, "d")},
		{name: "a version of two loads: the first of them", since: "2", h: loads, gen: served(5, "d"), want: "cad"},
		{name: "a version that came back: the first time", since: "1", h: loads, gen: served(5, "d"), want: "bcad"},
		{name: "a digest", since: hex("c", 64), h: loads, gen: served(5, "d"), want: "ad"},
		{name: "the head of a digest", since: hex("b", 12), h: loads, gen: served(5, "d"), want: "cad"},
		{name: "a digest that came back: the last time", since: hex("a", 20), h: loads, gen: served(5, "d"), want: "d"},
		{name: "a digest that came back, before it did", since: hex("a", 20), h: loads, gen: served(3, "c"), want: "bc"},
		{name: "too short a head", since: hex("b", 11), h: loads, gen: served(5, "d"), gone: true},
		{name: "unknown", since: "0.9", h: loads, gen: served(5, "d"), gone: true},
		{name: "not served yet", since: "3", h: loads, gen: served(4, "a"), gone: true},
		{name: "no history at all", since: "3", h: nil, gen: served(4, "a"), gone: true},

		{name: "releases, then edits", h: both, gen: served(5, "f"), want: "abcdf"},
		{name: "since a release before this process", since: "1", h: both, gen: served(5, "f"), want: "bcdf"},
		{name: "since the release loaded first", since: "2", h: both, gen: served(5, "f"), want: "cdf"},
		{name: "since an edit of it", since: hex("e", 12), h: both, gen: served(5, "f"), want: "cdf"},
		{name: "since the newest release", since: "3", h: both, gen: served(5, "f"), want: "df"},
		{name: "as the newest release is served", since: "1", h: both, gen: served(3, "c"), want: "bc"},
		{name: "as an edit is served", since: "1", h: both, gen: served(2, "e"), want: "be"},
		{name: "a commit", since: "c0ffeec", h: both, gen: served(5, "f"), want: "df"},
		{name: "a commit, whole", since: strings.Repeat("c0ffee", 7)[:39] + "a", h: both, gen: served(5, "f"), want: "bcdf"},
		{name: "a day of a release", since: "2026-01-20", h: both, gen: served(5, "f"), want: "bcdf"},
		{name: "a day between releases", since: "2026-01-21", h: both, gen: served(5, "f"), want: "cdf"},
		{name: "a day after all", since: "2026-02-01", h: both, gen: served(5, "f"), want: "df"},
		{name: "the first day", since: "2026-01-10", h: both, gen: served(5, "f"), want: "bcdf"},
		{name: "a day before all", since: "2026-01-09", h: both, gen: served(5, "f"), gone: true},

		{name: "a gap", since: "1", h: apart, gen: served(2, "f"), want: "bf", gap: true},
		{name: "behind the gap", since: hex("e", 64), h: apart, gen: served(2, "f"), want: "f"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trail, ok := tt.h.Now().Trail(tt.gen, tt.since)
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

// TestHistoryIsBounded: changes of old loads are given up, and what leads over them is gone.
func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	texts, sizes := []string{"0/0"}, map[string]int{}
	for gen := 2; gen <= 12; gen++ {
		letter := fmt.Sprintf("%x", gen)
		texts, sizes[letter] = append(texts, fmt.Sprintf("%d/%s", gen, letter)), maxStepRows+7
	}
	l := editions(strings.Join(texts, " "), "", sizes)
	last := served(12, "c")
	trail, ok := l.Now().Trail(last, "")
	if total := rowsOf(trail.Steps); !ok || total > maxRows || len(trail.Steps) != maxRows/maxStepRows {
		t.Errorf("%d changes of %d loads are held, want at most %d", total, len(trail.Steps), maxRows)
	}
	if _, ok := l.Now().Trail(last, "2"); ok {
		t.Error("changes since a load whose followers were given up are answered")
	}
	if trail, ok = l.Now().Trail(last, "10"); !ok || len(trail.Steps) != 2 {
		t.Errorf("changes since version 10: %d loads, held %t, want 2", len(trail.Steps), ok)
	}
	for _, s := range trail.Steps {
		if s.LeftOut != 7 {
			t.Errorf("of the load %s %d changes are said to be left out, want 7", s.Version, s.LeftOut)
		}
	}
	for gen := uint64(13); gen < 13+2*maxSteps; gen++ {
		l.Record(gen, &dataset.Set{}, &diff.Changes{})
	}
	if n := len(l.Now().loads); n != maxSteps {
		t.Errorf("%d loads are remembered, want %d", n, maxSteps)
	}
}

func rowsOf(steps []*Step) (n int) {
	for _, s := range steps {
		n += len(s.Entries)
	}
	return n
}

// TestChangePages walks changes in pages of every size: each once, in order, also when a load
// comes in between.
func TestChangePages(t *testing.T) {
	l := editions("2/b 3/c 4/d 5/e", "1/a 2/b", map[string]int{"b": 3, "c": 0, "d": 5, "e": 1})
	var want []string
	all, _ := l.Now().Trail(served(4, "e"), "1")
	for _, s := range all.Steps {
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
			gen := served(uint64(min(4, 3+page)), string("de"[min(1, page)])) // the last is loaded after the first page
			trail, ok := l.Now().Trail(gen, "1")
			if !ok {
				t.Fatal("version 1 is gone")
			}
			found, total, last := trail.Page(q)
			for _, line := range trail.Rows(found, false) {
				var row Row
				if err := json.Unmarshal(line, &row); err != nil {
					t.Fatal(err)
				}
				got = append(got, row.Slug)
			}
			if total != rowsOf(trail.Steps) || len(found) > limit {
				t.Errorf("%d changes of %d on a page of %d, want a total of %d", len(found), total, limit, rowsOf(trail.Steps))
			}
			if last == nil && gen.Number == 4 {
				break
			}
			if last == nil { // everything so far was on the first page
				end := found[len(found)-1]
				last = &index.Position{Known: true, Text: trail.Steps[end.Step].Digest, Slug: string(end.Table) + "/" + end.Slug}
			}
			q.After = last
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
	if none.Refused(nil) != nil || none.Refusals() != 0 || none.Now().loads != nil {
		t.Error("a server without a History tells of some")
	}
}

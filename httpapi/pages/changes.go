package pages

import (
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset/record"
	"modeldex/dataset/text"
	"modeldex/httpapi/changes"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

// ChangesQuery is what happened to records, newest release first, as the page of changes shows it.
type ChangesQuery struct {
	Steps  []*changes.Step // newest first
	Rows   []changes.Change
	Total  int
	Next   string // query of the page behind, empty for none
	Later  bool   // this is not the first page
	Params url.Values
	Notes  []string
	Tables []string // kinds of records there are
}

// Changes is the page of releases and of what happened to records.
type Changes struct {
	Sheet
	Form struct {
		Table, Release Choices
		Slug, Field    string
		Fields         Choices // to choose from
	}
	Narrowed    bool
	Next, First string
}

// Changes is the page of releases and of what happened to records.
func (s *Site) Changes(gen *index.Generation, q *ChangesQuery, at Place) *Changes {
	v := &Changes{Narrowed: len(q.Params) > 0, Sheet: Sheet{
		Frame: Frame{
			site: s, Place: at, Title: "Changes", Section: "/changes", Canonical: "/changes", Dataset: stampOf(gen), Unlisted: at.Query != "",
			Description: "What each release of the dataset added, changed, withdrew and removed, field by field.", Scripts: []string{"app.js"},
			Forms: forms(at.withoutCursor(), "json", "csv", "md"),
		},
		Heading: "Changes",
		Lead:    "What each release added, changed, withdrew and removed, newest first. Published lines are withdrawn by a note, not deleted.",
		Notes:   q.Notes,
	}}
	for _, t := range q.Tables {
		v.Form.Table = append(v.Form.Table, Choice{t, Sentence(t), t == q.Params.Get("table")})
	}
	for _, s := range q.Steps {
		digest := s.Digest[:changes.ShortDigest]
		v.Form.Release = append(v.Form.Release, Choice{digest, s.Version + ", " + digest, digest == q.Params.Get("release")})
	}
	v.Form.Slug, v.Form.Field, v.Form.Fields = q.Params.Get("slug"), q.Params.Get("field"), offeredFields()
	if !v.Narrowed && !q.Later {
		v.Tables = append(v.Tables, releaseTable(q.Steps))
	}
	v.Tables = append(v.Tables, changeTable(gen, q))
	if q.Next != "" {
		v.Next = at.Path + "?" + q.Next
	}
	if q.Later {
		first := at.withoutCursor()
		v.First = first.Address()
	}
	return v
}

// HTML is the page.
func (v *Changes) HTML() []byte { return v.site.render("changes.html", v) }

// releaseCell is the name of a release, which leads to its changes.
func releaseCell(s *changes.Step) Cell {
	out := Cell{Text: s.Version, Href: address("/changes", "release", s.Digest[:changes.ShortDigest])}
	if !s.Recorded {
		out.Note = "not released yet"
	}
	return out
}

func releaseTable(steps []*changes.Step) Table {
	t := Table{
		ID: "releases", Title: text.Count(len(steps), "release", "releases"), Empty: "No release is recorded.",
		Columns: columns("Release", "~Day", "What it did", "~Digest"),
		More:    &Link{Text: "Follow as a feed", Href: "/feeds/changes.atom"},
	}
	for _, s := range steps {
		what := Cell{Text: tally(s), Class: "prose"}
		if what.Text == "" {
			what.Text = "The recorded history begins here"
		}
		t.Rows = append(t.Rows, []Cell{releaseCell(s), {Text: string(s.Released)}, what, {Text: s.Digest[:changes.ShortDigest], Title: s.Digest}})
	}
	return t
}

// tally says how many records of each kind a step added, changed and so on.
func tally(s *changes.Step) string {
	type what struct {
		table record.ChangeTable
		act   record.Act
	}
	counts := map[what]int{}
	for _, e := range s.Entries {
		counts[what{e.Table, e.Act}]++
	}
	var parts []string
	for _, table := range record.ChangeTables {
		for _, act := range record.Acts {
			n := counts[what{table, act}]
			switch {
			case n > 0 && table == "dataset": // one record, changed at every release
				parts = append(parts, "version "+string(act))
			case n > 0:
				parts = append(parts, text.Whole(n)+" "+nounOf(string(table), n)+" "+string(act))
			}
		}
	}
	return strings.Join(parts, ", ")
}

// nounOf is what one record, or several, of a kind are called.
func nounOf(table string, n int) string {
	switch {
	case table == "hardware":
		return record.Noun(n, "piece", "pieces") + " of hardware"
	case n == 1:
		return strings.TrimSuffix(table, "s")
	}
	return table
}

func changeTable(gen *index.Generation, q *ChangesQuery) Table {
	t := Table{
		ID: "changes", Title: text.Count(q.Total, "change of a record", "changes of records"), Empty: "Nothing like that is recorded.",
		Columns: columns("Record", "~Kind", "Change", "Fields", "~Release"),
	}
	n := newNames(gen)
	for _, c := range q.Rows {
		release := releaseCell(q.Steps[c.Step])
		release.Title = string(q.Steps[c.Step].Released)
		t.Rows = append(t.Rows, []Cell{
			changedRecord(n, string(c.Table), c.Slug),
			{Text: strings.TrimSuffix(string(c.Table), "s")},
			{Text: string(c.Act), Class: "act-" + string(c.Act)},
			changedFields(c.Fields, q.Params.Get("field")), release,
		})
	}
	return t
}

// changedRecord is the name of a record with the way to its page, where there is one still.
func changedRecord(n *names, kind, slug string) Cell {
	out, t := Cell{Text: slug}, tableOf(n.gen, kind)
	if t == nil {
		return out
	}
	ord, found := t.Find(slug)
	if !found {
		out.Note = "no longer there"
		return out
	}
	if out.Href = "/" + kind + "/" + url.PathEscape(slug); kind != "benchmarks" {
		out.Text = nameOf(t, slug)
		return out
	}
	b := decode[benchmarkRecord](t.Row(ord))
	out.Text, out.Note = n.of("models", b.Model)+" on "+n.of("hardware", b.Hardware), slug
	return out
}

// shownFields is how many fields of a change are written out, shownValue how much of a value, in
// characters.
const (
	shownFields = 4
	shownValue  = 60
)

// changedFields writes out the fields of a change; those the page is narrowed to come first.
func changedFields(fields []record.FieldChange, wanted string) Cell {
	var parts []string
	if wanted != "" {
		first := func(f record.FieldChange) int {
			if f.Field == wanted || strings.HasPrefix(f.Field, wanted+".") {
				return 0
			}
			return 1
		}
		fields = slices.Clone(fields)
		slices.SortStableFunc(fields, func(a, b record.FieldChange) int { return first(a) - first(b) })
	}
	for _, f := range fields[:min(len(fields), shownFields)] {
		parts = append(parts, fieldName(f.Field)+": "+valueText(string(f.Old))+" → "+valueText(string(f.New)))
	}
	if more := len(fields) - shownFields; more > 0 {
		parts = append(parts, "and "+text.Whole(more)+" more")
	}
	return Cell{Text: strings.Join(parts, "; "), Class: "prose"}
}

// valueText is a JSON value for readers, cut where it is long. Text that is not JSON is returned as it is.
func valueText(value string) string {
	var v any
	out := value
	if jsonv2.Unmarshal([]byte(value), &v) == nil {
		out = plain(v)
	}
	if runes := []rune(out); len(runes) > shownValue {
		return string(runes[:shownValue]) + "…"
	}
	return out
}

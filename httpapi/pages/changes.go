package pages

import (
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset/text"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

// ChangesQuery is what happened to records, newest release first, as the page of changes shows it.
type ChangesQuery struct {
	Releases []Release // newest first; nil where the page is narrowed
	Changes  []Change
	Total    int
	Next     string // query of the page behind, empty for none
	Later    bool   // this is not the first page
	Params   url.Values
	Notes    []string
	Tables   []string // kinds of records there are
	Versions []Choice // releases to choose from
}

// A Release is one recorded edition, or a load that no release has recorded yet.
type Release struct {
	Version, Digest, Released, Commit string
	Recorded                          bool
	// Counts say how many records of a kind were added, changed and so on.
	Counts []Tally
}

// A Tally is how often something happened to records of a kind.
type Tally struct {
	Table, Act string
	N          int
}

// A Change is what one release did to one record.
type Change struct {
	Version, Digest, Released string
	Recorded                  bool
	Table, Slug, Act          string
	Fields                    []ChangedField
}

// A ChangedField is a field with another value; values are JSON.
type ChangedField struct{ Name, Old, New string }

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
	v := &Changes{Sheet: Sheet{
		Frame: Frame{
			Place: at, Title: "Changes", Section: "/changes", Canonical: "/changes", Dataset: stampOf(gen), Unlisted: at.Query != "",
			Description: "What each release of the dataset added, changed, withdrew and removed, field by field.", Scripts: []string{"app.js"},
			Forms: forms(at.withoutCursor(), "json", "csv", "md"),
		},
		Heading: "Changes",
		Lead:    "What each release added, changed, withdrew and removed, newest first. Published lines are withdrawn by a note, not deleted.",
		Notes:   q.Notes,
	}}
	given := func(name string) string { return q.Params.Get(name) }
	for _, t := range q.Tables {
		v.Form.Table = append(v.Form.Table, Choice{t, Sentence(t), t == given("table")})
	}
	v.Form.Release = slices.Clone(q.Versions)
	for i := range v.Form.Release {
		v.Form.Release[i].Selected = v.Form.Release[i].Value == given("release")
	}
	v.Form.Slug, v.Form.Field, v.Form.Fields = given("slug"), given("field"), offeredFields()
	v.Narrowed = len(q.Params) > 0
	if q.Releases != nil {
		v.Tables = append(v.Tables, releaseTable(q.Releases))
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

// ChangesHTML is the page.
func (s *Site) ChangesHTML(v *Changes) []byte { return s.render("changes.html", v) }

func releaseTable(list []Release) Table {
	t := Table{
		ID: "releases", Title: text.Count(len(list), "release", "releases"), Empty: "No release is recorded.",
		Columns: columns("Release", "~Day", "What it did", "~Digest"),
		More:    &Link{Text: "Follow as a feed", Href: "/feeds/changes.atom"},
	}
	for _, r := range list {
		var parts []string
		for _, c := range r.Counts {
			text := text.Whole(c.N) + " " + nounOf(c.Table, c.N)
			if c.Table == "dataset" { // one record, changed at every release
				text = "version"
			}
			parts = append(parts, text+" "+c.Act)
		}
		what := Cell{Text: strings.Join(parts, ", "), Class: "prose"}
		if len(parts) == 0 {
			what.Text = "The recorded history begins here"
		}
		name := Cell{Text: r.Version, Href: "/changes?release=" + r.Digest[:min(shownDigest, len(r.Digest))]}
		if !r.Recorded {
			name.Note = "not released yet"
		}
		t.Rows = append(t.Rows, []Cell{name, {Text: r.Released}, what, {Text: r.Digest[:min(shownDigest, len(r.Digest))], Title: r.Digest}})
	}
	return t
}

// shownDigest is how much of a digest names an edition.
const shownDigest = 12

// nounOf is the name of records of a kind.
func nounOf(table string, n int) string {
	switch {
	case table == "hardware" && n == 1:
		return "piece of hardware"
	case table == "hardware":
		return "pieces of hardware"
	case n == 1:
		return strings.TrimSuffix(table, "s")
	default:
		return table
	}
}

func changeTable(gen *index.Generation, q *ChangesQuery) Table {
	t := Table{
		ID: "changes", Title: text.Count(q.Total, "change of a record", "changes of records"), Empty: "Nothing like that is recorded.",
		Columns: columns("Record", "~Kind", "Change", "Fields", "~Release"),
	}
	n := newNames(gen)
	for i := range q.Changes {
		c := &q.Changes[i]
		release := Cell{Text: c.Version, Href: "/changes?release=" + c.Digest[:min(shownDigest, len(c.Digest))], Title: c.Released}
		if !c.Recorded {
			release.Note = "not released yet"
		}
		t.Rows = append(t.Rows, []Cell{changedRecord(gen, n, c), {Text: strings.TrimSuffix(c.Table, "s")}, {Text: c.Act, Class: "act-" + c.Act}, changedFields(c.Fields, q.Params.Get("field")), release})
	}
	return t
}

// changedRecord is the name of a record with the way to its page, where there is one still, and to its
// own history.
func changedRecord(gen *index.Generation, n *names, c *Change) Cell {
	out := Cell{Text: c.Slug}
	t := tableOf(gen, c.Table)
	if t == nil {
		return out
	}
	ord, found := t.Find(c.Slug)
	if !found {
		out.Note = "no longer there"
		return out
	}
	out.Href = "/" + c.Table + "/" + url.PathEscape(c.Slug)
	if c.Table != "benchmarks" {
		out.Text = nameOf(t, c.Slug)
		return out
	}
	b := decode[benchmarkRecord](gen.Benchmarks.Row(ord))
	out.Text, out.Note = n.of("models", b.Model)+" on "+n.of("hardware", b.Hardware), c.Slug
	return out
}

// shownFields is how many fields of a change are written out, shownValue how much of a value, in
// characters.
const (
	shownFields = 4
	shownValue  = 60
)

// changedFields writes out the fields of a change; those the page is narrowed to come first.
func changedFields(fields []ChangedField, wanted string) Cell {
	var parts []string
	if wanted != "" {
		first := func(f ChangedField) int {
			if rest, ok := strings.CutPrefix(f.Name, wanted); ok && (rest == "" || rest[0] == '.') {
				return 0
			}
			return 1
		}
		fields = slices.Clone(fields)
		slices.SortStableFunc(fields, func(a, b ChangedField) int { return first(a) - first(b) })
	}
	for i, f := range fields {
		if i == shownFields {
			parts = append(parts, "and "+text.Whole(len(fields)-shownFields)+" more")
			break
		}
		parts = append(parts, FieldName(f.Name)+": "+valueText(f.Old)+" → "+valueText(f.New))
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

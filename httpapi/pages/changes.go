package pages

import (
	"net/url"
	"strings"

	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/dataset/text"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/rows"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

// ChangesQuery is what happened to records, newest release first, as the page of changes shows it.
type ChangesQuery struct {
	Steps  []history.Step // newest first
	Rows   []changes.Change
	Total  int
	Params url.Values
	Notes  []string
}

// Changes is the page of releases and of what happened to records.
func (s *Site) Changes(gen *index.Generation, q *ChangesQuery, at Place) *Sheet {
	v := &Sheet{
		Frame:   s.frame(gen, at, "/changes", "Changes", "What each release of the dataset added, changed, withdrew or removed, field by field.", "md"),
		Heading: "Changes",
		Lead:    "What each release of the dataset added, changed, withdrew or removed, newest first. Published benchmarks are never deleted, only marked as withdrawn.",
		Notes:   q.Notes,
	}
	if len(q.Params) == 0 {
		v.Tables = append(v.Tables, releaseTable(q.Steps))
	} else {
		v.offer("All changes", "/changes")
	}
	v.offer("Atom feed", "/feeds/changes.atom")
	v.Tables = append(v.Tables, changeTable(gen, q))
	return v
}

func releaseCell(s *history.Step) Cell {
	return Cell{Text: s.Version, Href: address("/changes", "release", s.Digest[:changes.ShortDigest]), Title: string(s.Released)}
}

func releaseTable(steps []history.Step) Table {
	t := Table{ID: "releases", Title: text.Count(len(steps), "release", "releases"), Empty: "No releases yet.", Columns: columns("Release", "~Date", "Changes", "~Digest")}
	for i := range steps {
		s := &steps[i]
		t.Rows = append(t.Rows, []Cell{releaseCell(s), {Text: string(s.Released)}, {Text: tally(s), Class: "prose"}, {Text: s.Digest[:changes.ShortDigest], Title: s.Digest}})
	}
	return t
}

func tally(s *history.Step) string {
	counts := map[[2]string]int{}
	for _, e := range s.Entries {
		counts[[2]string{string(e.Table), string(e.Act)}]++
	}
	var parts []string
	for _, table := range record.ChangeTables {
		for _, act := range record.Acts {
			if n := counts[[2]string{string(table), string(act)}]; n > 0 && table != "dataset" { // which is changed at every release
				parts = append(parts, text.Whole(n)+" "+nounOf(string(table), n)+" "+string(act))
			}
		}
	}
	if parts == nil {
		return "First recorded release"
	}
	return strings.Join(parts, ", ")
}

func nounOf(table string, n int) string {
	switch table {
	case "hardware":
		table = "devices"
	case "quality":
		table = "quality measurements"
	}
	if n == 1 {
		return strings.TrimSuffix(table, "s")
	}
	return table
}

func changeTable(gen *index.Generation, q *ChangesQuery) Table {
	t := Table{
		ID: "changes", Title: text.Count(q.Total, "record change", "record changes"), Empty: "No changes match.",
		Columns: columns("Record", "~Type", "Change", "Fields", "~Release"),
	}
	if q.Total > len(q.Rows) {
		t.Source, t.More = "Showing the newest "+text.Whole(len(q.Rows))+".", &Link{Text: "Get all of them from the API", Href: "/docs/dataset#listChanges"}
	}
	n := newNames(gen)
	for _, c := range q.Rows {
		t.Rows = append(t.Rows, []Cell{
			changedRecord(n, string(c.Table), c.Slug),
			{Text: strings.TrimSuffix(string(c.Table), "s")},
			{Text: string(c.Act), Class: "act-" + string(c.Act)},
			changedFields(c.Fields), releaseCell(c.Step),
		})
	}
	return t
}

func changedRecord(n *names, kind, slug string) Cell {
	out, t := Cell{Text: slug}, tableOf(n.gen, kind)
	if t == nil {
		return out
	}
	ord, found := t.Find(slug)
	if !found {
		out.Note = "removed"
		return out
	}
	out.Text, out.Href = nameOf(t, slug), "/"+kind+"/"+url.PathEscape(slug)
	if kind == "benchmarks" {
		b := decode[rows.Benchmark](t.Row(ord))
		out.Text, out.Note = n.of("models", b.Model)+" on "+n.of("hardware", b.Hardware), slug
	}
	return out
}

// shownFields is how many fields of a change are written out, shownValue how many bytes of a value.
const (
	shownFields = 4
	shownValue  = 60
)

func changedFields(fields []record.FieldChange) Cell {
	var parts []string
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
	if jsonv2.Unmarshal([]byte(value), &v) == nil {
		value = plain(v)
	}
	return record.Clip(value, shownValue)
}

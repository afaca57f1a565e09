package changes

import (
	"cmp"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// Row is what one release, or one load of the dataset that is not released yet, did to one
// record.
type Row struct {
	// Version of the dataset with the change.
	DatasetVersion string `json:"dataset_version" jsonschema:"example=2026.11.21"`
	// SHA-256 over the record files of that dataset, in hex.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Day that dataset was released.
	Released dataset.Date `json:"released" jsonschema:"example=2026-11-21"`
	// Whether the change is part of a recorded release. Others were seen by this process only.
	Recorded bool `json:"recorded" jsonschema:"example=true"`
	// Kind of record: dataset is dataset.json itself, quantizations the known ways of storing weights.
	Table string `json:"table" jsonschema:"enum=dataset,enum=quantizations,enum=models,enum=hardware,enum=tools,enum=benchmarks,example=benchmarks"`
	// Slug of the record, id of a benchmark, name of a way of storing weights.
	Slug string `json:"slug" jsonschema:"example=bm-d20987d408c6"`
	// What happened to it. A withdrawn benchmark is still there and says why.
	Change record.Act `json:"change" jsonschema:"example=changed"`
	// Fields that have other values; empty where the record was added or removed.
	Fields []FieldChange `json:"fields"`
	// The record as its file has it: of a removed record before the change, with records=true of an added one after it; null otherwise.
	Record any `json:"record"`
}

// FieldChange is one field of a record that has another value.
type FieldChange struct {
	// Dotted name of the field. The place of an entry in a list is part of it, from 0, as in sources.0.fields.
	Field string `json:"field" jsonschema:"example=generation_tps"`
	// Where entries of a list of objects were added or removed: place of the first of them in the list, from 0; old and new then are the stretch of the list that differs. Null otherwise.
	At *int64 `json:"at" jsonschema:"nullable,minimum=0,example=2"`
	// Value before, null where it was unknown.
	Old any `json:"old"`
	// Value after, null where it is unknown.
	New any `json:"new"`
}

// Mentions says whether something is known to have happened to a record.
func (p *Past) Mentions(table, slug string) bool {
	has := func(s *Step) bool { _, ok := s.entry(table, slug); return ok }
	return slices.ContainsFunc(p.recorded, has) || slices.ContainsFunc(p.loads, has)
}

// A Change is one change of a trail.
type Change struct {
	Step int // place in the steps of the trail
	history.Entry
}

// A Query says which changes a page has.
type Query struct {
	// Tables, slugs and fields of the changes; nil means all of them.
	Tables, Slugs, Fields []string
	Limit                 int
	After                 *index.Position // the last change of the page before; nil for the first page
}

// Page selects the changes of a page and counts those of all pages. last is the place of the last of the page, nil
// where no other follows.
func (t *Trail) Page(q *Query) (rows []Change, total int, last *index.Position) {
	wanted := selection(q)
	started := q.After == nil
	more := false
	for i, s := range t.Steps {
		for _, e := range s.Entries {
			if !wanted(e) {
				continue
			}
			total++
			switch {
			case !started && (s.Digest != q.After.Text || compareKeys(e, q.After.Slug) <= 0):
			case len(rows) < q.Limit:
				rows = append(rows, Change{i, e})
			default:
				more = true
			}
		}
		started = started || s.Digest == q.After.Text
	}
	if more {
		end := rows[len(rows)-1]
		last = &index.Position{Known: true, Text: t.Steps[end.Step].Digest, Slug: string(end.Table) + "/" + end.Slug}
	}
	return rows, total, last
}

// compareKeys compares the place of a change within its step with that of a cursor.
func compareKeys(e history.Entry, key string) int {
	table, slug, _ := strings.Cut(key, "/")
	order := func(table string) int { return slices.Index(record.ChangeTables, record.ChangeTable(table)) }
	return cmp.Or(cmp.Compare(order(string(e.Table)), order(table)), strings.Compare(e.Slug, slug))
}

// selection is the filter of a query.
func selection(q *Query) func(e history.Entry) bool {
	tables, slugs, fields := lookUp(q.Tables), lookUp(q.Slugs), lookUp(q.Fields)
	changed := func(f record.FieldChange) bool { _, ok := fields.of(f); return ok }
	return func(e history.Entry) bool {
		return (tables == nil || tables[string(e.Table)]) && (slugs == nil || slugs[e.Slug]) &&
			(fields == nil || slices.ContainsFunc(e.Fields, changed))
	}
}

// Unchanged are those of some fields of tables that no change of a trail is of, nor of a field in them.
func (t *Trail) Unchanged(tables, fields []string) []string {
	in, left := lookUp(tables), lookUp(fields)
	for _, s := range t.Steps {
		for _, e := range s.Entries {
			if !in[string(e.Table)] {
				continue
			}
			for _, f := range e.Fields {
				if name, ok := left.of(f); ok {
					delete(left, name)
				}
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(fields), func(f string) bool { return !left[f] })
}

// texts are texts to look up.
type texts map[string]bool

// of is the one of some fields that is changed, or that a changed field is in.
func (t texts) of(f record.FieldChange) (name string, ok bool) {
	for i, c := range []byte(f.Field) {
		if c == '.' && t[f.Field[:i]] {
			return f.Field[:i], true
		}
	}
	return f.Field, t[f.Field]
}

// lookUp is texts to look up; nil where there are none.
func lookUp(list []string) texts {
	if list == nil {
		return nil
	}
	set := make(texts, len(list))
	for _, text := range list {
		set[text] = true
	}
	return set
}

// Rows are changes as the list has them, each in JSON. With records they have the records that were added, too.
func (t *Trail) Rows(changes []Change, records bool) [][]byte {
	rows := make([][]byte, len(changes))
	for i, f := range changes {
		row, err := jsonv2.Marshal(t.row(f, records))
		if err != nil {
			panic(err) // made of texts and of values that were read from JSON
		}
		rows[i] = row
	}
	return rows
}

func (t *Trail) row(f Change, records bool) *Row {
	s := t.Steps[f.Step]
	row := &Row{
		DatasetVersion: s.Version, Digest: s.Digest, Released: s.Released, Recorded: s.Recorded,
		Table: string(f.Table), Slug: f.Slug, Change: f.Act, Fields: make([]FieldChange, len(f.Fields)),
	}
	for i, c := range f.Fields {
		row.Fields[i] = FieldChange{c.Field, c.At, c.Old, c.New}
	}
	switch {
	case f.Act == record.Removed:
		row.Record = f.Record
	case f.Act == record.Added && records:
		if line := t.after(f); line != nil {
			row.Record = line
		}
	}
	return row
}

// after is a record as it was after a step: as it is served, with what happened since taken back.
// It is nil where that is not known any more.
func (t *Trail) after(f Change) (line jsontext.Value) {
	_, loads := t.past.upTo(t.gen)
	if len(loads) == 0 || loads[len(loads)-1].records == nil {
		return nil
	}
	line, _ = loads[len(loads)-1].records().Line(string(f.Table), f.Slug)
	for i := len(t.Steps) - 1; i > f.Step; i-- {
		e, ok := t.Steps[i].entry(string(f.Table), f.Slug)
		switch {
		case !ok:
		case e.Act == record.Removed:
			line = e.Record
		case e.Act == record.Added:
			line = nil
		case line != nil:
			before, err := history.Undo(e.Table, line, e.Fields)
			if err != nil {
				return nil // the files were edited by hand
			}
			line = before
		}
	}
	return line
}

// entry is what a step did to a record.
func (s *Step) entry(table, slug string) (history.Entry, bool) {
	at, ok := slices.BinarySearchFunc(s.Entries, table+"/"+slug, compareKeys)
	if !ok {
		return history.Entry{}, false
	}
	return s.Entries[at], true
}

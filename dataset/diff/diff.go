// Package diff lists what differs between two datasets, record by record and field by field.
//
// Compare finds the Changes: each record that was added, changed, withdrawn or removed, with the old and new values of
// fields. Records finds any record of a set as the line its file has. Everything is safe for concurrent use.
package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/history"
	"modeldex/dataset/record"

	"github.com/goccy/go-json/jsontext"
)

// Changes is what differs between two sets, as their files have it: without what is computed at load.
type Changes struct {
	Old     Edition        `json:"old"`
	New     Edition        `json:"new"`
	Records []RecordChange `json:"records"` // in order of record.ChangeTables, then of slug
}

// Edition names a set.
type Edition struct {
	Version string `json:"version"`
	Digest  string `json:"digest"`
}

// RecordChange is what happened to one record.
type RecordChange struct {
	Table  string               `json:"table"`
	Slug   string               `json:"slug"`
	Change record.Act           `json:"change"`
	Fields []record.FieldChange `json:"fields"` // of a changed or withdrawn record, in order of the format
	// Record is a removed record as it was.
	Record jsontext.Value `json:"record,omitempty"`
}

// Records finds the records of a set as lines, as their files have them: without what is computed.
type Records map[string]map[string]any // by table and slug: pointers to records

// NewRecords makes the names of all records of a set findable. It keeps the set in memory.
func NewRecords(s *dataset.Set) Records {
	runs := make(map[string]any, len(s.Benchmarks))
	for _, b := range s.Benchmarks {
		runs[string(b.ID)] = b
	}
	return Records{
		"dataset":       {"dataset": &s.Info},
		"quantizations": named(s.Quantizations, func(q *dataset.QuantizationType) string { return q.Name }),
		"models":        named(s.Written(), func(m *dataset.Model) string { return string(m.Slug) }),
		"hardware":      named(s.Hardware, func(h *dataset.Hardware) string { return string(h.Slug) }),
		"tools":         named(s.Tools, func(t *dataset.Tool) string { return string(t.Slug) }),
		"benchmarks":    runs,
		"quality":       named(s.Quality, func(q *dataset.Quality) string { return string(q.ID) }),
	}
}

func named[T any](recs []T, slug func(*T) string) map[string]any {
	out := make(map[string]any, len(recs))
	for i := range recs {
		out[slug(&recs[i])] = &recs[i]
	}
	return out
}

// Compare lists what happened from one set to the other. It costs a look at each record.
func Compare(from, to *dataset.Set) *Changes {
	c := &Changes{Old: editionOf(from), New: editionOf(to)}
	if from == to { // the first generation of a process has no other before it
		return c
	}
	old, now := NewRecords(from), NewRecords(to)
	for _, table := range record.Texts(record.ChangeTables) {
		c.compareTable(table, old[table], now[table])
	}
	return c
}

func editionOf(s *dataset.Set) Edition { return Edition{s.Info.Version, s.Digest.String()} }

func (c *Changes) compareTable(table string, old, now map[string]any) {
	start := len(c.Records)
	for slug, rec := range now {
		change := RecordChange{Table: table, Slug: slug, Change: record.Added, Fields: []record.FieldChange{}}
		if was, known := old[slug]; known {
			if reflect.DeepEqual(was, rec) {
				continue
			}
			var fields comparison
			a, b := reflect.ValueOf(was).Elem(), reflect.ValueOf(rec).Elem()
			if fields.objects("", record.SchemaOf(a.Type()), a, b); len(fields) == 0 {
				continue
			}
			change.Fields, change.Change = fields, record.Changed
			if slices.ContainsFunc(fields, func(f record.FieldChange) bool { return f.Field == "withdrawn" && f.New.Kind() != 'n' }) {
				change.Change = record.Withdrawn
			}
		}
		c.Records = append(c.Records, change)
	}
	for slug, rec := range old {
		if _, kept := now[slug]; !kept {
			c.Records = append(c.Records, RecordChange{
				Table: table, Slug: slug, Change: record.Removed, Fields: []record.FieldChange{}, Record: valueText(rec),
			})
		}
	}
	slices.SortFunc(c.Records[start:], func(a, b RecordChange) int { return cmp.Compare(a.Slug, b.Slug) })
}

type comparison []record.FieldChange

func (c *comparison) objects(at string, s *record.Schema, from, to reflect.Value) {
	for i := range s.Fields {
		f := &s.Fields[i]
		c.values(record.Join(at, f.Name), &f.Rule, from.FieldByIndex(f.Index), to.FieldByIndex(f.Index))
	}
}

func (c *comparison) values(at string, r *record.Rule, from, to reflect.Value) {
	if from.Kind() == reflect.Pointer {
		if from.IsNil() || to.IsNil() {
			if from.IsNil() != to.IsNil() {
				c.add(at, from, to)
			}
			return
		}
		from, to = from.Elem(), to.Elem()
	}
	switch {
	case r.Kind == reflect.Struct:
		c.objects(at, r.Object, from, to)
	case r.Kind == reflect.Slice && r.Entry.Kind == reflect.Struct:
		c.lists(at, r.Entry, from, to)
	case r.Kind == reflect.Slice && from.Len() == 0 && to.Len() == 0: // left out and empty are one
	case !reflect.DeepEqual(from.Interface(), to.Interface()):
		c.add(at, from, to)
	}
}

// lists compares lists of objects: entry by entry where none came or went.
func (c *comparison) lists(at string, r *record.Rule, from, to reflect.Value) {
	shorter := min(from.Len(), to.Len())
	if from.Len() == to.Len() {
		for i := range shorter {
			c.values(record.Join(at, strconv.Itoa(i)), r, from.Index(i), to.Index(i))
		}
		return
	}
	same := func(i, j int) bool { return reflect.DeepEqual(from.Index(i).Interface(), to.Index(j).Interface()) }
	first, end := 0, 0
	for first < shorter && same(first, first) {
		first++
	}
	for end < shorter-first && same(from.Len()-1-end, to.Len()-1-end) {
		end++
	}
	c.add(at, from.Slice(first, from.Len()-end), to.Slice(first, to.Len()-end))
	(*c)[len(*c)-1].At = new(int64(first))
}

func (c *comparison) add(at string, from, to reflect.Value) {
	*c = append(*c, record.FieldChange{Field: at, Old: valueText(from.Interface()), New: valueText(to.Interface())})
}

func valueText(v any) jsontext.Value {
	b, err := record.Line(v)
	if err != nil {
		panic(err) // records are made of texts, numbers and lists that were read from JSON
	}
	return b
}

// Step gives changes as the step of a release log.
func (c *Changes) Step(of *dataset.Set) *history.Step {
	s := &history.Step{Release: record.Release{Version: of.Info.Version, Digest: c.New.Digest, Released: of.Info.Released, After: &c.Old.Digest}}
	for i := range c.Records {
		r := &c.Records[i]
		s.Entries = append(s.Entries, history.Entry{Slug: r.Slug, Change: &record.Change{
			Table: record.ChangeTable(r.Table), Act: r.Change, Fields: r.Fields, Record: r.Record,
		}})
	}
	history.Sort(s.Entries)
	return s
}

// Forms lists the forms of Changes.Report: for people, for programs, and for a comment on a pull request.
var Forms = []string{"text", "json", "markdown"}

// Report writes the changes in one of Forms.
//
//   - text: a line per record, marked + added, ~ changed, x withdrawn or - removed, and below it a
//     line a field; last the numbers of each.
//   - json: the object of Changes.
//   - markdown: as text, of at most 60,000 bytes, for comments on GitHub end at 65,536; what does
//     not fit is counted.
func (c *Changes) Report(w io.Writer, form string) error {
	var b bytes.Buffer
	switch form {
	case "text":
		for i := range c.Records {
			r := &c.Records[i]
			fmt.Fprintf(&b, "%c %s/%s\n", actMarks[r.Change], r.Table, r.Slug)
			for _, f := range r.Fields {
				fmt.Fprintf(&b, "    %s: %s -> %s\n", f.Field, f.Old, f.New)
			}
		}
		b.WriteString(c.Summary() + "\n")
	case "json":
		line, err := record.Line(c)
		if err != nil {
			return err
		}
		b.Write(append(line, '\n'))
	case "markdown":
		c.markdown(&b)
	default:
		return fmt.Errorf("--format: must be one of %s, got %q", strings.Join(Forms, ", "), form)
	}
	_, err := b.WriteTo(w)
	return err
}

var actMarks = map[record.Act]byte{record.Added: '+', record.Changed: '~', record.Withdrawn: 'x', record.Removed: '-'}

// Summary counts the records of each act, in a line: "2 added, 1 removed", or "no changes".
func (c *Changes) Summary() string {
	count := map[record.Act]int{}
	for i := range c.Records {
		count[c.Records[i].Change]++
	}
	var parts []string
	for _, act := range record.Acts {
		if n := count[act]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, act))
		}
	}
	if parts == nil {
		return "no changes"
	}
	return strings.Join(parts, ", ")
}

const mostMarkdown = 60_000

func (c *Changes) markdown(b *bytes.Buffer) {
	fmt.Fprintf(b, "### Dataset %s: %s\n", codeSpan(c.New.Version), c.Summary())
	table, left := "", len(c.Records)
	for i := range c.Records {
		part := c.Records[i].markdown()
		if c.Records[i].Table != table {
			table = c.Records[i].Table
			part = fmt.Sprintf("\n**%s**\n\n", table) + part
		}
		if b.Len()+len(part) > mostMarkdown {
			break
		}
		b.WriteString(part)
		left--
	}
	if left > 0 {
		fmt.Fprintf(b, "\n%d more %s left out here.\n", left, record.Noun(left, "record is", "records are"))
	}
}

func (r *RecordChange) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s %s\n", r.Change, codeSpan(r.Slug))
	for _, f := range r.Fields {
		fmt.Fprintf(&b, "  - %s: %s → %s\n", codeSpan(f.Field), codeSpan(shorten(f.Old)), codeSpan(shorten(f.New)))
	}
	return b.String()
}

func shorten(v []byte) string { return record.Clip(string(v), 200) }

var plain = func() *strings.Replacer {
	pairs := []string{"\n", " "}
	for _, c := range "&<>`@#*_[]\\|~:" {
		pairs = append(pairs, string(c), fmt.Sprintf("&#%d;", c))
	}
	return strings.NewReplacer(pairs...)
}()

func codeSpan(text string) string { return "<code>" + plain.Replace(text) + "</code>" }

package diff

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// Changes is what differs between two sets, as their files have it: what is computed at load
// follows from it and is left out.
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

// tables are the tables that changes are reported of, in their order: dataset.json, the storage
// types, and the record folders.
var tables = record.Texts(record.ChangeTables)

// Compare lists what happened from one set to the other. It costs a look at each record.
func Compare(from, to *dataset.Set) *Changes {
	c := &Changes{Old: editionOf(from), New: editionOf(to)}
	if from == to { // the first generation of a process has no other before it
		return c
	}
	compareTable(c, tables[0], list([]dataset.Info{from.Info}), list([]dataset.Info{to.Info}), func(*dataset.Info) string { return "dataset" })
	compareTable(c, tables[1], list(from.Quantizations), list(to.Quantizations), func(q *dataset.QuantizationType) string { return q.Name })
	compareTable(c, tables[2], list(from.Written()), list(to.Written()), func(m *dataset.Model) string { return string(m.Slug) })
	compareTable(c, tables[3], list(from.Hardware), list(to.Hardware), func(h *dataset.Hardware) string { return string(h.Slug) })
	compareTable(c, tables[4], list(from.Tools), list(to.Tools), func(t *dataset.Tool) string { return string(t.Slug) })
	old, now := differing(&from.Benchmarks, &to.Benchmarks)
	compareTable(c, tables[5], old, now, func(b *dataset.Benchmark) string { return string(b.ID) })
	compareTable(c, tables[6], list(from.Quality), list(to.Quality), func(q *dataset.Quality) string { return string(q.ID) })
	return c
}

// A listing is n records, made or found when they are asked for.
type listing[T any] struct {
	n  int
	at func(i int) *T
}

func list[T any](recs []T) listing[T] {
	return listing[T]{len(recs), func(i int) *T { return &recs[i] }}
}

func editionOf(s *dataset.Set) Edition { return Edition{s.Info.Version, s.Digest.String()} }

// differing drops what two tables of benchmarks have in common.
func differing(from, to *dataset.Pack) (old, now listing[dataset.Benchmark]) {
	var was, is []int
	to.Pair(from, func(i, j int, same bool) {
		if i >= 0 && !same {
			was = append(was, i)
		}
		if j >= 0 && !same {
			is = append(is, j)
		}
	})
	some := func(p *dataset.Pack, places []int) listing[dataset.Benchmark] {
		return listing[dataset.Benchmark]{len(places), func(i int) *dataset.Benchmark { return p.At(places[i]) }}
	}
	return some(from, was), some(to, is)
}

// compareTable adds what happened to the records of a table.
func compareTable[T any](c *Changes, table string, from, to listing[T], slug func(*T) string) {
	old := make(map[string]int, from.n)
	for i := range from.n {
		old[strings.Clone(slug(from.at(i)))] = i
	}
	start := len(c.Records)
	for i := range to.n {
		rec := to.at(i)
		name := strings.Clone(slug(rec)) // changes are kept for longer than sets
		was, known := old[name]
		delete(old, name)
		if !known {
			c.Records = append(c.Records, RecordChange{Table: table, Slug: name, Change: record.Added, Fields: []record.FieldChange{}})
		} else if fields := compareRecords(from.at(was), rec); len(fields) > 0 {
			c.Records = append(c.Records, RecordChange{Table: table, Slug: name, Change: actOf(fields), Fields: fields})
		}
	}
	for name, i := range old {
		c.Records = append(c.Records, RecordChange{Table: table, Slug: name, Change: record.Removed, Fields: []record.FieldChange{}, Record: valueText(reflect.ValueOf(from.at(i)))})
	}
	slices.SortFunc(c.Records[start:], func(a, b RecordChange) int { return cmp.Compare(a.Slug, b.Slug) })
}

func actOf(fields []record.FieldChange) record.Act {
	withdrawn := slices.ContainsFunc(fields, func(f record.FieldChange) bool { return f.Field == "withdrawn" && f.New.Kind() != 'n' })
	if withdrawn {
		return record.Withdrawn
	}
	return record.Changed
}

func compareRecords[T any](from, to *T) []record.FieldChange {
	var c comparison
	c.objects("", record.SchemaOf(reflect.TypeFor[T]()), reflect.ValueOf(from).Elem(), reflect.ValueOf(to).Elem())
	return c.fields
}

// comparison gathers the fields in which two records differ.
type comparison struct{ fields []record.FieldChange }

func (c *comparison) objects(at string, s *record.Schema, from, to reflect.Value) {
	for i := range s.Fields {
		f := &s.Fields[i]
		c.values(record.Join(at, f.Name), &f.Rule, from.FieldByIndex(f.Index), to.FieldByIndex(f.Index))
	}
}

// values compares one field of two objects.
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
	if from.Len() == to.Len() {
		for i := range from.Len() {
			c.values(record.Join(at, strconv.Itoa(i)), r, from.Index(i), to.Index(i))
		}
		return
	}
	same := func(i, j int) bool { return reflect.DeepEqual(from.Index(i).Interface(), to.Index(j).Interface()) }
	first, end := 0, 0
	for shorter := min(from.Len(), to.Len()); first < shorter && same(first, first); {
		first++
	}
	for shorter := min(from.Len(), to.Len()) - first; end < shorter && same(from.Len()-1-end, to.Len()-1-end); {
		end++
	}
	c.add(at, from.Slice(first, from.Len()-end), to.Slice(first, to.Len()-end))
	place := int64(first)
	c.fields[len(c.fields)-1].At = &place
}

func (c *comparison) add(at string, from, to reflect.Value) {
	c.fields = append(c.fields, record.FieldChange{Field: at, Old: valueText(from), New: valueText(to)})
}

// valueText is a value as its file has it, in one line.
func valueText(v reflect.Value) jsontext.Value {
	b, err := jsonv2.Marshal(v.Interface())
	if err != nil {
		panic(err) // records are made of texts, numbers and lists that were read from JSON
	}
	return b
}

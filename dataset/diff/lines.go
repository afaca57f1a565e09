package diff

import (
	"modeldex/dataset"
	"modeldex/dataset/history"
	"modeldex/dataset/record"

	"github.com/goccy/go-json/jsontext"
)

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

// Records finds the records of a set as lines, as their files have them: without what is computed.
// It is safe for concurrent use.
type Records struct {
	byName map[string]func() any // by table and slug
}

// NewRecords makes the names of all records of a set findable. It keeps the set in memory.
func NewRecords(s *dataset.Set) *Records {
	r := &Records{map[string]func() any{tables[0] + "/dataset": func() any { return &s.Info }}}
	addRecords(r, tables[1], s.Quantizations, func(q *dataset.QuantizationType) string { return q.Name })
	addRecords(r, tables[2], s.Written(), func(m *dataset.Model) string { return string(m.Slug) })
	addRecords(r, tables[3], s.Hardware, func(h *dataset.Hardware) string { return string(h.Slug) })
	addRecords(r, tables[4], s.Tools, func(t *dataset.Tool) string { return string(t.Slug) })
	addRecords(r, tables[6], s.Quality, func(q *dataset.Quality) string { return string(q.ID) })
	for i := range s.Benchmarks.Len() {
		r.byName[tables[5]+"/"+string(s.Benchmarks.ID(i))] = func() any { return s.Benchmarks.At(i) }
	}
	return r
}

func addRecords[T any](r *Records, table string, recs []T, slug func(*T) string) {
	for i := range recs {
		r.byName[table+"/"+slug(&recs[i])] = func() any { return &recs[i] }
	}
}

// Line gives a record of a table, false where there is none of that slug.
func (r *Records) Line(table, slug string) (jsontext.Value, bool) {
	rec, ok := r.byName[table+"/"+slug]
	if !ok {
		return nil, false
	}
	line, err := record.Line(rec())
	if err != nil {
		panic(err) // records are made of texts, numbers and lists that were read from JSON
	}
	return line, true
}

// Package pack keeps the benchmarks of one load: many records in default order.
//
// Records share the memory of values that repeat, see record.Sharer.
package pack

import (
	"slices"

	"modeldex/dataset/record"
)

// A Pack is benchmarks in default order: newest run date first and unknown last, then by id. It is not changed once it
// is made; all methods are safe for concurrent use. The zero value is empty.
type Pack struct{ recs []*record.Benchmark }

// New returns a pack of records that are in default order already. It keeps recs.
func New(recs []record.Benchmark) Pack {
	out := make([]*record.Benchmark, len(recs))
	for i := range recs {
		out[i] = &recs[i]
	}
	return Pack{out}
}

// Sorted returns a pack of records in any order. It does not change recs.
func Sorted(recs []*record.Benchmark) Pack {
	recs = slices.Clone(recs)
	slices.SortFunc(recs, record.NewerRun)
	return Pack{recs}
}

// Len is the number of records.
func (p *Pack) Len() int { return len(p.recs) }

// ID returns the id of a record.
func (p *Pack) ID(i int) record.Slug { return p.recs[i].ID }

// At returns a record. It must not be changed.
func (p *Pack) At(i int) *record.Benchmark { return p.recs[i] }

// All returns a copy of all records. What they point to is shared and must not be changed.
func (p *Pack) All() []record.Benchmark {
	out := make([]record.Benchmark, len(p.recs))
	for i, b := range p.recs {
		out[i] = *b
	}
	return out
}

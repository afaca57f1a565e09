package dataset

import (
	"cmp"
	"context"
	"io/fs"
	"slices"

	"modeldex/dataset/cores"
	"modeldex/dataset/history"
	"modeldex/dataset/pack"
)

// Load reads and checks the dataset in fsys, see Dir. A dataset with a fault gives Findings as
// the error, all of them, sorted by place; any other error means that there is no dataset to be
// read. Warnings are for Check and cost a load nothing. Memory beyond the records is bounded by
// the chunks in flight. Where no byte differs from opt.Last, Load returns it. Once ctx has ended, Load
// returns its error within a few milliseconds, unless it waits for a file. Safe for concurrent use.
func Load(ctx context.Context, fsys fs.FS, opt Options) (*Set, error) {
	l := newLoader(ctx, fsys, opt)
	if err := l.read(); err != nil {
		return nil, err
	}
	if l.allUnchanged() {
		return opt.Last, nil
	}
	var beside cores.Group
	var benchmarks Pack
	var from []int32                                                        // by benchmark in order: its number as it was read
	beside.Go(func() { benchmarks, from = pack.Sorted(l.benchmarks.recs) }) // on one core, so while others check
	if err := l.judge(); err != nil {
		return nil, err
	}
	if len(l.findings) > 0 {
		return nil, l.findings
	}
	beside.Wait()
	return l.set(benchmarks, from), nil
}

// Check reads and checks the dataset in fsys as Load does and returns everything there is to
// say about it, warnings too, sorted by place. The error means that there is no dataset to be
// read.
func Check(fsys fs.FS, opt Options) (Findings, error) {
	l := newLoader(context.Background(), fsys, opt)
	l.warn = true
	if err := l.read(); err != nil {
		return nil, err
	}
	if err := l.judge(); err != nil {
		return nil, err
	}
	return l.findings, nil
}

// judge checks what was read, and sorts what was found.
func (l *loader) judge() error {
	if !l.full.Load() { // else references to what was not read would seem wrong
		if err := l.check(); err != nil {
			return err
		}
	}
	l.placePending()
	l.findings.sort()
	l.findings = l.findings.withoutEchoes()
	return l.ctx.Err() // what was cut short would seem to have faults, or none
}

// set sorts the tables, of which the benchmarks are sorted already, and sums up what was read. from says of each
// benchmark which of those that were read it is.
func (l *loader) set(benchmarks Pack, from []int32) *Set {
	s := &Set{
		Info: *l.info.recs[0], Models: values(l.models.recs), Hardware: values(l.hardware.recs),
		Tools: values(l.tools.recs), Quantizations: values(l.quantizations.recs), Origins: values(l.origins.recs), Benchmarks: benchmarks,
	}
	slices.SortFunc(s.Models, func(a, b Model) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(s.Hardware, func(a, b Hardware) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(s.Origins, func(a, b Origin) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(s.Tools, func(a, b Tool) int { return cmp.Compare(a.Slug, b.Slug) })
	addComputed(s.Models, s.Quantizations)
	s.Releases = history.New(l.changes.recs)
	s.previous = l.remember()
	s.Digest = digestOf(s.Files())
	s.loaded, s.ratios = s, make([]float64, len(from))
	for i, n := range from {
		s.ratios[i] = l.ratios[n]
	}
	return s
}

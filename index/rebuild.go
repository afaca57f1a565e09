package index

import (
	"math"
	"reflect"
	"slices"
	"sync"
	"time"

	"modeldex/dataset"
)

// Rebuild makes the generation of set that Build would make, and shares with prev, which was
// made of last, what the change between the two sets left as it is: whole tables, or the rows,
// postings and columns of the benchmarks. Shared parts are frozen like all others; prev itself
// is freed when nobody serves it any more. It pays where set was loaded with last at hand, for
// then unchanged benchmarks are packed into the same bytes. Without prev or last it is Build.
func Rebuild(prev *Generation, last, set *dataset.Set, r Renderers) (*Generation, error) {
	if prev == nil || last == nil || prev.Digest != last.Digest {
		return Build(set, r)
	}
	gen := &Generation{Info: set.Info, Digest: set.Digest, Loaded: time.Now().UTC()}
	var err error
	if gen.Benchmarks, err = rebuildBenchmarks(prev.Benchmarks, last, set, r); err != nil {
		return nil, err
	}
	share := func(to **Table, from *Table, by Field, before, after any, build func() (*Table, error)) {
		switch {
		case err != nil:
		case sameCounts(from, by, prev.Benchmarks, gen.Benchmarks) && reflect.DeepEqual(before, after):
			*to = from
		default:
			*to, err = build()
		}
	}
	share(&gen.Models, prev.Models, Model, last.Models, set.Models, func() (*Table, error) {
		return buildModels(set.Models, gen.Benchmarks, r)
	})
	share(&gen.Hardware, prev.Hardware, Hardware, last.Hardware, set.Hardware, func() (*Table, error) {
		return buildHardware(set.Hardware, gen.Benchmarks, r)
	})
	share(&gen.Tools, prev.Tools, Tool, last.Tools, set.Tools, func() (*Table, error) {
		return buildTools(set.Tools, gen.Benchmarks, r)
	})
	if err != nil {
		return nil, err
	}
	gen.link()
	return gen, nil
}

// sameCounts reports whether every record of a table has as many benchmarks as before: rows
// show the number.
func sameCounts(t *Table, by Field, before, after *Table) bool {
	if before.postings[by] == after.postings[by] {
		return true
	}
	for ord := range uint32(t.n) {
		if slug := t.Slug(ord); before.Count(by, slug) != after.Count(by, slug) {
			return false
		}
	}
	return true
}

// A carry says which rows of the benchmarks go from one generation to the next.
type carry struct {
	from []uint32 // by ordinal: where the same row stood before, noRow where none did
	// inPlace: every ordinal belongs to the slug it belonged to; changed are those whose record
	// or roofline is another.
	inPlace bool
	changed []int
}

const noRow = ^uint32(0)

// carryOver walks two sets side by side.
func carryOver(last, set *dataset.Set, sameRatio func(old, now int) bool) carry {
	c := carry{from: make([]uint32, set.Benchmarks.Len()), inPlace: true}
	set.Benchmarks.Pair(&last.Benchmarks, func(old, now int, same bool) {
		c.inPlace = c.inPlace && old == now
		switch {
		case now < 0:
		case same && sameRatio(old, now):
			c.from[now] = uint32(old)
		default:
			c.from[now], c.changed = noRow, append(c.changed, now)
		}
	})
	return c
}

// sameRatios judges by number, where the ratios of prev may not hold any more for what they are
// worked out from has changed.
func (s *runSpec) sameRatios(prev *Table, last, set *dataset.Set) func(old, now int) bool {
	if reflect.DeepEqual(last.Models, set.Models) && reflect.DeepEqual(last.Hardware, set.Hardware) && reflect.DeepEqual(last.Quantizations, set.Quantizations) {
		return func(int, int) bool { return true }
	}
	read := s.runs.Reader()
	return func(old, now int) bool {
		return sameNumber(prev.columns[Roofline].nums[old], s.num(read.At(now), Roofline))
	}
}

// rebuildBenchmarks makes the table of the benchmarks from the one before.
func rebuildBenchmarks(prev *Table, last, set *dataset.Set, r Renderers) (*Table, error) {
	before, s := newRunSpec(last, r), newRunSpec(set, r)
	c := carryOver(last, set, s.sameRatios(prev, last, set))
	t := &Table{n: s.runs.Len(), home: runHome, pairs: newPairs(), slugs: prev.slugs, postings: prev.postings, columns: prev.columns}
	var (
		work   sync.WaitGroup
		inRows error
	)
	work.Go(func() { t.rows, inRows = prev.rows.rebuild(c.from, s.rows) })
	if c.inPlace && !familiesMoved(last, set) {
		work.Go(func() { s.mend(t, before, c.changed) })
	} else {
		work.Go(func() { s.renew(t, c.inPlace) })
	}
	work.Wait()
	return t, inRows
}

// renew makes all but the rows; where every ordinal is that of the same slug, slugs and columns
// that came out the same are shared.
func (s *runSpec) renew(t *Table, inPlace bool) {
	g := s.gather()
	var work sync.WaitGroup
	if !inPlace {
		work.Go(func() { t.slugs = newSlugs(t.n, s.id) })
	}
	for _, f := range runSets {
		work.Go(func() { t.postings[f] = g.posting(t.n, f) })
	}
	for _, f := range runNums {
		work.Go(func() {
			if !inPlace || !slices.EqualFunc(t.columns[f].nums, g.nums[f], sameNumber) {
				t.columns[f] = newRunColumn(f, g.nums[f])
			}
		})
	}
	work.Wait()
}

// mend changes what some records that stand where they stood have otherwise now: those columns
// and postings are made anew in which a value of theirs differs.
func (s *runSpec) mend(t *Table, before *runSpec, changed []int) {
	var (
		moves [fieldCount][]move
		nums  [fieldCount][]float64
	)
	was, is := before.runs.Reader(), s.runs.Reader()
	for _, i := range changed {
		old, now := was.At(i), is.At(i)
		before.difference(&moves, uint32(i), old, s, now)
		for _, f := range runNums {
			if v := s.num(now, f); !sameNumber(t.columns[f].nums[i], v) {
				if nums[f] == nil {
					nums[f] = slices.Clone(t.columns[f].nums)
				}
				nums[f][i] = v
			}
		}
	}
	for f := range fieldCount {
		if moves[f] != nil {
			t.postings[f] = t.postings[f].moved(moves[f])
		}
		if nums[f] != nil {
			t.columns[f] = newRunColumn(f, nums[f])
		}
	}
}

// difference notes the values a record had and those it has, where they differ.
func (s *runSpec) difference(moves *[fieldCount][]move, ord uint32, old *dataset.Benchmark, after *runSpec, now *dataset.Benchmark) {
	var was, is [fieldCount][]string
	s.values(old, func(f Field, v string) { was[f] = append(was[f], v) })
	after.values(now, func(f Field, v string) { is[f] = append(is[f], v) })
	for _, f := range runSets {
		if slices.Equal(was[f], is[f]) {
			continue
		}
		for _, v := range was[f] {
			moves[f] = append(moves[f], move{ord, v, true})
		}
		for _, v := range is[f] {
			moves[f] = append(moves[f], move{ord, v, false})
		}
	}
}

// familiesMoved reports whether a model is of another family now: then its benchmarks are too.
func familiesMoved(last, set *dataset.Set) bool {
	return !slices.EqualFunc(last.Models, set.Models, func(a, b dataset.Model) bool { return a.Slug == b.Slug && a.Family == b.Family })
}

// sameNumber holds unknown equal to unknown.
func sameNumber(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

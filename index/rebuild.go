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
// then unchanged benchmarks are equal by ==. Without prev or last it is Build.
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

// carryOver walks two sets side by side, for both are in default order.
func carryOver(last, set *dataset.Set, sameRatio func(old, now int) bool) carry {
	c := carry{from: make([]uint32, len(set.Benchmarks)), inPlace: len(last.Benchmarks) == len(set.Benchmarks)}
	old := 0
	for now := range set.Benchmarks {
		rec := &set.Benchmarks[now]
		for old < len(last.Benchmarks) && last.Benchmarks[old] != *rec && dataset.NewerRun(&last.Benchmarks[old], rec) < 0 {
			old++
		}
		paired := old < len(last.Benchmarks) && dataset.NewerRun(&last.Benchmarks[old], rec) == 0
		c.inPlace = c.inPlace && paired && old == now
		if paired && last.Benchmarks[old] == *rec && sameRatio(old, now) {
			c.from[now] = uint32(old)
		} else {
			c.from[now], c.changed = noRow, append(c.changed, now)
		}
		if paired {
			old++
		}
	}
	return c
}

// rebuildBenchmarks makes the table of the benchmarks from the one before.
func rebuildBenchmarks(prev *Table, last, set *dataset.Set, r Renderers) (*Table, error) {
	ratios := rooflines(set)
	before, now := benchmarkSpec(last, nil, r), benchmarkSpec(set, ratios, r)
	c := carryOver(last, set, func(old, now int) bool { return sameNumber(prev.columns[Roofline].nums[old], opt(ratios[now])) })
	t := &Table{n: now.n, home: now.home, pairs: newPairs()}
	var (
		work   sync.WaitGroup
		inRows error
	)
	work.Go(func() { t.rows.blob, inRows = rebuildBlob(&prev.rows.blob, c.from, withComma(now.row)) })
	work.Go(func() {
		if t.slugs = prev.slugs; !c.inPlace {
			t.slugs = newSlugs(now.n, now.slug)
		}
	})
	moved := familiesMoved(last, set)
	for f, values := range now.sets {
		work.Go(func() {
			if t.postings[f] = prev.postings[f]; !c.inPlace || f == Family && moved || !sameValues(before.sets[f], values, c.changed) {
				t.postings[f] = newPosting(now.n, values)
			}
		})
	}
	for f, value := range now.nums {
		work.Go(func() {
			if t.columns[f] = prev.columns[f]; !c.inPlace || !sameNumbers(prev.columns[f], value) {
				t.columns[f] = now.numColumn(f)
			}
		})
	}
	work.Wait()
	return t, inRows
}

// rebuildBlob makes the rows: blocks in which nothing changed are shared, other rows that did
// not change are copied, and the rest is rendered.
func rebuildBlob(prev *blob, from []uint32, render func(dst []byte, i int) ([]byte, error)) (blob, error) {
	shared := func(n int) (block, bool) {
		first, end := n*blockRows, min((n+1)*blockRows, len(from))
		if n >= len(prev.blocks) || len(prev.blocks[n].ends) != end-first {
			return block{}, false
		}
		for i := first; i < end; i++ {
			if from[i] != uint32(i) {
				return block{}, false
			}
		}
		return prev.blocks[n], true
	}
	return buildBlocks(len(from), shared, func(dst []byte, i int) ([]byte, error) {
		if from[i] != noRow {
			return append(dst, prev.at(from[i])...), nil
		}
		return render(dst, i)
	})
}

// familiesMoved reports whether a model is of another family now: then its benchmarks are too.
func familiesMoved(last, set *dataset.Set) bool {
	return !slices.EqualFunc(last.Models, set.Models, func(a, b dataset.Model) bool { return a.Slug == b.Slug && a.Family == b.Family })
}

// sameValues reports whether none of the changed records has other values of a set filter.
func sameValues(before, now func(i int, emit func(string)), changed []int) bool {
	var old, values []string
	for _, i := range changed {
		old, values = old[:0], values[:0]
		before(i, func(v string) { old = append(old, v) })
		now(i, func(v string) { values = append(values, v) })
		if !slices.Equal(old, values) {
			return false
		}
	}
	return true
}

func sameNumbers(c *column, value func(i int) float64) bool {
	for i, old := range c.nums {
		if !sameNumber(old, value(i)) {
			return false
		}
	}
	return true
}

// sameNumber holds unknown equal to unknown.
func sameNumber(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

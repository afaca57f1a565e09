package index

import (
	"cmp"
	"context"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/cores"
	"modeldex/dataset/resolve"
)

// Rebuild makes the generation that Build would make of set. It shares with prev, which was built
// from last, everything that did not change between the two sets: whole tables, or rows,
// postings and columns of the benchmarks. Shared parts are frozen like all others. It is fast if
// set was loaded incrementally from last, because then unchanged benchmarks are packed into the
// same bytes. Without prev or last it is Build.
func Rebuild(ctx context.Context, prev *Generation, last, set *dataset.Set, r Renderers) (*Generation, error) {
	if prev == nil || last == nil || prev.Digest != last.Digest {
		return Build(ctx, set, r)
	}
	gen := &Generation{Info: set.Info, Digest: set.Digest, Files: set.Files(), Loaded: time.Now().UTC(), Edition: r.Edition}
	engine := gen.makeEngine(set)
	defer engine.Wait()
	var err error
	if gen.Benchmarks, err = rebuildBenchmarks(ctx, prev.Benchmarks, last, set, r); err != nil {
		return nil, err
	}
	share := func(to **Table, from *Table, by Field, before, after any, build func() (*Table, error)) {
		switch {
		case err != nil:
		case from != nil && sameCounts(from, by, prev.Benchmarks, gen.Benchmarks) && reflect.DeepEqual(before, after):
			*to = from
		default:
			*to, err = build()
		}
	}
	models := prev.Models
	if prev.Edition != r.Edition {
		models = nil
	}
	share(&gen.Models, models, Model, last.Models, set.Models, func() (*Table, error) {
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
	if gen.Names = prev.Names; !sameNames(last, set) {
		gen.Names = resolve.New(set)
	}
	gen.link()
	return gen, nil
}

// sameNames reports whether no model, hardware or tool differs. Making the names again costs some
// milliseconds, comparing the records less than one.
func sameNames(last, set *dataset.Set) bool {
	return reflect.DeepEqual(last.Models, set.Models) && reflect.DeepEqual(last.Hardware, set.Hardware) && reflect.DeepEqual(last.Tools, set.Tools)
}

// sameCounts reports whether every record of a table has as many benchmarks as before, because
// rows show the number.
func sameCounts(t *Table, by Field, before, after *Table) bool {
	if before.postings[by] == after.postings[by] && sameListed(before, after) && reflect.DeepEqual(before.variants[by], after.variants[by]) {
		return true
	}
	for ord := range uint32(t.n) {
		if slug := t.Slug(ord); before.counts(by, slug) != after.counts(by, slug) {
			return false
		}
	}
	return true
}

// sameListed reports whether the same records are listed without being asked for.
func sameListed(before, after *Table) bool {
	return before.listed == nil && after.listed == nil || before.listed != nil && after.listed != nil && before.listed.Equals(after.listed)
}

// A rowMapping says which rows of the benchmarks are unchanged between two generations.
type rowMapping struct {
	from []uint32 // by ordinal: the ordinal of the same row before, noRow if there was none
	// inPlace: every ordinal has the slug it had before; changed are those whose record, or what is
	// computed of it, changed.
	inPlace bool
	changed []int
}

const noRow = ^uint32(0)

// mapRows compares the benchmarks of two sets.
func mapRows(last, set *dataset.Set, sameComputed func(old, now int) bool) rowMapping {
	c := rowMapping{from: make([]uint32, set.Benchmarks.Len()), inPlace: true}
	set.Benchmarks.Pair(&last.Benchmarks, func(old, now int, same bool) {
		c.inPlace = c.inPlace && old == now
		switch {
		case now < 0:
		case same && sameComputed(old, now):
			c.from[now] = uint32(old)
		default:
			c.from[now], c.changed = noRow, append(c.changed, now)
		}
	})
	return c
}

// sameComputed compares what the generation adds to a benchmark, which can change while the record
// does not. These are rooflines, if the records they are computed from have changed, and how many
// other sources measured the same.
func (b *benchmarkBuilder) sameComputed(prev *Table, last, set *dataset.Set) func(old, now int) bool {
	sameReproduced := func(old, now int) bool { return prev.reproduced[old] == b.reproduced[now] }
	if reflect.DeepEqual(last.Models, set.Models) && reflect.DeepEqual(last.Hardware, set.Hardware) && reflect.DeepEqual(last.Quantizations, set.Quantizations) {
		return sameReproduced
	}
	read := b.readers()
	return func(old, now int) bool {
		return sameReproduced(old, now) && sameNumber(prev.columns[Roofline].nums[old], read(now).roofline())
	}
}

// rebuildBenchmarks makes the table of benchmarks from the previous one.
func rebuildBenchmarks(ctx context.Context, prev *Table, last, set *dataset.Set, r Renderers) (*Table, error) {
	before, b := newBenchmarkBuilder(ctx, last, r, prev.reproduced), newBenchmarkBuilder(ctx, set, r, dataset.Reproduced(&set.Benchmarks))
	rows := mapRows(last, set, b.sameComputed(prev, last, set))
	t := newTable(b.n, benchmarkHome)
	t.slugs, t.nulls, t.kinds = prev.slugs, prev.nulls, prev.kinds
	t.postings, t.columns = maps.Clone(prev.postings), maps.Clone(prev.columns)
	var (
		workers cores.Group
		inRows  error
	)
	workers.Go(func() { t.rows, inRows = prev.rows.rebuild(rows.from, b.row) })
	inPlace := rows.inPlace && !familiesMoved(last, set)
	b.samePages = inPlace
	workers.Go(func() {
		var known map[Field][]uint32
		if inPlace {
			b.updateInPlace(t, before, rows.changed)
		} else {
			known = b.rebuildColumns(t, rows.inPlace)
		}
		if ctx.Err() != nil { // not whole
			return
		}
		b.finish(t, set)
		if inPlace {
			t.dimensions = b.newDimensions(t, prev, nil)
		} else {
			t.dimensions = b.newDimensions(t, nil, known)
		}
	})
	workers.Wait()
	return t, cmp.Or(inRows, ctx.Err())
}

// rebuildColumns makes everything except the rows. If every ordinal has the slug it had, slugs and
// equal columns are shared. known are codes of fields, see newCodes.
func (b *benchmarkBuilder) rebuildColumns(t *Table, inPlace bool) (known map[Field][]uint32) {
	g, before := b.gather(), t.columns
	t.postings, t.columns, t.nulls, t.kinds = map[Field]*posting{}, map[Field]*column{}, map[Field]bool{}, map[Field]FieldKind{}
	var workers cores.Group
	if !inPlace {
		workers.Go(func() { t.slugs = newSlugs(t.n, b.slug) })
	}
	if inPlace {
		for i := range b.fields {
			if f := b.fields[i].Name; g.nums[i] != nil && slices.EqualFunc(before[f].nums, g.nums[i], sameNumber) {
				t.columns[f] = before[f]
				g.nums[i] = nil
			}
		}
	}
	b.buildFields(t, g, &workers)
	workers.Wait()
	return b.codes(g)
}

// updateInPlace makes new columns and postings where a value of one of the changed records differs,
// and shares the others.
func (b *benchmarkBuilder) updateInPlace(t *Table, before *benchmarkBuilder, changed []int) {
	changes, nums := make([][]postingChange, len(b.fields)), make([][]float64, len(b.fields))
	was, is := before.readers(), b.readers()
	for _, i := range changed {
		old, now := was(i), is(i)
		b.samePages = b.samePages && text(old.SourceURL) == text(now.SourceURL)
		for n := range b.fields {
			f := &b.fields[n]
			if f.hasPosting() {
				changes[n] = appendChanges(changes[n], f, uint32(i), old, now)
			}
			if f.kind() != Number && f.kind() != Date {
				continue
			}
			if v := f.number(now); !sameNumber(t.columns[f.Name].nums[i], v) {
				if nums[n] == nil {
					nums[n] = slices.Clone(t.columns[f.Name].nums)
				}
				nums[n][i] = v
			}
		}
	}
	var memory sorting
	for n := range b.fields {
		f := &b.fields[n]
		if changes[n] != nil {
			t.postings[f.Name] = t.postings[f.Name].changed(changes[n])
		}
		if nums[n] != nil {
			t.columns[f.Name] = b.column(f, nums[n], &memory)
		}
	}
}

// appendChanges appends the values of a field that a record had and those it has, if they differ.
func appendChanges(changes []postingChange, f *FieldOf[benchmarkRecord], ord uint32, old, now *benchmarkRecord) []postingChange {
	var was, is []string
	f.values(old, func(v string) { was = append(was, v) })
	f.values(now, func(v string) { is = append(is, v) })
	if slices.Equal(was, is) {
		return changes
	}
	for _, v := range was {
		changes = append(changes, postingChange{ord, v, true})
	}
	for _, v := range is {
		changes = append(changes, postingChange{ord, v, false})
	}
	return changes
}

// familiesMoved reports whether a model has another family now, and so its benchmarks.
func familiesMoved(last, set *dataset.Set) bool {
	return !slices.EqualFunc(last.Models, set.Models, func(a, b dataset.Model) bool { return a.Slug == b.Slug && a.Family == b.Family })
}

// sameNumber compares numbers; unknown equals unknown.
func sameNumber(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

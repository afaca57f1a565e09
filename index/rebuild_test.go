package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/pack"
	"modeldex/dataset/resolve"
)

// edit makes a copy of a set with one kind of change.
func (r *random) edit(s *dataset.Set, kind int, next int) *dataset.Set {
	out := &dataset.Set{
		Digest: dataset.Digest{byte(next), byte(next >> 8), 1}, Models: slices.Clone(s.Models), Hardware: slices.Clone(s.Hardware),
		Tools: slices.Clone(s.Tools), Quantizations: s.Quantizations,
	}
	runs := s.Benchmarks.All()
	n := len(runs)
	one := &runs[r.IntN(n)]
	switch kind {
	case 0: // a value no index looks at
		note := fmt.Sprint(next)
		one.Notes = &note
	case 1: // a value of a posting
		one.Backend = maybe(r, fmt.Sprintf("backend-%d", next))
	case 2: // of a column
		one.GenerationTPS = maybe(r, r.num(3))
	case 3: // of the order
		one.RunDate = maybe(r, r.date())
	case 4:
		runs = append(runs, r.benchmark(1_000_000+next, out))
	case 5:
		runs = slices.Delete(runs, n-1-r.IntN(n), n)
	case 6: // another family, other numbers behind the rooflines
		m := &out.Models[r.IntN(len(out.Models))]
		m.Family, m.ParamsB = "moved", maybe(r, r.num(2))
	case 7:
		h := &out.Hardware[r.IntN(len(out.Hardware))]
		h.VRAMGB, h.MemoryBandwidthGBps = maybe(r, r.num(9)), maybe(r, r.num(90))
	case 8:
		out.Tools[r.IntN(len(out.Tools))].Name = fmt.Sprintf("Renamed %d", next)
	case 9: // counts of two models
		one.Model = out.Models[r.IntN(len(out.Models))].Slug
	case 10: // what is listed
		if one.Scenario = nil; r.IntN(2) == 0 {
			one.Scenario = &dataset.Scenarios[0]
		}
	}
	out.Benchmarks = sorted(runs)
	return out
}

const editKinds = 11

// TestRebuild makes generation after generation of random edits and holds each to its records
// and to what Build makes of them.
func TestRebuild(t *testing.T) {
	t.Parallel()
	for _, rows := range []int{30, 2*blockRows + 100} {
		t.Run(fmt.Sprintf("rows=%d", rows), func(t *testing.T) {
			t.Parallel()
			r := newRandom(seedOf(t), 20, 0.2)
			last := r.set(rows, 40)
			gen := mustBuild(t, last)
			for step := range datasettest.Rounds(1, 4) * editKinds {
				kind := step % editKinds
				set := r.edit(last, kind, step+1)
				if set.Benchmarks.Len() < rows/2 {
					set = r.set(rows, 40)
				}
				next, err := Rebuild(context.Background(), gen, last, set, renderers)
				if err != nil {
					t.Fatal(err)
				}
				checkSame(t, next, mustBuild(t, set), set, r)
				if t.Failed() {
					t.Fatalf("after edit %d of kind %d", step, kind)
				}
				gen, last = next, set
			}
		})
	}
}

func checkSame(t *testing.T, got, built *Generation, set *dataset.Set, r *random) {
	t.Helper()
	want, fresh := plains(set), tables(built)
	for kind, table := range tables(got) {
		checkRows(t, table, want[kind])
		checkPostings(t, table, want[kind])
		for f, col := range table.columns {
			other := fresh[kind].columns[f]
			if (col == nil) != (other == nil) || col != nil && !slices.EqualFunc(col.nums, other.nums, sameNumber) {
				t.Errorf("column of %v differs", f)
			}
		}
		for range datasettest.Rounds(3, 8) {
			compare(t, table, want[kind], r.query(want[kind]))
		}
	}
	for _, metric := range statsMetrics {
		q := r.statsQuery(want[3])
		q.Metric = metric
		compareStats(t, got.Benchmarks, want[3], q)
	}
	for _, tool := range set.Tools {
		if found, want := got.Names.Resolve(resolve.Tool, tool.Name), built.Names.Resolve(resolve.Tool, tool.Name); !reflect.DeepEqual(found, want) {
			t.Errorf("Names.Resolve(%q) = %+v, want %+v", tool.Name, found, want)
		}
	}
}

// TestRebuildShares: what an edit leaves as it was is the same memory.
func TestRebuildShares(t *testing.T) {
	const rows = 5 * blockRows
	r := newRandom(seedOf(t), 20, 0.2)
	last := r.set(rows, 40)
	prev := mustBuild(t, last)
	set := r.edit(last, 0, 1)
	gen, err := Rebuild(context.Background(), prev, last, set, renderers)
	if err != nil {
		t.Fatal(err)
	}
	if gen.Models != prev.Models || gen.Hardware != prev.Hardware || gen.Tools != prev.Tools {
		t.Error("an edit of a benchmark's notes made tables of models, hardware or tools anew")
	}
	if gen.Benchmarks == prev.Benchmarks {
		t.Error("the table of benchmarks is shared, so that it would search the old models for ever")
	}
	for f := range gen.Benchmarks.postings {
		if gen.Benchmarks.postings[f] != prev.Benchmarks.postings[f] || gen.Benchmarks.columns[f] != prev.Benchmarks.columns[f] {
			t.Errorf("posting or column of %v is not shared", f)
		}
	}
	anew := 0
	for i := range gen.Benchmarks.rows.blocks {
		if &gen.Benchmarks.rows.blocks[i].data[0] != &prev.Benchmarks.rows.blocks[i].data[0] {
			anew++
		}
	}
	if anew != 1 {
		t.Errorf("%d of %d blocks of rows are new after one edit, want 1", anew, len(prev.Benchmarks.rows.blocks))
	}
}

// TestRebuildInPlace: a value that moves makes the posting of its field again, and of that only the
// sets of the value before and after.
func TestRebuildInPlace(t *testing.T) {
	r := newRandom(seedOf(t), 20, 0)
	last := r.set(3*blockRows, 40)
	prev := mustBuild(t, last)
	runs, backend := last.Benchmarks.All(), "another"
	was := *runs[blockRows].Backend
	runs[blockRows].Backend = &backend
	set := *last
	set.Digest[0], set.Benchmarks = 1, sorted(runs)
	gen, err := Rebuild(context.Background(), prev, last, &set, renderers)
	if err != nil {
		t.Fatal(err)
	}
	for f := range gen.Benchmarks.postings {
		now, before := gen.Benchmarks.postings[f], prev.Benchmarks.postings[f]
		if shared := now == before; shared == (f == Backend) || gen.Benchmarks.columns[f] != prev.Benchmarks.columns[f] {
			t.Errorf("posting of %v shared: %t; columns must all be", f, shared)
		}
	}
	now, before := gen.Benchmarks.postings[Backend], prev.Benchmarks.postings[Backend]
	for _, v := range now.values {
		if shared := now.byValue[v] == before.byValue[v]; shared == (v == was || v == backend) {
			t.Errorf("set of %s shared: %t", v, shared)
		}
	}
	if n := before.byValue[was].GetCardinality() - now.byValue[was].GetCardinality(); n != 1 {
		t.Errorf("%s has lost %d benchmarks in both generations, want 1 in the newer", was, n)
	}
}

// TestRebuildOfAnother: a generation of another set is no help and does no harm.
func TestRebuildOfAnother(t *testing.T) {
	r := newRandom(seedOf(t), 5, 0.2)
	one, other := r.set(50, 5), r.set(60, 6)
	other.Digest[0] = 1
	gen, err := Rebuild(context.Background(), mustBuild(t, one), other, other, renderers)
	if err != nil {
		t.Fatal(err)
	}
	checkSame(t, gen, mustBuild(t, other), other, r)
	if gen, err = Rebuild(context.Background(), nil, nil, one, renderers); err != nil || gen.Benchmarks.Len() != 50 {
		t.Errorf("Rebuild of nothing = %v, %v", gen, err)
	}
}

// BenchmarkRebuild is one edit of a field that no order depends on, and one record more at the
// head of the default order, which moves every ordinal.
func BenchmarkRebuild(b *testing.B) {
	rend := renderers
	rend.Benchmark = func(dst []byte, _ *dataset.Benchmark, _ Computed) ([]byte, error) {
		return append(dst, leanRow...), nil
	}
	for _, n := range benchRows {
		last := benchSet(n)
		gen, err := Build(context.Background(), last, rend)
		if err != nil {
			b.Fatal(err)
		}
		edited, longer := *last, *last
		runs, speed := last.Benchmarks.All(), math.Pi
		was := runs[n/2].GenerationTPS
		runs[n/2].GenerationTPS = &speed
		edited.Benchmarks = pack.New(runs)
		runs[n/2].GenerationTPS = was
		first := runs[0]
		first.ID = "a-first"
		longer.Benchmarks = pack.New(slices.Concat([]dataset.Benchmark{first}, runs))
		for name, set := range map[string]*dataset.Set{"edit": &edited, "insert": &longer} {
			b.Run(fmt.Sprintf("rows=%d/%s", n, name), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Rebuild(context.Background(), gen, last, set, rend); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestBuildEnds: a build whose context ends, before it begins or while rows are rendered, gives the error of the
// context and no generation.
func TestBuildEnds(t *testing.T) {
	set := newRandom(seedOf(t), 50, 0.2).set(3000, 50)
	for _, begun := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		r := renderers
		if begun {
			r.Benchmark = func(dst []byte, b *dataset.Benchmark, c Computed) ([]byte, error) {
				cancel()
				return renderers.Benchmark(dst, b, c)
			}
		} else {
			cancel()
		}
		if gen, err := Build(ctx, set, r); gen != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("begun %v: Build = %v, %v, want the error of the context", begun, gen != nil, err)
		}
		cancel()
	}
}

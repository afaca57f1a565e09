package index

import (
	"math"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// TestSmallSets compares bitsets of every length around the ends of words with lists of their ordinals.
func TestSmallSets(t *testing.T) {
	t.Parallel()
	r := newRandom(seedOf(t), 1, 0)
	for _, n := range []int{1, 2, 63, 64, 65, 127, 128, 129, 2000, smallTable} {
		for range 2 + 4000/(n+100) {
			a, b, c := r.ordinals(n), r.ordinals(n), newColumn(r.nums(n, 1+r.IntN(40)), false, false, new(sorting))
			table := &Table{n: n, columns: map[Field]*column{"a": c}, postings: map[Field]*posting{"b": {
				n: n, byValue: map[string]*roaring.Bitmap{"a": roaring.BitmapOf(a...), "b": roaring.BitmapOf(b...)}, unknown: roaring.New(),
			}}}
			s := newSmallSets(table)
			table.small = s
			sets := []*roaring.Bitmap{table.postings["b"].byValue["a"], table.postings["b"].byValue["b"]}[:r.IntN(3)]
			want := roaring.Flip(roaring.New(), 0, uint64(n))
			for _, set := range sets {
				want.And(set)
			}
			w := s.intersection(sets)
			same := func(what string) {
				t.Helper()
				if got := w.appendFrom(nil, 0, n+1); !slices.Equal(got, want.ToArray()) || w.count() != len(got) {
					t.Fatalf("%s of %d records: %d, counted %d, want %d", what, n, len(got), w.count(), want.GetCardinality())
				}
			}
			same("intersection")
			if got, want := s.countIn(w, c.unknown), int(want.AndCardinality(c.unknown)); got != want {
				t.Fatalf("%d records: %d are unknown, want %d", n, got, want)
			}
			from, k := r.IntN(n), r.IntN(n+2)
			later := slices.DeleteFunc(want.ToArray(), func(ord uint32) bool { return int(ord) < from })
			if got := w.appendFrom(nil, from, k); !slices.Equal(got, later[:min(k, len(later))]) {
				t.Fatalf("%d records from %d: %d, want %d", k, from, len(got), min(k, len(later)))
			}
			rg := Range{"a", []float64{math.Inf(-1), float64(r.IntN(40) - 20)}[r.IntN(2)], []float64{math.Inf(1), float64(r.IntN(40) - 20)}[r.IntN(2)]}
			table.keepWithin(w, rg)
			for _, ord := range want.ToArray() {
				if !rg.has(c.nums[ord]) {
					want.Remove(ord)
				}
			}
			same("range")
		}
	}
}

// ordinals are none, some or all numbers below n.
func (r *random) ordinals(n int) []uint32 {
	var out []uint32
	for share, i := []float64{0, 0.01, 0.3, 0.9, 1}[r.IntN(5)], 0; i < n; i++ {
		if r.Float64() < share {
			out = append(out, uint32(i))
		}
	}
	return out
}

// TestSmallSetsAreLarge holds the bitsets of a table to the sets that are large.
func TestSmallSetsAreLarge(t *testing.T) {
	_, gen := shippedGeneration(t)
	s, bytes := gen.Benchmarks.small, 0
	for set, w := range s.made {
		if set.GetCardinality() < uint64(s.n/32) {
			t.Errorf("a set of %d of %d records is kept as bits", set.GetCardinality(), s.n)
		}
		bytes += 8 * len(w)
	}
	t.Logf("%d sets of %d benchmarks are %d bytes as bits", len(s.made), s.n, bytes)
	if cuda := gen.Benchmarks.postings[Backend].byValue["cuda"]; s.made[cuda] == nil {
		t.Errorf("the %d benchmarks of cuda are not kept as bits", cuda.GetCardinality())
	}
}

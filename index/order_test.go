package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	gocmp "github.com/google/go-cmp/cmp"
)

// TestRoutesAgree asks the same of each way to a page: ranking all matches, ranking a
// stretch of them, and walking. Matches lie even, at one end, or in clumps of the order.
func TestRoutesAgree(t *testing.T) {
	t.Parallel()
	r := newRandom(seedOf(t), 1, 0)
	for _, distinct := range []int{1, 3, 40, 100_000} {
		for _, n := range []int{10, 3000, 20_000} {
			c := newColumn(r.nums(n, distinct), false, false, new(sorting))
			table := &Table{n: n}
			for range 20 {
				o := ordering{t: table, col: c, desc: r.IntN(2) == 0, start: r.IntN(c.known)}
				found, k := r.matches(c), 1+r.IntN(n)
				if r.IntN(2) == 0 { // a page that ends exactly at an edge, or one record after it
					o.start, k = r.page(c, found, o.desc)
				}
				ranked := o.rank(nil, found, nil, k)
				narrowed := o.rank(nil, c.narrow(found, o.start, k, o.desc), nil, k)
				if !slices.Equal(ranked, narrowed) {
					t.Fatalf("%d distinct of %d, desc %v, %d from place %d: narrowed (-ranked +narrowed):\n%s", distinct, n, o.desc, k, o.start, gocmp.Diff(ranked, narrowed))
				}
				walked := o.walk(nil, &matches{candidates: found}, k, c.known)
				if !slices.Equal(walked, ranked[:min(len(ranked), len(walked))]) {
					t.Fatalf("%d distinct of %d, desc %v, %d from place %d: walked %v, ranked %v", distinct, n, o.desc, k, o.start, walked, ranked)
				}
				if len(walked) < len(ranked) && o.start+trySteps >= c.known {
					t.Fatalf("%d distinct of %d, desc %v, %d from place %d: walked to the end for %d, want %d", distinct, n, o.desc, k, o.start, len(walked), len(ranked))
				}
			}
		}
	}
}

// nums are numbers of about as many distinct values, the first known and some unknown.
func (r *random) nums(n, distinct int) []float64 {
	out := make([]float64, n)
	for i := range out {
		if out[i] = float64(r.IntN(distinct)) - float64(distinct/2); i > 0 && r.IntN(10) == 0 {
			out[i] = math.NaN()
		}
	}
	return out
}

// page begins at an edge and has the matches up to another, or one more.
func (r *random) page(c *column, found *roaring.Bitmap, desc bool) (start, k int) {
	low := r.IntN(len(c.edges) - 1)
	high := low + r.IntN(len(c.edges)-low)
	between := int(found.AndCardinality(c.edges[high].below) - found.AndCardinality(c.edges[low].below))
	if start = c.edges[low].place; desc {
		start = c.known - c.edges[high].place
	}
	return min(start, c.known-1), max(1, between+r.IntN(2))
}

func (r *random) matches(c *column) *roaring.Bitmap {
	out := roaring.New()
	share, from := r.Float64(), r.IntN(len(c.asc))
	to := from + r.IntN(len(c.asc)-from)
	for place, ord := range c.asc {
		if r.Float64() < share || place >= from && place < to {
			out.Add(ord)
		}
	}
	if r.IntN(2) == 0 { // nothing but the clump
		out.Clear()
		out.AddMany(c.asc[from:to])
	}
	return out
}

// TestAscending sorts what bits could get wrong: signs, zeros, infinities, ties.
func TestAscending(t *testing.T) {
	r := newRandom(seedOf(t), 1, 0)
	for round := range 200 {
		n := r.IntN(60)
		if round%20 == 0 {
			n = r.IntN(5000)
		}
		nums := make([]float64, n)
		for i := range nums {
			nums[i] = []float64{
				math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64,
				math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, r.NormFloat64(), float64(r.IntN(3)), 20240511,
				math.Round(r.Float64()*1e5) / 100, 1 + float64(r.IntN(4))*0x1p-52, 20240101 + float64(r.IntN(1000)),
			}[r.IntN(15)]
			if round%2 == 0 && math.Abs(nums[i]) > 1e9 {
				nums[i] = r.Float64() // of numbers that are near each other, more bits count
			}
		}
		var want, unknown []uint32
		for i, v := range nums {
			if math.IsNaN(v) {
				unknown = append(unknown, uint32(i))
			} else {
				want = append(want, uint32(i))
			}
		}
		slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(nums[a], nums[b]) })
		if got, _ := new(sorting).ascending(nums); !slices.Equal(got, append(want, unknown...)) {
			t.Fatalf("ascending(%v) = %v, want %v", nums, got, append(want, unknown...))
		}
	}
}

// TestWithin compares ranges with a loop, over columns with few and many bins.
func TestWithin(t *testing.T) {
	r := newRandom(seedOf(t), 1, 0)
	for _, distinct := range []int{1, 3, 40, 100_000} {
		for _, n := range []int{1, 10, 3000, 20_000} {
			c := newColumn(r.nums(n, distinct), false, false, new(sorting))
			for range 60 {
				low := float64(r.IntN(distinct)-distinct/2) - 0.5*float64(r.IntN(2))
				high := low + float64(r.IntN(distinct+1))
				var want []uint32
				for i, v := range c.nums {
					if v >= low && v <= high {
						want = append(want, uint32(i))
					}
				}
				if got := c.within(Range{Min: low, Max: high}).ToArray(); !slices.Equal(got, want) {
					t.Fatalf("within(%v, %v) of %d distinct of %d = %d ordinals, want %d", low, high, distinct, n, len(got), len(want))
				}
			}
		}
	}
}

// TestEdges holds cuts to what within and narrow rely on.
func TestEdges(t *testing.T) {
	r := newRandom(seedOf(t), 1, 0)
	for _, distinct := range []int{1, 3, 40, 100_000} {
		t.Run(fmt.Sprintf("distinct=%d", distinct), func(t *testing.T) {
			c := newColumn(r.nums(30_000, distinct), false, false, new(sorting))
			if len(c.edges) > maxBins+2 {
				t.Errorf("%d edges, want at most %d", len(c.edges), maxBins+2)
			}
			for i, e := range c.edges {
				want := slices.Sorted(slices.Values(c.asc[:e.place]))
				if !slices.Equal(e.below.ToArray(), want) {
					t.Errorf("edge %d at place %d has %d ordinals, want those of all places before it", i, e.place, e.below.GetCardinality())
				}
				if p := e.place; p > 0 && p < c.known && c.nums[c.asc[p-1]] == c.nums[c.asc[p]] {
					t.Errorf("edge %d at place %d separates equal values %v", i, p, c.nums[c.asc[p]])
				}
			}
		})
	}
}

// TestTryGivesUp asks for a page in default order whose records all lie far behind, by a range
// and by two filters, each of which says that they should be near.
func TestTryGivesUp(t *testing.T) {
	const n, far = 60_000, 40_000
	dates, speeds := make([]float64, n), make([]float64, n)
	for i := range n {
		dates[i], speeds[i] = float64(n-i), float64(i)
	}
	type place struct{ at int }
	b := builder[place]{
		ctx: t.Context(),
		n:   n, home: Sort{RunDate, true},
		slug: func(i int) string { return fmt.Sprint(i) },
		row:  same(func(dst []byte, _ int) ([]byte, error) { return dst, nil }),
		reader: func() func(from, to int) []place {
			return func(from, to int) (out []place) {
				for i := from; i < to; i++ {
					out = append(out, place{i})
				}
				return out
			}
		},
		fields: []FieldOf[place]{
			{Name: RunDate, Number: func(p *place) float64 { return dates[p.at] }, Uses: Sorts},
			{Name: GenerationTPS, Number: func(p *place) float64 { return speeds[p.at] }, Uses: Sorts},
			{Name: Tool, Param: "tool", Text: func(p *place) string {
				if p.at < 20_000 || p.at >= far {
					return "some"
				}
				return ""
			}},
			{Name: Backend, Param: "backend", Text: func(p *place) string {
				if p.at >= 20_000 {
					return "other"
				}
				return ""
			}},
		},
	}
	table, err := b.build()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		q    Query
	}{
		{"range", Query{Ranges: []Range{{GenerationTPS, far, n}}}},
		{"two filters", Query{Sets: []Set{{Field: Tool, Values: []string{"some"}}, {Field: Backend, Values: []string{"other"}}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.q.Limit = 2
			page := table.Select(tt.q)
			if want := []uint32{far, far + 1}; !slices.Equal(page.Ords, want) || page.Total != n-far || page.Next == nil {
				t.Errorf("Select(%v) = %v of %d, want %v of %d and a next page", tt.q, page.Ords, page.Total, want, n-far)
			}
		})
	}
}

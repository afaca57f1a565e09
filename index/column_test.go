package index

import (
	"math"
	"slices"
	"testing"
)

// TestWithin compares ranges with a loop, over columns of few and many values.
func TestWithin(t *testing.T) {
	r := newRandom(seedOf(t), 1, 0)
	for _, distinct := range []int{1, 3, 40, 100_000} {
		for _, n := range []int{1, 10, 3000, 20_000} {
			c := newColumn(r.nums(n, distinct))
			for range 60 {
				low := float64(r.IntN(distinct)-distinct/2) - 0.5*float64(r.IntN(2))
				high := low + float64(r.IntN(distinct+1))
				var want []uint32
				for i, v := range c.nums {
					if v >= low && v <= high {
						want = append(want, uint32(i))
					}
				}
				if got := c.within(Range{Min: low, Max: high}).ordinals(nil, 0, n); !slices.Equal(got, want) {
					t.Fatalf("within(%v, %v) of %d distinct of %d = %d ordinals, want %d", low, high, distinct, n, len(got), len(want))
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

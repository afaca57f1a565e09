package index

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// orders are orders of n values that divide well or badly at some pivots.
func orders(n int, rng *rand.Rand) map[string][]float64 {
	out := map[string][]float64{}
	fill := func(name string, value func(i int) float64) {
		values := make([]float64, n)
		for i := range values {
			values[i] = value(i)
		}
		out[name] = values
	}
	fill("random", func(int) float64 { return rng.Float64() })
	fill("few values", func(int) float64 { return float64(rng.IntN(3)) })
	fill("equal", func(int) float64 { return 7 })
	fill("ascending", func(i int) float64 { return float64(i) })
	fill("descending", func(i int) float64 { return float64(-i) })
	fill("up and down", func(i int) float64 { return float64(min(i, n-i)) })
	fill("down and up", func(i int) float64 { return float64(max(i, n-i)) })
	fill("sawtooth", func(i int) float64 { return float64(i % 17) })
	return out
}

// TestArrange: the values at the ranks are those of the sorted values, nothing is lost, and those between
// two ranks are between them in value.
func TestArrange(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, n := range []int{1, 2, 3, fewToSort, fewToSort + 1, 200, 5000} {
		for name, values := range orders(n, rng) {
			sorted := slices.Sorted(slices.Values(values))
			ranks := summaryRanks(n)
			if rng.IntN(2) == 0 {
				ranks = []int{rng.IntN(n)}
			}
			arrange(values, ranks)
			before := 0
			for _, rank := range append(ranks, n-1) {
				if rank < n-1 && values[rank] != sorted[rank] {
					t.Fatalf("seed %d, %s, %d values: at %d is %g, want %g", seed, name, n, rank, values[rank], sorted[rank])
				}
				for i := before; i <= rank && slices.Contains(ranks, rank); i++ {
					if values[i] > values[rank] {
						t.Fatalf("seed %d, %s, %d values: %g at %d is before %g at %d", seed, name, n, values[i], i, values[rank], rank)
					}
				}
				before = rank
			}
			if slices.Sort(values); !slices.Equal(values, sorted) {
				t.Fatalf("seed %d, %s, %d values: other values than before", seed, name, n)
			}
		}
	}
}

// BenchmarkArrange compares arranging the values of a summary with sorting all.
func BenchmarkArrange(b *testing.B) {
	random := orders(30_000, rand.New(rand.NewPCG(1, 1)))["random"]
	values := make([]float64, len(random))
	for name, f := range map[string]func(){
		"arranged": func() { arrange(values, summaryRanks(len(values))) },
		"sorted":   func() { slices.Sort(values) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				copy(values, random)
				f()
			}
		})
	}
}

package resolve

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestInsert: what insert keeps are the first records of all names in order, whatever order they come in.
func TestInsert(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	for round := range 500 {
		all := make([]alike, rng.IntN(40))
		for i := range all {
			all[i] = alike{int32(rng.IntN(8)), float64(rng.IntN(6)) / 5, int32(i)} // records have several names, and shares are often equal
		}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		n := 1 + rng.IntN(MaxCandidates)
		var got, want []alike
		for _, a := range all {
			got = insert(got, a, n)
		}
		for _, a := range slices.SortedFunc(slices.Values(all), alike.compare) {
			if len(want) < n && !slices.ContainsFunc(want, func(b alike) bool { return b.owner == a.owner }) {
				want = append(want, a)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, round %d: the first %d of %v are %v, want %v", seed, round, n, all, got, want)
		}
	}
}

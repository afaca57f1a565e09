package dataset

import (
	"math/rand/v2"
	"testing"
)

// TestFirsts compares the table with a map, also with hashes of which many are equal.
func TestFirsts(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, mask := range []uint64{0, 7, 0xff00000000, ^uint64(0)} {
		random := rand.New(rand.NewPCG(seed, mask))
		things := make([]uint64, 3000)
		table, want := newFirsts(len(things)), map[uint64]int{}
		for i := range things {
			things[i] = random.Uint64N(2000) * 0x9e3779b97f4a7c15
			if _, known := want[things[i]]; !known {
				want[things[i]] = i
			}
			got := table.first(i, things[i]&mask, func(k int) bool { return things[k] == things[i] })
			if got != want[things[i]] {
				t.Fatalf("mask %x: first(%d) = %d, want %d", mask, i, got, want[things[i]])
			}
		}
	}
}

package index

import "testing"

// TestNumberDistinct numbers things whose hashes are equal in one half, in both, or not at all.
func TestNumberDistinct(t *testing.T) {
	r := newRandom(seedOf(t), 1, 0)
	things := make([]int, 3000)
	for i := range things {
		things[i] = r.IntN(1000)
	}
	hashes := map[string]func(v int) uint64{
		"differ": func(v int) uint64 { return uint64(v) * 0x9e3779b97f4a7c15 },
		"upper":  func(v int) uint64 { return uint64(v) },
		"lower":  func(v int) uint64 { return uint64(v) << 32 },
		"both":   func(int) uint64 { return 7 },
	}
	for name, hash := range hashes {
		numbers, distinct := numberDistinct(len(things), func(i int) (uint64, bool) { return hash(things[i]), things[i] != 0 },
			func(i, k int) bool { return things[i] == things[k] })
		want := map[int]uint32{0: 0}
		for i, v := range things {
			if _, met := want[v]; !met {
				want[v] = uint32(len(want))
			}
			if numbers[i] != want[v] {
				t.Fatalf("equal halves %s: thing %d, a %d, has number %d, want %d", name, i, v, numbers[i], want[v])
			}
		}
		if distinct != len(want)-1 {
			t.Errorf("equal halves %s: %d distinct, want %d", name, distinct, len(want)-1)
		}
	}
}

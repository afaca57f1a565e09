package fit

import (
	"fmt"
	"slices"
	"testing"

	"modeldex/dataset"
)

// Of too many samples one of each configuration is kept before a second of any, in whatever order they come.
func TestThinned(t *testing.T) {
	r := seeded(t)
	var samples []sample
	for i := range 900 {
		s := sample{id: dataset.Slug(fmt.Sprintf("bm-%d", i)), page: int32(i)}
		if i >= 800 { // a hundred configurations of one page; the others are one configuration
			s.quant = int32(i)
		}
		samples = append(samples, s)
	}
	kept := thinned(slices.Clone(samples), 300)
	alone, ids := 0, map[dataset.Slug]bool{}
	for _, s := range kept {
		ids[s.id] = true
		if s.quant > 0 {
			alone++
		}
	}
	if len(kept) != 300 || len(ids) != 300 || alone != 100 {
		t.Fatalf("%d samples of %d ids, %d of the 100 configurations with one page", len(kept), len(ids), alone)
	}
	r.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
	if again := thinned(samples, 300); !slices.Equal(kept, again) {
		t.Error("another order of the samples gives another choice")
	}
	if few := thinned(samples, 900); len(few) != 900 {
		t.Errorf("%d of 900 samples where so many may be kept", len(few))
	}
}

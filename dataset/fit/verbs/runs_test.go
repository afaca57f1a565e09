package verbs

import (
	"slices"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/fit"
)

// The largest model that runs well comes first, not the largest that was cut to two bits.
func TestLargestFirst(t *testing.T) {
	t.Parallel()
	bits := func(b float64) *float64 { return &b }
	best := []fit.Best{
		{Model: "unknown-size", BitsPerWeight: bits(4.8)},
		{Model: "large-cut", BitsPerWeight: bits(2.1)},
		{Model: "small", BitsPerWeight: bits(8.5)},
		{Model: "huge-cut", BitsPerWeight: bits(1.6)},
		{Model: "middle", BitsPerWeight: bits(4)},
		{Model: "unknown-bits"},
	}
	largestFirst(best, map[dataset.Slug]float64{"large-cut": 70, "small": 3, "huge-cut": 400, "middle": 14, "unknown-bits": 7})
	var got []dataset.Slug
	for _, b := range best {
		got = append(got, b.Model)
	}
	if want := []dataset.Slug{"middle", "unknown-bits", "small", "unknown-size", "huge-cut", "large-cut"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

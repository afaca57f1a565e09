package dataset

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRelations(t *testing.T) {
	list := func(slugs ...Slug) *[]Slug { return &slugs }
	graphics, fast, slow := Slug("graphics"), 200.0, 100.0
	r := NewRelations([]Hardware{
		{Slug: "chip-a", IntegratedGPU: &graphics, MemoryBandwidthGBps: &fast},
		{Slug: "chip-b", IntegratedGPU: &graphics, MemoryBandwidthGBps: &fast},
		{Slug: "graphics"},
		{Slug: "box", Chip: list("chip-a")},
		{Slug: "cube", Chip: list("chip-a")},
		{Slug: "laptop", Chip: list("chip-a", "chip-b")},
		{Slug: "any", Variants: list("small", "large", "slow", "unknown")},
		{Slug: "small", MemoryBandwidthGBps: &fast},
		{Slug: "large", MemoryBandwidthGBps: &fast},
		{Slug: "slow", MemoryBandwidthGBps: &slow},
		{Slug: "unknown"},
		{Slug: "tower", Chip: list("large")},
		{Slug: "alone"},
	})
	for slug, want := range map[Slug]map[Slug]Relation{
		"chip-a":   {"chip-a": SamePart, "graphics": Variant, "box": Machine, "cube": Machine, "laptop": Machine},
		"chip-b":   {"chip-b": SamePart, "graphics": Variant, "laptop": Machine},
		"graphics": {"graphics": SamePart, "chip-a": Variant, "chip-b": Variant, "box": Machine, "cube": Machine, "laptop": Machine},
		"box":      {"box": SamePart, "chip-a": Machine, "graphics": Machine, "cube": Sibling},
		"any":      {"any": SamePart, "small": Variant, "large": Variant, "slow": Variant, "unknown": Variant, "tower": Machine},
		"small":    {"small": SamePart, "any": Variant, "large": Sibling, "tower": Sibling},
		"tower":    {"tower": SamePart, "any": Machine, "large": Machine, "small": Sibling},
		"slow":     {"slow": SamePart, "any": Variant},
		"alone":    {"alone": SamePart},
		"nothing":  nil,
	} {
		if diff := cmp.Diff(want, r.of[slug]); diff != "" {
			t.Errorf("relations of %s (-want +got):\n%s", slug, diff)
		}
	}
	for slug, want := range map[Slug][]Slug{
		"chip-a": {"box", "cube"}, "graphics": {"box", "chip-a", "chip-b", "cube", "laptop"},
		"any": {"large", "slow", "small", "tower", "unknown"}, "large": {"tower"}, "box": nil, "laptop": nil,
	} {
		if got := r.Forms(slug); !slices.Equal(got, want) {
			t.Errorf("Forms(%s) = %v, want %v", slug, got, want)
		}
	}
}

// TestShippedRelations: over all pairs of shipped hardware the relation is the same from both sides, a record is the same
// part as itself alone, and a form is related to what it is a form of.
func TestShippedRelations(t *testing.T) {
	hardware := mustShipped(t).Hardware
	r := NewRelations(hardware)
	related := 0
	for i := range hardware {
		a := hardware[i].Slug
		for j := range hardware {
			b := hardware[j].Slug
			is := r.Between(a, b)
			if back := r.Between(b, a); is != back || (is == SamePart) != (a == b) {
				t.Errorf("%s and %s are %q, and %q the other way round", a, b, is, back)
			}
			if listed := slices.Contains(r.Related(a), b); listed != (is != "") {
				t.Errorf("Related(%s) has %s: %t, but they are %q", a, b, listed, is)
			}
			if is == "" && slices.Contains(r.Forms(a), b) {
				t.Errorf("%s is a form of %s and not related to it", b, a)
			}
			related += len(is)
		}
		if of := r.Related(a); of[0] != a {
			t.Errorf("Related(%s) begins with %s", a, of[0])
		}
	}
	if related == len("same")*len(hardware) {
		t.Error("no records are related")
	}
	for _, pair := range []struct {
		a, b Slug
		is   Relation
	}{
		{"amd-radeon-8060s", "amd-ryzen-ai-max-395", Variant},
		{"nvidia-dgx-spark", "nvidia-gb10", Machine},
		{"apple-m2-ultra", "apple-mac-studio-m2-ultra", Machine},
		{"apple-m2-8gpu", "apple-m2", Variant},
		{"apple-m2-8gpu", "apple-m2-10gpu", Sibling},
		{"nvidia-a100-sxm4-40gb", "nvidia-a100-sxm4-80gb", ""},
	} {
		if is := r.Between(pair.a, pair.b); is != pair.is {
			t.Errorf("%s and %s are %q, want %q", pair.a, pair.b, is, pair.is)
		}
	}
}

package index

import (
	"context"
	"slices"
	"testing"

	"modeldex/dataset"
)

// TestGenerationCredits: a generation has the credits of its set, built again or from the one before.
func TestGenerationCredits(t *testing.T) {
	t.Parallel()
	set, gen := shippedGeneration(t)
	again, err := Rebuild(context.Background(), gen, set, set, renderers)
	if err != nil {
		t.Fatal(err)
	}
	want := dataset.Credits(set)
	if len(want) == 0 || !slices.Equal(gen.Credits, want) || !slices.Equal(again.Credits, want) {
		t.Errorf("%d and %d credits, want those of the set, %d", len(gen.Credits), len(again.Credits), len(want))
	}
}

package record

import (
	"math"
	"testing"
)

// TestQuantile checks values that R gives for quantile(x, p, type = 7).
func TestQuantile(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16}
	for p, want := range map[float64]float64{0: 1, 0.1: 1.4, 0.25: 2, 0.5: 4, 0.75: 8, 0.9: 12.8, 1: 16} {
		if got := Quantile(x, p); math.Abs(got-want) > 1e-12 {
			t.Errorf("Quantile(%v, %v) = %v, want %v", x, p, got, want)
		}
	}
	if got := Quantile([]float64{7}, 0.9); got != 7 {
		t.Errorf("quantile of one value = %v, want 7", got)
	}
}

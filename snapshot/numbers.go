package snapshot

import "math"

// round4 rounds to four decimals, half away from zero.
func round4(x float64) float64 { return math.Round(float64(x*1e4)) / 1e4 }

// round6 rounds to six decimals, half away from zero.
func round6(x float64) float64 { return math.Round(float64(x*1e6)) / 1e6 }

// weightedMean is the composite of components, rounded; nil without any weight, or with weights too large to add.
func weightedMean(parts []Component) *float64 {
	var sum, weights float64
	for _, p := range parts {
		sum += float64(p.Weight * p.Normalized)
		weights += p.Weight
	}
	if !(weights > 0) || math.IsInf(weights, 0) || math.IsInf(sum, 0) {
		return nil
	}
	x := round4(sum / weights)
	return &x
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

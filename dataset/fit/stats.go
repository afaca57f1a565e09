package fit

import (
	"math"
	"slices"
)

// medianOf sorts values and gives the middle one, the mean of the middle two of an even number.
func medianOf(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}

// at is the quantile of sorted values by linear interpolation (type 7).
func at(sorted []float64, q float64) float64 {
	place := q * float64(len(sorted)-1)
	i := int(place)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (place-float64(i))*(sorted[i+1]-sorted[i])
}

func round3(v float64) float64 { return math.Round(v*1e3) / 1e3 }

func round4(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// nearness gives the median of errors, and the parts within 25 % and factors of 1.5 and 2.
func nearness(logs []float64) (median, within25, within50, within100 float64) {
	abs := make([]float64, len(logs))
	for i, l := range logs {
		abs[i] = math.Abs(math.Exp(l) - 1)
		within25 += float64(oneIf(abs[i] <= 0.25))
		within50 += float64(oneIf(math.Abs(l) <= math.Log(1.5)))
		within100 += float64(oneIf(math.Abs(l) <= math.Log(2)))
	}
	n := float64(len(logs))
	return round4(medianOf(abs)), round4(within25 / n), round4(within50 / n), round4(within100 / n)
}

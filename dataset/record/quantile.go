package record

import "slices"

// Quantile is the q-quantile of at least one value in ascending order: the linear interpolation at the place (n-1)q, counted
// from 0. This is type 7 of Hyndman and Fan (Sample Quantiles in Statistical Packages, The American Statistician 1996),
// the default of R and NumPy.
func Quantile(sorted []float64, q float64) float64 {
	place := float64(len(sorted)-1) * q
	low := int(place)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (place-float64(low))*(sorted[high]-sorted[low])
}

// Median is the middle of at least one value, which it puts in order.
func Median(values []float64) float64 {
	slices.Sort(values)
	return Quantile(values, 0.5)
}

package index

// quantile is the p-quantile of at least one value, in ascending order, by the definition known as
// type 7 (Hyndman and Fan, Sample Quantiles in Statistical Packages, The American Statistician 1996,
// the default of R and NumPy): linear interpolation at the place (n-1)p, counted from 0.
func quantile(sorted []float64, p float64) float64 {
	low, high, share := quantileRanks(len(sorted), p)
	return sorted[low] + share*(sorted[high]-sorted[low])
}

// quantileRanks are the ranks of the values that quantile reads, and the share of the way from one to
// the other.
func quantileRanks(n int, p float64) (low, high int, share float64) {
	place := float64(n-1) * p
	low = int(place)
	return low, min(low+1, n-1), place - float64(low)
}

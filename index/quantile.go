package index

// quantile is the p-quantile of at least one value, in ascending order: the linear interpolation at the
// place (n-1)p, counted from 0. This is type 7 of Hyndman and Fan (Sample Quantiles in Statistical
// Packages, The American Statistician 1996), the default of R and NumPy.
func quantile(sorted []float64, p float64) float64 {
	low, high, share := quantileRanks(len(sorted), p)
	return interpolate(sorted[low], sorted[high], share)
}

// quantileRanks are the ranks of the values that quantile reads, and the share of the way from one to
// the other.
func quantileRanks(n int, p float64) (low, high int, share float64) {
	place := float64(n-1) * p
	low = int(place)
	return low, min(low+1, n-1), place - float64(low)
}

// interpolate is the value at a share of the way from one value to another.
func interpolate(low, high, share float64) float64 { return low + share*(high-low) }

// summaryPs are the quantiles of a group, in ascending order.
var summaryPs = [...]float64{0.10, 0.25, 0.50, 0.75, 0.90}

// picks is how many values a summary reads at most.
const picks = 2*len(summaryPs) + 2

// pickedRank is the rank of the value number k, from 0, that the summary of n values reads. Of at most picks
// values it reads every one. Of more it reads the first, the two of each quantile, and the last, some of
// them twice. Ranks do not descend.
func pickedRank(n, k int) int {
	switch {
	case n <= picks:
		return k
	case k == 0:
		return 0
	case k == picks-1:
		return n - 1
	}
	low, high, _ := quantileRanks(n, summaryPs[(k-1)/2])
	if k%2 == 1 {
		return low
	}
	return high
}

// summarize sets the quantiles of a group, of values in ascending order. N becomes their number.
func (g *Group) summarize(sorted []float64) {
	var picked [picks]float64
	for k := range min(len(sorted), picks) {
		picked[k] = sorted[pickedRank(len(sorted), k)]
	}
	g.summarizePicked(len(sorted), &picked)
}

// summarizePicked sets the quantiles of a group, of those of its n values that are at pickedRank.
func (g *Group) summarizePicked(n int, picked *[picks]float64) {
	quantiles := [len(summaryPs)]*float64{&g.P10, &g.P25, &g.Median, &g.P75, &g.P90}
	for i, p := range summaryPs {
		if n <= picks {
			*quantiles[i] = quantile(picked[:n], p)
		} else {
			_, _, share := quantileRanks(n, p)
			*quantiles[i] = interpolate(picked[2*i+1], picked[2*i+2], share)
		}
	}
	g.N, g.Min, g.Max = n, picked[0], picked[min(n, picks)-1]
}

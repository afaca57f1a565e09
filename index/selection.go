package index

import (
	"math/bits"
	"slices"
)

// fewToSort is how many values are sorted rather than divided: for so few it is as fast.
const fewToSort = 64

// arrange puts those values where they would be in ascending order whose ranks are asked for, which are
// ascending too; the others are anywhere between them. The work is in proportion to the number of
// values times the logarithm of the number of ranks: values are divided at a pivot until no rank is
// left in a part (Hoare, Find, Communications of the ACM 1961; Chambers, Partial Sorting, 1971). Parts
// that bad pivots leave large are sorted, so no order of values costs more than sorting them.
func arrange(values []float64, ranks []int) {
	divide(values, 0, ranks, 2*bits.Len(uint(len(values))))
}

// divide arranges values of which the first has the rank first, with at most so many pivots one in the
// part of the other.
func divide(values []float64, first int, ranks []int, depth int) {
	for len(ranks) > 0 {
		if len(values) <= fewToSort || depth == 0 {
			slices.Sort(values)
			return
		}
		depth--
		n := partition(values)
		left, _ := slices.BinarySearch(ranks, first+n)
		divide(values[:n], first, ranks[:left], depth)
		values, first, ranks = values[n:], first+n, ranks[left:]
	}
}

// partition divides at least three values into n that are at most a pivot and the rest, at least it.
// Neither part is empty. The pivot is the median of the first, the middle and the last.
func partition(values []float64) (n int) {
	last := len(values) - 1
	a, b, c := values[0], values[last/2], values[last]
	switch {
	case (a <= b) == (b <= c):
		values[0], values[last/2] = b, a
	case (a <= c) == (c <= b):
		values[0], values[last] = c, a
	}
	pivot, i, j := values[0], -1, len(values)
	for {
		for i++; values[i] < pivot; i++ {
		}
		for j--; values[j] > pivot; j-- {
		}
		if i >= j {
			return j + 1
		}
		values[i], values[j] = values[j], values[i]
	}
}

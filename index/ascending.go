package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// ascending sorts ordinals by number, then by ordinal; all has the unknown ones at the end.
//
// Numbers are put into order by the 32 highest bits of what they differ in, digit by digit; only those
// that have all of these in common are compared. A million take a sixth of what comparing all of them does.
func (s *sorting) ascending(nums []float64) (all, unknown []uint32) {
	unknown = s.orderKeys(nums)
	s.sortByDigits()
	keys := s.keys
	all = make([]uint32, len(keys), len(nums))
	for i, k := range keys {
		all[i] = uint32(k)
	}
	for from, to := 0, 0; from < len(keys); from = to {
		for to = from + 1; to < len(keys) && keys[to]>>32 == keys[from]>>32; {
			to++
		}
		sortRun(all[from:to], nums)
	}
	return append(all, unknown...), unknown
}

// A sorting is memory that putting numbers into order needs, and reuses.
type sorting struct{ keys, other []uint64 }

// orderKeys sets a key for each known number, in the order of ordinals. Its lower half is the ordinal. Its upper half is a
// number that grows with the known number, or stays the same. NaN is unknown.
func (s *sorting) orderKeys(nums []float64) (unknown []uint32) {
	least, most, known := uint64(math.MaxUint64), uint64(0), 0
	for _, v := range nums {
		if !math.IsNaN(v) {
			b := orderedBits(v)
			least, most, known = min(least, b), max(most, b), known+1
		}
	}
	unknown = make([]uint32, 0, len(nums)-known)
	keys := sized(&s.keys, len(nums))[:0]
	shift := max(0, bits.Len64(most-least)-32)
	for i, v := range nums {
		if math.IsNaN(v) {
			unknown = append(unknown, uint32(i))
		} else {
			keys = append(keys, (orderedBits(v)-least)>>shift<<32|uint64(i))
		}
	}
	s.keys = keys
	return unknown
}

// orderedBits is a whole number that compares with those of other numbers as the numbers do. -0 equals 0.
func orderedBits(v float64) uint64 {
	b := math.Float64bits(v + 0) // -0 + 0 is 0
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// sortRun sorts ordinals, which are in order, by number, if their numbers differ.
func sortRun(ords []uint32, nums []float64) {
	first := nums[ords[0]]
	if slices.ContainsFunc(ords[1:], func(ord uint32) bool { return nums[ord] != first }) {
		slices.SortFunc(ords, func(a, b uint32) int { return cmp.Or(cmp.Compare(nums[a], nums[b]), cmp.Compare(a, b)) })
	}
}

// sortByDigits sorts keys by their upper halves and leaves keys with the same in order. From the lowest digit
// to the highest, it puts all keys with a digit behind those with smaller ones.
func (s *sorting) sortByDigits() {
	const digit = 11 // bits: the places of all its values fit the nearest cache
	from, to := s.keys, sized(&s.other, cap(s.keys))[:len(s.keys)]
	for shift := 32; shift < 64; shift += digit {
		var next [1 << digit]int // by value of the digit: how many keys have it, then the place of the next one
		for _, k := range from {
			next[k>>shift&(1<<digit-1)]++
		}
		place := 0
		for value, times := range next {
			next[value] = place
			place += times
		}
		for _, k := range from {
			at := &next[k>>shift&(1<<digit-1)]
			to[*at] = k
			*at++
		}
		from, to = to, from
	}
	s.keys, s.other = from, to
}

package index

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// A column has one value per record and the records in order of value. Unknown is NaN: it sorts
// last in both directions and is in no range. Records with equal values are in default order.
type column struct {
	nums      []float64 // by ordinal; a text column has the ranks of its texts here
	texts     []string  // by ordinal, text columns only
	asc, desc []uint32  // ordinals in order of value
	known     int       // the first known of asc and desc have a value
	unknown   bits
}

func newColumn(nums []float64) *column {
	c := &column{nums: nums, unknown: newBits(len(nums)), asc: make([]uint32, 0, len(nums))}
	for i, v := range nums {
		if math.IsNaN(v) {
			c.unknown.add(uint32(i))
		} else {
			c.asc = append(c.asc, uint32(i))
		}
	}
	c.known = len(c.asc)
	slices.SortStableFunc(c.asc, func(a, b uint32) int { return cmp.Compare(nums[a], nums[b]) })
	c.desc = make([]uint32, 0, len(nums))
	for end := c.known; end > 0; { // groups of equal values from last to first, each in default order
		start := sort.Search(end, func(i int) bool { return nums[c.asc[i]] >= nums[c.asc[end-1]] })
		c.desc = append(c.desc, c.asc[start:end]...)
		end = start
	}
	c.asc, c.desc = c.unknown.ordinals(c.asc, 0, len(nums)), c.unknown.ordinals(c.desc, 0, len(nums))
	return c
}

// newTextColumn makes a column of texts, all of them known.
func newTextColumn(texts []string) *column {
	distinct := slices.Compact(slices.Sorted(slices.Values(texts)))
	nums := make([]float64, len(texts))
	for i, t := range texts {
		rank, _ := slices.BinarySearch(distinct, t)
		nums[i] = float64(rank)
	}
	c := newColumn(nums)
	c.texts = texts
	return c
}

// interval returns the places lo..hi of ascending order whose values are in a range.
func (c *column) interval(r Range) (lo, hi int) {
	lo = sort.Search(c.known, func(i int) bool { return c.nums[c.asc[i]] >= r.Min })
	return lo, lo + sort.Search(c.known-lo, func(i int) bool { return c.nums[c.asc[lo+i]] > r.Max })
}

// within returns the ordinals whose value is in a range. It adds those inside to none, or removes those outside
// from all that are known if they are fewer.
func (c *column) within(r Range) (set bits) {
	lo, hi := c.interval(r)
	if inside := c.asc[lo:hi]; len(inside) < c.known/2 {
		set = newBits(len(c.nums))
		for _, ord := range inside {
			set.add(ord)
		}
	} else {
		set = allBits(len(c.nums)).without(c.unknown)
		for _, outside := range [][]uint32{c.asc[:lo], c.asc[hi:c.known]} {
			for _, ord := range outside {
				set.remove(ord)
			}
		}
	}
	return set
}

// compare compares the value of an ordinal with that of a position: negative if it comes before.
func (c *column) compare(ord uint32, p Position, desc bool) int {
	switch unknown := math.IsNaN(c.nums[ord]); {
	case unknown || !p.Known:
		return boolInt(unknown) - boolInt(!p.Known)
	case c.texts != nil && desc:
		return cmp.Compare(p.Text, c.texts[ord])
	case c.texts != nil:
		return cmp.Compare(c.texts[ord], p.Text)
	case desc:
		return cmp.Compare(p.Num, c.nums[ord])
	default:
		return cmp.Compare(c.nums[ord], p.Num)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

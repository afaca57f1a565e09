package index

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
)

// A column has one value per record and the records in order of value. Unknown is NaN: it sorts
// last in both directions and is in no range. Records with equal values are in default order.
type column struct {
	nums  []float64 // by ordinal; a text column has the ranks of its texts here
	texts []string  // by ordinal, text columns only
	// asc and desc are ordinals in order of value; nil where default order is that order.
	asc, desc []uint32
	known     int // the first known of asc and desc have a value
	unknown   *roaring.Bitmap
	edges     []edge // of the bins, see range_bitmap.go
}

// newColumn makes a column of numbers. ascHome and descHome say that default order already is
// that order.
func newColumn(nums []float64, ascHome, descHome bool, memory *sorting) *column {
	c := &column{nums: nums}
	var unknown []uint32
	c.asc, unknown = memory.ascending(nums)
	c.known = len(nums) - len(unknown)
	c.unknown = bitmapOf(unknown, newBitset(len(nums)))
	c.desc = c.descending()
	c.edges = c.newEdges()
	if ascHome {
		c.asc = nil
	}
	if descHome {
		c.desc = nil
	}
	return c
}

// newTextColumn makes a column of texts, all of them known.
func newTextColumn(texts []string, ascHome bool, memory *sorting) *column {
	distinct := slices.Clone(texts)
	slices.Sort(distinct)
	distinct = slices.Compact(distinct)
	nums := make([]float64, len(texts))
	for i, t := range texts {
		rank, _ := slices.BinarySearch(distinct, t)
		nums[i] = float64(rank)
	}
	c := newColumn(nums, ascHome, false, memory)
	c.texts = texts
	return c
}

// inAscending is the ordinals in order of value, of which the first known have a value.
func (c *column) inAscending() (ords []uint32, known int) {
	if c.asc != nil {
		return c.asc, c.known
	}
	ords, unknown := new(sorting).ascending(c.nums)
	return ords, len(ords) - len(unknown)
}

// descending reverses ascending order: groups of equal values from last to first, each group
// in default order, and the unknown ones last as before.
func (c *column) descending() []uint32 {
	out := make([]uint32, 0, len(c.asc))
	for end := c.known; end > 0; {
		start := end - 1
		for start > 0 && c.nums[c.asc[start-1]] == c.nums[c.asc[start]] {
			start--
		}
		out = append(out, c.asc[start:end]...)
		end = start
	}
	return append(out, c.asc[c.known:]...)
}

// ordinals is the order of a sort, nil for default order.
func (c *column) ordinals(desc bool) []uint32 {
	if desc {
		return c.desc
	}
	return c.asc
}

// seek returns the first place of ascending order with a value of at least v.
func (c *column) seek(v float64) int {
	return sort.Search(c.known, func(i int) bool { return c.nums[c.asc[i]] >= v })
}

// interval returns the places lo..hi of ascending order whose values are in a range.
func (c *column) interval(r Range) (lo, hi int) {
	lo = c.seek(r.Min)
	return lo, lo + sort.Search(c.known-lo, func(i int) bool { return c.nums[c.asc[lo+i]] > r.Max })
}

// within returns the ordinals whose value is in a range, of a column of numbers. The set may be shared.
func (c *column) within(r Range) *roaring.Bitmap {
	lo, hi := c.interval(r)
	if c.desc == nil { // default order: one run of ordinals, counted from the end
		out := roaring.New()
		out.AddRange(uint64(c.known-hi), uint64(c.known-lo))
		return out
	}
	// The difference of two edges differs from the range only between each edge and its end of
	// the range. Inverting those bits corrects it, on whichever side of the edge they are.
	from, to := c.nearestEdge(lo), c.nearestEdge(hi)
	if lo == 0 && hi == to.place { // all known values, and all below an edge
		return to.below
	}
	out := newBitset(len(c.nums))
	if from.place != to.place {
		roaring.Xor(from.below, to.below).WriteDenseTo(out)
	}
	out.flip(c.between(lo, from.place))
	out.flip(c.between(hi, to.place))
	return roaring.FromDense(out, false)
}

// between is the ordinals between two places of ascending order, given in either order.
func (c *column) between(a, b int) []uint32 { return c.asc[min(a, b):max(a, b)] }

// key is the sort key of an ordinal: smaller comes first. Unknown is NaN.
func (c *column) key(ord uint32, desc bool) float64 {
	if desc {
		return -c.nums[ord]
	}
	return c.nums[ord]
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

package index

import (
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
)

// A cut is the set of all ordinals before a place of ascending order. It never parts equal
// values, so what it leaves out begins descending order just as well. Cuts make a range the
// difference of two sets, and tell how many matches of a filter lie on either side of a value
// without looking at them.
type cut struct {
	place  int
	before *roaring.Bitmap // shared: only read
}

// The distance between cuts grows with the table, so that their number does not: at most
// maxCuts sets of a bit a record are 8 bytes a record.
const (
	maxCuts   = 64
	cutStride = 1024 // less is quicker done without cuts
)

// newCuts cuts ascending order into about equal steps.
func (c *column) newCuts() []cut {
	stride := max(cutStride, (c.known+maxCuts-1)/maxCuts)
	cuts, upTo := []cut{{0, roaring.New()}}, make([]uint64, (len(c.nums)+63)/64)
	for at := stride; at < c.known; at += stride {
		last := cuts[len(cuts)-1].place
		if place := c.seek(c.nums[c.asc[at]]); place > last {
			flip(upTo, c.between(last, place))
			cuts = append(cuts, cut{place, compact(roaring.FromDense(upTo, true))})
		}
	}
	return append(cuts, cut{c.known, compact(roaring.Flip(c.unknown, 0, uint64(len(c.nums))))})
}

// cutAt is the index of the first cut at or behind a place.
func (c *column) cutAt(place int) int {
	return sort.Search(len(c.cuts)-1, func(i int) bool { return c.cuts[i].place >= place })
}

// cutNear is the cut nearest to a place.
func (c *column) cutNear(place int) cut {
	i := c.cutAt(place)
	if i > 0 && place-c.cuts[i-1].place < c.cuts[i].place-place {
		i--
	}
	return c.cuts[i]
}

// narrow returns those of the matches that lie in a stretch of the order holding the first k
// of them behind start and few more: two steps between cuts and what k takes.
func (c *column) narrow(matches *roaring.Bitmap, start, k int, desc bool, w *work) *roaring.Bitmap {
	var low, high int // cuts around the stretch
	if desc {
		start = c.known - start // ascending again: the stretch ends there
		high = c.cutAt(start)
		low = c.cutBelow(start)
		enough := w.andCount(matches, c.cuts[low].before)
		low = sort.Search(low, func(i int) bool { return enough-w.andCount(matches, c.cuts[i].before) < uint64(k) }) - 1
		low = max(low, 0)
	} else {
		low, high = c.cutBelow(start), c.cutAt(start)
		enough := w.andCount(matches, c.cuts[high].before) + uint64(k)
		last := len(c.cuts) - 1
		high += sort.Search(last-high, func(i int) bool { return w.andCount(matches, c.cuts[high+i].before) >= enough })
	}
	stretch := w.and(matches, c.cuts[high].before)
	w.drop(stretch, c.cuts[low].before)
	return stretch
}

// cutBelow is the index of the last cut at or before a place.
func (c *column) cutBelow(place int) int {
	return sort.Search(len(c.cuts), func(i int) bool { return c.cuts[i].place > place }) - 1
}

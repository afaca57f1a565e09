package index

import (
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
)

// A column has a binned, range-encoded bitmap index (Chan and Ioannidis, SIGMOD 1998). The values in ascending
// order are divided into bins. The bitmap of a bin's lower edge has every ordinal below that edge. A range is
// then the difference of two bitmaps plus the records between an edge and the exact end of the range. How many
// matches of a filter are on either side of a value is one count, without visiting the matches.
//
// edge is a boundary between two bins. It never separates equal values, so the records not below
// it are a prefix of descending order as well.
type edge struct {
	place int             // in ascending order
	below *roaring.Bitmap // the ordinals at all places before; shared: only read
}

// The size of a bin grows with the table, so that the number of bins does not. At most maxBins bitmaps of one
// bit per record are 8 bytes per record.
const (
	maxBins = 64
	minBin  = 1024 // fewer records are counted faster one by one
)

// newEdges divides ascending order into bins of about equal size. The first edge is before all
// values, the last after all known values.
func (c *column) newEdges() []edge {
	size := max(minBin, (c.known+maxBins-1)/maxBins)
	edges, below := []edge{{0, roaring.New()}}, newBitset(len(c.nums))
	for at := size; at < c.known; at += size {
		last := edges[len(edges)-1].place
		if place := c.seek(c.nums[c.asc[at]]); place > last {
			below.flip(c.between(last, place))
			edges = append(edges, edge{place, compact(roaring.FromDense(below, true))})
		}
	}
	return append(edges, edge{c.known, compact(roaring.Flip(c.unknown, 0, uint64(len(c.nums))))})
}

// edgeFrom is the index of the first edge at or after a place.
func (c *column) edgeFrom(place int) int {
	return sort.Search(len(c.edges)-1, func(i int) bool { return c.edges[i].place >= place })
}

// edgeUpTo is the index of the last edge at or before a place.
func (c *column) edgeUpTo(place int) int {
	return sort.Search(len(c.edges), func(i int) bool { return c.edges[i].place > place }) - 1
}

// nearestEdge is the edge with the fewest records between it and a place.
func (c *column) nearestEdge(place int) edge {
	i := c.edgeFrom(place)
	if i > 0 && place-c.edges[i-1].place < c.edges[i].place-place {
		i--
	}
	return c.edges[i]
}

// edgeDistance is how many records are between a place and the nearest edge.
func (c *column) edgeDistance(place int) int {
	near := c.nearestEdge(place).place
	return max(near-place, place-near)
}

// knownBits is the set of all ordinals with a known value.
func (c *column) knownBits() *roaring.Bitmap { return c.edges[len(c.edges)-1].below }

// narrow returns the matches in a part of the order that has the first k matches from start on and
// few more: at most two bins beyond what k needs.
func (c *column) narrow(matches *roaring.Bitmap, start, k int, desc bool) *roaring.Bitmap {
	var low, high int // edges around the part
	if desc {
		start = c.known - start // in ascending order the part ends here
		high, low = c.edgeFrom(start), c.edgeUpTo(start)
		enough := matches.AndCardinality(c.edges[low].below)
		low = sort.Search(low, func(i int) bool { return enough-matches.AndCardinality(c.edges[i].below) < uint64(k) }) - 1
		low = max(low, 0)
	} else {
		low, high = c.edgeUpTo(start), c.edgeFrom(start)
		enough := matches.AndCardinality(c.edges[high].below) + uint64(k)
		last := len(c.edges) - 1
		high += sort.Search(last-high, func(i int) bool { return matches.AndCardinality(c.edges[high+i].below) >= enough })
	}
	part := roaring.And(matches, c.edges[high].below)
	part.AndNot(c.edges[low].below)
	return part
}

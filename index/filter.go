package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// matches are the records that match a query: those of candidates for which predicate is true.
// The predicate of the largest part of a query is not evaluated for all records, because a page
// needs few of them.
type matches struct {
	total       int
	candidates  *roaring.Bitmap        // nil is every record; may be shared
	predicate   func(ord uint32) bool  // nil: every candidate matches
	materialize func() *roaring.Bitmap // evaluates predicate for all candidates; nil where predicate is
	rangeColumn *column                // set where predicate is a range of this column
	bits        bitset                 // of a small table: every match; nil where that is not made
}

// has reports whether a record matches.
func (m *matches) has(ord uint32) bool {
	return (m.candidates == nil || m.candidates.Contains(ord)) && (m.predicate == nil || m.predicate(ord))
}

// all returns every match, nil for every record. The set may be shared.
func (m *matches) all() *roaring.Bitmap {
	if m.predicate != nil {
		*m = matches{total: m.total, candidates: m.materialize(), bits: m.bits}
	}
	return m.candidates
}

// countIn is how many matches are in a set.
func (t *Table) countIn(m *matches, set *roaring.Bitmap) int {
	if m.bits != nil {
		return t.small.countIn(m.bits, set)
	}
	return count(m.all(), set)
}

// count is how many of a set, nil is every record, are in another.
func count(set, other *roaring.Bitmap) int {
	if set == nil {
		return int(other.GetCardinality())
	}
	return int(set.AndCardinality(other))
}

// intersect intersects sets, the smallest first, so that an empty one ends it at once. The last
// and largest becomes the predicate.
func (t *Table) intersect(parts []*roaring.Bitmap) matches {
	if len(parts) == 0 {
		return matches{total: t.n}
	}
	smallestFirst(parts)
	last := len(parts) - 1
	candidates := intersection(parts[:max(1, last)])
	if last == 0 || candidates.IsEmpty() {
		return matches{total: int(candidates.GetCardinality()), candidates: candidates}
	}
	m := matches{
		total: int(candidates.AndCardinality(parts[last])), candidates: candidates, predicate: parts[last].Contains,
		materialize: func() *roaring.Bitmap { return roaring.And(candidates, parts[last]) },
	}
	if uint64(m.total)*8 < candidates.GetCardinality() {
		m.all() // the predicate would be false for most candidates
	}
	return m
}

func smallestFirst(sets []*roaring.Bitmap) {
	slices.SortFunc(sets, func(a, b *roaring.Bitmap) int { return cmp.Compare(a.GetCardinality(), b.GetCardinality()) })
}

// intersection is the records that are in all sets; nil is every record. It may be one of the sets.
func intersection(sets []*roaring.Bitmap) (out *roaring.Bitmap) {
	smallestFirst(sets)
	for _, s := range sets {
		out = both(out, s)
	}
	return out
}

// unknown is the records without a value of a field.
func (t *Table) unknown(f Field) *roaring.Bitmap {
	if c := t.columns[f]; c != nil {
		return c.unknown
	}
	return t.postings[f].unknown
}

// inRange is the records whose value is in a range.
func (c *column) inRange(r Range) matches {
	lo, hi := c.interval(r)
	return matches{
		total:       hi - lo,
		predicate:   c.isIn(r),
		materialize: func() *roaring.Bitmap { return c.within(r) },
		rangeColumn: c,
	}
}

// isIn tests whether a record's value is in a range.
func (c *column) isIn(r Range) func(ord uint32) bool {
	return func(ord uint32) bool { return r.has(c.nums[ord]) }
}

// inRangeOf is the records of base whose value is in the range, and how many of base have none.
// They are counted; no set is made of them before a page needs it.
func (c *column) inRangeOf(base *roaring.Bitmap, r Range) (m matches, unknown int) {
	m = matches{
		candidates: base, predicate: c.isIn(r), rangeColumn: c,
		materialize: func() *roaring.Bitmap { return roaring.And(base, c.among(base, r)) },
	}
	lo, hi := c.interval(r)
	all, known := int(base.GetCardinality()), 0
	allKnown := lo == 0 && hi == c.known // then one count answers both questions
	if !allKnown && all <= max(4096, c.edgeDistance(lo)+c.edgeDistance(hi)) {
		known, m.total = c.countEach(base, r)
	} else {
		known, m.total = c.countByEdges(base, lo, hi)
	}
	return m, all - known
}

// countEach looks at every record of a set: how many have a value, and one in the range.
func (c *column) countEach(set *roaring.Bitmap, r Range) (known, within int) {
	inBatches(func(ords []uint32) {
		for _, ord := range ords {
			v := c.nums[ord]
			if !math.IsNaN(v) {
				known++
			}
			if r.has(v) {
				within++
			}
		}
	}, set)
	return known, within
}

// countByEdges counts those of a set that have a value, and those at the places lo to hi of
// ascending order.
func (c *column) countByEdges(set *roaring.Bitmap, lo, hi int) (known, between int) {
	known = int(set.AndCardinality(c.knownBits()))
	if lo == 0 && hi == c.known {
		return known, known
	}
	bits := borrowBitsOf(set, len(c.nums))
	defer bits.free()
	if between = known; hi < c.known {
		between = c.countBelow(set, *bits, hi)
	}
	if lo > 0 {
		between -= c.countBelow(set, *bits, lo)
	}
	return known, between
}

// countBelow counts the members of a set, also given as bits, before a place of ascending order. Those below
// the nearest edge are one count; those between the edge and the place are counted one by one.
func (c *column) countBelow(set *roaring.Bitmap, bits bitset, place int) int {
	near := c.nearestEdge(place)
	n := 0
	for _, ord := range c.between(place, near.place) {
		n += bits.bit(ord)
	}
	if place < near.place {
		n = -n
	}
	return n + int(set.AndCardinality(near.below))
}

// among returns ordinals that are right for the records of base (nil is every record): those in it
// whose value is in the range. A small base is looked at record by record.
func (c *column) among(base *roaring.Bitmap, r Range) *roaring.Bitmap {
	if base == nil || !c.few(int(base.GetCardinality())) {
		return c.within(r)
	}
	kept := make([]uint32, 0, base.GetCardinality())
	inBatches(func(ords []uint32) {
		for _, ord := range ords {
			if r.has(c.nums[ord]) {
				kept = append(kept, ord)
			}
		}
	}, base)
	return roaring.BitmapOf(kept...)
}

// few reports whether so many records are faster looked at one by one than by sets over all
// records of the column.
func (c *column) few(matches int) bool { return matches <= max(4096, len(c.nums)/64) }

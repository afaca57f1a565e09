package index

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// smallTable is how many records a table has at most whose queries are answered by bitsets. They are one
// container of a roaring bitmap, which is an array of numbers or 65,536 bits whatever the size of the table.
// For 14,000 records, combining two of those takes 5,000 to 30,000 instructions, and of one bit for each
// record 1,000.
const smallTable = 1 << 16

// smallSets are the sets of a small table that have many records, as bitsets: what filters ask for is there
// when the table is made. They take at most four times the memory that they take as bitmaps.
type smallSets struct {
	n    int
	made map[*roaring.Bitmap]bitset // only read
}

// newSmallSets makes the bitsets of a table's sets; nil if the table is not small.
func newSmallSets(t *Table) *smallSets {
	if t.n == 0 || t.n > smallTable {
		return nil
	}
	s := &smallSets{n: t.n, made: map[*roaring.Bitmap]bitset{}}
	for _, p := range t.postings {
		s.keep(p.unknown)
		for _, set := range p.byValue {
			s.keep(set)
		}
	}
	for _, c := range t.columns {
		s.keep(c.unknown)
	}
	for _, o := range t.otherSettings {
		s.keep(o.records)
	}
	return s
}

// keep makes the bits of a set, unless setting those of its few records when they are needed costs no more
// than combining bitsets.
func (s *smallSets) keep(set *roaring.Bitmap) {
	if set != nil && set.GetCardinality() >= uint64(max(64, s.n/32)) {
		s.made[set] = bitsetOf(set, s.n)
	}
}

// of is a set as bits, which must not be changed.
func (s *smallSets) of(set *roaring.Bitmap) bitset {
	if b := s.made[set]; b != nil {
		return b
	}
	return bitsetOf(set, s.n)
}

// intersection is the records that are in all sets.
func (s *smallSets) intersection(sets []*roaring.Bitmap) bitset {
	if len(sets) == 0 {
		b := newBitset(s.n)
		for i := range b {
			b[i] = ^uint64(0)
		}
		b[len(b)-1] >>= (64 - s.n%64) % 64
		return b
	}
	b := slices.Clone(s.of(sets[0]))
	for _, set := range sets[1:] {
		b.and(s.of(set))
	}
	return b
}

// countIn is how many of some records are in a set. One that is not kept as bits has few.
func (s *smallSets) countIn(b bitset, set *roaring.Bitmap) (n int) {
	if other := s.made[set]; other != nil {
		return b.countIn(other)
	}
	inBatches(func(ords []uint32) {
		for _, ord := range ords {
			n += b.bit(ord)
		}
	}, set)
	return n
}

// matchingSmall is matching of a small table.
func (t *Table) matchingSmall(sets []*roaring.Bitmap, ranges []Range) (matches, []int) {
	all := t.small.intersection(sets)
	var excluded []int
	switch len(ranges) {
	case 0:
	case 1:
		excluded = []int{t.small.countIn(all, t.unknown(ranges[0].Field))}
		t.keepWithin(all, ranges[0])
	default:
		excluded = t.keepWithinAll(all, ranges)
	}
	return matches{
		total: all.count(), bits: all, predicate: all.has,
		materialize: func() *roaring.Bitmap { return roaring.FromDense(all, false) },
	}, excluded
}

// keepWithinAll keeps the records whose values are in all ranges, and counts how many each range excludes
// because their value is unknown.
func (t *Table) keepWithinAll(all bitset, ranges []Range) []int {
	within, excluded := make([]bitset, len(ranges)), make([]int, len(ranges))
	for i, r := range ranges {
		within[i] = slices.Clone(all)
		t.keepWithin(within[i], r)
	}
	eachWithout(all, within, bothBits, func(i int, others bitset) {
		excluded[i] = t.small.countIn(others, t.unknown(ranges[i].Field))
	})
	for _, w := range within {
		all.and(w)
	}
	return excluded
}

// bothBits is what two sets have in common; nil is every record. The set may be shared.
func bothBits(a, b bitset) bitset {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	a = slices.Clone(a)
	a.and(b)
	return a
}

// keepWithin keeps the records whose value is in a range. Of a column it looks at those in the range, at
// those with another value, or at those in the set, whichever are fewest.
func (t *Table) keepWithin(b bitset, r Range) {
	c := t.columns[r.Field]
	if c == nil {
		b.and(t.small.of(t.postings[r.Field].within(r)))
		return
	}
	lo, hi := c.interval(r)
	inside, outside, all := hi-lo, c.known-(hi-lo), b.count()
	switch {
	case outside <= inside && outside <= all:
		b.andNot(t.small.of(c.unknown))
		b.removeAll(c.asc[:lo])
		b.removeAll(c.asc[hi:c.known])
	case inside <= all:
		in := newBitset(t.n)
		in.addAll(c.asc[lo:hi])
		b.and(in)
	default:
		b.each(func(ord int) {
			if !r.has(c.nums[ord]) {
				b[ord/64] &^= 1 << (ord % 64)
			}
		})
	}
}

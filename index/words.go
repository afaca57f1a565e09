package index

import (
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// smallTable is how many records a table has at most whose queries are answered by words. They are one
// container of a roaring bitmap, which is an array of numbers or 65,536 bits whatever the size of the table:
// for 14,000 records, combining two of those takes 5,000 to 30,000 instructions, and of one bit for each
// record 1,000.
const smallTable = 1 << 16

// words are a set of ordinals of a small table, one bit for each record.
type words []uint64

// wordSets are the sets of a small table that have many records, as words: what filters ask for is there
// when the table is made. They take at most four times the memory that they take as bitmaps.
type wordSets struct {
	n    int
	made map[*roaring.Bitmap]words // only read
}

// newWordSets makes the words of a table's sets; nil if the table is not small.
func newWordSets(t *Table) *wordSets {
	if t.n == 0 || t.n > smallTable {
		return nil
	}
	s := &wordSets{n: t.n, made: map[*roaring.Bitmap]words{}}
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

// keep makes the words of a set, unless writing its few records when they are needed costs no more than
// combining words.
func (s *wordSets) keep(set *roaring.Bitmap) {
	if set != nil && set.GetCardinality() >= uint64(max(64, s.n/32)) {
		s.made[set] = s.write(set)
	}
}

func (s *wordSets) write(set *roaring.Bitmap) words {
	w := make(words, (s.n+63)/64)
	set.WriteDenseTo(w)
	return w
}

// of is a set as words, which must not be changed.
func (s *wordSets) of(set *roaring.Bitmap) words {
	if w := s.made[set]; w != nil {
		return w
	}
	return s.write(set)
}

// intersection is the records that are in all sets.
func (s *wordSets) intersection(sets []*roaring.Bitmap) words {
	if len(sets) == 0 {
		w := make(words, (s.n+63)/64)
		for i := range w {
			w[i] = ^uint64(0)
		}
		w[len(w)-1] >>= (64 - s.n%64) % 64
		return w
	}
	w := slices.Clone(s.of(sets[0]))
	for _, set := range sets[1:] {
		w.and(s.of(set))
	}
	return w
}

func (w words) and(other words) {
	other = other[:len(w)]
	for i := range w {
		w[i] &= other[i]
	}
}

func (w words) andNot(other words) {
	other = other[:len(w)]
	for i := range w {
		w[i] &^= other[i]
	}
}

func (w words) count() (n int) {
	for _, v := range w {
		n += bits.OnesCount64(v)
	}
	return n
}

// countIn is how many of some records, given as words, are in a set. One that is not kept as words has few.
func (s *wordSets) countIn(w words, set *roaring.Bitmap) (n int) {
	if other := s.made[set]; other != nil {
		return w.countIn(other)
	}
	inBatches(func(ords []uint32) {
		for _, ord := range ords {
			n += int(w[ord/64] >> (ord % 64) & 1)
		}
	}, set)
	return n
}

// countIn is how many are in another set too.
func (w words) countIn(other words) (n int) {
	other = other[:len(w)]
	for i, v := range w {
		n += bits.OnesCount64(v & other[i])
	}
	return n
}

func (w words) has(ord uint32) bool { return w[ord/64]>>(ord%64)&1 != 0 }

// appendFrom appends ordinals, starting with one, until there are k.
func (w words) appendFrom(out []uint32, from, k int) []uint32 {
	for i := from / 64; i < len(w); i++ {
		v := w[i]
		if i == from/64 {
			v &= ^uint64(0) << (from % 64)
		}
		for ; v != 0; v &= v - 1 {
			if len(out) >= k {
				return out
			}
			out = append(out, uint32(64*i+bits.TrailingZeros64(v)))
		}
	}
	return out
}

// matchingWords is matching of a small table.
func (t *Table) matchingWords(sets []*roaring.Bitmap, ranges []Range) (matches, []int) {
	w := t.small.intersection(sets)
	var excluded []int
	switch len(ranges) {
	case 0:
	case 1:
		excluded = []int{t.small.countIn(w, t.unknown(ranges[0].Field))}
		t.keepWithin(w, ranges[0])
	default:
		excluded = t.keepWithinAll(w, ranges)
	}
	return matches{
		total: w.count(), words: w, predicate: w.has,
		materialize: func() *roaring.Bitmap { return roaring.FromDense(w, false) },
	}, excluded
}

// keepWithinAll keeps the records whose values are in all ranges, and counts how many each range excludes
// because their value is unknown.
func (t *Table) keepWithinAll(w words, ranges []Range) []int {
	excluded := make([]int, len(ranges))
	within, after := make([]words, len(ranges)), make([]words, len(ranges)) // after: right for all ranges behind this one
	for i := len(ranges) - 1; i >= 0; i-- {
		within[i] = slices.Clone(w)
		t.keepWithin(within[i], ranges[i])
		if after[i] = slices.Clone(w); i+1 < len(ranges) {
			copy(after[i], after[i+1])
			after[i].and(within[i+1])
		}
	}
	for i, r := range ranges { // w is right for all ranges before this one
		others := after[i]
		others.and(w)
		excluded[i] = t.small.countIn(others, t.unknown(r.Field))
		w.and(within[i])
	}
	return excluded
}

// keepWithin keeps the records whose value is in a range. Of a column it looks at those in the range, at
// those with another value, or at those in the set, whichever are fewest.
func (t *Table) keepWithin(w words, r Range) {
	c := t.columns[r.Field]
	if c == nil {
		w.and(t.small.of(t.postings[r.Field].within(r)))
		return
	}
	lo, hi := c.interval(r)
	inside, outside, all := hi-lo, c.known-(hi-lo), w.count()
	switch {
	case outside <= inside && outside <= all:
		w.andNot(t.small.of(c.unknown))
		w.remove(c.asc[:lo])
		w.remove(c.asc[hi:c.known])
	case inside <= all:
		in := make(words, len(w))
		flip(in, c.asc[lo:hi])
		w.and(in)
	default:
		for i, v := range w {
			for ; v != 0; v &= v - 1 {
				if bit := bits.TrailingZeros64(v); !r.has(c.nums[64*i+bit]) {
					w[i] &^= 1 << bit
				}
			}
		}
	}
}

// remove takes ordinals out.
func (w words) remove(ords []uint32) {
	for _, ord := range ords {
		w[ord/64] &^= 1 << (ord % 64)
	}
}

package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// matches are the records a query is after: those of some that pass a test. The test is left
// undone because a page needs it for few records only, where doing it for all of a million
// costs more than the page.
type matches struct {
	total int
	some  *roaring.Bitmap       // nil is every record; may be shared
	test  func(ord uint32) bool // nil where none is left
	// done is some with the test done. It is set together with test.
	done func() *roaring.Bitmap
	by   *column // whose range the test is, nil for another test
}

// has reports whether a record matches.
func (m *matches) has(ord uint32) bool {
	return (m.some == nil || m.some.Contains(ord)) && (m.test == nil || m.test(ord))
}

// all is every match; nil is every record. It may be shared.
func (m *matches) all() *roaring.Bitmap {
	if m.test != nil {
		m.some, m.test, m.by = m.done(), nil, nil
	}
	return m.some
}

// matching finds what a query is after, and what each of its ranges leaves out for want of a
// value.
func (t *Table) matching(q Query, w *work) (m matches, excluded []int) {
	parts := t.sets(q, w)
	switch {
	case len(q.Ranges) == 0:
		return t.joint(parts, w), nil
	case len(q.Ranges) == 1 && len(parts) == 0:
		c, r := t.columns[q.Ranges[0].Field], q.Ranges[0]
		return c.span(r.Min, r.Max, w), []int{int(c.unknown.GetCardinality())}
	}
	base := t.joint(parts, w)
	if len(q.Ranges) == 1 {
		m, without := t.columns[q.Ranges[0].Field].limited(base.all(), q.Ranges[0], w)
		return m, []int{without}
	}
	return t.ranged(base.all(), q.Ranges, w)
}

// sets are what the filters and the words of a query let through, each by itself or two
// filters together.
func (t *Table) sets(q Query, w *work) []*roaring.Bitmap {
	parts := make([]*roaring.Bitmap, 0, len(q.Sets)+len(q.Words))
	own := make([]*roaring.Bitmap, 0, len(q.Sets)) // sets of the postings themselves
	for _, s := range q.Sets {
		if set, isOwn := t.postings[s.Field].any(s.Values, w); isOwn {
			own = append(own, set)
		} else {
			parts = append(parts, set)
		}
	}
	if len(own) >= 2 {
		if both := t.pairs.both(own[0], own[1], w); both != nil {
			own = append(own[2:], both)
		}
	}
	for _, word := range q.Words {
		parts = append(parts, t.search.match(word, w))
	}
	return append(parts, own...)
}

// joint intersects sets, the fewest first, so that an empty one ends it at once. The last and
// largest is left as a test.
func (t *Table) joint(parts []*roaring.Bitmap, w *work) matches {
	if len(parts) == 0 {
		return matches{total: t.n}
	}
	slices.SortFunc(parts, func(a, b *roaring.Bitmap) int {
		return cmp.Compare(a.GetCardinality(), b.GetCardinality())
	})
	some, last := parts[0], len(parts)-1
	for _, p := range parts[1:max(1, last)] {
		some = w.and(some, p)
	}
	if last == 0 || some.IsEmpty() {
		return matches{total: int(some.GetCardinality()), some: some}
	}
	m := matches{total: int(w.andCount(some, parts[last])), some: some, test: parts[last].Contains}
	m.done = func() *roaring.Bitmap { return w.and(some, parts[last]) }
	if uint64(m.total)*8 < some.GetCardinality() {
		m.all() // the test would mostly fail
	}
	return m
}

// ranged narrows base by the ranges and counts what each left out for want of a value.
func (t *Table) ranged(base *roaring.Bitmap, ranges []Range, w *work) (matches, []int) {
	parts, excluded := make([]*roaring.Bitmap, len(ranges)), make([]int, len(ranges))
	for i, r := range ranges {
		parts[i] = t.columns[r.Field].among(base, r.Min, r.Max, w)
	}
	if base != nil {
		parts = append(parts, base)
	}
	for i, r := range ranges {
		unknown := t.columns[r.Field].unknown
		others := t.joint(slices.Delete(slices.Clone(parts), i, i+1), w)
		excluded[i] = int(w.andCount(others.all(), unknown))
	}
	return t.joint(parts, w), excluded
}

// span is the records whose value lies in low..high.
func (c *column) span(low, high float64, w *work) matches {
	lo, hi := c.interval(low, high)
	return matches{
		total: hi - lo,
		by:    c,
		test:  c.lies(low, high),
		done:  func() *roaring.Bitmap { return c.within(low, high, w) },
	}
}

// lies tests whether a record's value lies in low..high.
func (c *column) lies(low, high float64) func(ord uint32) bool {
	return func(ord uint32) bool { return c.nums[ord] >= low && c.nums[ord] <= high } // NaN is neither
}

// limited is the records of base whose value lies in the range, and how many of base have none.
// They are counted; no set is made of them before a page needs it.
func (c *column) limited(base *roaring.Bitmap, r Range, w *work) (m matches, without int) {
	m = matches{some: base, by: c, test: c.lies(r.Min, r.Max)}
	m.done = func() *roaring.Bitmap { return w.and(base, c.among(base, r.Min, r.Max, w)) }
	lo, hi := c.interval(r.Min, r.Max)
	all, known := int(base.GetCardinality()), 0
	whole := lo == 0 && hi == c.known // one count over sets then says it all
	if !whole && all <= max(4096, c.offCut(lo)+c.offCut(hi)) {
		known, m.total = c.countEach(base, r, w)
	} else {
		known, m.total = c.countByCuts(base, lo, hi, w)
	}
	return m, all - known
}

// countEach looks at every record of a set: how many have a value, and one in the range.
func (c *column) countEach(set *roaring.Bitmap, r Range, w *work) (known, within int) {
	w.batches(func(ords []uint32) {
		for _, ord := range ords {
			v := c.nums[ord]
			if !math.IsNaN(v) {
				known++
			}
			if v >= r.Min && v <= r.Max {
				within++
			}
		}
	}, set)
	return known, within
}

// countByCuts counts those of a set that have a value, and those at the places lo to hi of
// ascending order.
func (c *column) countByCuts(set *roaring.Bitmap, lo, hi int, w *work) (known, between int) {
	known = int(w.andCount(set, c.cuts[len(c.cuts)-1].before))
	if lo == 0 && hi == c.known {
		return known, known
	}
	bits := w.bits(set, len(c.nums))
	defer bits.free()
	if between = known; hi < c.known {
		between = c.before(set, bits.words, hi, w)
	}
	if lo > 0 {
		between -= c.before(set, bits.words, lo, w)
	}
	return known, between
}

// before counts those of a set, whose bits are given too, that stand before a place of ascending
// order: those before the nearest cut, and one by one those between the two.
func (c *column) before(set *roaring.Bitmap, bits []uint64, place int, w *work) int {
	near := c.cutNear(place)
	between := c.asc[min(place, near.place):max(place, near.place)]
	n := 0
	for _, ord := range between {
		n += int(bits[ord/64] >> (ord % 64) & 1)
	}
	w.look(len(between))
	if place < near.place {
		n = -n
	}
	return n + int(w.andCount(set, near.before))
}

// offCut is how far a place is from the nearest cut.
func (c *column) offCut(place int) int {
	near := c.cutNear(place).place
	return max(near-place, place-near)
}

// among returns the ordinals with a value in low..high; only those in base need be right. Few
// are looked at one by one, about what making the set of a range costs.
func (c *column) among(base *roaring.Bitmap, low, high float64, w *work) *roaring.Bitmap {
	if base == nil || !c.few(int(base.GetCardinality())) {
		return c.within(low, high, w)
	}
	kept := make([]uint32, 0, base.GetCardinality())
	w.batches(func(ords []uint32) {
		for _, ord := range ords {
			if v := c.nums[ord]; v >= low && v <= high {
				kept = append(kept, ord)
			}
		}
	}, base)
	return roaring.BitmapOf(kept...)
}

// few reports whether so many records are quicker looked at one by one than by sets over all
// records of the column.
func (c *column) few(matches int) bool { return matches <= max(4096, len(c.nums)/64) }

package index

import (
	"cmp"
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
}

// has reports whether a record matches.
func (m *matches) has(ord uint32) bool {
	return (m.some == nil || m.some.Contains(ord)) && (m.test == nil || m.test(ord))
}

// all is every match; nil is every record. It may be shared.
func (m *matches) all() *roaring.Bitmap {
	if m.test != nil {
		m.some, m.test = m.done(), nil
	}
	return m.some
}

// matching finds what a query is after, and what each of its ranges leaves out for want of a
// value.
func (t *Table) matching(q Query, w *work) (m matches, excluded []int) {
	parts := make([]*roaring.Bitmap, 0, len(q.Sets)+len(q.Words)+len(q.Ranges))
	for _, s := range q.Sets {
		parts = append(parts, t.postings[s.Field].any(s.Values, w))
	}
	for _, word := range q.Words {
		parts = append(parts, t.search.match(word, w))
	}
	switch {
	case len(q.Ranges) == 0:
		return t.joint(parts, w), nil
	case len(q.Ranges) == 1 && len(parts) == 0:
		c, r := t.columns[q.Ranges[0].Field], q.Ranges[0]
		return c.span(r.Min, r.Max, w), []int{int(c.unknown.GetCardinality())}
	}
	base := t.joint(parts, w)
	return t.ranged(base.all(), q.Ranges, w)
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
		test:  func(ord uint32) bool { return c.nums[ord] >= low && c.nums[ord] <= high }, // NaN is neither
		done:  func() *roaring.Bitmap { return c.within(low, high, w) },
	}
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

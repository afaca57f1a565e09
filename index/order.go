package index

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/RoaringBitmap/roaring/v2"
)

// ordering is one order of a table and a place in it.
type ordering struct {
	t     *Table
	col   *column
	desc  bool
	start int // the first place of the page
}

func (t *Table) ordering(q *Query) ordering {
	by := q.Sort
	if by.Field == None {
		by = t.home
	}
	o := ordering{t: t, col: t.columns[by.Field], desc: by.Desc}
	if q.Computed != nil {
		o.col = newColumn(q.Computed, false, false, new(sorting))
	}
	o.start = o.place(q.After)
	return o
}

// at is the ordinal at a place of the order.
func (o *ordering) at(place int) uint32 {
	if ords := o.col.ordinals(o.desc); ords != nil {
		return ords[place]
	}
	return uint32(place)
}

// place is the first place after p: by value, and among equal values by default order.
func (o *ordering) place(p *Position) int {
	if p == nil {
		return 0
	}
	bound := o.t.bound(p)
	return sort.Search(o.t.n, func(i int) bool {
		ord := o.at(i)
		c := o.col.compare(ord, *p, o.desc)
		return c > 0 || c == 0 && ord >= bound
	})
}

// bound is the first ordinal after the place that a record had in default order, whether it still
// exists or not. It does not look up the slug: if the record has moved since, the walk must not
// jump with it.
func (t *Table) bound(p *Position) uint32 {
	home := t.columns[t.home.Field]
	was := Position{Known: true, Text: p.Slug}
	if home.texts == nil {
		was = Position{Known: p.Home != 0, Num: p.Home}
	}
	return uint32(sort.Search(t.n, func(i int) bool {
		c := home.compare(uint32(i), was, t.home.Desc)
		return c > 0 || c == 0 && t.Slug(uint32(i)) > p.Slug
	}))
}

// position is the place just after an ordinal.
func (o *ordering) position(ord uint32) *Position {
	p := &Position{Slug: o.t.Slug(ord)}
	if v := o.col.nums[ord]; !math.IsNaN(v) {
		p.Known = true
		if o.col.texts != nil {
			p.Text = o.col.texts[ord]
		} else {
			p.Num = v
		}
	}
	if home := o.t.columns[o.t.home.Field]; home.texts == nil && !math.IsNaN(home.nums[ord]) {
		p.Home = home.nums[ord]
	}
	return p
}

// skip moves the start to the first record in a range of the column the order is by.
func (o *ordering) skip(ranges []Range) {
	for _, r := range ranges {
		c := o.t.columns[r.Field]
		if c != o.col {
			continue
		}
		lo, hi := c.interval(r)
		if o.desc {
			lo = c.known - hi
		}
		o.start = max(o.start, lo)
	}
}

// pick returns up to k matches from o.start on, in order.
func (o *ordering) pick(m *matches, k int) []uint32 {
	k = min(k, m.total, o.t.n-o.start)
	if k <= 0 {
		return nil
	}
	out := make([]uint32, 0, k)
	switch {
	case m.candidates == nil && m.predicate == nil:
		for place := o.start; len(out) < k; place++ {
			out = append(out, o.at(place))
		}
	case o.col.ordinals(o.desc) == nil:
		out = o.appendHome(out, m, k)
	case o.start < o.col.known:
		if out = o.appendKnown(out, m, k); len(out) < k {
			out = o.appendFrom(out, o.unknown(m), 0, k)
		}
	default:
		out = o.appendFrom(out, o.unknown(m), o.at(o.start), k)
	}
	return out
}

// unknown is the matches without a value: they come after all others, in default order.
func (o *ordering) unknown(m *matches) *roaring.Bitmap {
	if all := m.all(); all != nil {
		return roaring.And(all, o.col.unknown)
	}
	return o.col.unknown
}

// appendFrom appends ordinals of a bitmap, starting with one, until there are k.
func (o *ordering) appendFrom(out []uint32, b *roaring.Bitmap, from uint32, k int) []uint32 {
	it := b.Iterator()
	it.AdvanceIfNeeded(from)
	for it.HasNext() && len(out) < k {
		out = append(out, it.Next())
	}
	return out
}

// An attempt to fill a page record by record looks at no more than trySteps records. If it fails,
// it has cost less than the plan with sets that follows.
const trySteps = 8192

// near reports whether a page is probably found within half an attempt: evenly distributed matches
// are n/total records apart.
func (o *ordering) near(m *matches, k int) bool { return k*(o.t.n/m.total) < trySteps/2 }

// appendHome appends up to k matches in default order.
func (o *ordering) appendHome(out []uint32, m *matches, k int) []uint32 {
	switch {
	case m.bits != nil:
		return m.bits.appendFrom(out, o.start, k)
	case m.predicate == nil:
	case m.candidates == nil && o.near(m, k):
		if found := o.walk(out, m, k, o.t.n); len(found) == k || o.start+trySteps >= o.t.n {
			return found
		}
	case m.candidates != nil:
		if found, done := o.testCandidates(out, m, k); done {
			return found
		}
	}
	return o.appendFrom(out, m.all(), uint32(o.start), k)
}

// testCandidates evaluates the predicate for candidates in default order. It is not done if
// trySteps candidates were not enough.
func (o *ordering) testCandidates(out []uint32, m *matches, k int) (found []uint32, done bool) {
	steps, it := 0, m.candidates.Iterator()
	it.AdvanceIfNeeded(uint32(o.start))
	for ; it.HasNext() && len(out) < k && steps < trySteps; steps++ {
		if ord := it.Next(); m.predicate(ord) {
			out = append(out, ord)
		}
	}
	return out, len(out) == k || !it.HasNext()
}

// appendKnown appends up to k matches with a value. If they are probably near, it walks along the
// order. A few are ranked, unless walking looks at fewer. Many that are far away are first
// narrowed to the part of the order with the next ones.
func (o *ordering) appendKnown(out []uint32, m *matches, k int) []uint32 {
	if o.near(m, k) && (!o.col.few(m.total) || k*(o.t.n/m.total) < m.total) {
		if found := o.walk(out, m, k, o.col.known); len(found) == k {
			return found
		}
	}
	set, predicate := m.toRank(o.col)
	if !o.col.few(int(set.GetCardinality())) {
		set = o.col.narrow(set, o.start, k, o.desc)
	}
	return o.rank(out, set, predicate, k)
}

// toRank is the set to rank. It is the candidates, with the predicate still to be evaluated, if they are
// few. It is so too if the predicate is a range of the order's own column: the records it is true for
// are then consecutive from the start of the order. Else it is every match.
func (m *matches) toRank(by *column) (set *roaring.Bitmap, predicate func(ord uint32) bool) {
	if m.candidates != nil && (m.rangeColumn == by || by.few(int(m.candidates.GetCardinality()))) {
		return m.candidates, m.predicate
	}
	return m.all(), nil
}

// walk goes along the order up to a place, but no more than trySteps, testing each record.
func (o *ordering) walk(out []uint32, m *matches, k, end int) []uint32 {
	end = min(o.start+trySteps, end)
	if ords := o.col.ordinals(o.desc); ords != nil && m.bits != nil {
		for place := o.start; place < end && len(out) < k; place++ {
			if ord := ords[place]; m.bits.has(ord) {
				out = append(out, ord)
			}
		}
		return out
	}
	for place := o.start; place < end && len(out) < k; place++ {
		if ord := o.at(place); m.has(ord) {
			out = append(out, ord)
		}
	}
	return out
}

// rank looks at every record of a set and appends the first k in order from o.start on for which
// the predicate is true; nil is true for all.
func (o *ordering) rank(out []uint32, set *roaring.Bitmap, predicate func(ord uint32) bool, k int) []uint32 {
	first := o.rankOf(o.at(o.start))
	last := rankKey{key: math.Inf(1)} // nothing after it is among the first k
	best := make([]rankKey, 0, 2*k)
	inBatches(func(ords []uint32) {
		for _, ord := range ords {
			r := o.rankOf(ord)
			if !(r.key <= last.key) || r.before(first) || predicate != nil && !predicate(ord) { // an unknown value is NaN: not before last
				continue
			}
			if best = append(best, r); len(best) == 2*k {
				best = lowest(best, k)
				last = best[k-1]
			}
		}
	}, set)
	for _, r := range lowest(best, k) {
		out = append(out, r.ord)
	}
	return out
}

func (o *ordering) rankOf(ord uint32) rankKey { return rankKey{o.col.key(ord, o.desc), ord} }

// lowest sorts and keeps the first k.
func lowest(ranks []rankKey, k int) []rankKey {
	slices.SortFunc(ranks, rankKey.compare)
	return ranks[:min(k, len(ranks))]
}

// rankKey orders records: by sort key, which is not NaN, then by ordinal.
type rankKey struct {
	key float64
	ord uint32
}

func (r rankKey) before(s rankKey) bool {
	return r.key < s.key || r.key == s.key && r.ord < s.ord
}

func (r rankKey) compare(s rankKey) int {
	switch {
	case r.key < s.key:
		return -1
	case r.key > s.key:
		return 1
	}
	return cmp.Compare(r.ord, s.ord)
}

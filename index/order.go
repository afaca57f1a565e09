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
	start int // places before it are behind the reader
	work  *work
}

func (t *Table) ordering(by Sort, after *Position) ordering {
	if by.Field == None {
		by = t.home
	}
	o := ordering{t: t, col: t.columns[by.Field], desc: by.Desc}
	o.start = o.place(after)
	return o
}

// at is the ordinal at a place of the order.
func (o *ordering) at(place int) uint32 {
	if ords := o.col.ordinals(o.desc); ords != nil {
		return ords[place]
	}
	return uint32(place)
}

// place finds the first place behind p: by value, then, among equals, by default order.
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

// bound is the first ordinal behind the place in default order that a record had, whether it
// is still there or not. It does not look up the slug: a record that has moved since must not
// take the reader with it.
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

// position is the place just behind an ordinal.
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

// skip passes over what lies before a range of the column the order is by.
func (o *ordering) skip(ranges []Range) {
	for _, r := range ranges {
		c := o.t.columns[r.Field]
		if c != o.col {
			continue
		}
		lo, hi := c.interval(r.Min, r.Max)
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
	case m.some == nil && m.test == nil:
		for place := o.start; len(out) < k; place++ {
			out = append(out, o.at(place))
		}
		o.work.look(k)
	case o.col.ordinals(o.desc) == nil:
		out = o.home(out, m, k)
	case o.start < o.col.known:
		if out = o.known(out, m, k); len(out) < k {
			out = o.following(out, o.unknown(m), 0, k)
		}
	default:
		out = o.following(out, o.unknown(m), o.at(o.start), k)
	}
	return out
}

// unknown is the matches without a value: they stand behind all others, in default order.
func (o *ordering) unknown(m *matches) *roaring.Bitmap { return o.work.and(m.all(), o.col.unknown) }

// following appends ordinals of a bitmap from one on until there are k.
func (o *ordering) following(out []uint32, b *roaring.Bitmap, from uint32, k int) []uint32 {
	had, it := len(out), b.Iterator()
	it.AdvanceIfNeeded(from)
	for it.HasNext() && len(out) < k {
		out = append(out, it.Next())
	}
	o.work.look(len(out) - had)
	return out
}

// A try for a page looks at no more than so many records: it costs less than the way that
// always leads to one.
const trySteps = 8192

// near reports whether a page is likely met within half a try: matches spread evenly stand
// n/total apart.
func (o *ordering) near(m *matches, k int) bool { return k*(o.t.n/m.total) < trySteps/2 }

// home appends up to k matches in default order.
func (o *ordering) home(out []uint32, m *matches, k int) []uint32 {
	switch {
	case m.test == nil:
	case m.some == nil && o.near(m, k):
		if found := o.walk(out, m, k, o.t.n); len(found) == k || o.start+trySteps >= o.t.n {
			return found
		}
	case m.some != nil:
		if found, done := o.sift(out, m, k); done {
			return found
		}
	}
	return o.following(out, m.all(), uint32(o.start), k)
}

// sift goes along some in default order, doing the test. It is not done after trySteps.
func (o *ordering) sift(out []uint32, m *matches, k int) (found []uint32, done bool) {
	steps, it := 0, m.some.Iterator()
	it.AdvanceIfNeeded(uint32(o.start))
	for ; it.HasNext() && len(out) < k && steps < trySteps; steps++ {
		if ord := it.Next(); m.test(ord) {
			out = append(out, ord)
		}
	}
	o.work.look(steps)
	return out, len(out) == k || !it.HasNext()
}

// known appends up to k matches with a value. Those that are met soon are met along the order;
// few are ranked, unless that means to look at more; many that lie far are first narrowed to the
// stretch that holds the next ones.
func (o *ordering) known(out []uint32, m *matches, k int) []uint32 {
	if o.near(m, k) && (!o.col.few(m.total) || k*(o.t.n/m.total) < m.total) {
		if found := o.walk(out, m, k, o.col.known); len(found) == k {
			return found
		}
	}
	set, test := m.ranked(o.col)
	if !o.col.few(int(set.GetCardinality())) {
		set = o.col.narrow(set, o.start, k, o.desc, o.work)
	}
	return o.rank(out, set, test, k)
}

// ranked is what to look for the next matches in: some, with the test left, where they are few
// or the test is a range of the order's own column, for then what passes it follows each other
// from where the order begins; else every match.
func (m *matches) ranked(by *column) (set *roaring.Bitmap, test func(ord uint32) bool) {
	if m.some != nil && (m.by == by || by.few(int(m.some.GetCardinality()))) {
		return m.some, m.test
	}
	return m.all(), nil
}

// walk goes along the order up to a place, but no more than trySteps, testing each record.
func (o *ordering) walk(out []uint32, m *matches, k, end int) []uint32 {
	place := o.start
	for end = min(o.start+trySteps, end); place < end && len(out) < k; place++ {
		if ord := o.at(place); m.has(ord) {
			out = append(out, ord)
		}
	}
	o.work.look(place - o.start)
	return out
}

// rank looks at every record of a set and appends the k first in order from o.start on that pass
// the test; nil passes all.
func (o *ordering) rank(out []uint32, set *roaring.Bitmap, test func(ord uint32) bool, k int) []uint32 {
	first := o.rankOf(o.at(o.start))
	last := rankKey{key: math.Inf(1)} // nothing behind it is among the k first
	best := make([]rankKey, 0, 2*k)
	o.work.batches(func(ords []uint32) {
		for _, ord := range ords {
			r := o.rankOf(ord)
			if !(r.key <= last.key) || r.before(first) || test != nil && !test(ord) { // an unknown value is NaN: not before last
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

// lowest sorts and cuts to k.
func lowest(ranks []rankKey, k int) []rankKey {
	slices.SortFunc(ranks, rankKey.compare)
	return ranks[:min(k, len(ranks))]
}

// rankKey orders records without their places: by sort key, then by ordinal.
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

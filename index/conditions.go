package index

import (
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// Conditions are the filters of one query, each as the records that are right for it. A set is made once and
// serves every answer about the query: its pages, what each filter excludes, facets that leave out one filter.
// They are for one goroutine.
type Conditions struct {
	t      *Table
	q      Query
	sets   []*roaring.Bitmap // of Query.Sets, in their order
	words  *roaring.Bitmap   // nil without words
	listed *roaring.Bitmap   // nil with a filter by Scenario or ID, or if all are listed
	byID   bool              // there is a filter by ID
	ranges []*roaring.Bitmap // of Query.Ranges, each made when it is first needed
	found  *matches          // of all conditions; nil before Has needs it
}

// Conditions finds the records of each set filter, and of the words, of a query. A field the table has no
// posting or column for is the programmer's mistake and panics.
func (t *Table) Conditions(q Query) *Conditions {
	c := &Conditions{t: t, q: q, sets: make([]*roaring.Bitmap, len(q.Sets)), listed: t.listed, ranges: make([]*roaring.Bitmap, len(q.Ranges))}
	for i, s := range q.Sets {
		c.sets[i] = t.set(s)
		if s.Field == Scenario || s.Field == ID {
			c.listed, c.byID = nil, c.byID || s.Field == ID
		}
	}
	if len(q.Words) > 0 {
		c.words = t.search.match(q.Words)
	}
	return c
}

// set is the records that match a set filter.
func (t *Table) set(s Set) *roaring.Bitmap {
	if r, ok := t.related[s.Field]; ok {
		s = r.resolve(s)
	}
	p := t.postings[s.Field]
	if p == nil { // the key
		return t.find(s.Values)
	}
	values := s.Values
	if related := t.variants[s.Field]; related != nil && !s.OnlySelf {
		values = related.with(values)
	}
	if slices.ContainsFunc(values, func(v string) bool { return strings.HasSuffix(v, "*") }) {
		values = p.withPrefixes(values)
	}
	return p.any(values)
}

// find is the records with these slugs.
func (t *Table) find(slugs []string) *roaring.Bitmap {
	out := roaring.New()
	for _, slug := range slugs {
		if ord, ok := t.slugs.find(slug); ok {
			out.Add(ord)
		}
	}
	return out
}

// parts are all conditions but the ranges, and but the sets that leave is true for.
func (c *Conditions) parts(leave func(set int) bool) []*roaring.Bitmap {
	out := make([]*roaring.Bitmap, 0, len(c.sets)+2)
	for i, s := range c.sets {
		if !leave(i) {
			out = append(out, s)
		}
	}
	if c.words != nil {
		out = append(out, c.words)
	}
	if c.listed != nil {
		out = append(out, c.listed)
	}
	return out
}

// unlisted counts the records that match all conditions and are left out because they are listed only if they are asked
// for. They are few.
func (c *Conditions) unlisted() int {
	if c.listed == nil {
		return 0
	}
	for _, r := range c.q.Ranges { // throughput results have no speed of a stream, and most ranges are of speeds
		if col := c.t.columns[r.Field]; col != nil && !c.t.unlisted.Intersects(col.knownBits()) {
			return 0
		}
	}
	left, last := c.t.unlisted, c.words
	for _, s := range c.sets {
		left, last = both(left, last), s
	}
	if len(c.ranges) == 0 {
		return count(last, left)
	}
	left = both(left, last)
	for r := range c.ranges {
		if left.IsEmpty() {
			return 0
		}
		if col := c.t.columns[c.q.Ranges[r].Field]; r == len(c.ranges)-1 && col != nil {
			_, n := col.countEach(left, c.q.Ranges[r])
			return n
		}
		left = both(left, c.within(left, r))
	}
	return int(left.GetCardinality())
}

func none(int) bool { return false }

// matching finds what matches all conditions, and how many records each range excludes because their value
// is unknown.
func (c *Conditions) matching() (m matches, excluded []int) {
	parts, ranges := c.parts(none), c.q.Ranges
	switch {
	case c.t.small != nil && len(parts)+len(ranges) > 1:
		return c.t.matchingSmall(parts, ranges)
	case c.t.small != nil && len(parts) == 1:
		m := c.t.intersect(parts)
		m.bits = c.t.small.made[parts[0]] // nil where there are few
		return m, nil
	case len(ranges) == 0:
		return c.t.intersect(parts), nil
	case len(ranges) == 1 && c.t.columns[ranges[0].Field] != nil:
		col, r := c.t.columns[ranges[0].Field], ranges[0]
		if len(parts) == 0 {
			return col.inRange(r), []int{int(col.unknown.GetCardinality())}
		}
		m, unknown := col.inRangeOf(intersection(parts), r)
		return m, []int{unknown}
	}
	return c.inRanges(intersection(parts))
}

// Has reports whether a record matches all conditions.
func (c *Conditions) Has(ord uint32) bool {
	if c.found == nil {
		m, _ := c.matching()
		c.found = &m
	}
	return c.found.has(ord)
}

// inRanges narrows base (nil is every record) by the ranges, and counts how many records each excludes because
// their value is unknown.
func (c *Conditions) inRanges(base *roaring.Bitmap) (matches, []int) {
	parts, excluded := make([]*roaring.Bitmap, len(c.ranges)), make([]int, len(c.ranges))
	for i := range c.ranges {
		parts[i] = c.within(base, i)
	}
	eachWithout(base, parts, both, func(i int, others *roaring.Bitmap) {
		excluded[i] = count(others, c.t.unknown(c.q.Ranges[i].Field))
	})
	if base != nil {
		parts = append(parts, base)
	}
	return c.t.intersect(parts), excluded
}

// within returns ordinals that are right for the records of base (nil is every record): those whose value is
// in a range.
func (c *Conditions) within(base *roaring.Bitmap, i int) *roaring.Bitmap {
	r := c.q.Ranges[i]
	col := c.t.columns[r.Field]
	switch {
	case c.ranges[i] != nil:
	case col == nil:
		c.ranges[i] = c.t.postings[r.Field].within(r)
	case base != nil && col.few(int(base.GetCardinality())):
		return col.among(base, r)
	default:
		c.ranges[i] = col.within(r)
	}
	return c.ranges[i]
}

// excludedBySets counts, for each set on a field with the use Nulls, the records that match everything else
// and whose value is unknown; nil if there is no such set.
func (c *Conditions) excludedBySets() []int {
	var asked []int // numbers of sets
	for i, s := range c.q.Sets {
		if c.t.nulls[s.Field] && !c.t.postings[s.Field].unknown.IsEmpty() {
			asked = append(asked, i)
		}
	}
	if asked == nil {
		return nil
	}
	base := c.t.intersect(c.parts(func(set int) bool { return slices.Contains(asked, set) }))
	sets := make([]*roaring.Bitmap, len(asked))
	for i, set := range asked {
		sets[i] = c.sets[set]
	}
	out := make([]int, len(c.sets))
	eachWithout(base.all(), sets, both, func(i int, others *roaring.Bitmap) {
		set := asked[i]
		left := both(others, c.t.postings[c.q.Sets[set].Field].unknown)
		for r := range c.ranges {
			if !left.IsEmpty() {
				left = both(left, c.within(left, r))
			}
		}
		out[set] = int(left.GetCardinality())
	})
	return out
}

// withoutEach calls do, for each of some fields, with what matches all conditions but those on the field; nil
// is every record.
func (c *Conditions) withoutEach(fields []Field, do func(i int, others *roaring.Bitmap)) {
	var base *roaring.Bitmap
	sets := make([]*roaring.Bitmap, len(fields))
	add := func(f Field, records *roaring.Bitmap) {
		if i := slices.Index(fields, f); i >= 0 {
			sets[i] = both(sets[i], records)
		} else {
			base = both(base, records)
		}
	}
	for i, s := range c.q.Sets {
		add(s.Field, c.sets[i])
	}
	for i, r := range c.q.Ranges {
		add(r.Field, c.within(nil, i))
	}
	for _, records := range []*roaring.Bitmap{c.words, c.listed} {
		if records != nil {
			base = both(base, records)
		}
	}
	eachWithout(base, sets, both, func(i int, others *roaring.Bitmap) {
		if fields[i] == Scenario && c.t.listed != nil && !c.byID {
			others = both(others, c.t.listed)
		}
		do(i, others)
	})
}

// eachWithout calls do, for each of some sets, with what base and all the other sets have in common; nil
// is every record. Two intersections, by both, are enough for each set.
func eachWithout[S any](base S, sets []S, both func(a, b S) S, do func(i int, others S)) {
	if len(sets) == 0 {
		return
	}
	after := make([]S, len(sets)) // by set: what base and the sets after it have in common
	after[len(sets)-1] = base
	for i := len(sets) - 1; i > 0; i-- {
		after[i-1] = both(after[i], sets[i])
	}
	var before S // nil
	for i, set := range sets {
		do(i, both(before, after[i]))
		before = both(before, set)
	}
}

// both is what two sets have in common; nil is every record. The set may be shared.
func both(a, b *roaring.Bitmap) *roaring.Bitmap {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return roaring.And(a, b)
}

package index

import (
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Conditions are the filters of one query, each as the records that are right for it. A set is made once and
// serves every answer about the query: its pages, what each filter excludes, and facets, which leave out one
// filter. They are for one goroutine.
type Conditions struct {
	t     *Table
	q     Query
	parts []condition // sets, then ranges, in the order of the query, then the rest
	all   bits        // the records that match all conditions; nil before it is asked for
	hides bool        // the last part is the records that are listed without being asked for
}

type condition struct {
	field Field // None for words, Scenario for what is listed without being asked for
	set   bits
}

// Conditions finds the records of each filter of a query. A field the table has no posting or column for is the
// programmer's mistake and panics.
func (t *Table) Conditions(q Query) *Conditions {
	listed := slices.ContainsFunc(q.Sets, func(s Set) bool { return s.Field == Scenario || s.Field == ID })
	return t.conditions(q, listed)
}

// conditions is Conditions; unlisted says that records match that are listed only if they are asked for.
func (t *Table) conditions(q Query, unlisted bool) *Conditions {
	c := &Conditions{t: t, q: q, parts: make([]condition, 0, len(q.Sets)+len(q.Ranges)+2)}
	for _, s := range q.Sets {
		c.parts = append(c.parts, condition{s.Field, bitsOf(t.set(s), t.n)})
	}
	for _, r := range q.Ranges {
		c.parts = append(c.parts, condition{r.Field, t.columns[r.Field].within(r)})
	}
	if len(q.Words) > 0 {
		c.parts = append(c.parts, condition{None, bitsOf(t.search.match(q.Words), t.n)})
	}
	if t.listed != nil && !unlisted {
		c.parts, c.hides = append(c.parts, condition{Scenario, t.listed}), true
	}
	return c
}

func (t *Table) set(s Set) *roaring.Bitmap {
	if r, ok := t.related[s.Field]; ok {
		s = r.resolve(s)
	}
	p := t.postings[s.Field]
	if p == nil { // the key
		return t.find(s.Values)
	}
	if variants := t.variants[s.Field]; variants != nil && !s.OnlySelf {
		return p.any(variants.with(s.Values))
	}
	return p.any(s.Values)
}

func (t *Table) find(slugs []string) *roaring.Bitmap {
	out := roaring.New()
	for _, slug := range slugs {
		if ord, ok := t.Find(slug); ok {
			out.Add(ord)
		}
	}
	return out
}

// Has reports whether a record matches all conditions.
func (c *Conditions) Has(ord uint32) bool { return c.matching().Test(uint(ord)) }

// matching is the records that match all conditions.
func (c *Conditions) matching() bits {
	if c.all == nil {
		c.all = c.without("no field has this name")
	}
	return c.all
}

func (c *Conditions) without(f Field) bits {
	out := allBits(c.t.n)
	for _, p := range c.parts {
		if p.field != f {
			out.InPlaceIntersection(p.set)
		}
	}
	return out
}

func (c *Conditions) countWithout(except int, set bits) int {
	out := set.Clone()
	for i, p := range c.parts {
		if i != except {
			out.InPlaceIntersection(p.set)
		}
	}
	return int(out.Count())
}

// excluded counts, for each of the conditions from..to, the records that match all others and have no known value. A
// filter by Scenario excludes none: what has no scenario is no throughput result.
func (c *Conditions) excluded(from, to int) []int {
	if from == to {
		return nil
	}
	out := make([]int, to-from)
	for i, p := range c.parts[from:to] {
		if unknown := c.t.unknown(p.field); unknown != nil && p.field != Scenario {
			out[i] = c.countWithout(from+i, unknown)
		}
	}
	return out
}

// unlisted counts the records that match all conditions and are left out because they are listed only if they are
// asked for.
func (c *Conditions) unlisted() int {
	if !c.hides {
		return 0
	}
	return c.countWithout(len(c.parts)-1, c.t.unlisted)
}

func (t *Table) unknown(f Field) bits {
	if c := t.columns[f]; c != nil {
		return c.unknown
	}
	if p := t.postings[f]; p != nil {
		return p.unknown
	}
	return nil
}

package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Conditions are the filters of one query, each as the records that are right for it. They serve pages, what each filter
// excludes, and facets. They are for one goroutine.
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
	c := &Conditions{t: t, q: q, parts: make([]condition, 0, len(q.Sets)+len(q.Ranges)+len(q.Words)+1)}
	for _, s := range q.Sets {
		c.parts = append(c.parts, condition{s.Field, bitsOf(t.set(s), t.n)})
	}
	for _, r := range q.Ranges {
		c.parts = append(c.parts, condition{r.Field, t.columns[r.Field].within(r)})
	}
	for _, word := range q.Words {
		c.parts = append(c.parts, condition{None, bitsOf(t.search.match(word), t.n)})
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

// excluded counts, for conditions from..to, the records without a value that match all others.
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

// unlisted counts the matches that are listed only if they are asked for.
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

// Facet is the matching records of a query, counted by the values of one field.
type Facet struct {
	Field Field
	Known int // matching records with a value
	// Unknown is how many matching records have no value.
	Unknown int
	// Values are the values of a text or flag that matching records have, most frequent first, then
	// in order. A record with several values is counted in each.
	Values []ValueCount
	// Min, Max and Bins describe the values of numbers and dates (as yyyymmdd); Bins is empty if none is known.
	Min, Max float64
	Bins     []Bin
}

// ValueCount is a value and its number of records.
type ValueCount struct {
	// The value.
	Value string `json:"value" jsonschema:"example=nvidia"`
	// Number of records with this value.
	Count int `json:"count" jsonschema:"minimum=1,example=215"`
}

// Bin is how many records have a value from From up to but not including To. The last bin includes To.
type Bin struct {
	From, To float64
	Count    int
}

const maxBins = 40

// Facets counts the matches of a query by the values of each field, without the conditions on that field. A field
// without the use Facets panics.
func (t *Table) Facets(q Query, fields []Field) []Facet { return t.Conditions(q).Facets(fields) }

// Facets is Table.Facets of the query.
func (c *Conditions) Facets(fields []Field) []Facet {
	var all *facetSet // for all fields without a condition
	out := make([]Facet, len(fields))
	for i, f := range fields {
		if slices.ContainsFunc(c.parts, func(p condition) bool { return p.field == f }) {
			out[i] = c.t.facetSet(c.without(f)).facet(f)
			continue
		}
		if all == nil {
			all = c.t.facetSet(c.matching())
		}
		out[i] = all.facet(f)
	}
	return out
}

type facetSet struct {
	t    *Table
	set  bits
	ords []uint32 // of set
}

func (t *Table) facetSet(set bits) *facetSet {
	return &facetSet{t, set, ordinals(set, make([]uint32, 0, set.Count()), 0, t.n)}
}

func (s *facetSet) facet(f Field) Facet {
	out := Facet{Field: f, Unknown: countBoth(s.set, s.t.unknown(f))}
	out.Known = len(s.ords) - out.Unknown
	if c := s.t.columns[f]; c != nil && out.Known > 0 {
		out.divide(c, s.set, s.t.kinds[f] == Date)
	} else if out.Known > 0 {
		out.list(s.t.postings[f], s)
	}
	return out
}

func (f *Facet) list(p *posting, s *facetSet) {
	counts := make([]int, len(p.values)+1)
	switch {
	case len(s.ords) == s.t.n:
		for i, set := range p.sets {
			counts[i] = int(set.GetCardinality())
		}
	case p.codes == nil:
		for i, set := range p.sets {
			counts[i] = countBoth(s.set, bitsOf(set, s.t.n))
		}
	default:
		for _, ord := range s.ords {
			counts[p.codes[ord]]++
		}
	}
	for i, v := range p.values {
		if counts[i] > 0 {
			f.Values = append(f.Values, ValueCount{v, counts[i]})
		}
	}
	slices.SortStableFunc(f.Values, func(a, b ValueCount) int { return cmp.Compare(b.Count, a.Count) })
}

// divide counts the records with a value in at most maxBins bins. There must be at least one.
func (f *Facet) divide(c *column, in bits, dates bool) {
	first, last := 0, c.known-1
	for ; !in.Test(uint(c.asc[first])); first++ {
	}
	for ; !in.Test(uint(c.asc[last])); last-- {
	}
	f.Min, f.Max = c.nums[c.asc[first]], c.nums[c.asc[last]]
	edges := binEdges(f.Min, f.Max)
	if dates {
		edges = monthEdges(f.Min, f.Max)
	}
	for i := range len(edges) - 1 {
		f.Bins = append(f.Bins, Bin{From: edges[i], To: edges[i+1]})
	}
	bin := 0
	for _, ord := range c.asc[first : last+1] {
		for bin+1 < len(f.Bins) && c.nums[ord] >= f.Bins[bin+1].From {
			bin++
		}
		f.Bins[bin].Count += boolInt(in.Test(uint(ord)))
	}
}

// binEdges are bins of equal width, or of equal ratio if the ends differ by more than a factor of 100.
func binEdges(low, high float64) []float64 {
	if low == high {
		return []float64{low, high}
	}
	edges := make([]float64, maxBins+1)
	for i := range edges {
		part := float64(i) / maxBins
		if low > 0 && high/low > 100 {
			edges[i] = low * math.Pow(high/low, part)
		} else {
			edges[i] = low + (high-low)*part
		}
	}
	edges[0], edges[maxBins] = low, high
	return edges
}

func monthEdges(low, high float64) []float64 {
	months := func(date float64) int { return 12*(int(date)/10000) + int(date)/100%100 - 1 }
	first, last := months(low), months(high)
	step := (last-first)/maxBins + 1
	var edges []float64
	for m := first; m <= last+step; m += step {
		edges = append(edges, float64(m/12*10000+(m%12+1)*100))
		if m > last {
			break
		}
	}
	return edges
}

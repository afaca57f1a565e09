package index

import (
	"cmp"
	"math"
	"slices"
)

// Facet is how the records that match a query are distributed over one field.
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

// ValueCount is a value and how many records have it.
type ValueCount struct {
	Value string
	Count int
}

// Bin is how many records have a value from From up to but not including To. The last bin includes To.
type Bin struct {
	From, To float64
	Count    int
}

const maxBins = 40

// Facets counts the records that match the filter of a query by the values of each field. The
// query's own conditions on a field are left out when that field is counted. A field without the
// use Facets is the programmer's mistake and panics.
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

// divide counts the records with a value of a column, of which there is one at least, in at most maxBins bins.
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

// binEdges divides low..high into bins of equal width or, if the ends differ by more than a factor
// of 100, of equal ratio.
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

// monthEdges divides dates as yyyymmdd into bins of whole months. Edges are the zeroth day of a month.
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

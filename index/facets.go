package index

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2"
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
	// Min, Max and Bins describe the values of numbers and dates (as yyyymmdd); Bins is empty if none
	// is known.
	Min, Max float64
	Bins     []Bin
}

// ValueCount is a value and how many records have it.
type ValueCount struct {
	Value string
	Count int
}

// Bin is how many records have a value from From up to but not including To. The last bin
// includes To.
type Bin struct {
	From, To float64
	Count    int
}

// MaxBinsPerFacet is the maximum number of bins of a facet.
const MaxBinsPerFacet = 40

// Facets counts the records that match the filter of a query by the values of each field. The
// query's own conditions on a field are left out when that field is counted. A field without the
// use Facets is the programmer's mistake and panics.
func (t *Table) Facets(q Query, fields []Field) []Facet {
	out := make([]Facet, len(fields))
	var shared *facetSet // of all fields without a condition of their own
	for i, f := range fields {
		own := slices.ContainsFunc(q.Sets, func(s Set) bool { return s.Field == f }) || slices.ContainsFunc(q.Ranges, func(r Range) bool { return r.Field == f })
		if own {
			rest := q
			rest.Sets = slices.DeleteFunc(slices.Clone(q.Sets), func(s Set) bool { return s.Field == f })
			rest.Ranges = slices.DeleteFunc(slices.Clone(q.Ranges), func(r Range) bool { return r.Field == f })
			set := t.facetSet(rest)
			out[i] = t.facet(f, set)
			set.free()
			continue
		}
		if shared == nil {
			shared = t.facetSet(q)
			defer shared.free()
		}
		out[i] = t.facet(f, shared)
	}
	return out
}

// A facetSet is the records that are counted.
type facetSet struct {
	set   *roaring.Bitmap // nil is every record
	total int
	bits  *denseBits      // of set; nil where that is
	rest  *roaring.Bitmap // the other records, if they are fewer; else nil
}

// facetSet is what matches a query. The caller calls free when done.
func (t *Table) facetSet(q Query) *facetSet {
	m, _ := t.matching(q)
	s := &facetSet{set: m.all(), total: m.total}
	if s.set != nil {
		s.bits = newDenseBits(s.set, t.n)
		if s.total > t.n/2 {
			s.rest = roaring.Flip(s.set, 0, uint64(t.n))
		}
	}
	return s
}

func (s *facetSet) free() {
	if s.bits != nil {
		s.bits.free()
	}
}

// count is how many of the records are in another set.
func (s *facetSet) count(other *roaring.Bitmap) int {
	switch {
	case s.set == nil:
		return int(other.GetCardinality())
	case s.rest != nil:
		return int(other.GetCardinality() - s.rest.AndCardinality(other))
	}
	return int(s.set.AndCardinality(other))
}

func (t *Table) facet(f Field, set *facetSet) Facet {
	out := Facet{Field: f, Unknown: set.count(t.unknown(f))}
	out.Known = set.total - out.Unknown
	switch {
	case out.Known == 0:
	case t.kinds[f] == Count:
		out.bin(set.values(t, f))
	case t.columns[f] != nil:
		out.divide(t.columns[f], set, t.kinds[f] == Date)
	default:
		out.Values = set.values(t, f)
		slices.SortStableFunc(out.Values, func(a, b ValueCount) int { return cmp.Compare(b.Count, a.Count) })
	}
	return out
}

// manyValues is how many values a field has at least to be counted by a look at every record rather than
// by a look at every value.
const manyValues = 64

// values counts the records by the values of a posting, in order.
func (s *facetSet) values(t *Table, f Field) (out []ValueCount) {
	p := t.postings[f]
	if t.dimensions != nil && len(p.values) > manyValues {
		if slot, ok := t.dimensions.codes.slots[f]; ok {
			for code, n := range s.codes(t.dimensions.codes, slot) {
				if n > 0 && slot.known(uint32(code)) {
					out = append(out, ValueCount{p.values[code], int(n)})
				}
			}
			return out
		}
	}
	for _, v := range p.values {
		if n := s.count(p.byValue[v]); n > 0 {
			out = append(out, ValueCount{v, n})
		}
	}
	return out
}

// codes counts the records by code.
func (s *facetSet) codes(c *codes, slot slot) []uint32 {
	counts, words := make([]uint32, slot.size()), c.words[slot.word]
	switch {
	case s.set == nil:
		for _, word := range words {
			counts[slot.code(word)]++
		}
	case s.total <= len(words)/16:
		inBatches(func(ords []uint32) {
			for _, ord := range ords {
				counts[slot.code(words[c.places[ord]])]++
			}
		}, s.set)
	default:
		for place, word := range words { // without a branch, which a processor could not predict
			counts[slot.code(word)] += uint32(s.bits.has(c.ords[place]))
		}
	}
	return counts
}

// between counts the records at the places lo to hi of the ascending order of a column: one by one, or
// if that is less work those below the nearest edges and one by one from there.
func (s *facetSet) between(c *column, lo, hi int) (n int) {
	switch {
	case s.set == nil:
		return hi - lo
	case c.asc == nil || hi-lo <= c.edgeDistance(lo)+c.edgeDistance(hi)+len(c.nums)/32:
		for place := lo; place < hi; place++ {
			n += s.bits.has(c.ascending(place))
		}
		return n
	}
	return c.countBelow(s.set, s.bits, hi) - c.countBelow(s.set, s.bits, lo)
}

// ends are the first and the last place, in the ascending order of a column, of the records with a value.
// There is at least one.
func (s *facetSet) ends(c *column) (first, last int) {
	if s.set == nil {
		return 0, c.known - 1
	}
	below := func(i int) uint64 { return s.set.AndCardinality(c.edges[i].below) }
	known := below(len(c.edges) - 1)
	from := max(0, sort.Search(len(c.edges), func(i int) bool { return below(i) > 0 })-1)
	to := sort.Search(len(c.edges), func(i int) bool { return below(i) == known })
	for first = c.edges[from].place; s.bits.has(c.ascending(first)) == 0; first++ {
	}
	for last = c.edges[to].place - 1; s.bits.has(c.ascending(last)) == 0; last-- {
	}
	return first, last
}

// ascending is the ordinal at a place of ascending order.
func (c *column) ascending(place int) uint32 {
	if c.asc == nil {
		return uint32(place)
	}
	return c.asc[place]
}

// valueAt is the value at a place of ascending order.
func (c *column) valueAt(place int) float64 { return c.nums[c.ascending(place)] }

// divide counts the records with a value of a column, of which there is one at least, in at most
// MaxBinsPerFacet bins.
func (f *Facet) divide(c *column, set *facetSet, dates bool) {
	first, last := set.ends(c)
	f.Min, f.Max = c.valueAt(first), c.valueAt(last)
	f.setBins(dates)
	place := first
	for i := range f.Bins {
		next := last + 1
		if i+1 < len(f.Bins) {
			next = place + sort.Search(next-place, func(n int) bool { return c.valueAt(place+n) >= f.Bins[i+1].From })
		}
		f.Bins[i].Count = set.between(c, place, next)
		place = next
	}
}

// setBins sets the bins of a facet whose ends are set.
func (f *Facet) setBins(dates bool) {
	edges := binEdges(f.Min, f.Max)
	if dates {
		edges = monthEdges(f.Min, f.Max)
	}
	for i := range len(edges) - 1 {
		f.Bins = append(f.Bins, Bin{From: edges[i], To: edges[i+1]})
	}
}

// bin divides counted whole numbers, of which there is one at least, into at most MaxBinsPerFacet bins.
func (f *Facet) bin(counts []ValueCount) {
	numbers := make([]float64, len(counts))
	for i, c := range counts {
		numbers[i], _ = strconv.ParseFloat(c.Value, 64) // made by FormatInt
	}
	f.Min, f.Max = slices.Min(numbers), slices.Max(numbers)
	f.setBins(false)
	for i, c := range counts {
		n := sort.Search(len(f.Bins)-1, func(at int) bool { return numbers[i] < f.Bins[at+1].From })
		f.Bins[n].Count += c.Count
	}
}

// binEdges divides low..high into bins of equal width or, if the ends differ by more than a factor
// of 100, of equal ratio.
func binEdges(low, high float64) []float64 {
	if low == high {
		return []float64{low, high}
	}
	edges := make([]float64, MaxBinsPerFacet+1)
	for i := range edges {
		part := float64(i) / MaxBinsPerFacet
		if low > 0 && high/low > 100 {
			edges[i] = low * math.Pow(high/low, part)
		} else {
			edges[i] = low + (high-low)*part
		}
	}
	edges[0], edges[MaxBinsPerFacet] = low, high
	return edges
}

// monthEdges divides dates as yyyymmdd into bins of whole months. Edges are the zeroth day of a
// month; a date that is only a year is in its first bin.
func monthEdges(low, high float64) []float64 {
	months := func(date float64) int {
		year, month := int(date)/10000, int(date)/100%100
		return 12*year + max(month, 1) - 1
	}
	first, last := months(low), months(high)
	step := (last-first)/MaxBinsPerFacet + 1
	var edges []float64
	for m := first; m <= last+step; m += step {
		edges = append(edges, float64(m/12*10000+(m%12+1)*100))
		if m > last {
			break
		}
	}
	edges[0] = min(edges[0], low)
	return edges
}

package index

import (
	"cmp"
	"math"
	"slices"
	"sort"

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
func (t *Table) Facets(q Query, fields []Field) []Facet { return t.Conditions(q).Facets(fields) }

// Facets is Table.Facets of the query.
func (c *Conditions) Facets(fields []Field) []Facet {
	counted := make(map[Field]Facet, len(fields))
	var own, others []Field // with and without a condition of the query
	for _, f := range fields {
		if slices.ContainsFunc(c.q.Sets, func(s Set) bool { return s.Field == f }) || slices.ContainsFunc(c.q.Ranges, func(r Range) bool { return r.Field == f }) {
			own = append(own, f)
		} else {
			others = append(others, f)
		}
	}
	if len(others) > 0 {
		m, _ := c.matching()
		set := c.t.newFacetSet(m.all())
		for _, f := range others {
			counted[f] = set.facet(f)
		}
		set.free()
	}
	c.withoutEach(own, func(i int, records *roaring.Bitmap) {
		set := c.t.newFacetSet(records)
		counted[own[i]] = set.facet(own[i])
		set.free()
	})
	out := make([]Facet, len(fields))
	for i, f := range fields {
		out[i] = counted[f]
	}
	return out
}

// A facetSet is the records that are counted.
type facetSet struct {
	t      *Table
	set    *roaring.Bitmap // nil is every record
	total  int
	bits   *bitset         // of set; nil where that is
	rest   *roaring.Bitmap // the other records, if they are fewer; else nil
	places *bitset         // of set, or of rest where there is one, by place; nil before it is needed
}

// newFacetSet counts a set; nil is every record. The caller calls free when done.
func (t *Table) newFacetSet(set *roaring.Bitmap) *facetSet {
	s := &facetSet{t: t, set: set, total: t.n}
	if set != nil {
		s.total = int(set.GetCardinality())
		s.bits = borrowBitsOf(set, t.n)
		if s.total > t.n/2 {
			s.rest = roaring.Flip(set, 0, uint64(t.n))
		}
	}
	return s
}

func (s *facetSet) free() {
	if s.bits != nil {
		s.bits.free()
	}
	if s.places != nil {
		s.places.free()
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

func (s *facetSet) facet(f Field) Facet {
	out := Facet{Field: f, Unknown: s.count(s.t.unknown(f))}
	out.Known = s.total - out.Unknown
	kind, p := s.t.kinds[f], s.t.postings[f]
	switch {
	case out.Known == 0:
	case kind == Count:
		out.bin(p.numbers, s.values(f))
	case s.t.columns[f] != nil:
		out.divide(s.t.columns[f], s, kind == Date)
	default:
		out.list(p.values, s.values(f))
	}
	return out
}

// manyValues is how many values a field has at least to be counted by reading every record rather than
// by counting every value.
const manyValues = 64

// values counts the records by the values of a posting, in their order. The counts may be shared.
func (s *facetSet) values(f Field) []uint32 {
	p := s.t.postings[f]
	if s.set == nil {
		return p.counts
	}
	if s.t.dimensions != nil && len(p.values) > manyValues {
		if slot, ok := s.t.dimensions.codes.slots[f]; ok {
			return s.codes(s.t.dimensions.codes, slot)
		}
	}
	out := make([]uint32, len(p.values))
	for i, v := range p.values {
		out[i] = uint32(s.count(p.byValue[v]))
	}
	return out
}

// codes counts the records by the codes of values: those of the set or, if they are fewer, the others, which all
// but them have.
func (s *facetSet) codes(c *codes, slot slot) []uint32 {
	if s.places == nil {
		few := s.set
		if s.rest != nil {
			few = s.rest
		}
		s.places = borrowBits(s.t.n)
		inBatches(func(ords []uint32) {
			for _, ord := range ords {
				s.places.add(c.places[ord])
			}
		}, few)
	}
	counts, words := make([]uint32, slot.size()), c.words[slot.word]
	s.places.each(func(place int) { counts[slot.code(words[place])]++ })
	counts = counts[:len(slot.p.values)] // without the code of unknown
	if s.rest != nil {
		for code, all := range slot.p.counts {
			counts[code] = all - counts[code]
		}
	}
	return counts
}

// between counts the records at the places lo to hi of the ascending order of a column. It counts one
// by one or, if that is less work, those below the nearest edges and one by one from there.
func (s *facetSet) between(c *column, lo, hi int) (n int) {
	switch {
	case s.set == nil:
		return hi - lo
	case c.asc == nil || hi-lo <= c.edgeDistance(lo)+c.edgeDistance(hi)+len(c.nums)/32:
		for place := lo; place < hi; place++ {
			n += s.bits.bit(c.ascending(place))
		}
		return n
	}
	return c.countBelow(s.set, *s.bits, hi) - c.countBelow(s.set, *s.bits, lo)
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
	for first = c.edges[from].place; !s.bits.has(c.ascending(first)); first++ {
	}
	for last = c.edges[to].place - 1; !s.bits.has(c.ascending(last)); last-- {
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

// bin divides whole numbers, of which one at least was counted, into at most MaxBinsPerFacet bins.
func (f *Facet) bin(numbers []float64, counts []uint32) {
	f.Min, f.Max = math.Inf(1), math.Inf(-1)
	for i, n := range counts {
		if n > 0 {
			f.Min, f.Max = min(f.Min, numbers[i]), max(f.Max, numbers[i])
		}
	}
	f.setBins(false)
	for i, n := range counts {
		if n > 0 {
			at := sort.Search(len(f.Bins)-1, func(at int) bool { return numbers[i] < f.Bins[at+1].From })
			f.Bins[at].Count += int(n)
		}
	}
}

// list lists the values that were counted.
func (f *Facet) list(values []string, counts []uint32) {
	for i, n := range counts {
		if n > 0 {
			f.Values = append(f.Values, ValueCount{values[i], int(n)})
		}
	}
	slices.SortStableFunc(f.Values, func(a, b ValueCount) int { return cmp.Compare(b.Count, a.Count) })
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

package index

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// A posting answers one set filter. Its bitmaps are shared by all readers and are only read.
type posting struct {
	n       int                        // records of the table
	byValue map[string]*roaring.Bitmap // value -> ordinals that have it
	values  []string                   // sorted
	counts  []uint32                   // by number of the value: how many records have it
	numbers []float64                  // by number of the value, of whole numbers; nil in other postings
	unknown *roaring.Bitmap            // the ordinals without a value
}

// add adds what is known of a value of byValue. Values are added in sorted order.
func (p *posting) add(v string, set *roaring.Bitmap) {
	p.values, p.counts = append(p.values, v), append(p.counts, uint32(set.GetCardinality()))
}

// parse sets the numbers of values that are whole numbers.
func (p *posting) parse() {
	p.numbers = make([]float64, len(p.values))
	for i, v := range p.values {
		p.numbers[i], _ = strconv.ParseFloat(v, 64) // made by FormatInt
	}
}

// A postingChange is a value that a record has lost or gained.
type postingChange struct {
	ord     uint32
	value   string
	removed bool
}

// changed is the posting after some changes. It shares the bitmaps of all other values.
func (p *posting) changed(changes []postingChange) *posting {
	own := map[string]*roaring.Bitmap{}
	for _, m := range changes {
		b := own[m.value]
		if b == nil {
			if b = roaring.New(); p.byValue[m.value] != nil {
				b = p.byValue[m.value].Clone()
			}
			own[strings.Clone(m.value)] = b
		}
		if m.removed {
			b.Remove(m.ord)
		} else {
			b.Add(m.ord)
		}
	}
	out := &posting{n: p.n, byValue: maps.Clone(p.byValue), numbers: p.numbers}
	for v, b := range own {
		if out.byValue[v] = compact(b); b.IsEmpty() {
			delete(out.byValue, v)
		}
	}
	out.finish()
	return out
}

// finish completes a posting whose byValue was changed.
func (p *posting) finish() {
	for _, v := range slices.Sorted(maps.Keys(p.byValue)) {
		p.add(v, p.byValue[v])
	}
	if p.numbers != nil {
		p.parse()
	}
	p.unknown = compact(roaring.Flip(union(p.n, slices.Collect(maps.Values(p.byValue))), 0, uint64(p.n)))
}

// any returns the ordinals that have one of the values. The set may be shared.
func (p *posting) any(values []string) *roaring.Bitmap {
	found := make([]*roaring.Bitmap, 0, len(values))
	for _, v := range values {
		if b := p.byValue[v]; b != nil {
			found = append(found, b)
		}
	}
	return union(p.n, found)
}

// withPrefixes replaces each value that ends with * by all values that have the rest as a prefix.
func (p *posting) withPrefixes(values []string) []string {
	var out []string
	for _, v := range values {
		prefix, ok := strings.CutSuffix(v, "*")
		if !ok {
			out = append(out, v)
			continue
		}
		at, _ := slices.BinarySearch(p.values, prefix)
		for ; at < len(p.values) && strings.HasPrefix(p.values[at], prefix); at++ {
			out = append(out, p.values[at])
		}
	}
	return out
}

// within returns the ordinals with a value in a range, of a posting of whole numbers. If fewer have a value outside
// of it, or none, these are found. The set may be shared.
func (p *posting) within(r Range) *roaring.Bitmap {
	inside, outside, n := []*roaring.Bitmap(nil), []*roaring.Bitmap{p.unknown}, 0
	for i, v := range p.values {
		if r.has(p.numbers[i]) {
			inside, n = append(inside, p.byValue[v]), n+int(p.counts[i])
		} else {
			outside = append(outside, p.byValue[v])
		}
	}
	if n > p.n/2 {
		return roaring.Flip(union(p.n, outside), 0, uint64(p.n))
	}
	return union(p.n, inside)
}

package index

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/bits-and-blooms/bitset"
)

type posting struct {
	values  []string          // sorted
	sets    []*roaring.Bitmap // by number of the value: the ordinals that have it
	unknown bits              // the ordinals without a value
	// codes has for each ordinal the number of its value, and len(values) for unknown. It is nil if a record may have
	// several values.
	codes []uint32
}

func newPosting[R any](f *fieldOf[R], recs []R) *posting {
	p := &posting{unknown: newBits(len(recs))}
	ords := map[string][]uint32{}
	for i := range recs {
		values := f.values(&recs[i])
		known := f.Texts != nil && values != nil // a list with nothing in it is known
		for _, v := range values {
			if v != "" {
				known = true
				ords[v] = append(ords[v], uint32(i))
			}
		}
		if !known {
			p.unknown.Set(uint(i))
		}
	}
	for v := range ords {
		p.values = append(p.values, strings.Clone(v)) // it may be part of a longer text, which it would keep in memory
	}
	slices.Sort(p.values)
	if f.Texts == nil {
		p.codes = slices.Repeat([]uint32{uint32(len(p.values))}, len(recs))
	}
	for code, v := range p.values {
		p.sets = append(p.sets, roaring.BitmapOf(ords[v]...))
		if p.codes != nil {
			for _, ord := range ords[v] {
				p.codes[ord] = uint32(code)
			}
		}
	}
	return p
}

func (f *fieldOf[R]) values(rec *R) []string {
	switch f.kind() {
	case Flag:
		if v := f.Flag(rec); v != nil {
			return []string{strconv.FormatBool(*v)}
		}
	case Count:
		if v := f.Count(rec); v != nil {
			return []string{strconv.FormatInt(*v, 10)}
		}
	case Text:
		if f.Texts != nil {
			return f.Texts(rec)
		}
		return []string{f.Text(rec)}
	}
	return nil
}

func (p *posting) value(code uint32) string {
	if int(code) == len(p.values) {
		return ""
	}
	return p.values[code]
}

func (p *posting) code(v string) int {
	if i, ok := slices.BinarySearch(p.values, v); ok {
		return i
	}
	return -1
}

// any returns the ordinals that have one of some values. A value that ends with * is a prefix. The set may be shared.
func (p *posting) any(values []string) *roaring.Bitmap {
	var found []*roaring.Bitmap
	for _, v := range values {
		if prefix, ok := strings.CutSuffix(v, "*"); ok {
			for i, known := range p.values {
				if strings.HasPrefix(known, prefix) {
					found = append(found, p.sets[i])
				}
			}
		} else if i := p.code(v); i >= 0 {
			found = append(found, p.sets[i])
		}
	}
	return union(found)
}

func union(sets []*roaring.Bitmap) *roaring.Bitmap {
	if len(sets) == 1 {
		return sets[0]
	}
	return roaring.FastOr(sets...)
}

type bits = *bitset.BitSet

func newBits(n int) bits { return bitset.New(uint(n)) }

func allBits(n int) bits { return newBits(n).SetAll() }

func bitsOf(set *roaring.Bitmap, n int) bits {
	b := newBits(n)
	set.WriteDenseTo(b.Words())
	return b
}

func countBoth(a, b bits) int { return int(a.IntersectionCardinality(b)) }

// ordinals appends the ordinals of a set from one on, in order, until out has k.
func ordinals(set bits, out []uint32, from, k int) []uint32 {
	for at, more := set.NextSet(uint(from)); more && len(out) < k; at, more = set.NextSet(at + 1) {
		out = append(out, uint32(at))
	}
	return out
}

// A column has one value per record and the records in order of value. Unknown is NaN, last in both directions.
type column struct {
	nums      []float64 // by ordinal; a text column has the ranks of its texts here
	texts     []string  // by ordinal, text columns only
	asc, desc []uint32  // ordinals in order of value
	known     int       // the first known of asc and desc have a value
	unknown   bits
}

func newColumn(nums []float64) *column {
	c := &column{nums: nums, unknown: newBits(len(nums)), asc: make([]uint32, 0, len(nums))}
	for i, v := range nums {
		if math.IsNaN(v) {
			c.unknown.Set(uint(i))
		} else {
			c.asc = append(c.asc, uint32(i))
		}
	}
	c.known = len(c.asc)
	slices.SortStableFunc(c.asc, func(a, b uint32) int { return cmp.Compare(nums[a], nums[b]) })
	c.desc = make([]uint32, 0, len(nums))
	for end := c.known; end > 0; { // groups of equal values from last to first, each in default order
		start := sort.Search(end, func(i int) bool { return nums[c.asc[i]] >= nums[c.asc[end-1]] })
		c.desc = append(c.desc, c.asc[start:end]...)
		end = start
	}
	c.asc, c.desc = ordinals(c.unknown, c.asc, 0, len(nums)), ordinals(c.unknown, c.desc, 0, len(nums))
	return c
}

// within is the ordinals in a range: those inside, or all known ones without those outside if they are fewer.
func (c *column) within(r Range) (set bits) {
	lo := sort.Search(c.known, func(i int) bool { return c.nums[c.asc[i]] >= r.Min })
	hi := sort.Search(c.known, func(i int) bool { return c.nums[c.asc[i]] > r.Max })
	hi = max(lo, hi)
	if inside := c.asc[lo:hi]; len(inside) < c.known/2 {
		set = newBits(len(c.nums))
		for _, ord := range inside {
			set.Set(uint(ord))
		}
	} else {
		set = c.unknown.Complement()
		for _, outside := range [][]uint32{c.asc[:lo], c.asc[hi:c.known]} {
			for _, ord := range outside {
				set.Clear(uint(ord))
			}
		}
	}
	return set
}

func (c *column) compare(ord uint32, p Position, desc bool) int {
	switch unknown := math.IsNaN(c.nums[ord]); {
	case unknown || !p.Known:
		return boolInt(unknown) - boolInt(!p.Known)
	case c.texts != nil && desc:
		return cmp.Compare(p.Text, c.texts[ord])
	case c.texts != nil:
		return cmp.Compare(c.texts[ord], p.Text)
	case desc:
		return cmp.Compare(p.Num, c.nums[ord])
	default:
		return cmp.Compare(c.nums[ord], p.Num)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

package index

import (
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// A grouping is statistics being computed. The values of few records are sorted; many are read in the orders that
// the table has, and the work is in proportion to their number.
type grouping struct {
	q       StatsQuery
	d       *dimensions
	metric  *column
	dates   []float64 // of the runs, by ordinal
	isFew   bool
	places  []uint32 // of the records to count
	numbers []uint32 // of each record: the number of its group, in the order of keys
	starts  []int    // by group, in the order of their keys: how many records the groups before have; one more at the end
	*scratch
}

// scratch is memory that statistics need while they are computed, and reuse. At a million records it is 12 MB.
// To get that from the system each time would cost as much as all the rest.
type scratch struct {
	places  []uint32
	numbers []uint32
	cells   []uint32 // by cell: how many records, and then the number of its group
	block   []uint32 // numbers of the second key, of one block
	groupOf []uint32 // of many records, by place: the group, from 1; 0: in none
	met     []uint32 // by group, from 1: the last page it was met in, from 1
	alike   []likeness
	picker  picker
	same    []counted // the records of one repeat
	medians []counted
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// sized returns a slice of n values in the memory of buf, which grows if needed. They are what they were.
func sized[T any](buf *[]T, n int) []T {
	if cap(*buf) < n {
		*buf = make([]T, n)
	}
	return (*buf)[:n]
}

// zeroed is sized with zeros.
func zeroed[T any](buf *[]T, n int) []T {
	out := sized(buf, n)
	clear(out)
	return out
}

// fewOf is the part of a table that is few records: sorting these costs less than reading all.
const fewOf = 1.0 / 16

// newGrouping finds the records to count. set is what the query matches; nil is every record. The
// caller calls free when done.
func newGrouping(t *Table, q StatsQuery, set *roaring.Bitmap) *grouping {
	g := &grouping{q: q, d: t.dimensions, metric: t.columns[q.Metric], dates: t.columns[RunDate].nums, scratch: scratchPool.Get().(*scratch)}
	known := both(set, g.d.metrics[q.Metric].known)
	n := int(known.GetCardinality())
	if g.isFew = n <= int(fewOf*float64(t.n)); g.isFew {
		g.chooseFew(known, n)
	} else {
		g.chooseMany(known, n)
	}
	return g
}

func (g *grouping) free() { scratchPool.Put(g.scratch) }

// valueAt is the value of the metric of the record at a place.
func (g *grouping) valueAt(place uint32) float64 { return g.metric.nums[g.d.codes.ords[place]] }

// divide numbers the groups in the order of their keys and finds the group of each record.
func (g *grouping) divide() error {
	n := len(g.places)
	g.numbers = sized(&g.scratch.numbers, n)
	first, second := g.d.codes.key(g.q.By[0]), oneValue
	if len(g.q.By) == 2 {
		second = g.d.codes.key(g.q.By[1])
	}
	if first.n*second.n > n { // a filter leaves few of the values
		first, second = first.among(g.places), second.among(g.places)
	}
	if first.n*second.n <= tableCells+n {
		return g.numberByTable(&first, &second)
	}
	return g.numberByMap(&first, &second)
}

// tableCells is the most cells of two keys that are counted in a table (4 MB), and one cell more for
// each record. More are counted in a map, which has no more entries than there may be groups.
const tableCells = 1 << 20

// numberByTable counts the records of every cell there can be, in the order of keys.
func (g *grouping) numberByTable(first, second *key) error {
	counts := zeroed(&g.scratch.cells, first.n*second.n)
	block := sized(&g.block, blockSize)
	for from := 0; from < len(g.numbers); from += blockSize {
		places, cells := blockFrom(g.places, from), blockFrom(g.numbers, from)
		first.numbersOf(places, cells)
		second.numbersOf(places, block)
		for i, number := range cells {
			cell := number*uint32(second.n) + block[i]
			cells[i] = cell
			counts[cell]++
		}
	}
	n := 0
	for _, count := range counts {
		n += boolInt(count > 0)
	}
	if n > g.q.MaxGroups {
		return TooManyGroupsError{g.q.MaxGroups}
	}
	g.starts = make([]int, 1, n+1)
	numbers := counts // the count of a cell becomes the number of its group
	for cell, count := range counts {
		if count > 0 {
			number := len(g.starts) - 1
			g.starts = append(g.starts, g.starts[number]+int(count))
			numbers[cell] = uint32(number)
		}
	}
	for i, cell := range g.numbers {
		g.numbers[i] = numbers[cell]
	}
	return nil
}

// numberByMap counts the records of the cells that occur, until there are too many.
func (g *grouping) numberByMap(first, second *key) error {
	counts := map[uint64]uint32{} // by first rank << 32 | second rank
	cellOf := func(place uint32) uint64 { return uint64(first.number(place))<<32 | uint64(second.number(place)) }
	for _, place := range g.places {
		if counts[cellOf(place)]++; len(counts) > g.q.MaxGroups {
			return TooManyGroupsError{g.q.MaxGroups}
		}
	}
	g.starts = make([]int, 1, len(counts)+1)
	for number, cell := range slices.Sorted(maps.Keys(counts)) {
		g.starts = append(g.starts, g.starts[number]+int(counts[cell]))
		counts[cell] = uint32(number)
	}
	for i, place := range g.places {
		g.numbers[i] = counts[cellOf(place)]
	}
	return nil
}

// blockSize is how many records are read from one part of memory before another: as many as the
// processor has at hand.
const blockSize = 2048

// blockFrom is the values of the block that begins at a number.
func blockFrom(values []uint32, from int) []uint32 {
	return values[from:min(from+blockSize, len(values))]
}

// A key numbers the values of a field in their order.
type key struct {
	slot  slot
	words []uint64 // by place
	ranks []uint32 // by code; nil: codes are the numbers
	n     int
}

// oneValue is the key of a second field if there is none.
var oneValue = key{n: 1}

func (c *codes) key(f Field) key {
	s := c.slots[f]
	return key{slot: s, words: c.words[s.word], n: s.size()}
}

// among numbers only the values that some records have.
func (k key) among(places []uint32) key {
	if k.words == nil {
		return k
	}
	k.ranks, k.n = make([]uint32, k.slot.size()), 0
	for _, place := range places {
		k.ranks[k.slot.code(k.words[place])] = 1
	}
	for code, occurs := range k.ranks {
		k.ranks[code] = uint32(k.n)
		k.n += int(occurs)
	}
	return k
}

// number is the number of a record's value.
func (k *key) number(place uint32) uint32 {
	if k.words == nil {
		return 0
	}
	code := k.slot.code(k.words[place])
	if k.ranks == nil {
		return code
	}
	return k.ranks[code]
}

// numbersOf sets the numbers of the values of records.
func (k *key) numbersOf(places, numbers []uint32) {
	numbers = numbers[:len(places)]
	switch words, s := k.words, k.slot; {
	case words == nil:
		clear(numbers)
	case k.ranks == nil:
		for i, place := range places {
			numbers[i] = s.code(words[place])
		}
	default:
		for i, place := range places {
			numbers[i] = k.ranks[s.code(words[place])]
		}
	}
}

// groups computes what there is to say of each group.
func (g *grouping) groups() []Group {
	n, width := len(g.starts)-1, len(g.d.codes.words)
	asked := &statsOf{codes: g.d.codes, settings: g.d.settings, slots: g.d.codes.slotsOf(g.d.settings), by: g.d.codes.slotsOf(g.q.By), dates: g.dates, differ: make([]uint64, n*width)}
	out := make([]Group, n)
	for i := range out {
		out[i].of, out[i].number = asked, uint32(i)
	}
	g.compare(out)
	comparison := newComparison(g.d.codes, g.q.Metric)
	for i := range out {
		out[i].Comparable = comparison.comparable(&out[i])
	}
	if g.isFew {
		g.countFew(out)
	} else {
		g.countMany(out)
	}
	return out
}

// A likeness is what the records of a group have in common in two words.
type likeness struct {
	first, differ [2]uint64 // the words of a record, and the bits that differ from them in another
	newest        uint32    // ordinal; the default order has the newest first
}

// compare finds the newest record of each group, and the bits of each word that differ between its records.
func (g *grouping) compare(groups []Group) {
	codes := g.d.codes
	width := len(codes.words)
	alike := sized(&g.alike, len(groups))
	for w := 0; w < width; w += 2 {
		last := min(w+1, width-1) // the last word, where their number is odd, is compared with itself as the second
		for i := range alike {
			alike[i] = likeness{newest: math.MaxUint32}
		}
		g.compareWords(alike, codes.words[w], codes.words[last])
		for i := range groups {
			differ := groups[i].differ()
			differ[w], differ[last] = alike[i].differ[0], alike[i].differ[1]
		}
	}
	for i := range groups {
		groups[i].newest, groups[i].first = alike[i].newest, codes.places[alike[i].newest]
	}
}

// compareWords compares two words of the records of each group. Two at a time take hardly longer than one: each
// waits for what the record before wrote.
func (g *grouping) compareWords(alike []likeness, words, others []uint64) {
	ords := g.d.codes.ords
	for i, place := range g.places {
		a, word, other := &alike[g.numbers[i]], words[place], others[place]
		if a.newest == math.MaxUint32 {
			a.first = [2]uint64{word, other}
		}
		a.newest = min(a.newest, ords[place])
		a.differ[0] |= word ^ a.first[0]
		a.differ[1] |= other ^ a.first[1]
	}
}

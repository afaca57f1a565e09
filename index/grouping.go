package index

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// A grouping is statistics being computed. The records of a group are put together by a counting sort:
// they are counted, and then each is put at the next place of its group.
type grouping struct {
	q       StatsQuery
	d       *dimensions
	dates   []float64   // of the runs, by ordinal
	records metricOrder // to count
	cells   []uint32    // of each record: a number of its group; those of a group are equal
	next    []uint32    // by cell: where the next of its records is put
	starts  []int       // by group, in the order of their keys: how many records the groups before have; one more at the end
	*scratch
}

// scratch is memory that statistics need while they are computed, and reuse: at a million records it
// is 30 MB, and to get it from the system would cost as much as all the rest.
type scratch struct {
	records metricOrder
	grouped metricOrder // the records in the order of groups
	cells   []uint32
	next    []uint32
	numbers []uint32 // of the second key, of one block
	seen    []uint32 // by page: the last group it was seen in, from 1
	times   []uint32 // by repeat: how many records of the group
	several []repeated
	once    []float64
	equal   []float64 // the values of one repeat
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

// newGrouping finds the records to count. set is what the query matches; nil is every record. The
// caller calls free when done.
func newGrouping(t *Table, q StatsQuery, set *roaring.Bitmap) *grouping {
	g := &grouping{q: q, d: t.dimensions, dates: t.columns[RunDate].nums, scratch: scratchPool.Get().(*scratch)}
	all := t.dimensions.metrics[q.Metric]
	if set == nil || int(set.GetCardinality()) == t.n {
		g.records = all
	} else if matched := int(set.GetCardinality()); matched <= len(all.places)/64 {
		g.records = few(set, matched, t.columns[q.Metric].nums, g.d.codes)
	} else {
		g.records = g.among(all, set, matched)
	}
	return g
}

func (g *grouping) free() { scratchPool.Put(g.scratch) }

// among is those of all records that are in a set.
func (g *grouping) among(all metricOrder, set *roaring.Bitmap, matched int) metricOrder {
	ords := g.d.codes.ords
	bits := newDenseBits(set, len(ords))
	defer bits.free()
	size, n := min(len(all.places), matched)+1, 0
	places, values := sized(&g.scratch.records.places, size), sized(&g.scratch.records.values, size)
	for i, place := range all.places { // without a branch, which a processor could not predict
		places[n], values[n] = place, all.values[i]
		n += bits.has(ords[place])
	}
	return metricOrder{places[:n], values[:n]}
}

// few is the records of a set with a value of a metric, given by ordinal. Sorting few of them costs
// less than a look at all records.
func few(set *roaring.Bitmap, matched int, nums []float64, c *codes) metricOrder {
	ranked := make([]rankKey, 0, matched)
	inBatches(func(ords []uint32) {
		for _, ord := range ords {
			if v := nums[ord]; !math.IsNaN(v) {
				ranked = append(ranked, rankKey{v, c.places[ord]})
			}
		}
	}, set)
	slices.SortFunc(ranked, rankKey.compare)
	out := metricOrder{make([]uint32, len(ranked)), make([]float64, len(ranked))}
	for i, r := range ranked {
		out.places[i], out.values[i] = r.ord, r.key
	}
	return out
}

// divide numbers the groups in the order of their keys and finds the group of each record.
func (g *grouping) divide() error {
	n := len(g.records.places)
	g.cells = sized(&g.scratch.cells, n)
	first, second := g.d.codes.key(g.q.By[0]), oneValue
	if len(g.q.By) == 2 {
		second = g.d.codes.key(g.q.By[1])
	}
	if first.n*second.n > n { // a filter leaves few of the values
		first, second = first.among(g.records.places), second.among(g.records.places)
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
	counts := zeroed(&g.scratch.next, first.n*second.n)
	numbers := sized(&g.numbers, blockSize)
	for from := 0; from < len(g.cells); from += blockSize {
		places, cells := blockFrom(g.records.places, from), blockFrom(g.cells, from)
		first.numbersOf(places, cells)
		second.numbersOf(places, numbers)
		for i, number := range cells {
			cell := number*uint32(second.n) + numbers[i]
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
	start, next := uint32(0), counts // the count of a cell becomes the place of its first record
	for cell, count := range counts {
		if count > 0 {
			next[cell] = start
			start += count
			g.starts = append(g.starts, int(start))
		}
	}
	g.next = next
	return nil
}

// numberByMap counts the records of the cells that occur, until there are too many.
func (g *grouping) numberByMap(first, second *key) error {
	counts := map[uint64]uint32{} // by first rank << 32 | second rank
	cellOf := func(place uint32) uint64 { return uint64(first.number(place))<<32 | uint64(second.number(place)) }
	for _, place := range g.records.places {
		if counts[cellOf(place)]++; len(counts) > g.q.MaxGroups {
			return TooManyGroupsError{g.q.MaxGroups}
		}
	}
	g.starts, g.next = make([]int, 1, len(counts)+1), sized(&g.scratch.next, len(counts))
	for number, cell := range slices.Sorted(maps.Keys(counts)) {
		g.next[number] = uint32(g.starts[number])
		g.starts = append(g.starts, g.starts[number]+int(counts[cell]))
		counts[cell] = uint32(number)
	}
	for i, place := range g.records.places {
		g.cells[i] = counts[cellOf(place)]
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

// collect puts the records of each group together.
func (g *grouping) collect() metricOrder {
	if g.inOrder() && slices.IsSorted(g.cells) {
		return g.records
	}
	n := len(g.cells)
	out := metricOrder{sized(&g.grouped.places, n), sized(&g.grouped.values, n)}
	for i, cell := range g.cells {
		at := g.next[cell]
		g.next[cell]++
		out.places[at], out.values[at] = g.records.places[i], g.records.values[i]
	}
	return out
}

// inOrder reports whether the values of a group are in order when they are read in the order of
// records.
func (g *grouping) inOrder() bool { return slices.Contains(g.q.By, Hardware) && !g.q.OncePerPage }

// groups computes what there is to say of each group.
func (g *grouping) groups() []Group {
	records := g.collect()
	n, width := len(g.starts)-1, len(g.d.codes.words)
	asked := &statsOf{codes: g.d.codes, settings: g.d.settings, by: g.q.By, dates: g.dates, differ: make([]uint64, n*width)}
	comparison := newComparison(g.d.codes, g.q.Metric)
	out := make([]Group, n)
	seen, times := sized(&g.seen, g.d.numPages+1), sized(&g.times, g.d.numRepeats+1)
	inOrder := g.inOrder()
	for i := range out {
		from, to := g.starts[i], g.starts[i+1]
		group, places, values := &out[i], records.places[from:to], records.values[from:to]
		group.of, group.number, group.first = asked, uint32(i), places[0]
		g.d.codes.differences(places, asked.differ[i*width:][:width])
		group.Comparable = comparison.comparable(group)
		group.newest = g.newest(places)
		group.Pages = g.countPages(places, seen, uint32(i)+1)
		if g.q.OncePerPage {
			values = g.oncePerPage(values, places, times)
		}
		if !inOrder {
			arrange(values, summaryRanks(len(values)))
		}
		group.summarize(values)
	}
	g.forget(records.places, seen)
	return out
}

// differences sets, for each word, the bits that differ between records.
func (c *codes) differences(places []uint32, differ []uint64) {
	for w, words := range c.words {
		first, bits := words[places[0]], uint64(0)
		for _, place := range places[1:] {
			bits |= words[place] ^ first
		}
		differ[w] = bits
	}
}

// newest is the ordinal of the newest record: the default order has the newest first.
func (g *grouping) newest(places []uint32) uint32 {
	newest := ^uint32(0)
	for _, place := range places {
		newest = min(newest, g.d.codes.ords[place])
	}
	return newest
}

// countPages counts the pages of a group. seen has, by page, the last group it was seen in, and is not
// below another number of this group.
func (g *grouping) countPages(places, seen []uint32, number uint32) (n int) {
	for _, place := range places {
		page := &seen[g.d.pages[place]]
		n += boolInt(*page != number)
		*page = number
	}
	return n
}

// forget sets the pages of records to zero in seen.
func (g *grouping) forget(places, seen []uint32) {
	if len(places) > len(seen)/8 {
		clear(seen)
		return
	}
	for _, place := range places {
		seen[g.d.pages[place]] = 0
	}
}

type repeated struct {
	repeat uint32
	value  float64
}

// oncePerPage returns the values of a group, those of records that repeat each other replaced by their
// median. They are not in order, and valid until the next call. times are zero, before and after.
func (g *grouping) oncePerPage(values []float64, places, times []uint32) []float64 {
	s, repeats := g.scratch, g.d.repeats
	for _, place := range places {
		times[repeats[place]]++
	}
	s.once, s.several = s.once[:0], s.several[:0]
	for i, place := range places {
		if r := repeats[place]; times[r] == 1 {
			s.once = append(s.once, values[i])
		} else {
			s.several = append(s.several, repeated{r, values[i]})
		}
	}
	for _, place := range places {
		times[repeats[place]] = 0
	}
	slices.SortFunc(s.several, func(a, b repeated) int {
		return cmp.Or(cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.value, b.value))
	})
	for to := 0; to < len(s.several); {
		repeat := s.several[to].repeat
		s.equal = s.equal[:0]
		for ; to < len(s.several) && s.several[to].repeat == repeat; to++ {
			s.equal = append(s.equal, s.several[to].value)
		}
		s.once = append(s.once, quantile(s.equal, 0.5))
	}
	return s.once
}

// summaryPs are the quantiles of a group, in ascending order.
var summaryPs = [...]float64{0.10, 0.25, 0.50, 0.75, 0.90}

// summaryRanks are the ranks of the values that summarize reads, in ascending order.
func summaryRanks(n int) []int {
	ranks := make([]int, 0, 2*len(summaryPs)+2)
	ranks = append(ranks, 0)
	for _, p := range summaryPs {
		low, high, _ := quantileRanks(n, p)
		ranks = append(ranks, low, high)
	}
	ranks = append(ranks, n-1)
	slices.Sort(ranks) // of few values the next rank of one quantile is above the rank of the next
	return ranks
}

// summarize sets the quantiles of a group, of values that are where they would be in ascending order at
// summaryRanks. N becomes the number of values.
func (g *Group) summarize(arranged []float64) {
	n := len(arranged)
	g.N, g.Min, g.Max = n, arranged[0], arranged[n-1]
	g.P10, g.P25, g.Median = quantile(arranged, summaryPs[0]), quantile(arranged, summaryPs[1]), quantile(arranged, summaryPs[2])
	g.P75, g.P90 = quantile(arranged, summaryPs[3]), quantile(arranged, summaryPs[4])
}

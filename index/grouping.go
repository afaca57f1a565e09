package index

import (
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
	numbers []uint32    // of each record: the number of its group, in the order of keys
	starts  []int       // by group, in the order of their keys: how many records the groups before have; one more at the end
	*scratch
}

// scratch is memory that statistics need while they are computed, and reuse: at a million records it
// is 30 MB, and to get it from the system would cost as much as all the rest.
type scratch struct {
	records metricOrder
	grouped grouped
	numbers []uint32
	cells   []uint32 // by cell: how many records, and then the number of its group
	block   []uint32 // numbers of the second key, of one block
	next    []uint32 // by group: where the next of its records is put
	seen    []uint32 // by page: the last group it was seen in, from 1
	times   []uint32 // by repeat: how many records of the group, and then where the next of its values is put
	once    []float64
	several []float64 // the values of repeats, one repeat after the other
	repeats []int     // where each of them ends
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
	bits := borrowBitsOf(set, len(ords))
	defer bits.free()
	size, n := min(len(all.places), matched)+1, 0
	places, values := sized(&g.scratch.records.places, size), sized(&g.scratch.records.values, size)
	for i, place := range all.places { // without a branch, which a processor could not predict
		places[n], values[n] = place, all.values[i]
		n += bits.bit(ords[place])
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
	g.numbers = sized(&g.scratch.numbers, n)
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
	counts := zeroed(&g.scratch.cells, first.n*second.n)
	block := sized(&g.block, blockSize)
	for from := 0; from < len(g.numbers); from += blockSize {
		places, cells := blockFrom(g.records.places, from), blockFrom(g.numbers, from)
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
	for _, place := range g.records.places {
		if counts[cellOf(place)]++; len(counts) > g.q.MaxGroups {
			return TooManyGroupsError{g.q.MaxGroups}
		}
	}
	g.starts = make([]int, 1, len(counts)+1)
	for number, cell := range slices.Sorted(maps.Keys(counts)) {
		g.starts = append(g.starts, g.starts[number]+int(counts[cell]))
		counts[cell] = uint32(number)
	}
	for i, place := range g.records.places {
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

// grouped is what is counted of the records, those of one group after those of another. It is read from the start of
// memory to its end; the records of a group are all over the table.
type grouped struct {
	values  []float64
	pages   []uint32
	repeats []uint32 // with OncePerPage
}

// collect puts the records of each group together.
func (g *grouping) collect() grouped {
	n := len(g.numbers)
	out := grouped{values: g.records.values, pages: sized(&g.grouped.pages, n)}
	if g.q.OncePerPage {
		out.repeats = sized(&g.grouped.repeats, n)
	}
	if g.together() {
		for i, place := range g.records.places {
			out.pages[i] = g.d.pages[place]
		}
		for i := range out.repeats {
			out.repeats[i] = g.d.repeats[g.records.places[i]]
		}
		return out
	}
	out.values = sized(&g.grouped.values, n)
	next := sized(&g.scratch.next, len(g.starts))
	for number, start := range g.starts {
		next[number] = uint32(start)
	}
	for i, number := range g.numbers {
		at, place := next[number], g.records.places[i]
		next[number]++
		out.values[at], out.pages[at] = g.records.values[i], g.d.pages[place]
		if out.repeats != nil {
			out.repeats[at] = g.d.repeats[place]
		}
	}
	return out
}

// inOrder reports whether the values of a group are in order when they are read in the order of
// records.
func (g *grouping) inOrder() bool { return slices.Contains(g.q.By, Hardware) && !g.q.OncePerPage }

// together reports whether the records of each group follow each other, and their values need not be moved.
func (g *grouping) together() bool {
	return (g.inOrder() || g.q.OncePerPage) && slices.IsSorted(g.numbers)
}

// groups computes what there is to say of each group.
func (g *grouping) groups() []Group {
	n, width := len(g.starts)-1, len(g.d.codes.words)
	asked := &statsOf{codes: g.d.codes, settings: g.d.settings, by: g.q.By, dates: g.dates, differ: make([]uint64, n*width)}
	out := make([]Group, n)
	for i := range out {
		out[i].of, out[i].number = asked, uint32(i)
	}
	g.compare(out)
	records := g.collect()
	comparison := newComparison(g.d.codes, g.q.Metric)
	seen, times := sized(&g.seen, g.d.numPages+1), sized(&g.times, g.d.numRepeats+1)
	inOrder := g.inOrder()
	for i := range out {
		from, to := g.starts[i], g.starts[i+1]
		group, values := &out[i], records.values[from:to]
		group.Comparable = comparison.comparable(group)
		group.Pages = countPages(records.pages[from:to], seen, uint32(i)+1)
		if g.q.OncePerPage {
			values = g.oncePerPage(values, records.repeats[from:to], times)
		}
		if !inOrder {
			arrange(values, summaryRanks(len(values)))
		}
		group.summarize(values)
	}
	forget(records.pages, seen)
	return out
}

// compare finds the newest record of each group, and the bits of each word that differ between its records. It reads
// the records in their order, which is nearly that of places.
func (g *grouping) compare(groups []Group) {
	if len(groups) == 0 {
		return
	}
	width, differ := len(g.d.codes.words), groups[0].of.differ
	newest, firsts := make([]uint32, len(groups)), make([]uint32, len(groups))
	for i := range newest {
		newest[i] = ^uint32(0)
	}
	for i, number := range g.numbers { // the default order has the newest first
		place := g.records.places[i]
		firsts[number] = place
		newest[number] = min(newest[number], g.d.codes.ords[place])
	}
	first := make([]uint64, len(groups)*width) // by group, then by word
	for i, place := range firsts {
		groups[i].first, groups[i].newest = place, newest[i]
		for w, words := range g.d.codes.words {
			first[i*width+w] = words[place]
		}
	}
	for from := 0; from < len(g.numbers); from += blockSize {
		places, numbers := blockFrom(g.records.places, from), blockFrom(g.numbers, from)
		for w, words := range g.d.codes.words {
			for i, place := range places {
				at := int(numbers[i])*width + w
				differ[at] |= words[place] ^ first[at]
			}
		}
	}
}

// countPages counts the pages of a group. seen has, by page, the last group it was seen in, and is not
// below another number of this group.
func countPages(pages, seen []uint32, number uint32) (n int) {
	for _, page := range pages {
		n += boolInt(seen[page] != number)
		seen[page] = number
	}
	return n
}

// forget sets pages to zero in seen.
func forget(pages, seen []uint32) {
	if len(pages) > len(seen)/8 {
		clear(seen)
		return
	}
	for _, page := range pages {
		seen[page] = 0
	}
}

// oncePerPage returns the values of a group, those of records that repeat each other replaced by their
// median. They are not in order, and valid until the next call. times are zero, before and after.
func (g *grouping) oncePerPage(values []float64, repeats, times []uint32) []float64 {
	const placed = 1 << 31 // the time is where the next value is put
	s := g.scratch
	for _, r := range repeats {
		times[r]++
	}
	s.once, s.several, s.repeats = s.once[:0], s.several[:0], s.repeats[:0]
	for i, r := range repeats {
		switch n := times[r]; {
		case r == 0 || n == 1:
			s.once = append(s.once, values[i])
		default:
			if n&placed == 0 {
				start := len(s.several)
				s.several = slices.Grow(s.several, int(n))[:start+int(n)]
				s.repeats = append(s.repeats, len(s.several))
				times[r] = placed | uint32(start)
			}
			s.several[times[r]&^placed] = values[i]
			times[r]++
		}
	}
	for _, r := range repeats {
		times[r] = 0
	}
	from := 0
	for _, to := range s.repeats {
		equal := s.several[from:to]
		slices.Sort(equal)
		s.once, from = append(s.once, quantile(equal, 0.5)), to
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

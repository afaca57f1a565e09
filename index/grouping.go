package index

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// A grouping is statistics being computed. Records are read in the order of their hardware, and those
// of a group are put together by a counting sort: they are counted, and then each is put at the next
// place of its group.
type grouping struct {
	q       StatsQuery
	d       *dimensions
	dates   []float64   // of the runs, by ordinal
	records metricOrder // to count
	of      []uint32    // the group of each record
	starts  []int       // by group, in the order of their keys: how many records the groups before have; one more at the end
	groups  []Group
	*scratch
}

// scratch is memory that statistics need while they are computed, and reuse: at a million records it
// is 40 MB, and to get it from the system would cost as much as all the rest.
type scratch struct {
	records metricOrder
	of      []uint32
	values  []float64 // of the records in the order of groups: value, page and number of the repeat
	pages   []uint32
	repeats []uint32
	seen    []uint32 // by page: the last group it was seen in, from 1
	times   []uint32 // by repeat: how many records of the group
	several []repeated
	once    []float64
	counts  []uint32 // by cell of a table of two keys
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
	if set == nil {
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
	g.of = sized(&g.scratch.of, n)
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
	counts := zeroed(&g.counts, first.n*second.n)
	for i, place := range g.records.places {
		cell := first.number(place)*uint32(second.n) + second.number(place)
		g.of[i] = cell
		counts[cell]++
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
			numbers[cell] = uint32(len(g.starts) - 1)
			g.starts = append(g.starts, g.starts[len(g.starts)-1]+int(count))
		}
	}
	for i, cell := range g.of {
		g.of[i] = numbers[cell]
	}
	return nil
}

// numberByMap counts the records of the cells that occur, until there are too many.
func (g *grouping) numberByMap(first, second *key) error {
	counts := map[uint64]int{} // by first rank << 32 | second rank
	cellOf := func(place uint32) uint64 { return uint64(first.number(place))<<32 | uint64(second.number(place)) }
	for _, place := range g.records.places {
		if counts[cellOf(place)]++; len(counts) > g.q.MaxGroups {
			return TooManyGroupsError{g.q.MaxGroups}
		}
	}
	g.starts = make([]int, 1, len(counts)+1)
	for number, cell := range slices.Sorted(maps.Keys(counts)) {
		g.starts = append(g.starts, g.starts[number]+counts[cell])
		counts[cell] = number
	}
	for i, place := range g.records.places {
		g.of[i] = uint32(counts[cellOf(place)])
	}
	return nil
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

// describe says of each group what its records have in common, and its newest run. Each loop reads few
// parts of memory, one after the other.
func (g *grouping) describe() {
	codes, width, n := g.d.codes, len(g.d.codes.words), len(g.starts)-1
	words := make([]uint64, 2*width*n) // of each group the AND of the words of its records, and the OR
	for i := range n {
		for w := range width {
			words[2*width*i+w] = ^uint64(0)
		}
	}
	for w, column := range codes.words {
		for i, place := range g.records.places {
			at := 2*width*int(g.of[i]) + w
			words[at] &= column[place]
			words[at+width] |= column[place]
		}
	}
	newest := make([]uint32, n)
	for i := range newest {
		newest[i] = ^uint32(0)
	}
	for i, place := range g.records.places {
		newest[g.of[i]] = min(newest[g.of[i]], codes.ords[place]) // default order is newest first
	}
	g.groups = make([]Group, n)
	asked, comparison := &statsOf{codes, g.d.settings, g.q.By}, newComparison(codes, g.q.Metric)
	for i := range g.groups {
		mine := words[2*width*i:][:2*width]
		for w := range width {
			mine[width+w] ^= mine[w]
		}
		g.groups[i] = Group{Newest: g.dates[newest[i]], of: asked, words: mine}
		g.groups[i].Comparable = comparison.comparable(&g.groups[i])
	}
}

// collect puts the values, pages and repeats of each group together.
func (g *grouping) collect() (values []float64, pages, repeats []uint32) {
	n := len(g.of)
	pages, repeats = sized(&g.pages, n), sized(&g.repeats, n)
	if g.inOrder() && slices.IsSorted(g.of) {
		for i, place := range g.records.places {
			pages[i] = g.d.pages[place]
		}
		return g.records.values, pages, nil
	}
	values = sized(&g.values, n)
	next := slices.Clone(g.starts)
	for i, place := range g.records.places {
		at := next[g.of[i]]
		next[g.of[i]]++
		values[at], pages[at] = g.records.values[i], g.d.pages[place]
		if g.q.OncePerPage {
			repeats[at] = g.d.repeats[place]
		}
	}
	return values, pages, repeats
}

// inOrder reports whether the values of a group are in order when they are read in the order of
// records.
func (g *grouping) inOrder() bool { return slices.Contains(g.q.By, Hardware) && !g.q.OncePerPage }

// measure computes the quantiles of all groups, and counts their pages.
func (g *grouping) measure() {
	values, pages, repeats := g.collect()
	seen, times := sized(&g.seen, g.d.numPages+1), sized(&g.times, g.d.numRepeats+1)
	inOrder := g.inOrder()
	for i := range g.groups {
		from, to := g.starts[i], g.starts[i+1]
		group, mine := &g.groups[i], values[from:to]
		for _, page := range pages[from:to] {
			if seen[page] != uint32(i)+1 {
				seen[page] = uint32(i) + 1
				group.Pages++
			}
		}
		if g.q.OncePerPage {
			mine = g.oncePerPage(mine, repeats[from:to], times)
		}
		if !inOrder {
			arrange(mine, summaryRanks(len(mine)))
		}
		group.summarize(mine)
	}
	if len(pages) > len(seen)/8 {
		clear(seen)
		return
	}
	for _, page := range pages {
		seen[page] = 0
	}
}

type repeated struct {
	repeat uint32
	value  float64
}

// oncePerPage returns the values of a group, those of records that repeat each other replaced by their
// median. They are not in order, and valid until the next call. times are zero, before and after.
func (s *scratch) oncePerPage(values []float64, repeats, times []uint32) []float64 {
	for _, r := range repeats {
		times[r]++
	}
	s.once, s.several = s.once[:0], s.several[:0]
	for i, r := range repeats {
		if times[r] == 1 {
			s.once = append(s.once, values[i])
		} else {
			s.several = append(s.several, repeated{r, values[i]})
		}
	}
	for _, r := range repeats {
		times[r] = 0
	}
	slices.SortFunc(s.several, func(a, b repeated) int {
		return cmp.Or(cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.value, b.value))
	})
	for to := 0; to < len(s.several); {
		from := to
		for to < len(s.several) && s.several[to].repeat == s.several[from].repeat {
			to++
		}
		s.once = append(s.once, quantile(to-from, func(rank int) float64 { return s.several[from+rank].value }, 0.5))
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
	n, value := len(arranged), at(arranged)
	g.N, g.Min, g.Max = n, arranged[0], arranged[n-1]
	for i, to := range []*float64{&g.P10, &g.P25, &g.Median, &g.P75, &g.P90} {
		*to = quantile(n, value, summaryPs[i])
	}
}

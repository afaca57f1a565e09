package index

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// A grouping is statistics being computed. The records of a group are put together by a counting
// sort: they are counted, and then each is put at the next place of its group.
type grouping struct {
	t       *Table
	q       StatsQuery
	metric  *column
	ords    []uint32 // the matching records with a value of the metric, in default order
	unknown int      // matching records without one
	of      []uint32 // the group of each of ords
	by      []slot   // the fields of the keys
	groups  []Group  // in the order of their keys
	starts  []int    // by group: how many records the groups before have; one more at the end
	// The source pages and values of records in the order of groups; values are nil if measure does
	// not need them.
	pages  []uint32
	values []float64
}

// newGrouping finds the records to count. set is what the query matches; nil is every record.
func newGrouping(t *Table, q StatsQuery, set *roaring.Bitmap) *grouping {
	g := &grouping{t: t, q: q, metric: t.columns[q.Metric]}
	nums := g.metric.nums
	if set == nil {
		g.ords = make([]uint32, 0, t.n)
		for ord := range nums {
			if !math.IsNaN(nums[ord]) {
				g.ords = append(g.ords, uint32(ord))
			}
		}
		g.unknown = t.n - len(g.ords)
		return g
	}
	matched := int(set.GetCardinality())
	g.ords = make([]uint32, 0, matched)
	inBatches(func(ords []uint32) {
		for _, ord := range ords {
			if !math.IsNaN(nums[ord]) {
				g.ords = append(g.ords, ord)
			}
		}
	}, set)
	g.unknown = matched - len(g.ords)
	return g
}

// assign numbers the groups in the order of their keys and finds the group of each record.
func (g *grouping) assign() error {
	for _, f := range g.q.By {
		g.by = append(g.by, g.t.dimensions.codes.slots[f])
	}
	keys := g.key(g.by[0])
	if len(g.by) == 2 {
		keys = keys.with(g.key(g.by[1]))
	}
	g.of = make([]uint32, len(g.ords))
	counts := make([]uint32, keys.size())
	for i, ord := range g.ords {
		cell := keys.cell(ord)
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
	g.groups, g.starts = make([]Group, n), make([]int, 1, n+1)
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

// A key says which cell of a table of one or two dimensions a record belongs to.
type key struct {
	slot  slot
	words []uint64 // by ordinal
	ranks []uint32 // by code
	n     int      // ranks
	next  *key     // the second dimension
}

// key numbers the codes of a field that occur, in their order: a filter leaves few of them.
func (g *grouping) key(s slot) key {
	k := key{slot: s, words: g.t.dimensions.codes.words[s.word], ranks: make([]uint32, s.size())}
	for _, ord := range g.ords {
		k.ranks[s.code(k.words[ord])] = 1
	}
	for code, occurs := range k.ranks {
		k.ranks[code] = uint32(k.n)
		k.n += int(occurs)
	}
	return k
}

func (k key) with(next key) key {
	k.next = &next
	return k
}

func (k *key) size() int {
	if k.next == nil {
		return k.n
	}
	return k.n * k.next.n
}

func (k *key) cell(ord uint32) uint32 {
	cell := k.ranks[k.slot.code(k.words[ord])]
	if k.next != nil {
		cell = cell*uint32(k.next.n) + k.next.ranks[k.next.slot.code(k.next.words[ord])]
	}
	return cell
}

// collect puts the records of each group together and compares their words.
func (g *grouping) collect() {
	d := g.t.dimensions
	width := len(d.codes.words)
	compared := make([]uint64, 2*width*len(g.groups)) // of each group: the words of its first record, and what differs
	g.pages = make([]uint32, len(g.ords))
	if !g.inOrder() {
		g.values = make([]float64, len(g.ords))
	}
	next, firsts := slices.Clone(g.starts), make([]uint32, len(g.groups))
	for i, ord := range g.ords {
		n := g.of[i]
		at := next[n]
		next[n]++
		g.pages[at] = d.pages[ord]
		if g.values != nil {
			g.values[at] = g.metric.nums[ord]
		}
		mine := compared[2*width*int(n) : 2*width*int(n+1)]
		if at == g.starts[n] {
			firsts[n] = ord
			for w, words := range d.codes.words {
				mine[w] = words[ord]
			}
		}
		for w, words := range d.codes.words {
			mine[width+w] |= mine[w] ^ words[ord]
		}
	}
	keys := make([]string, len(g.by)*len(g.groups))
	for i := range g.groups {
		mine := compared[2*width*i : 2*width*(i+1)]
		group := &g.groups[i]
		*group = Group{
			Key: keys[len(g.by)*i : len(g.by)*(i+1) : len(g.by)*(i+1)], d: d, metric: g.q.Metric, first: mine[:width], xor: mine[width:],
			Newest: g.t.columns[RunDate].nums[firsts[i]], // default order is newest first
		}
		for k, s := range g.by {
			group.Key[k] = s.value(s.code(group.first[s.word]))
		}
	}
}

// inOrder reports whether the values of groups are found in the order of the column. It costs a
// look at each record of the table, most of them far apart in memory; sorting a group of a few
// values costs less.
func (g *grouping) inOrder() bool {
	if g.q.OncePerPage || g.metric.asc == nil || len(g.groups) == 0 {
		return false
	}
	return len(g.ords)*bits.Len(uint(len(g.ords)/len(g.groups))) > 6*g.metric.known
}

// measure computes the quantiles of all groups.
func (g *grouping) measure() {
	switch {
	case g.q.OncePerPage:
		g.measureOncePerPage()
	case g.values == nil:
		g.measureInOrder()
	default:
		for i := range g.groups {
			mine := g.values[g.starts[i]:g.starts[i+1]]
			slices.Sort(mine)
			g.groups[i].summarize(len(mine), at(mine))
		}
	}
}

// measureInOrder puts the records of each group in the order of the column.
func (g *grouping) measureInOrder() {
	of := make([]uint32, g.t.n) // by ordinal, from 1; 0: not counted
	for i, ord := range g.ords {
		of[ord] = g.of[i] + 1
	}
	ascending, next := make([]uint32, len(g.ords)), slices.Clone(g.starts)
	for _, ord := range g.metric.asc[:g.metric.known] {
		if n := of[ord]; n != 0 {
			ascending[next[n-1]] = ord
			next[n-1]++
		}
	}
	for i := range g.groups {
		mine := ascending[g.starts[i]:g.starts[i+1]]
		g.groups[i].summarize(len(mine), func(rank int) float64 { return g.metric.nums[mine[rank]] })
	}
}

// summarize sets the quantiles of n values; value gives them in ascending order.
func (g *Group) summarize(n int, value func(rank int) float64) {
	g.N = n
	g.Min, g.Max = value(0), value(n-1)
	g.P10, g.P25, g.Median = quantile(n, value, 0.10), quantile(n, value, 0.25), quantile(n, value, 0.50)
	g.P75, g.P90 = quantile(n, value, 0.75), quantile(n, value, 0.90)
}

// measureOncePerPage is measure with the records of one page and configuration counted as one.
func (g *grouping) measureOncePerPage() {
	// A page and the place of a record in ords are sorted as one number. Most pages have one record
	// in a group, so that configurations need not be compared.
	keys := make([]uint64, len(g.ords))
	next := slices.Clone(g.starts)
	for i, ord := range g.ords {
		keys[next[g.of[i]]] = uint64(g.t.dimensions.pages[ord])<<32 | uint64(i)
		next[g.of[i]]++
	}
	var medians []float64
	for i := range g.groups {
		mine := keys[g.starts[i]:g.starts[i+1]]
		slices.Sort(mine)
		medians = medians[:0]
		for to := 0; to < len(mine); {
			from, page := to, mine[to]>>32
			for to < len(mine) && mine[to]>>32 == page {
				to++
			}
			medians = g.appendMedians(medians, mine[from:to])
		}
		slices.Sort(medians)
		g.groups[i].summarize(len(medians), at(medians))
	}
}

// appendMedians appends the median of each configuration among records of one page.
func (g *grouping) appendMedians(medians []float64, keys []uint64) []float64 {
	ord := func(key uint64) uint32 { return g.ords[uint32(key)] }
	if len(keys) == 1 {
		return append(medians, g.metric.nums[ord(keys[0])])
	}
	d := g.t.dimensions
	compare := func(a, b uint64) int { return d.compareConfigurations(ord(a), ord(b)) }
	slices.SortFunc(keys, func(a, b uint64) int {
		return cmp.Or(compare(a, b), cmp.Compare(g.metric.nums[ord(a)], g.metric.nums[ord(b)]))
	})
	var values []float64
	for i, key := range keys {
		values = append(values, g.metric.nums[ord(key)])
		if i+1 == len(keys) || compare(key, keys[i+1]) != 0 {
			medians, values = append(medians, quantile(len(values), at(values), 0.5)), values[:0]
		}
	}
	return medians
}

// countPages counts the distinct source pages of all groups.
func (g *grouping) countPages() {
	seen := make([]uint32, g.t.dimensions.numPages+1) // by page: the last group it was seen in, from 1
	for i := range g.groups {
		group := &g.groups[i]
		for _, page := range g.pages[g.starts[i]:g.starts[i+1]] {
			if seen[page] != uint32(i)+1 {
				seen[page] = uint32(i) + 1
				group.Pages++
			}
		}
		group.Comparable = group.comparable()
	}
}

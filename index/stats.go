package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// StatsQuery asks for statistics of one metric by group.
type StatsQuery struct {
	// Query is the filter. Its order, place and limit are ignored.
	Query
	// By are one or two fields with the use Groups.
	By []Field
	// Metric is a field with the use Metric.
	Metric Field
	// OncePerPage counts the records of a group with the same source page, model, hardware and
	// settings as one: their median.
	OncePerPage bool
	// MaxGroups is the maximum number of groups; more are a TooManyGroupsError.
	MaxGroups int
}

// TooManyGroupsError is returned for a query with more groups than asked for.
type TooManyGroupsError struct{ Max int }

func (e TooManyGroupsError) Error() string { return fmt.Sprintf("more than %d groups", e.Max) }

// Stats are the groups of a StatsQuery. They share memory with the table, but no ordinals.
type Stats struct {
	Groups []Group // in the order of their keys
	// Unknown is how many records match the filter but have no value of the metric; they are in no
	// group. Excluded and ExcludedBySets are as in Page.
	Unknown                  int
	Excluded, ExcludedBySets []int
}

// Group is the statistics of the records with one key.
type Group struct {
	Key []string // the values of StatsQuery.By; empty for unknown
	N   int      // values counted
	// Pages is the number of distinct source pages; all measurements without a page count as one.
	Pages                                int
	Min, P10, P25, Median, P75, P90, Max float64
	Newest                               float64 // latest run date as yyyymmdd, NaN if unknown
	// Comparable: the values differ neither in what was measured nor in how, as far as settings say.
	Comparable bool

	t       *Table
	metric  Field
	combo   []uint32 // settings of the first record
	differs uint64   // settings that differ, by place
	one     [2]one   // the model and the hardware
}

// one is a code that all records of a group have, or that differs.
type one struct {
	code    uint32
	differs bool
}

// add compares the code of one more record.
func (o *one) add(code uint32) { o.differs = o.differs || o.code != code }

// SharedSetting is a setting that is equal in all records of a group. Value is empty if it is
// unknown in all of them.
type SharedSetting struct {
	Field Field
	Value string
}

// Settings lists the settings that are equal in all records of a group, and those that differ.
func (g *Group) Settings() (shared []SharedSetting, differ []Field) {
	for i, f := range g.t.dimensions.settings {
		if f == Settings {
			continue
		}
		if g.differs&(1<<i) != 0 {
			differ = append(differ, f)
			continue
		}
		shared = append(shared, SharedSetting{f, g.t.postings[f].valueOf(g.combo[i])})
	}
	return shared, differ
}

// valueOf is the value of a code, empty for unknown.
func (p *posting) valueOf(code uint32) string {
	if code == 0 {
		return ""
	}
	return p.values[code-1]
}

// Stats computes statistics. Groups are in the order of their keys; unknown keys are last. A field
// without the needed use is the programmer's mistake and panics.
func (t *Table) Stats(q StatsQuery) (*Stats, error) {
	m, excluded := t.matching(q.Query)
	g := newGrouping(t, q, m.all())
	if err := g.assign(); err != nil {
		return nil, err
	}
	g.measure()
	g.describe()
	slices.SortFunc(g.groups, compareKeys)
	return &Stats{Groups: g.groups, Unknown: g.unknown, Excluded: excluded, ExcludedBySets: t.excludedBySets(q.Query)}, nil
}

// compareKeys orders groups by their keys, unknown last.
func compareKeys(a, b Group) int {
	for i := range a.Key {
		if c := CompareKeys(a.Key[i], b.Key[i]); c != 0 {
			return c
		}
	}
	return 0
}

// CompareKeys orders values of keys, the empty one, which is unknown, last.
func CompareKeys(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return strings.Compare(a, b)
}

// A grouping is statistics being computed.
type grouping struct {
	t       *Table
	q       StatsQuery
	set     *roaring.Bitmap // nil is every record
	metric  *column
	groups  []Group
	of      []uint32 // by ordinal: number of its group from 1, 0 for none
	starts  []int    // by group: where its records start when records are in order of groups
	matched int
	unknown int
}

func newGrouping(t *Table, q StatsQuery, set *roaring.Bitmap) *grouping {
	return &grouping{t: t, q: q, set: set, metric: t.columns[q.Metric], of: make([]uint32, t.n)}
}

// each calls do with the matching records in default order, in batches.
func (g *grouping) each(do func(ords []uint32)) {
	if g.set != nil {
		inBatches(do, g.set)
		return
	}
	var batch [256]uint32
	for from := 0; from < g.t.n; from += len(batch) {
		n := min(len(batch), g.t.n-from)
		for i := range n {
			batch[i] = uint32(from + i)
		}
		do(batch[:n])
	}
}

// assign finds the group of each record.
func (g *grouping) assign() error {
	first := g.t.dimensions.of(g.q.By[0])
	second, width := []uint32(nil), 1
	if len(g.q.By) == 2 {
		second, width = g.t.dimensions.of(g.q.By[1]), len(g.t.postings[g.q.By[1]].values)+1
	}
	// By key: number of the group. Fields have thousands of values at most, and most products of
	// two fields with the use Groups have fewer cells than a million records have values.
	numbers := make([]uint32, width*(len(g.t.postings[g.q.By[0]].values)+1))
	nums := g.metric.nums
	tooMany := false
	g.each(func(ords []uint32) {
		for _, ord := range ords {
			if math.IsNaN(nums[ord]) {
				g.unknown++
				continue
			}
			key := first[ord]
			if second != nil {
				key = key*uint32(width) + second[ord]
			}
			if numbers[key] == 0 {
				if len(g.groups) == g.q.MaxGroups {
					tooMany = true
					continue
				}
				g.groups = append(g.groups, g.newGroup(ord, first, second))
				numbers[key] = uint32(len(g.groups))
			}
			n := numbers[key]
			g.of[ord] = n
			g.groups[n-1].N++
			g.matched++
		}
	})
	if tooMany {
		return TooManyGroupsError{g.q.MaxGroups}
	}
	g.starts = make([]int, len(g.groups)+1)
	for i := range g.groups {
		g.starts[i+1] = g.starts[i] + g.groups[i].N
	}
	return nil
}

// newGroup makes the group of its first record. Default order is newest first.
func (g *grouping) newGroup(ord uint32, first, second []uint32) Group {
	d := g.t.dimensions
	out := Group{
		Key: []string{g.t.postings[g.q.By[0]].valueOf(first[ord])}, Newest: g.t.columns[RunDate].nums[ord],
		t: g.t, metric: g.q.Metric, combo: d.combos[d.combined[ord]],
		one: [2]one{{code: d.codes[Model][ord]}, {code: d.codes[Hardware][ord]}},
	}
	if second != nil {
		out.Key = append(out.Key, g.t.postings[g.q.By[1]].valueOf(second[ord]))
	}
	return out
}

// measure computes the quantiles of all groups.
func (g *grouping) measure() {
	if g.q.OncePerPage {
		g.measureOncePerPage()
		return
	}
	values := make([]float64, g.matched)
	next := slices.Clone(g.starts)
	// In the order of the column the values of each group are already sorted. A few values are
	// faster sorted than found in the order of all.
	inOrder := g.metric.asc != nil && g.matched >= g.t.n/8
	place := func(ords []uint32) {
		for _, ord := range ords {
			if n := g.of[ord]; n != 0 {
				values[next[n-1]] = g.metric.nums[ord]
				next[n-1]++
			}
		}
	}
	if inOrder {
		place(g.metric.asc[:g.metric.known])
	} else {
		g.each(place)
	}
	for i := range g.groups {
		mine := values[g.starts[i]:g.starts[i+1]]
		if !inOrder {
			slices.Sort(mine)
		}
		g.groups[i].summarize(mine)
	}
}

// summarize sets the quantiles of sorted values.
func (g *Group) summarize(sorted []float64) {
	g.N = len(sorted)
	g.Min, g.Max = sorted[0], sorted[len(sorted)-1]
	g.P10, g.P25, g.Median = quantile(sorted, 0.10), quantile(sorted, 0.25), quantile(sorted, 0.50)
	g.P75, g.P90 = quantile(sorted, 0.75), quantile(sorted, 0.90)
}

// run is one record of a group and what makes it a repetition of another.
type run struct {
	model, hardware, combo, page uint32
	value                        float64
}

func (r run) compare(s run) int {
	return cmp.Or(cmp.Compare(r.model, s.model), cmp.Compare(r.hardware, s.hardware), cmp.Compare(r.combo, s.combo),
		cmp.Compare(r.page, s.page), cmp.Compare(r.value, s.value))
}

func (r run) repeats(s run) bool {
	r.value, s.value = 0, 0
	return r == s
}

func (g *grouping) measureOncePerPage() {
	d, runs := g.t.dimensions, make([]run, g.matched)
	models, hardware := d.codes[Model], d.codes[Hardware]
	next := slices.Clone(g.starts)
	g.each(func(ords []uint32) {
		for _, ord := range ords {
			if n := g.of[ord]; n != 0 {
				runs[next[n-1]] = run{models[ord], hardware[ord], d.combined[ord], d.pages[ord], g.metric.nums[ord]}
				next[n-1]++
			}
		}
	})
	var medians, repeated []float64
	for i := range g.groups {
		mine := runs[g.starts[i]:g.starts[i+1]]
		slices.SortFunc(mine, run.compare)
		medians = medians[:0]
		for from := 0; from < len(mine); {
			repeated = repeated[:0]
			to := from
			for ; to < len(mine) && mine[to].repeats(mine[from]); to++ {
				repeated = append(repeated, mine[to].value)
			}
			medians, from = append(medians, quantile(repeated, 0.5)), to
		}
		slices.Sort(medians)
		g.groups[i].summarize(medians)
	}
}

// describe finds the source pages of all groups, and what is equal in them.
func (g *grouping) describe() {
	d := g.t.dimensions
	models, hardware := d.codes[Model], d.codes[Hardware]
	type origin struct{ combo, page uint32 }
	origins := make([]origin, g.matched)
	next := slices.Clone(g.starts)
	g.each(func(ords []uint32) {
		for _, ord := range ords {
			n := g.of[ord]
			if n == 0 {
				continue
			}
			origins[next[n-1]] = origin{d.combined[ord], d.pages[ord]}
			next[n-1]++
			group := &g.groups[n-1]
			group.one[0].add(models[ord])
			group.one[1].add(hardware[ord])
		}
	})
	seenPage, seenCombo := make([]uint32, d.numPages+1), make([]uint32, len(d.combos)) // last group it was seen in, from 1

	all := uint64(1)<<len(d.settings) - 1 // nothing more can differ
	for i := range g.groups {
		group := &g.groups[i]
		for _, o := range origins[g.starts[i]:g.starts[i+1]] {
			if seenPage[o.page] != uint32(i)+1 {
				seenPage[o.page] = uint32(i) + 1
				group.Pages++
			}
			if group.differs != all && seenCombo[o.combo] != uint32(i)+1 {
				seenCombo[o.combo] = uint32(i) + 1
				group.compareSettings(d.combos[o.combo])
			}
		}
		group.Comparable = group.comparable()
	}
}

func (g *Group) compareSettings(combo []uint32) {
	for i, code := range combo {
		if code != g.combo[i] {
			g.differs |= 1 << i
		}
	}
}

// decisive are the settings that decide whether two speeds are of the same kind, unless both have
// the settings of a single stream.
var decisive = []Field{"rate_basis", Concurrency, "hardware_count", "context_depth", "speculative_decoding", "partial_offload"}

// comparable reports whether the values of a group measure the same: one model on one kind of
// hardware in one quantization, either all with the settings of a single stream or with decisive
// settings that are known and equal; for speeds of prompts also the length of the prompt, and for
// energy what the power was measured at.
func (g *Group) comparable() bool {
	if g.one[0].differs || g.one[1].differs || !g.sharesKnown(Quantization) {
		return false
	}
	if (g.metric == PromptTPS || g.metric == "ttft_ms") && !g.sharesKnown("n_prompt") {
		return false
	}
	if g.metric == "tokens_per_joule" && !g.sharesKnown("power_basis") {
		return false
	}
	at := g.t.dimensions.place(Settings)
	if g.differs&(1<<at) == 0 && g.t.postings[Settings].valueOf(g.combo[at]) == SingleStream {
		return true
	}
	return !slices.ContainsFunc(decisive, func(f Field) bool { return !g.sharesKnown(f) })
}

// sharesKnown reports whether a setting is known and equal in all records.
func (g *Group) sharesKnown(f Field) bool {
	at := g.t.dimensions.place(f)
	return g.differs&(1<<at) == 0 && g.combo[at] != 0
}

// GroupOrders lists what groups can be sorted by, beside their key.
var GroupOrders = []string{"key", "n", "sources", "min", "p10", "p25", "median", "p75", "p90", "max", "newest_run_date"}

// Statistic is the value of one of GroupOrders, 0 for key.
func (g *Group) Statistic(by string) float64 {
	switch by {
	case "n":
		return float64(g.N)
	case "sources":
		return float64(g.Pages)
	case "min":
		return g.Min
	case "p10":
		return g.P10
	case "p25":
		return g.P25
	case "median":
		return g.Median
	case "p75":
		return g.P75
	case "p90":
		return g.P90
	case "max":
		return g.Max
	case "newest_run_date":
		return g.Newest
	default:
		return 0
	}
}

// position is the place just after a group.
func (g *Group) position(by string) *Position {
	v := g.Statistic(by)
	p := &Position{Known: !math.IsNaN(v), Slug: strings.Join(g.Key, "\x00")}
	if p.Known {
		p.Num = v
	}
	return p
}

// Page returns at most limit groups in the order of one of GroupOrders, descending if desc is set,
// after a position; ties are in the order of keys and unknown values last. next is where the next
// page begins, nil on the last.
func (s *Stats) Page(by string, desc bool, after *Position, limit int) (groups []Group, next *Position) {
	sorted := slices.Clone(s.Groups)
	compare := func(a, b *Position) int { return comparePositions(a, b, desc, by == "key") }
	slices.SortStableFunc(sorted, func(a, b Group) int { return compare(a.position(by), b.position(by)) })
	if after != nil {
		n, found := slices.BinarySearchFunc(sorted, after, func(g Group, p *Position) int { return compare(g.position(by), p) })
		if found {
			n++
		}
		sorted = sorted[n:]
	}
	if len(sorted) > limit {
		sorted = sorted[:limit]
		next = sorted[limit-1].position(by)
	}
	return sorted, next
}

// comparePositions orders groups by value, unknown last, then by key.
func comparePositions(a, b *Position, desc, byKey bool) int {
	if a.Known != b.Known {
		return boolInt(!a.Known) - boolInt(!b.Known)
	}
	c := cmp.Compare(a.Num, b.Num)
	if desc {
		c = -c
	}
	if c != 0 {
		return c
	}
	for x, y := strings.Split(a.Slug, "\x00"), strings.Split(b.Slug, "\x00"); len(x) > 0 && len(y) > 0; x, y = x[1:], y[1:] {
		if c := CompareKeys(x[0], y[0]); c != 0 {
			if byKey && desc {
				return -c
			}
			return c
		}
	}
	return 0
}

package index

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"modeldex/dataset/record"
)

// StatsQuery asks for statistics of one metric by group.
type StatsQuery struct {
	// Query is the filter. Its order, place and limit are ignored.
	Query
	// By are one or two fields with the use Groups.
	By []Field
	// Metric is a field with the use Metric.
	Metric Field
	// Weight says which records of a group count as one.
	Weight Weight
	// MaxGroups is the maximum number of groups; more are a TooManyGroupsError.
	MaxGroups int
}

// Weight says which records of a group count as one, with their median.
type Weight uint8

// The weights.
const (
	EachRecord    Weight = iota // none: every record counts
	OncePerRepeat               // those with the same source page, model, hardware and settings
	OncePerPage                 // those with the same source page; all measurements without a page are one
)

// TooManyGroupsError is returned for a query with more groups than asked for.
type TooManyGroupsError struct{ Max int }

func (e TooManyGroupsError) Error() string { return fmt.Sprintf("more than %d groups", e.Max) }

// Stats are the groups of a StatsQuery. They share memory with the table.
type Stats struct {
	Groups []Group // in the order of their keys
	// Unknown is how many records match the filter but have no value of the metric, Withdrawn how many match and
	// were withdrawn, and Supplementary how many match but are of supplementary sources and their group has other
	// records; they are in no group. Excluded, ExcludedBySets and Unlisted are as in Page, but throughput results
	// that a query asks for by ID are in no group either.
	Unknown, Withdrawn, Supplementary, Unlisted int
	Excluded, ExcludedBySets                    []int
}

// Group is the statistics of the records with one key.
type Group struct {
	N int // values counted
	// Pages is the number of distinct source pages; all measurements without a page count as one.
	Pages                                int
	Min, P10, P25, Median, P75, P90, Max float64
	// Comparable: the values differ neither in what was measured nor in how, as far as settings say.
	Comparable bool

	t    *Table
	by   []Field  // of the query
	ords []uint32 // the records, at least one
}

type statistics struct {
	pages   []uint32 // by ordinal: the number of the source page, from 1; 0: none
	repeats []uint32 // by ordinal: equal for records with the same page, model, hardware and settings
	// withdrawn are the records that no statistics count.
	withdrawn bits
	// supplementary are those that count only in groups without others; see record.Origin.
	supplementary bits
}

// numbers are equal for records that count as one; nil if each counts.
func (s *statistics) numbers(w Weight) []uint32 {
	return map[Weight][]uint32{OncePerRepeat: s.repeats, OncePerPage: s.pages}[w]
}

// newStatistics numbers the source pages and configurations of a table with postings.
func newStatistics(t *Table, pageOf func(ord int) string, supplementary bits) *statistics {
	s := &statistics{
		pages: make([]uint32, t.n), repeats: make([]uint32, t.n),
		withdrawn: bitsOf(t.postings[Settings].any([]string{withdrawn}), t.n), supplementary: supplementary,
	}
	pages, repeats := map[string]uint32{"": 0}, map[string]uint32{}
	number := func(numbers map[string]uint32, key string) uint32 {
		n, ok := numbers[key]
		if !ok {
			n = uint32(len(numbers))
			numbers[key] = n
		}
		return n
	}
	var key []byte
	for ord := range t.n {
		s.pages[ord] = number(pages, pageOf(ord))
		key = binary.NativeEndian.AppendUint32(key[:0], s.pages[ord])
		for _, f := range configuration {
			key = binary.NativeEndian.AppendUint32(key, t.postings[f].codes[ord])
		}
		s.repeats[ord] = number(repeats, string(key))
	}
	return s
}

// settings are the fields with the use Setting. Records with the same configuration measured the same thing.
var (
	settings = func() (out []Field) {
		for _, f := range BenchmarkFields {
			if f.Is(Setting) {
				out = append(out, f.Name)
			}
		}
		return out
	}()
	configuration = append([]Field{Model, Hardware, Settings}, settings...)
)

// Stats computes statistics. Groups are in the order of their keys; unknown keys are last. A field
// without the needed use is the programmer's mistake and panics.
func (t *Table) Stats(q StatsQuery) (*Stats, error) {
	c := t.conditions(q.Query, slices.ContainsFunc(q.Sets, func(s Set) bool { return s.Field == Scenario }))
	var ords []uint32 // in ascending order of the value
	for _, ord := range t.columns[q.Metric].asc[:t.columns[q.Metric].known] {
		if c.Has(ord) && !t.statistics.withdrawn.Test(uint(ord)) {
			ords = append(ords, ord)
		}
	}
	if numbers := t.statistics.numbers(q.Weight); numbers != nil {
		ords = byNumber(ords, numbers)
	}
	keys := make([][]uint32, len(q.By)) // codes by ordinal
	for i, f := range slices.Backward(q.By) {
		keys[i] = t.postings[f].codes
		ords = byNumber(ords, keys[i])
	}
	out := &Stats{Excluded: c.excluded(len(q.Sets), len(q.Sets)+len(q.Ranges)), ExcludedBySets: c.excluded(0, len(q.Sets)), Unlisted: c.unlisted()}
	out.Withdrawn = countBoth(c.matching(), t.statistics.withdrawn)
	out.Unknown = int(c.matching().Count()) - len(ords) - out.Withdrawn
	met := make([]uint32, t.n+1)
	for len(ords) > 0 {
		if len(out.Groups) == q.MaxGroups {
			return nil, TooManyGroupsError{q.MaxGroups}
		}
		n := 1
		for n < len(ords) && !slices.ContainsFunc(keys, func(key []uint32) bool { return key[ords[n]] != key[ords[0]] }) {
			n++
		}
		g := Group{t: t, by: q.By, ords: slices.DeleteFunc(slices.Clone(ords[:n]), func(ord uint32) bool { return t.statistics.supplementary.Test(uint(ord)) })}
		if len(g.ords) == 0 { // it has no others
			g.ords = ords[:n:n]
		}
		out.Supplementary += n - len(g.ords)
		g.summarize(&q)
		for _, ord := range g.ords {
			if page := t.statistics.pages[ord]; met[page] != uint32(len(out.Groups))+1 {
				met[page] = uint32(len(out.Groups)) + 1
				g.Pages++
			}
		}
		out.Groups, ords = append(out.Groups, g), ords[n:]
	}
	return out, nil
}

// byNumber sorts ordinals by a number of each, such as a code. Those with equal numbers stay in order.
func byNumber(ords, numbers []uint32) []uint32 {
	var next []int // by number: how many ordinals have it, then the place of the next one
	for _, ord := range ords {
		for int(numbers[ord]) >= len(next) {
			next = append(next, 0)
		}
		next[numbers[ord]]++
	}
	place := 0
	for number, times := range next {
		next[number] = place
		place += times
	}
	out := make([]uint32, len(ords))
	for _, ord := range ords {
		at := &next[numbers[ord]]
		out[*at] = ord
		*at++
	}
	return out
}

// summarize computes the statistics of a group. Its records are by what counts as one, then by value.
func (g *Group) summarize(q *StatsQuery) {
	values := make([]float64, len(g.ords))
	for i, ord := range g.ords {
		values[i] = g.t.columns[q.Metric].nums[ord]
	}
	if numbers := g.t.statistics.numbers(q.Weight); numbers != nil { // those with one number are neighbours
		all := values
		values = nil
		for from, to := 0, 0; from < len(g.ords); from = to {
			for to = from + 1; to < len(g.ords) && numbers[g.ords[to]] == numbers[g.ords[from]]; {
				to++
			}
			values = append(values, record.Quantile(all[from:to], 0.5))
		}
		slices.Sort(values)
	}
	g.N, g.Min, g.Max = len(values), values[0], values[len(values)-1]
	g.P10, g.P25, g.Median = record.Quantile(values, .10), record.Quantile(values, .25), record.Quantile(values, .50)
	g.P75, g.P90 = record.Quantile(values, .75), record.Quantile(values, .90)
	g.Comparable = g.comparable(q.Metric)
}

// Newest is the latest run date as yyyymmdd, NaN if unknown.
func (g *Group) Newest() float64 {
	return g.t.columns[RunDate].nums[slices.Min(g.ords)] // the default order has the newest first
}

// Key is the values of StatsQuery.By; empty for unknown.
func (g *Group) Key() []string {
	out := make([]string, len(g.by))
	for i, f := range g.by {
		out[i] = g.t.Text(f, g.ords[0])
	}
	return out
}

// Setting is the value of a field that is equal in all records of a group, empty if it is unknown in
// all of them. A value is in the form of a filter.
func (g *Group) Setting(f Field) (value string, shared bool) {
	p := g.t.postings[f]
	first := p.codes[g.ords[0]]
	for _, ord := range g.ords {
		if p.codes[ord] != first {
			return "", false
		}
	}
	return p.value(first), true
}

// CompareKeys orders values of keys, the empty one, which is unknown, last.
func CompareKeys(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return strings.Compare(a, b)
}

// decisive settings decide whether two speeds compare, unless both are of a single stream.
var decisive = []Field{"rate_basis", Concurrency, "hardware_count", "context_depth", "speculative_decoding", "partial_offload"}

// decidesOf are settings that decide for some metrics: the length of the prompt, and where power was measured.
var decidesOf = map[Field]Field{PromptTPS: "n_prompt", "ttft_ms": "n_prompt", "tokens_per_joule": "power_basis"}

// comparable reports whether the values are of one model, hardware and quantization, with equal and known settings.
func (g *Group) comparable(metric Field) bool {
	if !g.knownAndEqual(Model, Hardware, Quantization) {
		return false
	}
	if f, ok := decidesOf[metric]; ok && !g.knownAndEqual(f) {
		return false
	}
	is, _ := g.Setting(Settings)
	return is == SingleStream || g.knownAndEqual(decisive...)
}

func (g *Group) knownAndEqual(fields ...Field) bool {
	return !slices.ContainsFunc(fields, func(f Field) bool {
		value, _ := g.Setting(f)
		return value == ""
	})
}

// GroupOrders lists what groups can be sorted by, beside their key.
var GroupOrders = []string{"key", "n", "sources", "min", "p10", "p25", "median", "p75", "p90", "max", "newest_run_date"}

// Statistic is the value of one of GroupOrders, 0 for key.
func (g *Group) Statistic(by string) float64 {
	all := [...]float64{0, float64(g.N), float64(g.Pages), g.Min, g.P10, g.P25, g.Median, g.P75, g.P90, g.Max, g.Newest()}
	return all[slices.Index(GroupOrders, by)]
}

// Page returns at most limit groups after a position, in the order of one of GroupOrders, descending if desc is set.
// Ties are in the order of keys, and unknown values are last. next is where the next page begins, nil on the last.
func (s *Stats) Page(by string, desc bool, after *Position, limit int) (groups []Group, next *Position) {
	places := make([]groupPlace, len(s.Groups))
	for i := range s.Groups {
		v := s.Groups[i].Statistic(by)
		places[i] = groupPlace{!math.IsNaN(v), v, float64(i)}
	}
	compare := func(a, b groupPlace) int { return a.compare(b, desc, by == "key") }
	slices.SortFunc(places, compare)
	if after != nil {
		key := strings.Split(after.Slug, keySeparator)
		n, found := slices.BinarySearchFunc(s.Groups, key, func(g Group, key []string) int { return slices.CompareFunc(g.Key(), key, CompareKeys) })
		at := groupPlace{after.Known, after.Num, float64(n)}
		if !found { // between two groups
			at.key -= 0.5
		}
		from, found := slices.BinarySearchFunc(places, at, compare)
		places = places[from+boolInt(found):]
	}
	if len(places) > limit {
		places = places[:limit]
		last := places[limit-1]
		next = &Position{Known: last.known, Slug: strings.Join(s.Groups[int(last.key)].Key(), keySeparator)}
		if last.known {
			next.Num = last.value
		}
	}
	groups = make([]Group, len(places))
	for i, p := range places {
		groups[i] = s.Groups[int(p.key)]
	}
	return groups, next
}

// keySeparator is between the values of a key in a position. No value contains it.
const keySeparator = "\x00"

// A groupPlace is the place of a group in an order. The key is its number in the order of keys.
type groupPlace struct {
	known      bool
	value, key float64
}

// compare orders groups by value, unknown last, then by key.
func (p groupPlace) compare(q groupPlace, desc, byKey bool) int {
	if p.known != q.known {
		return boolInt(!p.known) - boolInt(!q.known)
	}
	c, byTie := 0, cmp.Compare(p.key, q.key)
	if p.known {
		c = cmp.Compare(p.value, q.value)
	}
	if desc {
		c = -c
	}
	if desc && byKey {
		byTie = -byTie
	}
	return cmp.Or(c, byTie)
}

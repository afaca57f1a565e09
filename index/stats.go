package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
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

// Stats are the groups of a StatsQuery. They share memory with the table, but no ordinals.
type Stats struct {
	Groups []Group // in the order of their keys
	// Unknown is how many records match the filter but have no value of the metric, and Withdrawn how many
	// match and were withdrawn; they are in no group. Excluded, ExcludedBySets and Unlisted are as in Page, but
	// throughput results that a query asks for by ID are in no group either.
	Unknown, Withdrawn, Unlisted int
	Excluded, ExcludedBySets     []int
}

// Group is the statistics of the records with one key.
type Group struct {
	N int // values counted
	// Pages is the number of distinct source pages; all measurements without a page count as one.
	Pages                                int
	Min, P10, P25, Median, P75, P90, Max float64
	// Comparable: the values differ neither in what was measured nor in how, as far as settings say.
	Comparable bool

	of     *statsOf
	number uint32 // in the order of keys
	first  uint32 // the place of one of the records
	newest uint32 // the ordinal of the newest
}

// statsOf is what all groups of one question have in common.
type statsOf struct {
	codes    *codes
	settings []Field
	slots    []slot    // of settings
	by       []slot    // of StatsQuery.By
	dates    []float64 // of the runs, by ordinal
	differ   []uint64  // by group, then by word: the bits that differ between records; see codes
}

// code is the code of a field in a record of the group: that of all its records, unless the field differs.
func (g *Group) code(s slot) uint32 { return s.code(g.of.codes.words[s.word][g.first]) }

// differ is the bits of each word that differ between records.
func (g *Group) differ() []uint64 {
	width := len(g.of.codes.words)
	return g.of.differ[int(g.number)*width:][:width]
}

// Newest is the latest run date as yyyymmdd, NaN if unknown.
func (g *Group) Newest() float64 { return g.of.dates[g.newest] }

// Key is the values of StatsQuery.By; empty for unknown.
func (g *Group) Key() []string {
	out := make([]string, len(g.of.by))
	for i, s := range g.of.by {
		out[i] = s.value(g.code(s))
	}
	return out
}

// Setting is the value of a setting that is equal in all records of a group, empty if it is unknown in
// all of them. A value is in the form of a filter.
func (g *Group) Setting(f Field) (value string, shared bool) {
	slot := g.of.codes.slots[f]
	if slot.differs(g.differ()) {
		return "", false
	}
	return slot.value(g.code(slot)), true
}

// SettingValue is what Setting says of a setting.
type SettingValue struct {
	Value  string
	Shared bool
}

// AppendSettings appends what Setting says of each field with the use Setting, in the order of BenchmarkFields. It looks up
// no field, which a thousand groups of twenty settings take a millisecond for.
func (g *Group) AppendSettings(dst []SettingValue) []SettingValue {
	differ := g.differ()
	for _, s := range g.of.slots {
		if s.differs(differ) {
			dst = append(dst, SettingValue{})
		} else {
			dst = append(dst, SettingValue{s.value(g.code(s)), true})
		}
	}
	return dst
}

// Differing is the settings that differ between the records of a group, in the order of their fields.
func (g *Group) Differing() (fields []Field) {
	differ := g.differ()
	for _, f := range g.of.settings {
		if g.of.codes.slots[f].differs(differ) {
			fields = append(fields, f)
		}
	}
	return fields
}

// Stats computes statistics. Groups are in the order of their keys; unknown keys are last. A field
// without the needed use is the programmer's mistake and panics.
func (t *Table) Stats(q StatsQuery) (*Stats, error) {
	c := t.Conditions(q.Query)
	if !slices.ContainsFunc(q.Sets, func(s Set) bool { return s.Field == Scenario }) {
		c.listed = t.listed
	}
	m, excluded := c.matching()
	g := newGrouping(t, q, m.all())
	defer g.free()
	if err := g.divide(); err != nil {
		return nil, err
	}
	out := &Stats{Excluded: excluded, ExcludedBySets: c.excludedBySets(), Unlisted: c.unlisted()}
	if w := t.dimensions.withdrawn; w != nil {
		out.Withdrawn = t.countIn(&m, w)
	}
	out.Groups, out.Unknown = g.groups(), m.total-len(g.numbers)-out.Withdrawn
	return out, nil
}

// CompareKeys orders values of keys, the empty one, which is unknown, last.
func CompareKeys(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return strings.Compare(a, b)
}

// decisive are the settings that decide whether two speeds are of the same kind, unless both have
// the settings of a single stream.
var decisive = []Field{"rate_basis", Concurrency, "hardware_count", "context_depth", "speculative_decoding", "partial_offload"}

// decidesOf are settings that decide as well whether two values of a metric are of the same kind: the
// length of the prompt, and what the power was measured at.
var decidesOf = map[Field]Field{PromptTPS: "n_prompt", "ttft_ms": "n_prompt", "tokens_per_joule": "power_basis"}

// A comparison decides whether the values of a group measure the same. They must be of one model on one
// kind of hardware in one quantization, and equal in the setting that decidesOf names. And either all have
// the settings of a single stream, or their decisive settings are known and equal.
type comparison struct {
	always, decisive knownAndEqual
	settings         slot
	singleStream     int // the code of SingleStream, -1 if no record has it
}

func newComparison(c *codes, metric Field) comparison {
	always := []Field{Model, Hardware, Quantization}
	if f, ok := decidesOf[metric]; ok {
		always = append(always, f)
	}
	settings := c.slots[Settings]
	return comparison{c.knownAndEqual(always), c.knownAndEqual(decisive), settings, slices.Index(settings.p.values, SingleStream)}
}

func (c *comparison) comparable(g *Group) bool {
	if !c.always.in(g) {
		return false
	}
	isSingle := !c.settings.differs(g.differ()) && int(g.code(c.settings)) == c.singleStream
	return isSingle || c.decisive.in(g)
}

// knownAndEqual are fields whose values must be known and equal in all records of a group.
type knownAndEqual struct {
	bits  []uint64 // of all fields, by word
	slots []slot
}

func (c *codes) knownAndEqual(fields []Field) knownAndEqual {
	out := knownAndEqual{bits: c.bits(fields...)}
	for _, f := range fields {
		out.slots = append(out.slots, c.slots[f])
	}
	return out
}

func (k *knownAndEqual) in(g *Group) bool {
	differ := g.differ()
	for w, bits := range k.bits {
		if differ[w]&bits != 0 {
			return false
		}
	}
	return !slices.ContainsFunc(k.slots, func(s slot) bool { return !s.known(g.code(s)) })
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
		return g.Newest()
	default:
		return 0
	}
}

// Page returns at most limit groups after a position, in the order of one of GroupOrders, descending if desc is
// set. Ties are in the order of keys, and unknown values are last. next is where the next page begins, nil on
// the last.
func (s *Stats) Page(by string, desc bool, after *Position, limit int) (groups []Group, next *Position) {
	places := make([]groupPlace, len(s.Groups))
	for i := range s.Groups {
		v := s.Groups[i].Statistic(by)
		places[i] = groupPlace{!math.IsNaN(v), v, 2 * i}
	}
	compare := func(a, b groupPlace) int { return a.compare(b, desc, by == "key") }
	slices.SortFunc(places, compare)
	if after != nil {
		n, found := slices.BinarySearchFunc(places, s.placeAt(after), compare)
		places = places[n+boolInt(found):]
	}
	if len(places) > limit {
		places = places[:limit]
		next = places[limit-1].position(s)
	}
	groups = make([]Group, len(places))
	for i, p := range places {
		groups[i] = s.Groups[p.key/2]
	}
	return groups, next
}

// A groupPlace is the place of a group in an order, or a place that a group had.
type groupPlace struct {
	known bool
	value float64
	key   int // twice the number of the group in the order of keys; odd for a key that is between two groups
}

// keySeparator is between the values of a key in a position. No value contains it.
const keySeparator = "\x00"

// position is the place of a group that there is.
func (p groupPlace) position(s *Stats) *Position {
	out := &Position{Known: p.known, Slug: strings.Join(s.Groups[p.key/2].Key(), keySeparator)}
	if p.known {
		out.Num = p.value
	}
	return out
}

// placeAt is the place of a group that there is or was.
func (s *Stats) placeAt(p *Position) groupPlace {
	key := strings.Split(p.Slug, keySeparator)
	n := sort.Search(len(s.Groups), func(i int) bool { return slices.CompareFunc(s.Groups[i].Key(), key, CompareKeys) >= 0 })
	if n == len(s.Groups) || !slices.Equal(s.Groups[n].Key(), key) {
		return groupPlace{p.Known, p.Num, 2*n - 1}
	}
	return groupPlace{p.Known, p.Num, 2 * n}
}

// compare orders groups by value, unknown last, then by key.
func (p groupPlace) compare(q groupPlace, desc, byKey bool) int {
	if p.known != q.known {
		return boolInt(!p.known) - boolInt(!q.known)
	}
	c := 0
	if p.known {
		c = cmp.Compare(p.value, q.value)
	}
	if desc {
		c = -c
	}
	if c == 0 {
		c = cmp.Compare(p.key, q.key)
		if byKey && desc {
			c = -c
		}
	}
	return c
}

package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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

	d      *dimensions
	metric Field
	first  []uint64 // the words of the first record, see codes
	xor    []uint64 // the bits of words that differ between records
}

// SharedSetting is a setting that is equal in all records of a group. Value is empty if it is
// unknown in all of them.
type SharedSetting struct {
	Field Field
	Value string
}

// Settings lists the settings that are equal in all records of a group, and those that differ.
func (g *Group) Settings() (shared []SharedSetting, differ []Field) {
	for _, f := range g.d.settings {
		slot := g.d.codes.slots[f]
		if slot.differs(g.xor) {
			differ = append(differ, f)
		} else {
			shared = append(shared, SharedSetting{f, slot.value(slot.code(g.first[slot.word]))})
		}
	}
	return shared, differ
}

// Stats computes statistics. Groups are in the order of their keys; unknown keys are last. A field
// without the needed use is the programmer's mistake and panics.
func (t *Table) Stats(q StatsQuery) (*Stats, error) {
	m, excluded := t.matching(q.Query)
	g := newGrouping(t, q, m.all())
	if err := g.assign(); err != nil {
		return nil, err
	}
	g.collect()
	g.measure()
	g.countPages()
	return &Stats{Groups: g.groups, Unknown: g.unknown, Excluded: excluded, ExcludedBySets: t.excludedBySets(q.Query)}, nil
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

// comparable reports whether the values of a group measure the same: one model on one kind of
// hardware in one quantization, either all with the settings of a single stream or with decisive
// settings that are known and equal; for speeds of prompts also the length of the prompt, and for
// energy what the power was measured at.
func (g *Group) comparable() bool {
	if slots := g.d.codes.slots; slots[Model].differs(g.xor) || slots[Hardware].differs(g.xor) || !g.sharesKnown(Quantization) {
		return false
	}
	if (g.metric == PromptTPS || g.metric == "ttft_ms") && !g.sharesKnown("n_prompt") {
		return false
	}
	if g.metric == "tokens_per_joule" && !g.sharesKnown("power_basis") {
		return false
	}
	settings := g.d.codes.slots[Settings]
	if !settings.differs(g.xor) && settings.value(settings.code(g.first[settings.word])) == SingleStream {
		return true
	}
	return !slices.ContainsFunc(decisive, func(f Field) bool { return !g.sharesKnown(f) })
}

// sharesKnown reports whether a setting is known and equal in all records.
func (g *Group) sharesKnown(f Field) bool {
	slot := g.d.codes.slots[f]
	return !slot.differs(g.xor) && slot.known(slot.code(g.first[slot.word]))
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

// Page returns at most limit groups in the order of one of GroupOrders, descending if desc is set,
// after a position; ties are in the order of keys and unknown values last. next is where the next
// page begins, nil on the last.
func (s *Stats) Page(by string, desc bool, after *Position, limit int) (groups []Group, next *Position) {
	places := make([]groupPlace, len(s.Groups))
	for i := range s.Groups {
		places[i] = placeOf(&s.Groups[i], by)
	}
	compare := func(a, b groupPlace) int { return a.compare(b, desc, by == "key") }
	slices.SortFunc(places, compare)
	if after != nil {
		from := groupPlace{after.Known, after.Num, strings.Split(after.Slug, keySeparator), nil}
		n, found := slices.BinarySearchFunc(places, from, compare)
		if found {
			n++
		}
		places = places[n:]
	}
	if len(places) > limit {
		places = places[:limit]
		next = places[limit-1].position()
	}
	groups = make([]Group, len(places))
	for i, p := range places {
		groups[i] = *p.group
	}
	return groups, next
}

// A groupPlace is the place of a group in an order, or a place that a group had.
type groupPlace struct {
	known bool
	value float64
	key   []string
	group *Group
}

func placeOf(g *Group, by string) groupPlace {
	v := g.Statistic(by)
	if math.IsNaN(v) {
		return groupPlace{false, 0, g.Key, g}
	}
	return groupPlace{true, v, g.Key, g}
}

// keySeparator is between the values of a key in a position. No value contains it.
const keySeparator = "\x00"

func (p groupPlace) position() *Position {
	return &Position{Known: p.known, Num: p.value, Slug: strings.Join(p.key, keySeparator)}
}

// compare orders groups by value, unknown last, then by key.
func (p groupPlace) compare(q groupPlace, desc, byKey bool) int {
	if p.known != q.known {
		return boolInt(!p.known) - boolInt(!q.known)
	}
	c := cmp.Compare(p.value, q.value)
	if desc {
		c = -c
	}
	if c == 0 {
		c = slices.CompareFunc(p.key, q.key, CompareKeys)
		if byKey && desc {
			c = -c
		}
	}
	return c
}

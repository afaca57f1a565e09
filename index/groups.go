package index

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strings"
)

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

// Page returns at most limit groups after a position, in the order of one of GroupOrders, descending if desc is set.
// Ties are in the order of keys, and unknown values are last. next is where the next page begins, nil on the last.
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

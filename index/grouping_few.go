package index

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// A counted is a value that is counted in a group.
type counted struct {
	group  uint32 // from 1; 0: in none
	repeat uint32 // as dimensions has it
	place  uint32 // of the record
	value  float64
}

// chooseFew is the places of n records of a set.
func (g *grouping) chooseFew(set *roaring.Bitmap, n int) {
	g.places = sized(&g.scratch.places, n)[:0]
	inBatches(func(ords []uint32) {
		for _, ord := range ords {
			g.places = append(g.places, g.d.codes.places[ord])
		}
	}, set)
}

// countFew counts the pages of each group and summarizes its values, by sorting both.
func (g *grouping) countFew(groups []Group) {
	all, pages := make([]counted, len(g.places)), make([]uint64, len(g.places))
	for i, place := range g.places {
		group := g.numbers[i] + 1
		all[i] = counted{group: group, repeat: g.d.repeats[place], place: place, value: g.valueAt(place)}
		pages[i] = uint64(group)<<32 | uint64(g.d.pages[place])
	}
	slices.Sort(pages)
	for _, page := range slices.Compact(pages) {
		groups[page>>32-1].Pages++
	}
	if g.q.OncePerPage {
		all = oncePerRepeat(all)
	}
	slices.SortFunc(all, func(a, b counted) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.value, b.value)) })
	values := make([]float64, len(all))
	for i, c := range all {
		values[i] = c.value
	}
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].group == all[from].group {
			to++
		}
		groups[all[from].group-1].summarize(values[from:to])
		from = to
	}
}

// oncePerRepeat replaces the values of records of a group that repeat each other by their median, in the memory of
// all.
func oncePerRepeat(all []counted) []counted {
	slices.SortFunc(all, func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.value, b.value))
	})
	out := all[:0]
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[from].repeat != 0 && all[to].repeat == all[from].repeat && all[to].group == all[from].group {
			to++
		}
		one := all[from]
		one.value = medianOf(all[from:to])
		out, from = append(out, one), to
	}
	return out
}

// medianOf is the median of values in ascending order.
func medianOf(all []counted) float64 {
	low, high, share := quantileRanks(len(all), 0.5)
	return interpolate(all[low].value, all[high].value, share)
}

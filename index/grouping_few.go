package index

import (
	"cmp"
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// A counted is a value that is counted in a group.
type counted struct {
	group  uint32 // from 1; 0: in none
	repeat uint32 // from 1, of those that count as one in a group; 0: of no other
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
		all[i] = counted{group: group, place: place, value: g.valueAt(place)}
		switch g.q.Weight {
		case OncePerRepeat:
			all[i].repeat = g.d.repeats[place]
		case OncePerPage:
			all[i].repeat = g.d.pages[place] + 1 // those without a page are one
		}
		pages[i] = uint64(group)<<32 | uint64(g.d.pages[place])
	}
	slices.Sort(pages)
	for _, page := range slices.Compact(pages) {
		groups[page>>32-1].Pages++
	}
	if g.q.Weight != EachRecord {
		all = oncePerRepeat(all)
	}
	slices.SortFunc(all, func(a, b counted) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.value, b.value)) })
	values := make([]float64, len(all))
	for i, c := range all {
		values[i] = c.value
	}
	for of := range together(all, sameGroup) {
		groups[of[0].group-1].summarize(values[:len(of)])
		values = values[len(of):]
	}
}

// together cuts values into stretches of those that follow each other and are the same.
func together(all []counted, same func(a, b counted) bool) iter.Seq[[]counted] {
	return func(yield func(of []counted) bool) {
		for len(all) > 0 {
			n := 1
			for n < len(all) && same(all[0], all[n]) {
				n++
			}
			if !yield(all[:n]) {
				return
			}
			all = all[n:]
		}
	}
}

func sameGroup(a, b counted) bool { return a.group == b.group }

func sameRepeat(a, b counted) bool {
	return a.repeat != 0 && a.repeat == b.repeat && a.group == b.group
}

// oncePerRepeat replaces the values of records of a group that repeat each other by their median, in the memory of
// all.
func oncePerRepeat(all []counted) []counted {
	slices.SortFunc(all, func(a, b counted) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.repeat, b.repeat), cmp.Compare(a.value, b.value))
	})
	out := all[:0]
	for of := range together(all, sameRepeat) {
		one := of[0]
		one.value = medianOf(of)
		out = append(out, one)
	}
	return out
}

// medianOf is the median of values in ascending order.
func medianOf(all []counted) float64 {
	low, high, share := quantileRanks(len(all), 0.5)
	return interpolate(all[low].value, all[high].value, share)
}

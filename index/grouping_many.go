package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// chooseMany is the places of n records of a set, in their order.
func (g *grouping) chooseMany(set *roaring.Bitmap, n int) {
	ords := g.d.codes.ords
	borrowed := borrowBitsOf(set, len(ords))
	defer borrowed.free()
	bits := *borrowed
	places, at := sized(&g.scratch.places, n+1), 0
	for place, ord := range ords { // without a branch, which a processor could not predict
		places[at] = uint32(place)
		at += bits.bit(ord)
	}
	g.places = places[:at]
}

// countMany counts the pages of each group and summarizes its values. Nothing is sorted: the records of a page
// follow each other in one order that the table has, and values are in another.
func (g *grouping) countMany(groups []Group) {
	groupOf := zeroed(&g.groupOf, len(g.d.pages))
	for i, place := range g.places {
		groupOf[place] = g.numbers[i] + 1
	}
	g.countPages(groups, groupOf)
	counts := make([]uint32, len(groups))
	for i := range groups {
		counts[i] = uint32(g.starts[i+1] - g.starts[i])
	}
	medians := g.medians[:0]
	switch g.q.Weight {
	case OncePerRepeat:
		medians = g.takeRepeats(medians, &g.d.sameRepeat, groupOf, counts)
	case OncePerPage:
		medians = g.takeRepeats(medians, &g.d.samePage, groupOf, counts)
	}
	g.medians = medians
	p := newPicker(&g.scratch.picker, counts)
	order := g.d.metrics[g.q.Metric].ascending
	for _, m := range medians {
		n := g.below(order, m.value)
		g.pick(p, order[:n], groupOf)
		p.next(m.group, m.value)
		order = order[n:]
	}
	g.pick(p, order, groupOf)
	for i := range groups {
		groups[i].summarizePicked(int(counts[i]), &p.picked[i])
	}
}

// countPages counts the pages of each group: its records, without those whose page was met before in the group.
func (g *grouping) countPages(groups []Group, groupOf []uint32) {
	for i := range groups {
		groups[i].Pages = g.starts[i+1] - g.starts[i]
	}
	again, met := make([]uint32, len(groups)+1), zeroed(&g.met, len(groups)+1)
	g.d.samePage.each(func(page int, places []uint32) {
		for _, place := range places {
			group := groupOf[place]
			again[group] += uint32(boolInt(met[group] == uint32(page)+1))
			met[group] = uint32(page) + 1
		}
	})
	for i := range groups {
		groups[i].Pages -= int(again[i+1])
	}
}

// takeRepeats takes records of a group that are in one of some runs out of their groups, and appends their medians to
// dst, in ascending order. counts is how many values each group has.
func (g *grouping) takeRepeats(dst []counted, of *runs, groupOf, counts []uint32) []counted {
	of.each(func(_ int, places []uint32) {
		same := g.same[:0]
		for _, place := range places {
			if group := groupOf[place]; group != 0 {
				same = append(same, counted{group: group, place: place, value: g.valueAt(place)})
			}
		}
		g.same = same
		slices.SortFunc(same, func(a, b counted) int { return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.value, b.value)) })
		for of := range together(same, sameGroup) {
			if len(of) == 1 {
				continue
			}
			dst = append(dst, counted{group: of[0].group, value: medianOf(of)})
			counts[of[0].group-1] -= uint32(len(of)) - 1
			for _, c := range of {
				groupOf[c.place] = 0
			}
		}
	})
	slices.SortFunc(dst, func(a, b counted) int { return cmp.Compare(a.value, b.value) })
	return dst
}

// below is how many of some places, in ascending order of their values, have a value below another. It looks at
// few places if there are few.
func (g *grouping) below(places []uint32, v float64) int {
	to := 1
	for to < len(places) && g.valueAt(places[to-1]) < v {
		to *= 2
	}
	from := to / 2
	to = min(to, len(places))
	for from < to {
		if mid := (from + to) / 2; g.valueAt(places[mid]) < v {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return from
}

// pick gives a picker the values of places, in ascending order.
func (g *grouping) pick(p *picker, places, groupOf []uint32) {
	left := p.left
	for _, place := range places {
		group := groupOf[place]
		n := left[group] - 1
		if left[group] = n; n == 0 {
			p.take(group, g.valueAt(place))
		}
	}
}

// A picker takes the values at pickedRanks of each group, from the values of all groups in ascending order.
type picker struct {
	counts []uint32         // by group: how many values it has
	left   []uint32         // by group from 1: the number of values up to and with the next to take; that of group 0 is never reached
	taken  []uint8          // by group from 1
	picked [][picks]float64 // by group
}

// newPicker makes a picker in the memory of another.
func newPicker(p *picker, counts []uint32) *picker {
	n := len(counts)
	p.counts, p.left, p.taken, p.picked = counts, sized(&p.left, n+1), zeroed(&p.taken, n+1), sized(&p.picked, n)
	for i := range p.left {
		p.left[i] = 1 // the first of each group is taken
	}
	p.left[0] = math.MaxUint32
	return p
}

// next counts a value.
func (p *picker) next(group uint32, v float64) {
	p.left[group]--
	if p.left[group] == 0 {
		p.take(group, v)
	}
}

// take takes a value, as often as its rank is wanted.
func (p *picker) take(group uint32, v float64) {
	n, k := int(p.counts[group-1]), int(p.taken[group])
	for rank := pickedRank(n, k); ; {
		p.picked[group-1][k] = v
		k++
		if k == min(n, picks) {
			p.left[group] = math.MaxUint32
			break
		}
		if next := pickedRank(n, k); next > rank {
			p.left[group] = uint32(next - rank)
			break
		}
	}
	p.taken[group] = uint8(k)
}

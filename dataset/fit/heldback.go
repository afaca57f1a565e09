package fit

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// heldBackBy is how much slower than the fastest other page of the same silicon and kernels a page is that
// nothing rests on. Backends and versions differ by less. A page that is slower than that was held back by
// something that no field says. Examples are the slow bus of a small board, too little memory, or a driver that
// did not use the card.
const heldBackBy = 3

// A rig is silicon with what runs on it.
type rig struct {
	class                   Class
	silicon, unit, toolKind int32
}

func (p *point) rig() rig { return rig{p.class, p.silicon, p.unit, p.toolKind} }

// markHeldBack marks the rows of pages that are heldBackBy slower on a rig than another page, and reports whether there are any. Models
// and ways of storing weights are compared by what the trend expects of them on any rig. A page may have more than one host: so rows of
// discrete cards and of machines with one memory are marked, too, where the same model and size ran so much faster on the rig. Those of
// processors are not: their threads differ, and without the slow ones estimates of processors were worse. The rows count where estimates
// are evaluated.
func markHeldBack(t *trend, lists ...[]row) (any bool) {
	type pageOfRig struct {
		rig
		page int32
	}
	left, best := map[pageOfRig][]float64{}, map[subject]float64{} // best: the largest share of each, in logarithms
	for r := range each(lists) {
		of := pageOfRig{r.rig(), r.page}
		left[of] = append(left[of], r.logShare-t.anywhere(&r.point))
		if share, known := best[r.subject()]; !known || r.logShare > share {
			best[r.subject()] = r.logShare
		}
	}
	speeds, fastest := map[pageOfRig]float64{}, map[rig]float64{}
	for of, values := range left {
		speed := medianOf(values)
		speeds[of] = speed
		if best, known := fastest[of.rig]; !known || speed > best {
			fastest[of.rig] = speed
		}
	}
	for r := range each(lists) {
		r.heldBack = speeds[pageOfRig{r.rig(), r.page}] < fastest[r.rig()]-math.Log(heldBackBy) || r.class != CPU && r.logShare < best[r.subject()]-math.Log(heldBackBy)
		any = any || r.heldBack
	}
	return any
}

// A subject is what was measured on a rig.
type subject struct {
	rig
	model, quant int32
}

func (p *point) subject() subject { return subject{p.rig(), p.model, p.quant} }

// each gives the rows of lists.
func each(lists [][]row) iter.Seq[*row] {
	return func(yield func(*row) bool) {
		for _, rows := range lists {
			for i := range rows {
				if !yield(&rows[i]) {
					return
				}
			}
		}
	}
}

func notHeldBack(r *row) bool { return !r.heldBack }

// anywhere is the share the trend expects of a configuration whatever silicon it is on.
func (t *trend) anywhere(p *point) float64 {
	effects := t.effects.of(p)
	effects[placeEffect] = 0
	return t.smooth.at(p) + sumOf(&effects)
}

// withoutHeldBack is the keys of measurements that were not held back, in their order.
func withoutHeldBack(keys []runKey, rows []row) []runKey {
	var held []uint32
	for i := range rows {
		if rows[i].heldBack {
			held = append(held, rows[i].at)
		}
	}
	slices.Sort(held)
	return slices.DeleteFunc(keys, func(k runKey) bool {
		_, found := slices.BinarySearchFunc(held, k.at, cmp.Compare[uint32])
		return found
	})
}

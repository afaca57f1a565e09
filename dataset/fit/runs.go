package fit

import (
	"cmp"
	"slices"

	"modeldex/dataset"
)

// runs finds the measurements of models of a shape on a piece of hardware. It keeps numbers of records, not
// records: 16 bytes for each measurement.
type runs struct {
	pack dataset.Pack
	keys []runKey // by pair, then quantization, then number
}

type runKey struct {
	pair  uint64 // shape and hardware
	quant int32  // number of its folded name, below -1 where a record has none
	at    uint32 // number in the pack; the newest has the smallest
}

// shape is the number of the shape.
func (k runKey) shape() int32 { return int32(k.pair >> 32) }

func pairKey(shape, hardware int32) uint64 {
	return uint64(uint32(shape))<<32 | uint64(uint32(hardware))
}

// mostRuns bounds how many measurements of one pair are kept for answers, the newest.
const mostRuns = 2000

// newRuns takes the keys of measurements from the newest to the oldest.
func newRuns(pack dataset.Pack, keys []runKey) runs {
	kept, of := keys[:0], map[uint64]int{} // of each pair
	for _, k := range keys {
		if of[k.pair]++; of[k.pair] <= mostRuns {
			kept = append(kept, k)
		}
	}
	slices.SortFunc(kept, func(a, b runKey) int {
		return cmp.Or(cmp.Compare(a.pair, b.pair), cmp.Compare(a.quant, b.quant), cmp.Compare(a.at, b.at))
	})
	return runs{pack, slices.Clip(kept)}
}

// of is the measurements of a shape on some hardware, by quantization, each from the newest.
func (r *runs) of(shape int32, hardware []int32) (out []runKey) {
	several := false
	for _, number := range hardware {
		key := pairKey(shape, number)
		found := between(r.keys, func(k runKey) int { return cmp.Compare(k.pair, key) })
		switch {
		case len(found) == 0:
		case out == nil:
			out = found
		default:
			out, several = append(slices.Clip(out), found...), true
		}
	}
	if several {
		slices.SortFunc(out, func(a, b runKey) int { return cmp.Or(cmp.Compare(a.quant, b.quant), cmp.Compare(a.at, b.at)) })
	}
	return out
}

// inQuant is those measurements of a pair that are of a quantization, from the newest.
func inQuant(pair []runKey, quant int32) []runKey {
	return between(pair, func(k runKey) int { return cmp.Compare(k.quant, quant) })
}

// between is the keys that compare as equal.
func between(keys []runKey, compare func(k runKey) int) []runKey {
	from, _ := slices.BinarySearchFunc(keys, 0, func(k runKey, _ int) int { return cmp.Or(compare(k), 1) })
	to, _ := slices.BinarySearchFunc(keys[from:], 0, func(k runKey, _ int) int { return cmp.Or(compare(k), -1) })
	return keys[from:][:to]
}

// each visits measurements.
func (r *runs) each(keys []runKey, visit func(b *dataset.Benchmark)) {
	read := r.pack
	for _, k := range keys {
		visit(read.At(int(k.at)))
	}
}

package fit

import (
	"cmp"
	"slices"

	"modeldex/dataset"
)

// runs finds the measurements of a model on a piece of hardware. It keeps numbers of records, not
// records: 16 bytes for each measurement.
type runs struct {
	pack dataset.Pack
	keys []runKey // by pair, then number
}

type runKey struct {
	pair uint64 // model and silicon
	at   uint32 // number in the pack
}

func pairKey(model, silicon int32) uint64 { return uint64(uint32(model))<<32 | uint64(uint32(silicon)) }

func newRuns(pack dataset.Pack, keys []runKey) runs {
	slices.SortFunc(keys, func(a, b runKey) int { return cmp.Or(cmp.Compare(a.pair, b.pair), cmp.Compare(a.at, b.at)) })
	return runs{pack, keys}
}

// mostRuns bounds how many measurements of one pair are read for an answer, the newest first.
const mostRuns = 2000

// each visits the measurements of a pair, newest first.
func (r *runs) each(model, silicon int32, visit func(b *dataset.Benchmark)) {
	if model < 0 || silicon < 0 {
		return
	}
	key := pairKey(model, silicon)
	from, _ := r.find(key)
	read := r.pack.Reader()
	for n := 0; n < mostRuns && from+n < len(r.keys) && r.keys[from+n].pair == key; n++ {
		visit(read.At(int(r.keys[from+n].at)))
	}
}

// any reports whether there are measurements of a pair.
func (r *runs) any(model, silicon int32) bool {
	if model < 0 || silicon < 0 {
		return false
	}
	_, found := r.find(pairKey(model, silicon))
	return found
}

// find is where the measurements of a pair begin, and whether there are any.
func (r *runs) find(key uint64) (at int, found bool) {
	return slices.BinarySearchFunc(r.keys, key, func(a runKey, key uint64) int { return cmp.Compare(a.pair, key) })
}

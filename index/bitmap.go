package index

import "github.com/RoaringBitmap/roaring/v2"

// union returns the ordinals below n that are in any of the sets. The result may be one of the
// sets, so it must not be changed. Sparse sets are written into a dense one: uniting them one
// after the other would copy the union so far each time, as dense sets. What is returned is as small as its ordinals allow.
func union(n int, sets []*roaring.Bitmap) *roaring.Bitmap {
	if len(sets) == 1 {
		return sets[0]
	}
	var dense, sparse []*roaring.Bitmap
	for _, b := range sets {
		if b.GetCardinality() > uint64(n/16) {
			dense = append(dense, b)
		} else {
			sparse = append(sparse, b)
		}
	}
	if len(sparse) == 0 {
		return roaring.FastOr(dense...)
	}
	all := borrowBitsOf(union(n, dense), n)
	defer all.free()
	inBatches(all.addAll, sparse...)
	return roaring.FromDense(*all, true)
}

// inBatches calls do with the ordinals of one set after the other, in ascending order and up to 256
// at a time: a third of the cost of an iterator. The slice is valid during the call only.
func inBatches(do func(ords []uint32), sets ...*roaring.Bitmap) {
	var b batches
	for _, set := range sets {
		b.each(set, do)
	}
}

// batches is the memory of inBatches, for those who call it for many small sets. It is for one goroutine.
type batches struct {
	it    roaring.ManyIntIterator
	batch [256]uint32
}

func (b *batches) each(set *roaring.Bitmap, do func(ords []uint32)) {
	b.it.Initialize(set)
	for n := b.it.NextMany(b.batch[:]); n > 0; n = b.it.NextMany(b.batch[:]) {
		do(b.batch[:n])
	}
}

// compact returns the set in run-length form if that is much smaller, as for a range of dates in
// an order by date. Runs are slow to combine: from about sixty runs in 65,536 ordinals on, plain
// bits (8 KB) are faster.
func compact(set *roaring.Bitmap) *roaring.Bitmap {
	if set.GetSizeInBytes() < 256 {
		return set // a run has more than a 32nd of that
	}
	runs := set.Clone()
	runs.RunOptimize()
	if runs.GetSizeInBytes() <= set.GetSizeInBytes()/32 {
		return runs
	}
	return set
}

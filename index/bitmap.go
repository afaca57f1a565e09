package index

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// denseBits is a set of ordinals as one bit per record. The memory is reused between queries: at a
// million records it is 125 KB, which takes longer to allocate and collect than to fill.
type denseBits struct{ words []uint64 }

var denseBitsPool = sync.Pool{New: func() any { return new(denseBits) }}

// newDenseBits returns a set of ordinals below n as bits. The caller calls free when done.
func newDenseBits(set *roaring.Bitmap, n int) *denseBits {
	b := emptyBits(n)
	set.WriteDenseTo(b.words)
	return b
}

// emptyBits is newDenseBits of no ordinals.
func emptyBits(n int) *denseBits {
	b := denseBitsPool.Get().(*denseBits)
	b.words = slices.Grow(b.words[:0], (n+63)/64)[:(n+63)/64]
	clear(b.words)
	return b
}

func (b *denseBits) free() { denseBitsPool.Put(b) }

// has returns 1 if the ordinal is in the set, else 0.
func (b *denseBits) has(ord uint32) int { return int(b.words[ord/64] >> (ord % 64) & 1) }

func (b *denseBits) add(ord uint32) { b.words[ord/64] |= 1 << (ord % 64) }

// each calls do with every number in the set, in order.
func (b *denseBits) each(do func(n int)) {
	for i, word := range b.words {
		for ; word != 0; word &= word - 1 {
			do(64*i + bits.TrailingZeros64(word))
		}
	}
}

// flip inverts the bits of ordinals.
func flip(words []uint64, ords []uint32) {
	for _, ord := range ords {
		words[ord/64] ^= 1 << (ord % 64)
	}
}

// union returns the ordinals below n that are in any of the sets. The result may be one of the
// sets, so it must not be changed. Many sparse sets are written into a dense one: uniting them one
// after the other would copy the union so far each time.
func union(n int, sets []*roaring.Bitmap) *roaring.Bitmap {
	switch {
	case len(sets) == 1:
		return sets[0]
	case len(sets) <= 4:
		return roaring.FastOr(sets...)
	}
	var dense, sparse []*roaring.Bitmap
	for _, b := range sets {
		if b.GetCardinality() > uint64(n/128) {
			dense = append(dense, b)
		} else {
			sparse = append(sparse, b)
		}
	}
	words := make([]uint64, (n+63)/64)
	roaring.FastOr(dense...).WriteDenseTo(words)
	inBatches(func(ords []uint32) {
		for _, ord := range ords {
			words[ord/64] |= 1 << (ord % 64)
		}
	}, sparse...)
	return roaring.FromDense(words, false)
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

package index

import (
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// work is what answering one query takes, in counts that are the same on every machine. All
// set algebra of answering goes through its methods, so that a test can hold a plan to what it
// costs. Nil counts nothing: that is how queries are answered.
//
// It belongs to one query.
type work struct {
	ops     int // intersections, unions, differences, counts of them, sets made of bits
	words   int // of 8 bytes, in the sets and bits those read: what a larger table costs more of
	records int // looked at one by one
}

// op counts one operation that reads sets.
func (w *work) op(sets ...*roaring.Bitmap) {
	w.ops++
	for _, s := range sets {
		w.words += int(s.GetSizeInBytes() / 8)
	}
}

// look counts records looked at one by one.
func (w *work) look(records int) {
	if w != nil {
		w.records += records
	}
}

// and returns a new set of what is in both.
func (w *work) and(a, b *roaring.Bitmap) *roaring.Bitmap {
	if w != nil {
		w.op(a, b)
	}
	return roaring.And(a, b)
}

// andCount is how many are in both.
func (w *work) andCount(a, b *roaring.Bitmap) uint64 {
	if w != nil {
		w.op(a, b)
	}
	return a.AndCardinality(b)
}

// drop takes out of a what is in b.
func (w *work) drop(a, b *roaring.Bitmap) {
	if w != nil {
		w.op(a, b)
	}
	a.AndNot(b)
}

// or returns a new set of what is in any.
func (w *work) or(sets ...*roaring.Bitmap) *roaring.Bitmap {
	if w != nil {
		w.op(sets...)
	}
	return roaring.FastOr(sets...)
}

// xor returns a new set of what is in one of the two.
func (w *work) xor(a, b *roaring.Bitmap) *roaring.Bitmap {
	if w != nil {
		w.op(a, b)
	}
	return roaring.Xor(a, b)
}

// write sets the bits of what is in a set.
func (w *work) write(words []uint64, set *roaring.Bitmap) {
	if w != nil {
		w.op(set)
	}
	set.WriteDenseTo(words)
}

// plainBits is a set as a bit a record, in room that is used again and again: at a million records
// it is 125 KB, which took longer to get and collect than to fill.
type plainBits struct{ words []uint64 }

var bitRoom = sync.Pool{New: func() any { return new(plainBits) }}

// bits returns a set of ordinals below n as bits, until they are freed.
func (w *work) bits(set *roaring.Bitmap, n int) *plainBits {
	b := bitRoom.Get().(*plainBits)
	b.words = slices.Grow(b.words[:0], (n+63)/64)[:(n+63)/64]
	clear(b.words)
	w.write(b.words, set)
	return b
}

func (b *plainBits) free() { bitRoom.Put(b) }

// read makes a set of bits, which it may keep.
func (w *work) read(words []uint64) *roaring.Bitmap {
	if w != nil {
		w.op()
		w.words += len(words)
	}
	return roaring.FromDense(words, false)
}

// union returns the ordinals below n in any of the sets; it may be one of them. Many sparse
// ones are written into plain bits: joining them one after the other copies what is joined
// already each time.
func (w *work) union(n int, sets []*roaring.Bitmap) *roaring.Bitmap {
	switch {
	case len(sets) == 1:
		return sets[0]
	case len(sets) <= 4:
		return w.or(sets...)
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
	w.write(words, w.or(dense...))
	w.batches(func(ords []uint32) {
		for _, ord := range ords {
			words[ord/64] |= 1 << (ord % 64)
		}
	}, sparse...)
	return w.read(words)
}

// batches calls do with the ordinals of one set after the other, upwards, some hundred at a
// time: that takes a third of the time of an iterator. The batch is gone after the call.
func (w *work) batches(do func(ords []uint32), sets ...*roaring.Bitmap) {
	var (
		it    roaring.ManyIntIterator
		batch [256]uint32
	)
	for _, b := range sets {
		it.Initialize(b)
		for n := it.NextMany(batch[:]); n > 0; n = it.NextMany(batch[:]) {
			w.look(n)
			do(batch[:n])
		}
	}
}

package index

import (
	"math/bits"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
)

// bitset is a set of ordinals, or of places in an order, with one bit for each record of a table.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

// bitsetOf is a set of ordinals below n as bits.
func bitsetOf(set *roaring.Bitmap, n int) bitset {
	b := newBitset(n)
	set.WriteDenseTo(b)
	return b
}

var bitsets = sync.Pool{New: func() any { return new(bitset) }}

// borrowBits returns an empty set for one query, in memory that is reused. At a million records it is 125 KB,
// which takes longer to allocate and collect than to fill. The caller calls free when done.
func borrowBits(n int) *bitset {
	b := bitsets.Get().(*bitset)
	*b = slices.Grow((*b)[:0], (n+63)/64)[:(n+63)/64]
	clear(*b)
	return b
}

// borrowBitsOf is borrowBits with the ordinals of a set.
func borrowBitsOf(set *roaring.Bitmap, n int) *bitset {
	b := borrowBits(n)
	set.WriteDenseTo(*b)
	return b
}

func (b *bitset) free() { bitsets.Put(b) }

func (b bitset) has(ord uint32) bool { return b.bit(ord) != 0 }

// bit is 1 if the ordinal is in the set, else 0.
func (b bitset) bit(ord uint32) int { return int(b[ord/64] >> (ord % 64) & 1) }

func (b bitset) add(ord uint32) { b[ord/64] |= 1 << (ord % 64) }

func (b bitset) addAll(ords []uint32) {
	for _, ord := range ords {
		b.add(ord)
	}
}

func (b bitset) removeAll(ords []uint32) {
	for _, ord := range ords {
		b[ord/64] &^= 1 << (ord % 64)
	}
}

// flip adds the ordinals that are not in the set and removes the others.
func (b bitset) flip(ords []uint32) {
	for _, ord := range ords {
		b[ord/64] ^= 1 << (ord % 64)
	}
}

func (b bitset) and(other bitset) {
	other = other[:len(b)]
	for i := range b {
		b[i] &= other[i]
	}
}

func (b bitset) andNot(other bitset) {
	other = other[:len(b)]
	for i := range b {
		b[i] &^= other[i]
	}
}

func (b bitset) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// countIn is how many are in another set too.
func (b bitset) countIn(other bitset) (n int) {
	other = other[:len(b)]
	for i, word := range b {
		n += bits.OnesCount64(word & other[i])
	}
	return n
}

// each calls do with every number in the set, in order. do may remove it.
func (b bitset) each(do func(n int)) {
	for i, word := range b {
		for ; word != 0; word &= word - 1 {
			do(64*i + bits.TrailingZeros64(word))
		}
	}
}

// appendFrom appends ordinals, starting with one, until there are k.
func (b bitset) appendFrom(out []uint32, from, k int) []uint32 {
	for i := from / 64; i < len(b); i++ {
		word := b[i]
		if i == from/64 {
			word &= ^uint64(0) << (from % 64)
		}
		for ; word != 0; word &= word - 1 {
			if len(out) >= k {
				return out
			}
			out = append(out, uint32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return out
}

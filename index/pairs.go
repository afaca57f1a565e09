package index

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"
)

// pairs keeps what two filter values have in common, for those asked for again and again: a
// dashboard asks the same two filters page after page. It is a hint and holds at most as many
// sets as it has slots; a pair pushes out the one before it in its slot. The second time a pair
// is asked for it is worked out in full, and kept.
type pairs struct {
	seed  maphash.Seed
	slots [64]atomic.Pointer[pair]
}

// A pair is two sets of postings, and what is in both of them; nil when asked for only once.
type pair struct {
	key  pairKey
	both *roaring.Bitmap
}

type pairKey struct{ a, b *roaring.Bitmap }

func newPairs() *pairs { return &pairs{seed: maphash.MakeSeed()} }

// both returns what is in two sets of postings; nil where it is not worth working out. The set is
// shared. Counted queries are not given what others paid for.
func (p *pairs) both(a, b *roaring.Bitmap, w *work) *roaring.Bitmap {
	if w != nil {
		return nil
	}
	key := pairKey{a, b}
	slot := &p.slots[maphash.Comparable(p.seed, key)%uint64(len(p.slots))]
	have := slot.Load()
	switch {
	case have == nil || have.key != key:
		slot.Store(&pair{key: key})
		return nil
	case have.both == nil:
		have = &pair{key, w.and(a, b)}
		slot.Store(have)
	}
	return have.both
}

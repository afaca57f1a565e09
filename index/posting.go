package index

import (
	"maps"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// A posting answers one set filter. Its bitmaps are shared by all readers: they are only ever
// combined into new ones.
type posting struct {
	n       int                        // records of the table
	byValue map[string]*roaring.Bitmap // value -> ordinals that have it
	values  []string                   // sorted
}

// pending gathers the ordinals of one value and adds them in batches: adding one by one looks
// up the container each time.
type pending struct {
	bitmap *roaring.Bitmap
	ords   []uint32
}

const pendingBatch = 2048

func (p *pending) flush() {
	p.bitmap.AddMany(p.ords)
	p.ords = p.ords[:0]
}

// newPosting collects the values of n records; values calls emit for each value of record i.
func newPosting(n int, values func(i int, emit func(string))) *posting {
	building := map[string]*pending{}
	for i := range n {
		values(i, func(v string) {
			p := building[v]
			if p == nil {
				p = &pending{bitmap: roaring.New()}
				building[strings.Clone(v)] = p // a part of a longer text would keep all of it alive
			}
			if p.ords = append(p.ords, uint32(i)); len(p.ords) == pendingBatch {
				p.flush()
			}
		})
	}
	out := &posting{n: n, byValue: make(map[string]*roaring.Bitmap, len(building))}
	for v, p := range building {
		p.flush()
		p.bitmap.RunOptimize()
		out.byValue[v] = p.bitmap
	}
	out.values = slices.Sorted(maps.Keys(out.byValue))
	return out
}

// any returns the ordinals that have one of the values. The set must not be changed: own says
// that it is the posting's own.
func (p *posting) any(values []string, w *work) (set *roaring.Bitmap, own bool) {
	found := make([]*roaring.Bitmap, 0, len(values))
	for _, v := range values {
		if b := p.byValue[v]; b != nil {
			found = append(found, b)
		}
	}
	return w.union(p.n, found), len(found) == 1
}

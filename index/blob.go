package index

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// blockRows is how many entries share one allocation: enough that a block costs the garbage
// collector nothing, few enough that a block is built in one worker's cache.
const blockRows = 1024

// A blob holds one byte string an ordinal, in blocks of one allocation each and without
// pointers inside, so that millions of them are a few thousand objects.
type blob struct{ blocks []block }

type block struct {
	data []byte
	ends []uint32 // where entry i ends in data
}

// at returns the bytes of an entry. They are shared: nobody may change them.
func (b *blob) at(ord uint32) []byte { return b.span(ord, ord) }

// span returns the bytes of the entries first to last, which must lie in one block: see
// follows. They are shared: nobody may change them.
func (b *blob) span(first, last uint32) []byte {
	blk := &b.blocks[first/blockRows]
	start, end := uint32(0), blk.ends[last%blockRows]
	if i := first % blockRows; i > 0 {
		start = blk.ends[i-1]
	}
	return blk.data[start:end:end]
}

// follows says whether an entry lies right behind the one before it.
func (b *blob) follows(ord uint32) bool { return ord%blockRows != 0 }

// size is the number of bytes held.
func (b *blob) size() (n int) {
	for i := range b.blocks {
		n += len(b.blocks[i].data)
	}
	return n
}

// buildBlob makes a blob of n entries, block by block on all cores; add appends entry i to dst.
func buildBlob(n int, add func(dst []byte, i int) ([]byte, error)) (blob, error) {
	return buildBlocks(n, func(int) (block, bool) { return block{}, false }, add)
}

// buildBlocks is buildBlob with blocks that are finished already.
func buildBlocks(n int, finished func(n int) (block, bool), add func(dst []byte, i int) ([]byte, error)) (blob, error) {
	out := blob{blocks: make([]block, (n+blockRows-1)/blockRows)}
	var (
		next    atomic.Int64
		failed  atomic.Pointer[error]
		workers sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var scratch []byte
			for i := int(next.Add(1)) - 1; i < len(out.blocks) && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				blk, ok := finished(i)
				if ok {
					out.blocks[i] = blk
					continue
				}
				var err error
				if scratch, err = out.blocks[i].fill(scratch[:0], i*blockRows, min((i+1)*blockRows, n), add); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	workers.Wait()
	if err := failed.Load(); err != nil {
		return blob{}, *err
	}
	return out, nil
}

// fill writes entries from..to into scratch and keeps a copy of exactly their size.
func (blk *block) fill(scratch []byte, from, to int, add func([]byte, int) ([]byte, error)) ([]byte, error) {
	blk.ends = make([]uint32, 0, to-from)
	for i := from; i < to; i++ {
		var err error
		if scratch, err = add(scratch, i); err != nil {
			return scratch, err
		}
		blk.ends = append(blk.ends, uint32(len(scratch)))
	}
	blk.data = append(make([]byte, 0, len(scratch)), scratch...)
	return scratch, nil
}

package index

import (
	"context"
	"sort"
	"sync/atomic"

	"modeldex/dataset/cores"

	"golang.org/x/sync/errgroup"
)

// blockRows is the maximum number of entries per allocation: enough that a block costs the garbage
// collector nothing, few enough that a block is built in the cache of one core. Blocks are full
// when a blob is built. A rebuilt blob may have shorter ones, so that the blocks before and after a
// change can be shared.
const blockRows = 1024

// A blob has one byte string per ordinal, in blocks of one allocation each without pointers, so
// that millions of strings are a few thousand objects.
type blob struct {
	blocks []block
	firsts []uint32 // by block: its first entry
}

type block struct {
	data []byte
	ends []uint32 // where entry i ends in data
}

// find returns the block of an entry and its place there.
func (b *blob) find(ord uint32) (blk *block, i uint32) {
	at := min(int(ord/blockRows), len(b.blocks)-1) // its block if all before are full, else an earlier one
	if at+1 < len(b.firsts) && b.firsts[at+1] <= ord {
		at += sort.Search(len(b.firsts)-at, func(n int) bool { return b.firsts[at+n] > ord }) - 1
	}
	return &b.blocks[at], ord - b.firsts[at]
}

// at returns the bytes of an entry. They are shared and must not be changed.
func (b *blob) at(ord uint32) []byte { return b.span(ord, 1) }

// span returns the bytes of n entries, which must be in one block: see follows. They are shared
// and must not be changed.
func (b *blob) span(first, n uint32) []byte {
	blk, i := b.find(first)
	start, end := uint32(0), blk.ends[i+n-1]
	if i > 0 {
		start = blk.ends[i-1]
	}
	return blk.data[start:end:end]
}

// follows reports whether an entry is in the same block as the one before it.
func (b *blob) follows(ord uint32) bool {
	_, i := b.find(ord)
	return i != 0
}

// size is the number of bytes of all entries.
func (b *blob) size() (n int) {
	for i := range b.blocks {
		n += len(b.blocks[i].data)
	}
	return n
}

// sizeBeside is size, without the blocks that are shared with another blob.
func (b *blob) sizeBeside(other *blob) (n int) {
	shared := map[*uint32]bool{} // blocks have at least one entry
	for i := range other.blocks {
		shared[&other.blocks[i].ends[0]] = true
	}
	for i := range b.blocks {
		if !shared[&b.blocks[i].ends[0]] {
			n += len(b.blocks[i].data)
		}
	}
	return n
}

// An appender appends entry i to dst. One goroutine calls it, with ascending i within a block.
type appender = func(dst []byte, i int) ([]byte, error)

// same gives every worker the same appender, which must be safe for concurrent use.
func same(add appender) func() appender { return func() appender { return add } }

// A part is a block to be built: entries from..to, either shared from an old block or rendered.
type part struct {
	from, to int
	shared   *block
}

// evenly appends parts for rendering entries from..to, as few and as equal as blocks allow.
func evenly(parts []part, from, to int) []part {
	for n := (to - from + blockRows - 1) / blockRows; n > 0; n-- {
		next := from + (to-from+n-1)/n
		parts = append(parts, part{from: from, to: next})
		from = next
	}
	return parts
}

// full is the parts for rendering n entries.
func full(n int) []part {
	parts := make([]part, 0, n/blockRows+1)
	for from := 0; from < n; from += blockRows {
		parts = append(parts, part{from: from, to: min(from+blockRows, n)})
	}
	return parts
}

// buildBlob builds the blocks of a blob on all cores, each worker with its own appender.
func buildBlob(parts []part, appenders func() appender) (blob, error) {
	out := blob{blocks: make([]block, len(parts)), firsts: make([]uint32, len(parts))}
	var next atomic.Int64
	workers, failed := errgroup.WithContext(context.Background())
	for range cores.Size() {
		workers.Go(func() error {
			w := blockWriter{inPlace: len(parts) >= manyBlocks}
			add := appenders()
			for i := int(next.Add(1)) - 1; i < len(parts) && failed.Err() == nil; i = int(next.Add(1)) - 1 {
				var err error
				if out.blocks[i], err = w.block(parts[i], add); err != nil {
					return err
				}
				out.firsts[i] = uint32(parts[i].from)
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		return blob{}, err
	}
	return out, nil
}

// A blockWriter makes one block after the other.
type blockWriter struct {
	inPlace  bool    // entries are rendered where they stay
	perEntry float64 // bytes of an entry of the block before, of a writer in place
	scratch  []byte  // of any other
}

// manyBlocks is the least number of blocks of a blob that is rendered in place. Otherwise each block is copied
// from scratch memory to memory of exactly its size, which takes a quarter of the time of rendering. Fewer cost
// little, and no byte more than they need.
const manyBlocks = 64

// spareBytes is how much of the memory of a block rendered in place may stay empty, as a share of its bytes. Blocks differ
// in size by less than that where there are many, so that nearly all stay where they are.
const spareBytes = 1.0 / 64

// block shares the old block of a part, or renders its entries.
func (w *blockWriter) block(p part, add appender) (block, error) {
	if p.shared != nil {
		return *p.shared, nil
	}
	n := p.to - p.from
	data, ends := w.scratch[:0], make([]uint32, 0, n)
	if w.inPlace {
		data = make([]byte, 0, int(float64(n)*w.perEntry*(1+spareBytes/2)))
	}
	for i := p.from; i < p.to; i++ {
		var err error
		if data, err = add(data, i); err != nil {
			return block{}, err
		}
		ends = append(ends, uint32(len(data)))
	}
	if w.perEntry = float64(len(data)) / float64(n); !w.inPlace {
		w.scratch = data
	} else if float64(cap(data)) <= float64(len(data))*(1+spareBytes) {
		return block{data, ends}, nil
	}
	return block{append(make([]byte, 0, len(data)), data...), ends}, nil
}

// minShared is the minimum size of a shared block next to a change. Shorter ones are rendered again
// with the change, so that a blob that is rebuilt many times does not get many small blocks.
const minShared = blockRows / 4

// parts is the parts of a new blob. from has for each new entry its place in this blob, or noRow.
// Blocks whose entries are still consecutive are shared.
func (b *blob) parts(from []uint32) []part {
	var parts []part
	start := 0 // of the entries that are not in a part yet
	for i := 0; i < len(from); {
		blk := b.sharedBlock(from[i:])
		switch {
		case blk == nil:
			i++
		case start < i && min(i-start, len(blk.ends)) < minShared:
			i += len(blk.ends)
		default:
			parts = append(between(parts, start, i), part{i, i + len(blk.ends), blk})
			i += len(blk.ends)
			start = i
		}
	}
	return between(parts, start, len(from))
}

// between appends parts for rendering entries from..to after a shared block; a short one is
// rendered with them.
func between(parts []part, from, to int) []part {
	if n := len(parts); from < to && n > 0 && parts[n-1].to-parts[n-1].from < minShared {
		from, parts = parts[n-1].from, parts[:n-1]
	}
	return evenly(parts, from, to)
}

// sharedBlock returns the block whose entries are, all and in order, the first of from; nil if
// there is none.
func (b *blob) sharedBlock(from []uint32) *block {
	if from[0] == noRow {
		return nil
	}
	blk, i := b.find(from[0])
	if i != 0 || len(blk.ends) > len(from) {
		return nil
	}
	for n := range blk.ends {
		if from[n] != from[0]+uint32(n) {
			return nil
		}
	}
	return blk
}

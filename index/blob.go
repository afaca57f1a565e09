package index

import (
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
)

// blockRows is how many entries share one allocation at most: enough that a block costs the
// garbage collector nothing, few enough that a block is built in one worker's cache. Blocks are
// full when a blob is built; one that is rebuilt may have shorter ones, so that those before and
// behind a change can stay as they are.
const blockRows = 1024

// A blob holds one byte string an ordinal, in blocks of one allocation each and without
// pointers inside, so that millions of them are a few thousand objects.
type blob struct {
	blocks []block
	firsts []uint32 // by block: the entry it begins with
}

type block struct {
	data []byte
	ends []uint32 // where entry i ends in data
}

// find returns the block of an entry and its place there.
func (b *blob) find(ord uint32) (blk *block, i uint32) {
	at := min(int(ord/blockRows), len(b.blocks)-1) // its block while all before are full, else one before
	if at+1 < len(b.firsts) && b.firsts[at+1] <= ord {
		at += sort.Search(len(b.firsts)-at, func(n int) bool { return b.firsts[at+n] > ord }) - 1
	}
	return &b.blocks[at], ord - b.firsts[at]
}

// at returns the bytes of an entry. They are shared: nobody may change them.
func (b *blob) at(ord uint32) []byte { return b.span(ord, 1) }

// span returns the bytes of n entries, which must lie in one block: see follows. They are
// shared: nobody may change them.
func (b *blob) span(first, n uint32) []byte {
	blk, i := b.find(first)
	start, end := uint32(0), blk.ends[i+n-1]
	if i > 0 {
		start = blk.ends[i-1]
	}
	return blk.data[start:end:end]
}

// follows says whether an entry lies right behind the one before it.
func (b *blob) follows(ord uint32) bool {
	_, i := b.find(ord)
	return i != 0
}

// size is the number of bytes held.
func (b *blob) size() (n int) {
	for i := range b.blocks {
		n += len(b.blocks[i].data)
	}
	return n
}

// An appender appends entry i to dst. It belongs to one goroutine and is asked in order, block
// by block.
type appender = func(dst []byte, i int) ([]byte, error)

// same has every worker use one appender, which then must be safe for that.
func same(add appender) func() appender { return func() appender { return add } }

// A part is a block to be: entries from..to, which are in the block that is shared, or are made.
type part struct {
	from, to int
	shared   *block
}

// evenly appends parts that make the entries from..to, as few and as equal as blocks allow.
func evenly(parts []part, from, to int) []part {
	for n := (to - from + blockRows - 1) / blockRows; n > 0; n-- {
		next := from + (to-from+n-1)/n
		parts = append(parts, part{from: from, to: next})
		from = next
	}
	return parts
}

// full are the parts of n entries of which none is there yet.
func full(n int) []part {
	parts := make([]part, 0, n/blockRows+1)
	for from := 0; from < n; from += blockRows {
		parts = append(parts, part{from: from, to: min(from+blockRows, n)})
	}
	return parts
}

// buildBlob makes a blob of parts, block by block on all cores, each worker with an appender of
// its own.
func buildBlob(parts []part, appenders func() appender) (blob, error) {
	out := blob{blocks: make([]block, len(parts)), firsts: make([]uint32, len(parts))}
	var (
		next    atomic.Int64
		failed  atomic.Pointer[error]
		workers sync.WaitGroup
	)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			var scratch []byte
			add := appenders()
			for i := int(next.Add(1)) - 1; i < len(parts) && failed.Load() == nil; i = int(next.Add(1)) - 1 {
				var err error
				if scratch, err = out.blocks[i].fill(scratch[:0], parts[i], add); err != nil {
					failed.Store(&err)
				}
				out.firsts[i] = uint32(parts[i].from)
			}
		})
	}
	workers.Wait()
	if err := failed.Load(); err != nil {
		return blob{}, *err
	}
	return out, nil
}

// fill takes over the block of a part, or writes its entries into scratch and keeps a copy of
// exactly their size.
func (blk *block) fill(scratch []byte, p part, add appender) ([]byte, error) {
	if p.shared != nil {
		*blk = *p.shared
		return scratch, nil
	}
	blk.ends = make([]uint32, 0, p.to-p.from)
	for i := p.from; i < p.to; i++ {
		var err error
		if scratch, err = add(scratch, i); err != nil {
			return scratch, err
		}
		blk.ends = append(blk.ends, uint32(len(scratch)))
	}
	blk.data = append(make([]byte, 0, len(scratch)), scratch...)
	return scratch, nil
}

// leastRows is how short a block may stay beside a change: shorter ones are joined with what is
// made, so that a blob that is rebuilt again and again does not fall into crumbs.
const leastRows = blockRows / 4

// parts are those of a blob of the entries that from tells of: where each was in this one, noRow
// where it was not. Blocks whose entries follow each other as they did are shared.
func (b *blob) parts(from []uint32) []part {
	var parts []part
	start := 0 // of what is not in a part yet
	for i := 0; i < len(from); {
		blk := b.stays(from[i:])
		switch {
		case blk == nil:
			i++
		case start < i && min(i-start, len(blk.ends)) < leastRows:
			i += len(blk.ends)
		default:
			parts = append(between(parts, start, i), part{i, i + len(blk.ends), blk})
			i += len(blk.ends)
			start = i
		}
	}
	return between(parts, start, len(from))
}

// between appends parts that make the entries from..to behind a block that stays; a short one is
// made with them.
func between(parts []part, from, to int) []part {
	if n := len(parts); from < to && n > 0 && parts[n-1].to-parts[n-1].from < leastRows {
		from, parts = parts[n-1].from, parts[:n-1]
	}
	return evenly(parts, from, to)
}

// stays returns the block whose entries these begin with, all of them in order; nil where they
// begin with none.
func (b *blob) stays(from []uint32) *block {
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

package quota

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
)

// bbolt maps its file into memory and trusts it. A missing page is a memory fault, and one flipped bit in a page number
// makes it recurse without end or read outside the file. So the pages are checked as plain bytes before bbolt reads
// them. The layouts are those of bbolt's internal/common (format version 2), in the byte order of the machine.
const (
	boltMagic   = 0xED0CDAED
	pageHeader  = 16 // page uint64; flags, elements uint16; further pages uint32
	metaLen     = 64
	metaSumAt   = 56
	minPageSize = 1024
	maxPageSize = 16 << 20 // the largest page bbolt looks for
	maxPages    = math.MaxInt64 / maxPageSize

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	pageElem     = 16 // branch: position, key length uint32, page uint64; leaf: flags, position, two lengths uint32
	bucketFlag   = 0x01
	bucketHead   = 16 // root page, sequence uint64
	noFreelist   = 1<<64 - 1
	maxDepth     = 64 // a tree of two-element pages this deep would not fit any disk

	// lastInitTx is the transaction of the second meta page in a new file, before any commit.
	lastInitTx = 1
)

// errUnborn is an ErrTruncated file in which nothing was ever committed: a full disk or a kill interrupted its creation.
var errUnborn = fmt.Errorf("%w: its creation was interrupted", ErrTruncated)

// guard runs fn and turns the panics by which bbolt and the memory map answer a damaged file into ErrCorrupt. It covers
// only fn's own goroutine. Without SetPanicOnFault a page missing at the end of the file would end the process.
func guard(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrCorrupt, p)
		}
	}()
	return fn()
}

// boltMeta is one of the two heads of a file: the tree that one transaction left behind.
type boltMeta struct {
	pageSize int64  // bytes
	pages    int64  // in use: the high-water mark
	root     uint64 // page of the root bucket
	freelist uint64 // page of the list of free pages
	tx       uint64 // transaction that wrote it
}

// inspect rejects a file that is not a bbolt file (ErrNotLedger), whose end is missing (ErrTruncated, errUnborn) or
// whose heads are both damaged (ErrCorrupt). One that cannot be opened is left to bbolt, which says why.
func inspect(path string, size int64) error {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	list, err := metas(f)
	if len(list) == 0 || errors.Is(err, ErrTruncated) {
		return err
	}
	meta := slices.MaxFunc(list, func(a, b boltMeta) int { return cmp.Compare(a.tx, b.tx) })
	switch {
	case size >= meta.pages*meta.pageSize:
		return nil
	case meta.tx <= lastInitTx:
		return errUnborn
	}
	return ErrTruncated
}

// metas returns those of the two metas that are intact, and what is wrong with the first. That says how long pages are,
// and so where the second one is; without it every possible place is tried.
func metas(f io.ReaderAt) (out []boltMeta, err error) {
	first, err := metaAt(f, 0)
	from, to := int64(minPageSize), int64(maxPageSize)
	if err == nil {
		out, from, to = append(out, first), first.pageSize, first.pageSize
	}
	for at := from; at <= to; at *= 2 {
		if second, err := metaAt(f, at); err == nil && second.pageSize == at {
			return append(out, second), nil
		}
	}
	return out, err
}

func metaAt(f io.ReaderAt, at int64) (boltMeta, error) {
	var page [pageHeader + metaLen]byte
	n, err := f.ReadAt(page[:], at)
	m := page[pageHeader:]
	switch isBolt := n >= pageHeader+4 && binary.NativeEndian.Uint32(m) == boltMagic; {
	case isBolt && errors.Is(err, io.EOF):
		return boltMeta{}, ErrTruncated
	case err != nil || !isBolt:
		return boltMeta{}, ErrNotLedger
	}
	number := func(at int) uint64 { return binary.NativeEndian.Uint64(m[at:]) }
	sum := fnv.New64a()
	_, _ = sum.Write(m[:metaSumAt])
	size, pages := int64(binary.NativeEndian.Uint32(m[8:])), number(40)
	if sum.Sum64() != number(metaSumAt) || size < minPageSize || size > maxPageSize || pages > maxPages {
		return boltMeta{}, ErrCorrupt
	}
	return boltMeta{pageSize: size, pages: int64(pages), root: number(16), freelist: number(32), tx: number(48)}, nil
}

// bothMetas reports whether both metas are intact. When one is damaged bbolt uses the other, which may be one
// transaction older: the last change may then be lost. It reads more than once, because a commit may be writing one.
func bothMetas(f io.ReaderAt) bool {
	for range 3 {
		if list, _ := metas(f); len(list) == 2 {
			return true
		}
	}
	return false
}

// walkPages checks all pages that the transaction tx reaches, and reports the first one that is damaged. Each is reached
// once, has its own number, and keeps its elements inside itself and in order. No page in use is also listed as free.
// The error wraps ErrCorrupt, or is the one of reading the file; errMoved: later commits have overwritten the meta.
func walkPages(f io.ReaderAt, tx uint64) error {
	list, _ := metas(f) // of those that are intact
	i := slices.IndexFunc(list, func(m boltMeta) bool { return m.tx == tx })
	if i < 0 {
		return errMoved
	}
	w := pageWalk{f: f, boltMeta: list[i], used: make([]bool, list[i].pages)}
	if err := w.tree(w.root, 0); err != nil || w.freelist == noFreelist {
		return err
	}
	return w.freePages()
}

// errMoved is returned when commits have overtaken a transaction before its meta was read.
var errMoved = errors.New("the ledger changes too fast to be checked; try again")

type pageWalk struct {
	boltMeta
	f    io.ReaderAt
	used []bool // page -> visited
}

func (w *pageWalk) corrupt(page uint64, rule string) error {
	return fmt.Errorf("%w: page %d: %s", ErrCorrupt, page, rule)
}

// read returns one page with its overflow and marks it as used.
func (w *pageWalk) read(id uint64) ([]byte, error) {
	if id < 2 || id >= uint64(len(w.used)) {
		return nil, w.corrupt(id, "is outside the file")
	}
	var head [pageHeader]byte
	if _, err := w.f.ReadAt(head[:], int64(id)*w.pageSize); err != nil {
		return nil, err
	}
	more := uint64(binary.NativeEndian.Uint32(head[12:]))
	if binary.NativeEndian.Uint64(head[:]) != id || id+more >= uint64(len(w.used)) {
		return nil, w.corrupt(id, "has the header of another page")
	}
	for i := id; i <= id+more; i++ {
		if w.used[i] {
			return nil, w.corrupt(i, "is used twice")
		}
		w.used[i] = true
	}
	page := make([]byte, int64(more+1)*w.pageSize)
	_, err := w.f.ReadAt(page, int64(id)*w.pageSize)
	return page, err
}

// tree checks a page and all below it.
func (w *pageWalk) tree(id uint64, depth int) error {
	if depth > maxDepth {
		return w.corrupt(id, "is too deep in the tree")
	}
	page, err := w.read(id)
	if err != nil {
		return err
	}
	return w.elements(id, page, depth)
}

// elements checks the elements of a page, which may be inside another page, and what is below them.
func (w *pageWalk) elements(id uint64, page []byte, depth int) error {
	flags, count := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	isLeaf := flags == leafPage
	if !isLeaf && (flags != branchPage || count == 0) {
		return w.corrupt(id, "is not a page of a tree")
	}
	var last []byte
	for i := range count {
		if pageHeader+(i+1)*pageElem > len(page) {
			return w.corrupt(id, "has elements outside itself")
		}
		elem := page[pageHeader+i*pageElem:]
		word := func(n int) uint64 { return uint64(binary.NativeEndian.Uint32(elem[4*n:])) }
		at, keyLen, valueLen := word(0), word(1), uint64(0)
		if isLeaf {
			at, keyLen, valueLen = word(1), word(2), word(3)
		}
		if at+keyLen+valueLen > uint64(len(elem)) {
			return w.corrupt(id, "has keys or values outside itself")
		}
		key, value := elem[at:at+keyLen], elem[at+keyLen:at+keyLen+valueLen]
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return w.corrupt(id, "has keys out of order")
		}
		last = key
		var err error
		if !isLeaf {
			err = w.tree(binary.NativeEndian.Uint64(elem[8:]), depth+1)
		} else if word(0)&bucketFlag != 0 {
			err = w.bucket(id, value, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bucket checks a bucket's head and its tree, which for a small bucket is a page that follows the head.
func (w *pageWalk) bucket(id uint64, value []byte, depth int) error {
	if len(value) < bucketHead {
		return w.corrupt(id, "has a bucket without a header")
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return w.tree(root, depth)
	}
	inline := value[bucketHead:]
	if len(inline) < pageHeader || binary.NativeEndian.Uint16(inline[8:]) != leafPage {
		return w.corrupt(id, "has an inline bucket that is not a leaf")
	}
	return w.elements(id, inline, depth)
}

// freePages checks the list of free pages, after the tree has marked those in use: a page that is both would be
// overwritten while it is read.
func (w *pageWalk) freePages() error {
	page, err := w.read(w.freelist)
	if err != nil {
		return err
	}
	count, ids := uint64(binary.NativeEndian.Uint16(page[10:])), page[pageHeader:]
	if count == 0xFFFF { // too many for 16 bits: the first entry is the count
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if binary.NativeEndian.Uint16(page[8:]) != freelistPage || count > uint64(len(ids)/8) {
		return w.corrupt(w.freelist, "is not the list of free pages")
	}
	for i := range count {
		id := binary.NativeEndian.Uint64(ids[i*8:])
		if id < 2 || id >= uint64(len(w.used)) || w.used[id] {
			return w.corrupt(id, "is listed as free but is not")
		}
		w.used[id] = true
	}
	return nil
}

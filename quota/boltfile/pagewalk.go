package boltfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// Kinds and layouts of pages.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	branchElem = 16 // pos, ksize uint32; pgid uint64
	leafElem   = 16 // flags, pos, ksize, vsize uint32
	bucketFlag = 0x01
	bucketHead = 16 // root pgid, sequence uint64

	noFreelist = 1<<64 - 1
	maxDepth   = 64 // a tree of two-element pages this deep would not fit any disk
)

// pageWalk visits every page that can be reached from one meta.
type pageWalk struct {
	f    io.ReaderAt
	meta Meta
	used []bool // page number -> visited
}

// Walk checks all pages below meta. Each is reached once, has its own number, and keeps its elements inside
// itself and in order. No page in use is also listed as free. The error wraps ErrCorrupt, or is the one of
// reading the file. It reads every page in use once.
func Walk(f io.ReaderAt, meta Meta) error {
	w := pageWalk{f: f, meta: meta, used: make([]bool, meta.Pages)}
	if err := w.tree(meta.Root, 0); err != nil {
		return err
	}
	if meta.Freelist == noFreelist {
		return nil
	}
	return w.freelist()
}

func (w *pageWalk) corrupt(pgid uint64, rule string) error {
	return fmt.Errorf("%w: page %d: %s", ErrCorrupt, pgid, rule)
}

// read returns one page with its overflow and marks it as used.
func (w *pageWalk) read(pgid uint64) ([]byte, error) {
	if pgid < 2 || pgid >= uint64(len(w.used)) {
		return nil, w.corrupt(pgid, "is outside the file")
	}
	var head [pageHeader]byte
	if _, err := w.f.ReadAt(head[:], int64(pgid)*w.meta.PageSize); err != nil {
		return nil, err
	}
	more := uint64(binary.NativeEndian.Uint32(head[12:]))
	if binary.NativeEndian.Uint64(head[:]) != pgid || pgid+more >= uint64(len(w.used)) {
		return nil, w.corrupt(pgid, "has a head that is not its own")
	}
	for i := pgid; i <= pgid+more; i++ {
		if w.used[i] {
			return nil, w.corrupt(i, "is used twice")
		}
		w.used[i] = true
	}
	page := make([]byte, int64(more+1)*w.meta.PageSize)
	_, err := w.f.ReadAt(page, int64(pgid)*w.meta.PageSize)
	return page, err
}

func (w *pageWalk) tree(pgid uint64, depth int) error {
	if depth > maxDepth {
		return w.corrupt(pgid, "is too deep in the tree")
	}
	page, err := w.read(pgid)
	if err != nil {
		return err
	}
	return w.nodes(pgid, page, depth)
}

// nodes checks the elements of a page, which may be inside another page, and what is below.
func (w *pageWalk) nodes(pgid uint64, page []byte, depth int) error {
	count := int(binary.NativeEndian.Uint16(page[10:]))
	switch flags := binary.NativeEndian.Uint16(page[8:]); flags {
	case branchPage:
		return w.branch(pgid, page, count, depth)
	case leafPage:
		return w.leaf(pgid, page, count, depth)
	default:
		return w.corrupt(pgid, fmt.Sprintf("has flags %#x, which no tree page has", flags))
	}
}

func (w *pageWalk) branch(pgid uint64, page []byte, count, depth int) error {
	if count == 0 {
		return w.corrupt(pgid, "branches to nothing")
	}
	var last []byte
	for i := range count {
		at := pageHeader + i*branchElem
		if at+branchElem > len(page) {
			return w.corrupt(pgid, "has elements outside itself")
		}
		elem := page[at:]
		key, ok := slice(elem, binary.NativeEndian.Uint32(elem), binary.NativeEndian.Uint32(elem[4:]))
		if !ok || i > 0 && bytes.Compare(last, key) >= 0 {
			return w.corrupt(pgid, "has keys out of order or outside itself")
		}
		last = key
		if err := w.tree(binary.NativeEndian.Uint64(elem[8:]), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *pageWalk) leaf(pgid uint64, page []byte, count, depth int) error {
	var last []byte
	for i := range count {
		at := pageHeader + i*leafElem
		if at+leafElem > len(page) {
			return w.corrupt(pgid, "has elements outside itself")
		}
		elem := page[at:]
		flags, pos := binary.NativeEndian.Uint32(elem), binary.NativeEndian.Uint32(elem[4:])
		klen, vlen := binary.NativeEndian.Uint32(elem[8:]), binary.NativeEndian.Uint32(elem[12:])
		key, ok := slice(elem, pos, klen)
		value, okv := slice(elem, pos+klen, vlen)
		if !ok || !okv || pos+klen < pos || i > 0 && bytes.Compare(last, key) >= 0 {
			return w.corrupt(pgid, "has keys or values out of order or outside itself")
		}
		last = key
		if flags&bucketFlag == 0 {
			continue
		}
		if err := w.bucket(pgid, value, depth); err != nil {
			return err
		}
	}
	return nil
}

// bucket checks a bucket's head and its tree, which for a small bucket follows the head.
func (w *pageWalk) bucket(pgid uint64, value []byte, depth int) error {
	if len(value) < bucketHead {
		return w.corrupt(pgid, "has a bucket without a head")
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return w.tree(root, depth+1)
	}
	inline := value[bucketHead:]
	if len(inline) < pageHeader || binary.NativeEndian.Uint16(inline[8:]) != leafPage {
		return w.corrupt(pgid, "has a small bucket that is not a leaf")
	}
	return w.leaf(pgid, inline, int(binary.NativeEndian.Uint16(inline[10:])), depth+1)
}

// slice returns length bytes from pos on, if b has them.
func slice(b []byte, pos, length uint32) ([]byte, bool) {
	if uint64(pos)+uint64(length) > uint64(len(b)) {
		return nil, false
	}
	return b[pos : pos+length], true
}

// freelist checks the list of free pages, after the tree has marked those in use: a page that is
// both would be overwritten while it is read.
func (w *pageWalk) freelist() error {
	pgid := w.meta.Freelist
	page, err := w.read(pgid)
	if err != nil {
		return err
	}
	if binary.NativeEndian.Uint16(page[8:]) != freelistPage {
		return w.corrupt(pgid, "is not the list of free pages")
	}
	count, ids := uint64(binary.NativeEndian.Uint16(page[10:])), page[pageHeader:]
	if count == 0xFFFF { // too many for 16 bits: the first entry is the count
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		return w.corrupt(pgid, "lists more free pages than it holds")
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

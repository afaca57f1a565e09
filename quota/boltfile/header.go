package boltfile

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
	"slices"
)

// Errors of this package. Each is wrapped with the page it is about, where one is known.
var (
	// ErrNotBolt is returned for a file that does not begin like a bbolt file.
	ErrNotBolt = errors.New("file is not a bbolt file")
	// ErrTruncated is returned when the end of the file is missing.
	ErrTruncated = errors.New("file is truncated")
	// ErrUnborn is an ErrTruncated file in which nothing was ever committed: a full disk or a
	// kill interrupted its creation. It may be created again.
	ErrUnborn = fmt.Errorf("%w: its creation was interrupted", ErrTruncated)
	// ErrCorrupt is returned when a page holds something that bbolt never wrote.
	ErrCorrupt = errors.New("file is corrupt")
)

// The head of a bbolt file: two meta pages, each a page header of 16 bytes and a meta of 64.
const (
	boltMagic   = 0xED0CDAED
	pageHeader  = 16
	metaLen     = 64
	metaSumAt   = 56
	minPageSize = 1024
	maxPageSize = 16 << 20 // the largest page bbolt looks for
	maxPages    = math.MaxInt64 / maxPageSize
)

// LastInitTx is the transaction of the second meta page in a new file, before any commit.
const LastInitTx = 1

// Meta is one of the two heads of a file: the tree that one transaction left behind.
type Meta struct {
	PageSize int64  // bytes
	Pages    int64  // pages in use: the high-water mark
	Root     uint64 // page of the root bucket
	Freelist uint64 // page of the list of free pages
	TxID     uint64 // transaction that wrote it
}

// Inspect rejects a file that is not a bbolt file (ErrNotBolt), whose end is missing
// (ErrTruncated, ErrUnborn) or whose heads are both damaged (ErrCorrupt). A missing or empty file
// is accepted, because opening creates it; a file that cannot be opened is left to the opener
// to report.
func Inspect(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return nil // the opener meets the same error and says what it was doing
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
		return err
	}
	list, err := metas(f)
	if len(list) == 0 || errors.Is(err, ErrTruncated) {
		return err
	}
	meta := slices.MaxFunc(list, func(a, b Meta) int { return cmp.Compare(a.TxID, b.TxID) })
	switch {
	case info.Size() >= meta.Pages*meta.PageSize:
		return nil
	case meta.TxID <= LastInitTx:
		return ErrUnborn
	default:
		return ErrTruncated
	}
}

// metas returns those of the two metas that are intact, and what is wrong with the first. That says how long pages are, and
// so where the second one is; without it every possible place is tried.
func metas(f io.ReaderAt) (out []Meta, err error) {
	first, err := metaAt(f, 0)
	from, to := int64(minPageSize), int64(maxPageSize)
	if err == nil {
		out, from, to = append(out, first), first.PageSize, first.PageSize
	}
	for at := from; at <= to; at *= 2 {
		if second, err := metaAt(f, at); err == nil && second.PageSize == at {
			return append(out, second), nil
		}
	}
	return out, err
}

// MetaOf returns the meta of one transaction; false when a later commit has overwritten it.
func MetaOf(f io.ReaderAt, txid uint64) (Meta, bool) {
	list, _ := metas(f) // of those that are intact
	i := slices.IndexFunc(list, func(m Meta) bool { return m.TxID == txid })
	if i < 0 {
		return Meta{}, false
	}
	return list[i], true
}

// BothMetas reports whether both metas are intact. When one is damaged bbolt uses the other,
// which may be one transaction older: the last change may then be lost. The metas are read more
// than once, because a commit may be writing one of them.
func BothMetas(f io.ReaderAt) bool {
	for range 3 {
		if list, _ := metas(f); len(list) == 2 {
			return true
		}
	}
	return false
}

func metaAt(f io.ReaderAt, at int64) (Meta, error) {
	var page [pageHeader + metaLen]byte
	if n, err := f.ReadAt(page[:], at); err != nil {
		if errors.Is(err, io.EOF) && n >= pageHeader+4 && isMagic(page[pageHeader:]) {
			return Meta{}, ErrTruncated
		}
		return Meta{}, ErrNotBolt
	}
	m := page[pageHeader:]
	if !isMagic(m) {
		return Meta{}, ErrNotBolt
	}
	sum := fnv.New64a()
	_, _ = sum.Write(m[:metaSumAt])
	size, pages := int64(binary.NativeEndian.Uint32(m[8:])), binary.NativeEndian.Uint64(m[40:])
	if sum.Sum64() != binary.NativeEndian.Uint64(m[metaSumAt:]) || size < minPageSize || size > maxPageSize || pages > maxPages {
		return Meta{}, ErrCorrupt
	}
	return Meta{
		PageSize: size,
		Pages:    int64(pages),
		Root:     binary.NativeEndian.Uint64(m[16:]),
		Freelist: binary.NativeEndian.Uint64(m[32:]),
		TxID:     binary.NativeEndian.Uint64(m[48:]),
	}, nil
}

func isMagic(m []byte) bool { return binary.NativeEndian.Uint32(m) == boltMagic }

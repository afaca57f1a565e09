package dataset

import (
	"slices"
	"strings"

	"modeldex/dataset/record"
)

// previousLoad is what a set remembers of the files it was read from, so that the next load
// decodes only those that changed.
//
// It keeps the records rather than a digest of them, because two steps need the values. After a change anywhere
// every record is checked again, and a diff lists withdrawn and changed values field by field. Two sets that
// follow each other share the records of unchanged files.
type previousLoad struct {
	files []previousFile // by number, in order of name

	info          previous[Info]
	quantizations previous[QuantizationType]
	origins       previous[Origin]
	models        previous[Model]
	hardware      previous[Hardware]
	tools         previous[Tool]
	benchmarks    previous[Benchmark]
	changes       previous[record.ChangeLine]
}

type previousFile struct {
	name   string
	size   int64
	digest Digest
	single bool // one object, no array
}

// previous is the records of one kind in order of place, as they are in the files.
type previous[T any] struct {
	recs   []*T
	places []place
}

// in is the range of records that are in a file.
func (p *previous[T]) in(file int32) (from, to int) {
	byFile := func(p place, file int32) int { return int(p.file) - int(file) }
	from, _ = slices.BinarySearchFunc(p.places, file, byFile)
	to, _ = slices.BinarySearchFunc(p.places, file+1, byFile)
	return from, to
}

func (k *previousLoad) find(name string) (int, bool) {
	return slices.BinarySearchFunc(k.files, name, func(f previousFile, name string) int { return strings.Compare(f.name, name) })
}

package dataset

import (
	"crypto/sha256"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// kept is what a set remembers of the files it was read from, so that the next load decodes
// only those that changed.
//
// It keeps the records rather than a digest of them: a change anywhere has every record checked
// again, and what was withdrawn or altered is told field by field, both of which need the values.
// Benchmarks stay packed: beside the generation built from a million lean ones (0.91 GB) they take
// 0.11 GB, where decoded records with their texts shared took 0.45 GB. Reading all files anew
// instead would cost a swap a second for each million lines, on all cores; taking them from the
// rows of the generation would have this package know how rows are made.
type kept struct {
	files []keptFile // by number, in order of name

	info          stock[Info]
	quantizations stock[QuantizationType]
	models        stock[Model]
	hardware      stock[Hardware]
	tools         stock[Tool]
	benchmarks    runStock
}

type keptFile struct {
	name   string
	size   int64
	digest Digest
	single bool // one object, no array
}

// A stock is the records of one kind in order of place.
type stock[T any] struct {
	recs   []T
	places []place
}

// part is the range of places that stand in a file.
func part(places []place, file int32) (from, to int) {
	byFile := func(p place, file int32) int { return int(p.file) - int(file) }
	from, _ = slices.BinarySearchFunc(places, file, byFile)
	to, _ = slices.BinarySearchFunc(places, file+1, byFile)
	return from, to
}

func (k *kept) find(name string) (int, bool) {
	return slices.BinarySearchFunc(k.files, name, func(f keptFile, name string) int { return strings.Compare(f.name, name) })
}

// keep makes the memory of the set that was read. Models are kept as they stand in the files,
// without what is computed.
func (l *loader) keep(benchmarks runStock) *kept {
	k := &kept{
		files:         make([]keptFile, len(l.files)),
		info:          stock[Info]{recs: l.info.recs, places: l.info.places},
		quantizations: stock[QuantizationType]{recs: l.quantizations.recs, places: l.quantizations.places},
		models:        stock[Model]{recs: l.models.recs, places: l.models.places},
		hardware:      stock[Hardware]{recs: l.hardware.recs, places: l.hardware.places},
		tools:         stock[Tool]{recs: l.tools.recs, places: l.tools.places},
		benchmarks:    benchmarks,
	}
	for i, name := range l.files {
		k.files[i] = keptFile{name, l.sizes[i], l.digests[i], l.single[i]}
	}
	return k
}

// takeOver finds the files that are what they were at the last load. Times do not count: they
// are set by whoever writes, and reading a file is a tenth of the cost of decoding it.
func (l *loader) takeOver() {
	l.same = make([]int32, len(l.files))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range l.opt.Workers {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(l.files); i = int(next.Add(1)) - 1 {
				l.same[i] = l.sameAs(i)
			}
		})
	}
	workers.Wait()
}

// sameAs is the number a file had at the last load, -1 where its bytes are others. A file that
// cannot be read here cannot be read later either, and is reported then.
func (l *loader) sameAs(i int) int32 {
	k := l.last().kept
	if k == nil {
		return -1
	}
	at, found := k.find(l.files[i])
	if !found || k.files[at].size != l.sizes[i] {
		return -1
	}
	f, err := l.fsys.Open(l.files[i])
	if err != nil {
		return -1
	}
	defer f.Close()
	hash := sha256.New()
	if n, err := io.Copy(hash, f); err != nil || n != k.files[at].size || Digest(hash.Sum(nil)) != k.files[at].digest {
		return -1
	}
	l.digests[i], l.single[i] = k.files[at].digest, k.files[at].single
	return int32(at)
}

// unchanged reports whether the files are, name by name, those of the last load.
func (l *loader) unchanged() bool {
	k := l.last().kept
	return k != nil && len(l.findings) == 0 && len(l.files) == len(k.files) && !slices.Contains(l.same, -1)
}

// reshelve puts the records of a file that did not change back on their shelf.
func (l *loader) reshelve(i int) {
	k, was, now := l.opt.Last.kept, l.same[i], int32(i)
	switch kindOf(l.files[i]) {
	case infoFile:
		reshelve(&l.info, &k.info, was, now)
	case quantizationsFile:
		reshelve(&l.quantizations, &k.quantizations, was, now)
	case modelsDir:
		reshelve(&l.models, &k.models, was, now)
	case hardwareDir:
		reshelve(&l.hardware, &k.hardware, was, now)
	case toolsDir:
		reshelve(&l.tools, &k.tools, was, now)
	case benchmarksDir:
		l.benchmarks.reshelve(&k.benchmarks, was, now)
	}
	l.progress(int(l.sizes[i]))
}

func reshelve[T any](s *shelf[T], from *stock[T], was, now int32) {
	first, end := part(from.places, was)
	s.put(chunk[T]{at: place{file: now}, stock: from, first: first, end: end})
}

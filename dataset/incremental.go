package dataset

import (
	"crypto/sha256"
	"io"
	"slices"

	"golang.org/x/sync/errgroup"
)

func remember[T any](c *collector[T]) previous[T] { return previous[T]{c.recs, c.places} }

// remember returns what the next load needs of this one. Models are as they are in the files,
// without what is computed.
func (l *loader) remember() *previousLoad {
	k := &previousLoad{
		files: make([]previousFile, len(l.files)), info: remember(&l.info), quantizations: remember(&l.quantizations),
		origins: remember(&l.origins), models: remember(&l.models), hardware: remember(&l.hardware), tools: remember(&l.tools), benchmarks: remember(&l.benchmarks),
		changes: remember(&l.changes),
	}
	for i, name := range l.files {
		k.files[i] = previousFile{name, l.sizes[i], l.digests[i], l.single[i]}
	}
	return k
}

// findUnchanged finds the files whose bytes are those of the last load. Times do not count: they
// are set by whatever writes, and reading a file is a tenth of the cost of decoding it.
func (l *loader) findUnchanged() {
	l.unchanged = make([]int32, len(l.files))
	var work errgroup.Group
	work.SetLimit(l.opt.Workers)
	for i := range l.files {
		work.Go(func() error {
			l.unchanged[i] = l.sameAs(i)
			return nil
		})
	}
	_ = work.Wait() // a file that cannot be read here is reported when it is decoded
}

// sameAs is the number a file had at the last load, -1 where its bytes differ.
func (l *loader) sameAs(i int) int32 {
	k := l.last()
	if k == nil {
		return -1
	}
	at, found := k.find(l.files[i])
	if !found || k.files[at].size != l.sizes[i] {
		return -1
	}
	f, err := l.open(l.files[i])
	if err != nil {
		return -1
	}
	defer f.Close()
	hash := sha256.New()
	if n, err := io.Copy(hash, &boundedReader{l.ctx, f, l.sizes[i]}); err != nil || n != k.files[at].size || Digest(hash.Sum(nil)) != k.files[at].digest {
		return -1
	}
	l.digests[i], l.single[i] = k.files[at].digest, k.files[at].single
	return int32(at)
}

// allUnchanged reports whether the files are, name by name, those of the last load.
func (l *loader) allUnchanged() bool {
	k := l.last()
	return k != nil && len(l.findings) == 0 && len(l.files) == len(k.files) && !slices.Contains(l.unchanged, -1)
}

// reuse collects the records of a file that did not change.
func (l *loader) reuse(i int) {
	k, was, now := l.last(), l.unchanged[i], int32(i)
	switch kindOf(l.files[i]) {
	case infoFile:
		reuse(&l.info, &k.info, was, now)
	case quantizationsFile:
		reuse(&l.quantizations, &k.quantizations, was, now)
	case sourcesFile:
		reuse(&l.origins, &k.origins, was, now)
	case modelsDir:
		reuse(&l.models, &k.models, was, now)
	case hardwareDir:
		reuse(&l.hardware, &k.hardware, was, now)
	case toolsDir:
		reuse(&l.tools, &k.tools, was, now)
	case benchmarksDir:
		reuse(&l.benchmarks, &k.benchmarks, was, now)
	case ChangesDir:
		reuse(&l.changes, &k.changes, was, now)
	}
	l.progress(int(l.sizes[i]))
}

func reuse[T any](c *collector[T], from *previous[T], was, now int32) {
	first, end := from.in(was)
	part := chunk[T]{at: place{file: now}, recs: from.recs[first:end], places: slices.Clone(from.places[first:end])}
	for i := range part.places {
		part.places[i].file = now
	}
	c.put(part)
}

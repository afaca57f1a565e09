package dataset

import (
	"crypto/sha256"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// kept is what a set remembers of the files it was read from, so that the next load decodes
// only those that changed.
//
// It keeps the decoded records rather than a digest of them: a change anywhere has every
// record checked again, and what was withdrawn or altered is told field by field, both of which
// need the values. Beside the generation built from a million benchmarks (1.0 GB) its records
// take 0.45 GB once equal texts are shared (see pool; 0.88 GB before).
type kept struct {
	files []keptFile // by number, in order of name

	info          stock[Info]
	quantizations stock[QuantizationType]
	models        stock[Model]
	hardware      stock[Hardware]
	tools         stock[Tool]
	benchmarks    stock[Benchmark]
}

type keptFile struct {
	name   string
	size   int64
	digest Digest
	single bool // one object, no array
}

// A stock is the records of one kind as they stand in the files.
type stock[T any] struct {
	recs   []T
	order  []uint32 // by place: where the record is in recs; nil where recs are in order of place
	places []place
}

// index is where in recs the record at the i-th place is.
func (s *stock[T]) index(i int) uint32 {
	if s.order != nil {
		return s.order[i]
	}
	return uint32(i)
}

// part is the range of places that stand in a file.
func (s *stock[T]) part(file int32) (from, to int) {
	byFile := func(p place, file int32) int { return int(p.file) - int(file) }
	from, _ = slices.BinarySearchFunc(s.places, file, byFile)
	to, _ = slices.BinarySearchFunc(s.places, file+1, byFile)
	return from, to
}

func (k *kept) find(name string) (int, bool) {
	return slices.BinarySearchFunc(k.files, name, func(f keptFile, name string) int { return strings.Compare(f.name, name) })
}

// keep makes the memory of the set that was read; order is where its benchmarks were sorted to.
// Models are kept as they stand in the files, without what is computed.
func (l *loader) keep(s *Set, order []uint32) *kept {
	k := &kept{
		files:         make([]keptFile, len(l.files)),
		info:          stock[Info]{recs: l.info.recs, places: l.info.places},
		quantizations: stock[QuantizationType]{recs: l.quantizations.recs, places: l.quantizations.places},
		models:        stock[Model]{recs: l.models.recs, places: l.models.places},
		hardware:      stock[Hardware]{recs: l.hardware.recs, places: l.hardware.places},
		tools:         stock[Tool]{recs: l.tools.recs, places: l.tools.places},
		// The largest table is not held in both orders.
		benchmarks: stock[Benchmark]{recs: s.Benchmarks, order: order, places: l.benchmarks.places},
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
		reshelve(&l.benchmarks, &k.benchmarks, was, now)
	}
	l.progress(int(l.sizes[i]))
}

func reshelve[T any](s *shelf[T], from *stock[T], was, now int32) {
	first, end := from.part(was)
	s.put(chunk[T]{at: place{file: now}, stock: from, first: first, end: end})
}

// pool makes equal texts of records one text: of a benchmark's 16, a dozen repeat thousands of
// times.
type pool struct {
	mu    sync.Mutex
	texts map[string]*string
	flags [2]bool
}

// mostTexts bounds the pool itself, where texts do not repeat after all.
const mostTexts = 1 << 17

func newPool() *pool { return &pool{texts: map[string]*string{}, flags: [2]bool{false, true}} }

// share replaces the texts of the records of a chunk by those of the pool. Most repeat within
// the chunk, so the pool that all workers share is asked once a chunk for each; ids never do.
func (p *pool) share(recs []Benchmark) {
	seen := make(map[string]*string, 256)
	for i := range recs {
		b := &recs[i]
		shareText(p, seen, &b.Model)
		shareText(p, seen, &b.ModelRaw)
		shareText(p, seen, &b.Hardware)
		shareText(p, seen, &b.HardwareRaw)
		shareText(p, seen, &b.Tool)
		shareText(p, seen, &b.Source)
		shareKnown(p, seen, &b.Quantization)
		shareKnown(p, seen, &b.ToolVersion)
		shareKnown(p, seen, &b.Backend)
		shareKnown(p, seen, &b.OS)
		shareKnown(p, seen, &b.SourceURL)
		shareKnown(p, seen, &b.RunDate)
		shareKnown(p, seen, &b.DateBasis)
		shareKnown(p, seen, &b.Notes)
		shareKnown(p, seen, &b.Reproduce)
		p.shareFlag(&b.FlashAttention)
		p.shareFlag(&b.SpeculativeDecoding)
	}
}

func shareText[S ~string](p *pool, seen map[string]*string, v *S) { *v = S(*p.text(seen, string(*v))) }

func shareKnown[S ~string](p *pool, seen map[string]*string, v **S) {
	if *v != nil {
		// A named type of text is laid out as text is.
		*v = (*S)(unsafe.Pointer(p.text(seen, string(**v))))
	}
}

func (p *pool) shareFlag(v **bool) {
	if *v != nil && **v {
		*v = &p.flags[1]
	} else if *v != nil {
		*v = &p.flags[0]
	}
}

func (p *pool) text(seen map[string]*string, s string) *string {
	if shared := seen[s]; shared != nil {
		return shared
	}
	p.mu.Lock()
	shared := p.texts[s]
	if shared == nil {
		shared = &s
		if len(p.texts) < mostTexts {
			p.texts[s] = shared
		}
	}
	p.mu.Unlock()
	seen[s] = shared
	return shared
}

package dataset

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options says how to load. The zero value loads with every core and no progress.
type Options struct {
	// Workers is how many goroutines decode; zero means one a core.
	Workers int
	// Progress, if set, is called from one goroutine after each piece read, in bytes.
	Progress func(read, total int64)
	// Now is the clock that dates in the future are judged by; nil means time.Now.
	Now func() time.Time
	// Previous, if set, is the dataset as it was published before: a benchmark of it that is gone
	// is a fault.
	Previous fs.FS
	// Last, if set, is what an earlier Load returned: files whose bytes are the same are not
	// decoded again. Everything is checked again all the same.
	Last *Set

	chunk int // bytes of a chunk; zero means chunkSize
}

// The folders of a dataset and the files at its root.
const (
	infoFile          = "dataset.json"
	quantizationsFile = "quantizations.json"
	modelsDir         = "models"
	hardwareDir       = "hardware"
	toolsDir          = "tools"
	benchmarksDir     = "benchmarks"
)

// Load reads and checks the dataset in fsys. A dataset with a fault gives Findings as the error,
// all of them, sorted by place; any other error means the files could not be read. Warnings are
// for Check and cost a load nothing. Memory beyond the records is bounded by the chunks in
// flight. Where no byte differs from opt.Last, Load returns it. Safe for concurrent use.
func Load(fsys fs.FS, opt Options) (*Set, error) {
	l := newLoader(fsys, opt)
	if err := l.run(); err != nil {
		return nil, err
	}
	if len(l.findings) > 0 {
		return nil, l.findings
	}
	if l.unchanged() {
		return opt.Last, nil
	}
	return l.set(), nil
}

// Check reads and checks the dataset in fsys as Load does and returns everything there is to
// say about it, warnings too, sorted by place. The error means that the files could not be read.
func Check(fsys fs.FS, opt Options) (Findings, error) {
	l := newLoader(fsys, opt)
	l.warn = true
	if err := l.run(); err != nil {
		return nil, err
	}
	return l.findings, nil
}

// run reads, checks and sorts what was found.
func (l *loader) run() error {
	if err := l.read(); err != nil || l.unchanged() {
		return err
	}
	if err := l.check(); err != nil {
		return err
	}
	l.settle()
	l.findings.sort()
	return nil
}

// loader holds one load: what was read so far and what was wrong with it.
type loader struct {
	fsys      fs.FS
	opt       Options
	warn      bool // look for warnings too
	files     []string
	sizes     []int64 // by file
	total     int64   // bytes of all files
	bytesRead atomic.Int64
	digests   []Digest    // by file
	single    []bool      // by file: one object, no array
	same      []int32     // by file: its number in the last load, -1 where it is new or changed
	buffers   chan []byte // of lines that are packed
	now       time.Time

	info          shelf[Info]
	quantizations shelf[QuantizationType]
	models        shelf[Model]
	hardware      shelf[Hardware]
	tools         shelf[Tool]
	benchmarks    runs

	mu         sync.Mutex
	complaints []complaint // from check
	findings   Findings
	faulty     map[member]bool // where the decoder found something, so that nothing is said twice
}

// member is one field of one record, the record itself where the field is empty.
type member struct {
	at    place
	field string // dotted
}

func newLoader(fsys fs.FS, opt Options) *loader {
	if opt.Workers == 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	if opt.chunk == 0 {
		opt.chunk = chunkSize
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	l := &loader{fsys: fsys, opt: opt, now: opt.Now(), faulty: map[member]bool{}, buffers: make(chan []byte, opt.Workers)}
	l.benchmarks.dict = newDictionary(l.last().Benchmarks.words)
	return l
}

// read decodes every file of the dataset, in parallel.
func (l *loader) read() error {
	if err := l.list(); err != nil {
		return err
	}
	l.digests, l.single = make([]Digest, len(l.files)), make([]bool, len(l.files))
	if l.takeOver(); l.unchanged() {
		return nil
	}
	work := make(chan func(), l.opt.Workers) // bounds the chunks in flight
	var workers sync.WaitGroup
	for range l.opt.Workers {
		workers.Go(func() {
			for job := range work {
				job()
			}
		})
	}
	var err error
	for i := range l.files {
		if l.same[i] >= 0 {
			l.reshelve(i)
		} else if err = l.readFile(i, work); err != nil {
			break
		}
	}
	close(work)
	workers.Wait()
	l.closeShelves()
	return err
}

func (l *loader) closeShelves() {
	l.info.close()
	l.quantizations.close()
	l.models.close()
	l.hardware.close()
	l.tools.close()
	l.benchmarks.close()
}

// list finds the files of the dataset, in order of path, and adds up their sizes.
func (l *loader) list() error {
	for _, name := range []string{infoFile, quantizationsFile} {
		switch _, err := fs.Stat(l.fsys, name); {
		case errors.Is(err, fs.ErrNotExist):
			l.add(Finding{Path: name, Text: "the file is missing"})
		case err != nil:
			return fmt.Errorf("reading dataset: %w", err)
		default:
			l.files = append(l.files, name)
		}
	}
	for _, dir := range []string{modelsDir, hardwareDir, toolsDir, benchmarksDir} {
		if err := l.listDir(dir); err != nil {
			return err
		}
	}
	slices.Sort(l.files)
	for _, name := range l.files {
		st, err := fs.Stat(l.fsys, name)
		if err != nil {
			return fmt.Errorf("reading dataset: %w", err)
		}
		l.sizes = append(l.sizes, st.Size())
		l.total += st.Size()
	}
	return nil
}

func (l *loader) listDir(dir string) error {
	entries, err := fs.ReadDir(l.fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		l.add(Finding{Path: dir, Text: "the folder is missing"})
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading dataset: %w", err)
	}
	for _, e := range entries {
		name := e.Name()
		switch ext := path.Ext(name); {
		case strings.HasPrefix(name, "."): // editors and version control
		case e.IsDir():
			l.add(Finding{Path: path.Join(dir, name), Text: "a record folder must hold files only, got a folder"})
		case ext != ".json" && ext != ".ndjson" && ext != ".md":
			l.add(Finding{Path: path.Join(dir, name), Text: "must be a .json or .ndjson file"})
		case ext != ".md":
			l.files = append(l.files, path.Join(dir, name))
		}
	}
	return nil
}

// last is the set of the last load, an empty one where there is none.
func (l *loader) last() *Set {
	if l.opt.Last == nil || l.opt.Last.kept == nil {
		return &Set{}
	}
	return l.opt.Last
}

// set sorts the tables and sums up what was read.
func (l *loader) set() *Set {
	s := &Set{
		Info: l.info.recs[0], Models: slices.Clone(l.models.recs), Hardware: slices.Clone(l.hardware.recs),
		Tools: slices.Clone(l.tools.recs), Quantizations: l.quantizations.recs,
	}
	slices.SortFunc(s.Models, func(a, b Model) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(s.Hardware, func(a, b Hardware) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(s.Tools, func(a, b Tool) int { return cmp.Compare(a.Slug, b.Slug) })
	stock := l.benchmarks.stock(&l.last().Benchmarks, l.opt.Workers)
	s.Benchmarks = stock.pack
	for i := range s.Models { // what is appended must not reach the list that is kept
		s.Models[i].Quantizations = slices.Clip(s.Models[i].Quantizations)
	}
	addComputed(s.Models, s.Quantizations)
	hash := sha256.New()
	for i, name := range l.files {
		fmt.Fprintf(hash, "%s %s\n", l.digests[i], name)
	}
	hash.Sum(s.Digest[:0])
	s.kept = l.keep(stock)
	return s
}

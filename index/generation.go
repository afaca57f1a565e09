package index

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"modeldex/dataset"
)

// Generation is all tables of one load, immutable after Publish.
type Generation struct {
	Number uint64 // from 1, in order of publishing; 0 before
	Info   dataset.Info
	Digest dataset.Digest
	Loaded time.Time

	Models, Hardware, Tools, Benchmarks *Table
}

// Renderers append the finished bytes of records to dst. The shape of a row is for whoever
// serves it to decide. benchmarks is how many benchmarks the generation holds for the record.
type Renderers struct {
	Model       func(dst []byte, m *dataset.Model, benchmarks int) ([]byte, error)
	ModelDetail func(dst []byte, m *dataset.Model, benchmarks int) ([]byte, error)
	Hardware    func(dst []byte, h *dataset.Hardware, benchmarks int) ([]byte, error)
	Tool        func(dst []byte, t *dataset.Tool, benchmarks int) ([]byte, error)
	// roofline is the share of the memory bandwidth the speed accounts for, nil where unknown.
	Benchmark func(dst []byte, b *dataset.Benchmark, roofline *float64) ([]byte, error)
}

// Build makes a generation of a set. The set is only read and not kept. An error is one of
// rendering.
func Build(set *dataset.Set, r Renderers) (*Generation, error) {
	gen := &Generation{Info: set.Info, Digest: set.Digest, Loaded: time.Now().UTC()}
	var err error
	if gen.Benchmarks, err = buildBenchmarks(set, r); err != nil {
		return nil, err
	}
	if gen.Models, err = buildModels(set.Models, gen.Benchmarks, r); err != nil {
		return nil, err
	}
	if gen.Hardware, err = buildHardware(set.Hardware, gen.Benchmarks, r); err != nil {
		return nil, err
	}
	if gen.Tools, err = buildTools(set.Tools, gen.Benchmarks, r); err != nil {
		return nil, err
	}
	gen.link()
	return gen, nil
}

// Bytes is the size of the finished records of all tables.
func (g *Generation) Bytes() int {
	return g.Models.Bytes() + g.Hardware.Bytes() + g.Tools.Bytes() + g.Benchmarks.Bytes()
}

// link has benchmarks searched by the names of what they refer to.
func (g *Generation) link() {
	g.Benchmarks.search = linked{g.Benchmarks, []link{{Model, g.Models}, {Hardware, g.Hardware}, {Tool, g.Tools}}}
}

// A spec says how a table is made of n records. Its functions are called from several
// goroutines.
type spec struct {
	n     int
	home  Sort
	slug  func(i int) string
	names func(i int) []string // nil where records have no names of their own
	row   func(dst []byte, i int) ([]byte, error)
	// detail is nil where the row is all there is.
	detail func(dst []byte, i int) ([]byte, error)
	sets   map[Field]func(i int, emit func(string))
	nums   map[Field]func(i int) float64 // NaN is unknown
	texts  map[Field]func(i int) string
}

// build makes a table: blobs, postings and columns side by side, for none needs another.
func (s *spec) build() (*Table, error) {
	t := &Table{n: s.n, home: s.home, pairs: newPairs()}
	var (
		work             sync.WaitGroup
		inRows, inDetail error
	)
	work.Go(func() { t.slugs = newSlugs(s.n, s.slug) })
	work.Go(func() { t.rows, inRows = buildRows(s.n, same(s.row)) })
	if s.detail != nil {
		work.Go(func() { t.details, inDetail = buildBlob(full(s.n), same(s.detail)) })
	}
	if s.names != nil {
		work.Go(func() {
			t.names, t.search = s.buildNames()
			t.spelled = slices.Sorted(maps.Keys(t.names))
		})
	}
	for f, values := range s.sets {
		work.Go(func() { t.postings[f] = newPosting(s.n, values) })
	}
	for f := range s.nums {
		work.Go(func() { t.columns[f] = s.numColumn(f) })
	}
	for f := range s.texts {
		work.Go(func() { t.columns[f] = s.textColumn(f) })
	}
	work.Wait()
	if err := cmp.Or(inRows, inDetail); err != nil {
		return nil, err
	}
	return t, nil
}

func (s *spec) numColumn(f Field) *column {
	nums := make([]float64, s.n)
	for i := range nums {
		nums[i] = s.nums[f](i)
	}
	return newColumn(nums, s.home == Sort{Field: f}, s.home == Sort{Field: f, Desc: true})
}

func (s *spec) textColumn(f Field) *column {
	texts := make([]string, s.n)
	for i := range texts {
		texts[i] = s.texts[f](i)
	}
	return newTextColumn(texts, s.home == Sort{Field: f})
}

func (s *spec) buildNames() (map[string]uint32, searcher) {
	byName, texts := make(map[string]uint32, 4*s.n), make([]string, s.n)
	for i := range s.n {
		names := s.names(i)
		for _, name := range names {
			byName[name] = uint32(i)
		}
		texts[i] = strings.Join(names, "\n")
	}
	return byName, scan{texts}
}

func opt(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func optInt(v *int64) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// DateNumber gives a date as yyyymmdd, with zeros for what it does not say, so that dates
// compare as numbers; NaN for none.
func DateNumber(d *dataset.Date) float64 {
	if d == nil {
		return math.NaN()
	}
	n, digits := 0, 0
	for _, c := range []byte(*d) {
		if '0' <= c && c <= '9' {
			n, digits = 10*n+int(c-'0'), digits+1
		}
	}
	for ; digits < 8; digits++ {
		n *= 10
	}
	return float64(n)
}

package index

import (
	"math"
	"runtime"
	"sync"

	"modeldex/dataset"
)

// The set filters and the columns of benchmarks.
var (
	runSets = []Field{Model, Hardware, Tool, Source, Family, Quantization, Backend}
	runNums = []Field{RunDate, GenerationTPS, PromptTPS, Roofline}
)

// runSpec says how the table of benchmarks is made. There are too many of them for a function
// a field, as other tables are made: a record is unpacked once for its numbers and values and
// once for its row.
type runSpec struct {
	runs     *dataset.Pack
	line     *dataset.Roofline
	families map[dataset.Slug]string // model slug -> family
	render   func(dst []byte, b *dataset.Benchmark, roofline *float64) ([]byte, error)
	ratios   []float64   // by ordinal; nil: to be worked out
	makers   []*rowMaker // by block of rows, which one worker fills
	mu       sync.Mutex
	idle     []*rowMaker
}

func newRunSpec(set *dataset.Set, r Renderers) *runSpec {
	s := &runSpec{
		runs: &set.Benchmarks, render: r.Benchmark, families: make(map[dataset.Slug]string, len(set.Models)),
		line: dataset.NewRoofline(set.Models, set.Hardware, set.Quantizations),
	}
	s.makers = make([]*rowMaker, (s.runs.Len()+blockRows-1)/blockRows)
	for i := range set.Models {
		s.families[set.Models[i].Slug] = string(set.Models[i].Family)
	}
	return s
}

// values calls emit for each value of a set filter that a record has.
func (s *runSpec) values(b *dataset.Benchmark, emit func(f Field, v string)) {
	emit(Model, string(b.Model))
	emit(Hardware, string(b.Hardware))
	emit(Tool, string(b.Tool))
	emit(Source, string(b.Source))
	emit(Family, s.families[b.Model])
	if b.Quantization != nil {
		emit(Quantization, *b.Quantization)
	}
	if b.Backend != nil {
		emit(Backend, *b.Backend)
	}
}

// num is the number of a column.
func (s *runSpec) num(b *dataset.Benchmark, f Field) float64 {
	switch f {
	case RunDate:
		return DateNumber(b.RunDate)
	case GenerationTPS:
		return opt(b.GenerationTPS)
	case PromptTPS:
		return opt(b.PromptTPS)
	default:
		if ratio, known := s.line.Ratio(b); known {
			return ratio
		}
		return math.NaN()
	}
}

// gathered is the numbers of all records and where each value occurs.
type gathered struct {
	nums  [fieldCount][]float64
	parts [][fieldCount]gathering // of stretches of the table, one after the other
}

// gather goes through all records once, on all cores.
func (s *runSpec) gather() *gathered {
	// A whole number of containers, so that joining the parts of a bitmap is to append.
	const container = 1 << 16
	n, cores := s.runs.Len(), runtime.GOMAXPROCS(0)
	step := (n/cores/container + 1) * container
	g := &gathered{parts: make([][fieldCount]gathering, (n+step-1)/step)}
	for _, f := range runNums {
		g.nums[f] = make([]float64, n)
	}
	var workers sync.WaitGroup
	for i := range g.parts {
		workers.Go(func() { s.gatherPart(g, &g.parts[i], i*step, min((i+1)*step, n)) })
	}
	workers.Wait()
	return g
}

func (s *runSpec) gatherPart(g *gathered, part *[fieldCount]gathering, from, to int) {
	read := s.runs.Reader()
	for i := from; i < to; i++ {
		b := read.At(i)
		for _, f := range runNums {
			g.nums[f][i] = s.num(b, f)
		}
		s.values(b, func(f Field, v string) { part[f].add(uint32(i), v) })
	}
}

func (g *gathered) posting(n int, f Field) *posting {
	parts := make([]*gathering, len(g.parts))
	for i := range parts {
		parts[i] = &g.parts[i][f]
	}
	return joined(n, parts...)
}

// A rowMaker is the memory in which a worker renders rows.
type rowMaker struct {
	*dataset.Reader
	ratio float64
}

// row appends the row of a record. The rows of a block are asked for by one worker, in order.
func (s *runSpec) row(dst []byte, i int) ([]byte, error) {
	m := s.makers[i/blockRows]
	if m == nil {
		m = s.maker()
		s.makers[i/blockRows] = m
	}
	dst, err := s.rowBy(m, dst, i)
	if (i+1)%blockRows == 0 {
		s.makers[i/blockRows] = nil
		s.giveBack(m)
	}
	return dst, err
}

func (s *runSpec) rowBy(m *rowMaker, dst []byte, i int) ([]byte, error) {
	b := m.At(i)
	if s.ratios != nil {
		m.ratio = s.ratios[i]
	} else {
		m.ratio = s.num(b, Roofline)
	}
	if math.IsNaN(m.ratio) {
		return s.render(dst, b, nil)
	}
	return s.render(dst, b, &m.ratio)
}

// maker is one that no other worker uses. A sync.Pool would hold the pack for as long as it
// holds a maker, two collections.
func (s *runSpec) maker() *rowMaker {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.idle); n > 0 {
		m := s.idle[n-1]
		s.idle = s.idle[:n-1]
		return m
	}
	return &rowMaker{Reader: s.runs.Reader()}
}

func (s *runSpec) giveBack(m *rowMaker) {
	s.mu.Lock()
	s.idle = append(s.idle, m)
	s.mu.Unlock()
}

var runHome = Sort{Field: RunDate, Desc: true}

func newRunColumn(f Field, nums []float64) *column { return newColumn(nums, false, f == runHome.Field) }

func buildBenchmarks(set *dataset.Set, r Renderers) (*Table, error) {
	s := newRunSpec(set, r)
	n, g := s.runs.Len(), s.gather()
	s.ratios = g.nums[Roofline]
	t := &Table{n: n, home: runHome, pairs: newPairs()}
	var (
		work   sync.WaitGroup
		inRows error
	)
	work.Go(func() {
		t.rows, inRows = buildRows(n, s.row)
	})
	work.Go(func() { t.slugs = newSlugs(n, s.id) })
	for _, f := range runSets {
		work.Go(func() { t.postings[f] = g.posting(n, f) })
	}
	for _, f := range runNums {
		work.Go(func() { t.columns[f] = newRunColumn(f, g.nums[f]) })
	}
	work.Wait()
	if inRows != nil {
		return nil, inRows
	}
	return t, nil
}

func (s *runSpec) id(i int) string { return string(s.runs.ID(i)) }

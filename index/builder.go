package index

import (
	"cmp"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"modeldex/dataset"
)

// A builder makes a table of n records of type R from the declarations of their fields. Its
// functions are called from several goroutines.
type builder[R any] struct {
	n      int
	home   Sort
	fields []FieldOf[R]
	// reader returns a function that returns record i, which is valid until the next call. Each
	// goroutine has its own.
	reader func() func(i int) *R
	slug   func(i int) string
	names  func(i int) []string // nil: records have no names of their own
	row    func() appender
	detail func() appender // nil: the row is all there is
}

// named is a builder of records in slug order.
func named[R any](recs []R, fields []FieldOf[R], slug func(*R) string) *builder[R] {
	return &builder[R]{
		n: len(recs), home: Sort{Field: Slug}, fields: fields,
		reader: func() func(int) *R { return func(i int) *R { return &recs[i] } },
		slug:   func(i int) string { return slug(&recs[i]) },
	}
}

// build makes the table.
func (b *builder[R]) build() (*Table, error) { return b.assemble(b.gather()) }

// assemble makes rows, postings and columns in parallel, because none needs another.
func (b *builder[R]) assemble(g *gathered) (*Table, error) {
	t := newTable(b.n, b.home)
	var (
		workers          sync.WaitGroup
		inRows, inDetail error
	)
	workers.Go(func() { t.slugs = newSlugs(b.n, b.slug) })
	workers.Go(func() { t.rows, inRows = buildRows(b.n, b.row) })
	if b.detail != nil {
		workers.Go(func() { t.details, inDetail = buildDetails(b.n, b.detail) })
	}
	if b.names != nil {
		workers.Go(func() {
			t.names, t.search = b.buildNames()
			t.spelled = slices.Sorted(maps.Keys(t.names))
		})
	}
	b.buildFields(t, g, &workers)
	workers.Wait()
	if err := cmp.Or(inRows, inDetail); err != nil {
		return nil, err
	}
	return t, nil
}

// buildFields makes the postings and columns of all fields that were gathered.
func (b *builder[R]) buildFields(t *Table, g *gathered, workers *sync.WaitGroup) {
	for i := range b.fields {
		f := &b.fields[i]
		t.nulls[f.Name], t.kinds[f.Name] = f.Uses&Nulls != 0, f.kind()
		if f.hasPosting() {
			p := new(posting)
			t.postings[f.Name] = p
			workers.Go(func() { *p = *g.posting(b.n, i) })
		}
		if c := new(column); g.nums[i] != nil {
			t.columns[f.Name] = c
			workers.Go(func() { *c = *b.column(f, g.nums[i]) })
		} else if g.texts[i] != nil {
			t.columns[f.Name] = c
			workers.Go(func() { *c = *newTextColumn(g.texts[i], b.home == Sort{Field: f.Name}) })
		}
	}
}

// column makes the column of a numeric field.
func (b *builder[R]) column(f *FieldOf[R], nums []float64) *column {
	if !f.hasOrder() {
		return &column{nums: nums}
	}
	return newColumn(nums, b.home == Sort{Field: f.Name}, b.home == Sort{Field: f.Name, Desc: true})
}

// gathered is the numbers and texts of all records, by field, and the ordinals of each value.
type gathered struct {
	nums  [][]float64   // nil for fields without numbers
	texts [][]string    // nil for fields that are not sorted by as texts
	parts [][]gathering // of consecutive parts of the table, by field
}

// gather reads all records once, on all cores.
func (b *builder[R]) gather() *gathered {
	// A whole number of bitmap containers, so that joining the parts of a bitmap is appending.
	const container = 1 << 16
	step := (b.n/runtime.GOMAXPROCS(0)/container + 1) * container
	g := &gathered{
		nums: make([][]float64, len(b.fields)), texts: make([][]string, len(b.fields)),
		parts: make([][]gathering, (b.n+step-1)/step),
	}
	for i := range b.fields {
		switch f := &b.fields[i]; f.kind() {
		case Number, Date:
			g.nums[i] = make([]float64, b.n)
		case Text:
			if f.Uses&Sorts != 0 {
				g.texts[i] = make([]string, b.n)
			}
		}
	}
	var workers sync.WaitGroup
	for i := range g.parts {
		g.parts[i] = make([]gathering, len(b.fields))
		workers.Go(func() { b.gatherPart(g, g.parts[i], i*step, min((i+1)*step, b.n)) })
	}
	workers.Wait()
	return g
}

func (b *builder[R]) gatherPart(g *gathered, part []gathering, from, to int) {
	read := b.reader()
	for i := from; i < to; i++ {
		rec := read(i)
		for n := range b.fields {
			f := &b.fields[n]
			if g.nums[n] != nil {
				g.nums[n][i] = f.number(rec)
				continue
			}
			if g.texts[n] != nil {
				g.texts[n][i] = f.Text(rec)
			}
			if f.hasPosting() {
				f.values(rec, func(v string) { part[n].add(uint32(i), v) })
			}
		}
	}
}

// values calls emit for each known value of a field that a posting finds.
func (f *FieldOf[R]) values(rec *R, emit func(v string)) {
	switch {
	case f.Text != nil:
		if v := f.Text(rec); v != "" {
			emit(v)
		}
	case f.Texts != nil:
		for _, v := range f.Texts(rec) {
			emit(v)
		}
	case f.Flag != nil:
		if v := f.Flag(rec); v != nil {
			emit(strconv.FormatBool(*v))
		}
	case f.Count != nil:
		if v := f.Count(rec); v != nil {
			emit(strconv.FormatInt(*v, 10)) // does not allocate below 100
		}
	}
}

func (g *gathered) posting(n, field int) *posting {
	parts := make([]*gathering, len(g.parts))
	for i := range parts {
		parts[i] = &g.parts[i][field]
	}
	return joined(n, parts...)
}

func (b *builder[R]) buildNames() (map[string]uint32, searcher) {
	byName, texts := make(map[string]uint32, 4*b.n), make([]string, b.n)
	for i := range b.n {
		names := b.names(i)
		for _, name := range names {
			byName[name] = uint32(i)
		}
		texts[i] = strings.Join(names, "\n")
	}
	return byName, nameSearch{texts}
}

// number is the value of an optional number, NaN if unknown.
func number(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

func wholeNumber(v *int64) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// text is the value of an optional text, empty if unknown.
func text[T ~string](v *T) string {
	if v == nil {
		return ""
	}
	return string(*v)
}

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

func list(v *[]string) []string {
	if v == nil {
		return nil
	}
	return *v
}

var yes, no = true, false

func isTrue(v bool) *bool {
	if v {
		return &yes
	}
	return &no
}

// DateNumber is a date as yyyymmdd, with zeros for what it does not say, so that dates compare as
// numbers; NaN for none.
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

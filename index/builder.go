package index

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"modeldex/dataset"
	"modeldex/dataset/cores"
)

// A builder makes a table of n records of type R from the declarations of their fields. Its
// functions are called from several goroutines.
type builder[R any] struct {
	ctx    context.Context // of this one build: once it has ended, what is made is not whole
	n      int
	home   Sort
	fields []FieldOf[R]
	// reader returns a function that returns the records from..to, at most gatherBlock of them, which are
	// valid until the next call. Each goroutine has its own.
	reader func() func(from, to int) []R
	coded  []Field             // whose codes will be needed, see codes
	known  map[Field][]float64 // numbers that need not be gathered, by ordinal
	slug   func(i int) string
	names  func(i int) []string // nil: records have no names of their own
	row    func() appender
	detail func() appender // nil: the row is all there is
}

// named is a builder of records in slug order.
func named[R any](recs []R, fields []FieldOf[R], slug func(*R) string) *builder[R] {
	return &builder[R]{
		ctx: context.Background(), n: len(recs), home: Sort{Field: Slug}, fields: fields,
		reader: func() func(from, to int) []R { return func(from, to int) []R { return recs[from:to] } },
		slug:   func(i int) string { return slug(&recs[i]) },
	}
}

// build makes the table: its rows, postings and columns in parallel, because none needs another.
func (b *builder[R]) build() (*Table, error) {
	g, t := b.gather(), newTable(b.n, b.home)
	var (
		workers          cores.Group
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
	if err := cmp.Or(inRows, inDetail, b.ctx.Err()); err != nil {
		return nil, err
	}
	t.small = newSmallSets(t)
	return t, nil
}

// buildFields makes the postings and columns of all fields that were gathered.
func (b *builder[R]) buildFields(t *Table, g *gathered, workers *cores.Group) {
	var tasks []func(m *fieldMemory)
	for i := range b.fields {
		f := &b.fields[i]
		t.nulls[f.Name], t.kinds[f.Name] = f.Uses&Nulls != 0, f.kind()
		if f.hasPosting() {
			p := new(posting)
			t.postings[f.Name] = p
			tasks = append(tasks, func(m *fieldMemory) { *p = *g.gathering[i].posting(b.n, f.Count != nil, m) })
		}
		if c := new(column); g.nums[i] != nil {
			t.columns[f.Name] = c
			tasks = append(tasks, func(m *fieldMemory) { *c = *b.column(f, g.nums[i], &m.sorting) })
		} else if g.texts[i] != nil {
			t.columns[f.Name] = c
			tasks = append(tasks, func(m *fieldMemory) {
				*c = *newTextColumn(g.texts[i], b.home == Sort{Field: f.Name}, &m.sorting)
			})
		}
	}
	var next atomic.Int64
	for range cores.Size() {
		workers.Go(func() {
			var memory fieldMemory
			for i := next.Add(1) - 1; i < int64(len(tasks)) && b.ctx.Err() == nil; i = next.Add(1) - 1 {
				tasks[i](&memory)
			}
		})
	}
}

// fieldMemory is what making a posting or column needs beside it. A worker reuses it: at a million records it is 20 MB,
// and benchmarks have thirty fields.
type fieldMemory struct {
	sorting
	ords []uint32
	bits bitset
}

// column makes the column of a numeric field.
func (b *builder[R]) column(f *FieldOf[R], nums []float64, memory *sorting) *column {
	if !f.hasOrder() {
		return &column{nums: nums}
	}
	return newColumn(nums, b.home == Sort{Field: f.Name}, b.home == Sort{Field: f.Name, Desc: true}, memory)
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
			emit(countText(*v))
		}
	}
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
	return byName, newNameSearch(texts)
}

// countText is the value of a whole number in a posting.
func countText(v int64) string { return strconv.FormatInt(v, 10) }

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

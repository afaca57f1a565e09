package index

import (
	"bytes"
	"context"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Table is one kind of record, frozen. Its methods are safe for concurrent use.
type Table struct {
	n        int
	home     Sort                    // the column and direction of default order
	slugs    []string                // by ordinal
	bySlug   map[string]uint32       // ordinals
	byName   map[string]uint32       // ordinals by slug, name or alias, lower case
	names    []string                // of byName, sorted
	rows     [][]byte                // by ordinal, each with a comma at its end
	detail   func(ord uint32) []byte // renders the longer form; nil: the row is all there is
	postings map[Field]*posting
	columns  map[Field]*column
	kinds    map[Field]FieldKind
	search   *search
	variants map[Field]variants // of the records that a field refers to
	related  map[Field]related  // filters whose values stand for several of another field

	// Of benchmarks only:
	listed, unlisted   bits      // the records that match without a filter by Scenario or ID, and the others; nil: all match
	nonDefaultSettings []setting // settings that a single stream does not have
	statistics         *statistics
}

// A source is what a table of records of type R is made from. Its functions are called from several goroutines.
type source[R any] struct {
	recs   []R // in default order
	home   Sort
	fields []fieldOf[R]
	slug   func(*R) string
	names  func(*R) []string                        // lower case; nil: records have no names of their own
	row    func(dst []byte, rec *R) ([]byte, error) // appends the finished bytes
	detail func(dst []byte, rec *R) ([]byte, error) // appends those of the longer form; nil: the row is all there is
}

// newTable makes the postings, columns and names of a table. It has no rows yet.
func newTable[R any](s *source[R]) *Table {
	t := &Table{
		n: len(s.recs), home: s.home, slugs: make([]string, len(s.recs)), bySlug: make(map[string]uint32, len(s.recs)),
		postings: map[Field]*posting{}, columns: map[Field]*column{}, kinds: map[Field]FieldKind{},
	}
	var work sync.WaitGroup
	for i := range s.fields {
		f := &s.fields[i]
		t.kinds[f.Name] = f.kind()
		if f.hasPosting() {
			p := new(posting)
			t.postings[f.Name] = p
			work.Go(func() { *p = *newPosting(f, s.recs) })
		}
		if slices.Contains([]FieldKind{Number, Date, Count}, f.kind()) || f.Uses&Sorts != 0 {
			c := new(column)
			t.columns[f.Name] = c
			work.Go(func() { *c = *columnOf(f, s.recs) })
		}
	}
	for i := range s.recs {
		t.slugs[i] = s.slug(&s.recs[i])
		t.bySlug[t.slugs[i]] = uint32(i)
	}
	if s.names != nil {
		t.byName = make(map[string]uint32, 4*t.n)
		texts := make([]string, t.n)
		for i := range s.recs {
			names := s.names(&s.recs[i])
			for _, name := range names {
				t.byName[name] = uint32(i)
			}
			texts[i] = strings.Join(names, "\n")
		}
		t.names, t.search = slices.Sorted(maps.Keys(t.byName)), newSearch(t, texts)
	}
	work.Wait()
	return t
}

func columnOf[R any](f *fieldOf[R], recs []R) *column {
	nums := make([]float64, len(recs))
	if f.kind() != Text {
		for i := range recs {
			nums[i] = f.number(&recs[i])
		}
		return newColumn(nums)
	}
	texts := make([]string, len(recs))
	for i := range recs {
		texts[i] = f.Text(&recs[i])
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(texts)))
	for i, t := range texts {
		rank, _ := slices.BinarySearch(distinct, t)
		nums[i] = float64(rank)
	}
	c := newColumn(nums)
	c.texts = texts
	return c
}

func (s *source[R]) render(ctx context.Context, t *Table) (err error) {
	if s.detail != nil {
		t.detail = func(ord uint32) []byte {
			b, err := s.detail(nil, &s.recs[ord])
			if err != nil {
				panic(err) // a record that has a row is of values that JSON has
			}
			return b
		}
	}
	t.rows, err = renderAll(ctx, s.recs, s.row)
	return err
}

// renderBlock is how many records are rendered into one piece of memory: small pieces between garbage cannot be freed.
const renderBlock = 512

// renderAll renders all records, each with a comma at its end.
func renderAll[R any](ctx context.Context, recs []R, add func(dst []byte, rec *R) ([]byte, error)) ([][]byte, error) {
	out := make([][]byte, len(recs))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for from := 0; from < len(recs); from += renderBlock {
		work.Go(func() (err error) {
			block := recs[from:min(from+renderBlock, len(recs))]
			ends, buf := make([]int, len(block)), []byte(nil)
			for i := range block {
				if err := ctx.Err(); err != nil {
					return err
				}
				if buf, err = add(buf, &block[i]); err != nil {
					return err
				}
				buf = append(buf, ',')
				ends[i] = len(buf)
			}
			data, start := bytes.Clone(buf), 0
			for i, end := range ends {
				out[from+i], start = data[start:end:end], end
			}
			return nil
		})
	}
	return out, work.Wait()
}

// Len is the number of records.
func (t *Table) Len() int { return t.n }

// Row returns the finished bytes of a record. They are shared and must not be changed.
func (t *Table) Row(ord uint32) []byte { return withoutComma(t.rows[ord]) }

// AppendRows appends pieces whose concatenation is the rows of ords with commas between them.
// The bytes are shared and must not be changed.
func (t *Table) AppendRows(dst [][]byte, ords []uint32) [][]byte {
	dst = slices.Grow(dst, len(ords))
	for i, ord := range ords {
		row := t.rows[ord]
		if i == len(ords)-1 {
			row = withoutComma(row)
		}
		dst = append(dst, row)
	}
	return dst
}

// Detail renders the longer form of a record, for its own URL; it is the row if the table has no longer form. The bytes
// may be shared and must not be changed. All longer forms together would take more memory than the rest of the models.
func (t *Table) Detail(ord uint32) []byte {
	if t.detail == nil {
		return t.Row(ord)
	}
	return t.detail(ord)
}

func withoutComma(row []byte) []byte { return row[: len(row)-1 : len(row)-1] }

// Slug returns the slug of an ordinal.
func (t *Table) Slug(ord uint32) string { return t.slugs[ord] }

// Find returns the ordinal of a slug.
func (t *Table) Find(slug string) (ord uint32, ok bool) {
	ord, ok = t.bySlug[slug]
	return ord, ok
}

// Resolve returns the slug of the record with a slug, name or alias. Letter case does not matter.
func (t *Table) Resolve(name string) (slug string, ok bool) {
	if _, ok := t.bySlug[name]; ok {
		return name, true
	}
	ord, ok := t.byName[strings.ToLower(name)]
	if !ok {
		return "", false
	}
	return t.Slug(ord), true
}

// Names lists every slug, name and alias, lower case, sorted, for suggestions on error paths. The slice is shared.
func (t *Table) Names() []string { return t.names }

// Values lists the values of a set filter that records have, sorted. The slice is shared.
func (t *Table) Values(f Field) []string { return t.postings[f].values }

// Count is how many records have a value of a set filter.
func (t *Table) Count(f Field, value string) int {
	p := t.postings[f]
	if i := p.code(value); i >= 0 {
		return int(p.sets[i].GetCardinality())
	}
	return 0
}

// Number is the value of a field of numbers; NaN where it is unknown, or the table has no such field.
func (t *Table) Number(f Field, ord uint32) float64 {
	if c := t.columns[f]; c != nil {
		return c.nums[ord]
	}
	return math.NaN()
}

// Text is the value of a field that statistics group or compare by, empty if it is unknown. It
// is read without the row, which takes microseconds to decode.
func (t *Table) Text(f Field, ord uint32) string {
	p := t.postings[f]
	return p.value(p.codes[ord])
}

// Bytes is the size of all rows, each with a comma.
func (t *Table) Bytes() (n int) {
	for _, row := range t.rows {
		n += len(row)
	}
	return n
}

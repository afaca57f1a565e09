package index

import (
	"math"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// Table is one kind of record, frozen. Its methods are safe for concurrent use.
type Table struct {
	n          int
	slugs      slugs
	rows       rows
	details    details
	home       Sort // the column and direction of default order
	postings   map[Field]*posting
	columns    map[Field]*column
	names      map[string]uint32 // slug, name or alias, lower case -> ordinal
	spelled    []string          // the names, sorted
	search     searcher
	variants   map[Field]variants // of the records that a field refers to
	related    map[Field]related  // filters whose values stand for several of another field
	reproduced []int32            // of benchmarks, by ordinal: see dataset.Reproduced
	nulls      map[Field]bool     // the fields with the use Nulls
	kinds      map[Field]FieldKind
	listed     *roaring.Bitmap // the records that match without a filter by Scenario or ID; nil: all
	unlisted   *roaring.Bitmap // the others; nil: none
	dimensions *dimensions     // nil: the table has no statistics
	small      *smallSets      // nil: the table is not small
	// Settings that a single stream does not have; nil in other tables than that of benchmarks.
	otherSettings []setting
}

func newTable(n int, home Sort) *Table {
	return &Table{n: n, home: home, postings: map[Field]*posting{}, columns: map[Field]*column{}, nulls: map[Field]bool{}, kinds: map[Field]FieldKind{}}
}

// A searcher finds the records that all of some words, one at least, occur in. The bitmap may be shared.
type searcher interface {
	match(words []string) *roaring.Bitmap
	has(word string) bool // whether it occurs in any record
	vocabulary() []string // the words of the names it looks at
}

// Len is the number of records.
func (t *Table) Len() int { return t.n }

// Row returns the finished bytes of a record. They are shared and must not be changed.
func (t *Table) Row(ord uint32) []byte { return t.rows.at(ord) }

// AppendRows appends pieces whose concatenation is the rows of ords with commas between them.
// Consecutive rows are one piece. The bytes are shared and must not be changed.
func (t *Table) AppendRows(dst [][]byte, ords []uint32) [][]byte {
	return t.rows.appendPieces(dst, ords)
}

// Detail returns the longer form of a record, for its own URL; the row if the table has no longer
// form. The bytes must not be changed: those of a row are shared.
func (t *Table) Detail(ord uint32) []byte {
	if t.details.blocks == nil {
		return t.rows.at(ord)
	}
	return t.details.at(ord)
}

// Slug returns the slug of an ordinal.
func (t *Table) Slug(ord uint32) string { return string(t.slugs.text.at(ord)) }

// Find returns the ordinal of a slug.
func (t *Table) Find(slug string) (uint32, bool) { return t.slugs.find(slug) }

// Resolve returns the slug of the record with a slug, name or alias. Letter case is ignored.
func (t *Table) Resolve(name string) (slug string, ok bool) {
	if _, ok := t.slugs.find(name); ok {
		return name, true
	}
	ord, ok := t.names[strings.ToLower(name)]
	if !ok {
		return "", false
	}
	return t.Slug(ord), true
}

// Names lists every slug, name and alias, lower case, sorted, for suggestions on error paths. The
// slice is shared.
func (t *Table) Names() []string { return t.spelled }

// Values lists the values of a set filter that records have, sorted. The slice is shared.
func (t *Table) Values(f Field) []string { return t.postings[f].values }

// Count is how many records have a value of a set filter.
func (t *Table) Count(f Field, value string) int {
	if b := t.postings[f].byValue[value]; b != nil {
		return int(b.GetCardinality())
	}
	return 0
}

// Number is the value of a field of numbers; NaN where it is unknown, or the table has no order by
// the field.
func (t *Table) Number(f Field, ord uint32) float64 {
	if c := t.columns[f]; c != nil {
		return c.nums[ord]
	}
	return math.NaN()
}

// Bytes is the size of all rows and details, in bytes as they are asked for.
func (t *Table) Bytes() int { return t.rows.size() + t.details.bytes }

package index

import (
	"math"
	"strconv"
)

// Query asks a table for one page. Limit must be set: zero asks for the total only. Values are
// spelled as the table has them (slugs, not aliases).
type Query struct {
	// Sets must all match; a record matches one if it has any of its values.
	Sets []Set
	// Ranges must all match. A record whose value is unknown matches none.
	Ranges []Range
	// Words must all occur in the record's slug, name or aliases (for benchmarks: in those of
	// its model, hardware or tool). Lower case.
	Words []string
	// Sort is the order; the zero value is the table's default order.
	Sort Sort
	// Computed is what the order is by where the table has no column of Sort.Field: a number for each record, by
	// ordinal, NaN where it is unknown. It follows from what the caller was asked, and is not in the canonical form.
	Computed []float64
	// After is the place after which the page begins; nil is the start.
	After *Position
	// Limit is the maximum number of records on the page.
	Limit int
}

// Set is one set filter. A value of a field with variants (Model, Hardware) also matches the variants of that record,
// unless OnlySelf is set. In a field with the use Prefix, a value that ends with * matches all values with that prefix.
type Set struct {
	Field    Field
	Values   []string
	OnlySelf bool
}

// Range is one range filter, both ends inclusive; infinities leave an end open.
type Range struct {
	Field    Field
	Min, Max float64
}

// Sort is an order by one column, ties in default order, unknown values last.
type Sort struct {
	Field Field
	Desc  bool
}

// Position is a place in an order: the value of the sort column and the slug of the last
// record before it. It outlives the generation it was made in, and the record.
type Position struct {
	Known bool    // the sort value is known
	Num   float64 // of a column of numbers
	Text  string  // of a column of texts
	Slug  string
	// Home is the record's run date as yyyymmdd, 0 where unknown, in a table whose default
	// order is by it; it places a slug that has gone.
	Home float64
}

// String is the canonical form: equal strings mean equal queries, and different strings different
// ones except for the order of sets, values and words, which the caller sorts.
func (q Query) String() string { return string(q.Append(nil)) }

// Append appends the canonical form.
func (q Query) Append(dst []byte) []byte {
	for _, s := range q.Sets {
		dst = append(append(dst, s.Field...), '=')
		if s.OnlySelf {
			dst = append(dst, "only:"...)
		}
		dst = append(appendTexts(dst, s.Values), '&')
	}
	for _, r := range q.Ranges {
		dst = append(append(dst, r.Field...), '=')
		dst = append(appendNumber(dst, r.Min), ".."...)
		dst = append(appendNumber(dst, r.Max), '&')
	}
	if len(q.Words) > 0 {
		dst = append(appendTexts(append(dst, "q="...), q.Words), '&')
	}
	if q.Sort.Desc {
		dst = append(dst, '-')
	}
	dst = append(append(dst, q.Sort.Field...), '&')
	dst = strconv.AppendInt(dst, int64(q.Limit), 10)
	if q.After != nil {
		dst = q.After.append(append(dst, "&after="...))
	}
	return dst
}

func (p *Position) append(dst []byte) []byte {
	dst = append(strconv.AppendBool(dst, p.Known), ',')
	dst = append(appendNumber(dst, p.Num), ',')
	dst = append(appendNumber(dst, p.Home), ',')
	return appendTexts(dst, []string{p.Text, p.Slug})
}

// appendTexts joins texts with commas. Commas in a text are escaped, so that one text is not read as two.
func appendTexts(dst []byte, texts []string) []byte {
	for i, t := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		for _, c := range []byte(t) {
			if c == ',' || c == '&' || c == '\\' {
				dst = append(dst, '\\')
			}
			dst = append(dst, c)
		}
	}
	return dst
}

func appendNumber(dst []byte, v float64) []byte {
	if math.IsInf(v, 0) {
		return dst
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

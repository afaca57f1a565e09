package dataset

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset/record"
)

// The rules of this file are parts of those of several kinds of records.

func (c *checker) pair(p place, a string, hasA bool, b string, hasB bool) {
	if hasA && !hasB {
		c.at(p, b, "must be set if "+a+" is set", a)
	}
	if hasB && !hasA {
		c.at(p, b, "must be null if "+a+" is null", a)
	}
}

func (c *checker) allNull(p place, rec any, prefix, fields, text, by string) {
	v := reflect.ValueOf(rec).Elem()
	s := record.SchemaOf(v.Type())
	for name := range strings.FieldsSeq(fields) {
		if !v.FieldByIndex(s.Field(name).Index).IsNil() {
			c.at(p, prefix+name, text, by)
		}
	}
}

func (c *checker) date(p place, field string, d *Date) {
	if d == nil || string(*d) < c.today && string(*d) >= minYear {
		return
	}
	if text := DateProblem(*d, c.now); text != "" {
		c.at(p, field, text)
	}
}

// DateProblem says what is wrong with a date that exists in the calendar; empty if nothing is, and for a text that is not a date.
func DateProblem(d Date, now time.Time) string {
	switch t, ok := d.Time(); {
	case !ok:
	case string(d) < minYear:
		return fmt.Sprintf("must not be before %s, got %q", minYear, d)
	case t.After(now.Add(24 * time.Hour)): // a day of slack: a date in UTC may be ahead of the clock of its author
		// The day tells a wrong clock from a wrong date: with a clock that is behind, every newer date has this finding.
		return fmt.Sprintf("must not be in the future, got %q; the clock says %s", d, now.UTC().Format(time.DateOnly))
	}
	return ""
}

func (c *checker) spread(p place, field string, pair *[]float64) {
	if pair != nil && len(*pair) == 2 && (*pair)[0] > (*pair)[1] {
		c.at(p, field, fmt.Sprintf("must have the lower number first, got %s and %s", plainNumber((*pair)[0]), plainNumber((*pair)[1])))
	}
}

// plainNumber writes a number as files do, without an exponent unless it would be hundreds of digits.
func plainNumber(v float64) string {
	if v >= 1e15 || v < 1e-6 {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func roughNumber(v float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // of what was just written
	return plainNumber(rounded)
}

func (c *checker) inOrder(p place, low string, a *float64, high string, b *float64) {
	if a != nil && b != nil && *a > *b {
		c.at(p, low, fmt.Sprintf("must be at most %s (%s), got %s", high, plainNumber(*b), plainNumber(*a)), high)
	}
}

// longBefore reports whether a date is before another by more than a time, as far as both say.
func longBefore(a, b *Date, slack time.Duration) bool {
	if a == nil || b == nil || !before(*a, *b) {
		return false
	}
	first, ok := a.Time()
	second, known := b.Time()
	for n := len(*a); n < len("2006-01-02"); n += 3 { // the last day it may be
		first = first.AddDate(0, 1, 0)
		if n == len("2006") {
			first = first.AddDate(0, 10, 0)
		}
	}
	return ok && known && second.Sub(first) > slack
}

// before compares two dates as far as both say: a year is not before a day in it.
func before(a, b Date) bool {
	n := min(len(a), len(b))
	return a[:n] < b[:n]
}

func textOf[S ~string](s *S) string { return string(valueOf(s)) }

func checkTwice[T ~string](c *checker, p place, field string, list []T) {
	for i, v := range list {
		if v != "" && slices.Contains(list[:i], v) {
			c.at(p, field+"."+strconv.Itoa(i), fmt.Sprintf("%q is listed twice", string(v)))
		}
	}
}

// sameLetters makes one letter of two that look alike, and nothing of what joins the parts of a name.
var sameLetters = strings.NewReplacer("O", "0", "_", "", "-", "")

// typeLetters is what the spellings of one storage type have in common: Q8_0, q8_0, Q8_O and Q80.
func typeLetters(name string) string { return sameLetters.Replace(strings.ToUpper(name)) }

func (c *checker) spelledType(p place, field, name string) {
	if known, ok := c.typeNames[typeLetters(name)]; ok && known != name {
		c.warning(p, field, fmt.Sprintf("must be spelled as in quantizations.json, got %q; did you mean %q?", name, known))
	}
}

// Bounds of values that depend on other fields; tags have those of single fields. They leave room for new products and
// find values in the wrong unit or field.
const (
	minBandwidth  = 1      // GB/s; the least published is 17
	minHBM        = 50     // GB/s of memory with wide buses; the least published is 410
	minOfRated    = 0.5    // of channels x 8 bytes x rated speed
	maxBandwidth  = 30_000 // GB/s of memory beside the chip; HBM4 parts reach 22,000
	maxOnChip     = 1e8    // GB/s of memory on the chip; a wafer-scale engine has 21,000,000
	channelSlack  = 1.02   // of channels x 8 bytes x rated speed, for rounding
	maxPriceUSD   = 1e7    // of one part
	maxAmount     = 1e11   // of a price in any currency
	maxDevices    = 1e5    // of one measurement; the most published are 288
	maxSpeedTPS   = 1e6    // of one device, prompt or generation; the most published is some 60,000
	minWeightBits = 0.8    // of a file; the smallest published have 1.6
	maxWeightBits = 40     // of a file; 32-bit floats with some parts twice reach 35
	minYear       = "1990" // nothing here is older
)

func (c *checker) bounded(p place, rec any) { c.boundedIn(p, "", reflect.ValueOf(rec).Elem()) }

func (c *checker) boundedIn(p place, at string, v reflect.Value) {
	s := record.SchemaOf(v.Type())
	for i := range s.Fields {
		f := &s.Fields[i]
		fv, name := reflect.Indirect(v.FieldByIndex(f.Index)), record.Join(at, f.Name)
		switch {
		case !fv.IsValid():
		case f.Object != nil:
			c.boundedIn(p, name, fv)
		case f.Least == 0 && f.Most == 0:
		case f.Kind == reflect.Slice:
			for i := range fv.Len() {
				c.bound(p, record.Join(name, strconv.Itoa(i)), fv.Index(i), f)
			}
		default:
			c.bound(p, name, fv, f)
		}
	}
}

func (c *checker) bound(p place, name string, v reflect.Value, f *record.Field) {
	n, text := 0.0, func() string { return strconv.FormatInt(v.Int(), 10) }
	if v.CanInt() {
		n = float64(v.Int())
	} else {
		n, text = v.Float(), func() string { return plainNumber(v.Float()) }
	}
	switch {
	case f.Least != 0 && n < f.Least:
		c.at(p, name, fmt.Sprintf("must be at least %s%s, got %s", plainNumber(f.Least), f.Unit, text()))
	case f.Most != 0 && n > f.Most:
		c.at(p, name, fmt.Sprintf("must be at most %s%s, got %s", plainNumber(f.Most), f.Unit, text()))
	}
}

func (c *checker) atMost(p place, field string, v *float64, bound float64, why string) {
	if v != nil && *v > bound {
		c.at(p, field, fmt.Sprintf("must be at most %s%s, got %s", plainNumber(bound), why, plainNumber(*v)))
	}
}

func checkSources[T any](c *checker, p place, rec *T, sources []SourceRef) {
	s, named := record.SchemaOf(reflect.TypeFor[T]()), map[string]bool{}
	for i := range sources {
		for j, name := range sources[i].Fields {
			if named[name] = true; !s.Has(name) {
				c.at(p, fmt.Sprintf("sources.%d.fields.%d", i, j), fmt.Sprintf("%q is not a field", name))
			}
		}
	}
	unsourced(s, reflect.ValueOf(rec).Elem(), "", false, named, func(name string) {
		c.at(p, name, "needs a source: add the field to an entry in sources", "sources")
	})
}

// unsourced visits known facts without a source. Inside an object that needs sources every field does.
func unsourced(s *record.Schema, v reflect.Value, at string, all bool, named map[string]bool, visit func(name string)) {
	for i := range s.Fields {
		f := &s.Fields[i]
		name := record.Join(at, f.Name)
		fv := v.FieldByIndex(f.Index)
		switch {
		case !f.Sourced && !all, named[name], fv.IsZero(), f.Kind == reflect.Slice && !f.Nullable && fv.Len() == 0:
		case f.Object != nil:
			unsourced(f.Object, reflect.Indirect(fv), name, true, named, visit)
		default:
			visit(name)
		}
	}
}

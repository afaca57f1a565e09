package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The rules of this file are parts of those of several kinds of records.

// pair holds two fields that are null together or not at all.
func (c *checker) pair(p place, a string, hasA bool, b string, hasB bool) {
	if hasA && !hasB {
		c.at(p, b, "must not be null where "+a+" is known", a)
	}
	if hasB && !hasA {
		c.at(p, b, "must be null where "+a+" is null", a)
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

// roughNumber is plainNumber of three digits.
func roughNumber(v float64) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64) // of what was just written
	return plainNumber(rounded)
}

func (c *checker) inOrder(p place, low string, a *float64, high string, b *float64) {
	if a != nil && b != nil && *a > *b {
		c.at(p, low, fmt.Sprintf("must be at most %s, got %s of %s", high, plainNumber(*a), plainNumber(*b)), high)
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

func textOf[S ~string](s *S) string {
	if s == nil {
		return ""
	}
	return string(*s)
}

func checkTwice[T ~string](c *checker, p place, field string, list []T) {
	for i, v := range list {
		if v != "" && slices.Contains(list[:i], v) {
			c.at(p, field+"."+strconv.Itoa(i), fmt.Sprintf("%q is in the list twice", string(v)))
		}
	}
}

// sameLetters makes one letter of two that look alike, and nothing of what joins the parts of a name.
var sameLetters = strings.NewReplacer("O", "0", "_", "", "-", "")

// typeLetters is what the spellings of one storage type have in common: Q8_0, q8_0, Q8_O and Q80.
func typeLetters(name string) string { return sameLetters.Replace(strings.ToUpper(name)) }

func (c *checker) spelledType(p place, field, name string) {
	if known, ok := c.typeNames[typeLetters(name)]; ok && known != name {
		c.warning(p, field, fmt.Sprintf("is a type of quantizations.json in another spelling, got %q; did you mean %q", name, known))
	}
}

package dataset

import (
	"fmt"
	"strconv"
	"time"
)

// pair holds two fields that are null together or not at all.
func (l *loader) pair(p place, a string, hasA bool, b string, hasB bool) {
	if hasA && !hasB {
		l.at(p, b, "must not be null where "+a+" is known", a)
	}
	if hasB && !hasA {
		l.at(p, b, "must be null where "+a+" is null", a)
	}
}

func (l *loader) date(p place, field string, d *Date) {
	if d == nil || string(*d) < l.today && string(*d) >= minYear {
		return
	}
	if text := DateProblem(*d, l.now); text != "" {
		l.at(p, field, text)
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

// spread holds a pair of numbers to its order, lowest first.
func (l *loader) spread(p place, field string, pair *[]float64) {
	if pair != nil && len(*pair) == 2 && (*pair)[0] > (*pair)[1] {
		l.at(p, field, fmt.Sprintf("must have the lower number first, got %s and %s", plainNumber((*pair)[0]), plainNumber((*pair)[1])))
	}
}

// atMost adds a fault where a known value passes a bound.
func (l *loader) atMost(p place, field string, v *float64, bound float64, why string) {
	if v != nil && *v > bound {
		l.at(p, field, fmt.Sprintf("must be at most %s%s, got %s", plainNumber(bound), why, plainNumber(*v)))
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

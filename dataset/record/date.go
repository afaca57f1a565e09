package record

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Date is a calendar date as YYYY-MM-DD, or YYYY-MM or YYYY where the source gives no more.
type Date string

// DatePattern is the form of a date as a regular expression, for schemas.
const DatePattern = `^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$`

// Time returns the first instant of d in UTC, false if d is not a date.
func (d Date) Time() (time.Time, bool) {
	for _, form := range []string{time.DateOnly, "2006-01", "2006"} {
		if len(d) == len(form) {
			t, err := time.Parse(form, string(d))
			return t, err == nil
		}
	}
	return time.Time{}, false
}

// Valid reports whether d is a date of the calendar.
func (d Date) Valid() bool {
	_, ok := d.Time()
	return ok
}

func (Date) valid(s string) bool { return Date(s).Valid() }

func (Date) rule() string { return "must be a date as YYYY-MM-DD (or YYYY-MM, YYYY)" }

// FirstDay returns the day that d counts as in orders and ranges: the first of a month or year.
func (d Date) FirstDay() Date {
	switch len(d) {
	case len("2006"):
		return d + "-01-01"
	case len("2006-01"):
		return d + "-01"
	default:
		return d
	}
}

// Number returns d as yyyymmdd, with zeros for what it does not give: 2024-05 is 20240500. It is 0 if d is not a date.
func (d Date) Number() uint32 {
	if !d.Valid() {
		return 0
	}
	n, _ := strconv.ParseUint((strings.ReplaceAll(string(d), "-", "") + "0000")[:8], 10, 32) // valid
	return uint32(n)
}

// DateOf returns the date with the number yyyymmdd. It is the inverse of Number.
func DateOf(number uint32) Date {
	text := fmt.Sprintf("%04d-%02d-%02d", number/10_000, number/100%100, number%100)
	return Date(strings.TrimSuffix(strings.TrimSuffix(text, "-00"), "-00"))
}

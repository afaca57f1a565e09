package dataset

import (
	"strings"
	"time"
)

// Slug is a record's stable public key: groups of lower-case letters and digits joined by
// single dots or hyphens, at most MaxSlug bytes.
type Slug string

// MaxSlug is the longest slug, in bytes: it must fit in a file name and an address.
const MaxSlug = 100

// SlugPattern is the form of a slug as a regular expression, for schemas.
const SlugPattern = `^[a-z0-9]+([.-][a-z0-9]+)*$`

// Valid reports whether s has the form of a slug. It is called for every line, so it is a
// loop rather than SlugPattern.
func (s Slug) Valid() bool {
	if s == "" || len(s) > MaxSlug {
		return false
	}
	joined := true // a slug starts and ends with a letter or digit
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
			joined = false
		case (c == '.' || c == '-') && !joined:
			joined = true
		default:
			return false
		}
	}
	return !joined
}

func (Slug) valid(s string) bool { return Slug(s).Valid() }

func (Slug) rule() string {
	return "must be lower-case letters and digits in groups joined by single dots or hyphens, at most 100 bytes"
}

// Date is a calendar date as YYYY-MM-DD, or YYYY-MM or YYYY where the source gives no more.
type Date string

// DatePattern is the form of a date as a regular expression, for schemas.
const DatePattern = `^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?$`

// Time returns the first instant of d in UTC, false where d is not a date.
func (d Date) Time() (time.Time, bool) {
	year, month, day, ok := d.parts()
	if !ok {
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC), true
}

// Valid reports whether d is a date of the calendar.
func (d Date) Valid() bool {
	_, _, _, ok := d.parts()
	return ok
}

// parts reads d; a month or day it does not give is 1. It is called for every line, and
// time.Parse takes ten times as long.
func (d Date) parts() (year, month, day int, ok bool) {
	month, day, ok = 1, 1, true
	switch len(d) {
	case len("2006-01-02"):
		day = d.number(8, 10, &ok)
		ok = ok && d[7] == '-'
		fallthrough
	case len("2006-01"):
		month = d.number(5, 7, &ok)
		ok = ok && d[4] == '-'
		fallthrough
	case len("2006"):
		year = d.number(0, 4, &ok)
	default:
		ok = false
	}
	return year, month, day, ok && 1 <= month && month <= 12 && 1 <= day && day <= daysIn(year, month)
}

// number reads the digits of d from one place to another; anything else clears ok.
func (d Date) number(from, to int, ok *bool) (n int) {
	for _, c := range []byte(d[from:to]) {
		*ok = *ok && '0' <= c && c <= '9'
		n = 10*n + int(c-'0')
	}
	return n
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func (Date) valid(s string) bool { return Date(s).Valid() }

func (Date) rule() string { return "must be a date as YYYY-MM-DD (or YYYY-MM, YYYY)" }

// URL is the address of a page, http or https.
type URL string

// Valid reports whether u can be followed: a scheme, a host and no blanks.
func (u URL) Valid() bool {
	rest, ok := strings.CutPrefix(string(u), "https://")
	if !ok {
		rest, ok = strings.CutPrefix(string(u), "http://")
	}
	return ok && rest != "" && rest[0] != '/' && !strings.ContainsFunc(rest, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

func (URL) valid(s string) bool { return URL(s).Valid() }

func (URL) rule() string { return "must be an address that starts with https:// or http://" }

// A formed type has a form its values must have: valid judges a text as one (the receiver does
// not count), rule says the form in words.
type formed interface {
	valid(s string) bool
	rule() string
}

// Package text prints numbers for people: on pages, in charts and on terminals. JSON and CSV have numbers as
// records have them and do not use it.
//
// Whole and Exact keep every digit. Tenths is for columns, Rounded for sentences, Short for the axes of charts.
// A number that is not known is Unknown.
package text

import (
	"math"
	"strconv"
	"strings"
)

// Unknown stands where nothing was published.
const Unknown = "–"

// Whole writes a whole number with commas between groups of three digits.
func Whole[N ~int | ~int64 | ~uint32 | ~uint64](n N) string {
	return grouped(strconv.FormatInt(int64(n), 10))
}

// grouped puts commas between groups of three digits. The digits may have a sign before them.
func grouped(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Exact writes a number with all its digits, and commas in its whole part.
func Exact(v float64) string {
	if !finite(v) {
		return Unknown
	}
	whole, fraction, found := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
	if whole = grouped(whole); found {
		whole += "." + fraction
	}
	return whole
}

// Tenths writes a number with one decimal, for columns. Numbers below 1 have two significant digits.
func Tenths(v float64) string {
	switch size := math.Abs(v); {
	case !finite(v):
		return Unknown
	case size < 0.95 && size > 0:
		return small(v)
	}
	out := Exact(math.Round(v*10) / 10)
	if !strings.Contains(out, ".") {
		out += ".0"
	}
	return out
}

// Rounded writes a number with about three significant digits, two below 1.
func Rounded(v float64) string {
	switch size := math.Abs(v); {
	case !finite(v):
		return Unknown
	case size >= 99.95: // Tenths would write 100.0
		return Exact(math.Round(v))
	case size >= 10:
		return Exact(math.Round(v*10) / 10)
	case size >= 1:
		return Exact(math.Round(v*100) / 100)
	}
	return small(v)
}

// Estimate writes an estimate with two or three digits: it is no more exact.
func Estimate(v float64) string {
	switch size := math.Abs(v); {
	case size >= 1000:
		return Exact(math.Round(v/10) * 10)
	case size >= 100:
		return Exact(math.Round(v))
	}
	return Tenths(v)
}

func small(v float64) string { return strconv.FormatFloat(v, 'g', 2, 64) }

// Short is Rounded for places with little room: 2M for two million.
func Short(v float64) string {
	switch size := math.Abs(v); {
	case size >= 1e12:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case size >= 1e9:
		return Rounded(v/1e9) + "B"
	case size >= 1e6:
		return Rounded(v/1e6) + "M"
	}
	return Rounded(v)
}

// Percent writes a share of 1 as a percentage with about three significant digits.
func Percent(share float64) string {
	if !finite(share) {
		return Unknown
	}
	return Rounded(share*100) + "%"
}

// Amount writes an amount of money without its currency: with cents below 20, else in whole units.
func Amount(v float64) string {
	if v < 20 && v != math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return Exact(math.Round(v))
}

// Dollars writes a price in US dollars.
func Dollars(v float64) string {
	if !finite(v) {
		return Unknown
	}
	return "$" + Amount(v)
}

// GiB writes bytes in units of 2^30, in which vendors count memory.
func GiB(bytes int64) string { return Tenths(float64(bytes)/(1<<30)) + " GiB" }

// Tokens writes a length of context as people call it: 32k for 32,768 tokens.
func Tokens(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return Whole(n>>20) + "M"
	case n >= 1024 && n%1024 == 0:
		return Whole(n/1024) + "k"
	}
	return Whole(n)
}

// Count is a number and its noun: "1 run", "1,200 runs".
func Count[N ~int | ~int64 | ~uint32 | ~uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Whole(n) + " " + many
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

package pages

import (
	"math"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// unknown is what a page shows where nothing was published.
const unknown = "–"

// grouped writes a whole number with commas between groups of three digits.
func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// Grouped is the digits of a whole number with commas between groups of three.
func Grouped(digits string) string {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return digits
	}
	return grouped(n)
}

// exact writes a number as the record has it, with commas in its whole part.
func exact(v float64) string {
	text := strconv.FormatFloat(v, 'f', -1, 64)
	whole, fraction, found := strings.Cut(text, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return text
	}
	if whole = grouped(n); strings.HasPrefix(text, "-0") {
		whole = "-" + whole
	}
	if found {
		return whole + "." + fraction
	}
	return whole
}

// tenths writes a number with one decimal, so that those of a column are in line; below 1 with two significant digits.
func tenths(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return unknown
	case size < 0.95 && size > 0:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
	text := exact(math.Round(v*10) / 10)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// dollars writes a price, with cents below 20 dollars.
func dollars(v float64) string {
	if v < 20 && v != math.Trunc(v) {
		return "$" + strconv.FormatFloat(v, 'f', 2, 64)
	}
	return "$" + exact(math.Round(v))
}

// rounded writes a number with about three significant digits.
func rounded(v float64) string {
	switch size := math.Abs(v); {
	case math.IsNaN(v):
		return unknown
	case size >= 100:
		return exact(math.Round(v))
	case size >= 10:
		return exact(math.Round(v*10) / 10)
	case size >= 1:
		return exact(math.Round(v*100) / 100)
	default:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
}

// gib writes bytes as GiB, which is what memory sizes of vendors count.
func gib(bytes int64) string { return tenths(float64(bytes)/(1<<30)) + " GiB" }

// tokens writes a length of context.
func tokens(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return grouped(n>>20) + "M"
	}
	if n >= 1024 && n%1024 == 0 {
		return grouped(n/1024) + "k"
	}
	return grouped(n)
}

// words makes a name of a field readable: memory_bandwidth_gbps becomes memory bandwidth gbps.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// Sentence begins with a capital letter.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// plural is a number and a noun.
func plural(n int, one, many string) string {
	return grouped(int64(n)) + " " + record.Noun(n, one, many)
}

func text[T ~string](v *T) string {
	if v == nil {
		return ""
	}
	return string(*v)
}

func join[T ~string](list []T) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = string(v)
	}
	return strings.Join(out, ", ")
}

func deref[T any](v *[]T) []T {
	if v == nil {
		return nil
	}
	return *v
}

func dateText(d *dataset.Date) string { return text(d) }

// host is the host of an address, for a short name of a source.
func host(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	name, _, _ := strings.Cut(rest, "/")
	return strings.TrimPrefix(name, "www.")
}

// webAddress is an address a page may link to: http or https only.
func webAddress(address string) string {
	if strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://") {
		return address
	}
	return ""
}

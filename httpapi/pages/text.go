package pages

import (
	"strconv"
	"strings"
)

// words makes a name of a field readable: memory_bandwidth_gbps becomes memory bandwidth gbps.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// Sentence begins with a capital letter.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// value is what a pointer leads to, the zero value where that is unknown.
func value[T any](v *T) (out T) {
	if v != nil {
		out = *v
	}
	return out
}

// str is a text that may be unknown, empty where it is.
func str[T ~string](v *T) string { return string(value(v)) }

// joined are the texts that are not empty, with a space between them.
func joined(texts ...string) string {
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}

// exactPlain is a number as parameters take it.
func exactPlain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

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

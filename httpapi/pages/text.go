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

func value[T any](v *T) (out T) {
	if v != nil {
		out = *v
	}
	return out
}

func str[T ~string](v *T) string { return string(value(v)) }

func joined(texts ...string) string {
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}

func exactPlain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

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

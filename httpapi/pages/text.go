package pages

import "strings"

// words makes a name of a field readable: memory_bandwidth_gbps becomes memory bandwidth gbps.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// Sentence begins with a capital letter.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// str is a text that may be unknown, empty where it is.
func str[T ~string](v *T) string {
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

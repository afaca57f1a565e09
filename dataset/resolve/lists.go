package resolve

import (
	"slices"
	"strings"
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// addOnce appends a record to the list of a key and reports whether the key was new to it.
func addOnce(keys map[string][]int32, key string, rec int32) bool {
	for _, have := range keys[key] {
		if have == rec {
			return false
		}
	}
	if key == "" {
		return false
	}
	keys[key] = append(keys[key], rec)
	return true
}

func appendOnce(list []int32, rec int32) []int32 {
	if slices.Contains(list, rec) {
		return list
	}
	return append(list, rec)
}

package resolve

import (
	"strconv"
	"strings"
)

// dotted is a number with a point where the name has an underscore.
func dotted(number string) string { return strings.ReplaceAll(number, "_", ".") }

// active reports whether a word is the number of parameters read for one token: "a3b", "a400m".
func active(word string) bool { return len(word) > 2 && word[0] == 'a' && isDigit(word[1]) }

// params reads the size among words, in billions; 0 if there is none or it counts experts.
func params(words []string) float64 {
	for _, w := range words {
		if !isDigit(w[0]) || len(w) < 2 {
			continue
		}
		unit := map[byte]float64{'b': 1, 'm': 1e-3, 't': 1e3}[w[len(w)-1]]
		if n, err := strconv.ParseFloat(w[:len(w)-1], 64); err == nil && unit > 0 {
			return n * unit
		}
	}
	return 0
}

// isSize reports whether a word is a number of parameters: "8b", "270m", "8x7b".
func isSize(word string) bool {
	last := word[len(word)-1]
	return isDigit(word[0]) && (last == 'b' || last == 'm' && len(word) > 2)
}

// onlySize reports whether words are a size alone, with or without active parameters.
func onlySize(words []string) bool {
	for _, w := range words {
		if !(isDigit(w[0]) && params([]string{w}) > 0) && !active(w) && !(len(w) > 2 && w[0] == 'e' && isDigit(w[1])) {
			return false
		}
	}
	return len(words) > 0
}

package resolve

import (
	"slices"
	"strings"
)

// alternatives are the products lspci lists in one name: "Radeon RX 7900 XT/7900 XTX/7900M". Each
// is completed with the words it leaves out.
func alternatives(main string) (out [][]string) {
	for piece := range strings.SplitSeq(main, "/") {
		words, _ := hwWords(piece)
		switch {
		case len(words) == 0:
		case len(out) == 0:
			out = append(out, words)
		default:
			out = append(out, completed(words, out[0]))
		}
	}
	return out
}

// completed puts before the words of a product what it shares with the first of the list.
func completed(words, first []string) []string {
	digit := slices.IndexFunc(first, func(w string) bool { return isDigit(w[0]) })
	without := func(some ...string) []string {
		return slices.DeleteFunc(slices.Clone(first), func(w string) bool { return slices.Contains(some, w) })
	}
	switch {
	case isDigit(words[0][0]) && digit > 0: // "7900 XTX"
		return slices.Concat(first[:digit], words)
	case isLetter(words[0][0]) && slices.Index(first, words[0]) > 0: // "Arc Pro A40/A50"
		return slices.Concat(first[:slices.Index(first, words[0])], words)
	case slices.Equal(words, []string{"laptop"}) && digit >= 0: // "RTX 4070 Max-Q / Mobile"
		return append(without("maxq"), words...)
	case slices.Equal(words, []string{"maxq"}) && digit >= 0: // "RTX 2070 Mobile / Max-Q"
		return append(without("laptop"), words...)
	}
	return words
}

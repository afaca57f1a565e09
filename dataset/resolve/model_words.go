package resolve

import (
	"strconv"
	"strings"
)

// modelWords reads the words of a model's name. Sizes stay whole ("8b", "a3b", "e4b", "8x7b"),
// everything else is cut between letters and numbers, so that "Qwen3-8B" and "qwen 3 8b" are the
// same words. A v before a number is left out: makers write "Mistral-7B-v0.3" and "Llama-v3.1".
func modelWords(text string) []string {
	words := make([]string, 0, 12)
	for i := 0; i < len(text); {
		word := ""
		switch c := text[i]; {
		case isDigit(c):
			word, i = numberWord(text, i)
		case isLetter(c):
			word, i = letterWord(text, i)
		default:
			if i++; c == '+' {
				word = "plus"
			}
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return words
}

// numberWord reads a word that begins with a digit, at i, and returns its end: a number, with its unit if it is a size.
func numberWord(text string, i int) (word string, end int) {
	j := pastNumber(text, i)
	k := pastLetters(text, j)
	before := k < len(text) && isDigit(text[k]) // before another number
	switch unit := text[j:k]; {
	case len(unit) == 1 && sizeUnits[unit]:
		return dotted(text[i:j]) + unit, k
	case unit == "x" && before: // "8x7b"
		if end = pastNumber(text, k); end < len(text) && text[end] == 'b' {
			end++
		}
		return text[i:end], end
	case unit == "ba" && before: // "21BA3B"
		return dotted(text[i:j]) + "b", j + 1
	default:
		return dotted(text[i:j]), j
	}
}

// letterWord reads a word that begins with a letter, at i, and returns its end. The word is empty for a v before a number.
func letterWord(text string, i int) (word string, end int) {
	j := pastLetters(text, i)
	if word = text[i:j]; j == len(text) || !isDigit(text[j]) {
		return word, j
	}
	switch word {
	case "v":
		return "", j
	case "a", "e": // "a3b", "e4b"
		if k := pastNumber(text, j); k < len(text) && (text[k] == 'b' || text[k] == 'm') && pastLetters(text, k) == k+1 {
			return word + dotted(text[j:k+1]), k + 1
		}
	}
	return word, j
}

// pastNumber is the end of the number that goes on at i. A point or an underscore between digits belongs to it.
func pastNumber(text string, i int) int {
	for i < len(text) && (isDigit(text[i]) || (text[i] == '.' || text[i] == '_') && i+1 < len(text) && isDigit(text[i+1]) && i > 0 && isDigit(text[i-1])) {
		i++
	}
	return i
}

func pastLetters(text string, i int) int {
	for i < len(text) && isLetter(text[i]) {
		i++
	}
	return i
}

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

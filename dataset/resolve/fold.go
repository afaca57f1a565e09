package resolve

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// trademarks are removed before anything else: compatibility folding would turn "Arc™" to "arctm".
var trademarks = strings.NewReplacer("(r)", " ", "(tm)", " ", "(c)", " ", "®", " ", "™", " ", "©", " ", "℠", " ")

// clean gives a name in lower case, in one Unicode form, with single blanks, and without
// trademark signs and characters that cannot be seen.
func clean(s string) string {
	plain, tidy := true, true
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c < 0x80
		tidy = tidy && c > ' ' && c < 0x7f || c == ' ' && tidy && i > 0 && i < len(s)-1 && s[i-1] != ' '
	}
	if !plain {
		s = strings.NewReplacer("®", " ", "™", " ", "©", " ", "℠", " ", "×", "x").Replace(s)
		s = norm.NFKC.String(s)
	}
	s = strings.ToLower(s)
	if strings.Contains(s, "(r)") || strings.Contains(s, "(tm)") || strings.Contains(s, "(c)") {
		s, tidy = trademarks.Replace(s), false
	}
	if plain && tidy {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	blank := false
	for _, c := range s {
		switch {
		case unicode.IsSpace(c) || c == '\u00a0':
			blank = b.Len() > 0
		case unicode.IsControl(c) || unicode.Is(unicode.Cf, c):
		default:
			if blank {
				b.WriteByte(' ')
				blank = false
			}
			b.WriteRune(c)
		}
	}
	return b.String()
}

// cutDots cuts the dots off a name that a program printed only up to a width. In a line of a log they stand for the rest
// of the line.
func cutDots(text string) (begun string, short bool) {
	if !strings.HasSuffix(text, "...") || strings.ContainsAny(text, ":=|") {
		return text, false
	}
	return strings.TrimRight(text, " ."), true
}

// spelled is a name as exact comparison sees it: letter case and blanks around it do not count.
func spelled(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || c >= 0x80 }

// runs cuts text into runs of letters, numbers (with a point inside) and plus signs, which
// become the word "plus". Everything else separates.
func runs(text string, emit func(word string)) {
	for i := 0; i < len(text); {
		j := i
		switch c := text[i]; {
		case isDigit(c):
			for j < len(text) && (isDigit(text[j]) || text[j] == '.' && j+1 < len(text) && isDigit(text[j+1])) {
				j++
			}
			emit(text[i:j])
		case isLetter(c):
			for j < len(text) && isLetter(text[j]) {
				j++
			}
			emit(text[i:j])
		default:
			if j++; c == '+' {
				emit("plus")
			}
		}
		i = j
	}
}

func toolWords(text string) []string {
	words := make([]string, 0, 8)
	runs(text, func(w string) { words = append(words, w) })
	return words
}

func appendOnce(list []int32, rec int32) []int32 {
	if slices.Contains(list, rec) {
		return list
	}
	return append(list, rec)
}

func isHex(c byte) bool { return isDigit(c) || 'a' <= c && c <= 'f' }

func hex4(s string) bool {
	return len(s) >= 4 && isHex(s[0]) && isHex(s[1]) && isHex(s[2]) && isHex(s[3])
}

package record

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible returns the first invisible character of a text. That is a control character, one that changes the
// direction of text, a zero-width character, a filler or an end of line. Two texts that differ only by such characters
// look the same, and some change what a terminal shows. Variation selectors do not count: emoji have them.
func Invisible(s string) (rune, bool) {
	if isASCII(s) {
		return 0, false
	}
	return firstInvisible(s)
}

// isASCII reports whether a text has printable ASCII characters only, as nearly all texts.
func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || s[i] < ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

func firstInvisible(s string) (rune, bool) {
	for _, r := range s {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point) || r == emptyBraille {
			return r, true
		}
	}
	return 0, false
}

// emptyBraille is a character without dots.
const emptyBraille = '\u2800'

// lookalikes are the Greek letters that are written as Latin ones; most Cyrillic letters count as such.
const lookalikes = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧο"

// Mixed returns the first letter of a text that looks Latin but is not, in a word with Latin letters. Two names
// that differ by such a letter look the same.
func Mixed(s string) (found rune, mixed bool) {
	latin, other := false, rune(0)
	for _, r := range s + " " {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin = true
		case other == 0 && (unicode.Is(unicode.Cyrillic, r) || strings.ContainsRune(lookalikes, r)):
			other = r
		case !unicode.In(r, unicode.L, unicode.M, unicode.N):
			latin, other = false, 0
		}
		if latin && other != 0 {
			return other, true
		}
	}
	return 0, false
}

// Printable returns a text in which invisible characters are written as \u202e, so that a report
// shows them and a terminal does not obey them.
func Printable(s string) string {
	if _, found := Invisible(s); !found {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if _, found := firstInvisible(string(r)); found {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Counted is a number and its noun, whose plural is made by an s: 1 finding, 2 findings.
func Counted[N int | int64 | uint64](n N, noun string) string {
	return fmt.Sprint(n) + " " + Noun(n, noun, noun+"s")
}

// Noun is one for the number 1, else many.
func Noun[N int | int64 | uint64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Clip makes a text fit to be shown: valid UTF-8, at most n characters, and an ellipsis where more were cut off.
func Clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

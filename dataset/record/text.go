package record

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible returns the first character of a text that does not show: a control character, one
// that turns the direction of the text, a zero-width one or an end of line. Two texts that differ
// only by such characters look the same, and some change what a terminal shows.
func Invisible(s string) (rune, bool) {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf || s[i] < ' ' || s[i] == 0x7f {
			return firstInvisible(s[i:])
		}
	}
	return 0, false
}

func firstInvisible(s string) (rune, bool) {
	for _, r := range s {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) {
			return r, true
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

// Clip makes a text fit to be shown: valid UTF-8, at most n characters, and an ellipsis where more
// were cut off.
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

package svg

import (
	"strings"
	"unicode"
)

// TextWidth is about how wide a text is. The reader's font is not known: the figures are upper bounds for common
// sans-serif fonts. Bold letters are up to an eighth wider.
func TextWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w * size
}

func runeWidth(r rune) float64 {
	switch {
	case strings.ContainsRune("iljtfI.,:;'|!()[] -·", r):
		return 0.36
	case strings.ContainsRune("mwMW@%", r):
		return 0.92
	case r < 0x250 && unicode.IsUpper(r):
		return 0.7
	case r < 0x250:
		return 0.59
	case unicode.Is(unicode.Mn, r):
		return 0
	case r < 0x1100:
		return 0.59
	}
	return 1.1 // East Asian letters and pictures
}

// Clip cuts a text to a width, with an ellipsis, and makes it Plain.
func Clip(s string, size, width float64) string {
	s = Plain(s)
	if TextWidth(s, size) <= width {
		return s
	}
	left := width - runeWidth('…')*size
	for i, r := range s {
		if left -= runeWidth(r) * size; left < 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// Wrap breaks a text into lines of a width, at most so many; the last one is cut.
func Wrap(s string, size, width float64, most int) (lines []string) {
	words := strings.Fields(Plain(s))
	for len(words) > 0 {
		n := len(words)
		if len(lines) < most-1 {
			for n = 1; n < len(words) && TextWidth(strings.Join(words[:n+1], " "), size) <= width; n++ {
			}
		}
		lines = append(lines, Clip(strings.Join(words[:n], " "), size, width))
		words = words[n:]
	}
	return lines
}

// Plain makes a text one line: white space and control characters become spaces, and marks that change the direction
// of what follows are dropped.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case ' ' <= r && r <= '~':
			return r
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		case r == 0xFFFE || r == 0xFFFF:
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

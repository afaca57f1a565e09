package preview

import (
	"strings"
	"unicode"

	"golang.org/x/image/font"
)

// longest is how much of a text is looked at, in characters: no more fits on a picture.
const longest = 300

// clip makes a text fit to be drawn: one line, no control characters, at most longest characters.
func clip(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range strings.ToValidUTF8(s, "\uFFFD") {
		if n == longest {
			break
		}
		switch {
		case unicode.IsSpace(r):
			r = ' '
		case !unicode.IsPrint(r):
			continue
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}

func splitWords(s string) []string {
	if words := strings.Fields(s); len(words) > 0 {
		return words
	}
	return []string{""}
}

// fitting is as much of a text as fits into a width, with an ellipsis where it was cut.
func fitting(f font.Face, s string, most float64) string {
	wide := func(s string) bool { return float64(font.MeasureString(f, s))/64 > most }
	if !wide(s) {
		return s
	}
	runes := []rune(s)
	low, high := 0, len(runes) // the longest start that fits
	for low < high {
		mid := (low + high + 1) / 2
		if wide(string(runes[:mid]) + "…") {
			high = mid - 1
		} else {
			low = mid
		}
	}
	return strings.TrimRight(string(runes[:low]), " ,·") + "…"
}

package resolve

import (
	"regexp"
	"slices"
	"strings"
)

var laptopLine = func() *regexp.Regexp {
	var lines []string
	for line, behind := range vocabulary["laptops"] {
		if line != behind {
			line += " " + behind
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return regexp.MustCompile(`\b(?:` + strings.Join(lines, "|") + `)\b`)
}()

// ofLaptop reports whether a text names a line of laptops, and nothing says that the card is outside.
func ofLaptop(text string) bool {
	return laptopLine.MatchString(text) && !outsideLaptop.MatchString(text)
}

// outsideLaptop are words for a card that is not built into the laptop, and for other machines.
var outsideLaptop = regexp.MustCompile(`\b(?:egpu|external|oculink|thunderbolt|dock|desktop|tower|server|ssh|remote)\b`)

package resolve

import (
	"regexp"
	"slices"
	"strings"
)

// laptopLines are lines of laptops that are sold with cards of their own: a word, and what must follow it. Lines of the same makers
// that are also towers ("Legion Tower", "Alienware Aurora") are not among them.
var laptopLines = [][2]string{
	{"laptop"},
	{"legion", ` (?:[579]i?|pro|slim|y[0-9]+)`},
	{"loq", ` 1[4-8]`},
	{"ideapad"},
	{"thinkpad"},
	{"zephyrus"},
	{"rog strix", ` (?:g1[4-8]|scar)`},
	{"flow", ` [xz]1[0-9]`},
	{"tuf", ` (?:gaming )?[af]1[4-8]`},
	{"blade", ` 1[4-8]`},
	{"helios"},
	{"nitro", ` (?:5|v|1[4-8])`},
	{"alienware", ` [mx]1[4-8]`},
	{"xps", ` 1[3-7]`},
	{"zbook"},
	{"omen", ` 1[4-8]`},
	{"victus", ` 1[4-8]`},
	{"katana"},
	{"raider"},
	{"surface", ` (?:book|laptop)`},
}

var laptopLine = func() *regexp.Regexp {
	var lines []string
	for _, line := range laptopLines {
		lines = append(lines, line[0]+line[1])
	}
	return regexp.MustCompile(`\b(?:` + strings.Join(lines, "|") + `)\b`)
}()

// ofLaptop reports whether a text names a line of laptops. The expression alone would be a sixth of the work of a name that no
// record has; few have one of the words.
func ofLaptop(text string) bool {
	return slices.ContainsFunc(laptopLines, func(line [2]string) bool { return strings.Contains(text, line[0]) }) && laptopLine.MatchString(text)
}

// outsideLaptop are words for a card that is not built into the laptop, and for other machines.
var outsideLaptop = regexp.MustCompile(`\b(?:egpu|external|oculink|thunderbolt|dock|desktop|tower|server|ssh|remote)\b`)

var laptopParts = regexp.MustCompile(`[,;|()\[\]/+·]|\b(?:with|and)\b`)

// readLaptop reads the one card in the name of a laptop: "Razer Blade 16 with RTX 4090". What else is there, the model
// of the machine, its processor and its screen, cannot make another card of it.
func (n *hardwareNames) readLaptop(text string) (r reading) {
	card := func(brand string) bool { return strings.Contains(text, brand) }
	if !slices.ContainsFunc(cardBrands, card) || !ofLaptop(text) || outsideLaptop.MatchString(text) {
		return r
	}
	parts := laptopParts.Split(text, -1)
	for i, part := range parts {
		card := cardNamed.FindString(part)
		if card == "" {
			continue
		}
		words, memory := hwWords(card)
		if i+1 < len(parts) && memory == 0 { // "RTX 3050 (6 GB)", but not "RTX 4070, 16GB RAM"
			if rest, own := hwWords(parts[i+1]); len(rest) == 0 && !strings.Contains(parts[i+1], "ram") {
				memory = own
			}
		}
		if words[len(words)-1] != "laptop" {
			words = append(words, "laptop")
		}
		r = r.or(n.readWords(words, memory, card))
		r.memory = memory
	}
	r.bare, r.note = r.bare || len(r.found) > 1, "the card of that laptop"
	return r
}

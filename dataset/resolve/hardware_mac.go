package resolve

import (
	"regexp"
	"slices"
	"strings"
)

// readMac understands a machine of Apple with its chip: "MacBook Air M2", "M4 Pro Mac mini", "MacBook Pro 14-inch (M1
// Pro, 2021)". A machine that has no record, or several, is read as its chip.
func (n *hardwareNames) readMac(words []string, memory float64) reading {
	for _, mac := range macs {
		at := indexWords(words, mac.words)
		if at < 0 {
			continue
		}
		size, chip := cutSize(slices.Concat(words[:at], words[at+len(mac.words):]))
		if len(chip) < 2 || chip[0] != "m" || !isDigit(chip[1][0]) {
			return reading{}
		}
		kind := "plain"
		if len(chip) > 2 && isLetter(chip[2][0]) {
			kind = chip[2]
		}
		if !mac.chips[kind] {
			return reading{}
		}
		if r := n.look(slices.Concat(mac.words, size, chip), memory); len(r.found) > 0 || len(r.clash) > 0 {
			return r
		}
		r := n.look(chip, memory)
		r.note = "the chip of that machine"
		return r
	}
	return reading{}
}

// readMacBeside understands a machine of Apple with its chip in brackets: "Mac mini (M4 Pro)", "Mac mini (M4 Pro, 14C/20G)".
func (n *hardwareNames) readMacBeside(words []string, memory float64, extras []string) (r reading) {
	if len(extras) > 0 && !slices.Contains(words, "m") {
		first, _, _ := strings.Cut(extras[0], ",")
		chip, _ := hwWords(first)
		r = n.readMac(slices.Concat(words, chip), memory)
	}
	if len(r.found) == 0 {
		return reading{}
	}
	return r
}

// indexWords is where part begins in words, -1 for nowhere.
func indexWords(words, part []string) int {
	for i := 0; i+len(part) <= len(words); i++ {
		if slices.Equal(words[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// cutSize takes the size of the screen and the year out of the words of a machine.
func cutSize(words []string) (size, rest []string) {
	for _, w := range words {
		switch {
		case w == "inch" || len(w) == 4 && strings.HasPrefix(w, "20"):
		case len(w) == 2 && w[0] == '1' && isDigit(w[1]):
			size = append(size, w)
		default:
			rest = append(rest, w)
		}
	}
	return size, rest
}

var macID = regexp.MustCompile(`\b(?:mac|macbookair|macbookpro|macmini|imac)[0-9]{1,2},[0-9]{1,2}\b`)

// nameMac writes the number of a model of Apple as its name.
func nameMac(text string) string {
	if !strings.Contains(text, "mac") || !strings.Contains(text, ",") {
		return text
	}
	return macID.ReplaceAllStringFunc(text, func(id string) string {
		if name := macIDs[id]; name != "" {
			return name
		}
		return id
	})
}

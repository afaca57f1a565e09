package resolve

import (
	"regexp"
	"slices"
	"strings"
)

// macs are the machines of Apple with the words that the names of their chips end in, "plain" for none.
var macs = []struct {
	words []string
	chips map[string]bool
}{
	{[]string{"macbook", "pro"}, set("plain pro max")},
	{[]string{"mbp"}, set("plain pro max")},
	{[]string{"macbook", "air"}, set("plain")},
	{[]string{"mba"}, set("plain")},
	{[]string{"macbook"}, set("plain pro max")},
	{[]string{"mac", "mini"}, set("plain pro")},
	{[]string{"mac", "studio"}, set("max ultra")},
	{[]string{"mac", "pro"}, set("ultra")},
	{[]string{"imac"}, set("plain")},
	{[]string{"ipad", "pro"}, set("plain")},
	{[]string{"ipad", "air"}, set("plain")},
	{[]string{"mac"}, set("plain pro max ultra")},
}

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

// macIDs are the models of Apple's machines as macOS numbers them (sysctl hw.model), with what they are. Source:
// https://support.apple.com/en-us/102869 and the pages of the other machines there.
var macIDs = map[string]string{
	"macbookair10,1": "macbook air m1", "mac14,2": "macbook air 13 m2", "mac14,15": "macbook air 15 m2", "mac15,12": "macbook air 13 m3",
	"mac15,13": "macbook air 15 m3", "mac16,12": "macbook air 13 m4", "mac16,13": "macbook air 15 m4",
	"macbookpro17,1": "macbook pro 13 m1", "macbookpro18,1": "macbook pro 16 m1 pro", "macbookpro18,2": "macbook pro 16 m1 max",
	"macbookpro18,3": "macbook pro 14 m1 pro", "macbookpro18,4": "macbook pro 14 m1 max", "mac14,7": "macbook pro 13 m2",
	"mac14,9": "macbook pro 14 m2 pro", "mac14,10": "macbook pro 16 m2 pro", "mac14,5": "macbook pro 14 m2 max", "mac14,6": "macbook pro 16 m2 max",
	"mac15,3": "macbook pro 14 m3", "mac15,6": "macbook pro 14 m3 pro", "mac15,7": "macbook pro 16 m3 pro", "mac15,8": "macbook pro 14 m3 max",
	"mac15,10": "macbook pro 14 m3 max", "mac15,9": "macbook pro 16 m3 max", "mac15,11": "macbook pro 16 m3 max",
	"mac16,1": "macbook pro 14 m4", "mac16,8": "macbook pro 14 m4 pro", "mac16,7": "macbook pro 16 m4 pro",
	"mac16,6": "macbook pro 14 m4 max", "mac16,5": "macbook pro 16 m4 max",
	"macmini9,1": "mac mini m1", "mac14,3": "mac mini m2", "mac14,12": "mac mini m2 pro", "mac16,10": "mac mini m4", "mac16,11": "mac mini m4 pro",
	"mac13,1": "mac studio m1 max", "mac13,2": "mac studio m1 ultra", "mac14,13": "mac studio m2 max", "mac14,14": "mac studio m2 ultra",
	"mac16,9": "mac studio m4 max", "mac15,14": "mac studio m3 ultra", "mac14,8": "mac pro m2 ultra",
	"imac21,1": "imac m1", "imac21,2": "imac m1", "mac15,4": "imac m3", "mac15,5": "imac m3", "mac16,2": "imac m4", "mac16,3": "imac m4",
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

package resolve

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// strictHardware reads a name of hardware as drivers, tools and people print it: every word is in the name of the record,
// in that of another part of the machine, or says nothing about which record it is.
func (r *Resolver) strictHardware(text string) Answer {
	n := r.hardware
	if begun, short := cutDots(text); short {
		a := r.strictHardware(begun)
		return a.cutShort(Hardware)
	}
	if named := writtenOut(text); named != text {
		a := r.strictHardware(named)
		if a.Confidence == Exact {
			a.Confidence = Parsed
		}
		return a
	}
	if i, ok := n.exact[text]; ok {
		return r.exactly(text, i)
	}
	if recs := n.drivers[text]; len(recs) > 0 && !wholeLine(text) {
		_, memory := significantWords(split(text))
		return r.choose(recs, memory, "a driver prints this name")
	}
	if id, ok := findPCI(text); ok {
		if a, ok := r.byPCI(id, text); ok {
			return a
		}
	}
	if count, one := cutCount(text); count > 0 {
		if i, ok := n.exact[one]; ok { // words in brackets would be taken for a remark beside the name
			a := r.exactly(one, i)
			if a.Count = count; a.Slug != "" {
				a.Confidence, a.Reason = Parsed, "after a number of devices: "+a.Reason
			}
			return a
		}
	}
	name := cutHardware(text)
	if a := r.byNames(name); a.Slug != "" || !strings.Contains(name.main, "/") {
		return a
	} else if strings.Contains(name.main, "/") {
		if options := alternatives(name.main); len(options) > 1 {
			return r.severalNames(options)
		}
	}
	return r.byNames(name)
}

// severalNames reads the products that lspci lists in one name.
func (r *Resolver) severalNames(options [][]string) (a Answer) {
	if last := len(options) - 1; slices.Contains(options[last], "laptop") { // "Max-Q / Mobile" is "Mobile / Max-Q"
		slices.Reverse(options)
	}
	a = Answer{Reason: "the name lists several products"}
	unknown := 0
	for i, words := range options {
		one := r.byNames(hwName{main: letterApart.ReplaceAllString(strings.Join(words, " "), "$1$2")})
		// Since Ampere NVIDIA makes no Max-Q cards of their own: "RTX 3070 Mobile / Max-Q" is one chip.
		if one.Slug == "" && !(i > 0 && words[len(words)-1] == "maxq" && slices.Contains(options[0], "laptop")) {
			unknown++
		}
		if one.Slug != "" && !slices.ContainsFunc(a.Candidates, func(c Candidate) bool { return c.Slug == one.Slug }) {
			a.Candidates = append(a.Candidates, Candidate{Hardware, one.Slug, one.Name, "fits what the name says"})
		}
	}
	if len(a.Candidates) == 1 && unknown == 0 {
		a.Slug, a.Name, a.Confidence, a.Candidates = a.Candidates[0].Slug, a.Candidates[0].Name, Parsed, nil
		return a
	}
	a.Ambiguous, a.Candidates = true, a.Candidates[:min(MaxCandidates, len(a.Candidates))]
	return a
}

var letterApart = regexp.MustCompile(`\b([a-z]) ([0-9])`)

// byNames reads the parts of a name as the hardware of a question.
func (r *Resolver) byNames(name hwName) (a Answer) {
	text := name.main
	var beside []string
	for _, extra := range name.extras {
		if words, gb := hwWords(extra); gb > 0 && name.count > 1 && ofAll(words) {
			extra = fmt.Sprintf("%v gb", gb/float64(name.count))
		}
		words, gb := hwWords(extra)
		if !printedBeside(extra) && !madeBy(extra) && !(gb == 0 && len(words) > 0 && harmless(words) && !foldable(words) && !strings.Contains(extra, "core")) && (!processor(extra) || cardNamed.MatchString(extra) || r.byNames(cutHardware(extra)).Slug != "") {
			beside = append(beside, extra)
		}
	}
	if len(beside) > 0 {
		text += ", " + strings.Join(beside, ", ")
	}
	q := r.asked(text)
	q.strict, q.several = true, name.count > 1 || slices.ContainsFunc(q.words, func(w word) bool { return w.text == "desktop" })
	q.readCounts()
	q.readHardware()
	q.roles()
	q.attach()
	q.unused()
	a.MemoryGB, a.Count = max(q.MemoryGB, q.HostMemoryGB), name.count
	if len(q.Hardware) == 1 {
		a.Count = max(a.Count, q.Hardware[0].Count)
	}
	for _, extra := range name.extras {
		if _, gb := significantWords(split(extra)); a.MemoryGB == 0 && !strings.Contains(extra, "ram") {
			a.MemoryGB = gb
		}
	}
	if counts := q.counts(); a.Count == 0 && len(q.Hardware) == 1 && len(counts) == 1 && counts[0].end == len(q.text) {
		a.Count = counts[0].n
	}
	found := q.Hardware
	if len(found) == 0 && q.Host != nil {
		found = []Named{*q.Host}
	}
	found = inside(found, text)
	unread := q.unread(text, len(name.main), found)
	switch {
	case len(found) == 0 || unread == "" && found[0].Slug == "" && len(found[0].Candidates) == 0:
		a.Reason, a.key = unknownName, name.main
		if wholeLine(name.main) {
			a.Ambiguous, a.Reason, a.key = true, "the name is that of a whole line of products", ""
		}
	case len(found) > 1:
		a.Ambiguous, a.listed, a.Reason = true, true, "the name lists several products"
		for _, n := range found {
			if n.Slug != "" {
				a.Candidates = append(a.Candidates, Candidate{Hardware, n.Slug, n.Name, "fits what the name says"})
			}
		}
	case unread != "" || found[0].Slug == "":
		n := found[0]
		a.Confidence, a.Reason, a.Candidates = Near, n.Reason, n.Candidates
		if unread != "" {
			a.Reason = fmt.Sprintf("%q beside the name could not be read", unread)
		}
		if n.Slug != "" && len(a.Candidates) == 0 {
			a.Candidates = []Candidate{{Hardware, n.Slug, n.Name, "without what could not be read"}}
		}
	default:
		n := found[0]
		a.Slug, a.Name, a.Candidates, a.Reason, a.Confidence, a.Ambiguous = n.Slug, n.Name, n.Candidates, n.Reason, Parsed, n.Ambiguous
		if q.Host != nil && len(q.Hardware) > 0 {
			a.Reason = "in a machine with " + q.Host.Name
		}
		if n.Ambiguous && n.device.Variants == nil {
			a.Slug, a.Name, a.Confidence = "", "", ""
		}
	}
	return a
}

// inside leaves the processor of those named where the others are the graphics inside it, and the card of a machine with a
// processor.
func inside(found []Named, text string) []Named {
	i := slices.IndexFunc(found, func(n Named) bool {
		return n.device != nil && (n.device.IntegratedGPU != nil || n.device.Type == "cpu")
	})
	if i < 0 || len(found) < 2 {
		return found
	}
	chip := found[i]
	others := slices.Delete(slices.Clone(found), i, i+1)
	graphics := func(n Named) bool {
		return n.device != nil && (n.device.Type == "apu" || chip.device.IntegratedGPU != nil && n.device.Slug == *chip.device.IntegratedGPU || strings.Contains(text, "integrated"))
	}
	switch {
	case !slices.ContainsFunc(others, func(n Named) bool { return !graphics(n) }):
		chip.Reason = "graphics inside " + chip.Name
		return []Named{chip}
	case len(others) == 1 && others[0].device != nil && others[0].device.Type == "gpu":
		others[0].Reason = "in a machine with " + chip.Name
		return others
	}
	return found
}

// unread is the first word that is neither in the name nor known to say nothing about which record it is.
func (a *asking) unread(text string, main int, found []Named) string {
	board := slices.ContainsFunc(a.words[:min(2, len(a.words))], func(w word) bool { return boardMakers[w.text] })
	if ofLaptop(text) {
		return ""
	}
	behind := len(found) > 0 && found[0].start >= main && madeBy(text) // the chip of that machine
	for i, w := range a.words {
		switch {
		case a.used[i], hwNoise[w.text], measures[w.text], isLabel(w.text), is("brands", w.text), board && (boardWords[w.text] || len(w.text) == 1), behind && w.start < main:
		case len(found) > 0 && found[0].device != nil && found[0].device.Architecture != nil && strings.EqualFold(*found[0].device.Architecture, w.text), w.text == "s" && i > 0 && isDigit(a.words[i-1].text[0]):
		case isDigit(w.text[0]) && i > 0 && (a.words[i-1].text == "hbm" || a.words[i-1].text == "gddr" || a.words[i-1].text == "ddr"), w.text == "inch", len(w.text) == 1 && isLetter(w.text[0]) && !is("suffixes", w.text):
		case i > 0 && a.words[i-1].end == w.start && (a.words[i-1].text == "hbm" || a.words[i-1].text == "gddr"), i > 1 && a.words[i-2].text == "hbm" && a.words[i-1].end == w.start:
		case w.start > main && (besideWords[w.text] || isDigit(w.text[0])):
		case besideWords[w.text] && !isDigit(w.text[0]) && w.text != "x":
		default:
			return w.text
		}
	}
	return ""
}

package resolve

import (
	"regexp"
	"slices"
	"strings"
)

// withExtras judges what stood beside the name: the processor of the machine around a card, the
// graphics inside a chip, the machine itself, the driver.
func (n *hardwareNames) withExtras(r reading, name hwName) reading {
	for _, extra := range name.extras {
		switch other, kind := n.readExtra(extra); kind {
		case extraNothing:
			r.internal = r.internal || strings.Contains(extra, "integrated")
		case extraUnknown:
			if r.unread == "" && !n.areAll(r.found, extra) {
				r.unread = extra
			}
		case extraRecord:
			r = n.together(r, other, name.main, extra)
		}
	}
	return r
}

// areAll reports whether architecture is the one of all of recs: a GeForce RTX 5070 (Blackwell) is no other product.
func (n *hardwareNames) areAll(recs []int32, architecture string) bool {
	return !slices.ContainsFunc(recs, func(rec int32) bool { return !strings.EqualFold(n.recs[rec].architecture, architecture) })
}

// What a part beside a name can be.
const (
	extraNothing = iota // says nothing about which record it is
	extraUnknown        // may make another product of it
	extraRecord         // names hardware itself
)

// readExtra judges one part beside a name. Whatever is not known to say nothing about which record it is may make
// another product of it.
func (n *hardwareNames) readExtra(extra string) (rec int32, kind int) {
	if printedBeside(extra) {
		return 0, extraNothing
	}
	text := strings.TrimSpace(vendorPhrases.Replace(extra))
	if i, ok := n.exact[text]; ok {
		return i, extraRecord
	}
	name := cutHardware(text)
	if slices.ContainsFunc(name.extras, cardNamed.MatchString) { // a processor and another card
		return 0, extraUnknown
	}
	words, memory := hwWords(name.main)
	if found := n.look(words, memory).found; len(found) == 1 && !generic(words) {
		return found[0], extraRecord
	}
	if processor(text) && !cardNamed.MatchString(text) || madeBy(text) || readBefore(name.main, words) || harmless(words) {
		return 0, extraNothing
	}
	return 0, extraUnknown
}

// printedBeside reports whether a part beside a name is what drivers and tools print there, or the number of devices.
func printedBeside(extra string) bool {
	return slices.ContainsFunc(besideBeginnings, func(w string) bool { return strings.HasPrefix(extra, w) }) ||
		slices.ContainsFunc(besideParts, func(w string) bool { return strings.Contains(extra, w) }) && !cardNamed.MatchString(extra) ||
		len(extra) > 0 && len(extra) <= 10 && (timesBeside.MatchString(extra) || driverVersion.MatchString(extra))
}

// driverVersion is the version of a driver in the list of nvidia-smi.
var driverVersion = regexp.MustCompile(`^[0-9]{3}\.[0-9]{2,3}(?:\.[0-9]{2})?$`)

// madeBy reports whether a text begins with the maker of a machine.
func madeBy(text string) bool {
	all := toolWords(text)
	return len(all) > 0 && machineMakers[all[0]]
}

// readBefore reports whether the words of a part in brackets were read with the name before it.
func readBefore(main string, words []string) bool {
	if foldable(words) || len(words) == 0 {
		return true
	}
	cores, _ := hwWords("m " + main)
	return coresAlone(cores[1:])
}

// harmless reports whether none of words can make another product of the name beside them.
func harmless(words []string) bool {
	for i, w := range words {
		before, next := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			next = words[i+1]
		}
		number := isDigit(w[0])
		switch {
		case w == "max" && measures[before]: // "300 W max"
		case identity[w]:
			return false
		case number && (len(w) >= 3 || i == 0) && !measures[next] && !versioned[before]:
			return false
		case !number && !besideWords[w] && !(measures[w] && before != "" && isDigit(before[0])):
			return false
		}
	}
	return true
}

// processor reports whether a text reads like the name of a processor.
func processor(text string) bool {
	for _, word := range []string{"core i", "core ultra", "ryzen", "threadripper", "epyc", "xeon", "pentium", "celeron", "-core processor", "cpu @"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// together reads two parts named at once.
func (n *hardwareNames) together(r reading, other int32, main, extra string) reading {
	o := &n.recs[other]
	processor := o.kind == "cpu" || o.kind == "apu" || o.kind == "soc"
	inside := func(rec int32) bool { // rec is the graphics inside other
		return o.integrated == rec || n.recs[rec].kind == "apu" && n.recs[rec].integrated < 0 && o.kind != "soc" && graphics(&n.recs[rec])
	}
	switch {
	case slices.Contains(r.found, other):
		r.found = []int32{other}
	case len(r.found) == 0 && processor && !graphics(o) && (r.internal || n.isGraphicsLine(main)):
		return reading{found: []int32{other}, memory: r.memory, count: r.count, note: "graphics inside " + o.name}
	case len(r.found) == 0 && len(r.clash) == 0 && (o.kind == "soc" || o.kind == "apu" && !graphics(o)) && machine(main):
		return reading{found: []int32{other}, memory: r.memory, count: r.count, note: "the chip of that machine"}
	case len(r.found) > 0 && processor && !graphics(o) && slices.ContainsFunc(r.found, inside):
		return reading{found: []int32{other}, memory: r.memory, count: r.count, note: "graphics inside " + o.name}
	case len(r.found) == 1 && slices.Contains(n.recs[r.found[0]].chips, other):
		r.found, r.note = []int32{other}, "the chip of "+n.recs[r.found[0]].name
	case len(r.found) > 1 && slices.ContainsFunc(o.variants, func(v int32) bool { return slices.Contains(r.found, v) }):
	case len(r.found) > 0 && len(o.chips) > 0: // the machine around a chip
		if !slices.ContainsFunc(r.found, func(rec int32) bool { return slices.Contains(o.chips, rec) || n.familyOf(rec, o.chips) }) {
			r.unread = extra
		}
	case len(r.found) > 0 && o.kind == "gpu" && !r.internal && n.allProcessors(r.found) && !slices.ContainsFunc(r.found, func(rec int32) bool { return n.recs[rec].integrated == other }):
		r.found, r.bare, r.note = append(slices.Clip(r.found), other), true, "the name is that of a processor and of a card"
	case len(r.found) == 1 && n.recs[r.found[0]].integrated == other, len(r.found) > 0 && graphics(o) && n.allProcessors(r.found):
	case len(r.found) > 0 && processor && !graphics(o): // the machine a card is in
		r.note = "in a machine with " + o.name
	case len(r.found) == 0:
	default:
		r.unread = extra
	}
	return r
}

// graphics reports whether a record is graphics alone.
func graphics(r *hwRecord) bool {
	return r.kind == "gpu" || r.kind == "apu" && (strings.Contains(r.name, "(integrated)") || strings.Contains(r.name, "Graphics"))
}

func (n *hardwareNames) allProcessors(recs []int32) bool {
	return !slices.ContainsFunc(recs, func(rec int32) bool { return graphics(&n.recs[rec]) })
}

// familyOf reports whether rec is the record of several chips, the given ones among them.
func (n *hardwareNames) familyOf(rec int32, chips []int32) bool {
	return slices.ContainsFunc(n.recs[rec].variants, func(v int32) bool { return slices.Contains(chips, v) })
}

// isGraphicsLine reports whether a name is one that drivers print for integrated graphics of many
// chips: "AMD Radeon Graphics", "Intel(R) Graphics", "Radeon 840M / 860M Graphics".
func (n *hardwareNames) isGraphicsLine(main string) bool {
	words, _ := hwWords(main)
	return generic(words) && (strings.Contains(main, "graphics") || strings.Contains(main, "radeon"))
}

// machine reports whether a name is that of a machine or phone, by its maker.
func machine(main string) bool {
	if madeBy(main) { // one that sells cards too
		return true
	}
	words, _ := hwWords(main)
	return len(words) > 0 && (machineMakers[words[0]] || words[0] == "hexagon" || words[0] == "adreno")
}

package resolve

import (
	"slices"
	"strings"
)

// withExtras judges what stood beside the name: the processor of the machine around a card, the
// graphics inside a chip, the machine itself, the driver.
func (n *hardwareNames) withExtras(r reading, main string, extras []string) reading {
	for _, extra := range extras {
		switch other, kind := n.readExtra(extra); kind {
		case extraNothing:
			r.internal = r.internal || strings.Contains(extra, "integrated")
		case extraUnknown:
			if r.unread == "" && !n.areAll(r.found, extra) {
				r.unread = extra
			}
		case extraRecord:
			r = n.together(r, other, main, extra)
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

func (n *hardwareNames) readExtra(extra string) (rec int32, kind int) {
	for _, skip := range []string{"uuid", "host", "rev ", "compute ", "vmm", "warp", "wave size", "uma", "fp16", "fp4", "bf16", "opencl ", "prog-if", "subsystem", "bus", "pci", "shared memory", "int dot", "matrix cores", "driver", "cuda ", "rocm ", "vulkan ", "radv", "cortex", "10x cortex", "0x"} {
		if strings.HasPrefix(extra, skip) {
			return 0, extraNothing
		}
	}
	for _, skip := range []string{"channel", "jetpack", "limit", "power cap", " ram", "mesa", "linux", "passthrough"} {
		if strings.Contains(extra, skip) {
			return 0, extraNothing
		}
	}
	if timesBeside.MatchString(extra) {
		return 0, extraNothing // the number of devices
	}
	text := strings.TrimSpace(vendorPhrases.Replace(extra))
	if i, ok := n.exact[text]; ok {
		return i, extraRecord
	}
	cut := cutHardware(text)
	words, memory := hwWords(cut.main)
	if found := n.look(words, memory).found; len(found) == 1 && !generic(words) {
		return found[0], extraRecord
	}
	if processor(text) {
		return 0, extraNothing // one the directory does not have
	}
	all := toolWords(text)
	if len(all) > 0 && machineMakers[all[0]] {
		return 0, extraNothing
	}
	if cores, _ := hwWords("m " + cut.main); foldable(words) || len(words) == 0 || len(cores) == 2 && strings.HasSuffix(cores[1], "gpu") {
		return 0, extraNothing // read with the name already
	}
	ignored := true
	for i, w := range words {
		number := isDigit(w[0]) && (len(w) >= 3 || i == 0) && !(i+1 < len(words) && measures[words[i+1]])
		driver := i > 0 && (words[i-1] == "gfx" || words[i-1] == "sm" || words[i-1] == "cortex" || words[i-1] == "navi" || words[i-1] == "vega" || words[i-1] == "polaris" || words[i-1] == "a")
		known := besideWords[w] || i > 0 && isDigit(words[i-1][0]) && measures[w]
		if identity[w] || number && !driver || !isDigit(w[0]) && !known {
			ignored = false
		}
	}
	if ignored {
		return 0, extraNothing
	}
	return 0, extraUnknown
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
	words, _ := hwWords(main)
	if all := toolWords(main); len(all) > 0 && machineMakers[all[0]] { // one that sells cards too
		return true
	}
	return len(words) > 0 && (machineMakers[words[0]] || words[0] == "hexagon" || words[0] == "adreno")
}

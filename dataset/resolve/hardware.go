package resolve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
)

// printedNames are what drivers print in place of the names of hardware: clean names, and "pci vvvv:dddd" or "pci
// vvvv:dddd:rr", with "shared " before it where other products have the id, too.
func printedNames(hardware []dataset.Hardware) map[string][]int {
	all := map[string][]int{}
	for i, h := range hardware {
		for before, texts := range map[string][]string{"": h.DriverNames, "pci ": h.PCIIDs, "shared pci ": h.PCIIDsShared} {
			for _, text := range texts {
				if name := before + clean(text); !slices.Contains(all[name], i) {
					all[name] = append(all[name], i)
				}
			}
		}
	}
	return all
}

// strictHardware reads a name of hardware as drivers, tools and people print it: every word is in the name of the record,
// in that of another part of the machine, or says nothing about which record it is.
func (r *Resolver) strictHardware(text string) Answer {
	named := rewrite("printed", text)
	if strings.Contains(named, ",") {
		named = patterns["mac model"].ReplaceAllStringFunc(named, func(id string) string { return cmp.Or(means("mac models", id), id) })
	}
	if named != text && named != "" {
		a := r.one(Hardware, named)
		if a.Confidence == Exact {
			a.Confidence = Parsed
		}
		return a
	}
	if a, ok := r.exactly(text); ok {
		return a
	}
	_, memory := significant(split(text))
	if recs := r.printed[text]; len(recs) > 0 && !wholeLine(text) {
		return r.choose(recs, memory, "a driver prints this name")
	}
	if a, ok := r.byPCI(text, memory); ok {
		return a
	}
	if count, one := cutCount(text); count > 0 { // words in brackets would be taken for a remark beside the name
		if a, ok := r.exactly(one); ok {
			if a.Count = count; a.Slug != "" {
				a.Confidence, a.Reason = Parsed, "after a number of devices: "+a.Reason
			}
			return a
		}
	}
	name := cutHardware(text)
	a := r.byNames(name)
	if a.Slug == "" && strings.Contains(name.main, "/") {
		return r.severalNames(name.main)
	}
	return a
}

// exactly answers a slug, name or alias, with the maker before it or not. A name that leaves out what tells several records
// apart does not decide.
func (r *Resolver) exactly(text string) (a Answer, ok bool) {
	x := r.hardware
	i, ok := x.exact[text]
	if !ok {
		maker, other, _ := strings.Cut(text, " ")
		if i, ok = x.exact[other]; !ok || x.recs[i].maker() != maker {
			if i, ok = x.bare[text]; !ok {
				return a, false
			}
			other = x.recs[i].maker() + " " + text
		}
		if a, ok = r.exactly(other); a.Confidence == Exact {
			a.Confidence = Parsed
		}
		return a, ok
	}
	a.found(&x.recs[i], Exact, "slug, name or alias")
	_, memory := significant(split(text))
	a.MemoryGB = round(memory)
	switch {
	case text == string(a.Slug):
	case len(x.shared[text]) > 1:
		return r.choose(x.shared[text], 0, "several products have this name"), true
	case x.recs[i].variants != nil:
		a.Ambiguous, a.Reason = true, "the record for measurements that do not name the exact product"
		a.Candidates = x.list(x.recs[i].variants, oneOf)
	case wholeLine(text):
		return Answer{Ambiguous: true, Reason: "the name covers a whole product line"}, true
	}
	return a, true
}

const oneOf = "one of the products with this name"

// withMemory are those of some records that can have a memory, 0 for any.
func (r *Resolver) withMemory(recs []int, gb float64) []int {
	return slices.DeleteFunc(slices.Clone(recs), func(rec int) bool {
		_, clash := memoryOf(r.hardware.recs[rec].hardware, gb)
		return gb > 0 && clash
	})
}

// choose answers with the one of several records that has a memory, or with none.
func (r *Resolver) choose(recs []int, memory float64, why string) (a Answer) {
	kept := r.withMemory(recs, memory)
	if len(kept) == 0 {
		kept = recs
	}
	a.MemoryGB = round(memory)
	if k := &r.hardware.recs[kept[0]]; len(kept) == 1 {
		a.found(k, Parsed, why)
		a.Ambiguous, a.Candidates = k.variants != nil, r.hardware.list(k.variants, oneOf)
		return a
	}
	a.Ambiguous, a.Reason, a.Candidates = true, why, r.hardware.list(kept, "matches the name")
	var sizes []string
	for _, rec := range kept {
		if gb := r.hardware.recs[rec].hardware.VRAMGB; gb != nil && memory == 0 {
			sizes = append(sizes, fmt.Sprintf("%v GB", *gb))
		}
	}
	if slices.Sort(sizes); len(slices.Compact(slices.Clone(sizes))) == len(kept) {
		a.Reason = "the name does not state the memory size: " + strings.Join(sizes, " or ")
	}
	return a
}

// byPCI answers a PCI id: Windows' "ven_10de&dev_2684", "10de:2684", "0x10de:0x2684", "10de-2684" where it is the whole
// name, and "device 2d05" behind the name of a vendor. The number alone means nothing. ok is false if there is none that
// the directory knows.
func (r *Resolver) byPCI(text string, memory float64) (a Answer, ok bool) {
	if !strings.ContainsAny(text, ":_") && !strings.Contains(text, "device ") && len(text) != len("10de-2684") {
		return a, false
	}
	for _, f := range find("pci id", text) {
		id := f.part[1] + f.part[3] + f.part[5] + means("pci vendors", f.part[7]) + ":" + f.part[2] + f.part[4] + f.part[6] + f.part[8]
		ids := []string{id}
		for _, revision := range find("pci revision", text) {
			ids = []string{id + ":" + revision.part[1], id}
		}
		for _, id := range ids {
			if found := r.printed["pci "+id]; len(found) > 0 {
				return r.choose(found, memory, "PCI id "+id), true
			}
		}
		for _, id := range ids {
			if found := r.printed["shared pci "+id]; len(found) > 0 {
				why := "several products have the PCI id " + id
				return Answer{Ambiguous: true, Reason: why, Candidates: r.hardware.list(found, "has this PCI id")}, true
			}
		}
	}
	return a, false
}

// severalNames reads the products that lspci lists in one name: "Radeon RX 7900 XT/7900 XTX/7900M". Those behind the first
// leave out the words before the number.
func (r *Resolver) severalNames(text string) Answer {
	a := Answer{Ambiguous: true, Reason: "the name lists several products"}
	first, _, _ := strings.Cut(text, "/")
	first = strings.TrimSpace(first)
	line := first[:1+strings.LastIndexByte(first[:max(0, strings.IndexAny(first, "0123456789"))], ' ')]
	product := first[:1+strings.LastIndexByte(first, ' ')]
	for piece := range strings.SplitSeq(text, "/") {
		var one Answer
		for _, before := range []string{"", line, product} {
			if one.Slug == "" {
				one = r.byNames(hwName{main: before + piece})
			}
		}
		c := Candidate{Hardware, one.Slug, one.Name, "matches the name"}
		if one.Slug != "" && !slices.Contains(a.Candidates, c) {
			a.Candidates = append(a.Candidates, c)
		}
	}
	a.Candidates = a.Candidates[:min(MaxCandidates, len(a.Candidates))]
	return a
}

// byNames reads the parts of a name as the hardware of a question.
func (r *Resolver) byNames(name hwName) (a Answer) {
	text, memory := name.main, 0.0
	for _, extra := range name.extras {
		words, gb := hwWords(extra)
		if memory == 0 && !strings.Contains(extra, "ram") {
			memory = gb
		}
		if name.count > 1 && slices.Contains(words, "total") {
			extra = fmt.Sprintf("%v gb", gb/float64(name.count))
		}
		card := says("card", extra)
		foreign := func(w string) bool { return !is("beside", w) }
		beside := says("beside", extra) || !card && says("around", extra) || gb == 0 && len(words) > 0 && !slices.ContainsFunc(words, foreign) && !foldable(words)
		if !beside && !madeBy(extra) && (card || !says("processor", extra) || r.byNames(cutHardware(extra)).Slug != "") {
			text += ", " + extra
		}
	}
	q := r.asked(text, true)
	q.several = name.count > 1 || slices.ContainsFunc(q.words, func(w word) bool { return w.text == "desktop" })
	q.readHardware()
	q.roles()
	q.attach()
	found := q.Hardware
	unread := q.unread(len(name.main), found)
	switch {
	case len(found) == 0 && wholeLine(name.main):
		a.Ambiguous, a.Reason = true, "the name covers a whole product line"
	case len(found) == 0:
		a.Reason, a.key = unknownName, name.main
	case len(found) > 1:
		a.Ambiguous, a.listed, a.Reason = true, true, "the name lists several products"
		for _, n := range found {
			if n.Slug != "" {
				a.Candidates = append(a.Candidates, Candidate{Hardware, n.Slug, n.Name, "matches the name"})
			}
		}
	default:
		switch a = found[0].Answer; {
		case unread != "":
			a.unsure(fmt.Sprintf("%q next to the name could not be read", unread), "without the unread part")
		case a.Slug == "":
		case a.Ambiguous && found[0].Device.Variants == nil:
			a.Slug, a.Name, a.Confidence = "", "", ""
		case q.Host != nil:
			a.Confidence, a.Reason = Parsed, "in a machine with "+q.Host.Name
		default:
			a.Confidence = Parsed
		}
		name.count = max(name.count, found[0].Count)
		if c := q.numbers; name.count == 0 && len(c) == 1 && c[0].end == len(q.text) {
			name.count = int(c[0].number(0))
		}
	}
	a.MemoryGB, a.Count = cmp.Or(max(q.MemoryGB, q.HostMemoryGB), memory), name.count
	return a
}

// unread is the first word that is neither in the name nor known to say nothing about which record it is. main is where
// the name ends and what is beside it begins.
func (a *asking) unread(main int, found []Named) string {
	if ofLaptop(a.text) {
		return ""
	}
	board := slices.ContainsFunc(a.words[:min(2, len(a.words))], func(w word) bool { return is("board makers", w.text) })
	behind := len(found) > 0 && found[0].start >= main && madeBy(a.text) // the chip of that machine
	architecture := func(w string) bool {
		return len(found) > 0 && found[0].Device != nil && found[0].Device.Architecture != nil && strings.EqualFold(w, *found[0].Device.Architecture)
	}
	before := word{text: " "}
	for _, w := range a.words {
		beside := is("beside", w.text) && (w.start > main || w.text != "x") || w.text == "max" && is("measures", before.text)
		single := len(w.text) == 1 && (board || !is("suffixes", w.text) || w.text == "s" && isDigit(before.text[0]))
		switch {
		case a.usedAt(w), isDigit(w.text[0]), beside, single, behind && w.start < main, architecture(w.text):
		case is("noise", w.text), is("measures", w.text), is("labels", w.text), is("brands", w.text), board && is("board words", w.text):
		default:
			return w.text
		}
		before = w
	}
	return ""
}

// madeBy reports whether a text begins with the maker of a machine.
func madeBy(text string) bool {
	all := split(text)
	return len(all) > 0 && is("machine makers", all[0].text)
}

// wholeLine reports whether a name is one that drivers print for many products: "AMD Radeon Graphics", "Intel Xeon Processor".
func wholeLine(text string) bool {
	generic := !slices.ContainsFunc(split(text), func(w word) bool {
		return !is("brands", w.text) && !is("lines", w.text) && !is("noise", w.text) && !is("words of lines", w.text)
	})
	return generic && (strings.Contains(text, "graphics") || says("processor", text))
}

// ofLaptop reports whether a text names a line of laptops, and nothing says that the card is outside.
func ofLaptop(text string) bool {
	return says("laptop", text) && !says("outside", text)
}

// hwName is a name of hardware in parts.
type hwName struct {
	main   string   // what names the part
	extras []string // what stood in brackets or behind commas
	count  int      // of devices, 0 where not said
}

// cutHardware takes a clean name apart: "gpu 0: nvidia rtx 4090 (ryzen 9 7950x)" is "nvidia rtx 4090" with "ryzen 9
// 7950x" beside it, in brackets, quotes or behind commas. It does not judge the parts.
func cutHardware(text string) (n hwName) {
	text = strings.Trim(patterns["label"].ReplaceAllString(text, ""), ` '"`)
	n.count, text = cutCount(rewrite("parts", text))
	beside := func(extra string) string {
		if extra = strings.Trim(extra, ` ()"`); extra != "" {
			n.extras = append(n.extras, extra)
		}
		return " "
	}
	text = patterns["bracketed"].ReplaceAllStringFunc(text, beside)
	for i, part := range strings.FieldsFunc(text, func(c rune) bool { return strings.ContainsRune(",;|", c) }) {
		if i == 0 {
			n.main = strings.TrimSpace(part)
		} else {
			beside(part)
		}
	}
	return n
}

// cutCount cuts a number of devices off the beginning: "2x ", "8 x ", "2 RTX 3090", "dual 3090", "two RTX 4090s".
func cutCount(text string) (count int, rest string) {
	for _, f := range find("count ahead", text) {
		rest = f.part[2] + f.part[4] + f.part[6]
		dual := f.part[5] == "dual" && slices.ContainsFunc(split(rest), func(w word) bool { return is("not dual", w.text) })
		if count, _ = strconv.Atoi(cmp.Or(f.part[1], f.part[3], means("counts", f.part[5]))); count > 0 && !dual {
			return count, rest
		}
	}
	return 0, text
}

// hwWords reads the words of a text that say which product it is, and the memory in GB.
func hwWords(text string) (words []string, memory float64) {
	ws, memory := significant(split(rewrite("cores", text)))
	for _, w := range phrased(ws) {
		if !is("noise", w.text) {
			words = append(words, w.text)
		}
	}
	return words, memory
}

func round(gb float64) float64 { return math.Round(gb*100) / 100 }

// makerOf is the maker a name states, empty if it states none or several.
func makerOf(main string) (maker dataset.Vendor) {
	for _, w := range split(main) {
		if m := dataset.Vendor(means("makers", w.text)); m != "" {
			if maker != "" && m != maker {
				return ""
			}
			maker = m
		}
	}
	return maker
}

// foldable reports whether words in brackets belong to the name before them.
func foldable(words []string) bool {
	return len(words) == 1 && slices.Contains([]string{"laptop", "pascal", "maxwell", "maxq"}, words[0])
}

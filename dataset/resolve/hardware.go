package resolve

import (
	"fmt"
	"slices"
	"strings"
)

// resolve tries what is certain before what needs rules. It looks for a name as a record has it, a name that
// drivers print, a PCI id, and then for the words of the name.
func (n *hardwareNames) resolve(text string) Answer {
	if begun, short := cutDots(text); short {
		a := n.resolve(begun)
		return a.cutShort(Hardware)
	}
	if named := writtenOut(text); named != text {
		a := n.resolve(named)
		if a.Confidence == Exact {
			a.Confidence = Parsed
		}
		return a
	}
	if i, ok := n.exact[text]; ok {
		return n.exactly(text, i)
	}
	if recs := n.drivers[text]; len(recs) > 0 {
		return n.byDriver(recs, text)
	}
	if id, ok := findPCI(text); ok {
		if a, ok := n.byPCI(id, text); ok {
			return a
		}
	}
	if count, one := cutCount(text); count > 0 {
		if i, ok := n.exact[one]; ok { // read would take words in brackets for a remark beside the name
			a := n.exactly(one, i)
			if a.Count = count; a.Slug != "" {
				a.Confidence, a.Reason = Parsed, "after a number of devices: "+a.Reason
			}
			return a
		}
	}
	return n.byWords(text)
}

// byWords reads a name word by word: as that of a part, of several parts, and of the laptop around a card.
func (n *hardwareNames) byWords(text string) Answer {
	r := n.read(text)
	if one, count := cutTimes(text); count > 0 && r.none() {
		if times := n.read(one); len(times.found) > 0 && times.count == 0 {
			r, r.count = times, count
		}
	}
	if r.none() || r.partial || r.unread != "" {
		if card := n.readLaptop(text); len(card.found) > 0 {
			r = card
		}
	}
	if r.none() {
		return n.unknown(r, text)
	}
	return n.answer(r)
}

// exactly answers a slug, name or alias. An alias without the memory size that
// distinguishes its record from another does not decide: drivers print it for both.
func (n *hardwareNames) exactly(text string, i int32) Answer {
	rec := &n.recs[i]
	a := Answer{Slug: rec.slug, Name: rec.name, Confidence: Exact, Reason: "slug, name or alias"}
	words, memory := foldName(text)
	a.MemoryGB = round(memory)
	if text == string(rec.slug) {
		return a
	}
	if len(rec.variants) > 0 {
		a.Ambiguous, a.Reason = true, "the record for measurements that do not say which product it was"
		a.Candidates = n.list(rec.variants, "one of the products with this name")
		return a
	}
	if others := n.drivers[text]; len(others) > 1 {
		a.Reason = "slug, name or alias; drivers print the same name for the candidates"
		a.Candidates = n.list(others, "drivers print this name for it")
	}
	if rec.memory > 0 && strings.HasSuffix(text, fmt.Sprintf("%vgb", rec.memory)) {
		return a // "GTX10606GB", where the memory cannot be separated from the number before it
	}
	if generic(words) {
		return n.answer(reading{found: []int32{i}, bare: true})
	}
	if found, bare := n.withoutMemory(join(words)); memory == 0 && bare && len(found) > 1 {
		return n.answer(reading{found: found, bare: true})
	}
	return a
}

// byDriver answers a name that drivers are known to print.
func (n *hardwareNames) byDriver(recs []int32, text string) Answer {
	words, memory := foldName(text)
	r := reading{found: n.outside(slices.Clone(recs)), memory: memory}
	switch {
	case generic(words):
		r.bare = true
	case len(r.found) == 1:
		r.note = "a driver prints this name"
	default:
		r.bare = true
	}
	return n.answer(r)
}

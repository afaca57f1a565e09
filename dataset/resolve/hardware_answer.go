package resolve

import (
	"fmt"
	"slices"
	"strings"
)

// answer words a reading.
func (n *hardwareNames) answer(r reading) Answer {
	a := Answer{MemoryGB: round(r.memory), Count: r.count}
	switch {
	case r.unread != "" && len(r.found) > 0:
		a.Confidence, a.Reason = Near, fmt.Sprintf("%q beside the name could not be read", r.unread)
		a.Candidates = n.list(r.found, "without what could not be read")
	case len(r.found) == 0 && len(r.clash) > 0:
		a.Confidence, a.Reason = Near, fmt.Sprintf("no record with this name has %v GB of memory", a.MemoryGB)
		for _, rec := range r.clash[:min(MaxCandidates, len(r.clash))] {
			a.Candidates = append(a.Candidates, Candidate{Hardware, n.recs[rec].slug, n.recs[rec].name, "has this name, but not this memory size"})
		}
	case len(r.found) == 1 && !r.bare && !r.partial:
		return n.one(a, r)
	case len(r.found) > 0:
		a.Ambiguous, a.Reason = true, n.difference(r.found, r)
		a.Candidates = n.list(r.found, "fits what the name says")
		if family := n.family(r.found); family >= 0 {
			a.Slug, a.Name, a.Confidence = n.recs[family].slug, n.recs[family].name, Parsed
		}
	}
	return a
}

// unknown answers a name nothing was found for.
func (n *hardwareNames) unknown(r reading, text string) (a Answer) {
	words, _ := hwWords(r.main)
	if generic(words) && (processor(text) || n.isGraphicsLine(r.main)) {
		a = Answer{Ambiguous: true, Reason: "the name is that of a whole line of products"}
	} else {
		a = Answer{Reason: unknownName, key: join(words)}
	}
	a.MemoryGB, a.Count = round(r.memory), r.count
	return a
}

// one answers with a single record, and lists its variants.
func (n *hardwareNames) one(a Answer, r reading) Answer {
	rec := &n.recs[r.found[0]]
	a.Slug, a.Name, a.Confidence, a.Reason = rec.slug, rec.name, Parsed, "every word of the name is accounted for"
	if r.note != "" {
		a.Reason = r.note
	}
	if r.chosen {
		a.Reason = fmt.Sprintf("only this one is sold with %v GB", a.MemoryGB)
	}
	if len(rec.variants) > 0 {
		a.Ambiguous = true
		may := slices.DeleteFunc(slices.Clone(rec.variants), func(v int32) bool { return a.MemoryGB > 0 && !n.mayHave(v, a.MemoryGB) })
		a.Candidates = n.list(may, "one of the products with this name")
	}
	return a
}

// family is the record whose variants are exactly the found ones, -1 for none.
func (n *hardwareNames) family(found []int32) int32 {
	for i := range n.recs {
		v := n.recs[i].variants
		if len(v) == len(found) && !slices.ContainsFunc(v, func(rec int32) bool { return !slices.Contains(found, rec) }) {
			return int32(i)
		}
	}
	return -1
}

// difference says what would tell the found records apart.
func (n *hardwareNames) difference(found []int32, r reading) string {
	var sizes []string
	for _, rec := range found {
		if m := n.recs[rec].memory; m > 0 {
			sizes = append(sizes, fmt.Sprintf("%v GB", m))
		}
	}
	switch {
	case r.note != "":
		return r.note
	case len(sizes) == len(found) && len(found) > 1:
		return "the name does not state the memory size: " + strings.Join(sizes, " or ")
	case r.bare && len(found) == 1 && len(sizes) == 1:
		return "the name does not state the memory size; the directory has the one with " + sizes[0]
	case r.bare:
		return "the name is printed for several products"
	case r.partial:
		return "the name lists products the directory does not have"
	}
	return "the name fits several products"
}

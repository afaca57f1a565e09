package resolve

import (
	"fmt"
	"slices"
	"strings"

	"modeldex/dataset"
)

// hardwareNames has what needs no reading: whole names, strings of drivers and PCI ids.
type hardwareNames struct {
	recs    []*dataset.Hardware
	exact   map[string]int32   // slug, name or alias -> record
	drivers map[string][]int32 // what drivers print, clean -> records
	pci     map[string][]int32 // "vvvv:dddd" or "vvvv:dddd:rr" -> records
	shared  map[string][]int32 // "vvvv:dddd" -> records, where other products have the id too
}

func newHardwareNames(hardware []dataset.Hardware) *hardwareNames {
	n := &hardwareNames{exact: map[string]int32{}, drivers: map[string][]int32{}, pci: map[string][]int32{}, shared: map[string][]int32{}}
	for i := range hardware {
		h, rec := hardware[i], int32(i)
		n.recs = append(n.recs, &h)
		for _, text := range append([]string{string(h.Slug), h.Name}, h.Aliases...) {
			n.exact[spelled(text)] = rec
			n.exact[clean(text)] = rec
		}
		for _, text := range h.DriverNames {
			n.drivers[clean(text)] = appendOnce(n.drivers[clean(text)], rec)
		}
		for _, id := range h.PCIIDs {
			n.pci[id] = appendOnce(n.pci[id], rec)
		}
		for _, id := range h.PCIIDsShared {
			n.shared[id] = appendOnce(n.shared[id], rec)
		}
	}
	return n
}

// exactly answers a slug, name or alias. A name that leaves out what tells several records apart does not decide.
func (r *Resolver) exactly(text string, i int32) Answer {
	h := r.hardware.recs[i]
	_, memory := significantWords(split(text))
	a := Answer{Slug: h.Slug, Name: h.Name, Confidence: Exact, Reason: "slug, name or alias", MemoryGB: round(memory)}
	if text == string(h.Slug) {
		return a
	}
	if h.Variants != nil {
		a.Ambiguous, a.Reason = true, "the record for measurements that do not say which product it was"
		a.Candidates = r.candidates(*h.Variants, "one of the products with this name")
		return a
	}
	if wholeLine(text) {
		return Answer{Ambiguous: true, Reason: "the name is that of a whole line of products"}
	}
	if others := r.hardware.drivers[text]; len(others) > 1 {
		a.Reason = "slug, name or alias; drivers print the same name for the candidates"
		a.Candidates = r.list(others, "drivers print this name for it")
	}
	words, _ := significantWords(split(cutHardware(withCores(text)).whole()))
	if memory > 0 || len(words) == 0 {
		return a
	}
	if text != spelled(h.Name) { // a name that several forms of one product share is of none of them
		shared := []int32{i}
		for _, m := range r.lexHardware.match(texts(phrased(words)), 0) {
			left := strings.Fields(m.missing)
			forms := len(left) > 0 && m.missing != " maxq" && !slices.ContainsFunc(left, func(w string) bool { return !is("shapes", w) && len(w) > 1 })
			if o := r.hardware.recs[m.rec]; int32(m.rec) != i && !m.own && forms && o.Type == "gpu" && !r.parts.Related(h.Slug, o.Slug) {
				shared = append(shared, int32(m.rec))
			}
		}
		if len(shared) > 1 {
			return r.choose(shared, 0, "several forms of the product have this name")
		}
	}
	if m := r.lexHardware.match(texts(phrased(words)), 0); len(m) > 1 && m[0].bare && m[1].cost < m[0].cost+shapeWord && m[1].bare { // told apart by their memory
		recs := []int32{}
		for _, one := range m {
			if one.bare && one.cost < m[0].cost+shapeWord {
				recs = append(recs, int32(one.rec))
			}
		}
		return r.choose(recs, 0, "the name does not state the memory")
	}
	return a
}

// choose answers with the one of several records that has a memory; with the record that is kept for all of them; or with
// none.
func (r *Resolver) choose(recs []int32, memory float64, why string) Answer {
	n := r.hardware
	kept := slices.DeleteFunc(slices.Clone(recs), func(rec int32) bool {
		h := n.recs[rec]
		_, clash := memoryOf(h, memory)
		return memory > 0 && clash || h.IntegratedGPU != nil && slices.ContainsFunc(recs, func(o int32) bool { return n.recs[o].Slug == *h.IntegratedGPU })
	})
	if len(kept) == 0 {
		kept = recs
	}
	a := Answer{MemoryGB: round(memory), Reason: why}
	if len(kept) == 1 {
		h := n.recs[kept[0]]
		a.Slug, a.Name, a.Confidence = h.Slug, h.Name, Parsed
		if h.Variants != nil {
			a.Ambiguous, a.Candidates = true, r.candidates(*h.Variants, "one of the products with this name")
		}
		return a
	}
	a.Ambiguous, a.Candidates = true, r.list(kept, "fits what the name says")
	var sizes []string
	for _, rec := range kept {
		if gb := n.recs[rec].VRAMGB; gb != nil && n.recs[rec].Type == "gpu" && !slices.Contains(sizes, fmt.Sprintf("%v GB", *gb)) {
			sizes = append(sizes, fmt.Sprintf("%v GB", *gb))
		}
	}
	if memory == 0 && len(sizes) == len(kept) {
		a.Reason = "the name does not state the memory size: " + strings.Join(sizes, " or ")
	}
	for _, h := range n.recs {
		if h.Variants != nil && len(*h.Variants) == len(kept) && !slices.ContainsFunc(kept, func(rec int32) bool { return !slices.Contains(*h.Variants, n.recs[rec].Slug) }) {
			a.Slug, a.Name, a.Confidence = h.Slug, h.Name, Parsed
		}
	}
	return a
}

func (r *Resolver) list(recs []int32, reason string) (out []Candidate) {
	for _, i := range recs[:min(MaxCandidates, len(recs))] {
		out = append(out, Candidate{Hardware, r.hardware.recs[i].Slug, r.hardware.recs[i].Name, reason})
	}
	return out
}

func (r *Resolver) candidates(slugs []dataset.Slug, reason string) (out []Candidate) {
	for _, slug := range slugs[:min(MaxCandidates, len(slugs))] {
		out = append(out, Candidate{Hardware, slug, r.parts[slug].Name, reason})
	}
	return out
}

// same compares memory sizes. Drivers report up to 7 per cent less than the size on the box, because error
// correction and firmware keep a part. No two sizes of one card are that close.
func same(size, reported float64) bool {
	return reported > 0 && reported <= size*1.005 && reported >= size*0.93
}

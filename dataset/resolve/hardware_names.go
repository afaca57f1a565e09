package resolve

import (
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
)

// hwRecord is what the rules need of a hardware record.
type hwRecord struct {
	record
	kind       dataset.HardwareType
	vendor     dataset.Vendor
	memory     float64   // in its slug, GB; 0 for none
	sizes      []float64 // it is sold with, GB; empty where unknown
	most       float64   // GB; 0 where unknown
	variants   []int32   // products it stands for, where the name does not say which
	chips      []int32   // of a machine
	integrated int32     // its graphics, -1 for none

	architecture string // empty where unknown
}

// spelling is one name of a record under its key.
type spelling struct {
	rec    int32
	memory float64 // said in this name, GB; 0 for none
}

// hardwareNames finds hardware.
type hardwareNames struct {
	recs    []hwRecord
	exact   map[string]int32      // slug, name or alias -> record
	keys    map[string][]spelling // key -> names
	lined   map[string][]lined    // key of a number -> names with words before it
	drivers map[string][]int32    // what drivers print, clean -> records
	pci     map[string][]int32    // "vvvv:dddd" or "vvvv:dddd:rr" -> records
	shared  map[string][]int32    // "vvvv:dddd" -> records, where other products have the id too
	like    *likeness
}

func newHardwareNames(hardware []dataset.Hardware) *hardwareNames {
	n := &hardwareNames{
		exact: map[string]int32{}, keys: map[string][]spelling{}, lined: map[string][]lined{}, drivers: map[string][]int32{}, pci: map[string][]int32{},
		shared: map[string][]int32{}, like: newLikeness(),
	}
	bySlug := make(map[dataset.Slug]int32, len(hardware))
	for i := range hardware {
		bySlug[hardware[i].Slug] = int32(i)
	}
	for i := range hardware {
		n.recs = append(n.recs, newRecord(&hardware[i], bySlug))
		n.addNames(int32(i), &hardware[i])
	}
	n.like.freeze()
	return n
}

func newRecord(h *dataset.Hardware, bySlug map[dataset.Slug]int32) hwRecord {
	refs := func(list *[]dataset.Slug) (out []int32) {
		if list == nil {
			return nil
		}
		for _, slug := range *list {
			if i, ok := bySlug[slug]; ok {
				out = append(out, i)
			}
		}
		return out
	}
	rec := hwRecord{record: record{h.Slug, h.Name}, kind: h.Type, vendor: h.Vendor, variants: refs(h.Variants), chips: refs(h.Chip), integrated: -1}
	if h.IntegratedGPU != nil {
		if g, ok := bySlug[*h.IntegratedGPU]; ok {
			rec.integrated = g
		}
	}
	if h.Architecture != nil {
		rec.architecture = *h.Architecture
	}
	if h.MemoryOptionsGB != nil {
		rec.sizes = *h.MemoryOptionsGB
	}
	if h.VRAMGB != nil {
		rec.most = *h.VRAMGB
		if len(rec.sizes) == 0 && !h.UnifiedMemory {
			rec.sizes = []float64{*h.VRAMGB}
		}
	}
	_, rec.memory = foldName(string(h.Slug))
	return rec
}

func (n *hardwareNames) addNames(i int32, h *dataset.Hardware) {
	for _, text := range append([]string{string(h.Slug), h.Name}, h.Aliases...) {
		n.exact[spelled(text)] = i
		n.exact[clean(text)] = i
		words, memory := foldName(clean(text))
		key := join(words)
		if key == "" {
			continue
		}
		s := spelling{i, memory}
		if !slices.Contains(n.keys[key], s) {
			n.keys[key] = append(n.keys[key], s)
			n.like.add(i, key)
		}
		n.addLined(words, key)
	}
	for _, text := range h.DriverNames {
		n.drivers[clean(text)] = appendOnce(n.drivers[clean(text)], i)
	}
	for _, id := range h.PCIIDs {
		n.pci[id] = appendOnce(n.pci[id], i)
	}
	for _, id := range h.PCIIDsShared {
		n.shared[id] = appendOnce(n.shared[id], i)
	}
}

// foldName reads a clean name of a record. A size beside it is that of the record, whatever stands with it.
func foldName(text string) (words []string, memory float64) {
	name := cutHardware(text)
	words, memory = name.significant()
	for i := 0; i < len(name.extras) && memory == 0; i++ {
		_, memory = hwWords(name.extras[i])
	}
	return words, memory
}

func (n *hardwareNames) addLined(words []string, key string) {
	line, number := cutLine(words)
	same := func(l lined) bool { return l.key == key }
	if behind := join(number); len(line) > 0 && !slices.ContainsFunc(n.lined[behind], same) {
		n.lined[behind] = append(n.lined[behind], lined{line, key})
	}
}

// lined is a name of a record with words before the number of the part.
type lined struct {
	line []string
	key  string // of the whole name
}

// cutLine divides the words of a name before the number of the part: three digits or more, with the letter before
// them ("rtx", "a 6000"). Two digits count behind a letter and a line ("arc", "b 60"). number is nil where there is none.
func cutLine(words []string) (line, number []string) {
	for i, w := range words {
		letter := i > 0 && len(words[i-1]) == 1 && isLetter(words[i-1][0])
		switch {
		case strings.Trim(w, "0123456789") != "":
		case len(w) >= 3 && letter:
			return words[:i-1], words[i-1:]
		case len(w) >= 3:
			return words[:i], words[i:]
		case len(w) == 2 && letter && i > 1:
			return words[:i-1], words[i-1:]
		}
	}
	return nil, nil
}

// generic reports whether words name a whole line of products: drivers print "AMD Radeon Graphics"
// and "AMD EPYC" for many.
func generic(words []string) bool {
	switch join(words) {
	case "", "epyc", "ryzen", "xeon", "core", "arc", "uhd", "hd", "iris", "vega", "rtx", "gtx", "rx", "quadro", "snapdragon", "adreno":
		return true
	}
	return false
}

func round(gb float64) float64 { return math.Round(gb*100) / 100 }

func (n *hardwareNames) list(recs []int32, reason string) (out []Candidate) {
	recs = recs[:min(MaxCandidates, len(recs))]
	out = slices.Grow(out, len(recs))
	for _, i := range recs {
		out = append(out, Candidate{Hardware, n.recs[i].slug, n.recs[i].name, reason})
	}
	return out
}

package resolve

import (
	"regexp"
	"slices"
	"strings"
)

// roles tells what computes from what is beside it: the processor of a machine with a card, the graphics inside a
// processor, the machine around a chip.
func (a *asking) roles() {
	card := slices.ContainsFunc(a.Hardware, func(n Named) bool { return n.device != nil && n.device.Type == "gpu" })
	var kept []Named
	for _, n := range a.Hardware {
		h := n.device
		switch same := slices.IndexFunc(kept, func(k Named) bool {
			return k.device != nil && h != nil && a.r.parts.Related(k.device.Slug, h.Slug)
		}); {
		case h != nil && h.Type == "cpu" && card:
			a.Host = &n
		case same >= 0 && a.strict && kept[same].device.Chip != nil: // the chip of that machine
			kept[same] = n
		case same >= 0 && a.strict && h.IntegratedGPU != nil && *h.IntegratedGPU == kept[same].device.Slug:
			n.Reason = "graphics inside " + n.Name
			kept[same] = n
		case same >= 0: // one chip by two names
			kept[same].Count = max(kept[same].Count, n.Count)
		case h == nil && card && !a.compares() && !(a.strict && len(n.Candidates) > 0 && a.r.parts[n.Candidates[0].Slug].Type == "gpu"):
		default:
			kept = append(kept, n)
		}
	}
	a.Hardware = kept
}

var comparing = regexp.MustCompile(`\b(?:vs\.?|versus|or|better than|faster than|faster|slower than|than|compared?|oder|ou)\b|还是`)

// compares reports whether a text sets several things side by side.
func (a *asking) compares() bool { return comparing.MatchString(a.text) }

// attach gives the amounts of memory and the numbers of devices to what they are of.
func (a *asking) attach() {
	unified, card := false, false
	for _, n := range a.Hardware {
		if h := n.device; h != nil {
			card = card || h.Type == "gpu" && !h.UnifiedMemory
			unified = unified || h.UnifiedMemory || h.Type == "soc" || h.Type == "apu" || h.Type == "laptop" || h.Type == "desktop"
		}
	}
	processor := len(a.Hardware) == 1 && a.Hardware[0].device != nil && a.Hardware[0].device.Type == "cpu"
	for _, m := range a.facts.memories {
		of := a.deviceOf(m)
		switch {
		case card && !m.ofDevice && (m.ofHost || of == nil) && !unified, processor:
			a.HostMemoryGB = m.gb
		case m.ofDevice || of != nil || unified:
			if a.MemoryGB == 0 || m.ofDevice {
				a.MemoryGB = m.gb
			}
		case !slices.ContainsFunc(a.Hardware, func(n Named) bool { return n.device != nil }) && hostWords.MatchString(a.text) && !machineWords.MatchString(a.text):
			a.HostMemoryGB = m.gb
		case a.MemoryGB == 0:
			a.MemoryGB = m.gb
		}
	}
	for _, n := range a.Hardware {
		a.Count += max(n.Count, 1)
	}
	if a.Count == len(a.Hardware) && len(a.Hardware) < 2 && (len(a.Hardware) == 0 || a.Hardware[0].Count == 0) {
		a.Count = 0
	}
	if counts := a.counts(); a.Count == 0 && len(a.Hardware) == 1 && len(counts) == 1 && !isDigit(a.text[counts[0].start]) && counts[0].n > 1 {
		a.Count = counts[0].n // "... dual"
	}
	a.Quantization, a.Context, a.MaxPriceUSD = a.facts.quantization, a.facts.context, a.facts.maxPrice
}

var (
	hostWords    = regexp.MustCompile(`\b(?:cpus?|vcpus?|i[3579]|xeon|epyc|ryzen|threadripper|processor|ddr[345])\b`)
	machineWords = regexp.MustCompile(`\b(?:mac|macbook|imac|iphone|ipad|phone|xiaomi|redmi|samsung|galaxy|pixel|oneplus|vram)`)
)

// deviceOf is the device that an amount of memory is of, by where it stands and what the device has; nil for none.
func (a *asking) deviceOf(m amount) *Named {
	for i := range a.Hardware {
		n := &a.Hardware[i]
		if n.device == nil {
			continue
		}
		if m.ofHost && n.device.Type == "gpu" && !n.device.UnifiedMemory {
			continue
		}
		if between := a.between(m, n); between && !m.ofHost {
			if own, clash := memoryOf(n.device, m.gb); own || !clash && n.device.UnifiedMemory || n.device.VRAMGB != nil && m.gb <= 2**n.device.VRAMGB {
				return n
			}
		}
	}
	if len(a.Hardware) == 1 && a.Hardware[0].device != nil && !m.ofHost && a.HostMemoryGB == 0 {
		if own, _ := memoryOf(a.Hardware[0].device, m.gb); own {
			return &a.Hardware[0]
		}
	}
	return nil
}

// between reports whether an amount stands at a device, with no "and" or plus between.
func (a *asking) between(m amount, n *Named) bool {
	start, end := m.end, n.start
	if m.start >= n.end {
		start, end = n.end, m.start
	}
	return start > end || end-start < 4 && !strings.ContainsAny(a.text[start:end], "+&") || m.start >= n.start && m.end <= n.end
}

var (
	hardwareAsked = regexp.MustCompile(`\b(?:what|which|min(?:imum)?|cheapest|best|optimal|required?|recommended|good|quel(?:le)?|welche[rs]?)\b[a-z /]*\b(?:gpus?|cards?|hardware|cpus?|vram|ram|memory|machine|computer|laptop|macs?|pc|setup|specs?|requirements?|device|way|carte)\b|` +
		`\b(?:gpu|ram|vram|memory|hardware|system)(?:/[a-z]+)? (?:requirements?|is required|needed|required|for|pour)\b|\bhow (?:much|many)\b|\b(?:do|would|will) i need\b|\bneeded (?:for|to)\b|\bbudget\b|\brequirements?\b|哪些 ?gpu|什么显卡|多少显存|需要什么`)
	modelsAsked = regexp.MustCompile(`\b(?:which|what|best|good|any)(?: [a-z]+){0,3} (?:models?|llms?)\b|\b(?:models?|llms?) (?:for|that|faster|on|over)\b|\bwhat (?:can|could|should) i run\b|\bwhat (?:runs|fits)\b|\bwhich (?:model|llm)\b|哪些模型`)
	manyAsked   = regexp.MustCompile(`\bhow many\b`)
	wished      = regexp.MustCompile(`\b(?:at least|minimum|min|want|need|faster than|or more|goal|target)\b`)
)

// intend says what the question wants.
func (a *asking) intend() {
	model := len(a.Models) > 0 || a.SizeB > 0
	device := len(a.Hardware) > 0 || a.Host != nil
	asksHardware := hardwareAsked.MatchString(a.text)
	switch {
	case len(a.Models) > 1 && !manyAsked.MatchString(a.text), len(a.Hardware) > 1 && a.compares():
		a.Intent = Compare
	case asksHardware && (!device || manyAsked.MatchString(a.text)) && !(modelsAsked.MatchString(a.text) && !model) || a.MaxPriceUSD > 0 && !device:
		a.Intent = WhichHardware
	case !model && (device || a.MemoryGB > 0 || a.HostMemoryGB > 0), modelsAsked.MatchString(a.text) && len(a.Models) == 0:
		a.Intent = Runs
	case !device && a.MemoryGB == 0 && a.HostMemoryGB == 0:
		a.Intent = WhichHardware
		if a.facts.speedWords && a.facts.speed == 0 || a.unknownDevice() {
			a.Intent = Speed
		}
	case a.facts.speedWords:
		a.Intent = Speed
	default:
		a.Intent = Fit
	}
	if a.facts.speed > 0 && (a.facts.least || a.Intent == WhichHardware || wished.MatchString(a.text)) && (a.Intent == WhichHardware || a.Intent == Runs) {
		a.MinTPS = a.facts.speed
	}
	if a.Intent == Compare && len(a.Hardware) > 1 {
		a.Count = 0
	}
}

// unknownDevice reports whether a question is about a device that no record has: "... on a Redmi Note 9".
func (a *asking) unknownDevice() bool {
	return slices.ContainsFunc(a.Unused, func(w string) bool { return isDigit(w[0]) || isDigit(w[len(w)-1]) }) || unknownAt.MatchString(a.text)
}

var unknownAt = regexp.MustCompile(`\b(?:on|with) (?:an? |my |the )?[a-z0-9]`)

// unused lists the words that were not used and do say something.
func (a *asking) unused() {
	for i, w := range a.words {
		if a.used[i] || is("common", w.text) || is("brands", w.text) || is("counts", w.text) || len(w.text) < 2 && !isDigit(w.text[0]) || is("fillers", w.text) {
			continue
		}
		a.Unused = append(a.Unused, a.text[w.start:w.end])
	}
	a.Unused = slices.Compact(a.Unused)
}

// Asked are the kinds of hardware that a question asks for, as filters of hardware.
func (q *Question) Asked() map[string]string {
	out := map[string]string{}
	if askedMac.MatchString(q.text) && len(q.Hardware) == 0 {
		out["vendor"] = "apple"
	} else if askedGPU.MatchString(q.text) && len(q.Hardware) == 0 {
		out["type"] = "gpu"
	}
	return out
}

var (
	askedMac = regexp.MustCompile(`\b(?:macs?|macbooks?|apple)\b`)
	askedGPU = regexp.MustCompile(`\b(?:which|what|cheapest|best|good|an?) (?:[a-z]+ )?(?:gpus?|graphics cards?|cards?)\b`)
)

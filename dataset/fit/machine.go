package fit

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// A machine is what a query runs on.
type machine struct {
	hw        *dataset.Hardware // the first device; nil for one described by its memory
	devices   []device          // all of them, at least one, in the order they were asked for
	memory    int64             // bytes of all devices, 0 where unknown
	available int64             // of them for a model
	share     *Share            // nil where all of it
	discrete  bool
	related   []int32           // numbers of the related records on which something was measured
	host      *dataset.Hardware // nil where it is not known
	main      int64             // bytes of its memory for a model, 0 where unknown
	missing   []string
}

// A device is one of the devices of a machine.
type device struct {
	hw             *dataset.Hardware // nil for one described by its memory
	memory, usable int64             // bytes, and those of them for a model
	visible        float64           // the part of the memory that it reports
	bandwidth      float64           // bytes per second, 0 where unknown
	between        []float64         // GB/s, where only a range is known: bandwidth is its middle
	works          *piece            // does the work: the hardware, the chip that its memory leaves, or a generic one
	program        *program          // nil until a speed needs it
}

// machine is what a query runs on. Defaults of vLLM that depend on the card are filled in.
func (e *Engine) machine(q *Query) (*machine, *Fault) {
	m, fault := e.unit(q, Unit{q.Hardware, q.MemoryGB}, q.BandwidthGBps)
	if fault != nil {
		return nil, fault
	}
	for _, u := range q.Beside {
		other, fault := e.unit(q, u, 0)
		switch {
		case fault != nil:
			return nil, fault
		case !m.discrete || !other.discrete:
			return nil, &Fault{Field: "hardware", Text: "must be cards with their own memory if you name several"}
		}
		m.devices, m.missing = append(m.devices, other.devices...), append(m.missing, other.missing...)
	}
	for i := range m.devices {
		m.memory, m.available = m.memory+m.devices[i].memory, m.available+m.devices[i].usable
	}
	if len(m.missing) > 0 {
		m.memory, m.available = 0, 0
	}
	q.large = q.Rules == VLLM && m.hw != nil && bytesOf(val(m.hw.VRAMGB)) >= VLLMLarge && !strings.Contains(m.hw.Name, "A100")
	if q.Rules == VLLM && q.usualBatch {
		q.MicroBatch = VLLMTokens + int64(oneIf(q.large))*(VLLMTokensLarge-VLLMTokens)
	}
	gb := q.SystemMemoryGB
	switch h := e.hardware[q.Host]; {
	case q.Host == "":
	case h == nil:
		return nil, &Fault{Field: "host", Text: fmt.Sprintf("no hardware has slug %q", q.Host)}
	case h.Type == "gpu":
		return nil, &Fault{Field: "host", Text: "must be a processor or a machine, not a card"}
	default:
		m.host, gb = h.Hardware, cmp.Or(gb, h.memoryGB)
	}
	m.main = int64(float64(bytesOf(gb)) * MainMemoryPart)
	return m, nil
}

// SplitNames separates the names of several devices at commas and plus signs, unless the whole is known as one name.
func SplitNames(text string, known func(name string) bool) (names []string) {
	if known(text) {
		return []string{text}
	}
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '+' }) {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// unit is a machine of the devices of one name, or of none that are described by their memory.
func (e *Engine) unit(q *Query, u Unit, gbps float64) (*machine, *Fault) {
	m, d, gb := &machine{discrete: q.UnifiedShare == 0}, device{bandwidth: gbps * 1e9, visible: 1}, u.MemoryGB
	if u.Hardware == "" {
		d.works = &piece{Hardware: &dataset.Hardware{Type: "gpu", Vendor: dataset.Nvidia, UnifiedMemory: !m.discrete}, silicon: -1, arch: -1}
	}
	switch h := e.hardware[u.Hardware]; {
	case u.Hardware == "" && gb == 0:
		return nil, &Fault{Field: "hardware", Text: "is required, unless memory_gb is given"}
	case u.Hardware == "" && q.ComputeUnit == "cpu":
		d.works.Type, m.discrete, d.between = "cpu", false, usualMemory
		m.share = new(shareOf(d.works.Hardware, gb))
	case u.Hardware == "" && m.discrete:
		d.between = e.cards[gb]
	case u.Hardware == "":
	case h == nil:
		return nil, &Fault{Field: "hardware", Text: fmt.Sprintf("no hardware has slug %q", u.Hardware)}
	default:
		m.hw, m.discrete, m.related, d.works = h.Hardware, !h.UnifiedMemory && h.Type != "cpu", h.related, h
		gb = cmp.Or(gb, h.memoryGB)
		if chip := e.chipWith(h, gb); chip != nil {
			d.works = chip
		}
		d.bandwidth, d.between = cmp.Or(d.bandwidth, d.works.bandwidth), val(d.works.MemoryBandwidthRangeGBps)
		switch share := shareOf(h.Hardware, gb); {
		case gb == 0 && h.Type == "cpu":
			m.missing = []string{"hardware.memory_gb"}
		case gb == 0:
			m.missing = []string{"hardware.vram_gb"}
		case !m.discrete:
			if shown := e.shown[e.siliconOf(h.Slug)]; shown.Share > share.Share {
				share = shown
			}
			m.share = &share
		}
	}
	if q.UnifiedShare > 0 && !m.discrete {
		m.share = &Share{Share: q.UnifiedShare, Basis: "as requested"}
	}
	if d.bandwidth > 0 || len(d.between) < 2 {
		d.between = nil
	} else {
		d.bandwidth = math.Sqrt(d.between[0]*d.between[1]) * 1e9
	}
	d.hw, d.memory, d.usable = m.hw, bytesOf(gb), bytesOf(gb)
	if m.share != nil {
		d.usable = int64(float64(d.memory) * m.share.Share)
	} else if d.visible = VisiblePart; m.hw != nil && strings.HasPrefix(val(m.hw.MemoryType), "GDDR") && serverCard.MatchString(m.hw.Name) {
		d.visible = VisiblePartECC
	}
	m.devices = slices.Repeat([]device{d}, q.Count)
	return m, nil
}

// serverCard is the name of a card for servers: one with GDDR memory (T4, L4, A10G, L40S) keeps error correction in it.
var serverCard = regexp.MustCompile(`^NVIDIA (Tesla )?[ALPT]\d{1,2}[GS]?\b`)

// usualMemory is the bandwidth of two channels of memory in GB/s, from DDR4-2400 to DDR5-5600.
var usualMemory = []float64{38.4, 89.6}

// cardBandwidths has the range of bandwidths of nine in ten cards since 2018, in GB/s, by their memory in GB.
func cardBandwidths(hardware []dataset.Hardware) map[float64][]float64 {
	all := map[float64][]float64{}
	for i := range hardware {
		if h := &hardware[i]; h.Type == "gpu" && h.VRAMGB != nil && h.MemoryBandwidthGBps != nil && h.ReleaseDate != nil && h.ReleaseDate.Number() > 2018_00_00 {
			all[*h.VRAMGB] = append(all[*h.VRAMGB], *h.MemoryBandwidthGBps)
		}
	}
	for gb, of := range all {
		slices.Sort(of)
		all[gb] = []float64{record.Quantile(of, 0.05), record.Quantile(of, 0.95)}
	}
	return all
}

// Unpublished names the facts of hardware that are not published and without which we cannot tell what fits.
func (e *Engine) Unpublished(hardware dataset.Slug) []string {
	if m, fault := e.machine(&Query{Hardware: hardware, Count: 1}); fault == nil {
		return m.missing
	}
	return nil
}

// chipWith is the only chip of a machine without its own bandwidth that is made with so many GB; nil for none or several.
func (e *Engine) chipWith(h *piece, gb float64) (only *piece) {
	for _, slug := range val(h.Chip) {
		chip := e.hardware[slug]
		if h.bandwidth > 0 || chip == nil || chip.MemoryOptionsGB == nil {
			return nil // it may be made with that, too
		}
		if slices.Contains(*chip.MemoryOptionsGB, gb) {
			if only != nil {
				return nil
			}
			only = chip
		}
	}
	return only
}

// MemorySizes are the sizes of memory, in GB, that hardware (itself, its chips or its variants) is sold with, and the one
// that counts if a query has none; nil for one size.
func (e *Engine) MemorySizes(hardware dataset.Slug) (sizes []float64, counted float64) {
	h := e.hardware[hardware]
	if h == nil || h.memoryGB == 0 {
		return nil, 0
	}
	of := []dataset.Slug{hardware}
	if h.MemoryOptionsGB == nil {
		of = *cmp.Or(h.Chip, h.Variants, &of)
	}
	for _, slug := range of {
		if one := e.hardware[slug]; one != nil {
			sizes = append(sizes, val(one.MemoryOptionsGB)...)
		}
	}
	slices.Sort(sizes)
	if sizes = slices.Compact(sizes); len(sizes) < 2 {
		return nil, 0
	}
	return sizes, h.memoryGB
}

func bytesOf(gb float64) int64 { return int64(gb * gib) }

// memoryGB is the memory of one device; of a record of several variants the smallest of theirs. 0 if unknown.
func (e *Engine) memoryGB(h *dataset.Hardware) (gb float64) {
	if own := cmp.Or(h.VRAMGB, h.MemoryGB); own != nil || h.Variants == nil {
		return val(own)
	}
	gb = math.Inf(1)
	for _, slug := range *h.Variants {
		v := e.hardware[slug]
		if v == nil {
			return 0
		}
		gb = min(gb, val(v.VRAMGB))
	}
	return gb
}

// shareOf is the default share of the memory of a machine of so many GB, where all of it is not for models.
// macOS lets graphics use two thirds of up to 36 GB and three quarters of more: machines of 16 GB report 10,922 MiB, of
// 64 GB 49,152 MiB as recommendedMaxWorkingSetSize. AMD's tools give graphics at most 96 of 128 GB; the Linux default is
// half, and can be raised to nearly all. NVIDIA's unified machines have one pool for both sides, of which the system keeps
// its part. A processor works in main memory, which no tool divides: a tenth is what Kubernetes shows how to keep.
func shareOf(h *dataset.Hardware, gb float64) Share {
	of := func(part float64, basis string, source dataset.URL) Share { return Share{round4(part), basis, &source} }
	switch {
	case h.Type == "cpu":
		return of(0.9, "main memory, minus the system's share", "https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/")
	case h.Vendor == dataset.Apple && gb <= 36:
		return of(2.0/3, "macOS default up to 36 GB", "https://github.com/abetlen/llama-cpp-python/issues/687")
	case h.Vendor == dataset.Apple:
		return of(0.75, "macOS default above 36 GB", "https://github.com/gpustack/gpustack/issues/1375")
	case h.Vendor == dataset.Nvidia:
		return of(0.9, "memory shared by processor and graphics, minus the system's share", "https://github.com/vllm-project/vllm/issues/35313")
	}
	return of(0.75, "largest share that vendors' tools give to graphics: 96 of 128 GB", "https://rocm.docs.amd.com/en/latest/how-to/system-optimization/strixhalo.html")
}

package fit

import (
	"cmp"
	"fmt"
	"slices"

	"modeldex/dataset"
)

// A machine is what a query runs on.
type machine struct {
	hw        *dataset.Hardware // nil for one described by its memory
	works     *dataset.Hardware // what does the work: the hardware, or the chip that its memory leaves; nil as hw
	memory    int64             // bytes of all devices, 0 where unknown
	available int64             // of them for a model
	share     *Share            // nil where all of it
	discrete  bool
	bandwidth float64 // bytes per second of one device, 0 where unknown
	related   []int32 // numbers of the related records on which something was measured
	missing   []string
}

func (e *Engine) machine(q *Query) (*machine, *Fault) {
	if q.Hardware == "" {
		if q.MemoryGB == 0 {
			return nil, &Fault{"hardware", "is required, or memory_gb and bandwidth_gbps"}
		}
		m := &machine{discrete: true, memory: bytesOf(q.MemoryGB) * int64(q.Count), bandwidth: q.BandwidthGBps * 1e9}
		m.available = m.memory
		if q.UnifiedShare > 0 {
			m.share = &Share{Share: q.UnifiedShare, Basis: "asked for"}
			m.available = int64(float64(m.memory) * q.UnifiedShare)
			m.discrete = false
		}
		return m, nil
	}
	h := e.hardware[q.Hardware]
	if h == nil {
		return nil, &Fault{"hardware", fmt.Sprintf("no hardware has slug %q", q.Hardware)}
	}
	m := &machine{hw: h.Hardware, works: h.Hardware, discrete: !h.UnifiedMemory && h.Type != "cpu", bandwidth: h.bandwidth, related: h.related}
	if q.BandwidthGBps > 0 {
		m.bandwidth = q.BandwidthGBps * 1e9
	}
	gb := cmp.Or(q.MemoryGB, h.memoryGB)
	if gb == 0 {
		m.missing = append(m.missing, missingMemory(h.Hardware))
		return m, nil
	}
	m.memory = bytesOf(gb) * int64(q.Count)
	m.available = m.memory
	if chip := e.chipWith(h, gb); chip != nil {
		m.works = chip.Hardware
		if q.BandwidthGBps == 0 {
			m.bandwidth = chip.bandwidth
		}
	}
	if !m.discrete {
		share := shareOf(h.Hardware, gb)
		if shown := e.shown[e.siliconOf(h.Slug)]; shown.Share > share.Share {
			share = shown
		}
		if q.UnifiedShare > 0 {
			share = Share{Share: q.UnifiedShare, Basis: "asked for"}
		}
		m.share = &share
		m.available = int64(float64(m.memory) * share.Share)
	}
	return m, nil
}

// Unpublished names the facts of a piece of hardware that are not published and without which nothing can be
// said of what fits; nil where all are known.
func (e *Engine) Unpublished(hardware dataset.Slug) []string {
	m, fault := e.machine(&Query{Hardware: hardware, Count: 1})
	if fault != nil {
		return nil
	}
	return m.missing
}

// chipWith is the only chip of a machine without a bandwidth of its own that is made with so many GB; nil where there is none, or several.
func (e *Engine) chipWith(h *piece, gb float64) (only *piece) {
	if h.bandwidth > 0 || h.Chip == nil {
		return nil
	}
	for _, slug := range *h.Chip {
		chip := e.hardware[slug]
		switch {
		case chip == nil || chip.MemoryOptionsGB == nil:
			return nil // it may be made with that, too
		case !slices.Contains(*chip.MemoryOptionsGB, gb):
		case only != nil:
			return nil
		default:
			only = chip
		}
	}
	return only
}

// MemorySizes are the sizes of memory, in GB, of a piece of hardware that is sold with several (itself, its chips or its variants), and the
// one that counts if a query has no MemoryGB. It is nil if there is one size, or none is known.
func (e *Engine) MemorySizes(hardware dataset.Slug) (sizes []float64, counted float64) {
	h := e.hardware[hardware]
	if h == nil || h.memoryGB == 0 {
		return nil, 0
	}
	of := []dataset.Slug{hardware}
	switch {
	case h.MemoryOptionsGB != nil:
	case h.Chip != nil:
		of = *h.Chip
	case h.Variants != nil:
		of = *h.Variants
	}
	for _, slug := range of {
		if one := e.hardware[slug]; one != nil && one.MemoryOptionsGB != nil {
			sizes = append(sizes, *one.MemoryOptionsGB...)
		}
	}
	slices.Sort(sizes)
	if sizes = slices.Compact(sizes); len(sizes) < 2 {
		return nil, 0
	}
	return sizes, h.memoryGB
}

func bytesOf(gb float64) int64 { return int64(gb * gib) }

func missingMemory(h *dataset.Hardware) string {
	if h.Type == "cpu" {
		return "hardware.memory_gb"
	}
	return "hardware.vram_gb"
}

// memoryGB is the memory of one device; of a record of several variants the
// smallest of theirs, so that no variant is promised what it has not. 0 where unknown.
func (e *Engine) memoryGB(h *dataset.Hardware) float64 {
	switch {
	case h.VRAMGB != nil:
		return *h.VRAMGB
	case h.MemoryGB != nil:
		return *h.MemoryGB
	case h.Variants == nil:
		return 0
	}
	least := 0.0
	for _, slug := range *h.Variants {
		v := e.hardware[slug]
		if v == nil || v.VRAMGB == nil {
			return 0
		}
		if least == 0 || *v.VRAMGB < least {
			least = *v.VRAMGB
		}
	}
	return least
}

// shareOf is the default share of the memory of a machine of so many GB, where all of it is not for models.
//
// macOS lets graphics use two thirds of up to 36 GB and three quarters of more: machines of
// 16 GB report 10,922 MiB, of 64 GB 49,152 MiB as recommendedMaxWorkingSetSize. AMD's tools give
// graphics at most 96 of 128 GB; the Linux default is half, and can be raised to nearly all.
// NVIDIA's unified machines have one pool for both sides, of which the system keeps its part. A processor works
// in main memory, which no tool divides: a tenth is what Kubernetes shows how to keep for the system.
func shareOf(h *dataset.Hardware, gb float64) Share {
	switch {
	case h.Type == "cpu":
		return shareFrom(0.9, "main memory, less the system's part", "https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/")
	case h.Vendor == dataset.Apple && gb <= 36:
		return shareFrom(2.0/3, "default working set of macOS up to 36 GB", "https://github.com/abetlen/llama-cpp-python/issues/687")
	case h.Vendor == dataset.Apple:
		return shareFrom(0.75, "default working set of macOS above 36 GB", "https://github.com/gpustack/gpustack/issues/1375")
	case h.Vendor == dataset.Nvidia:
		return shareFrom(0.9, "one pool for processor and graphics, less the system's part", "https://github.com/vllm-project/vllm/issues/35313")
	}
	return shareFrom(0.75, "largest share vendors' tools give to graphics, 96 of 128 GB", "https://rocm.docs.amd.com/en/latest/how-to/system-optimization/strixhalo.html")
}

func shareFrom(part float64, basis string, source dataset.URL) Share {
	return Share{round4(part), basis, &source}
}

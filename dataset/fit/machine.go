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
	memory    int64             // bytes of all devices, 0 where unknown
	available int64             // of them for a model
	share     *Share            // nil where all of it
	discrete  bool
	bandwidth float64 // bytes per second of one device, 0 where unknown
	missing   []string
	near      *nearby
}

// nearby keeps the samples near to a machine between the estimates for its models.
type nearby struct{ *place }

// place gathers the samples near to a configuration, or gives those of the one before.
func (m *machine) place(l *learnt, p *point) *place {
	if m.near == nil {
		m.near = &nearby{}
	}
	if m.near.place == nil || !m.near.is(p) {
		m.near.place = l.placeOf(p)
	} else if !m.near.sorted {
		slices.SortFunc(m.near.samples, func(a, b placed) int { return cmp.Compare(a.far, b.far) })
		m.near.sorted = true
	}
	return m.near.place
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
	m := &machine{hw: h, discrete: !h.UnifiedMemory && h.Type != "cpu", bandwidth: e.line.Bandwidth(q.Hardware)}
	if q.BandwidthGBps > 0 {
		m.bandwidth = q.BandwidthGBps * 1e9
	}
	gb := q.MemoryGB
	if gb == 0 {
		gb = e.memoryGB(h)
	}
	if gb == 0 {
		m.missing = append(m.missing, missingMemory(h))
		return m, nil
	}
	m.memory = bytesOf(gb) * int64(q.Count)
	m.available = m.memory
	if !m.discrete {
		share := shareOf(h, gb)
		if q.UnifiedShare > 0 {
			share = Share{Share: q.UnifiedShare, Basis: "asked for"}
		}
		m.share = &share
		m.available = int64(float64(m.memory) * share.Share)
	}
	return m, nil
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

// shareOf is the default share of unified memory of a machine of so many GB.
//
// macOS lets graphics use two thirds of up to 36 GB and three quarters of more: machines of
// 16 GB report 10,922 MiB, of 64 GB 49,152 MiB as recommendedMaxWorkingSetSize. AMD's tools give
// graphics at most 96 of 128 GB; the Linux default is half, and can be raised to nearly all.
// NVIDIA's unified machines have one pool for both sides, of which the system keeps its part.
func shareOf(h *dataset.Hardware, gb float64) Share {
	switch {
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

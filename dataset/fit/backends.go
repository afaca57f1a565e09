package fit

import (
	"cmp"
	"maps"
	"slices"

	"modeldex/dataset"
)

// A place is where a backend of a kind of tool is usual: a piece of silicon, or what one maker made. What a processor does is of the class
// CPU, whatever machine it is in.
type place struct {
	silicon  int32          // anySilicon for all of a maker
	maker    dataset.Vendor // anyMaker for silicon, and for all processors
	class    Class          // notCPU for all of a maker but processors
	toolKind int32
}

const (
	anySilicon = -1
	anyMaker   = dataset.Vendor("")
	notCPU     = noClass
)

// A backendCount is on how many pieces of silicon a backend was measured, and how often.
type backendCount struct{ silicon, runs int }

func (c backendCount) compare(d backendCount) int {
	return cmp.Or(cmp.Compare(c.silicon, d.silicon), cmp.Compare(c.runs, d.runs))
}

// backendCounts counts backends at places. Silicon comes before runs, so that the most measured machine does not speak for all.
type backendCounts map[place]map[string]backendCount

// count counts the backend of a measurement, if it is known. Three are not what people choose: Metal on cards of other makers than Apple
// was for Macs that are no longer made. Vulkan on NVIDIA's cards is measured beside CUDA. Ollama and LM Studio have MLX beside
// llama.cpp, with whose kind of tool they are counted.
func (c backendCounts) count(h *dataset.Hardware, tool dataset.Slug, p *point, backend string) {
	switch {
	case backend == "", backend == "metal" && h.Vendor != dataset.Apple, backend == "vulkan" && h.Vendor == dataset.Nvidia,
		backend == "mlx" && toolKindOf(tool) != "mlx":
		return
	}
	silicon := 0
	if c.add(place{p.silicon, anyMaker, p.class, p.toolKind}, backend, 1).runs == 1 {
		silicon = 1
	}
	c.add(place{anySilicon, h.Vendor, p.class, p.toolKind}, backend, silicon)
	if p.class == CPU {
		c.add(place{anySilicon, anyMaker, CPU, p.toolKind}, backend, silicon)
	} else {
		c.add(place{anySilicon, h.Vendor, notCPU, p.toolKind}, backend, silicon)
	}
}

// add adds one run and so much silicon to a count and returns it.
func (c backendCounts) add(at place, backend string, silicon int) backendCount {
	if c[at] == nil {
		c[at] = map[string]backendCount{}
	}
	n := c[at][backend]
	n = backendCount{n.silicon + silicon, n.runs + 1}
	c[at][backend] = n
	return n
}

// usual are the backends of each place, that with the largest count first.
func (c backendCounts) usual() map[place][]string {
	out := make(map[place][]string, len(c))
	for at, counts := range c {
		out[at] = slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
			return cmp.Or(counts[b].compare(counts[a]), cmp.Compare(a, b))
		})
	}
	return out
}

// backendOf is the backend a tool is expected to use on a piece of hardware. It is the usual one of the
// silicon, else of the maker's hardware of that class, else of all the maker's hardware. Where that has none
// and the processor shares the memory, it does the work. A backend that was not measured on the silicon must be
// one of its record, if that names any. Empty if nothing is known of such a tool there.
func (l *learnt) backendOf(h *dataset.Hardware, tool dataset.Slug) string {
	silicon, kind, class := l.names.find(siliconName, l.siliconOf(h.Slug)), l.names.find(toolKindName, toolKindOf(tool)), classOf(h, "gpu")
	shared := h.Type == "cpu" || h.UnifiedMemory
	if silicon >= 0 { // it was measured
		if own := l.usual[place{silicon, anyMaker, class, kind}]; len(own) > 0 {
			return own[0]
		}
		if own := l.usual[place{silicon, anyMaker, CPU, kind}]; len(own) > 0 && shared {
			return own[0]
		}
	}
	others := []place{{anySilicon, h.Vendor, class, kind}, {anySilicon, h.Vendor, notCPU, kind}}
	if shared {
		others = append(others, place{anySilicon, anyMaker, CPU, kind})
	}
	for _, at := range others {
		for _, name := range l.usual[at] {
			if len(h.Backends) == 0 || slices.Contains(h.Backends, name) {
				return name
			}
		}
	}
	return ""
}

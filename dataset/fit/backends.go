package fit

import (
	"cmp"
	"maps"
	"slices"

	"modeldex/dataset"
)

// A place is where a backend of a kind of tool is usual: a piece of silicon, or what one maker made. What a processor
// does is of the class CPU, whatever machine it is in.
type place struct {
	silicon int32          // 0 for all of a maker
	maker   dataset.Vendor // empty for silicon, and for all processors
	class   Class          // classes for all but processors
	kind    string         // see toolKindOf
}

// A backendCount is on how many pieces of silicon a backend was measured, and how often. Silicon comes before runs, so
// that the most measured machine does not speak for all.
type backendCount struct{ silicon, runs int }

// backendCounts counts backends at places.
type backendCounts map[place]map[string]backendCount

// count counts the backend of a measurement, if it is known. Three are not what people choose: Metal on cards of other
// makers than Apple was for Macs that are no longer made. Vulkan on NVIDIA's cards is measured beside CUDA. Ollama and
// LM Studio have MLX beside llama.cpp, with whose kind of tool they are counted.
func (c backendCounts) count(h *dataset.Hardware, tool dataset.Slug, of *config, backend string) {
	kind := toolKindOf(tool)
	switch {
	case backend == "", backend == "metal" && h.Vendor != dataset.Apple, backend == "vulkan" && h.Vendor == dataset.Nvidia,
		backend == "mlx" && kind != "mlx":
		return
	}
	silicon := 0
	if c.add(place{of.silicon, "", of.class, kind}, backend, 1).runs == 1 {
		silicon = 1
	}
	if of.class == CPU {
		c.add(place{0, "", CPU, kind}, backend, silicon)
		return
	}
	c.add(place{0, h.Vendor, of.class, kind}, backend, silicon)
	c.add(place{0, h.Vendor, classes, kind}, backend, silicon)
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
			x, y := counts[a], counts[b]
			return cmp.Or(cmp.Compare(y.silicon, x.silicon), cmp.Compare(y.runs, x.runs), cmp.Compare(a, b))
		})
	}
	return out
}

// backendOf is the backend a tool is expected to use on a piece of hardware: the usual one of the silicon, else of the
// maker's hardware of its class, else of all the maker's hardware. Where that has none and the processor shares the
// memory, it does the work. A backend that was not measured on the silicon must be one of its record, if that names any.
// Empty if nothing is known.
func (e *Engine) backendOf(h *dataset.Hardware, tool dataset.Slug) string {
	usual, kind, class := e.learnt.usual, toolKindOf(tool), classOf(h, "gpu")
	silicon := e.numbers.find("silicon " + e.siliconOf(h.Slug))
	shared := h.Type == "cpu" || h.UnifiedMemory
	if own := usual[place{silicon, "", class, kind}]; len(own) > 0 {
		return own[0]
	}
	if own := usual[place{silicon, "", CPU, kind}]; len(own) > 0 && shared {
		return own[0]
	}
	var others []string
	if h.Type != "cpu" {
		others = slices.Concat(usual[place{0, h.Vendor, class, kind}], usual[place{0, h.Vendor, classes, kind}])
	}
	if shared {
		others = append(others, usual[place{0, "", CPU, kind}]...)
	}
	for _, name := range others {
		if len(h.Backends) == 0 || slices.Contains(h.Backends, name) {
			return name
		}
	}
	return ""
}

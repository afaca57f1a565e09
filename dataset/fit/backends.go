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

// backendCounts counts the runs of backends at places. Of a maker each piece of silicon counts more than all runs, so
// that the most measured machine does not speak for all.
type backendCounts map[place]map[string]int

// usualBackends are the backends of each place, the usual one first.
type usualBackends map[place][]string

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
	places := []place{{of.silicon, "", of.class, kind}, {0, h.Vendor, of.class, kind}, {0, h.Vendor, classes, kind}}
	if of.class == CPU {
		places[1], places = place{0, "", CPU, kind}, places[:2]
	}
	n := 1
	for _, at := range places {
		if c[at] == nil {
			c[at] = map[string]int{}
		}
		if c[at][backend] += n; at == places[0] && c[at][backend] == 1 {
			n += mostRead
		}
	}
}

func (c backendCounts) usual() usualBackends {
	out := usualBackends{}
	for at, counts := range c {
		out[at] = slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
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
	own, others := usual[place{silicon, "", class, kind}], []string(nil)
	if h.Type != "cpu" {
		others = slices.Concat(usual[place{0, h.Vendor, class, kind}], usual[place{0, h.Vendor, classes, kind}])
	}
	if h.Type == "cpu" || h.UnifiedMemory {
		own, others = slices.Concat(own, usual[place{silicon, "", CPU, kind}]), append(others, usual[place{0, "", CPU, kind}]...)
	}
	if len(own) > 0 {
		return own[0]
	}
	if i := slices.IndexFunc(others, func(name string) bool { return len(h.Backends) == 0 || slices.Contains(h.Backends, name) }); i >= 0 {
		return others[i]
	}
	return ""
}

package fit

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
)

// point gives the configuration of a measurement in numbers; false where a fact is missing.
func (e *Engine) point(b *dataset.Benchmark) (point, bool) {
	h, m := e.hardware[b.Hardware], e.models[b.Model]
	if h == nil || m == nil {
		return point{}, false
	}
	bytes := e.line.BytesPerToken(b)
	if bytes == 0 || h.bandwidth == 0 {
		return point{}, false
	}
	backend := text(b.Backend)
	unit := unitOf(backend)
	if b.ComputeUnit != nil {
		unit = string(*b.ComputeUnit)
	}
	number := e.learnt.names.of
	p := e.pointOf(h.Hardware, b.Tool, backend, unit, h.bandwidth, number)
	p.model, p.family, p.network = number(modelName, string(b.Model)), number(familyName, string(m.Family)), number(networkName, m.network)
	p.quant, p.quantKind = number(quantName, *b.Quantization), number(quantKindName, quantKindOf(*b.Quantization))
	p.mixture, p.logBytes, p.logBits = m.mixture(), math.Log(bytes), math.Log(e.bitsOf(*b.Quantization))
	return p, p.class != noClass
}

// pointOf is the part of a configuration that is of a machine and what runs on it, with names numbered by number. An
// unknown architecture is like no other.
func (e *Engine) pointOf(h *dataset.Hardware, tool dataset.Slug, backend, unit string, bandwidth float64, number func(kind, string) int32) point {
	silicon := e.learnt.siliconOf(h.Slug)
	return point{
		setup: setup{
			hardware: number(hardwareName, string(cmp.Or(h.OnlyChip(), h.Slug))), silicon: number(siliconName, silicon),
			arch: number(archName, cmp.Or(text(h.Architecture), silicon)), tool: number(toolName, string(tool)), toolKind: number(toolKindName, toolKindOf(tool)),
			backend: number(backendName, backend), unit: number(unitName, unit), logBandwidth: math.Log(bandwidth),
			memory: memoryOf(h, unit),
		},
		class: classOf(h, unit),
	}
}

// spotOf is the spot of a piece of hardware with a tool and a backend.
func (e *Engine) spotOf(h *dataset.Hardware, tool dataset.Slug, backend string, bandwidth float64) spot {
	s := spot{e.pointOf(h, tool, backend, unitOf(backend), bandwidth, e.learnt.names.find), backend}
	if s.backend < 0 && backend == "" {
		s.backend = -2
	}
	return s
}

// memoryOf is the kind of memory that a part of a machine works with.
func memoryOf(h *dataset.Hardware, unit string) memoryKind {
	switch {
	case strings.HasPrefix(text(h.MemoryType), "HBM"):
		return stackedMemory
	case unit == "cpu" && h.UnifiedMemory:
		return sharedMemory
	}
	return ownMemory
}

// networkOf names the shape of a model, the same for models that were trained from one base; its slug where a part of it is unknown.
func networkOf(m *dataset.Model) string {
	a, kv := &m.Architecture, &m.KVCache
	if a.NumLayers == nil || a.HiddenSize == nil || a.VocabSize == nil {
		return string(m.Slug)
	}
	return fmt.Sprint(*a.NumLayers, *a.HiddenSize, *a.VocabSize, val(a.IntermediateSize), val(a.NumExperts), val(a.NumExpertsPerToken), val(a.MoEIntermediateSize), val(kv.NumKVHeads), val(kv.HeadDim))
}

func (t *target) mixture() bool {
	return t.Architecture.NumExperts != nil || t.ActiveParamsB != nil
}

// linkSilicon finds the records that stand for others: of variants, of the graphics inside a chip, and of machines that can have chips of
// one silicon only.
func (l *learnt) linkSilicon(hardware []dataset.Hardware) {
	for i := range hardware {
		h := &hardware[i]
		if h.Variants != nil {
			for _, v := range *h.Variants {
				l.silicon[v] = string(h.Slug)
			}
		}
		if h.IntegratedGPU != nil {
			l.silicon[*h.IntegratedGPU] = string(h.Slug)
		}
	}
	machines := map[dataset.Slug]string{}
	for i := range hardware {
		h := &hardware[i]
		if h.Chip == nil || len(*h.Chip) == 0 {
			continue
		}
		of := l.siliconOf((*h.Chip)[0])
		if !slices.ContainsFunc(*h.Chip, func(chip dataset.Slug) bool { return l.siliconOf(chip) != of }) {
			machines[h.Slug] = of
		}
	}
	maps.Copy(l.silicon, machines)
}

// siliconOf is the record that stands for the silicon of a piece of hardware.
func (l *learnt) siliconOf(h dataset.Slug) string {
	if s, isVariant := l.silicon[h]; isVariant {
		return s
	}
	return string(h)
}

func pageOf(b *dataset.Benchmark) string {
	if b.SourceURL == nil {
		return "own"
	}
	return string(*b.SourceURL)
}

// compareRuns orders rows by page and configuration.
func compareRuns(a, b *row) int {
	return cmp.Or(
		cmp.Compare(a.page, b.page), cmp.Compare(a.model, b.model), cmp.Compare(a.hardware, b.hardware), cmp.Compare(a.tool, b.tool),
		cmp.Compare(a.backend, b.backend), cmp.Compare(a.quant, b.quant), cmp.Compare(a.logBytes, b.logBytes),
	)
}

package fit

import (
	"cmp"
	"math"

	"modeldex/dataset"
)

// point gives the configuration of a measurement in numbers; false where a fact is missing.
func (e *Engine) point(b *dataset.Benchmark) (point, bool) {
	h, m := e.hardware[b.Hardware], e.models[b.Model]
	if h == nil || m == nil {
		return point{}, false
	}
	return e.pointOf(m, h, b, e.line.Bandwidth(b.Hardware), e.learnt.names.of)
}

// pointOf is point with the bandwidth given and names numbered by number. b need hold no more
// than model, quantization, size, tool and backend.
func (e *Engine) pointOf(m *target, h *dataset.Hardware, b *dataset.Benchmark, bandwidth float64, number func(kind, string) int32) (point, bool) {
	bytes, bits := e.line.BytesPerToken(b), e.line.BitsPerWeight(*b.Quantization)
	if bytes == 0 || bandwidth == 0 {
		return point{}, false
	}
	if bits == 0 {
		bits = 4.5 // only compared with other bits; most names without a number are of 4-bit files
	}
	backend := text(b.Backend)
	unit := unitOf(backend)
	if b.ComputeUnit != nil {
		unit = string(*b.ComputeUnit)
	}
	return point{
		model: number(modelName, string(b.Model)), family: number(familyName, string(m.Family)), hardware: number(hardwareName, string(h.Slug)),
		silicon: number(siliconName, e.learnt.siliconOf(h.Slug)), arch: number(archName, text(h.Architecture)),
		tool: number(toolName, string(b.Tool)), toolKind: number(toolKindName, toolKindOf(b.Tool)),
		backend: number(backendName, backend), unit: number(unitName, unit),
		quant: number(quantName, *b.Quantization), quantKind: number(quantKindName, quantKindOf(*b.Quantization)),
		class: classOf(h, unit), mixture: m.mixture(),
		logBytes: math.Log(bytes), logBandwidth: math.Log(bandwidth), logBits: math.Log(bits),
	}, true
}

func (t *target) mixture() bool {
	return t.Architecture.NumExperts != nil || t.ActiveParamsB != nil
}

// siliconOf is the record of a piece of hardware and its variants.
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

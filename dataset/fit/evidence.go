package fit

import (
	"math"
	"strings"

	"modeldex/dataset"
)

// outrank keeps a run that was resident, by its own words, in less memory than the formula asks
// for. A run whose weights alone exceed the memory is not evidence: it is impossible, and a matter
// for the checks of the dataset.
func (r *reader) outrank(b *dataset.Benchmark) {
	if b.Quantization == nil || b.PartialOffload == nil && b.NGPULayers == nil { // most say nothing of what is resident
		return
	}
	t, h := r.models[b.Model], r.hardware[b.Hardware]
	if t == nil || h == nil || len(t.missing) > 0 || !resident(b, t) {
		return
	}
	gb := h.memoryGB
	if b.MemoryGB != nil {
		gb = *b.MemoryGB
	}
	weights := r.weightsOf(b, t)
	if gb == 0 || weights == 0 {
		return
	}
	memory := bytesOf(gb) * b.HardwareCount
	usable := memory
	if h.UnifiedMemory {
		usable = int64(float64(memory) * shareOf(h.Hardware, gb).Share)
	}
	tokens := val(b.NPrompt) + val(b.NGen) + val(b.ContextDepth)
	q := Query{Context: tokens}
	if tokens == 0 || q.settle() != nil {
		return
	}
	at := t.layout.load(burden{}, weights, r.storage(*b.Quantization), !h.UnifiedMemory && h.Type != "cpu", true)
	need := at.onDevices() + t.least.cache(&q).Bytes.Bytes + t.least.compute(&q)*b.HardwareCount
	if need <= usable || weights > memory {
		return
	}
	r.proofs[b.Model] = append(r.proofs[b.Model], proof{Evidence{b.ID, MeasuredOn{MeasuredOn: b.Hardware}, memory, tokens, need}, *b.Quantization, h.UnifiedMemory})
	r.outgrow(b, h, float64(need)/float64(memory))
}

// outgrow keeps the largest share of unified memory that a run used, on silicon whose limit the owner can raise. The
// macOS limit is a default that most people keep.
func (r *reader) outgrow(b *dataset.Benchmark, h *piece, part float64) {
	silicon := r.siliconOf(h.Slug)
	if h.UnifiedMemory && h.Vendor != dataset.Apple && part > r.shown[silicon].Share {
		r.shown[silicon] = Share{math.Floor(part*1e4) / 1e4, "largest share that a run used, " + string(b.ID) + "; the owner may have to raise a limit", b.SourceURL}
	}
}

// resident reports whether a run says that nothing was in other memory.
func resident(b *dataset.Benchmark, t *target) bool {
	switch {
	case b.PartialOffload != nil:
		return !*b.PartialOffload
	case b.NGPULayers != nil && t.Architecture.NumLayers != nil:
		return *b.NGPULayers > *t.Architecture.NumLayers || *b.NGPULayers == -1
	}
	return false
}

// weightsOf is the size of the file of a run in bytes, 0 if unknown.
func (e *Engine) weightsOf(b *dataset.Benchmark, t *target) int64 {
	if b.ModelSizeGiB != nil && !val(b.SizeIncludesProjector) {
		return int64(*b.ModelSizeGiB * gib)
	}
	for _, i := range t.named(*b.Quantization) {
		return t.Quantizations[i].SizeBytes
	}
	return 0
}

// outranking lists the runs that outrank the formula for a query: the same weights in no more
// memory, with no shorter a cache.
func (e *Engine) outranking(q *Query, t *target, m *machine, z *dataset.Quantization) []Evidence {
	out := []Evidence{}
	for _, p := range e.proofs[t.Slug] {
		if p.proves(q, m, z) {
			p.MeasuredOn = e.on(m, p.MeasuredOn.MeasuredOn)
			out = append(out, p.Evidence)
		}
	}
	return out
}

func (p *proof) proves(q *Query, m *machine, z *dataset.Quantization) bool {
	unified := m.hw != nil && m.hw.UnifiedMemory || m.hw == nil && m.share != nil
	usual := q.Parallel == 1 && q.MicroBatch == DefaultMicroBatch && q.flashAttention() && q.Rules == LlamaCpp
	return usual && p.unified == unified && p.Memory <= m.memory && p.Context >= q.Context && strings.EqualFold(p.quantization, z.Name)
}

package dataset

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bounds that no part passes. They are far above what is built, so that new products fit: what
// they find is a mistake of units or decimals.
const (
	maxVRAMGB       = 1_536  // of one accelerator or machine; the most built is 512
	maxMemoryGB     = 16_384 // of one processor; the most built is 9,216
	maxTDPWatts     = 30_000 // of one part; a wafer-scale engine takes 23,000
	maxSpeedTPS     = 1e6    // of one device, prompt or generation; the most published is some 60,000
	maxBandwidth    = 30_000 // GB/s of memory beside the chip; HBM4 parts reach 22,000
	maxOnChip       = 1e8    // GB/s of memory on the chip; a wafer-scale engine has 21,000,000
	channelSlack    = 1.02   // of channels x 8 bytes x rated speed, for rounding
	minWeightBits   = 0.8    // of a file; the smallest published have 1.6
	maxWeightBits   = 40     // of a file; 32-bit floats with some parts twice reach 35
	bitsAboveType   = 3      // times the average of the type; small models with large vocabularies reach 2.3
	bitsBelowType   = 0.2    // times the average of the type; models published in 4 bits reach 0.28 for "F16"
	bitsSlack       = 1.25   // between the bits a record says and its size gives, either way
	promptOverDense = 8      // times a dense FP16 rate of tensor or matrix units; 4-bit units reach 4
	promptOverOther = 64     // times the rate of other units, where the faster ones are not known
)

// typeBandwidth is what no memory of a type passes, in GB/s, by the start of its name.
var typeBandwidth = []struct {
	prefix string
	gbps   float64
}{{"LPDDR", 1_500}, {"DDR", 2_000}, {"GDDR", 3_500}, {"HBM", maxBandwidth}}

// checkPart holds the figures of a part to what can be built.
func (l *loader) checkPart(h *Hardware, p place) {
	for field, v := range map[string]*float64{"vram_gb": h.VRAMGB, "hbm_gb": h.HBMGB} {
		l.atMost(p, field, v, maxVRAMGB, " GB")
	}
	for field, v := range map[string]*float64{"memory_gb": h.MemoryGB, "max_memory_gb": h.MaxMemoryGB} {
		l.atMost(p, field, v, maxMemoryGB, " GB")
	}
	l.atMost(p, "tdp_watts", h.TDPWatts, maxTDPWatts, " W")
	bound, why := bandwidthBound(h)
	l.atMost(p, "memory_bandwidth_gbps", h.MemoryBandwidthGBps, bound, why)
	l.atMost(p, "memory_read_bandwidth_gbps", h.MemoryReadBandwidthGBps, bound, why)
	if h.MemoryBandwidthRangeGBps != nil {
		for i := range *h.MemoryBandwidthRangeGBps {
			l.atMost(p, "memory_bandwidth_range_gbps."+strconv.Itoa(i), &(*h.MemoryBandwidthRangeGBps)[i], bound, why)
		}
	}
}

// bandwidthBound is what the memory of a part cannot pass, and why.
func bandwidthBound(h *Hardware) (gbps float64, why string) {
	gbps, why = maxBandwidth, " GB/s"
	if h.MemoryType != nil {
		kind := strings.ToUpper(*h.MemoryType)
		if strings.Contains(kind, "SRAM") {
			return maxOnChip, " GB/s, for memory on the chip"
		}
		for _, t := range typeBandwidth {
			if strings.HasPrefix(kind, t.prefix) {
				gbps, why = t.gbps, " GB/s, for "+t.prefix+" memory"
				break
			}
		}
	}
	if h.MemoryChannels != nil && h.MemorySpeedMTs != nil && h.HBMGB == nil {
		if most := rated(h) * channelSlack; most < gbps {
			return math.Round(most), " GB/s, what memory_channels x 8 bytes x memory_speed_mts give"
		}
	}
	return gbps, why
}

// checkShape holds the counts of a model to each other that checkCache leaves.
func (l *loader) checkShape(m *Model, p place) {
	a, k := &m.Architecture, &m.KVCache
	within := func(field string, v *int64, of string, bound *int64) {
		if v != nil && bound != nil && *v > *bound {
			l.at(p, field, fmt.Sprintf("must be at most %s, got %d of %d", of, *v, *bound), of)
		}
	}
	within("kv_cache.global_num_kv_heads", k.GlobalNumKVHeads, "architecture.num_attention_heads", a.NumAttentionHeads)
	within("kv_cache.sliding_num_kv_heads", k.SlidingNumKVHeads, "architecture.num_attention_heads", a.NumAttentionHeads)
	within("kv_cache.num_linear_attention_layers", k.NumLinearAttentionLayers, "architecture.num_layers", a.NumLayers)
	within("architecture.num_dense_layers", a.NumDenseLayers, "architecture.num_layers", a.NumLayers)
	within("architecture.num_experts_per_token", a.NumExpertsPerToken, "architecture.num_experts", a.NumExperts)
}

// checkSizes holds the sizes of the files of a model to its parameters.
func (l *loader) checkSizes(m *Model, p place, typeBits map[string]float64) {
	if m.ParamsB == nil {
		return
	}
	bitsOf := func(q *Quantization) float64 { return float64(q.SizeBytes) * 8 / (*m.ParamsB * 1e9) }
	wrong := 0
	for i := range m.Quantizations {
		if q := &m.Quantizations[i]; bitsProblem(bitsOf(q), typeBits[q.Name]) != "" {
			wrong++
		}
	}
	if wrong > fewRepeats && wrong*2 > len(m.Quantizations) { // so the sizes are right
		l.at(p, "params_b", fmt.Sprintf("does not go with size_bytes of %d of %d quantizations, got %s", wrong, len(m.Quantizations), plainNumber(*m.ParamsB)))
		return
	}
	for i := range m.Quantizations {
		q, at := &m.Quantizations[i], fmt.Sprintf("quantizations.%d.", i)
		bits := bitsOf(q)
		if text := bitsProblem(bits, typeBits[q.Name]); text != "" {
			l.at(p, at+"size_bytes", text, "params_b", at+"name")
		} else if q.BitsPerWeight != nil && (*q.BitsPerWeight > bits*bitsSlack || *q.BitsPerWeight < bits/bitsSlack) {
			l.at(p, at+"bits_per_weight", fmt.Sprintf("must follow from size_bytes and params_b, which give %.2f, got %s", bits, plainNumber(*q.BitsPerWeight)), "params_b", at+"size_bytes")
		}
	}
}

// bitsProblem says what is wrong with a file of so many bits per weight, where files of its type
// have ofType on average, 0 for unknown. Empty where nothing is.
func bitsProblem(bits, ofType float64) string {
	low, high := float64(minWeightBits), float64(maxWeightBits)
	if ofType > 0 {
		low, high = max(low, ofType*bitsBelowType), min(high, ofType*bitsAboveType)
	}
	if bits >= low && bits <= high {
		return ""
	}
	return fmt.Sprintf("must give %.1f to %.1f bits per weight for its type, not %.1f", low, high, bits)
}

// typeBits are the average bits per weight of the storage types, by name.
func (l *loader) typeBits() map[string]float64 {
	out := make(map[string]float64, len(l.quantizations.recs))
	for _, q := range l.quantizations.recs {
		if q.EffectiveBitsPerWeight != nil {
			out[q.Name] = *q.EffectiveBitsPerWeight
		}
	}
	return out
}

package dataset

import (
	"fmt"
	"strconv"
)

// Bounds of figures that no other rule holds to each other. They are far beyond what is built and measured: what they
// find is a figure in another unit, in the wrong field, or made by a program.
const (
	minMemoryGB     = 0.25    // of one part; the least published is 1
	minBandwidth    = 1       // GB/s; the least published is 17
	minHBM          = 50      // GB/s of memory with wide buses; the least published is 410
	minOfRated      = 0.5     // of channels x 8 bytes x rated speed
	maxTeraOps      = 1e6     // TFLOPS or TOPS of one part; a wafer-scale engine has 125,000
	maxCores        = 1e6     // of one part; a wafer-scale engine has 900,000
	maxChannels     = 1_024   // of memory
	maxMTs          = 100_000 // of memory, in MT/s
	maxPriceUSD     = 1e7     // of one part
	maxAmount       = 1e11    // of a price in any currency
	minParamsB      = 0.0001
	maxParamsB      = 100_000
	maxWidth        = 1e6 // of a layer
	maxVocabulary   = 1e7
	maxLayers       = 10_000
	maxExperts      = 100_000
	maxTokens       = 1e8 // of a context, a prompt or an answer; the longest published context has 10,485,760
	maxDevices      = 1e5 // of one measurement; the most published are 288
	maxThreads      = 1e5
	maxUsers        = 1e6
	minSpeedTPS     = 0.001  // tokens per second; the least published is 0.24
	maxMilliseconds = 1e9    // 11 days
	maxPowerWatts   = 1e8    // of a machine
	maxDeviation    = 3      // times a speed; ten runs that are not negative cannot have more
	minTypeBits     = 0.5    // of a storage type
	minYear         = "1990" // nothing here is older
)

// atLeast adds a fault where a known value is below a bound.
func (l *loader) atLeast(p place, field string, v *float64, bound float64, why string) {
	if v != nil && *v < bound {
		l.at(p, field, fmt.Sprintf("must be at least %s%s, got %s", plainNumber(bound), why, plainNumber(*v)))
	}
}

// countAtMost adds a fault where a known count passes a bound.
func (l *loader) countAtMost(p place, field string, v *int64, bound int64, what string) {
	if v != nil && *v > bound {
		l.at(p, field, fmt.Sprintf("must be at most %d%s, got %d", bound, what, *v))
	}
}

// each calls do for the entries of a list that may be unknown.
func each(field string, list *[]float64, do func(field string, v *float64)) {
	if list != nil {
		for i := range *list {
			do(field+"."+strconv.Itoa(i), &(*list)[i])
		}
	}
}

// boundHardware holds the figures of a part to what can be built and sold.
func (l *loader) boundHardware(h *Hardware, p place) {
	for field, v := range map[string]*float64{"vram_gb": h.VRAMGB, "hbm_gb": h.HBMGB, "memory_gb": h.MemoryGB, "max_memory_gb": h.MaxMemoryGB} {
		l.atLeast(p, field, v, minMemoryGB, " GB")
	}
	each("memory_options_gb", h.MemoryOptionsGB, func(field string, v *float64) {
		l.atMost(p, field, v, maxMemoryGB, " GB")
		l.atLeast(p, field, v, minMemoryGB, " GB")
	})
	each("tdp_range_watts", h.TDPRangeWatts, func(field string, v *float64) { l.atMost(p, field, v, maxTDPWatts, " W") })
	l.atMost(p, "max_turbo_power_watts", h.MaxTurboPowerWatts, maxTDPWatts, " W")
	for field, v := range map[string]*float64{
		"fp16_tflops": h.FP16TFLOPS, "fp16_tensor_fp32acc_tflops": h.FP16TensorFP32AccTFLOPS, "fp16_tensor_fp16acc_tflops": h.FP16TensorFP16AccTFLOPS,
		"fp16_vector_tflops": h.FP16VectorTFLOPS, "fp16_shader_tflops": h.FP16ShaderTFLOPS, "fp32_tflops": h.FP32TFLOPS, "int8_tops": h.INT8TOPS, "npu_tops": h.NPUTOPS,
	} {
		l.atMost(p, field, v, maxTeraOps, " x 10^12 operations per second")
	}
	l.countAtMost(p, "gpu_cores", h.GPUCores, maxCores, "")
	l.countAtMost(p, "cpu_cores", h.CPUCores, maxCores, "")
	l.countAtMost(p, "memory_channels", h.MemoryChannels, maxChannels, "")
	l.countAtMost(p, "memory_speed_mts", h.MemorySpeedMTs, maxMTs, " MT/s")
	l.atMost(p, "launch_price_usd", h.LaunchPriceUSD, maxPriceUSD, " US dollars")
	for i := range h.PriceObservations {
		o := &h.PriceObservations[i]
		bound := float64(maxAmount)
		if o.Currency == "USD" {
			bound = maxPriceUSD
		}
		l.atMost(p, "price_observations."+strconv.Itoa(i)+".amount", &o.Amount, bound, " "+o.Currency)
	}
	least, why := leastBandwidth(h)
	l.atLeast(p, "memory_bandwidth_gbps", h.MemoryBandwidthGBps, least, why)
	each("memory_bandwidth_range_gbps", h.MemoryBandwidthRangeGBps, func(field string, v *float64) { l.atLeast(p, field, v, minBandwidth, " GB/s") })
}

// leastBandwidth is what the memory of a part has at least, and why.
func leastBandwidth(h *Hardware) (gbps float64, why string) {
	switch {
	case h.MemoryChannels != nil && h.MemorySpeedMTs != nil && h.HBMGB == nil:
		return max(minBandwidth, minOfRated*rated(h)), " GB/s, half of what memory_channels x 8 bytes x memory_speed_mts give"
	case h.MemoryType != nil && len(*h.MemoryType) >= 3 && (*h.MemoryType)[:3] == "HBM":
		return minHBM, " GB/s, for HBM memory"
	}
	return minBandwidth, " GB/s"
}

// rated is what channels of memory of the known speed carry, in GB/s.
func rated(h *Hardware) float64 {
	return float64(*h.MemoryChannels) * 8 * float64(*h.MemorySpeedMTs) / 1000
}

// boundModel holds the figures of a model to what can be.
func (l *loader) boundModel(m *Model, p place) {
	for field, v := range map[string]*float64{"params_b": m.ParamsB, "active_params_b": m.ActiveParamsB, "effective_params_b": m.EffectiveParamsB} {
		l.atLeast(p, field, v, minParamsB, " billion parameters")
		l.atMost(p, field, v, maxParamsB, " billion parameters")
	}
	a, k := &m.Architecture, &m.KVCache
	for field, v := range map[string]*int64{
		"architecture.hidden_size": a.HiddenSize, "architecture.intermediate_size": a.IntermediateSize, "architecture.moe_intermediate_size": a.MoEIntermediateSize,
		"architecture.num_attention_heads": a.NumAttentionHeads, "kv_cache.head_dim": k.HeadDim, "kv_cache.global_head_dim": k.GlobalHeadDim, "kv_cache.v_head_dim": k.VHeadDim,
		"kv_cache.qk_rope_head_dim": k.QKRopeHeadDim, "kv_cache.kv_lora_rank": k.KVLoraRank,
	} {
		l.countAtMost(p, field, v, maxWidth, "")
	}
	l.countAtMost(p, "architecture.num_layers", a.NumLayers, maxLayers, "")
	l.countAtMost(p, "architecture.num_experts", a.NumExperts, maxExperts, "")
	l.countAtMost(p, "architecture.num_shared_experts", a.NumSharedExperts, maxExperts, "")
	l.countAtMost(p, "architecture.vocab_size", a.VocabSize, maxVocabulary, " tokens")
	l.countAtMost(p, "architecture.context_length", a.ContextLength, maxTokens, " tokens")
	l.countAtMost(p, "architecture.sliding_window", a.SlidingWindow, maxTokens, " tokens")
}

// boundRun holds the figures of a measurement to what can be measured. It is called for every line.
func (l *loader) boundRun(b *Benchmark, p place) {
	l.countAtMost(p, "n_prompt", b.NPrompt, maxTokens, " tokens")
	l.countAtMost(p, "n_gen", b.NGen, maxTokens, " tokens")
	l.countAtMost(p, "context_depth", b.ContextDepth, maxTokens, " tokens")
	l.countAtMost(p, "batch_size", b.BatchSize, maxTokens, " tokens")
	l.countAtMost(p, "hardware_count", &b.HardwareCount, maxDevices, "")
	l.countAtMost(p, "threads", b.Threads, maxThreads, "")
	l.countAtMost(p, "concurrency", b.Concurrency, maxUsers, "")
	l.atLeast(p, "prompt_tps", b.PromptTPS, minSpeedTPS, " tokens per second")
	l.atLeast(p, "generation_tps", b.GenerationTPS, minSpeedTPS, " tokens per second")
	l.atLeast(p, "total_tps", b.TotalTPS, minSpeedTPS, " tokens per second")
	l.atMost(p, "prompt_tps", b.PromptTPS, maxSpeedTPS*float64(b.HardwareCount), " tokens per second")
	l.atMost(p, "generation_tps", b.GenerationTPS, maxSpeedTPS*float64(b.HardwareCount), " tokens per second")
	l.atMost(p, "total_tps", b.TotalTPS, maxSpeedTPS*float64(b.HardwareCount), " tokens per second")
	l.atMost(p, "ttft_ms", b.TTFTMs, maxMilliseconds, " ms")
	l.atMost(p, "ttft_p50_ms", b.TTFTP50Ms, maxMilliseconds, " ms")
	l.atMost(p, "ttft_p99_ms", b.TTFTP99Ms, maxMilliseconds, " ms")
	l.atMost(p, "tpot_ms", b.TPOTMs, maxMilliseconds, " ms")
	l.atMost(p, "tpot_p50_ms", b.TPOTP50Ms, maxMilliseconds, " ms")
	l.atMost(p, "tpot_p99_ms", b.TPOTP99Ms, maxMilliseconds, " ms")
	l.atMost(p, "request_rate", b.RequestRate, maxSpeedTPS, " requests per second")
	l.atMost(p, "memory_gb", b.MemoryGB, maxMemoryGB, " GB")
	l.atLeast(p, "memory_gb", b.MemoryGB, minMemoryGB, " GB")
	l.atMost(p, "power_watts", b.PowerWatts, maxPowerWatts, " W")
}

// boundType holds the figures of a storage type to each other.
func (l *loader) boundType(q *QuantizationType, p place) {
	for field, v := range map[string]*float64{
		"block_bits_per_weight": q.BlockBitsPerWeight, "effective_bits_per_weight": q.EffectiveBitsPerWeight, "llama_1_7b_bits_per_weight": q.Llama17BBitsPerWeight,
	} {
		l.atLeast(p, field, v, minTypeBits, " bits")
		l.atMost(p, field, v, maxWeightBits, " bits")
	}
	o := q.Observed
	if o == nil {
		return
	}
	l.atLeast(p, "observed.min", &o.Min, minTypeBits, " bits")
	l.atMost(p, "observed.max", &o.Max, maxWeightBits, " bits")
	if o.Min > o.Median || o.Median > o.Max {
		l.at(p, "observed.median", fmt.Sprintf("must be from min to max, %s to %s, got %s", plainNumber(o.Min), plainNumber(o.Max), plainNumber(o.Median)), "observed.min", "observed.max")
	}
}

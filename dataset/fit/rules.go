package fit

// gib is 2^30 bytes. Vendors count memory in the same unit although they write GB: a card of
// 24 GB reports 24,564 MiB (https://github.com/ggml-org/llama.cpp/pull/15860), one of 80 GB
// 81,559 MiB.
const gib = 1 << 30

// Rules names the program whose memory rules apply.
type Rules string

// The programs whose rules are known.
const (
	LlamaCpp Rules = "llama.cpp"
	VLLM     Rules = "vllm"
	MLX      Rules = "mlx"
)

// Values lists the rules as texts, the default first.
func (Rules) Values() []string { return []string{string(LlamaCpp), string(VLLM), string(MLX)} }

// KVType is how the values of the key-value cache are stored.
type KVType string

// The storage types of the cache. A block of q8_0 is 32 values in 34 bytes, one of q4_0 32
// values in 18 bytes (ggml-common.h of llama.cpp: a 16-bit scale, then the values). MLX stores
// groups of 64 values with a 16-bit scale and a 16-bit bias, which comes to the same sizes
// (mlx_lm/models/cache.py, QuantizedKVCache).
const (
	F16 KVType = "f16"
	Q80 KVType = "q8_0"
	Q40 KVType = "q4_0"
)

// Values lists the storage types as texts, the default first.
func (KVType) Values() []string { return []string{string(F16), string(Q80), string(Q40)} }

// bytes is the storage of n values, n being a multiple of 32.
func (t KVType) bytes(n int64) int64 {
	switch t {
	case Q80:
		return n / 32 * 34
	case Q40:
		return n / 32 * 18
	}
	return 2 * n
}

// Defaults of a query.
const (
	DefaultContext    = 8192
	DefaultMicroBatch = 512 // n_ubatch of llama.cpp
	MaxContext        = 16 << 20
	MaxCount          = 8
)

// Constants of the rules, with their origin.
const (
	// llama.cpp keeps this much of each device free when it fits a model by itself
	// (tools/fit-params/README.md: "cannot fulfill margin of 1024 MiB").
	LlamaMargin = gib
	// llama.cpp rounds contexts and sliding caches up to this many cells
	// (llama-kv-cache-iswa.cpp, GGML_PAD(..., 256)).
	LlamaPad = 256
	// The defaults of vLLM: it leaves one part in so many of a device (gpu_memory_utilization is 0.9). It
	// rounds a cache up to blocks of 16 tokens. It schedules up to 2,048 tokens at once
	// (max_num_batched_tokens).
	VLLMSpare  = 10
	VLLMBlock  = 16
	VLLMTokens = 2048
	// MLX grows a cache in steps of 256 tokens (mlx_lm/models/cache.py, KVCache.step).
	MLXStep = 256
)

// The largest vocabulary and hidden size of published models (Gemma 3; Nemotron-4 340B). Where those of a model are not
// known its buffer is a lower bound, and one with these decides whether a verdict depends on it.
const (
	MostVocab  = 262_144
	MostHidden = 18_432
)

// pad rounds n up to a multiple of step.
func pad(n, step int64) int64 { return (n + step - 1) / step * step }

// globalCells is the number of tokens a full-attention layer keeps room for.
func (r Rules) globalCells(context int64) int64 {
	switch r {
	case VLLM:
		return pad(context, VLLMBlock)
	case MLX:
		return pad(context, MLXStep)
	}
	return pad(context, LlamaPad)
}

// slidingCells is the number of tokens a sliding-window layer keeps room for. llama.cpp: the
// window plus one micro-batch (llama-kv-cache-iswa.cpp). vLLM: the window less one plus the
// tokens of one step, and one more block (v1/kv_cache_interface.py, SlidingWindowSpec). MLX: the
// window (RotatingKVCache).
func (r Rules) slidingCells(context, window, microBatch int64) int64 {
	switch r {
	case VLLM:
		return pad(min(context, window-1+VLLMTokens), VLLMBlock) + VLLMBlock
	case MLX:
		return min(pad(context, MLXStep), window)
	}
	return pad(min(pad(context, LlamaPad), window+microBatch), LlamaPad)
}

package fit

import (
	"slices"

	"modeldex/dataset/record"
)

// gib is 2^30 bytes. Vendors count memory in the same unit although they write GB: a card of 24 GB reports 24,564 MiB
// (https://github.com/ggml-org/llama.cpp/pull/15860), one of 80 GB 81,559 MiB.
const gib = 1 << 30

// Verdict says whether a model runs on a machine.
type Verdict string

// The verdicts, best first. Tight: weights, cache and buffer fit, but only by using the reserve. Offload: they do not,
// and part of the weights can be kept in main memory. Unknown: a fact is missing, and what it can be decides.
const (
	Fits    Verdict = "fits"
	Tight   Verdict = "tight"
	Offload Verdict = "offload"
	Unknown Verdict = "unknown"
	No      Verdict = "no"
)

// Verdicts lists the verdicts, best first.
var Verdicts = []Verdict{Fits, Tight, Offload, Unknown, No}

// Values lists the verdicts as texts.
func (Verdict) Values() []string { return record.Texts(Verdicts) }

// Basis says how far a number of bytes can be trusted.
type Basis string

// The bases of byte counts.
const (
	Published  Basis = "published"   // the size of a real file
	Computed   Basis = "computed"    // follows from published figures by the formula named
	UpperBound Basis = "upper_bound" // at most this much: a fact that would make it smaller is missing
	LowerBound Basis = "lower_bound" // at least this much: a fact that may make it larger is missing
	Estimated  Basis = "estimated"   // a rule of thumb with a source
	Given      Basis = "given"       // by the query
)

// Values lists the bases as texts.
func (Basis) Values() []string {
	return record.Texts([]Basis{Published, Computed, UpperBound, LowerBound, Estimated, Given})
}

// Preference is which quantization a row of a list names, see Query.Prefer.
type Preference string

// PreferMeasured is the preference that is not the default.
const PreferMeasured Preference = "measured"

// Values lists the preferences as texts, the default first.
func (Preference) Values() []string { return []string{"best", string(PreferMeasured)} }

// ComputeUnit is a part of a machine that does the work.
type ComputeUnit string

// Values lists the units as texts.
func (ComputeUnit) Values() []string { return []string{"cpu", "gpu", "npu"} }

// Split is how several devices share a model: SplitLayer gives each a part of the layers, SplitTensor a part of every layer.
type Split string

// The ways.
const (
	SplitLayer  Split = "layer"
	SplitTensor Split = "tensor"
)

// Values lists the splits as texts.
func (Split) Values() []string { return record.Texts([]Split{SplitLayer, SplitTensor}) }

// Rules names the program whose memory rules apply.
type Rules string

// The programs whose rules are known.
const (
	LlamaCpp Rules = "llama.cpp"
	VLLM     Rules = "vllm"
	MLX      Rules = "mlx"
)

// Values lists the rules as texts, the default first.
func (Rules) Values() []string { return record.Texts([]Rules{LlamaCpp, VLLM, MLX}) }

// KVType is how keys or values are stored in the cache.
type KVType string

// The storage types of the cache that have rules of their own; kvStorages has all.
const (
	F16 KVType = "f16"
	Q80 KVType = "q8_0"
	Q40 KVType = "q4_0"
	FP8 KVType = "fp8"
)

// kvStorages are the types, the default first, with the bytes of 32 values and the programs that have them. A block of ggml
// is 32 values with a 16-bit scale, and those of the types ending in 1 have a 16-bit minimum (ggml-common.h of llama.cpp).
// MLX stores groups of 64 values with a 16-bit scale and a 16-bit bias, which comes to the sizes of q8_0 and q4_0
// (mlx_lm/models/cache.py, QuantizedKVCache).
var kvStorages = []struct {
	kind    KVType
	per32   int64
	engines []Rules
}{
	{F16, 64, []Rules{LlamaCpp, VLLM, MLX}},
	{"bf16", 64, []Rules{LlamaCpp, VLLM, MLX}},
	{Q80, 34, []Rules{LlamaCpp, MLX}},
	{"q5_1", 24, []Rules{LlamaCpp}},
	{"q5_0", 22, []Rules{LlamaCpp}},
	{"q4_1", 20, []Rules{LlamaCpp}},
	{Q40, 18, []Rules{LlamaCpp, MLX}},
	{"iq4_nl", 18, []Rules{LlamaCpp}},
	{FP8, 32, []Rules{VLLM}},
}

// Values lists the storage types as texts, the default first.
func (KVType) Values() []string { return Rules("").kvTypes() }

// bytes is the storage of n values.
func (t KVType) bytes(n int64) int64 {
	for _, s := range kvStorages {
		if s.kind == t {
			return n * s.per32 / 32
		}
	}
	return 2 * n
}

// quantized reports whether values take less than 16 bits.
func (t KVType) quantized() bool { return t.bytes(32) < 64 }

// kvTypes lists the types that a program has; all for none.
func (r Rules) kvTypes() (out []string) {
	for _, s := range kvStorages {
		if r == "" || slices.Contains(s.engines, r) {
			out = append(out, string(s.kind))
		}
	}
	return out
}

// Defaults of a query.
const (
	DefaultContext    = 8192
	DefaultMicroBatch = 512 // n_ubatch of llama.cpp
	MaxContext        = 16 << 20
	MaxCount          = 8
	MaxMainGB         = 1 << 20
)

// Constants of the rules, with their origin.
const (
	// llama.cpp keeps this much of each device free when it fits a model by itself
	// (tools/fit-params/README.md: "cannot fulfill margin of 1024 MiB").
	LlamaMargin = gib
	// The least bits of the output matrix in files of llama.cpp, also where it is the embedding: those of Q6_K
	// (llama-quant.cpp, llama_tensor_get_type).
	OutputBits = 6.5625
	// Memory that llama.cpp reserves in addition to a projector for an image of 1,472 x 1,472 pixels
	// (https://github.com/ollama/ollama/issues/17482: 1,136 MiB with one of 888).
	PictureBuffer = 248 << 20
	// Device memory that CUDA uses for llama.cpp in addition to its buffers: the difference to the whole process at four
	// contexts (https://github.com/ollama/ollama/issues/9988).
	CUDAContext = 424 << 20
	// llama.cpp rounds contexts and sliding caches up to this many cells (llama-kv-cache-iswa.cpp, GGML_PAD(..., 256)).
	LlamaPad = 256
	// The defaults of vLLM: it uses this part of the memory that a card reports (gpu_memory_utilization). It
	// rounds a cache up to blocks of 16 tokens. It schedules up to 2,048 tokens at once
	// (max_num_batched_tokens) of up to 256 requests (max_num_seqs).
	VLLMUtilization = 0.9
	VLLMBlock       = 16
	VLLMTokens      = 2048
	VLLMRequests    = 256
	// The same two on cards of so much memory, A100 excepted (vllm/engine/arg_utils.py, get_batch_defaults).
	VLLMLarge         = 70 * gib
	VLLMTokensLarge   = 8192
	VLLMRequestsLarge = 1024
	// Memory of a card that the driver, its libraries and captured graphs use with vLLM, in addition to that of torch.
	VLLMRuntime = 350 << 20
	// Additional memory for NCCL on each of several large cards that share every layer: logs of four B200 and B300 have
	// 0.95 and 1.63 GiB outside of torch, and the larger counts; smaller cards without NVLink have 0.2
	// (https://github.com/vllm-project/vllm/pull/14447).
	VLLMExchange = 1640 << 20
	// The part of its nominal memory that a card reports: 23.6 of 24 GB, 79.2 of 80 GB; with error correction in
	// GDDR memory 44.4 of 48, 22 of 24 and 14.7 of 16 GB.
	VisiblePart    = 0.98
	VisiblePartECC = 0.92
	// MLX grows a cache in steps of 256 tokens (mlx_lm/models/cache.py, KVCache.step).
	MLXStep = 256
	// Tokens of one entry in the compressed caches of DeepSeek V4, and the values of its index key
	// (https://github.com/ggml-org/llama.cpp/issues/25468: 672, 20 and 168 MiB at 131,072 tokens).
	CompressLight = 4
	CompressHeavy = 128
	IndexKey      = 128
	// The part of main memory that models may use: a tenth is what Kubernetes shows how to keep for the system
	// (https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/).
	MainMemoryPart = 0.9
)

// Bounds for facts that are not known, a little above the largest of the published models.
const (
	// Vocabulary and hidden size (Gemma 3; Nemotron-4 340B).
	MostVocab  = 262_144
	MostHidden = 18_432
	// Values of one token in the cache of all layers, as a part of parameters to the power of 2/3 (MiniCPM 2B: 0.095).
	MostCached = 0.1
	// Bytes of state of one layer for each unit of the hidden size (Qwen3.5 122B: 1,413).
	MostState = 1500
	// Assumed layers of a model if neither their number nor their width is known.
	MostLayers = 128
	// Assumed parameters of a model that has no known file either.
	MostParams = 2e12
)

// pad rounds n up to a multiple of step.
func pad(n, step int64) int64 { return (n + step - 1) / step * step }

// cells are the numbers of tokens that a full-attention layer and a sliding-window layer keep room for. llama.cpp
// shares one cache of the context among its slots; its windows are the window of each slot plus one micro-batch
// (llama-kv-cache-iswa.cpp). vLLM: for each request the window less one plus the tokens of one step, and one more block
// (v1/kv_cache_interface.py, SlidingWindowSpec). MLX: the window (RotatingKVCache).
func (q *Query) cells(window int64) (global, sliding int64) {
	slots := int64(q.Parallel)
	switch q.Rules {
	case VLLM:
		return slots * pad(q.Context, VLLMBlock), slots * (pad(min(q.Context, window-1+q.MicroBatch), VLLMBlock) + VLLMBlock)
	case MLX:
		global = pad(q.Context, MLXStep)
		return slots * global, slots * min(global, window)
	}
	global = pad(q.Context, LlamaPad)
	return global, pad(min(global, slots*window+q.MicroBatch), LlamaPad)
}

package fit

import (
	"cmp"
	"fmt"
	"math"

	"modeldex/dataset"
)

// Formula describes one formula and where it comes from.
type Formula struct {
	ID     string      `json:"id"`
	Text   string      `json:"text"`
	Source dataset.URL `json:"source"`
}

// Formulas lists every formula by id, with the constants of the code.
var Formulas = []Formula{
	{"weights.file", "size of the published file, without vision projectors", "https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md"},
	{"weights.bits", "params_b x 10^9 x bits_per_weight / 8", "https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md"},
	{"weights.checkpoint", "(parameters - embedding - output) x bits_per_weight / 8 + (embedding + output) x 2; embedding and output have vocabulary x hidden size parameters each, counted once if tied. FP8, AWQ, GPTQ, NVFP4 and integer checkpoints keep both in 16 bits", "https://github.com/vllm-project/llm-compressor"},
	{"weights.given", "weights_gb x 2^30", "https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md"},
	{"weights.host", fmt.Sprintf("with a discrete device, llama.cpp keeps the token embedding in main memory: vocabulary x hidden size x bits of the main block type / 8. If the embedding is tied to the output matrix, main memory holds a copy with that matrix's bits per weight, at least %v. Per-layer embeddings stay there, too; their share of the file is 1 - effective_params_b / params_b", OutputBits), "https://github.com/ggml-org/llama.cpp/blob/master/src/llama-model.cpp"},
	{"weights.layers", "the weights without embedding and output are divided evenly among the layers. Routed experts have layers x num_experts x 3 x hidden size x moe_intermediate_size parameters, in the layers after the leading dense ones", "https://github.com/ggml-org/llama.cpp/blob/master/src/llama-model.cpp"},
	{"kv.llama.cpp", fmt.Sprintf("full layers x cells x heads x (key width + value width), cells = context rounded up to %d, shared by all slots; sliding layers with cells = min(context, slots x window + micro_batch) rounded up to %d; latent attention keeps kv_lora_rank + qk_rope_head_dim values as keys. Multiply by the storage of the cache type: %s", LlamaPad, LlamaPad, storageText()), "https://github.com/ggml-org/llama.cpp/blob/master/src/llama-kv-cache-iswa.cpp"},
	{"kv.vllm", fmt.Sprintf("per request as kv.llama.cpp, with contexts rounded up to blocks of %d tokens; sliding layers have min(context, window - 1 + batch_tokens, by default %d) tokens and one more block", VLLMBlock, VLLMTokens), "https://github.com/vllm-project/vllm/blob/001cabc1be16a59a70d720ed61a13b678c060a18/vllm/v1/kv_cache_interface.py"},
	{"kv.mlx", fmt.Sprintf("per request as kv.llama.cpp, with sliding layers of min(cells, window); cells = context rounded up to %d", MLXStep), "https://github.com/ml-explore/mlx-lm/blob/02901f4d72afa6e22c41474ba82827eb8d964c1b/mlx_lm/models/cache.py"},
	{"kv.recurrent", fmt.Sprintf("state of linear-attention and state-space layers in 32-bit values, per slot: layers x ((convolution - 1) x (inner + 2 x groups x state) + state x inner) x 4 bytes, which is recurrent_state_bytes of the record; if unknown, 0 to layers x hidden size x %d bytes", MostState), "https://github.com/ggml-org/llama.cpp/blob/master/src/llama-hparams.cpp"},
	{"kv.compressed", fmt.Sprintf("DeepSeek V4 keeps only keys. In addition to the windows of all layers, every second layer has an entry per %d tokens, with an index key of %d values in 16 bits, and the others have one per %d tokens, rounded up to %d. Each slot and layer adds %d or %d entries of keys and scores in 32-bit values", CompressLight, IndexKey, CompressHeavy, LlamaPad, 4*CompressLight, CompressHeavy), "https://github.com/ggml-org/llama.cpp/pull/24162"},
	{"kv.unknown", fmt.Sprintf("if heads or layers are not published, a token takes 0 to %v x parameters^(2/3) values in all layers, and at most 2 x hidden size in each", MostCached), "https://github.com/ggml-org/llama.cpp/blob/master/src/llama-kv-cache.cpp"},
	{"compute.output", "per device, the larger of (a) 4 x micro_batch x (vocabulary + hidden size), the logits of one micro-batch, and (b) 2 x micro_batch x context + 16 x micro_batch x hidden size, the mask and activations of one layer. An unknown vocabulary or hidden size counts as 0, and the basis is lower_bound. A quantized cache adds a 16-bit copy of the cache of one layer. Without flash attention, (b) is 4 x micro_batch x context x (query heads + 1) + 16 x micro_batch x hidden size; latent attention then adds 4 x micro_batch x query heads x (2 x kv_lora_rank + qk_rope_head_dim) + 2 x context x kv_lora_rank. Experts in main memory add the largest expert matrix of one layer", "https://github.com/unslothai/unsloth/pull/6718"},
	{"compute.vllm", fmt.Sprintf("per device, the larger of (a) 2 x batch_tokens x (%d x hidden size + %d x feed-forward width / devices), the activations of one layer, and (b) %d x %d x vocabulary, the sampling buffer of %d requests. For a mixture of experts, (a) has one more hidden size for each expert used per token, and the feed-forward width is that of these experts. Cards with 70 GB or more, except A100, use %d tokens and %d requests", VLLMHidden, VLLMForward, VLLMLogits, VLLMRequests, VLLMRequests, VLLMTokensLarge, VLLMRequestsLarge), "https://github.com/vllm-project/vllm/pull/10511"},
	{"companion.projector", fmt.Sprintf("projector_gb x 2^30, or projector_bytes of the record (the 16-bit file), plus %d MiB for an image of 1,472 x 1,472 pixels", PictureBuffer>>20), "https://github.com/ggml-org/llama.cpp/blob/master/tools/mtmd/README.md"},
	{"companion.mtp", "the weights of one more layer and of a matrix of 2 x hidden size x hidden size (weights_gb already includes them), the cache of one full layer, and a separate compute buffer", "https://github.com/ggml-org/llama.cpp/pull/22673"},
	{"companion.draft", "weights, cache for the same context, and compute buffer of the draft model", "https://github.com/ggml-org/llama.cpp/blob/master/docs/speculative.md"},
	{"reserve.llama.cpp", "1 GiB per device, the margin that llama.cpp keeps when it fits a model automatically", "https://github.com/ggml-org/llama.cpp/blob/master/tools/fit-params/README.md"},
	{"reserve.vllm", fmt.Sprintf("per device, the memory beyond gpu_memory_utilization (%v by default) x the memory that the card reports (%v of its memory, %v with error correction in GDDR memory), plus %d MiB for driver, libraries and graphs, plus %d MiB for NCCL with tensor parallelism on cards of 70 GB or more", VLLMUtilization, VisiblePart, VisiblePartECC, VLLMRuntime>>20, VLLMExchange>>20), "https://docs.vllm.ai/en/v0.8.5/serving/engine_args.html"},
	{"reserve.mlx", "no further reserve; only the share of unified memory that macOS allows is used", "https://github.com/ml-explore/mlx-lm"},
}

// Parts of the activations of vLLM: values for each token, and bytes for each entry of the vocabulary and each request.
// Nine logs of models of 1.5 to 27 B with 256 requests show 38.4 to 41.2 bytes (such as 1.42 GiB,
// https://github.com/vllm-project/vllm/issues/13882); a prompt of 32,768 tokens in one step takes 33,100 values a token of
// Qwen2.5 1.5B.
const (
	VLLMHidden  = 4
	VLLMForward = 3
	VLLMLogits  = 39
)

// storageText lists the cache types with their bytes.
func storageText() (out string) {
	for _, s := range kvStorages {
		out += fmt.Sprintf("%s %d/32, ", s.kind, s.per32)
	}
	return out + "in bytes"
}

// A shape is what the memory of a model depends on. A model has two: with the least and with the most of unknown facts.
type shape struct {
	globalLayers, slidingLayers   int64
	global, sliding               width
	window                        int64
	light, heavy                  int64 // layers with a compressed cache
	latent                        bool
	rank                          int64 // of latent attention
	recurrent                     int64 // bytes of one sequence in all layers
	hidden, forward, vocab, heads int64
	perToken                      int64 // experts that one token uses
}

// A width is the values of one token in one layer.
type width struct{ keys, values int64 }

// shapeOf reads the facts of a model, with the least or the most that unknown ones can be. missing are those, by field.
// Where the parameters are not published they are the most that its files can have.
func shapeOf(m *dataset.Model, bits func(name string) float64, most bool) (s shape, missing []string) {
	a, kv := &m.Architecture, &m.KVCache
	read := func(field string, p *int64, high int64) int64 {
		if p != nil {
			return *p
		}
		missing = append(missing, field)
		return high * int64(oneIf(most))
	}
	s.latent = val(kv.Attention) == "mla"
	s.globalLayers = read("kv_cache.num_kv_layers", kv.NumKVLayers, cmp.Or(val(a.NumLayers), MostLayers))
	known := len(missing)
	switch {
	case s.globalLayers == 0:
	case s.latent:
		s.rank = read("kv_cache.kv_lora_rank", kv.KVLoraRank, 0)
		s.global.keys = s.rank + read("kv_cache.qk_rope_head_dim", kv.QKRopeHeadDim, 0)
		s.sliding = s.global
	default:
		heads, dim := read("kv_cache.num_kv_heads", kv.NumKVHeads, 0), read("kv_cache.head_dim", kv.HeadDim, 0)
		of := func(heads, keys int64) width { return width{heads * keys, heads * cmp.Or(val(kv.VHeadDim), keys)} }
		s.global = of(cmp.Or(val(kv.GlobalNumKVHeads), heads), cmp.Or(val(kv.GlobalHeadDim), dim))
		s.sliding = of(cmp.Or(val(kv.SlidingNumKVHeads), heads), dim)
	}
	if s.hidden = val(a.HiddenSize); len(missing) > known { // some width is not known
		params := val(m.ParamsB) * 1e9
		for i := range m.Quantizations {
			if z := &m.Quantizations[i]; m.ParamsB == nil {
				params = max(params, float64(z.SizeBytes)*8/cmp.Or(bits(z.Name), 1))
			}
		}
		values := int64(MostCached*math.Pow(cmp.Or(params, MostParams), 2.0/3)) / s.globalLayers
		if s.hidden > 0 {
			values = min(values, 2*s.hidden) // keys and values of every head
		}
		values *= int64(oneIf(most))
		s.global = width{values / 2, values / 2}
		s.sliding = s.global
	}
	slides := func(layers *int64, window int64) {
		s.slidingLayers = min(val(cmp.Or(layers, &s.globalLayers)), s.globalLayers)
		s.window, s.globalLayers = window, s.globalLayers-s.slidingLayers
	}
	switch window, layers := val(a.SlidingWindow), kv.NumSlidingWindowLayers; {
	case layers != nil && window > 0:
		slides(layers, window)
	case val(layers) > 0:
		if missing = append(missing, "architecture.sliding_window"); !most {
			slides(layers, 1)
		}
	case window > 0 && s.globalLayers > 0:
		if missing = append(missing, "kv_cache.num_sliding_window_layers"); !most {
			slides(nil, window)
		}
	}
	switch {
	case !val(kv.CompressedKV):
	case val(m.GGUFArchitecture) == "deepseek4" && s.slidingLayers > 0:
		s.compress()
	default:
		missing = append(missing, "kv_cache.compressed_kv")
		s.globalLayers *= int64(oneIf(most))
	}
	if kv.RecurrentStateBytes != nil || val(kv.NumLinearAttentionLayers) > 0 || val(a.Type) == "hybrid" || val(a.Type) == "ssm" {
		layers := val(cmp.Or(kv.NumLinearAttentionLayers, a.NumLayers, new(int64(MostLayers))))
		s.recurrent = read("kv_cache.recurrent_state_bytes", kv.RecurrentStateBytes, layers*cmp.Or(s.hidden, MostHidden)*MostState)
	}
	s.hidden = read("architecture.hidden_size", a.HiddenSize, MostHidden)
	s.vocab = read("architecture.vocab_size", a.VocabSize, MostVocab)
	s.heads, s.perToken = val(a.NumAttentionHeads), val(a.NumExpertsPerToken)
	s.forward = max(val(a.IntermediateSize), val(a.MoEIntermediateSize)*(s.perToken+val(a.NumSharedExperts)))
	if most {
		s.forward, s.heads = cmp.Or(s.forward, 4*s.hidden), cmp.Or(max(s.heads, val(kv.NumKVHeads)), s.hidden/64)
	}
	return s, missing
}

// compress is for DeepSeek V4, which keeps keys alone: beside the windows every second layer but the first has an entry for
// CompressLight tokens with an index key, the others one for CompressHeavy. What is not compressed yet is kept in 32 bits
// with its scores, twice in light layers, whose entries overlap.
func (s *shape) compress() {
	s.global.values, s.sliding.values = 0, 0
	s.light, s.heavy = (s.slidingLayers-1)/2, s.slidingLayers-(s.slidingLayers-1)/2
	s.recurrent = 8 * (s.light*4*CompressLight*(s.global.keys+IndexKey) + s.heavy*CompressHeavy*s.global.keys)
}

// cache is the key-value cache of a query.
func (s *shape) cache(q *Query) (c Cache) {
	globalCells, slidingCells := q.cells(s.window)
	of := func(layers, cells int64, w width) int64 {
		return q.KV.bytes(layers*cells*w.keys) + q.KVV.bytes(layers*cells*w.values)
	}
	light, heavy := pad(globalCells/CompressLight, LlamaPad), pad(globalCells/CompressHeavy, LlamaPad)
	c.Global = of(s.globalLayers, globalCells, s.global) + of(s.light, light, s.global) + of(s.heavy, heavy, s.global)
	c.Global += F16.bytes(s.light * light * IndexKey)
	if s.latent {
		c.Global, c.Latent = 0, c.Global
	}
	if s.slidingLayers > 0 {
		c.Sliding = of(s.slidingLayers, slidingCells, s.sliding)
	}
	c.Recurrent = s.recurrent * int64(q.Parallel)
	c.Bytes.Bytes, c.Formula = c.Global+c.Sliding+c.Latent+c.Recurrent, "kv."+string(q.Rules)
	return c
}

// cacheBytes is what one token reads of a cache of so many tokens; 0 if unknown. A compressed cache counts as a plain one,
// whose slowdown measured runs show.
func (t *target) cacheBytes(tokens int64) float64 {
	if tokens <= 0 || !t.cacheKnown() {
		return 0
	}
	q := Query{Context: tokens, Rules: LlamaCpp, KV: F16, KVV: F16, Parallel: 1}
	s := t.most
	if s.heavy > 0 {
		s.globalLayers, s.slidingLayers, s.global.values, s.light, s.heavy = s.slidingLayers, 0, s.global.keys, 0, 0
	}
	c := s.cache(&q)
	return float64(c.Bytes.Bytes - c.Recurrent)
}

// cacheKnown reports whether the size of the cache is known.
func (t *target) cacheKnown() bool {
	return t.least.global == t.most.global && t.least.globalLayers+t.least.slidingLayers == t.most.globalLayers+t.most.slidingLayers
}

// compute is the buffer of intermediate values of one device. Flash attention unpacks a quantized cache of one layer to
// 16-bit values (https://github.com/ggml-org/llama.cpp/pull/23907). Measured at 262,144 tokens of Qwen3.5 4B: 0.99 GiB more
// than with a cache of 16-bit values (https://github.com/unslothai/unsloth/pull/6718), where this gives 1.
func (s *shape) compute(q *Query) int64 {
	n := q.MicroBatch
	if q.Rules == VLLM {
		requests, forward := int64(VLLMRequests), s.forward
		if q.large {
			requests = VLLMRequestsLarge
		}
		if q.Split == SplitTensor {
			forward /= q.devices()
		}
		return max(2*n*((VLLMHidden+s.perToken)*s.hidden+VLLMForward*forward), VLLMLogits*requests*s.vocab)
	}
	layer := 2 * n * q.Context
	if !q.flashAttention() {
		layer = 4 * n * q.Context * (s.heads + 1)
		if s.latent {
			layer += 4*n*s.heads*(s.global.keys+s.rank) + 2*q.Context*s.rank
		}
	}
	global, sliding := q.cells(s.window)
	keys, values := int64(oneIf(q.KV.quantized() && q.flashAttention())), int64(oneIf(q.KVV.quantized() && q.flashAttention()))
	unpacked := func(layers, cells int64, w width) int64 {
		return min(layers, 1) * cells * (w.keys*keys + w.values*values)
	}
	copied := max(unpacked(s.globalLayers, global, s.global), unpacked(s.slidingLayers, sliding, s.sliding))
	return max(4*n*(s.vocab+s.hidden), layer+16*n*s.hidden) + F16.bytes(copied)
}

// reserve is what the rules keep free of one device.
func (d *device) reserve(q *Query) int64 {
	switch q.Rules {
	case VLLM:
		out := d.usable - int64(float64(d.usable)*d.visible*q.Utilization) + VLLMRuntime
		if q.devices() > 1 && q.Split == SplitTensor && d.memory >= VLLMLarge {
			out += VLLMExchange
		}
		return out
	case MLX:
		return 0
	}
	return LlamaMargin
}

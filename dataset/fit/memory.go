package fit

import (
	"modeldex/dataset"
)

// Formula describes one formula and where it comes from.
type Formula struct {
	ID     string      `json:"id"`
	Text   string      `json:"text"`
	Source dataset.URL `json:"source"`
}

// Formulas lists every formula by id.
var Formulas = []Formula{
	{"weights.file", "size of the published file, without vision projectors", "https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md"},
	{"weights.bits", "params_b x 10^9 x bits_per_weight / 8", "https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/README.md"},
	{"kv.llama.cpp", "full layers x cells x heads x (key width + value width), cells = context rounded up to 256; sliding layers with cells = min(context, window + micro_batch) rounded up to 256; latent attention keeps kv_lora_rank + qk_rope_head_dim values; each times the storage of the cache type (f16 2 bytes, q8_0 34/32, q4_0 18/32)", "https://github.com/ggml-org/llama.cpp/blob/master/src/llama-kv-cache-iswa.cpp"},
	{"kv.vllm", "as kv.llama.cpp with contexts rounded up to blocks of 16 tokens and sliding layers of min(context, window - 1 + 2048) tokens and one more block", "https://github.com/vllm-project/vllm/blob/001cabc1be16a59a70d720ed61a13b678c060a18/vllm/v1/kv_cache_interface.py"},
	{"kv.mlx", "as kv.llama.cpp with sliding layers of min(cells, window), cells = context rounded up to 256", "https://github.com/ml-explore/mlx-lm/blob/02901f4d72afa6e22c41474ba82827eb8d964c1b/mlx_lm/models/cache.py"},
	{"kv.recurrent", "state of linear-attention and state-space layers in 32-bit values: layers x ((convolution - 1) x (inner + 2 x groups x state) + state x inner) x 4 bytes; the record states it as recurrent_state_bytes, and without it a model with such layers has no cache size", "https://github.com/ggml-org/llama.cpp/blob/master/src/llama-hparams.cpp"},
	{"compute.output", "the larger of 4 x micro_batch x (vocabulary + hidden size), the logits of one micro-batch, and 2 x micro_batch x context + 16 x micro_batch x hidden size, the mask and activations of one layer; per device. An unknown vocabulary or hidden size counts 0, and the basis then is lower_bound. A quantized cache adds a copy of the cache of one layer in 16-bit values", "https://github.com/unslothai/unsloth/pull/6718"},
	{"reserve.llama.cpp", "1 GiB per device, the margin llama.cpp keeps when it fits a model by itself", "https://github.com/ggml-org/llama.cpp/blob/master/tools/fit-params/README.md"},
	{"reserve.vllm", "0.1 of the memory, for gpu_memory_utilization is 0.9 by default", "https://docs.vllm.ai/en/v0.8.5/serving/engine_args.html"},
	{"reserve.mlx", "none beyond the share of unified memory macOS allows", "https://github.com/ml-explore/mlx-lm"},
}

// A shape is what the memory of a model depends on, as plain numbers.
type shape struct {
	globalLayers, slidingLayers int64
	globalValues, slidingValues int64 // keys and values of one token in one layer
	window                      int64
	latent                      bool
	recurrent                   int64 // bytes of one sequence in all layers
	hidden, vocab               int64
	limit                       int64    // context length, 0 where unknown
	missing                     []string // facts without which no cache size can be given
	loose                       []string // facts without which it is an upper bound
}

func val(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// shapeOf reads the facts of a model.
func shapeOf(m *dataset.Model) shape {
	a, kv := &m.Architecture, &m.KVCache
	s := shape{hidden: val(a.HiddenSize), vocab: val(a.VocabSize), limit: val(a.ContextLength), window: val(a.SlidingWindow)}
	s.layers(kv)
	s.widths(kv)
	s.states(a, kv)
	if s.hidden == 0 {
		s.loose = append(s.loose, "architecture.hidden_size")
	}
	if s.vocab == 0 {
		s.loose = append(s.loose, "architecture.vocab_size")
	}
	return s
}

// layers counts the layers of each kind. An unknown number of layers with a cache is not guessed: hybrids and pruned
// models have fewer than they have layers.
func (s *shape) layers(kv *dataset.KVCache) {
	layers := val(kv.NumKVLayers)
	if kv.NumKVLayers == nil {
		s.missing = append(s.missing, "kv_cache.num_kv_layers")
	}
	switch {
	case kv.NumSlidingWindowLayers != nil && s.window > 0:
		s.slidingLayers = min(*kv.NumSlidingWindowLayers, layers)
	case kv.NumSlidingWindowLayers != nil && *kv.NumSlidingWindowLayers > 0:
		s.loose = append(s.loose, "architecture.sliding_window")
	case s.window > 0 && layers > 0:
		s.loose = append(s.loose, "kv_cache.num_sliding_window_layers")
	}
	s.globalLayers = layers - s.slidingLayers
}

// widths works out what one token keeps in one layer of each kind.
func (s *shape) widths(kv *dataset.KVCache) {
	if kv.Attention != nil && *kv.Attention == "mla" {
		s.latent = true
		s.globalValues = val(kv.KVLoraRank) + val(kv.QKRopeHeadDim)
		s.slidingValues = s.globalValues
		if kv.KVLoraRank == nil {
			s.missing = append(s.missing, "kv_cache.kv_lora_rank")
		}
		if kv.QKRopeHeadDim == nil {
			s.missing = append(s.missing, "kv_cache.qk_rope_head_dim")
		}
		return
	}
	if kv.NumKVLayers == nil || *kv.NumKVLayers > 0 {
		if kv.NumKVHeads == nil {
			s.missing = append(s.missing, "kv_cache.num_kv_heads")
		}
		if kv.HeadDim == nil {
			s.missing = append(s.missing, "kv_cache.head_dim")
		}
	}
	width := func(heads, dim *int64) int64 {
		d := val(or(dim, kv.HeadDim))
		values := d
		if kv.VHeadDim != nil {
			values = *kv.VHeadDim
		}
		return val(or(heads, kv.NumKVHeads)) * (d + values)
	}
	s.globalValues, s.slidingValues = width(kv.GlobalNumKVHeads, kv.GlobalHeadDim), width(kv.SlidingNumKVHeads, nil)
	if kv.CompressedKV != nil && *kv.CompressedKV {
		s.loose = append(s.loose, "kv_cache.compressed_kv")
	}
}

// states reads the state of layers without a cache.
func (s *shape) states(a *dataset.Architecture, kv *dataset.KVCache) {
	hybrid := a.Type != nil && (*a.Type == "hybrid" || *a.Type == "ssm")
	s.recurrent = val(kv.RecurrentStateBytes)
	if (hybrid || val(kv.NumLinearAttentionLayers) > 0) && kv.RecurrentStateBytes == nil {
		s.missing = append(s.missing, "kv_cache.recurrent_state_bytes")
	}
}

func or(a, b *int64) *int64 {
	if a != nil {
		return a
	}
	return b
}

// cache is the key-value cache at a context. The shape must not miss a fact.
func (s *shape) cache(r Rules, t KVType, context, microBatch int64) Cache {
	var c Cache
	global := t.bytes(s.globalLayers * r.globalCells(context) * s.globalValues)
	if s.latent {
		c.Latent = global
	} else {
		c.Global = global
	}
	if s.slidingLayers > 0 {
		c.Sliding = t.bytes(s.slidingLayers * r.slidingCells(context, s.window, microBatch) * s.slidingValues)
	}
	c.Recurrent = s.recurrent
	c.Bytes = Bytes{c.Global + c.Sliding + c.Latent + c.Recurrent, Computed, r.cacheFormula()}
	if len(s.loose) > 0 && s.bounded() {
		c.Basis = UpperBound
	}
	return c
}

// cacheFormula is the id of the formula of a cache.
func (r Rules) cacheFormula() string {
	switch r {
	case VLLM:
		return "kv.vllm"
	case MLX:
		return "kv.mlx"
	}
	return "kv.llama.cpp"
}

// bounded reports whether a fact about the cache is missing, so that its size is an upper bound.
func (s *shape) bounded() bool {
	for _, field := range s.loose {
		if field != "architecture.hidden_size" && field != "architecture.vocab_size" {
			return true
		}
	}
	return false
}

// atMost is the shape with the largest published values for what its buffer depends on and is not known.
func (s shape) atMost() shape {
	if s.vocab == 0 {
		s.vocab = MostVocab
	}
	if s.hidden == 0 {
		s.hidden = MostHidden
	}
	return s
}

// compute is the buffer of intermediate values of one device.
func (s *shape) compute(r Rules, t KVType, context, microBatch int64) int64 {
	output := 4 * microBatch * (s.vocab + s.hidden)
	layer := 2*microBatch*context + 16*microBatch*s.hidden
	return max(output, layer) + s.unpacked(r, t, context, microBatch)
}

// unpacked is the room for the cache of one layer in 16-bit values, which flash attention turns a quantized cache into
// (https://github.com/ggml-org/llama.cpp/pull/23907). Measured at 262,144 tokens of Qwen3.5 4B: 0.99 GiB more than with
// a cache of 16-bit values (https://github.com/unslothai/unsloth/pull/6718), where this gives 1.
func (s *shape) unpacked(r Rules, t KVType, context, microBatch int64) int64 {
	if t == F16 {
		return 0
	}
	var values int64
	if s.globalLayers > 0 {
		values = r.globalCells(context) * s.globalValues
	}
	if s.slidingLayers > 0 {
		values = max(values, r.slidingCells(context, s.window, microBatch)*s.slidingValues)
	}
	return F16.bytes(values)
}

// reserve is what the rules keep free of a memory of so many bytes on count devices.
func (r Rules) reserve(memory int64, count int) Bytes {
	switch r {
	case VLLM:
		return Bytes{memory / VLLMSpare, Computed, "reserve.vllm"}
	case MLX:
		return Bytes{0, Computed, "reserve.mlx"}
	}
	return Bytes{int64(count) * LlamaMargin, Computed, "reserve.llama.cpp"}
}

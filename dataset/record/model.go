package record

import (
	"fmt"
	"hash/fnv"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Model is one open-weight language model: what its maker published, what was read off its
// configuration files, and the sizes of its quantized files.
type Model struct {
	ModelFacts
	// Quantized files, published sizes first as their publishers gave them, then computed ones.
	Quantizations []Quantization `json:"quantizations"`
}

// ModelFacts is a model without its quantized files: the form lists show.
type ModelFacts struct {
	// Stable public key, lower case.
	Slug Slug `json:"slug" jsonschema:"example=llama-3.1-8b-instruct"`
	// Name as its maker writes it.
	Name string `json:"name" jsonschema:"minLength=1,example=Llama 3.1 8B Instruct"`
	// Maker of the model.
	Organization string `json:"organization" jsonschema:"minLength=1,example=Meta"`
	// Model family, lower case.
	Family Slug `json:"family" jsonschema:"example=llama"`
	// What the model was trained for: chat, plain text (base), one task other than chat, embeddings, reranking, moderation
	// (guard), reading pages (ocr), or images and screens (vision). Coding models and chat models with vision are chat.
	// Null if unknown.
	Form *ModelForm `json:"form" jsonschema:"nullable,example=chat"`
	// Whether it was trained to reason before it answers, always or on request. Null for forms other than chat, or if
	// unknown.
	Thinking *bool `json:"thinking" jsonschema:"nullable,example=false"`
	// Bits per weight that most weights were trained in, if fewer than eight; files with more bits are no better. Null for
	// all other models.
	TrainedBits *float64 `json:"trained_bits" jsonschema:"nullable,exclusiveMinimum=0,maximum=8,example=4.25" jsonschema_extras:"unit=bits"`
	// Release date; only a year or a month if the source gives no more.
	ReleaseDate *Date `json:"release_date" jsonschema:"nullable,example=2024-07-23" fact:"sourced"`
	// What release_date refers to: the maker's announcement or page, the creation of the repository, or an entry in a
	// third-party list. Null if release_date is null or this is unknown.
	ReleaseDateBasis *string `json:"release_date_basis" jsonschema:"nullable,enum=maker,enum=paper,enum=repository,enum=listing,enum=reported,example=maker"`
	// Licence: an SPDX id if there is one, otherwise the name of the licence.
	License *string `json:"license" jsonschema:"nullable,minLength=1,example=Apache-2.0" fact:"sourced"`
	// Repository on Hugging Face, owner and name.
	HFRepo *string `json:"hf_repo" jsonschema:"nullable,pattern=^[0-9A-Za-z._-]+/[0-9A-Za-z._-]+$,example=meta-llama/Llama-3.1-8B-Instruct"`
	// Name of the architecture in a GGUF file (general.architecture), which llama.cpp prints as the model type. Null if
	// unknown, and for models that llama.cpp cannot run.
	GGUFArchitecture *string `json:"gguf_architecture" jsonschema:"nullable,pattern=^[a-z0-9][a-z0-9._-]*$,example=llama" fact:"sourced"`
	// Total parameters, in billions. For vision models this usually includes the vision tower.
	ParamsB *float64 `json:"params_b" jsonschema:"nullable,exclusiveMinimum=0,example=8.030261" jsonschema_extras:"unit=10^9 parameters" fact:"sourced" bounds:"0.0001..100000 billion parameters"`
	// Where params_b comes from: the maker's number, the exact tensor count, or a calculation from the widths. Null if
	// params_b is null.
	ParamsBasis *ParamsBasis `json:"params_basis" jsonschema:"nullable,example=published"`
	// Parameters read per token, in billions, as stated by the maker of a mixture-of-experts model.
	ActiveParamsB *float64 `json:"active_params_b" jsonschema:"nullable,exclusiveMinimum=0,example=3.3" jsonschema_extras:"unit=10^9 parameters" fact:"sourced" bounds:"0.0001..100000 billion parameters"`
	// Parameters read per token, in billions, if a model stores more than it reads, as with per-layer embeddings.
	EffectiveParamsB *float64 `json:"effective_params_b" jsonschema:"nullable,exclusiveMinimum=0,example=4.5" jsonschema_extras:"unit=10^9 parameters" fact:"sourced" bounds:"0.0001..100000 billion parameters"`
	// Size of the 16-bit projector file (mmproj) that reads images or sound with the GGUF file, in bytes. Its source has a
	// note if it was computed. Null if unknown or if there is none.
	ProjectorBytes *int64 `json:"projector_bytes" jsonschema:"nullable,minimum=1,example=891289600" jsonschema_extras:"unit=bytes" fact:"sourced" bounds:"1048576..1099511627776 bytes"`
	// Layers, widths and limits.
	Architecture Architecture `json:"architecture" fact:"sourced"`
	// Memory of the key-value cache per token.
	KVCache KVCache `json:"kv_cache" fact:"sourced"`
	// Kinds of input and output.
	Modalities []Modality `json:"modalities" jsonschema:"example=text"`
	// Other names: repository ids, Ollama tags, file base names. They work wherever the slug does.
	Aliases []string `json:"aliases" jsonschema:"minLength=1,example=llama3.1:8b"`
	// Notes on the values.
	Notes *string `json:"notes" jsonschema:"nullable,minLength=1,example=Base checkpoint."`
	// Sources of the values; each entry names the fields it supports.
	Sources []SourceRef `json:"sources"`
}

// Architecture is the architecture of a model, from its configuration.
type Architecture struct {
	// Shape of the blocks.
	Type *ModelType `json:"type" jsonschema:"nullable,example=dense"`
	// Number of layers.
	NumLayers *int64 `json:"num_layers" jsonschema:"nullable,minimum=1,example=32" bounds:"..10000"`
	// Width of the residual stream.
	HiddenSize *int64 `json:"hidden_size" jsonschema:"nullable,minimum=1,example=4096" bounds:"..1000000"`
	// Width of the dense feed-forward block.
	IntermediateSize *int64 `json:"intermediate_size" jsonschema:"nullable,minimum=1,example=14336" bounds:"..1000000"`
	// Width of one routed expert.
	MoEIntermediateSize *int64 `json:"moe_intermediate_size" jsonschema:"nullable,minimum=1,example=768" bounds:"..1000000"`
	// Number of query heads.
	NumAttentionHeads *int64 `json:"num_attention_heads" jsonschema:"nullable,minimum=1,example=32" bounds:"..1000000"`
	// Number of entries in the vocabulary (rows of the embedding).
	VocabSize *int64 `json:"vocab_size" jsonschema:"nullable,minimum=1,example=128256" bounds:"..10000000 tokens"`
	// Position limit in the configuration, in tokens, without extensions such as YaRN; else the window the maker states.
	ContextLength *int64 `json:"context_length" jsonschema:"nullable,minimum=1,example=131072" jsonschema_extras:"unit=tokens" bounds:"..100000000 tokens"`
	// Where context_length comes from: the configuration, the maker's text, or the window a provider states. Null if
	// context_length is null or its origin is unknown.
	ContextLengthBasis *string `json:"context_length_basis" jsonschema:"nullable,enum=config,enum=maker,enum=extended,enum=listing,example=config"`
	// Number of routed experts.
	NumExperts *int64 `json:"num_experts" jsonschema:"nullable,minimum=1,example=128" bounds:"..100000"`
	// Routed experts used for one token.
	NumExpertsPerToken *int64 `json:"num_experts_per_token" jsonschema:"nullable,minimum=1,example=8"`
	// Experts that every token uses.
	NumSharedExperts *int64 `json:"num_shared_experts" jsonschema:"nullable,minimum=0,example=1" bounds:"..100000"`
	// Leading dense layers of a mixture-of-experts model.
	NumDenseLayers *int64 `json:"num_dense_layers" jsonschema:"nullable,minimum=0,example=1"`
	// Tokens that a sliding-window layer looks back.
	SlidingWindow *int64 `json:"sliding_window" jsonschema:"nullable,minimum=1,example=4096" jsonschema_extras:"unit=tokens" bounds:"..100000000 tokens"`
	// Width of the convolution in layers without a cache; 1 if they have none.
	SSMConvKernel *int64 `json:"ssm_conv_kernel" jsonschema:"nullable,minimum=1,example=4" bounds:"..1024"`
	// Inner width of layers without a cache: heads x values per head.
	SSMInnerSize *int64 `json:"ssm_inner_size" jsonschema:"nullable,minimum=1,example=4096" bounds:"..1000000"`
	// State size per unit of ssm_inner_size; 0 if a layer keeps only the inputs of its convolution.
	SSMStateSize *int64 `json:"ssm_state_size" jsonschema:"nullable,minimum=0,example=128" bounds:"..1000000"`
	// Groups that share the input and output projections of the state; 0 if the convolution sees neither.
	SSMGroupCount *int64 `json:"ssm_group_count" jsonschema:"nullable,minimum=0,example=16" bounds:"..1000000"`
	// Base of the rotary position embedding.
	RopeTheta *float64 `json:"rope_theta" jsonschema:"nullable,exclusiveMinimum=0,example=500000"`
	// Activation function of the feed-forward block.
	Activation *string `json:"activation" jsonschema:"nullable,minLength=1,example=silu"`
	// Normalization layer.
	Norm *string `json:"norm" jsonschema:"nullable,minLength=1,example=rmsnorm"`
	// Whether the output matrix is also the embedding.
	TieWordEmbeddings *bool `json:"tie_word_embeddings" jsonschema:"nullable,example=false"`
}

// KVCache describes what the cache stores for one token: per layer 2 x num_kv_heads x head_dim
// values, or kv_lora_rank + qk_rope_head_dim values with multi-head latent attention.
type KVCache struct {
	// How attention heads share keys and values.
	Attention *string `json:"attention" jsonschema:"nullable,enum=mha,enum=gqa,enum=mqa,enum=mla,example=gqa"`
	// Key-value heads per layer; with mla the number of query heads.
	NumKVHeads *int64 `json:"num_kv_heads" jsonschema:"nullable,minimum=1,example=8"`
	// Values per head.
	HeadDim *int64 `json:"head_dim" jsonschema:"nullable,minimum=1,example=128" bounds:"..1000000"`
	// Width of the compressed cache, mla only.
	KVLoraRank *int64 `json:"kv_lora_rank" jsonschema:"nullable,minimum=1,example=512" bounds:"..1000000"`
	// Width of the rotary part kept next to it, mla only.
	QKRopeHeadDim *int64 `json:"qk_rope_head_dim" jsonschema:"nullable,minimum=0,example=64" bounds:"..1000000"`
	// Layers with their own cache; fewer than num_layers in hybrid models and with shared caches.
	NumKVLayers *int64 `json:"num_kv_layers" jsonschema:"nullable,minimum=0,example=32"`
	// Layers that cache at most sliding_window tokens.
	NumSlidingWindowLayers *int64 `json:"num_sliding_window_layers" jsonschema:"nullable,minimum=0,example=25"`
	// Key-value heads of full-attention layers if they differ.
	GlobalNumKVHeads *int64 `json:"global_num_kv_heads" jsonschema:"nullable,minimum=1,example=4"`
	// Values per head of full-attention layers if they differ.
	GlobalHeadDim *int64 `json:"global_head_dim" jsonschema:"nullable,minimum=1,example=512" bounds:"..1000000"`
	// Key-value heads of sliding-window layers if they differ.
	SlidingNumKVHeads *int64 `json:"sliding_num_kv_heads" jsonschema:"nullable,minimum=1,example=8"`
	// Width of a value head if it is narrower than the key.
	VHeadDim *int64 `json:"v_head_dim" jsonschema:"nullable,minimum=1,example=128" bounds:"..1000000"`
	// Layers with a state of fixed size instead of a cache.
	NumLinearAttentionLayers *int64 `json:"num_linear_attention_layers" jsonschema:"nullable,minimum=0,example=36"`
	// Size of the state of all layers without a cache for one sequence, in bytes, with 32-bit values as in llama.cpp.
	// Computed if the ssm fields of the architecture are known.
	RecurrentStateBytes *int64 `json:"recurrent_state_bytes" jsonschema:"nullable,minimum=1,example=52690944" jsonschema_extras:"unit=bytes"`
	// True if the cache is compressed further, so that the plain formulas overestimate it.
	CompressedKV *bool `json:"compressed_kv" jsonschema:"nullable,example=true"`
}

// Quantization is one quantization of a model's weights.
type Quantization struct {
	// Quantization type, as its publisher names it.
	Name string `json:"name" jsonschema:"minLength=1,example=Q4_K_M"`
	// File format.
	Format string `json:"format" jsonschema:"minLength=1,example=gguf"`
	// Size x 8 / parameters; for a computed size, the bits of its type, even if published sizes limit the size. Null if
	// the size was rounded too much.
	BitsPerWeight *float64 `json:"bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.8944" jsonschema_extras:"unit=bits"`
	// Size of all file parts in bytes, without vision projectors.
	SizeBytes int64 `json:"size_bytes" jsonschema:"minimum=1,example=4912898304" jsonschema_extras:"unit=bytes"`
	// published: the size of a real file. computed: parameters x bits per weight / 8, limited by the published sizes with
	// fewer and with more bits.
	Basis Basis `json:"basis" jsonschema:"example=published"`
	// How the size was computed, and where its bits per weight come from; null if published.
	Method *string `json:"method" jsonschema:"nullable,minLength=1,example=params_b x 10^9 x bits_per_weight / 8"`
	// Page with the size or, if computed, with the bits per weight; null if the bits per weight are a median over the
	// dataset.
	Source *URL `json:"source" jsonschema:"nullable,example=https://github.com/ggml-org/llama.cpp"`
	// Precision of the size in the source; null if exact to the byte or computed.
	SizeRounding *string `json:"size_rounding" jsonschema:"nullable,minLength=1,example=0.1 GiB"`
	// Repository of the measured file on Hugging Face.
	Repo *string `json:"repo" jsonschema:"nullable,minLength=1,example=bartowski/Meta-Llama-3.1-8B-Instruct-GGUF"`
}

// SourceRef is the source page of some fields of a record.
type SourceRef struct {
	// Names of the fields it supports, in dotted form for nested ones.
	Fields []string `json:"fields" jsonschema:"minItems=1,minLength=1,example=params_b"`
	// Source page; null for the dataset owner's own measurements, which via describes.
	URL *URL `json:"url" jsonschema:"nullable,example=https://huggingface.co/meta-llama/Llama-3.1-8B-Instruct"`
	// The copy that was read if the page was unavailable, or how the value was measured.
	Via *string `json:"via" jsonschema:"nullable,minLength=1,example=own measurement of 2026-11-20"`
	// How a derived value follows from the page.
	Note *string `json:"note" jsonschema:"nullable,minLength=1,example=as printed by llama-bench"`
}

// Shape returns the id of the shape of the model: layers, hidden size, and a hash over all counts and widths, without
// context length, rotary base, activation and normalization. It is nil if ShapeGaps are unknown.
func (m *ModelFacts) Shape() *string {
	if len(m.ShapeGaps()) > 0 {
		return nil
	}
	a, kv := m.Architecture, m.KVCache
	a.ContextLength, a.ContextLengthBasis, a.RopeTheta, a.Activation, a.Norm = nil, nil, nil, nil, nil
	if state := m.RecurrentState(); state != nil {
		kv.RecurrentStateBytes = state
	}
	a.SSMConvKernel, a.SSMInnerSize, a.SSMStateSize, a.SSMGroupCount = nil, nil, nil, nil // the state says as much
	hash := fnv.New32a()
	facts, _ := jsonv2.Marshal([]any{a, kv}) // counts and texts: neither encoder nor hash can fail
	_, _ = hash.Write(append(facts, '\n'))
	id := fmt.Sprintf("%dx%d-%08x", *a.NumLayers, *a.HiddenSize, hash.Sum32())
	return &id
}

// ShapeGaps lists the fields that are unknown and that a shape needs, in dotted form.
func (m *ModelFacts) ShapeGaps() (gaps []string) {
	a, kv := &m.Architecture, &m.KVCache
	need := func(name string, known bool) {
		if !known {
			gaps = append(gaps, name)
		}
	}
	need("architecture.type", a.Type != nil)
	need("architecture.num_layers", a.NumLayers != nil)
	need("architecture.hidden_size", a.HiddenSize != nil)
	need("architecture.vocab_size", a.VocabSize != nil)
	need("kv_cache.num_kv_layers", kv.NumKVLayers != nil)
	switch {
	case kv.NumKVLayers != nil && *kv.NumKVLayers == 0:
	case kv.Attention != nil && *kv.Attention == "mla":
		need("kv_cache.kv_lora_rank", kv.KVLoraRank != nil)
		need("kv_cache.qk_rope_head_dim", kv.QKRopeHeadDim != nil)
	default:
		need("architecture.num_attention_heads", a.NumAttentionHeads != nil)
		need("kv_cache.num_kv_heads", kv.NumKVHeads != nil)
		need("kv_cache.head_dim", kv.HeadDim != nil)
	}
	if a.NumExperts != nil || a.Type != nil && *a.Type == "moe" {
		need("architecture.num_experts", a.NumExperts != nil)
		need("architecture.num_experts_per_token", a.NumExpertsPerToken != nil)
		need("active_params_b", m.ActiveParamsB != nil)
	}
	if kv.NumLinearAttentionLayers != nil && *kv.NumLinearAttentionLayers > 0 || a.Type != nil && (*a.Type == "hybrid" || *a.Type == "ssm") {
		need("kv_cache.num_linear_attention_layers", kv.NumLinearAttentionLayers != nil)
		need("kv_cache.recurrent_state_bytes", kv.RecurrentStateBytes != nil || m.RecurrentState() != nil)
	}
	return gaps
}

// RecurrentState is what one sequence keeps in the layers without a cache, in bytes: for each layer the last inputs of the
// convolution and the state, in 32-bit values. The formula is that of llama.cpp (n_embd_r and n_embd_s in
// https://github.com/ggml-org/llama.cpp/blob/master/src/llama-hparams.cpp), where heads x values per head is the inner
// size. It is nil if a field is unknown.
func (m *ModelFacts) RecurrentState() *int64 {
	a, layers := &m.Architecture, m.KVCache.NumLinearAttentionLayers
	if layers == nil || *layers == 0 || a.SSMConvKernel == nil || a.SSMInnerSize == nil || a.SSMStateSize == nil || a.SSMGroupCount == nil {
		return nil
	}
	inputs := (*a.SSMConvKernel - 1) * (*a.SSMInnerSize + 2**a.SSMGroupCount**a.SSMStateSize)
	bytes := *layers * (inputs + *a.SSMStateSize**a.SSMInnerSize) * 4
	return &bytes
}

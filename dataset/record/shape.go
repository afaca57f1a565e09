package record

import (
	"fmt"
	"hash/fnv"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Shape returns the id of the shape of the model: the number of layers, the hidden size, and a hash over every count and
// width of Architecture and KVCache. Context length, rotary base, activation and normalization are no part of it. It is nil
// if a fact is unknown that the memory of every model of the type depends on, see ShapeGaps.
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

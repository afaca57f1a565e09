package dataset

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/record"
)

var modelRules = []rule[*Model]{
	{"model-sources", "Every known fact has an entry in sources.", 0, func(c *checker, m *Model, p place) { checkSources(c, p, m, m.Sources) }},
	{"model-basis", "params_b has a basis, and release_date is between 1990 and today.", 0, func(c *checker, m *Model, p place) {
		c.pair(p, "params_b", m.ParamsB != nil, "params_basis", m.ParamsBasis != nil)
		c.date(p, "release_date", m.ReleaseDate)
		checkTwice(c, p, "modalities", m.Modalities)
	}},
	{"model-shape", "Counts of layers, heads and experts are consistent with each other.", 0, checkShape},
	{"model-parts", "Effective and active parameters are at most params_b.", 0, func(c *checker, m *Model, p place) {
		for field, part := range map[string]*float64{"effective_params_b": m.EffectiveParamsB, "active_params_b": m.ActiveParamsB} {
			c.inOrder(p, field, part, "params_b", m.ParamsB)
		}
	}},
	{"model-sizes", "File sizes match the parameter count and the bits per weight of the quantization.", 0, checkSizes},
	{"model-quantizations", "A computed size has a method, a quantization has its usual spelling, and no file is listed twice.", 0, checkQuantizations},
	{"model-bounds", "Numbers are within plausible bounds.", clean, func(c *checker, m *Model, p place) { c.bounded(p, m) }},
	{"model-contradiction", "The fields of a model do not contradict each other.", clean, contradictModel},
	{"model-cache", "The layers and heads of the cache match those of the model.", clean, checkCache},
	{"model-cache-stated", "If some layers in a model family have no cache, every model in the family states how many layers do.", warned | clean, func(c *checker, m *Model, p place) {
		if k := &m.KVCache; k.NumKVLayers == nil && k.HeadDim != nil && c.skipping[m.Family] {
			c.warning(p, "kv_cache.num_kv_layers", fmt.Sprintf("must be set: other models of the family %s have layers without a cache", m.Family))
		}
	}},
	{"model-active", "A mixture-of-experts model states its active parameters.", warned | clean, func(c *checker, m *Model, p place) {
		if a := &m.Architecture; (a.NumExperts != nil || a.Type != nil && *a.Type == "moe") && m.ActiveParamsB == nil {
			c.warning(p, "active_params_b", "must be set for a mixture of experts")
		}
	}},
	{"model-slug-size", "Sizes in the slug match the parameter counts.", warned | clean, checkSlugSizes},
	{"model-params-name", "params_basis says whether the count comes from the name, and a tied output head is counted once.", warned | clean, checkParamsBasis},
	{"model-params", "The parameter count matches the layers and widths.", warned | clean, func(c *checker, m *Model, p place) {
		if derived, known := derivedParams(m); known {
			if off := derived / *m.ParamsB; off > 1+farOff || off < 1-farOff {
				c.warning(p, "params_b", fmt.Sprintf("is %s, but layers and widths give %s", plainNumber(*m.ParamsB), roughNumber(derived)), "architecture")
			}
		}
	}},
}

const (
	bitsAboveType   = 3    // times the average of the type; small models with large vocabularies reach 2.3
	bitsBelowType   = 0.2  // times the average of the type; models published in 4 bits reach 0.28 for "F16"
	bitsSlack       = 1.25 // between the bits a record says and its size gives, either way
	activeBelowName = 0.55 // of the active parameters in a slug, "-a3b"
	activeAboveName = 1.8  // as activeBelowName
)

func checkShape(c *checker, m *Model, p place) {
	a, k := &m.Architecture, &m.KVCache
	c.within(p, "kv_cache.global_num_kv_heads", k.GlobalNumKVHeads, "architecture.num_attention_heads", a.NumAttentionHeads)
	c.within(p, "kv_cache.sliding_num_kv_heads", k.SlidingNumKVHeads, "architecture.num_attention_heads", a.NumAttentionHeads)
	c.within(p, "kv_cache.num_linear_attention_layers", k.NumLinearAttentionLayers, "architecture.num_layers", a.NumLayers)
	c.within(p, "architecture.num_dense_layers", a.NumDenseLayers, "architecture.num_layers", a.NumLayers)
	c.within(p, "architecture.num_experts_per_token", a.NumExpertsPerToken, "architecture.num_experts", a.NumExperts)
}

func (c *checker) within(p place, field string, v *int64, of string, bound *int64) {
	if v != nil && bound != nil && *v > *bound {
		c.at(p, field, fmt.Sprintf("must be at most %s (%d), got %d", of, *bound, *v), of)
	}
}

func checkSizes(c *checker, m *Model, p place) {
	if m.ParamsB == nil {
		return
	}
	bitsOf := func(q *Quantization) float64 { return float64(q.SizeBytes) * 8 / (*m.ParamsB * 1e9) }
	wrong := 0
	for i := range m.Quantizations {
		if q := &m.Quantizations[i]; bitsProblem(bitsOf(q), c.typeBits[q.Name]) != "" {
			wrong++
		}
	}
	if wrong > fewRepeats && wrong*2 > len(m.Quantizations) { // so the sizes are right
		c.at(p, "params_b", fmt.Sprintf("does not match size_bytes of %d of %d quantizations, got %s", wrong, len(m.Quantizations), plainNumber(*m.ParamsB)))
		return
	}
	for i := range m.Quantizations {
		q, at := &m.Quantizations[i], fmt.Sprintf("quantizations.%d.", i)
		bits := bitsOf(q)
		if text := bitsProblem(bits, c.typeBits[q.Name]); text != "" {
			c.at(p, at+"size_bytes", text, "params_b", at+"name")
		} else if q.BitsPerWeight != nil && (*q.BitsPerWeight > bits*bitsSlack || *q.BitsPerWeight < bits/bitsSlack) {
			c.at(p, at+"bits_per_weight", fmt.Sprintf("must match size_bytes and params_b, which give %.2f, got %s", bits, plainNumber(*q.BitsPerWeight)), "params_b", at+"size_bytes")
		}
	}
}

// bitsProblem says what is wrong with so many bits per weight of a type that has ofType on average (0: unknown).
func bitsProblem(bits, ofType float64) string {
	low, high := float64(minWeightBits), float64(maxWeightBits)
	if ofType > 0 {
		low, high = max(low, ofType*bitsBelowType), min(high, ofType*bitsAboveType)
	}
	if bits >= low && bits <= high {
		return ""
	}
	return fmt.Sprintf("gives %.1f bits per weight; its type has %.1f to %.1f", bits, low, high)
}

func checkQuantizations(c *checker, m *Model, p place) {
	type download struct{ name, format, repo, source string }
	files := map[download]int{}
	faulty := c.anyFaulty(p)
	for i := range m.Quantizations {
		q, at := &m.Quantizations[i], fmt.Sprintf("quantizations.%d.", i)
		if (q.Basis == Computed) != (q.Method != nil) {
			c.at(p, at+"method", "must be set if basis is computed, and null if it is published", at+"basis")
		}
		if !c.warn {
			continue
		}
		c.spelledType(p, at+"name", q.Name)
		of := download{q.Name, q.Format, textOf(q.Repo), textOf(q.Source)}
		if first, twice := files[of]; !twice {
			files[of] = i
		} else if !faulty {
			c.warning(p, at+"name", fmt.Sprintf("%q is a duplicate of quantizations.%d, with the same format, repo and source", q.Name, first))
		}
	}
}

func contradictModel(c *checker, m *Model, p place) {
	if a := &m.Architecture; a.Type != nil && *a.Type == "dense" {
		const fields = "num_experts num_experts_per_token num_shared_experts moe_intermediate_size num_dense_layers"
		c.allNull(p, a, "architecture.", fields, "must be null if type is \"dense\"", "architecture.type")
	}
	if k := &m.KVCache; k.Attention != nil && *k.Attention != "mla" {
		text := fmt.Sprintf("must be null if attention is %q", *k.Attention)
		c.allNull(p, k, "kv_cache.", "kv_lora_rank qk_rope_head_dim", text, "kv_cache.attention")
	}
}

var sizeName = regexp.MustCompile(`(?:^|-)(?:([0-9]+)x)?([0-9]+(?:\.[0-9]+)?)([bm])(?:-|$)`)

func sizeFits(m *Model) bool {
	found := sizeName.FindAllStringSubmatch(strings.ReplaceAll(string(m.Slug), "-", "--"), -1)
	for _, part := range found {
		size, _ := strconv.ParseFloat(part[2], 64)
		if part[3] == "m" {
			size /= 1000
		}
		if times, err := strconv.Atoi(part[1]); err == nil {
			size *= float64(times)
		}
		for _, own := range []*float64{m.ParamsB, m.ActiveParamsB, m.EffectiveParamsB} {
			if own != nil && *own > size*0.55 && *own < size*1.8 {
				return true
			}
		}
	}
	return len(found) == 0
}

func checkParamsBasis(c *checker, m *Model, p place) {
	if m.ParamsB == nil || m.ParamsBasis == nil || *m.ParamsBasis != record.ParamsBasis(Published) {
		return
	}
	for _, part := range sizeName.FindAllStringSubmatch(strings.ReplaceAll(string(m.Slug), "-", "--"), -1) {
		if size, _ := strconv.ParseFloat(part[2], 64); part[1] == "" && part[3] == "b" && size == *m.ParamsB {
			c.warning(p, "params_basis", fmt.Sprintf("must be %q unless params_b is exact: %s is the number in the name", record.NamedParams, plainNumber(*m.ParamsB)), "params_b")
		}
	}
	a := &m.Architecture
	derived, known := derivedParams(m)
	if !known || !*a.TieWordEmbeddings {
		return
	}
	table := float64(*a.VocabSize) * float64(*a.HiddenSize) / 1e9
	if twice := derived + table; math.Abs(*m.ParamsB-twice) < 0.1*table {
		c.warning(p, "params_b", fmt.Sprintf("counts the tied output head twice: layers and widths give %s, got %s", roughNumber(derived), plainNumber(*m.ParamsB)), "architecture")
	}
}

var activeSize = regexp.MustCompile(`-a([0-9]+(?:\.[0-9]+)?)b(?:-|$)`)

func checkSlugSizes(c *checker, m *Model, p place) {
	if m.ParamsB != nil && !sizeFits(m) {
		c.warning(p, "params_b", fmt.Sprintf("is %s, far from the size in the slug %s", plainNumber(*m.ParamsB), m.Slug), "slug", "active_params_b")
	}
	if said := activeSize.FindStringSubmatch(string(m.Slug)); said != nil && m.ActiveParamsB != nil {
		if size, err := strconv.ParseFloat(said[1], 64); err == nil && (*m.ActiveParamsB < size*activeBelowName || *m.ActiveParamsB > size*activeAboveName) {
			c.warning(p, "active_params_b", fmt.Sprintf("is %s, far from the size in the slug %s", plainNumber(*m.ActiveParamsB), m.Slug), "slug")
		}
	}
	a := &m.Architecture
	if m.ParamsB != nil && a.VocabSize != nil && a.HiddenSize != nil {
		if table := float64(*a.VocabSize) * float64(*a.HiddenSize) / 1e9; table > *m.ParamsB {
			c.warning(p, "architecture.vocab_size", fmt.Sprintf("is %d, so the embeddings have %s billion parameters, more than params_b", *a.VocabSize, roughNumber(table)), "params_b", "architecture.hidden_size")
		}
	}
}

func checkCache(c *checker, m *Model, p place) {
	layers, kv, linear := m.Architecture.NumLayers, m.KVCache.NumKVLayers, m.KVCache.NumLinearAttentionLayers
	c.within(p, "kv_cache.num_kv_layers", kv, "architecture.num_layers", layers)
	c.within(p, "kv_cache.num_sliding_window_layers", m.KVCache.NumSlidingWindowLayers, "architecture.num_layers", layers)
	parallel := kv != nil && linear != nil && *kv == *linear // every layer has both a cache and a state
	if layers != nil && kv != nil && linear != nil && *kv+*linear > *layers && !parallel {
		c.at(p, "kv_cache.num_linear_attention_layers", fmt.Sprintf("plus num_kv_layers must be at most num_layers, got %d and %d of %d", *linear, *kv, *layers), "architecture.num_layers")
	}
	heads, kvHeads := m.Architecture.NumAttentionHeads, m.KVCache.NumKVHeads
	if heads != nil && kvHeads != nil && *kvHeads > 0 && (*kvHeads > *heads || *heads%*kvHeads != 0) {
		c.at(p, "kv_cache.num_kv_heads", fmt.Sprintf("must divide architecture.num_attention_heads, got %d of %d", *kvHeads, *heads), "architecture.num_attention_heads")
	}
}

// farOff allows for biases, norms and rounded names.
const farOff = 0.05

// derivedParams is the number of parameters that the widths give, in billions. It is unknown for models of other blocks.
func derivedParams(m *Model) (billions float64, known bool) {
	a, kv := &m.Architecture, &m.KVCache
	known = m.ParamsB != nil && a.NumLayers != nil && a.HiddenSize != nil &&
		a.NumAttentionHeads != nil && a.VocabSize != nil && kv.NumKVHeads != nil && kv.HeadDim != nil && a.TieWordEmbeddings != nil
	if !known || a.Activation == nil || !slices.Contains([]string{"silu", "swiglu", "geglu"}, *a.Activation) ||
		m.EffectiveParamsB != nil || len(m.Modalities) != 1 || kv.KVLoraRank != nil {
		return 0, false
	}
	forward, known := feedForward(a)
	if !known {
		return 0, false
	}
	embeddings := 2.0
	if *a.TieWordEmbeddings {
		embeddings = 1
	}
	hidden, heads := float64(*a.HiddenSize), float64(*kv.HeadDim)
	attention := 2*hidden*heads*float64(*a.NumAttentionHeads) + 2*hidden*heads*float64(*kv.NumKVHeads)
	return (embeddings*float64(*a.VocabSize)*hidden + float64(*a.NumLayers)*attention + forward) / 1e9, true
}

// feedForward counts the parameters of gated blocks, of three matrices each, in all layers; false for other blocks.
func feedForward(a *Architecture) (params float64, known bool) {
	hidden, layers := float64(*a.HiddenSize), float64(*a.NumLayers)
	switch {
	case a.Type == nil:
		return 0, false
	case *a.Type == "dense" && a.IntermediateSize != nil:
		return layers * 3 * hidden * float64(*a.IntermediateSize), true
	case *a.Type != "moe" || a.NumExperts == nil || a.MoEIntermediateSize == nil:
		return 0, false
	}
	experts, width := float64(*a.NumExperts), float64(*a.MoEIntermediateSize)
	shared, dense := 0.0, 0.0
	if a.NumSharedExperts != nil {
		shared = float64(*a.NumSharedExperts)
	}
	if a.NumDenseLayers != nil && *a.NumDenseLayers > 0 {
		if a.IntermediateSize == nil {
			return 0, false
		}
		dense = float64(*a.NumDenseLayers)
		params = dense * 3 * hidden * float64(*a.IntermediateSize)
	}
	return params + (layers-dense)*hidden*(3*width*(experts+shared)+experts), true
}

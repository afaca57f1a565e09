package dataset

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
)

// checkPlausible holds records against each other and against arithmetic. What contradicts
// itself is a fault; what is only unlikely is a warning and costs nothing where none is asked for.
func (l *loader) checkPlausible() {
	for i := range l.models.recs {
		m, p := l.models.recs[i], l.models.places[i]
		if l.anyFaulty(p) {
			continue // what cannot be read is zero
		}
		l.boundModel(m, p)
		l.contradictModel(m, p)
		l.unlikelyModel(m, p)
		l.checkCache(m, p)
		l.checkParams(m, p)
	}
	for i := range l.hardware.recs {
		h, p := l.hardware.recs[i], l.hardware.places[i]
		if l.anyFaulty(p) {
			continue
		}
		l.boundHardware(h, p)
		l.contradictHardware(h, p)
		l.unlikelyHardware(h, p)
		l.checkFP16(h, p)
		l.checkArchitectureDate(h, p)
	}
	if l.warn {
		l.checkKin()
		l.checkLicenses()
		l.checkSilicon()
		l.checkAccounts()
		l.checkOwn()
		l.checkFP16Siblings()
		l.checkUnlikely()
	}
}

// checkUnlikely looks for benchmarks that ask for a look, where warnings are asked for.
func (l *loader) checkUnlikely() {
	l.review()
	l.checkWeights()
	l.checkSpread()
}

// review looks at benchmarks by the rule of the caller, which may rely on every record.
func (l *loader) review() {
	if l.opt.Review == nil || len(l.faulty) > 0 {
		return
	}
	rule := l.opt.Review(l.models.recs, l.hardware.recs)
	for i, b := range l.benchmarks.recs {
		if field, text := rule(b); text != "" && b.Withdrawn == nil {
			l.warning(l.benchmarks.places[i], field, text)
		}
	}
}

// checkCache holds the layers and heads of the cache to those of the model.
func (l *loader) checkCache(m *Model, p place) {
	layers, kv, local, linear := m.Architecture.NumLayers, m.KVCache.NumKVLayers, m.KVCache.NumSlidingWindowLayers, m.KVCache.NumLinearAttentionLayers
	if layers != nil && kv != nil && *kv > *layers {
		l.at(p, "kv_cache.num_kv_layers", fmt.Sprintf("must be at most architecture.num_layers, got %d of %d", *kv, *layers), "architecture.num_layers")
	}
	if layers != nil && local != nil && *local > *layers {
		l.at(p, "kv_cache.num_sliding_window_layers", fmt.Sprintf("must be at most architecture.num_layers, got %d of %d", *local, *layers), "architecture.num_layers")
	}
	if layers != nil && kv != nil && linear != nil && *kv+*linear > *layers {
		l.at(p, "kv_cache.num_linear_attention_layers", fmt.Sprintf("must leave room for num_kv_layers, got %d and %d of %d", *linear, *kv, *layers), "architecture.num_layers")
	}
	heads, kvHeads := m.Architecture.NumAttentionHeads, m.KVCache.NumKVHeads
	if heads != nil && kvHeads != nil && *kvHeads > 0 && (*kvHeads > *heads || *heads%*kvHeads != 0) {
		l.at(p, "kv_cache.num_kv_heads", fmt.Sprintf("must divide architecture.num_attention_heads, got %d of %d", *kvHeads, *heads), "architecture.num_attention_heads")
	}
}

// farOff is how far a parameter count worked out from the widths may be from the stated one:
// biases, norms and rounded names stay below it.
const farOff = 0.05

// checkParams works out the parameters of a text model from its widths. They are the embeddings
// (two where the output is not tied) and, for each layer, attention and a gated feed-forward
// block. A mixture of experts has that block once for each expert, and a router.
func (l *loader) checkParams(m *Model, p place) {
	a, kv := &m.Architecture, &m.KVCache
	known := m.ParamsB != nil && a.NumLayers != nil && a.HiddenSize != nil &&
		a.NumAttentionHeads != nil && a.VocabSize != nil && kv.NumKVHeads != nil && kv.HeadDim != nil && a.TieWordEmbeddings != nil
	if !l.warn || !known || a.Activation == nil || !slices.Contains([]string{"silu", "swiglu", "geglu"}, *a.Activation) ||
		m.EffectiveParamsB != nil || len(m.Modalities) != 1 || kv.KVLoraRank != nil {
		return
	}
	forward, known := feedForward(a)
	if !known {
		return
	}
	embeddings := 2.0
	if *a.TieWordEmbeddings {
		embeddings = 1
	}
	hidden, heads := float64(*a.HiddenSize), float64(*kv.HeadDim)
	attention := 2*hidden*heads*float64(*a.NumAttentionHeads) + 2*hidden*heads*float64(*kv.NumKVHeads)
	derived := (embeddings*float64(*a.VocabSize)*hidden + float64(*a.NumLayers)*attention + forward) / 1e9
	if off := derived / *m.ParamsB; off > 1+farOff || off < 1-farOff {
		l.warning(p, "params_b", fmt.Sprintf("is far from what layers and widths give, got %s where they give %s", plainNumber(*m.ParamsB), roughNumber(derived)), "architecture")
	}
}

// feedForward is the number of parameters of the feed-forward blocks of all layers. The blocks are gated ones,
// of three matrices each. It is false if a width is unknown or the kind of model has other blocks.
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

// checkFP16 holds the comparable rate to the rates it is one of.
func (l *loader) checkFP16(h *Hardware, p place) {
	want := cmp.Or(h.FP16TensorFP32AccTFLOPS, h.FP16VectorTFLOPS)
	switch {
	case h.FP16TFLOPS == nil, want == nil:
	case *h.FP16TFLOPS != *want:
		l.at(p, "fp16_tflops", fmt.Sprintf("must be fp16_tensor_fp32acc_tflops or, without it, fp16_vector_tflops, got %s of %s", plainNumber(*h.FP16TFLOPS), plainNumber(*want)), "fp16_tensor_fp32acc_tflops", "fp16_vector_tflops")
	case (h.FP16TensorFP32AccTFLOPS == nil) != (h.FP16Basis != nil && *h.FP16Basis == "shader"):
		l.at(p, "fp16_basis", "must be \"shader\" where fp16_tflops is the vector rate, and only there", "fp16_tflops")
	}
	if v, s := h.FP16VectorTFLOPS, h.FP16ShaderTFLOPS; v != nil && s != nil && *v != *s {
		l.at(p, "fp16_shader_tflops", fmt.Sprintf("must be the same figure as fp16_vector_tflops, got %s and %s", plainNumber(*s), plainNumber(*v)), "fp16_vector_tflops")
	}
}

// memoryKind is what separates the chips of one architecture: those for data centres have HBM,
// those of boards and laptops LPDDR, cards the rest, and their units differ. Empty for unknown.
func memoryKind(h *Hardware) string {
	kind := strings.ToUpper(textOf(h.MemoryType))
	for _, name := range []string{"HBM", "LPDDR"} {
		if strings.HasPrefix(kind, name) {
			return name
		}
	}
	if kind != "" {
		return "other"
	}
	return ""
}

// checkFP16Siblings compares the ratio of FP16 to FP32 among parts of one architecture, basis and
// kind of memory.
func (l *loader) checkFP16Siblings() {
	type kind struct{ architecture, basis, memory string }
	type member struct {
		at    int
		ratio float64
	}
	groups := map[kind][]member{}
	for i := range l.hardware.recs {
		h := l.hardware.recs[i]
		memory := memoryKind(h)
		if h.FP16TFLOPS != nil && h.FP16Basis != nil && h.FP32TFLOPS != nil && h.Architecture != nil && memory != "" {
			k := kind{*h.Architecture, string(*h.FP16Basis), memory}
			groups[k] = append(groups[k], member{i, *h.FP16TFLOPS / *h.FP32TFLOPS})
		}
	}
	for _, members := range groups {
		if len(members) < fewest {
			continue
		}
		slices.SortFunc(members, func(a, b member) int { return cmp.Compare(a.ratio, b.ratio) })
		median := members[len(members)/2].ratio
		for _, m := range members {
			if m.ratio > 2.5*median || m.ratio < median/2.5 {
				l.warning(l.hardware.places[m.at], "fp16_tflops", fmt.Sprintf("is %s times fp32_tflops where half of %d parts of the architecture have %s", roughNumber(m.ratio), len(members), roughNumber(median)), "fp32_tflops")
			}
		}
	}
}

// announced says when the first part of an architecture was shown, by its maker's announcement:
// nothing of it is older.
var announced = map[string]Date{
	"Pascal": "2016-04-05", "Volta": "2017-05-10", "Turing": "2018-08-13", "Ampere": "2020-05-14", "Hopper": "2022-03-22",
	"Ada Lovelace": "2022-09-20", "Blackwell": "2024-03-18", "RDNA": "2019-05-27", "RDNA 2": "2020-10-28", "RDNA 3": "2022-11-03",
	"RDNA 3.5": "2024-06-03", "RDNA 4": "2025-01-06", "CDNA": "2020-11-16", "CDNA 2": "2021-11-08", "CDNA 3": "2023-01-04",
}

func (l *loader) checkArchitectureDate(h *Hardware, p place) {
	if h.Architecture == nil || h.ReleaseDate == nil {
		return
	}
	first, known := announced[*h.Architecture]
	if n := len(*h.ReleaseDate); known && *h.ReleaseDate < first[:min(n, len(first))] {
		l.at(p, "release_date", fmt.Sprintf("must not be before its architecture was announced on %s, got %q", first, *h.ReleaseDate), "architecture")
	}
}

// spare is what weights may pass the memory by before it counts: sizes are rounded.
const spare = 1.05

// quantized finds a storage type in the name of a model.
var quantized = regexp.MustCompile(`(?i)[a-z]?q[0-9]|int[0-9]|fp[0-9]|bit`)

// checkWeights asks for partial_offload where the weights are larger than the memory of the
// devices, and reports a run that says it needed none. Sizes are those of the row, else parameters x bits per weight.
func (l *loader) checkWeights() {
	line := newRoofline(l.models.recs, l.hardware.recs, l.quantizations.recs)
	params := map[Slug]float64{}
	for i := range l.models.recs {
		if m := l.models.recs[i]; m.ParamsB != nil {
			params[m.Slug] = *m.ParamsB
		}
	}
	for i, b := range l.benchmarks.recs {
		h := line.hardware[b.Hardware]
		onCPU := b.ComputeUnit != nil && *b.ComputeUnit != OnGPU
		if h == nil || b.Withdrawn != nil || b.PartialOffload != nil && *b.PartialOffload || h.Type == "cpu" || onCPU || b.IsThroughput() || len(l.faulty) > 0 {
			continue
		}
		memory := cmp.Or(b.MemoryGB, h.VRAMGB)
		if memory == nil || h.Variants != nil && b.MemoryGB == nil {
			continue
		}
		gib := 0.0
		switch {
		case b.ModelSizeGiB != nil:
			gib = *b.ModelSizeGiB
		case b.Quantization != nil:
			gib = params[b.Model] * 1e9 * line.bitsOf(*b.Quantization) / 8 / (1 << 30)
		case b.Tool == "ollama" && !quantized.MatchString(b.ModelRaw): // a tag alone is a file of four bits or more
			gib = params[b.Model] * 1e9 * 4 / 8 / (1 << 30)
		}
		room := *memory * float64(b.HardwareCount)
		switch {
		case gib <= room*spare:
		case b.PartialOffload != nil:
			l.warning(l.benchmarks.places[i], "memory_gb", fmt.Sprintf("must hold the weights of a run without offload: they take %.1f GiB of %s GB", gib, plainNumber(room)), "partial_offload", "model_size_gib")
		default:
			l.warning(l.benchmarks.places[i], "partial_offload", fmt.Sprintf("must say whether part of the weights lay in main memory: they take %.1f GiB of %s GB", gib, plainNumber(room)), "memory_gb", "model_size_gib")
		}
	}
}

// wide is the spread of equal runs that asks for a look.
const wide = 4

// setting is what makes runs equal.
type setting struct {
	model, hardware, tool              Slug
	quantization, backend, basis, unit string
	devices, users, layers, threads    int64
	drafted                            bool
}

func settingOf(b *Benchmark) setting {
	s := setting{model: b.Model, hardware: b.Hardware, tool: b.Tool, devices: b.HardwareCount, users: 1, drafted: b.SpeculativeDecoding != nil && *b.SpeculativeDecoding}
	s.quantization, s.backend = textOf(b.Quantization), textOf(b.Backend)
	s.basis, s.unit = textOf(b.RateBasis), textOf(b.ComputeUnit)
	if b.Concurrency != nil {
		s.users = *b.Concurrency
	}
	if b.NGPULayers != nil && b.ComputeUnit != nil && *b.ComputeUnit == OnMixed {
		s.layers = *b.NGPULayers
	}
	if b.Threads != nil && b.ComputeUnit != nil && *b.ComputeUnit != OnGPU {
		s.threads = *b.Threads
	}
	return s
}

func textOf[S ~string](s *S) string {
	if s == nil {
		return ""
	}
	return string(*s)
}

// checkSpread asks for a look at runs far below or above equal ones: same model, storage, machine, tool,
// kind of rate and load, from an empty cache.
func (l *loader) checkSpread() {
	groups := map[setting][]int{}
	for i, b := range l.benchmarks.recs {
		if b.GenerationTPS != nil && b.Withdrawn == nil && b.Quantization != nil && b.FromEmpty() && b.RateBasis != nil && *b.RateBasis == RateDecode {
			groups[settingOf(b)] = append(groups[settingOf(b)], i)
		}
	}
	for _, members := range groups {
		if len(members) < 3 {
			continue
		}
		speeds := make([]float64, len(members))
		for i, m := range members {
			speeds[i] = *l.benchmarks.recs[m].GenerationTPS
		}
		slices.Sort(speeds)
		median := speeds[len(speeds)/2]
		for _, m := range members {
			got, where := *l.benchmarks.recs[m].GenerationTPS, ""
			switch {
			case got*wide < median:
				where = "below"
			case got > median*wide:
				where = "above"
			default:
				continue
			}
			l.warning(l.benchmarks.places[m], "generation_tps", fmt.Sprintf("is far %s equal runs, got %s where half of %d reach %s", where, plainNumber(got), len(members), plainNumber(math.Round(median*100)/100)))
		}
	}
}

package dataset

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"modeldex/dataset/record"
)

// ptr is the address of a value, for fields that may be null.
func ptr[T any](v T) *T { return &v }

// rooflineKit is one machine of 500 GB/s, one model of 8 x 10^9 parameters and a type of 4.5 bits.
func rooflineKit(change func(*Model, *Hardware, *Benchmark)) (*Roofline, *Benchmark) {
	m := Model{ModelFacts: ModelFacts{Slug: "m", ParamsB: ptr(8.0), Architecture: Architecture{Type: ptr(record.ModelType("dense")), NumLayers: ptr(int64(32))}}}
	h := Hardware{Slug: "h", Type: "gpu", MemoryBandwidthGBps: ptr(500.0)}
	b := Benchmark{Model: "m", Hardware: "h", HardwareCount: 1, GenerationTPS: ptr(50.0), Quantization: ptr("Q4_0")}
	change(&m, &h, &b)
	variants := []Hardware{{Slug: "slow", MemoryBandwidthGBps: ptr(300.0)}, {Slug: "fast", MemoryBandwidthGBps: ptr(400.0)}, {Slug: "unknown"}}
	types := []QuantizationType{{Name: "Q4_0", EffectiveBitsPerWeight: ptr(4.5)}, {Name: "TQ1_0"}}
	return NewRoofline([]Model{m}, append(variants, h), types), &b
}

func TestRatio(t *testing.T) {
	unknown := math.NaN()
	for _, tt := range []struct {
		name   string
		change func(*Model, *Hardware, *Benchmark)
		want   float64 // NaN: no ratio
	}{
		{"parameters times bits", func(*Model, *Hardware, *Benchmark) {}, 50 * 4.5e9 / 500e9},
		{"printed size first", func(_ *Model, _ *Hardware, b *Benchmark) { b.ModelSizeGiB = ptr(4.0) }, 50 * 4 * (1 << 30) / 500e9},
		{"size with a projector does not count", func(_ *Model, _ *Hardware, b *Benchmark) {
			b.ModelSizeGiB, b.SizeIncludesProjector = ptr(9.0), ptr(true)
		}, 0.45},
		{"size said to be without one", func(_ *Model, _ *Hardware, b *Benchmark) {
			b.ModelSizeGiB, b.SizeIncludesProjector = ptr(4.0), ptr(false)
		}, 50 * 4 * (1 << 30) / 500e9},
		{"published size of that name", func(m *Model, _ *Hardware, _ *Benchmark) {
			m.Quantizations = []Quantization{{Name: "Q4_0", SizeBytes: 4e9, Basis: Published}}
		}, 0.4},
		{"computed size of that name", func(m *Model, _ *Hardware, _ *Benchmark) {
			m.Quantizations = []Quantization{{Name: "Q4_0", SizeBytes: 4e9, Basis: Computed}}
		}, 0.45},
		{"mixture of experts", func(m *Model, _ *Hardware, _ *Benchmark) {
			m.Architecture.Type, m.ActiveParamsB = ptr(record.ModelType("moe")), ptr(2.0)
		}, 0.1125},
		{"mixture of experts by size", func(m *Model, _ *Hardware, b *Benchmark) {
			m.Architecture.Type, m.ActiveParamsB, b.ModelSizeGiB = ptr(record.ModelType("moe")), ptr(2.0), ptr(4.0)
		}, 0.1074},
		{"effective before active", func(m *Model, _ *Hardware, _ *Benchmark) {
			m.ActiveParamsB, m.EffectiveParamsB = ptr(8.0), ptr(4.0)
		}, 0.225},
		{"two devices", func(_ *Model, _ *Hardware, b *Benchmark) { b.HardwareCount = 2 }, 0.225},
		{"four requests", func(_ *Model, _ *Hardware, b *Benchmark) { b.Concurrency = ptr(int64(4)) }, 0.1125},
		{"fastest variant", func(_ *Model, h *Hardware, _ *Benchmark) {
			h.MemoryBandwidthGBps, h.Variants = nil, &[]Slug{"slow", "fast"}
		}, 0.5625},
		{"layers on the host, one memory", func(_ *Model, h *Hardware, b *Benchmark) {
			h.UnifiedMemory, b.NGPULayers = true, ptr(int64(1))
		}, 0.45},
		{"all layers on the card", func(_ *Model, _ *Hardware, b *Benchmark) { b.NGPULayers = ptr(int64(99)) }, 0.45},
		{"no layers on the card, processor meant", func(_ *Model, h *Hardware, b *Benchmark) { h.Type, b.NGPULayers = "cpu", ptr(int64(0)) }, 0.45},
		{"size without parameter count", func(m *Model, _ *Hardware, b *Benchmark) { m.ParamsB, b.ModelSizeGiB = nil, ptr(4.0) }, 0.4295},

		{"no speed", func(_ *Model, _ *Hardware, b *Benchmark) { b.GenerationTPS = nil }, unknown},
		{"no bandwidth", func(_ *Model, h *Hardware, _ *Benchmark) { h.MemoryBandwidthGBps = nil }, unknown},
		{"a variant without bandwidth", func(_ *Model, h *Hardware, _ *Benchmark) {
			h.MemoryBandwidthGBps, h.Variants = nil, &[]Slug{"slow", "unknown"}
		}, unknown},
		{"a variant that is not there", func(_ *Model, h *Hardware, _ *Benchmark) { h.MemoryBandwidthGBps, h.Variants = nil, &[]Slug{"gone"} }, unknown},
		{"no quantization", func(_ *Model, _ *Hardware, b *Benchmark) { b.Quantization = nil }, unknown},
		{"quantization without bits", func(_ *Model, _ *Hardware, b *Benchmark) { b.Quantization = ptr("TQ1_0") }, unknown},
		{"no parameter count", func(m *Model, _ *Hardware, _ *Benchmark) { m.ParamsB = nil }, unknown},
		{"kind of model unknown", func(m *Model, _ *Hardware, _ *Benchmark) { m.Architecture.Type = nil }, unknown},
		{"active size unknown", func(m *Model, _ *Hardware, _ *Benchmark) { m.Architecture.Type = ptr(record.ModelType("moe")) }, unknown},
		{"hybrid with experts, active size unknown", func(m *Model, _ *Hardware, b *Benchmark) {
			m.Architecture.Type, m.Architecture.NumExperts, b.ModelSizeGiB = ptr(record.ModelType("hybrid")), ptr(int64(64)), ptr(4.0)
		}, unknown},
		{"weights in main memory", func(_ *Model, _ *Hardware, b *Benchmark) { b.PartialOffload = ptr(true) }, unknown},
		{"no layers on the card", func(_ *Model, _ *Hardware, b *Benchmark) { b.NGPULayers = ptr(int64(0)) }, unknown},
		{"some layers on the card", func(_ *Model, _ *Hardware, b *Benchmark) { b.NGPULayers = ptr(int64(31)) }, unknown},
		{"unknown model", func(_ *Model, _ *Hardware, b *Benchmark) { b.Model = "x" }, unknown},
		{"unknown hardware", func(_ *Model, _ *Hardware, b *Benchmark) { b.Hardware = "x" }, unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			line, b := rooflineKit(tt.change)
			got, known := line.Ratio(b)
			if known == math.IsNaN(tt.want) || known && math.Abs(got-tt.want) > 0.00005 {
				t.Errorf("Ratio = %v, %t, want %v (NaN is unknown)", got, known, tt.want)
			}
		})
	}
}

func TestBitsOf(t *testing.T) {
	var types []QuantizationType
	for name, bits := range map[string]float64{"Q4_K_S": 4.67, "Q4_K_M": 4.89, "Q2_K": 3.16, "Q2_K_S": 2.97, "IQ4_NL": 4.68, "IQ2_XXS": 2.38, "Q4_0": 4.56, "MXFP4": 4.25, "F16": 16} {
		types = append(types, QuantizationType{Name: name, EffectiveBitsPerWeight: ptr(bits)})
	}
	line := NewRoofline(nil, nil, types)
	for name, want := range map[string]float64{
		"Q4_K_M": 4.89, "q4_0": 4.56, "mxfp4": 4.25, "MXFP4 MoE": 4.25, "F16": 16, "Q2_K": 3.16,
		"UD-Q4_K_XL": 4.67, "Q4_K": 4.67, "Q4_K_L": 4.67, "UD-IQ2_XXS": 2.38, "IQ4_NL_R4": 4.68, "Q2_K_XL": 3.16,
		"INT8": 8, "GPTQ-Int4": 4, "w4a16": 4, "W8A8": 8, "MLX-4bit": 4, "8-bit": 8, "EXL2 4.5 bpw": 4.5, "exl3-6.0bpw-mcg": 6,
		"q4f16_1": 4, "FP8-static": 8, "UQFF q8": 8, "bf16": 16, "f32": 32, "AQLM 2-bit": 2, "MXFP8": 8,
		"AWQ": 0, "GPTQ g128": 0, "SpinQuant": 0, "": 0,
	} {
		if got := line.BitsPerWeight(name); got != want {
			t.Errorf("bitsOf(%q) = %v, want %v", name, got, want)
		}
	}
}

// TestShippedSpeeds: no shipped measurement passes the memory bandwidth without drafting, the
// known exceptions come out where their effective size puts them, and most have a verdict.
func TestShippedSpeeds(t *testing.T) {
	set := mustShipped(t)
	line := NewRoofline(set.Models, set.Hardware, set.Quantizations)
	known := map[Slug]float64{"bm-0e5c85cee749": 0.84, "bm-c18f17c8eef1": 0.78, "bm-18aff202cc00": 0.69}
	verdicts, speeds := 0, 0
	for _, b := range set.Benchmarks {
		ratio, ok := line.Ratio(b)
		if b.GenerationTPS != nil {
			speeds++
		}
		if !ok {
			continue
		}
		verdicts++
		if want, ok := known[b.ID]; ok && math.Abs(ratio-want) > 0.01 {
			t.Errorf("%s: ratio %v, want about %v", b.ID, ratio, want)
		}
		if ratio > 1 && (b.SpeculativeDecoding == nil || !*b.SpeculativeDecoding) {
			t.Errorf("%s: ratio %v", b.ID, ratio)
		}
	}
	if verdicts*4 < speeds*3 {
		t.Errorf("%d of %d speeds have a ratio, want three in four", verdicts, speeds)
	}
}

func BenchmarkRatio(b *testing.B) {
	set := mustShipped(b)
	line, runs := NewRoofline(set.Models, set.Hardware, set.Quantizations), set.Benchmarks
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		line.Ratio(runs[i%len(runs)])
	}
}

// TestComputedSize: bits of a whole file, and types that keep embedding and output in 16 bits where these are known.
// Llama 3.1 8B has 5.73 GB as AWQ, https://huggingface.co/hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4.
func TestComputedSize(t *testing.T) {
	llama := func(tied *bool) Model {
		m := Model{}
		m.ParamsB = new(8.030261248)
		m.Architecture.VocabSize, m.Architecture.HiddenSize, m.Architecture.TieWordEmbeddings = new(int64(128256)), new(int64(4096)), tied
		return m
	}
	types := []QuantizationType{
		{Name: "MLX-4bit", Format: "mlx", EffectiveBitsPerWeight: new(4.5)},
		{Name: "AWQ", Format: "safetensors", BlockBitsPerWeight: new(4.15625)},
		{Name: "Q1_0", Format: "gguf", BlockBitsPerWeight: new(1.125)},
	}
	models := []Model{llama(new(false)), llama(new(true)), llama(nil)}
	addComputed(models, types)
	got := ""
	for _, m := range models {
		for _, q := range m.Quantizations {
			got += fmt.Sprintf("%s %.2f GB %.2f bits, ", q.Name, float64(q.SizeBytes)/1e9, *q.BitsPerWeight)
		}
	}
	if want := "MLX-4bit 4.52 GB 4.50 bits, AWQ 5.73 GB 5.71 bits, MLX-4bit 4.52 GB 4.50 bits, AWQ 4.95 GB 4.93 bits, MLX-4bit 4.52 GB 4.50 bits, "; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestComputedWithinPublished: a computed size is never below a published one of fewer bits nor above one of more, and nothing is computed that
// contradicts a file of 16 bits whose weights take four.
func TestComputedWithinPublished(t *testing.T) {
	bits := func(name string, bits float64) QuantizationType {
		return QuantizationType{Name: name, Format: "gguf", EffectiveBitsPerWeight: &bits}
	}
	types := []QuantizationType{bits("Q2_K", 3), bits("Q4_K_M", 5), bits("Q6_K", 6.5), bits("Q8_0", 8.5), bits("F16", 16), bits("F32", 32)}
	for _, tt := range []struct {
		name      string
		published map[string]int64 // in bytes, of a model of a billion parameters
		want      map[string]int64
		limited   []string
	}{
		{"none", nil, map[string]int64{"Q2_K": 375e6, "Q4_K_M": 625e6, "Q6_K": 812_500_000, "Q8_0": 1_062_500_000, "F16": 2e9, "F32": 4e9}, nil},
		{"a large vocabulary", map[string]int64{"Q4_K_M": 900e6, "F16": 2_100e6}, map[string]int64{"Q2_K": 375e6, "Q6_K": 900e6, "Q8_0": 1_062_500_000, "F32": 4e9}, []string{"Q6_K"}},
		{"four bits", map[string]int64{"F16": 560e6}, map[string]int64{"Q4_K_M": 560e6, "Q6_K": 560e6, "Q8_0": 560e6}, []string{"Q4_K_M", "Q6_K", "Q8_0"}},
		{"published sizes that contradict each other", map[string]int64{"Q4_K_M": 900e6, "Q8_0": 700e6}, map[string]int64{"Q2_K": 375e6, "Q6_K": 812_500_000, "F16": 2e9, "F32": 4e9}, nil},
	} {
		params := 1.0
		m := Model{ModelFacts: ModelFacts{Slug: "m", ParamsB: &params}}
		for name, bytes := range tt.published {
			m.Quantizations = append(m.Quantizations, Quantization{Name: name, Format: "gguf", SizeBytes: bytes, Basis: Published})
		}
		models := []Model{m}
		addComputed(models, types)
		got, limited := map[string]int64{}, []string(nil)
		for _, q := range models[0].Quantizations {
			if q.Basis == Computed {
				got[q.Name] = q.SizeBytes
				if strings.Contains(*q.Method, "limited") {
					limited = append(limited, q.Name)
				}
			}
		}
		if !maps.Equal(got, tt.want) || !slices.Equal(limited, tt.limited) {
			t.Errorf("%s: computed %v, limited %v, want %v, %v", tt.name, got, limited, tt.want, tt.limited)
		}
	}
}

func TestRelations(t *testing.T) {
	list := func(slugs ...Slug) *[]Slug { return &slugs }
	graphics, fast, slow := Slug("graphics"), 200.0, 100.0
	r := NewRelations([]Hardware{
		{Slug: "chip-a", IntegratedGPU: &graphics, MemoryBandwidthGBps: &fast},
		{Slug: "chip-b", IntegratedGPU: &graphics, MemoryBandwidthGBps: &fast},
		{Slug: "graphics"},
		{Slug: "box", Chip: list("chip-a")},
		{Slug: "cube", Chip: list("chip-a")},
		{Slug: "laptop", Chip: list("chip-a", "chip-b")},
		{Slug: "any", Variants: list("small", "large", "slow", "unknown")},
		{Slug: "small", MemoryBandwidthGBps: &fast},
		{Slug: "large", MemoryBandwidthGBps: &fast},
		{Slug: "slow", MemoryBandwidthGBps: &slow},
		{Slug: "unknown"},
		{Slug: "tower", Chip: list("large")},
		{Slug: "alone"},
	})
	for slug, want := range map[Slug]map[Slug]Relation{
		"chip-a":   {"chip-a": SamePart, "graphics": Variant, "box": Machine, "cube": Machine, "laptop": Machine},
		"chip-b":   {"chip-b": SamePart, "graphics": Variant, "laptop": Machine},
		"graphics": {"graphics": SamePart, "chip-a": Variant, "chip-b": Variant, "box": Machine, "cube": Machine, "laptop": Machine},
		"box":      {"box": SamePart, "chip-a": Machine, "graphics": Machine, "cube": Sibling},
		"any":      {"any": SamePart, "small": Variant, "large": Variant, "slow": Variant, "unknown": Variant, "tower": Machine},
		"small":    {"small": SamePart, "any": Variant, "large": Sibling, "tower": Sibling},
		"tower":    {"tower": SamePart, "any": Machine, "large": Machine, "small": Sibling},
		"slow":     {"slow": SamePart, "any": Variant},
		"alone":    {"alone": SamePart},
		"nothing":  nil,
	} {
		if diff := cmp.Diff(want, r.of[slug]); diff != "" {
			t.Errorf("relations of %s (-want +got):\n%s", slug, diff)
		}
	}
	for slug, want := range map[Slug][]Slug{
		"chip-a": {"box", "cube"}, "graphics": {"box", "chip-a", "chip-b", "cube", "laptop"},
		"any": {"large", "slow", "small", "tower", "unknown"}, "large": {"tower"}, "box": nil, "laptop": nil,
	} {
		if got := r.Forms(slug); !slices.Equal(got, want) {
			t.Errorf("Forms(%s) = %v, want %v", slug, got, want)
		}
	}
}

// TestShippedRelations: over all pairs of shipped hardware the relation is the same from both sides, a record is the same
// part as itself alone, and a form is related to what it is a form of.
func TestShippedRelations(t *testing.T) {
	hardware := mustShipped(t).Hardware
	r := NewRelations(hardware)
	related := 0
	for i := range hardware {
		a := hardware[i].Slug
		for j := range hardware {
			b := hardware[j].Slug
			is := r.Between(a, b)
			if back := r.Between(b, a); is != back || (is == SamePart) != (a == b) {
				t.Errorf("%s and %s are %q, and %q the other way round", a, b, is, back)
			}
			if listed := slices.Contains(r.Related(a), b); listed != (is != "") {
				t.Errorf("Related(%s) has %s: %t, but they are %q", a, b, listed, is)
			}
			if is == "" && slices.Contains(r.Forms(a), b) {
				t.Errorf("%s is a form of %s and not related to it", b, a)
			}
			related += len(is)
		}
		if of := r.Related(a); of[0] != a {
			t.Errorf("Related(%s) begins with %s", a, of[0])
		}
	}
	if related == len("same")*len(hardware) {
		t.Error("no records are related")
	}
	for _, pair := range []struct {
		a, b Slug
		is   Relation
	}{
		{"amd-radeon-8060s", "amd-ryzen-ai-max-395", Variant},
		{"nvidia-dgx-spark", "nvidia-gb10", Machine},
		{"apple-m2-ultra", "apple-mac-studio-m2-ultra", Machine},
		{"apple-m2-8gpu", "apple-m2", Variant},
		{"apple-m2-8gpu", "apple-m2-10gpu", Sibling},
		{"nvidia-a100-sxm4-40gb", "nvidia-a100-sxm4-80gb", ""},
	} {
		if is := r.Between(pair.a, pair.b); is != pair.is {
			t.Errorf("%s and %s are %q, want %q", pair.a, pair.b, is, pair.is)
		}
	}
}

// naiveConfiguration names what is equal in rows that confirm each other; "" for a row that is not compared.
func naiveConfiguration(b *Benchmark) string {
	known := b.GenerationTPS != nil && b.Quantization != nil && b.Backend != nil && b.RateBasis != nil && b.SourceKey != nil
	yes := func(b *bool) bool { return b != nil && *b }
	if !known || b.Withdrawn != nil || b.Scenario != nil || yes(b.SpeculativeDecoding) || yes(b.PartialOffload) || b.ContextDepth != nil && *b.ContextDepth > 512 {
		return ""
	}
	users, unit := int64(1), ComputeUnit("")
	if b.Concurrency != nil {
		users = *b.Concurrency
	}
	if b.ComputeUnit != nil {
		unit = *b.ComputeUnit
	}
	return fmt.Sprint(b.Model, " ", b.Hardware, " ", b.Tool, " ", *b.Quantization, " ", *b.Backend, " ", *b.RateBasis, " ", unit, " ", b.HardwareCount, " ", users)
}

// naiveReproduced compares every row with every other.
func naiveReproduced(rows []Benchmark) []int32 {
	out := make([]int32, len(rows))
	for i := range rows {
		a := naiveConfiguration(&rows[i])
		if a == "" {
			out[i] = -1
			continue
		}
		seen := map[string]bool{}
		for j := range rows {
			x, y := rows[i].GenerationTPS, rows[j].GenerationTPS
			if a == naiveConfiguration(&rows[j]) && *rows[i].SourceKey != *rows[j].SourceKey && max(*x, *y)-min(*x, *y) <= EqualWithin*max(*x, *y) {
				seen[*rows[j].SourceKey] = true
			}
		}
		out[i] = int32(len(seen))
	}
	return out
}

func TestReproduced(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	decode, q := record.RateDecode, "Q4_0"
	for range 20 {
		rows := make([]Benchmark, 100)
		for i := range rows {
			key, speed := string(rune('a'+rng.IntN(4))), 50+10*rng.Float64()
			backend, unit := []string{"rocm", "vulkan"}[rng.IntN(2)], []ComputeUnit{record.OnGPU, record.OnCPU}[rng.IntN(2)]
			rows[i] = Benchmark{
				Model: "m", Hardware: Slug(rune('h' + rng.IntN(2))), Tool: "t", HardwareCount: 1, Quantization: &q, Backend: &backend, ComputeUnit: &unit,
				RateBasis: &decode, GenerationTPS: &speed, SourceKey: &key,
			}
			yes, n := rng.IntN(2) == 0, []int64{1, 512, 513}[rng.IntN(3)]
			switch rng.IntN(16) {
			case 4:
				rows[i].SourceKey = nil
			case 5:
				rows[i].SpeculativeDecoding = &yes
			case 6:
				rows[i].PartialOffload = &yes
			case 7:
				rows[i].ContextDepth = &n
			case 8:
				rows[i].Concurrency = &n
			case 9:
				rows[i].Scenario = ptr(record.Scenario("offline"))
			case 10:
				rows[i].HardwareCount = n
			case 2:
				rows[i].Backend = nil
			case 3:
				rows[i].ComputeUnit = nil
			case 0:
				rows[i].RateBasis = nil
			case 1:
				rows[i].Withdrawn = &Withdrawal{}
			}
		}
		if diff := cmp.Diff(naiveReproduced(rows), Reproduced(Pointers(rows))); diff != "" {
			t.Fatalf("(-naive +got):\n%s", diff)
		}
	}
}

// TestReproducedByBackend: the same speed through another backend or on another unit confirms nothing.
func TestReproducedByBackend(t *testing.T) {
	row := func(source, backend string, unit ComputeUnit) Benchmark {
		decode, q, speed := record.RateDecode, "Q4_0", 50.0
		return Benchmark{
			Model: "m", Hardware: "h", Tool: "t", HardwareCount: 1, Quantization: &q, Backend: &backend, ComputeUnit: &unit,
			RateBasis: &decode, GenerationTPS: &speed, SourceKey: &source,
		}
	}
	runs := Pointers([]Benchmark{row("a", "rocm", record.OnGPU), row("b", "rocm", record.OnGPU), row("c", "vulkan", record.OnGPU), row("d", "rocm", record.OnMixed)})
	if diff := cmp.Diff([]int32{1, 1, 0, 0}, Reproduced(runs)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package index

import (
	"context"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/record"
)

type modelRecord struct {
	*dataset.Model
	counts BenchmarkCounts
	score  float64 // composite intelligence score, 0 to 100; NaN if unknown
	can    *best.Capability
}

func (m *modelRecord) capability() float64 {
	if m.can == nil {
		return math.NaN()
	}
	return m.can.Score
}

var modelFields = []fieldOf[modelRecord]{
	{Name: Slug, Text: func(m *modelRecord) string { return string(m.Slug) }, Param: "slug", Uses: Key | Sorts, Doc: "Stable public key; several fetch a batch."},
	{Name: Name, Text: func(m *modelRecord) string { return strings.ToLower(m.Name) }, Uses: Sorts, Doc: "Name as its maker writes it."},
	{Name: Family, Text: func(m *modelRecord) string { return string(m.Family) }, Param: "family", Uses: Facets, Doc: "Model family, such as llama or qwen."},
	{Name: "organization", Text: func(m *modelRecord) string { return m.Organization }, Param: "organization", Uses: Facets, Doc: "Maker of the model."},
	{Name: "license", Text: func(m *modelRecord) string { return text(m.License) }, Param: "license", Uses: Facets, Doc: "Licence, as an SPDX id if there is one."},
	{Name: "architecture", Text: func(m *modelRecord) string { return text(m.Architecture.Type) }, Values: record.ModelType("").Values(), Param: "architecture", Uses: Facets, Doc: "Architecture type, such as dense or moe."},
	{Name: "form", Text: func(m *modelRecord) string { return text(m.Form) }, Values: record.ModelForm("").Values(), Param: "form", Uses: Facets, Doc: "What the model was trained for, such as chat or base."},
	{Name: "thinking", Flag: func(m *modelRecord) *bool { return m.Thinking }, Param: "thinking", Uses: Facets, Doc: "Whether the model was trained to reason before it answers."},
	{Name: "gguf_architecture", Text: func(m *modelRecord) string { return text(m.GGUFArchitecture) }, Param: "gguf_architecture", Uses: Facets, Doc: "Architecture in a GGUF file, such as llama or qwen3moe."},
	{Name: "shape", Text: func(m *modelRecord) string { return text(m.Shape()) }, Param: "shape", Uses: Facets, Doc: "Id shared by models with equal layers, widths and cache."},
	{Name: "modality", Texts: func(m *modelRecord) []string { return record.Texts(m.Modalities) }, Values: record.Modality("").Values(), Param: "modality", Uses: Facets, Doc: "Kind of input or output."},
	{Name: "has_benchmarks", Flag: func(m *modelRecord) *bool { return m.counts.hasAny() }, Param: "has_benchmarks", Uses: Facets, Doc: "Whether the dataset has a benchmark of the model."},
	{Name: "params_b", Number: func(m *modelRecord) float64 { return number(m.ParamsB) }, Unit: "10^9 parameters", Min: "min_params_b", Max: "max_params_b", Uses: Sorts | Facets, Doc: "Total parameters, in billions."},
	{Name: "active_params_b", Number: func(m *modelRecord) float64 { return activeParams(m.Model) }, Unit: "10^9 parameters", Min: "min_active_params_b", Max: "max_active_params_b", Uses: Sorts | Facets, Doc: "Parameters read per token, in billions; for a dense model, all parameters."},
	{Name: "context_length", Number: func(m *modelRecord) float64 { return wholeNumber(m.Architecture.ContextLength) }, Unit: "tokens", Min: "min_context", Max: "max_context", Uses: Sorts | Facets, Doc: "Longest context, in tokens."},
	{Name: "release_date", Date: func(m *modelRecord) *dataset.Date { return m.ReleaseDate }, Min: "released_since", Max: "released_until", Uses: Sorts | Facets, Doc: "Day of release; a year or a month counts as its first day."},
	{Name: "intelligence", Number: func(m *modelRecord) float64 { return m.score }, Unit: "0 to 100", Min: "min_intelligence", Max: "max_intelligence", Uses: Sorts | Facets, Doc: "Combined score from published evaluations in the latest snapshot, 0 to 100."},
	{Name: "capability", Number: (*modelRecord).capability, Unit: "0 to 100", Min: "min_capability", Max: "max_capability", Uses: Sorts | Facets, Doc: "Capability, 0 to 100: from published evaluations, adjusted towards a prediction from size, age, kind and maker; without evaluations, the prediction alone."},
	{Name: BenchmarkCount, Number: func(m *modelRecord) float64 { return float64(m.counts.Own) }, Min: "min_benchmark_count", Uses: Sorts | Facets, Doc: "Number of benchmarks of this model."},
}

func activeParams(m *dataset.Model) float64 {
	dense := m.Architecture.Type != nil && *m.Architecture.Type == "dense" && m.Architecture.NumExperts == nil
	if m.ActiveParamsB == nil && dense {
		return number(m.ParamsB)
	}
	return number(m.ActiveParamsB)
}

func newModels(ctx context.Context, set *dataset.Set, benchmarks *Table, can map[dataset.Slug]best.Capability, r Renderers) (*Table, error) {
	quality := dataset.QualityOf(set)
	s := source[modelRecord]{
		home: Sort{Field: Slug}, fields: modelFields,
		slug: func(m *modelRecord) string { return string(m.Slug) },
		names: func(m *modelRecord) []string {
			if m.HFRepo != nil {
				return namesOf(string(m.Slug), m.Name, append([]string{*m.HFRepo}, m.Aliases...)...)
			}
			return namesOf(string(m.Slug), m.Name, m.Aliases...)
		},
		row: func(dst []byte, m *modelRecord) ([]byte, error) { return r.Model(dst, m.Model, m.counts, m.can) },
		detail: func(dst []byte, m *modelRecord) ([]byte, error) {
			return r.ModelDetail(dst, m.Model, m.counts, m.can, quality[m.Slug])
		},
	}
	for i := range set.Models {
		m := &set.Models[i]
		rec := modelRecord{m, benchmarks.counts(Model, string(m.Slug)), r.Score(m.Slug), nil}
		if c, ok := can[m.Slug]; ok {
			rec.can = &c
		}
		s.recs = append(s.recs, rec)
	}
	t := newTable(&s)
	return t, s.render(ctx, t)
}

type hardwareRecord struct {
	*dataset.Hardware
	counts BenchmarkCounts
}

var hardwareFields = []fieldOf[hardwareRecord]{
	{Name: Slug, Text: func(h *hardwareRecord) string { return string(h.Slug) }, Param: "slug", Uses: Key | Sorts, Doc: "Stable public key; several fetch a batch."},
	{Name: Silicon, Refers: Hardware, Param: "silicon", Uses: Related, Doc: "A record, by slug or alias, and all related hardware: its variants and the record it is a variant of, its integrated graphics or the chips that contain it, the machines built from it or its possible chips, and siblings (variants of one record, or machines with one chip, that have the same memory bandwidth)."},
	{Name: Name, Text: func(h *hardwareRecord) string { return strings.ToLower(h.Name) }, Uses: Sorts, Doc: "Name as its vendor writes it."},
	{Name: "vendor", Text: func(h *hardwareRecord) string { return string(h.Vendor) }, Values: dataset.Vendor("").Values(), Param: "vendor", Uses: Facets, Doc: "Maker of the hardware."},
	{Name: "type", Text: func(h *hardwareRecord) string { return string(h.Type) }, Values: dataset.HardwareType("").Values(), Param: "type", Uses: Facets, Doc: "Kind of hardware."},
	{Name: "architecture", Text: func(h *hardwareRecord) string { return text(h.Architecture) }, Param: "architecture", Uses: Facets, Doc: "Architecture of the graphics or processor cores."},
	{Name: "backend", Texts: func(h *hardwareRecord) []string { return append([]string{}, h.Backends...) }, Param: "backend", Uses: Facets, Doc: "Compute backend known to work, such as cuda or vulkan."},
	{Name: "unified_memory", Flag: func(h *hardwareRecord) *bool { return &h.UnifiedMemory }, Param: "unified_memory", Uses: Facets, Doc: "Whether processor and graphics share one memory."},
	{Name: "has_benchmarks", Flag: func(h *hardwareRecord) *bool { return h.counts.hasAny() }, Param: "has_benchmarks", Uses: Facets, Doc: "Whether the dataset has a benchmark on the hardware."},
	{Name: "vram_gb", Number: func(h *hardwareRecord) float64 { return number(h.VRAMGB) }, Unit: "GB", Min: "min_vram_gb", Max: "max_vram_gb", Uses: Sorts | Facets, Doc: "Memory the accelerator can use, in GB."},
	{Name: "memory_bandwidth_gbps", Number: func(h *hardwareRecord) float64 { return number(h.MemoryBandwidthGBps) }, Unit: "GB/s", Min: "min_bandwidth_gbps", Max: "max_bandwidth_gbps", Uses: Sorts | Facets, Doc: "Memory bandwidth, in GB/s."},
	{Name: "fp16_tflops", Number: func(h *hardwareRecord) float64 { return number(h.FP16TFLOPS) }, Unit: "TFLOPS", Min: "min_fp16_tflops", Uses: Sorts | Facets, Doc: "Dense FP16 rate, in TFLOPS."},
	{Name: "tdp_watts", Number: func(h *hardwareRecord) float64 { return number(h.TDPWatts) }, Unit: "W", Max: "max_tdp_watts", Uses: Sorts | Facets, Doc: "Board or package power, in watts."},
	{Name: "launch_price_usd", Number: func(h *hardwareRecord) float64 { return number(h.LaunchPriceUSD) }, Unit: "US dollars", Uses: Sorts | Facets, Doc: "Price at launch, in US dollars."},
	{Name: "street_price_usd", Number: func(h *hardwareRecord) float64 { return number(h.StreetPriceUSD) }, Unit: "US dollars", Min: "min_price_usd", Max: "max_price_usd", Uses: Sorts | Facets, Doc: "Latest street price, in US dollars."},
	{Name: "release_date", Date: func(h *hardwareRecord) *dataset.Date { return h.ReleaseDate }, Min: "released_since", Max: "released_until", Uses: Sorts | Facets, Doc: "Day of release; a year or a month counts as its first day."},
	{Name: BenchmarkCount, Number: func(h *hardwareRecord) float64 { return float64(h.counts.Own) }, Min: "min_benchmark_count", Uses: Sorts | Facets, Doc: "Number of benchmarks on this record itself."},
}

func newHardware(ctx context.Context, recs []dataset.Hardware, relations *dataset.Relations, benchmarks *Table, r Renderers) (*Table, error) {
	s := source[hardwareRecord]{
		home: Sort{Field: Slug}, fields: hardwareFields,
		slug:  func(h *hardwareRecord) string { return string(h.Slug) },
		names: func(h *hardwareRecord) []string { return namesOf(string(h.Slug), h.Name, h.Aliases...) },
		row:   func(dst []byte, h *hardwareRecord) ([]byte, error) { return r.Hardware(dst, h.Hardware, h.counts) },
	}
	for i := range recs {
		h := &recs[i]
		s.recs = append(s.recs, hardwareRecord{h, benchmarks.counts(Hardware, string(h.Slug))})
	}
	t := newTable(&s)
	t.related = map[Field]related{Silicon: {Slug, slugsOf(recs, relations.Related)}}
	return t, s.render(ctx, t)
}

type toolRecord struct {
	*dataset.Tool
	counts BenchmarkCounts
}

var toolFields = []fieldOf[toolRecord]{
	{Name: Slug, Text: func(t *toolRecord) string { return string(t.Slug) }, Param: "slug", Uses: Key | Sorts, Doc: "Stable public key; several fetch a batch."},
	{Name: Name, Text: func(t *toolRecord) string { return strings.ToLower(t.Name) }, Uses: Sorts, Doc: "Name as its makers write it."},
	{Name: "category", Text: func(t *toolRecord) string { return string(t.Category) }, Values: record.Category("").Values(), Param: "category", Uses: Facets, Doc: "Main purpose of the tool."},
	{Name: "backend", Texts: func(t *toolRecord) []string { return list(t.Backends) }, Param: "backend", Uses: Facets, Doc: "Compute backend it can use, such as cuda or metal."},
	{Name: "license", Text: func(t *toolRecord) string { return text(t.License) }, Param: "license", Uses: Facets, Doc: "SPDX id of the licence."},
	{Name: "os", Texts: func(t *toolRecord) []string { return list(t.Platforms) }, Param: "os", Uses: Facets, Doc: "Operating system it runs on, such as linux."},
	{Name: "api", Texts: func(t *toolRecord) []string { return list(t.APICompatibility) }, Param: "api", Uses: Facets, Doc: "API it is compatible with, such as openai."},
	{Name: "model_format", Texts: func(t *toolRecord) []string { return list(t.ModelFormats) }, Param: "model_format", Uses: Facets, Doc: "Weight format it reads, such as gguf."},
	{Name: "has_benchmarks", Flag: func(t *toolRecord) *bool { return t.counts.hasAny() }, Param: "has_benchmarks", Uses: Facets, Doc: "Whether the dataset has a benchmark made with the tool."},
	{Name: "first_release", Date: func(t *toolRecord) *dataset.Date { return t.FirstRelease }, Min: "released_since", Max: "released_until", Uses: Sorts | Facets, Doc: "Day of the first numbered version; a year or a month counts as its first day."},
	{Name: BenchmarkCount, Number: func(t *toolRecord) float64 { return float64(t.counts.Own) }, Min: "min_benchmark_count", Uses: Sorts | Facets, Doc: "Number of benchmarks made with the tool."},
}

func newTools(ctx context.Context, recs []dataset.Tool, benchmarks *Table, r Renderers) (*Table, error) {
	s := source[toolRecord]{
		home: Sort{Field: Slug}, fields: toolFields,
		slug:  func(t *toolRecord) string { return string(t.Slug) },
		names: func(t *toolRecord) []string { return namesOf(string(t.Slug), t.Name, t.Aliases...) },
		row:   func(dst []byte, t *toolRecord) ([]byte, error) { return r.Tool(dst, t.Tool, t.counts) },
	}
	for i := range recs {
		t := &recs[i]
		s.recs = append(s.recs, toolRecord{t, benchmarks.counts(Tool, string(t.Slug))})
	}
	t := newTable(&s)
	return t, s.render(ctx, t)
}

type qualityRecord struct {
	*dataset.Quality
	family string
}

var qualityFields = []fieldOf[qualityRecord]{
	{Name: ID, Text: func(q *qualityRecord) string { return string(q.ID) }, Param: "id", Uses: Key | Sorts, Doc: "Stable public key; several fetch a batch."},
	{Name: Model, Text: func(q *qualityRecord) string { return string(q.Model) }, Refers: Model, Param: "model", Uses: Facets | Sorts, Doc: "Model that was quantized, by slug or alias."},
	{Name: Family, Text: func(q *qualityRecord) string { return q.family }, Param: "family", Uses: Facets, Doc: "Family of the model."},
	{Name: Quantization, Text: func(q *qualityRecord) string { return q.Quantization }, Param: "quantization", Uses: Facets, Doc: "Quantization, such as Q4_K_M. Letter case does not matter."},
	{Name: "metric", Text: func(q *qualityRecord) string { return string(q.Metric) }, Values: record.QualityMetric("").Values(), Param: "metric", Uses: Facets, Doc: "What was measured: the mean KL divergence per token, the perplexity, or the score of a test."},
	{Name: "task", Text: func(q *qualityRecord) string { return text(q.Task) }, Param: "task", Uses: Facets, Doc: "Test behind a score, such as MMLU-Pro."},
	{Name: "corpus", Text: func(q *qualityRecord) string { return text(q.Corpus) }, Param: "corpus", Uses: Facets, Doc: "Text used for the measurement."},
	{Name: "change", Number: func(q *qualityRecord) float64 { return q.Change() }, Min: "min_change", Max: "max_change", Uses: Sorts, Doc: "How much worse the value is than the reference: in percent for a perplexity, points for a score, nats for a divergence."},
}

func newQuality(ctx context.Context, set *dataset.Set, models *Table, r Renderers) (*Table, error) {
	s := source[qualityRecord]{
		home: Sort{Field: ID}, fields: qualityFields,
		slug: func(q *qualityRecord) string { return string(q.ID) },
		row:  func(dst []byte, q *qualityRecord) ([]byte, error) { return r.Quality(dst, q.Quality) },
	}
	families := map[dataset.Slug]string{}
	for i := range set.Models {
		families[set.Models[i].Slug] = string(set.Models[i].Family)
	}
	for i := range set.Quality {
		q := &set.Quality[i]
		s.recs = append(s.recs, qualityRecord{q, families[q.Model]})
	}
	t := newTable(&s)
	t.search = newLinkSearch(t, map[Field]*Table{Model: models})
	return t, s.render(ctx, t)
}

// variants maps a slug to those of its forms, which a filter by the slug matches too. Names of repackaged weights are
// aliases of the model instead.
type variants map[string][]string

func (v variants) with(values []string) []string {
	if !slices.ContainsFunc(values, func(s string) bool { return len(v[s]) > 0 }) {
		return values
	}
	out := slices.Clone(values)
	for _, s := range values {
		out = append(out, v[s]...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// related says that each value of a filter is several values of another field; Slug for the records themselves.
type related struct {
	by   Field
	with map[string][]string
}

func slugsOf(recs []dataset.Hardware, others func(dataset.Slug) []dataset.Slug) map[string][]string {
	out := make(map[string][]string, len(recs))
	for i := range recs {
		out[string(recs[i].Slug)] = record.Texts(others(recs[i].Slug))
	}
	return out
}

func (r related) resolve(s Set) Set {
	out := Set{Field: r.by, OnlySelf: true}
	for _, v := range s.Values {
		out.Values = append(out.Values, r.with[v]...)
	}
	slices.Sort(out.Values)
	out.Values = slices.Compact(out.Values)
	return out
}

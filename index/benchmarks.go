package index

import (
	"math"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

type benchmarkRecord struct {
	*dataset.Benchmark
	family     string
	roofline   float64 // share of the memory bandwidth, NaN if unknown
	reproduced int32   // how many other sources measured the same, -1 if unknown
}

var benchmarkFields = []fieldOf[benchmarkRecord]{
	{Name: ID, Text: func(b *benchmarkRecord) string { return string(b.ID) }, Param: "id", Uses: Key, Doc: "Stable public key; several fetch a batch."},
	{Name: Model, Text: func(b *benchmarkRecord) string { return string(b.Model) }, Refers: Model, Param: "model", Uses: Facets | Groups, Doc: "Measured model, by slug or alias. Names of repackaged models are aliases of the original model."},
	{Name: Hardware, Text: func(b *benchmarkRecord) string { return string(b.Hardware) }, Refers: Hardware, Param: "hardware", Uses: Facets | Groups, Doc: "Measured hardware, by slug or alias, with its variants."},
	{Name: Silicon, Refers: Hardware, Param: "silicon", Uses: Related, Doc: "A record, by slug or alias, and all related hardware: its variants and the record it is a variant of, its integrated graphics or the chips that contain it, the machines built from it or its possible chips, and siblings (variants of one record, or machines with one chip, that have the same memory bandwidth)."},
	{Name: Tool, Text: func(b *benchmarkRecord) string { return string(b.Tool) }, Refers: Tool, Param: "tool", Uses: Facets | Groups | Setting, Doc: "Measuring tool, by slug or alias."},
	{Name: Family, Text: func(b *benchmarkRecord) string { return b.family }, Param: "family", Uses: Facets | Groups, Doc: "Family of the measured model."},
	{Name: Quantization, Text: func(b *benchmarkRecord) string { return text(b.Quantization) }, Param: "quantization", Uses: Facets | Groups | Setting, Doc: "Quantization, such as Q4_K_M. Letter case does not matter."},
	{Name: Backend, Text: func(b *benchmarkRecord) string { return text(b.Backend) }, Param: "backend", Uses: Facets | Groups | Setting, Doc: "Compute backend, such as cuda or vulkan."},
	{Name: "tool_version", Text: func(b *benchmarkRecord) string { return text(b.ToolVersion) }, Param: "tool_version", Uses: Facets | Setting | Prefix, Doc: "Version of the tool, as printed by the source. A value that ends with * matches every version with that prefix."},
	{Name: Source, Text: func(b *benchmarkRecord) string { return string(b.Source) }, Values: dataset.Source("").Values(), Param: "source", Uses: Facets | Groups, Doc: "Who measured."},
	{Name: Settings, Text: settingsOf, Values: []string{SingleStream}, Param: "settings", Doc: "Settings of the run. single_stream: the decode speed of one stream on one device, without speculative decoding or weights in other memory, with at most 512 tokens in the cache, or 1,200 including the prompt if generation follows it. A null value counts only if the tool has a documented default."},
	{Name: "rate_basis", Text: func(b *benchmarkRecord) string { return text(b.RateBasis) }, Values: record.RateBasis("").Values(), Param: "rate_basis", Uses: Facets | Setting, Doc: "How generation_tps was measured: one request while it generates, output divided by the total time including the prompt, or the total of simultaneous requests."},
	{Name: Scenario, Text: func(b *benchmarkRecord) string { return text(b.Scenario) }, Values: record.Scenario("").Values(), Param: "scenario", Uses: Facets, Doc: "Load of a throughput result. Lists have throughput results only with this filter or by id; a notice says how many match."},
	{Name: "compute_unit", Text: func(b *benchmarkRecord) string { return text(b.ComputeUnit) }, Values: dataset.ComputeUnit("").Values(), Param: "compute_unit", Uses: Facets | Setting, Doc: "Part of the machine that generated the tokens."},
	{Name: "power_basis", Text: func(b *benchmarkRecord) string { return text(b.PowerBasis) }, Values: dataset.PowerBasis("").Values(), Param: "power_basis", Uses: Facets | Setting, Doc: "Where power_watts was measured."},
	{Name: Concurrency, Count: func(b *benchmarkRecord) *int64 { return b.Concurrency }, Unit: "streams", Param: "concurrency", Min: "min_concurrency", Max: "max_concurrency", Uses: Facets | Setting, Doc: "Simultaneous requests."},
	{Name: "hardware_count", Count: func(b *benchmarkRecord) *int64 { return &b.HardwareCount }, Unit: "devices", Param: "hardware_count", Min: "min_hardware_count", Max: "max_hardware_count", Uses: Facets | Setting, Doc: "Number of devices used."},
	{Name: "context_depth", Count: func(b *benchmarkRecord) *int64 { return b.ContextDepth }, Unit: "tokens", Min: "min_depth", Max: "max_depth", Uses: Facets | Setting, Doc: "Tokens already in the cache when the run starts."},
	{Name: "depth_band", Text: depthBand, Uses: Facets | Groups, Doc: "Tokens already in the cache when the run starts, in bands: 0-512, 513-4096, 4097-16384, 16385-65536, 65537+."},
	{Name: "threads", Count: func(b *benchmarkRecord) *int64 { return b.Threads }, Unit: "threads", Uses: Facets | Setting, Doc: "Processor threads that the tool used."},
	{Name: "n_prompt", Count: func(b *benchmarkRecord) *int64 { return b.NPrompt }, Unit: "tokens", Uses: Facets | Setting, Doc: "Prompt length for prompt_tps, in tokens."},
	{Name: "n_gen", Count: func(b *benchmarkRecord) *int64 { return b.NGen }, Unit: "tokens", Uses: Facets | Setting, Doc: "Output length for generation_tps, in tokens."},
	{Name: "speculative_decoding", Flag: func(b *benchmarkRecord) *bool { return b.SpeculativeDecoding }, Param: "speculative_decoding", Uses: Facets | Setting, Doc: "Whether a draft model or multi-token prediction was used."},
	{Name: "partial_offload", Flag: func(b *benchmarkRecord) *bool { return b.PartialOffload }, Param: "partial_offload", Uses: Facets | Setting, Doc: "Whether part of the weights was read from main memory instead of the device's own."},
	{Name: "flash_attention", Flag: func(b *benchmarkRecord) *bool { return b.FlashAttention }, Param: "flash_attention", Uses: Facets | Setting, Doc: "Whether flash attention was on."},
	{Name: Month, Text: month, Uses: Facets | Groups, Doc: "Month of the run, as YYYY-MM."},
	{Name: GenerationTPS, Number: func(b *benchmarkRecord) float64 { return number(b.GenerationTPS) }, Unit: "tokens/s", Min: "min_tps", Max: "max_tps", Uses: Sorts | Facets | Metric, Doc: "Generation speed, in tokens per second."},
	{Name: PerStream, Number: func(b *benchmarkRecord) float64 { return perStreamTPS(b.Benchmark) }, Unit: "tokens/s", Min: "min_tps_per_stream", Uses: Sorts | Facets | Metric, Doc: "Generation speed of each stream, in tokens per second."},
	{Name: PromptTPS, Number: func(b *benchmarkRecord) float64 { return number(b.PromptTPS) }, Unit: "tokens/s", Min: "min_prompt_tps", Uses: Sorts | Facets | Metric, Doc: "Prompt processing speed, in tokens per second."},
	{Name: Roofline, Number: func(b *benchmarkRecord) float64 { return b.roofline }, Min: "min_roofline_ratio", Max: "max_roofline_ratio", Uses: Sorts | Facets | Metric, Doc: "Share of the memory bandwidth that the generation speed uses; above 1, tokens were drafted or the value is wrong."},
	{Name: "reproduced_by", Count: reproducedBy, Unit: "sources", Min: "min_reproduced_by", Uses: Facets, Doc: "Number of other sources that measured the same configuration within 10 %."},
	{Name: "total_tps", Number: func(b *benchmarkRecord) float64 { return number(b.TotalTPS) }, Unit: "tokens/s", Min: "min_total_tps", Uses: Sorts, Doc: "Output of the whole system under load, in tokens per second; throughput results only."},
	{Name: "ttft_ms", Number: func(b *benchmarkRecord) float64 { return number(b.TTFTMs) }, Unit: "ms", Uses: Metric, Doc: "Time to the first token, in milliseconds."},
	{Name: "tokens_per_joule", Number: func(b *benchmarkRecord) float64 { return number(b.GenerationTPS) / number(b.PowerWatts) }, Unit: "tokens/J", Uses: Metric, Doc: "Generation speed divided by power, in tokens per joule."},
	{Name: RunDate, Date: func(b *benchmarkRecord) *dataset.Date { return b.RunDate }, Min: "since", Max: "until", Uses: Sorts | Facets, Doc: "Day of the run, as YYYY-MM-DD; a year or a month counts as its first day."},
}

// Values of Settings of benchmarks that were withdrawn, and of those whose prompt alone keeps them from being a single stream.
const (
	withdrawn  = "withdrawn"
	longPrompt = "long_prompt"
)

// settingsOf is a value of Settings, "other", or "" if a value that decides is unknown.
func settingsOf(b *benchmarkRecord) string {
	if b.Withdrawn != nil {
		return withdrawn
	}
	switch is, field := b.SingleStream(); {
	case is == record.SingleYes:
		return SingleStream
	case is == record.SingleUnknown:
		return ""
	case field == "n_prompt":
		return longPrompt
	}
	return "other"
}

// perStreamTPS is the generation speed of each stream, in tokens per second; NaN if a value is unknown.
func perStreamTPS(b *dataset.Benchmark) float64 {
	if b.RateBasis != nil && *b.RateBasis == record.RateDecode {
		return number(b.GenerationTPS)
	}
	return number(b.GenerationTPS) / wholeNumber(b.Concurrency)
}

func reproducedBy(b *benchmarkRecord) *int64 {
	if b.reproduced < 0 {
		return nil
	}
	return new(int64(b.reproduced))
}

// DepthBands are the bands of context_depth: the highest depth of each but the last, and its name.
var DepthBands = []struct {
	UpTo int64
	Name string
}{{512, "0-512"}, {4096, "513-4096"}, {16384, "4097-16384"}, {65536, "16385-65536"}, {math.MaxInt64, "65537+"}}

func depthBand(b *benchmarkRecord) string {
	if b.ContextDepth == nil {
		return ""
	}
	for _, band := range DepthBands {
		if *b.ContextDepth <= band.UpTo {
			return band.Name
		}
	}
	return ""
}

func month(b *benchmarkRecord) string {
	if b.RunDate == nil || len(*b.RunDate) < len("2024-05") {
		return ""
	}
	return string((*b.RunDate)[:len("2024-05")])
}

func newBenchmarks(set *dataset.Set, relations *dataset.Relations, r Renderers) (*source[benchmarkRecord], *Table) {
	s := &source[benchmarkRecord]{
		home: Sort{Field: RunDate, Desc: true}, fields: benchmarkFields,
		slug: func(b *benchmarkRecord) string { return string(b.ID) },
		row: func(dst []byte, b *benchmarkRecord) ([]byte, error) {
			return r.Benchmark(dst, b.Benchmark, Computed{b.roofline, perStreamTPS(b.Benchmark), b.reproduced})
		},
	}
	families := make(map[dataset.Slug]string, len(set.Models))
	for i := range set.Models {
		families[set.Models[i].Slug] = string(set.Models[i].Family)
	}
	roofline := dataset.NewRoofline(set.Models, set.Hardware, set.Quantizations)
	for i, reproduced := range dataset.Reproduced(set.Benchmarks) {
		b := set.Benchmarks[i]
		ratio, known := roofline.Ratio(b)
		if !known {
			ratio = math.NaN()
		}
		s.recs = append(s.recs, benchmarkRecord{b, families[b.Model], ratio, reproduced})
	}
	t := newTable(s)
	t.variants = map[Field]variants{Hardware: slugsOf(set.Hardware, relations.Forms)}
	t.related = map[Field]related{Silicon: {Hardware, slugsOf(set.Hardware, relations.Related)}}
	if p := t.postings[Scenario]; len(p.values) > 0 {
		t.listed, t.unlisted = p.unknown, p.unknown.Complement()
	}
	t.nonDefaultSettings = newNonDefaultSettings(t)
	t.statistics = newStatistics(t, func(ord int) string { return text(s.recs[ord].SourceURL) }, supplementary(set.Origins, s.recs))
	return s, t
}

func supplementary(origins []dataset.Origin, recs []benchmarkRecord) bits {
	keys, out := map[string]bool{}, newBits(len(recs))
	for _, o := range origins {
		keys[o.Key] = o.Supplementary != nil && *o.Supplementary
	}
	for i, b := range recs {
		if b.SourceKey != nil && keys[*b.SourceKey] {
			out.Set(uint(i))
		}
	}
	return out
}

// BenchmarkCounts says how many benchmarks the generation has of a record.
type BenchmarkCounts struct {
	Own          int // of the record itself
	WithVariants int // and of its variants, as a filter by its slug finds them
}

func (c BenchmarkCounts) hasAny() *bool { return new(c.Own > 0) }

func (t *Table) counts(f Field, slug string) BenchmarkCounts {
	_, own := t.First(Query{Sets: []Set{{Field: f, Values: []string{slug}, OnlySelf: true}}})
	_, all := t.First(Query{Sets: []Set{{Field: f, Values: []string{slug}}}})
	return BenchmarkCounts{own, all}
}

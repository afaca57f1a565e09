// Package rows makes the rows of the lists: the JSON of a model, hardware, tool or benchmark as it is served.
//
// The types say what a row has, and their comments are the texts of the OpenAPI document. Renderers and RenderersOf make
// the rows when index builds a generation, which keeps the bytes. A ModelDetail is kept without its benchmarks: they are
// added from the rows of the benchmarks when it is served. Statistics are a Group for each row, or a Pivot. The package
// knows no requests.
package rows

import (
	"math"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/fit"
	"modeldex/index"
	"modeldex/snapshot"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Model is a model as in lists, without quantizations and benchmarks.
type Model struct {
	dataset.ModelFacts
	// Id of the shape, computed: layers, hidden size and a hash of all counts and widths in architecture and kv_cache.
	// Models with the same id need the same memory for their cache and about the same time per token. Null if part of the
	// shape is unknown.
	Shape *string `json:"shape" jsonschema:"nullable,example=32x4096-5a3c1f0e"`
	// Number of quantizations listed in the full record.
	QuantizationCount int `json:"quantization_count" jsonschema:"minimum=0,example=33"`
	// Number of benchmarks of the model itself.
	BenchmarkCount int `json:"benchmark_count" jsonschema:"minimum=0,example=206"`
	// Number of benchmarks that the model filter finds. Repackaged weights count as the model itself.
	BenchmarkCountWithVariants int `json:"benchmark_count_with_variants" jsonschema:"minimum=0,example=206"`
	// The model in the newest snapshot; null if it is not in it.
	Intelligence *snapshot.Intelligence `json:"intelligence" jsonschema:"nullable"`
	// Capability of the model, which determines the order of lists with fits; null if unknown and for base models. It is
	// not part of any snapshot.
	Capability *best.Capability `json:"capability" jsonschema:"nullable"`
	// What runs; only in lists with fits or runs.
	Fit *fit.Best `json:"fit,omitempty"`
}

// ModelDetail is a model at its own address.
type ModelDetail struct {
	Model
	// Quantizations, with published sizes first, then computed ones.
	Quantizations []ModelSize `json:"quantizations"`
	// All benchmarks of the model, newest run first.
	Benchmarks []Benchmark `json:"benchmarks"`
}

// ModelSize is one quantization of a model.
type ModelSize struct {
	dataset.Quantization
	// Published quality of this quantization, measured on the model itself or one of the same shape (see measured_on);
	// null if there is none.
	Quality *dataset.SizeQuality `json:"quality" jsonschema:"nullable"`
}

// Quality is one measurement of the quality of a quantization, in lists and at its own address.
type Quality struct {
	dataset.Quality
	// How much worse the value is than the reference, computed: in percent for a perplexity, in percentage points for a
	// score, and the value itself for a KL divergence.
	Change float64 `json:"change" jsonschema:"example=2.43"`
}

// Hardware is one hardware record, in lists and at its own address.
type Hardware struct {
	dataset.Hardware
	// Number of benchmarks on this record itself.
	BenchmarkCount int `json:"benchmark_count" jsonschema:"minimum=0,example=215"`
	// Number of benchmarks that the hardware filter finds: on this record, its variants, chips that contain it and
	// machines built from it.
	BenchmarkCountWithVariants int `json:"benchmark_count_with_variants" jsonschema:"minimum=0,example=215"`
	// What runs; only in lists with fits or runs.
	Fit *fit.Best `json:"fit,omitempty"`
}

// Tool is one tool, in lists and at its own address.
type Tool struct {
	dataset.Tool
	// Number of benchmarks made with the tool.
	BenchmarkCount int `json:"benchmark_count" jsonschema:"minimum=0,example=3091"`
}

// Benchmark is one benchmark, in lists and at its own address.
type Benchmark struct {
	dataset.Benchmark
	// Share of the memory bandwidth that the generation speed uses, computed: generation speed of one request x bytes read
	// per token / bandwidth of all devices. 1 is the maximum at one token per pass. Null if an input is missing.
	RooflineRatio *float64 `json:"roofline_ratio" jsonschema:"nullable,minimum=0,example=0.63"`
	// Generation speed per stream, in tokens per second, computed: generation_tps if it is the decode rate of one stream,
	// otherwise generation_tps / concurrency. Null if an input is missing.
	GenerationTPSPerStream *float64 `json:"generation_tps_per_stream" jsonschema:"nullable,minimum=0,example=13.36" jsonschema_extras:"unit=tokens/s"`
	// Number of other sources that measured the same configuration within 10 %, computed. The configuration is model,
	// quantization, hardware, number of devices, tool, backend, rate basis and concurrency. Null if one of these is
	// unknown, or the run had a filled cache, drafting or weights in main memory.
	ReproducedBy *int64 `json:"reproduced_by" jsonschema:"nullable,minimum=0,example=2" jsonschema_extras:"unit=sources"`
}

// Renderers make the rows of a generation where no snapshot document is published.
var Renderers = RenderersOf(nil)

// RenderersOf makes the rows of a generation. Models include their entry in the newest document of the catalog. index
// keeps the bytes.
func RenderersOf(catalog *snapshot.Catalog) index.Renderers {
	if catalog == nil {
		catalog = &snapshot.Catalog{}
	}
	out := index.Renderers{
		Model: func(dst []byte, m *dataset.Model, n index.BenchmarkCounts, can *best.Capability) ([]byte, error) {
			return appendJSON(dst, modelRow(m, n, can, catalog))
		},
		ModelDetail: func(dst []byte, m *dataset.Model, n index.BenchmarkCounts, can *best.Capability, quality map[string]*dataset.SizeQuality) ([]byte, error) {
			sizes := make([]ModelSize, len(m.Quantizations))
			for i, q := range m.Quantizations {
				sizes[i] = ModelSize{q, quality[q.Name]}
			}
			return appendJSON(dst, &modelHead{modelRow(m, n, can, catalog), sizes})
		},
		Quality: func(dst []byte, q *dataset.Quality) ([]byte, error) {
			return appendJSON(dst, &Quality{*q, q.Change()})
		},
		Hardware: func(dst []byte, h *dataset.Hardware, n index.BenchmarkCounts) ([]byte, error) {
			return appendJSON(dst, &Hardware{*h, n.Own, n.WithVariants, nil})
		},
		Tool: func(dst []byte, t *dataset.Tool, n index.BenchmarkCounts) ([]byte, error) {
			return appendJSON(dst, &Tool{*t, n.Own})
		},
		Benchmark: func(dst []byte, b *dataset.Benchmark, c index.Computed) ([]byte, error) {
			row := Benchmark{Benchmark: *b, RooflineRatio: known(c.Roofline), GenerationTPSPerStream: known(c.PerStreamTPS)}
			if n := int64(c.ReproducedBy); n >= 0 {
				row.ReproducedBy = &n
			}
			return appendJSON(dst, &row)
		},
		Score: func(model dataset.Slug) float64 {
			if in, ok := catalog.Intelligence(string(model)); ok && in.Score != nil {
				return *in.Score
			}
			return math.NaN()
		},
		Evidence: catalog.Evidence,
	}
	if newest, ok := catalog.Latest(); ok {
		out.Edition = newest.Hash
	}
	return out
}

func known(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// modelHead is a ModelDetail without the rows of its benchmarks, which are added when it is served.
type modelHead struct {
	*Model
	Quantizations []ModelSize `json:"quantizations"`
}

func modelRow(m *dataset.Model, n index.BenchmarkCounts, can *best.Capability, catalog *snapshot.Catalog) *Model {
	return &Model{m.ModelFacts, m.Shape(), len(m.Quantizations), n.Own, n.WithVariants, intelligence(catalog, string(m.Slug)), can, nil}
}

func appendJSON(dst []byte, v any) ([]byte, error) {
	b, err := jsonv2.Marshal(v)
	return append(dst, b...), err
}

func intelligence(catalog *snapshot.Catalog, slug string) *snapshot.Intelligence {
	in, ok := catalog.Intelligence(slug)
	if !ok {
		return nil
	}
	return &in
}

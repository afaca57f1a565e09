package httpapi

import (
	"modeldex/dataset"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

// ModelRow is a model as lists show it: without its quantized files and its benchmarks.
type ModelRow struct {
	dataset.ModelFacts
	// Number of quantized forms at the model's own address.
	QuantizationCount int `json:"quantization_count" jsonschema:"minimum=0,example=33"`
	// Number of benchmarks held for the model.
	BenchmarkCount int `json:"benchmark_count" jsonschema:"minimum=0,example=206"`
}

// ModelDetail is a model at its own address.
type ModelDetail struct {
	ModelRow
	// Quantized files, published sizes first, then computed ones.
	Quantizations []dataset.Quantization `json:"quantizations"`
	// What the newest snapshot says of the model, null where it does not know it.
	Intelligence *Intelligence `json:"intelligence" jsonschema:"nullable"`
	// Every benchmark held for the model, newest run first.
	Benchmarks []BenchmarkRow `json:"benchmarks"`
}

// HardwareRow is one piece of hardware, in lists and at its own address.
type HardwareRow struct {
	dataset.Hardware
	// Number of benchmarks held for the hardware.
	BenchmarkCount int `json:"benchmark_count" jsonschema:"minimum=0,example=215"`
}

// ToolRow is one tool, in lists and at its own address.
type ToolRow struct {
	dataset.Tool
	// Number of benchmarks made with the tool.
	BenchmarkCount int `json:"benchmark_count" jsonschema:"minimum=0,example=3091"`
}

// BenchmarkRow is one benchmark, in lists and at its own address.
type BenchmarkRow struct {
	dataset.Benchmark
	// Share of the memory bandwidth the generation speed accounts for, computed: generation speed of one request x bytes read per token / bandwidth of all devices. 1 is the most one token a pass allows. Null where an input is missing.
	RooflineRatio *float64 `json:"roofline_ratio" jsonschema:"nullable,minimum=0,example=0.63"`
}

// Renderers make the rows of a generation; index keeps the bytes.
var Renderers = index.Renderers{
	Model: func(dst []byte, m *dataset.Model, benchmarks int) ([]byte, error) {
		return appendJSON(dst, modelRow(m, benchmarks))
	},
	ModelDetail: func(dst []byte, m *dataset.Model, benchmarks int) ([]byte, error) {
		return appendJSON(dst, &modelHead{modelRow(m, benchmarks), m.Quantizations})
	},
	Hardware: func(dst []byte, h *dataset.Hardware, benchmarks int) ([]byte, error) {
		return appendJSON(dst, &HardwareRow{*h, benchmarks})
	},
	Tool: func(dst []byte, t *dataset.Tool, benchmarks int) ([]byte, error) {
		return appendJSON(dst, &ToolRow{*t, benchmarks})
	},
	Benchmark: appendBenchmark,
}

// appendBenchmark writes a BenchmarkRow: the line of the record and one member more.
func appendBenchmark(dst []byte, b *dataset.Benchmark, roofline *float64) ([]byte, error) {
	dst, err := b.AppendLine(dst)
	if err != nil {
		return dst, err
	}
	dst = append(dst[:len(dst)-1], `,"roofline_ratio":`...)
	if roofline == nil {
		return append(dst, "null}"...), nil
	}
	dst, err = dataset.AppendNumber(dst, *roofline)
	return append(dst, '}'), err
}

// modelHead is a ModelDetail without what is put in when it is served: the finished rows of
// its benchmarks, and its intelligence, for snapshots are swapped on their own.
type modelHead struct {
	*ModelRow
	Quantizations []dataset.Quantization `json:"quantizations"`
}

func modelRow(m *dataset.Model, benchmarks int) *ModelRow {
	return &ModelRow{m.ModelFacts, len(m.Quantizations), benchmarks}
}

func appendJSON(dst []byte, v any) ([]byte, error) {
	b, err := jsonv2.Marshal(v)
	return append(dst, b...), err
}

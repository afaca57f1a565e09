package pages

import (
	"bytes"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/index"
	"modeldex/snapshot"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// modelRecord is a model as the API sends it.
type modelRecord struct {
	dataset.ModelFacts
	QuantizationCount          int                    `json:"quantization_count"`
	BenchmarkCount             int                    `json:"benchmark_count"`
	BenchmarkCountWithVariants int                    `json:"benchmark_count_with_variants"`
	Intelligence               *intelligence          `json:"intelligence"`
	Fit                        *fit.Best              `json:"fit"`
	Quantizations              []dataset.Quantization `json:"quantizations"`
}

// intelligence is what the newest snapshot says of a model.
type intelligence struct {
	Score        *float64            `json:"score_0_100"`
	Lower        *float64            `json:"lower_0_100"`
	Upper        *float64            `json:"upper_0_100"`
	Confidence   snapshot.Confidence `json:"confidence"`
	Sources      []snapshot.SourceID `json:"source_ids"`
	OpenRank     *int                `json:"open_rank"`
	OpenCount    int                 `json:"open_count"`
	SnapshotHash string              `json:"snapshot_hash"`
}

// hardwareRecord is a piece of hardware as the API sends it.
type hardwareRecord struct {
	dataset.Hardware
	BenchmarkCount             int       `json:"benchmark_count"`
	BenchmarkCountWithVariants int       `json:"benchmark_count_with_variants"`
	Fit                        *fit.Best `json:"fit"`
}

// toolRecord is a tool as the API sends it.
type toolRecord struct {
	dataset.Tool
	BenchmarkCount int `json:"benchmark_count"`
}

// benchmarkRecord is a benchmark as the API sends it.
type benchmarkRecord struct {
	dataset.Benchmark
	RooflineRatio          *float64 `json:"roofline_ratio"`
	GenerationTPSPerStream *float64 `json:"generation_tps_per_stream"`
}

// decode reads a row that the index has.
func decode[T any](row []byte) *T {
	out := new(T)
	if err := jsonv2.Unmarshal(row, out); err != nil {
		panic(err) // rows are made by this program
	}
	return out
}

// nameOf is the name of a record for readers, its slug where there is none.
func nameOf(t *index.Table, slug string) string {
	ord, ok := t.Find(slug)
	if !ok {
		return slug
	}
	if name := memberText(t.Row(ord), "name"); name != "" {
		return name
	}
	return slug
}

// memberText is a text of a row that this program made, empty without one. It reads no further than that:
// names are the second member of rows that have thousands of bytes.
func memberText(row []byte, member string) string {
	d := jsontext.NewDecoder(bytes.NewBuffer(row))
	if _, err := d.ReadToken(); err != nil { // the brace
		return ""
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return ""
		}
		if found := name.String() == member; found && d.PeekKind() == '"' {
			value, _ := d.ReadToken() // of a row that was made by this program
			return value.String()
		}
		if err := d.SkipValue(); err != nil {
			return ""
		}
	}
	return ""
}

// names looks up names of records, each once.
type names struct {
	gen  *index.Generation
	seen map[string]string
}

func newNames(gen *index.Generation) *names { return &names{gen, map[string]string{}} }

func (n *names) of(kind string, slug dataset.Slug) string {
	key := kind + "/" + string(slug)
	name, ok := n.seen[key]
	if !ok {
		t := n.gen.Models
		switch kind {
		case "hardware":
			t = n.gen.Hardware
		case "tools":
			t = n.gen.Tools
		}
		name = nameOf(t, string(slug))
		n.seen[key] = name
	}
	return name
}

// cell is the name of a record with the way to its page.
func (n *names) cell(kind string, slug dataset.Slug) Cell {
	return Cell{Text: n.of(kind, slug), Href: "/" + kind + "/" + string(slug)}
}

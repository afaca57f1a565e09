package index

import (
	"context"
	"strings"

	"modeldex/dataset"
)

type toolRecord struct {
	*dataset.Tool
	counts BenchmarkCounts
}

var toolFields = []fieldOf[toolRecord]{
	{Name: Slug, Text: func(t *toolRecord) string { return string(t.Slug) }, Param: "slug", Uses: Key | Sorts, Doc: "Stable public key; several fetch a batch."},
	{Name: Name, Text: func(t *toolRecord) string { return strings.ToLower(t.Name) }, Uses: Sorts, Doc: "Name as its makers write it."},
	{Name: "category", Text: func(t *toolRecord) string { return string(t.Category) }, Values: dataset.Category("").Values(), Param: "category", Uses: Facets, Doc: "What the tool is mainly for."},
	{Name: "backend", Texts: func(t *toolRecord) []string { return list(t.Backends) }, Param: "backend", Uses: Facets, Doc: "Compute backend it can use, such as cuda or metal."},
	{Name: "license", Text: func(t *toolRecord) string { return text(t.License) }, Param: "license", Uses: Facets, Doc: "SPDX id of the licence."},
	{Name: "os", Texts: func(t *toolRecord) []string { return list(t.Platforms) }, Param: "os", Uses: Facets, Doc: "System it runs on, such as linux."},
	{Name: "api", Texts: func(t *toolRecord) []string { return list(t.APICompatibility) }, Param: "api", Uses: Facets, Doc: "Form of API it serves, such as openai."},
	{Name: "model_format", Texts: func(t *toolRecord) []string { return list(t.ModelFormats) }, Param: "model_format", Uses: Facets, Doc: "Weight format it reads, such as gguf."},
	{Name: "has_benchmarks", Flag: func(t *toolRecord) *bool { return t.counts.hasAny() }, Param: "has_benchmarks", Uses: Facets, Doc: "Whether the directory has a benchmark made with the tool."},
	{Name: "first_release", Date: func(t *toolRecord) *dataset.Date { return t.FirstRelease }, Min: "released_since", Max: "released_until", Uses: Sorts | Facets, Doc: "Day of the first numbered version; a date that is only a year or a month counts as its first day."},
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

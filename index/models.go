package index

import (
	"context"
	"math"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/best"
)

type modelRecord struct {
	*dataset.Model
	counts BenchmarkCounts
	score  float64 // composite intelligence score, 0 to 100; NaN if unknown
	can    *best.Capability
}

// capability is in points of 100; NaN if unknown.
func (m *modelRecord) capability() float64 {
	if m.can == nil {
		return math.NaN()
	}
	return m.can.Score
}

var modelFields = []fieldOf[modelRecord]{
	{Name: Slug, Text: func(m *modelRecord) string { return string(m.Slug) }, Param: "slug", Uses: Key | Sorts, Doc: "Stable public key; several fetch a batch."},
	{Name: Name, Text: func(m *modelRecord) string { return strings.ToLower(m.Name) }, Uses: Sorts, Doc: "Name as its maker writes it."},
	{Name: Family, Text: func(m *modelRecord) string { return string(m.Family) }, Param: "family", Uses: Facets, Doc: "Family of models, such as llama or qwen."},
	{Name: "organization", Text: func(m *modelRecord) string { return m.Organization }, Param: "organization", Uses: Facets, Doc: "Who made the model."},
	{Name: "license", Text: func(m *modelRecord) string { return text(m.License) }, Param: "license", Uses: Facets, Doc: "Licence, as an SPDX id if there is one."},
	{Name: "architecture", Text: func(m *modelRecord) string { return text(m.Architecture.Type) }, Values: dataset.ModelType("").Values(), Param: "architecture", Uses: Facets, Doc: "Shape of the blocks, such as dense or moe."},
	{Name: "form", Text: func(m *modelRecord) string { return text(m.Form) }, Values: dataset.ModelForm("").Values(), Param: "form", Uses: Facets, Doc: "What the model was trained for, such as chat or base."},
	{Name: "thinking", Flag: func(m *modelRecord) *bool { return m.Thinking }, Param: "thinking", Uses: Facets, Doc: "Whether the model was trained to reason at length before it answers."},
	{Name: "gguf_architecture", Text: func(m *modelRecord) string { return text(m.GGUFArchitecture) }, Param: "gguf_architecture", Uses: Facets, Doc: "Architecture in a GGUF file, such as llama or qwen3moe."},
	{Name: "shape", Text: func(m *modelRecord) string { return text(m.Shape()) }, Param: "shape", Uses: Facets, Doc: "Id that models of equal layers, widths and cache share."},
	{Name: "modality", Texts: func(m *modelRecord) []string { return texts(m.Modalities) }, Values: dataset.Modality("").Values(), Param: "modality", Uses: Facets, Doc: "Kind of input or output."},
	{Name: "has_benchmarks", Flag: func(m *modelRecord) *bool { return m.counts.hasAny() }, Param: "has_benchmarks", Uses: Facets, Doc: "Whether the directory has a benchmark of the model."},
	{Name: "params_b", Number: func(m *modelRecord) float64 { return number(m.ParamsB) }, Unit: "10^9 parameters", Min: "min_params_b", Max: "max_params_b", Uses: Sorts | Facets, Doc: "Total parameters, in billions."},
	{Name: "active_params_b", Number: func(m *modelRecord) float64 { return activeParams(m.Model) }, Unit: "10^9 parameters", Min: "min_active_params_b", Max: "max_active_params_b", Uses: Sorts | Facets, Doc: "Parameters read for one token, in billions: as published, or all of a dense model."},
	{Name: "context_length", Number: func(m *modelRecord) float64 { return wholeNumber(m.Architecture.ContextLength) }, Unit: "tokens", Min: "min_context", Max: "max_context", Uses: Sorts | Facets, Doc: "Position limit, in tokens."},
	{Name: "release_date", Date: func(m *modelRecord) *dataset.Date { return m.ReleaseDate }, Min: "released_since", Max: "released_until", Uses: Sorts | Facets, Doc: "Day of release; a date that is only a year or a month counts as its first day."},
	{Name: "intelligence", Number: func(m *modelRecord) float64 { return m.score }, Unit: "points of 100", Min: "min_intelligence", Max: "max_intelligence", Uses: Sorts | Facets, Doc: "Composite score of the newest snapshot document, 0 to 100."},
	{Name: "capability", Number: (*modelRecord).capability, Unit: "points of 100", Min: "min_capability", Max: "max_capability", Uses: Sorts | Facets, Doc: "What the model can do, 0 to 100: published evaluations, drawn to what size, age, kind and maker predict; without evaluations the prediction."},
	{Name: BenchmarkCount, Number: func(m *modelRecord) float64 { return float64(m.counts.Own) }, Min: "min_benchmark_count", Uses: Sorts | Facets, Doc: "Number of benchmarks of the model itself."},
}

// activeParams is the published number of parameters read for one token, or all parameters of a
// dense model; NaN if unknown.
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
		rec := modelRecord{m, benchmarks.counts(Model, string(m.Slug)), r.score(m.Slug), nil}
		if c, ok := can[m.Slug]; ok {
			rec.can = &c
		}
		s.recs = append(s.recs, rec)
	}
	t := newTable(&s)
	return t, s.render(ctx, t)
}

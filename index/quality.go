package index

import (
	"context"

	"modeldex/dataset"
)

type qualityRecord struct {
	*dataset.Quality
	family string
}

var qualityFields = []fieldOf[qualityRecord]{
	{Name: ID, Text: func(q *qualityRecord) string { return string(q.ID) }, Param: "id", Uses: Key | Sorts, Doc: "Stable public key; several fetch a batch."},
	{Name: Model, Text: func(q *qualityRecord) string { return string(q.Model) }, Refers: Model, Param: "model", Uses: Facets | Sorts, Doc: "Model that was quantized, by slug or alias."},
	{Name: Family, Text: func(q *qualityRecord) string { return q.family }, Param: "family", Uses: Facets, Doc: "Family of the model."},
	{Name: Quantization, Text: func(q *qualityRecord) string { return q.Quantization }, Param: "quantization", Uses: Facets, Doc: "Quantization, such as Q4_K_M. Letter case is ignored."},
	{Name: "metric", Text: func(q *qualityRecord) string { return string(q.Metric) }, Values: dataset.QualityMetric("").Values(), Param: "metric", Uses: Facets, Doc: "What was measured: the mean KL divergence per token, the perplexity, or the score of a test."},
	{Name: "task", Text: func(q *qualityRecord) string { return text(q.Task) }, Param: "task", Uses: Facets, Doc: "Test behind a score, such as MMLU-Pro."},
	{Name: "corpus", Text: func(q *qualityRecord) string { return text(q.Corpus) }, Param: "corpus", Uses: Facets, Doc: "Text that the model read."},
	{Name: "change", Number: func(q *qualityRecord) float64 { return q.Change() }, Min: "min_change", Max: "max_change", Uses: Sorts, Doc: "How much worse the value is than that of the reference: percent of a perplexity, points of a score, nats of a divergence."},
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

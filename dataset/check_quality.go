package dataset

import (
	"fmt"
	"math"

	"modeldex/dataset/record"
)

var qualityRules = []rule[*Quality]{
	{"quality-names", "model names a record that exists, ids of measurements are unique, and a quantization has its usual spelling.", 0, func(c *checker, q *Quality, p place) {
		c.modelSlugs.reference(c, p, "model", q.Model)
		if first, twice := c.qualityIDs[q.ID]; twice {
			c.at(p, "id", fmt.Sprintf("%q is a duplicate of %s", q.ID, c.placeText(first)))
		}
		c.qualityIDs[q.ID] = p
		c.spelledType(p, "quantization", q.Quantization)
	}},
	{"quality-metric", "A score has a task, any other metric has a corpus, and all metrics except a divergence give the reference value.", clean, func(c *checker, q *Quality, p place) {
		score := q.Metric == record.TaskScore
		for field, known := range map[string]bool{"task": q.Task != nil, "corpus": q.Corpus != nil} {
			if want := score == (field == "task"); known != want {
				c.at(p, field, fmt.Sprintf("must be %s where metric is %q", map[bool]string{true: "known", false: "null"}[want], q.Metric), "metric")
			}
		}
		if divergence := q.Metric == record.KLDivergence; divergence == (q.ReferenceValue != nil) {
			c.at(p, "reference_value", "must be null for a kl_divergence, and known for any other metric", "metric")
		}
	}},
	{"quality-bounds", "Scores are at most 100, and no loss is larger than that of a working model.", clean, func(c *checker, q *Quality, p place) {
		switch q.Metric {
		case record.TaskScore:
			c.atMost(p, "value", &q.Value, 100, " percent")
			c.atMost(p, "reference_value", q.ReferenceValue, 100, " percent")
		case record.KLDivergence:
			c.atMost(p, "value", &q.Value, maxDivergence, " nats per token")
		}
	}},
}

// maxDivergence is the largest mean KL divergence of a file that anybody publishes; those of one bit reach 2.
const maxDivergence = 20

// SizeQuality sums up what is published of the quality of a quantization of a model.
type SizeQuality struct {
	// Mean KL divergence from the weights in 16 bits, in nats per token: the median of those published. Null where none is.
	KLDivergence *float64 `json:"kl_divergence" jsonschema:"nullable,minimum=0,example=0.0281"`
	// How much higher the perplexity is than that of the weights in 16 bits, in percent: the median of those published. Null where none is.
	PerplexityChange *float64 `json:"perplexity_change_percent" jsonschema:"nullable,example=2.43"`
	// Number of measurements, scores of tests included; GET /api/v1/quality?model=…&quantization=… lists them.
	Measurements int `json:"measurements" jsonschema:"minimum=1,example=4"`
	// Slug of the model that was measured: the model itself, or one of the same shape.
	MeasuredOn Slug `json:"measured_on" jsonschema:"example=llama-3-8b"`
}

// QualityOf sums up the measurements of each model and quantization. A model without any of a quantization has those of
// the model of its shape with the most.
func QualityOf(set *Set) map[Slug]map[string]*SizeQuality {
	runs := map[Slug]map[string][]*Quality{}
	for i := range set.Quality {
		q := &set.Quality[i]
		if runs[q.Model] == nil {
			runs[q.Model] = map[string][]*Quality{}
		}
		runs[q.Model][q.Quantization] = append(runs[q.Model][q.Quantization], q)
	}
	ofShape := map[string]map[string]*SizeQuality{}
	out := map[Slug]map[string]*SizeQuality{}
	for i := range set.Models {
		m := &set.Models[i]
		shape := valueOf(m.Shape())
		if shape != "" && ofShape[shape] == nil {
			ofShape[shape] = map[string]*SizeQuality{}
		}
		for name, list := range runs[m.Slug] {
			q := sumUp(m.Slug, list)
			if out[m.Slug] == nil {
				out[m.Slug] = map[string]*SizeQuality{}
			}
			out[m.Slug][name] = q
			if first := ofShape[shape][name]; shape != "" && (first == nil || first.Measurements < q.Measurements) {
				ofShape[shape][name] = q
			}
		}
	}
	for i := range set.Models {
		m := &set.Models[i]
		for name, q := range ofShape[valueOf(m.Shape())] {
			if out[m.Slug] == nil {
				out[m.Slug] = map[string]*SizeQuality{}
			}
			if out[m.Slug][name] == nil {
				out[m.Slug][name] = q
			}
		}
	}
	return out
}

func sumUp(model Slug, list []*Quality) *SizeQuality {
	half := func(metric record.QualityMetric) *float64 {
		var values []judged
		for _, q := range list {
			if q.Metric == metric {
				values = append(values, judged{value: q.Change()})
			}
		}
		if values == nil {
			return nil
		}
		v := math.Round(median(values)*1e5) / 1e5
		return &v
	}
	return &SizeQuality{half(record.KLDivergence), half(record.Perplexity), len(list), model}
}

package dataset

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"

	"modeldex/dataset/record"
)

var toolRules = []rule[*Tool]{
	{"tool-sources", "Every known fact has an entry in sources.", 0, func(c *checker, t *Tool, p place) {
		checkSources(c, p, t, t.Sources)
		c.date(p, "first_release", t.FirstRelease)
	}},
}

var typeRules = []rule[*QuantizationType]{
	{"type-sources", "Every known fact has an entry in sources.", 0, func(c *checker, q *QuantizationType, p place) {
		if c.types[q.Name] == p {
			checkSources(c, p, q, q.Sources)
		}
	}},
	{"type-name", "Names of storage types are unique.", 0, func(c *checker, q *QuantizationType, p place) {
		if first, twice := c.types[q.Name]; twice && first != p {
			c.at(p, "name", fmt.Sprintf("%q is a duplicate of %s", q.Name, c.placeText(first)))
		}
	}},
	{"type-bounds", "Bits per weight are plausible, and the median is between the minimum and the maximum.", clean, func(c *checker, q *QuantizationType, p place) {
		c.bounded(p, q)
		if o := q.Observed; o != nil && (o.Min > o.Median || o.Median > o.Max) {
			c.at(p, "observed.median", fmt.Sprintf("must be between min and max (%s to %s), got %s", plainNumber(o.Min), plainNumber(o.Max), plainNumber(o.Median)), "observed.min", "observed.max")
		}
	}},
}

func toolWords(t *Tool) map[string]*[]string {
	return map[string]*[]string{"platforms": t.Platforms, "backends": t.Backends, "model_formats": t.ModelFormats, "api_compatibility": t.APICompatibility}
}

func checkToolWords(c *checker, _ all, _ place) {
	tools := map[string]map[string]int{} // field -> word -> tools that have it
	for i, t := range c.tools.recs {
		checkTwice(c, c.tools.places[i], "also_categories", t.AlsoCategories)
		for field, list := range toolWords(t) {
			checkTwice(c, c.tools.places[i], field, known(list))
			for _, word := range slices.Compact(slices.Sorted(slices.Values(known(list)))) {
				put(tools, field, word, tools[field][word]+1)
			}
		}
	}
	for i, t := range c.tools.recs {
		for field, list := range toolWords(t) {
			for j, word := range known(list) {
				if tools[field][word] > 1 || !c.warn {
					continue
				}
				if meant := meantWord(word, tools[field]); meant != "" {
					c.warning(c.tools.places[i], field+"."+strconv.Itoa(j), fmt.Sprintf("%q is used by no other tool; did you mean %q?", word, meant))
				}
			}
		}
	}
}

// meantWord is the word of more than one tool that a slip of the finger makes another one of: they differ by letter
// case, by one letter more or less or, in a longer word, by one letter. Empty for none.
func meantWord(word string, tools map[string]int) string {
	for _, known := range slices.Sorted(maps.Keys(tools)) {
		if tools[known] < 2 || known == word {
			continue
		}
		a, b := strings.ToLower(word), strings.ToLower(known)
		if edits := levenshtein.ComputeDistance(a, b); edits == 0 || edits == 1 && (len(a) != len(b) || len(a) > shortWord) {
			return known
		}
	}
	return ""
}

// shortWord is the length up to which words that differ in one letter are words of their own: cpu, gpu, npu, hpu.
const shortWord = 4

var qualityRules = []rule[*Quality]{
	{"quality-names", "model names an existing record, ids are unique, and the quantization has its usual spelling.", 0, func(c *checker, q *Quality, p place) {
		c.modelSlugs.reference(c, p, "model", q.Model)
		if first, twice := c.qualityIDs[q.ID]; twice {
			c.at(p, "id", fmt.Sprintf("%q is a duplicate of %s", q.ID, c.placeText(first)))
		}
		c.qualityIDs[q.ID] = p
		c.spelledType(p, "quantization", q.Quantization)
	}},
	{"quality-metric", "A score has a task, any other metric has a corpus, and all metrics except a divergence have a reference value.", clean, func(c *checker, q *Quality, p place) {
		score := q.Metric == record.TaskScore
		for field, known := range map[string]bool{"task": q.Task != nil, "corpus": q.Corpus != nil} {
			if want := score == (field == "task"); known != want {
				c.at(p, field, fmt.Sprintf("must be %s if metric is %q", map[bool]string{true: "set", false: "null"}[want], q.Metric), "metric")
			}
		}
		if divergence := q.Metric == record.KLDivergence; divergence == (q.ReferenceValue != nil) {
			c.at(p, "reference_value", "must be null for kl_divergence, and set for any other metric", "metric")
		}
	}},
	{"quality-bounds", "Scores are at most 100, and losses are within the range of working models.", clean, func(c *checker, q *Quality, p place) {
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

// SizeQuality is a summary of the published quality of a quantization.
type SizeQuality struct {
	// Mean KL divergence from the 16-bit weights, in nats per token: the median of the published values. Null if there are
	// none.
	KLDivergence *float64 `json:"kl_divergence" jsonschema:"nullable,minimum=0,example=0.0281"`
	// Increase of the perplexity over the 16-bit weights, in percent: the median of the published values. Null if there
	// are none.
	PerplexityChange *float64 `json:"perplexity_change_percent" jsonschema:"nullable,example=2.43"`
	// Number of measurements, including test scores; GET /api/v1/quality?model=…&quantization=… lists them.
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
		put(runs, q.Model, q.Quantization, append(runs[q.Model][q.Quantization], q))
	}
	ofShape := map[string]map[string]*SizeQuality{}
	out := map[Slug]map[string]*SizeQuality{}
	for i := range set.Models {
		m := &set.Models[i]
		shape := valueOf(m.Shape())
		for name, list := range runs[m.Slug] {
			q := sumUp(m.Slug, list)
			put(out, m.Slug, name, q)
			if first := ofShape[shape][name]; shape != "" && (first == nil || first.Measurements < q.Measurements) {
				put(ofShape, shape, name, q)
			}
		}
	}
	for i := range set.Models {
		m := &set.Models[i]
		for name, q := range ofShape[valueOf(m.Shape())] {
			if out[m.Slug][name] == nil {
				put(out, m.Slug, name, q)
			}
		}
	}
	return out
}

func put[K, L comparable, V any](in map[K]map[L]V, k K, l L, v V) {
	if in[k] == nil {
		in[k] = map[L]V{}
	}
	in[k][l] = v
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

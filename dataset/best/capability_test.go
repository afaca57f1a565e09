package best

import (
	"math"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// TestNamesOf: sizes do not part a line of models, versions and dates do not part a series.
func TestNamesOf(t *testing.T) {
	for _, tt := range []struct{ slug, line, series string }{
		{"qwen3.5-27b", "qwen3.5-#", "qwen"},
		{"qwen3-30b-a3b-instruct-2507", "qwen3-#-#-instruct-2507", "qwen-instruct"},
		{"gemma-3n-e4b-it", "gemma-3n-#-it", "gemma-3n-it"},
		{"kimi-k2.6", "kimi-k2.6", "kimi-k"},
		{"llama-4-scout-17b-16e-instruct", "llama-4-scout-#-16e-instruct", "llama-scout-16e-instruct"},
	} {
		if line, series := namesOf(tt.slug); line != tt.line || series != tt.series {
			t.Errorf("%s: line %q, series %q; want %q and %q", tt.slug, line, series, tt.line, tt.series)
		}
	}
}

// TestCapabilities: a model without evaluations is predicted, evaluations count by their precision, one bad run decides
// nothing, and a larger model of a line is not below a smaller one.
func TestCapabilities(t *testing.T) {
	form, base, maker := record.ModelForm("chat"), record.ModelForm("base"), "Maker"
	var models []dataset.Model
	add := func(slug dataset.Slug, params float64, date dataset.Date, form *record.ModelForm) {
		models = append(models, dataset.Model{ModelFacts: dataset.ModelFacts{
			Slug: slug, Family: "f", Organization: maker, ParamsB: &params, ReleaseDate: &date, Form: form,
		}})
	}
	evidence := map[dataset.Slug][]Evidence{}
	truth := func(params, years float64) float64 { return 30 + 4*math.Log2(params) + 8*years }
	for i, params := range []float64{1, 2, 4, 8, 16, 32, 64, 128, 3, 6, 12, 24, 48, 96, 5, 10} {
		years := float64(i%3) / 2
		slug := dataset.Slug("a" + string(rune('a'+i)))
		add(slug, params, dataset.Date([]string{"2025-01", "2025-07", "2026-01"}[i%3]), &form)
		evidence[slug] = []Evidence{{"source_a", truth(params, years), 4}}
	}
	add("x-8b", 8, "2026-01", &form)
	add("y-8b", 8, "2026-01", &form)
	add("z-8b", 8, "2026-01", &form)
	add("z-16b", 16, "2026-01", &form)
	add("w-8b", 8, "2026-01", &base)
	evidence["y-8b"] = []Evidence{{"source_a", truth(8, 1) - 20, 4}}
	evidence["z-8b"] = []Evidence{{"source_a", truth(8, 1) + 15, 4}, {"source_b", truth(8, 1) + 15, 4}}
	evidence["z-16b"] = []Evidence{{"source_a", truth(16, 1) - 15, 4}, {"source_b", truth(16, 1) - 15, 4}}
	can := Capabilities(models, func(slug dataset.Slug) []Evidence { return evidence[slug] })
	if c := can["x-8b"]; c.Basis != Predicted || math.Abs(c.Score-truth(8, 1)) > 6 || c.Interval[0] >= c.Score || c.Interval[1] <= c.Score {
		t.Errorf("without evaluations: %+v, want about %.1f", c, truth(8, 1))
	}
	if c := can["y-8b"]; c.Basis != Evaluated || c.Score < truth(8, 1)-18 || c.Score > truth(8, 1)-3 {
		t.Errorf("one bad run: %+v, want it drawn to %.1f", c, truth(8, 1))
	}
	if small, large := can["z-8b"].Score, can["z-16b"].Score; large <= small {
		t.Errorf("the larger model of a line has %.1f, the smaller one %.1f", large, small)
	}
	if c, known := can["w-8b"]; known {
		t.Errorf("a base model has %+v", c)
	}
}

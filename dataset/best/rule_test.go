package best

import (
	"math"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
)

// TestPoints: fewer bits and slower answers cost points, more than help cost little, weights lose nothing in the bits they
// were trained in, and a measured loss goes before the table.
func TestPoints(t *testing.T) {
	four, one, large, small := 4.25, 1.0, 30.0, 3.0
	model := func(slug dataset.Slug, params, trained *float64) dataset.Model {
		return dataset.Model{ModelFacts: dataset.ModelFacts{Slug: slug, ParamsB: params, TrainedBits: trained}}
	}
	ppl := 6.0
	set := &dataset.Set{
		Models: []dataset.Model{model("large", &large, nil), model("small", &small, nil), model("four", &large, &four), model("one", &large, &one)},
		Quality: []dataset.Quality{
			{Model: "large", Quantization: "Q3_K_M", Metric: record.KLDivergence, Value: 0.1},
			{Model: "large", Quantization: "Q3_K_M", Metric: record.Perplexity, Value: 9, ReferenceValue: &ppl},
		},
	}
	r := NewRule(set, nil, func(dataset.Slug) int { return 0 }, nil)
	points := func(model dataset.Slug, quantization string, bits, tps float64) fit.Points {
		use := fit.UseEstimate
		return r.points(&fit.Best{Model: model, Quantization: quantization, BitsPerWeight: &bits, TPS: &tps, Use: &use, Verdict: fit.Fits})
	}
	for _, tt := range []struct {
		model        dataset.Slug
		quantization string
		bits, tps    float64
		bitsLost     float64
		speedLost    float64
	}{
		{"large", "Q8_0", 8.5, 100, 0, 0},
		{"large", "Q4_K_M", 4.8, 40, 1.5, 0},
		{"large", "Q4_K_M", 4.8, 20, 1.5, 3},
		{"large", "Q4_K_M", 4.8, 5, 1.5, 16},
		{"large", "Q3_K_M", 3.9, 40, 5, 0}, // measured
		{"small", "Q4_K_M", 4.8, 40, 1.95, 0},
		{"large", "BF16", 16, 40, 0.45, 0},
		{"large", "IQ1_S", 1.6, 40, 40.59, 0},
		{"four", "MXFP4", 4.6, 40, 0, 0},
		{"four", "F16", 5.3, 40, 0.23, 0},
		{"one", "Q8_0", 8.5, 40, 6, 0},
	} {
		p := points(tt.model, tt.quantization, tt.bits, tt.tps)
		if math.Abs(-p.Quantization-tt.bitsLost) > 0.011 || math.Abs(-p.Speed-tt.speedLost) > 0.011 {
			t.Errorf("%s in %s at %v: %v and %v points, want %v and %v", tt.model, tt.quantization, tt.tps, p.Quantization, p.Speed, -tt.bitsLost, -tt.speedLost)
		}
		if sum := p.Quantization + p.Speed; math.Abs(sum-p.Total) > 1e-9 {
			t.Errorf("%s in %s: the points %v do not sum", tt.model, tt.quantization, p)
		}
	}
}

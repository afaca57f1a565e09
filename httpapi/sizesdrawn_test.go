package httpapi

import (
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/fit"
	"modeldex/httpapi/charts"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// TestSizesDrawn holds that charts of what runs draw each model at the size their note says: of the shipped
// records, the most precise size of four to nine bits that was measured, else one of more bits that was, else the most precise of up to nine that fits.
func TestSizesDrawn(t *testing.T) {
	t.Parallel()
	scored := rows.RenderersOf(nil)
	scored.Score = func(dataset.Slug) float64 { return 50 } // charts draw what has a score
	gen, err := index.Build(t.Context(), mustShipped(t).set, scored)
	if err != nil {
		t.Fatal(err)
	}
	const rule = "at the most precise size of four to nine bits that was measured on this hardware, else one of more bits that was, else the most precise of up to nine that fits"
	measured := 0
	for _, slug := range []dataset.Slug{"nvidia-rtx-4090", "amd-ryzen-ai-max-395", "apple-m3-max-40gpu"}[:datasettest.Rounds(1, 3)] {
		runs, fault := gen.Fit.Models(fit.Query{Hardware: slug, MeasuredFirst: true}, 0)
		if fault != nil {
			t.Fatal(fault)
		}
		for i := range runs.Found {
			drawn := &runs.Found[i]
			want := plainlyPreferred(t, gen.Fit, fit.Query{Model: drawn.Model, Hardware: slug}, 0)
			if drawn.Use != nil && *drawn.Use == fit.UseMeasured {
				measured++
			}
			if drawn.Quantization != want {
				t.Errorf("%s on %s is drawn at %s, want %s", drawn.Model, slug, drawn.Quantization, want)
			}
		}
		if f := charts.For(gen).HardwareFrontier(string(slug)); !strings.Contains(f.Note, rule) {
			t.Errorf("the chart of %s says %q, want %q in it", slug, f.Note, rule)
		}
	}
	if measured == 0 {
		t.Error("no size was measured: the test compares nothing")
	}
}

// TestBelowFourBitsComesLast holds that an intelligence score, which is of the full model, ranks no size of fewer than
// four bits above one that has them: lists have such sizes last, and charts by score leave them out.
func TestBelowFourBitsComesLast(t *testing.T) {
	t.Parallel()
	scored := rows.RenderersOf(nil)
	scored.Score = func(dataset.Slug) float64 { return 50 }
	gen, err := index.Build(t.Context(), mustShipped(t).set, scored)
	if err != nil {
		t.Fatal(err)
	}
	const hardware = "nvidia-rtx-3060"
	runs, fault := gen.Fit.Models(fit.Query{Hardware: hardware, MeasuredFirst: true}, 0)
	if fault != nil {
		t.Fatal(fault)
	}
	below := map[string]bool{}
	last := 0
	for i, b := range pages.BestFirst(gen, runs.Found) {
		if b.BitsPerWeight != nil && *b.BitsPerWeight < fit.LeastBits {
			below[string(b.Model)] = true
		} else if last = i; len(below) > 0 {
			t.Fatalf("%s at %s comes after %d models of fewer than four bits", b.Model, b.Quantization, len(below))
		}
	}
	if len(below) == 0 || last == 0 {
		t.Fatal("all models fit in four bits, or none: the test compares nothing")
	}
	f := charts.For(gen).HardwareFrontier(hardware)
	drawn := string(f.SVG(charts.Auto, charts.MaxWidth))
	for slug := range below {
		if name := pages.NameOf(gen, slug); strings.Contains(drawn, "<title>"+name+": ") {
			t.Errorf("%s is drawn, which fits only below four bits", name)
		}
	}
	if name := pages.NameOf(gen, "llama-3.1-8b-instruct"); !strings.Contains(drawn, "<title>"+name+": ") {
		t.Errorf("%s is not drawn: the test compares nothing", name)
	}
	if !strings.Contains(f.Note, "fewer than four bits") {
		t.Errorf("the chart does not say what it leaves out: %q", f.Note)
	}
}

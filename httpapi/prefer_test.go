package httpapi

import (
	"encoding/json"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/fit"
)

// TestPreferMeasured compares the sizes that prefer=measured names with a plain loop over all sizes of
// each model: the most precise of at least four bits that fits and was measured, else as without it.
func TestPreferMeasured(t *testing.T) {
	t.Parallel()
	s := newService(t, mustShipped(t).live)
	gen := mustShipped(t).live.Current()
	rows := func(query string) map[string]fit.Best {
		out := map[string]fit.Best{}
		for _, raw := range s.walk(t, "/api/v1/models?fits=nvidia-rtx-4090&fields=slug,fit&limit=200"+query).records {
			var row struct {
				Slug string
				Fit  fit.Best
			}
			if err := json.Unmarshal(raw, &row); err != nil {
				t.Fatal(err)
			}
			out[row.Slug] = row.Fit
		}
		return out
	}
	for _, query := range []string{"", "&context=32768", "&min_tps=100"} {
		precise, measured := rows(query+"&prefer=precise"), rows(query+"&prefer=measured")
		if len(measured) < len(precise) || len(precise) == 0 {
			t.Errorf("%q: %d models run, with measured sizes first %d", query, len(precise), len(measured))
		}
		changed := 0
		for slug, got := range measured {
			want := precise[slug]
			ask := fit.Query{Model: dataset.Slug(slug), Hardware: "nvidia-rtx-4090"}
			if query == "&context=32768" {
				ask.Context = 32768
			}
			if size := mostPreciseMeasured(t, gen.Fit, ask, map[bool]float64{true: 100}[query == "&min_tps=100"]); size != nil {
				want.Quantization = size.Quantization
				if got.Use == nil || *got.Use != fit.UseMeasured {
					t.Errorf("%q: %s at %s is not measured", query, slug, got.Quantization)
				}
			}
			if got.Quantization != want.Quantization {
				t.Errorf("%q: %s at %s, want %s", query, slug, got.Quantization, want.Quantization)
			}
			if got.Quantization != precise[slug].Quantization {
				changed++
			}
		}
		if changed == 0 {
			t.Errorf("%q: the parameter changed nothing", query)
		}
	}
	if a := s.ask(t, "GET", "/api/v1/models?prefer=measured"); a.status != 400 {
		t.Errorf("prefer without fits: status %d, want 400", a.status)
	}
}

// mostPreciseMeasured is found by a plain loop, sizes best first.
func mostPreciseMeasured(t *testing.T, e *fit.Engine, q fit.Query, least float64) *fit.Size {
	t.Helper()
	a, fault := e.Fit(q)
	if fault != nil {
		t.Fatal(fault)
	}
	var best *fit.Size
	for i := range a.Sizes {
		z := &a.Sizes[i]
		if z.Verdict != fit.Fits || z.Speed.Measured == nil || z.BitsPerWeight == nil || *z.BitsPerWeight < 4 {
			continue
		}
		if best == nil && *z.Speed.TPS >= least {
			best = z
		}
	}
	return best
}

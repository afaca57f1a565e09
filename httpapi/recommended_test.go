package httpapi

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
)

// recommended is a row of a list of what runs.
type recommended struct {
	Slug        dataset.Slug
	Form        *record.ModelForm
	TrainedBits *float64 `json:"trained_bits"`
	Capability  *struct {
		Score float64 `json:"score_0_100"`
		Basis string
	}
	StreetPriceUSD *float64 `json:"street_price_usd"`
	Backends       []string
	Fit            fit.Best
}

func (s *service) recommendations(t *testing.T, path string) (rows []recommended) {
	t.Helper()
	for _, raw := range s.walk(t, path+"&limit=200&explain=true").records {
		var r recommended
		datasettest.Must(t, json.Unmarshal(raw, &r))
		rows = append(rows, r)
	}
	return rows
}

// TestRecommended holds lists of what runs in their default order to what an expert would reject at sight: base models and
// those made for something else, files of fewer than three bits, speeds under three tokens per second. The points sum, and
// order the rows.
func TestRecommended(t *testing.T) {
	s := shippedService(t)
	for _, machine := range []string{
		"nvidia-rtx-3060", "nvidia-rtx-4090", "nvidia-rtx-3090&count=4", "amd-ryzen-ai-max-395", "apple-m4&memory_gb=16", "apple-m2-ultra&memory_gb=192",
		"amd-epyc-9654&memory_gb=768", "nvidia-rtx-5090&context=131072", "raspberry-pi-5&memory_gb=8",
	}[datasettest.Rounds(4, 0):] {
		rows := s.recommendations(t, "/api/v1/models?fits="+machine)
		if len(rows) < 10 {
			t.Errorf("%s: %d models", machine, len(rows))
		}
		last := math.Inf(1)
		for _, r := range rows {
			f := r.Fit
			switch {
			case r.Form != nil && *r.Form != "chat" || r.Capability == nil:
				t.Errorf("%s: %s is listed, which is not for chat", machine, r.Slug)
			case f.TPS != nil && *f.TPS < 3:
				t.Errorf("%s: %s is listed at %v tokens per second", machine, r.Slug, *f.TPS)
			case f.BitsPerWeight != nil && *f.BitsPerWeight < 3 && (r.TrainedBits == nil || *r.TrainedBits >= 3):
				t.Errorf("%s: %s is listed in %v bits", machine, r.Slug, *f.BitsPerWeight)
			case f.Why == "" || f.Points == nil:
				t.Errorf("%s: %s is listed without a reason or points", machine, r.Slug)
			case f.Points.Total > last:
				t.Errorf("%s: %s has %v points and stands behind %v", machine, r.Slug, f.Points.Total, last)
			}
			p := *f.Points
			if p.Sum(); p != *f.Points || p.Capability != r.Capability.Score {
				t.Errorf("%s: %s: the points do not sum, or have another capability than %v: %+v", machine, r.Slug, *r.Capability, *f.Points)
			}
			last = f.Points.Total
		}
	}
}

// TestNewerIsNotWorse: of chat models with one name but for its version, a later release that is as large is as capable.
func TestNewerIsNotWorse(t *testing.T) {
	t.Parallel()
	gen := mustShipped(t).live.Current()
	for _, pair := range [][2]dataset.Slug{
		{"qwen2.5-7b-instruct", "qwen3-8b"},
		{"gemma-2-27b-it", "gemma-3-27b-it"},
		{"gemma-3-27b-it", "gemma-4-31b-it"},
		{"qwen3.5-27b", "qwen3.6-27b"},
		{"llama-2-70b-chat", "llama-3.3-70b-instruct"},
		{"llama-3.1-70b-instruct", "llama-3.3-70b-instruct"},
		{"glm-4.5-air", "glm-4.6v"},
		{"mistral-7b-instruct-v0.1", "mistral-7b-instruct-v0.3"},
		{"granite-3.3-8b-instruct", "granite-4.1-8b"},
	} {
		older, newer := gen.Capabilities[pair[0]], gen.Capabilities[pair[1]]
		if older.Score == 0 || newer.Score <= older.Score {
			t.Errorf("%s has %.1f, %s %.1f", pair[0], older.Score, pair[1], newer.Score)
		}
	}
}

// TestWhichHardware: hardware that runs a model is listed once, with the smallest number of devices that has room for four
// bits, with the price of all of them, the best value first; what nothing drives is left out.
func TestWhichHardware(t *testing.T) {
	s := shippedService(t)
	gen := mustShipped(t).live.Current()
	rows := s.recommendations(t, "/api/v1/hardware?runs=llama-3.3-70b-instruct")
	seen, several := map[dataset.Slug]bool{}, 0
	for _, r := range rows {
		f := r.Fit
		if seen[r.Slug] {
			t.Errorf("%s is listed twice", r.Slug)
		}
		seen[r.Slug] = true
		if len(r.Backends) == 0 && (f.Use == nil || *f.Use == fit.UseEstimate) || f.BitsPerWeight != nil && *f.BitsPerWeight < 4.25 {
			t.Errorf("%s is listed in %v bits, with the backends %v", r.Slug, *f.BitsPerWeight, r.Backends)
		}
		if r.StreetPriceUSD != nil && (f.TotalPriceUSD == nil || math.Abs(*f.TotalPriceUSD-*r.StreetPriceUSD*float64(f.Count)) > 0.01 || f.PriceDate == nil) {
			t.Errorf("%s: %d cost %v, want %v each and the day", r.Slug, f.Count, f.TotalPriceUSD, *r.StreetPriceUSD)
		}
		if f.Count > 1 {
			several++
			fewer := fit.Query{Model: "llama-3.3-70b-instruct", Hardware: r.Slug, Count: f.Count / 2, Quantization: f.Quantization}
			if a, fault := gen.Fit.Fit(fewer); fault == nil && a.Verdict == fit.Fits {
				t.Errorf("%s: %d are listed, and %d have room", r.Slug, f.Count, f.Count/2)
			}
		}
	}
	if several == 0 {
		t.Error("no row is of several devices, which tests nothing")
	}
	for _, order := range []string{"total_price_usd", "usd_per_tps"} {
		last := 0.0
		for _, r := range s.recommendations(t, fmt.Sprintf("/api/v1/hardware?runs=llama-3.3-70b-instruct&sort=%s", order)) {
			if r.Fit.TotalPriceUSD == nil || r.Fit.TPS == nil {
				continue
			}
			v := *r.Fit.TotalPriceUSD
			if order == "usd_per_tps" {
				v /= *r.Fit.TPS
			}
			if v < last {
				t.Errorf("sort=%s: %s has %v behind %v", order, r.Slug, v, last)
			}
			last = v
		}
	}
}

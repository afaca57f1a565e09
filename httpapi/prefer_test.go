package httpapi

import (
	"encoding/json"
	"html"
	"regexp"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/fit"
)

// TestPreferMeasured compares the sizes that prefer=measured names with a plain loop over all sizes of
// each model: the most precise of four to nine bits that fits and was measured, else of more that was, else of up to nine, else as without it.
func TestPreferMeasured(t *testing.T) {
	s := shippedService(t)
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
		best, measured := rows(query+"&sort=slug"), rows(query+"&prefer=measured&sort=slug")
		if len(measured) < len(best) || len(best) == 0 {
			t.Errorf("%q: %d models run, with measured sizes first %d", query, len(best), len(measured))
		}
		changed := 0
		for slug, got := range measured {
			ask := fit.Query{Model: dataset.Slug(slug), Hardware: "nvidia-rtx-4090"}
			if query == "&context=32768" {
				ask.Context = 32768
			}
			if want := plainlyPreferred(t, gen.Fit, ask, map[bool]float64{true: 100}[query == "&min_tps=100"]); got.Quantization != want {
				t.Errorf("%q: %s at %s, want %s", query, slug, got.Quantization, want)
			}
			if got.Quantization != best[slug].Quantization {
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

// TestPagesOrder holds that lists of pages name measured sizes, in all their pages.
func TestPagesOrder(t *testing.T) {
	s := shippedService(t)
	body := string(s.ask(t, "GET", "/explore/hardware?runs=gpt-oss-20b&q=4090", "Authorization", "", "Accept", "text/html").body)
	if !strings.Contains(body, ">MXFP4<") || !strings.Contains(body, ">measured</a>") {
		t.Error("the list of hardware that runs gpt-oss 20B does not name the measured size of the RTX 4090")
	}
	if strings.Contains(body, "prefer=") || strings.Contains(body, "Prefer") {
		t.Error("a list repeats what pages do anyway")
	}
	next := regexp.MustCompile(`href="(/explore/models\?[^"]*cursor=[^"]*)"`).FindStringSubmatch(string(s.ask(t, "GET", "/explore/models?fits=nvidia-rtx-4090", "Authorization", "", "Accept", "text/html").body))
	if next == nil {
		t.Fatal("no second page")
	}
	if a := s.ask(t, "GET", html.UnescapeString(next[1]), "Authorization", "", "Accept", "text/html"); a.status != 200 {
		t.Errorf("%s: status %d", next[1], a.status)
	}
}

// plainlyPreferred is the name of the size that prefer=measured is to give, found by plain loops over sizes best first; empty where none runs
// fast enough.
func plainlyPreferred(t *testing.T, e *fit.Engine, q fit.Query, least float64) string {
	t.Helper()
	a, fault := e.Fit(q)
	if fault != nil {
		t.Fatal(fault)
	}
	within := func(z *fit.Size) bool {
		if strings.HasPrefix(string(q.Model), "gpt-oss") { // the shipped models that were trained in four bits
			return z.Quantization == "MXFP4"
		}
		return z.BitsPerWeight == nil || *z.BitsPerWeight <= 9
	}
	measured := func(z *fit.Size) bool {
		return z.Verdict == fit.Fits && z.Speed.Measured != nil && z.BitsPerWeight != nil && *z.BitsPerWeight >= 4
	}
	for _, is := range []func(z *fit.Size) bool{
		func(z *fit.Size) bool { return measured(z) && within(z) },
		measured,
		func(z *fit.Size) bool { return z.Verdict == fit.Fits && within(z) },
		func(z *fit.Size) bool { return z.Verdict == fit.Fits },
		func(z *fit.Size) bool { return z.Verdict == fit.Tight && within(z) },
		func(z *fit.Size) bool { return z.Verdict == fit.Tight },
	} {
		for i := range a.Sizes {
			z := &a.Sizes[i]
			if z.Listed && is(z) && (least == 0 || z.Speed.TPS != nil && *z.Speed.TPS >= least) {
				return z.Quantization
			}
		}
	}
	return ""
}

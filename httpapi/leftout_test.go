package httpapi

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/fit"
)

// TestLeftOut compares what the notices of lists of what runs count with a plain loop over single answers, under
// other filters: what may run or be fast enough is not silently left out. The short form asks every second list.
func TestLeftOut(t *testing.T) {
	s := shippedService(t)
	gen := mustShipped(t).live.Current()
	for i, c := range []struct {
		list, query, others string
		ask                 fit.Query
		least               float64
	}{
		{"models", "fits=apple-m3-max", "", fit.Query{Hardware: "apple-m3-max"}, 0},
		{"models", "fits=apple-m3-max&min_tps=20", "family=llama,qwen", fit.Query{Hardware: "apple-m3-max"}, 20},
		{"models", "fits=amd-instinct-mi250&min_tps=20", "family=llama,phi", fit.Query{Hardware: "amd-instinct-mi250"}, 20},
		{"models", "fits=nvidia-rtx-4090&min_tps=100&context=32768", "", fit.Query{Hardware: "nvidia-rtx-4090", Context: 32768}, 100},
		{"hardware", "runs=llama-3.1-8b-instruct&min_tps=30", "vendor=amd,qualcomm", fit.Query{Model: "llama-3.1-8b-instruct"}, 30},
		{"hardware", "runs=llama-3.1-8b-instruct&min_tps=30&count=2&engine=vllm", "vendor=intel", fit.Query{Model: "llama-3.1-8b-instruct", Count: 2, Rules: fit.VLLM}, 30},
	} {
		if i%datasettest.Rounds(2, 1) > 0 {
			continue
		}
		filter, address := strings.SplitN(c.query, "=", 2)[0], "/api/v1/"+c.list+"?"+strings.TrimSuffix(c.query+"&"+c.others, "&")
		want := map[string]int{}
		for _, raw := range s.walk(t, "/api/v1/"+c.list+"?limit=200&"+c.others).records {
			var row map[string]any
			if err := json.Unmarshal(raw, &row); err != nil {
				t.Fatal(err)
			}
			slug := dataset.Slug(row["slug"].(string)) //nolint:forcetypeassert // a slug is a text
			if c.list == "models" {
				c.ask.Model = slug
			} else {
				c.ask.Hardware = slug
			}
			a, fault := gen.Fit.Fit(c.ask)
			if fault != nil {
				continue // its context is too short
			}
			runs, unknown, speed := false, len(a.Sizes) == 0, false
			for i := range a.Sizes {
				z := &a.Sizes[i]
				if !z.Listed {
					continue
				}
				unknown = unknown || z.Verdict == fit.Unknown
				if z.Verdict == fit.Fits || z.Verdict == fit.Tight {
					runs, speed = true, speed || z.Speed.TPS != nil
				}
			}
			switch {
			case !runs && unknown:
				want[filter]++
			case runs && !speed && c.least > 0:
				want["min_tps"]++
			}
		}
		var got struct{ Meta struct{ Notices []Notice } }
		if err := json.Unmarshal(s.ask(t, "GET", address+"&limit=1").body, &got); err != nil {
			t.Fatal(err)
		}
		if len(want) == 0 {
			t.Errorf("%s: nothing is left out, which tests nothing", address)
		}
		for _, n := range got.Meta.Notices {
			if n.Code != "null_excluded" || n.Count == nil {
				continue
			}
			if least := want[n.Parameter]; *n.Count != least {
				t.Errorf("%s: %s is %d, want %d: %s", address, n.Parameter, *n.Count, least, n.Detail)
			}
			t.Log(address, n.Detail)
			delete(want, n.Parameter)
		}
		for parameter, n := range want {
			if n > 0 {
				t.Errorf("%s: no notice of %s, want one with %d", address, parameter, n)
			}
		}
	}
}

// TestPagesSayWhatIsLeftOut holds that the page of what runs on a machine counts the models it leaves out.
func TestPagesSayWhatIsLeftOut(t *testing.T) {
	s := shippedService(t)
	gen := mustShipped(t).live.Current()
	for _, c := range []struct {
		query, parameter string
		ask              fit.Query
	}{
		{"hardware=nvidia-rtx-4090", "hardware", fit.Query{Hardware: "nvidia-rtx-4090"}},
		{"hardware=nvidia-gb10&context=4096", "hardware", fit.Query{Hardware: "nvidia-gb10", Context: 4096}},
		{"memory_gb=24", "memory_gb", fit.Query{MemoryGB: 24}},
	} {
		want, fault := gen.Fit.Models(c.ask)
		if fault != nil || len(want.Undecided) == 0 {
			t.Fatalf("%s: %v, %d undecided, which tests nothing", c.query, fault, len(want.Undecided))
		}
		var got struct{ Meta struct{ Notices []Notice } }
		if err := json.Unmarshal(s.ask(t, "GET", "/fit.json?"+c.query).body, &got); err != nil {
			t.Fatal(err)
		}
		if n := got.Meta.Notices; len(n) != 1 || n[0].Code != nullExcluded || n[0].Parameter != c.parameter || *n[0].Count != len(want.Undecided) {
			t.Errorf("%s: notices are %+v, want one of %s with %d", c.query, n, c.parameter, len(want.Undecided))
		}
		page := string(s.ask(t, "GET", "/fit.md?"+c.query).body)
		if !strings.Contains(page, "We cannot tell for "+strconv.Itoa(len(want.Undecided))+" more") {
			t.Errorf("%s: the page does not say that %d are left out: %.600s", c.query, len(want.Undecided), page)
		}
	}
}

// TestMemoryAssumed holds that a list of what runs says where it counts with one of several sizes of memory: of the hardware
// asked for, and of how many of its rows.
func TestMemoryAssumed(t *testing.T) {
	s := shippedService(t)
	said := func(path string) (found []Notice) {
		t.Helper()
		var l struct{ Meta struct{ Notices []Notice } }
		if err := json.Unmarshal(s.ask(t, "GET", path).body, &l); err != nil {
			t.Fatal(err)
		}
		for _, n := range l.Meta.Notices {
			if n.Code == "memory_assumed" {
				found = append(found, n)
			}
		}
		return found
	}
	for hardware, want := range map[string]string{
		"apple-m3-pro":              "apple-m3-pro is sold with 18 or 36 GB of memory, and this list assumes 36 GB; set memory_gb for another size",
		"M3+Pro":                    "apple-m3-pro is sold with 18 or 36 GB of memory, and this list assumes 36 GB; set memory_gb for another size",
		"apple-m3-pro&memory_gb=18": "",
		"M3+Pro+18GB":               "",
		"nvidia-rtx-4090":           "",
		"nvidia-rtx-4060-ti-8gb":    "",
	} {
		got := ""
		for _, n := range said("/api/v1/models?limit=1&fits=" + hardware) {
			got += n.Detail
		}
		if got != want {
			t.Errorf("fits=%s says %q, want %q", hardware, got, want)
		}
	}
	type piece struct {
		Slug     string    `json:"slug"`
		Sizes    []float64 `json:"memory_options_gb"`
		Chip     []string  `json:"chip"`
		Variants []string  `json:"variants"`
	}
	rowOf := func(raw json.RawMessage) (row piece) {
		if err := json.Unmarshal(raw, &row); err != nil {
			t.Fatal(err)
		}
		return row
	}
	sizes := map[string][]float64{} // of each piece itself
	for _, raw := range s.walk(t, "/api/v1/hardware?limit=200").records {
		row := rowOf(raw)
		sizes[row.Slug] = row.Sizes
	}
	// sold is how many sizes of memory a piece is sold with: its own, else those of its chips or variants.
	sold := func(row piece) int {
		all := map[float64]bool{}
		of := []string{row.Slug}
		if row.Sizes == nil {
			if of = row.Chip; of == nil {
				of = row.Variants
			}
		}
		for _, slug := range of {
			for _, gb := range sizes[slug] {
				all[gb] = true
			}
		}
		return len(all)
	}
	for _, query := range []string{"runs=qwen3-32b", "runs=qwen3-32b&vendor=apple", "runs=qwen3-32b&vendor=nvidia", "runs=qwen3-32b&max_price_usd=2000&min_tps=5"} {
		want, got := 0, 0
		for _, raw := range s.walk(t, "/api/v1/hardware?limit=200&"+query).records {
			if sold(rowOf(raw)) > 1 {
				want++
			}
		}
		for _, n := range said("/api/v1/hardware?limit=1&" + query) {
			got += *n.Count
		}
		if got != want {
			t.Errorf("%s says that %d rows count with one of several sizes of memory, want %d", query, got, want)
		}
	}
}

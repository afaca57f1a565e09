package fit

import (
	"slices"
	"testing"

	"modeldex/dataset"
)

// on is a measurement of the page of a source.
func on(page string, b dataset.Benchmark) dataset.Benchmark {
	url := dataset.URL("https://example.org/" + page)
	b.SourceURL = &url
	return b
}

// A card on a small board, three times slower than the same card elsewhere, is neither an answer nor what estimates rest on, also where no
// equal run shows it. Alone it is both.
func TestHeldBack(t *testing.T) {
	cards := []func(h *dataset.Hardware){called("fast", func(*dataset.Hardware) {}), called("alone", func(*dataset.Hardware) {})}
	slow := on("board", run("bm-slow", "fast", "cuda", 15))
	q8 := "Q8_0"
	other := on("desk-2", run("bm-q8", "fast", "cuda", 30))
	other.Quantization = &q8
	e := directory(cards, slow, other, on("desk", run("bm-desk", "fast", "cuda", 60)), on("board", run("bm-alone", "alone", "vulkan", 15)))
	var samples []dataset.Slug
	for _, s := range e.learnt.samples[NVIDIA] {
		samples = append(samples, s.id)
	}
	slices.Sort(samples)
	if want := []dataset.Slug{"bm-alone", "bm-desk", "bm-q8"}; !slices.Equal(samples, want) {
		t.Errorf("estimates rest on %v, want %v", samples, want)
	}
	if m := speedOn(t, e, "fast").Measured; m == nil || !slices.Equal(m.Runs, []dataset.Slug{"bm-desk"}) {
		t.Errorf("measured %+v, want bm-desk alone", m)
	}
	if m := speedOn(t, e, "alone").Measured; m == nil {
		t.Error("nothing measured on a card of which only a slow run is known")
	}
}

// The estimates for a Radeon RX 7900 XT were those of one on a Raspberry Pi, a third of what the card does, and an Arc A770 had none.
func TestShippedHeldBack(t *testing.T) {
	e := shippedEngine(t)
	for _, tt := range []struct {
		model, hardware dataset.Slug
		quantization    string
		least           float64
	}{
		{"qwen3-14b", "amd-rx-7900-xt", "Q4_K_M", 30},
		{"llama-3.1-8b-instruct", "intel-arc-a770", "Q4_K_M", 20},
		{"llama-3.1-8b", "nvidia-rtx-4080-super", "Q4_K_M", 80},
	} {
		a, fault := e.Fit(Query{Model: tt.model, Hardware: tt.hardware, Quantization: tt.quantization})
		if fault != nil {
			t.Fatal(fault)
		}
		if s := a.Sizes[0].Speed; s.TPS == nil || *s.TPS < tt.least {
			t.Errorf("%s on %s: %+v, want at least %v tokens per second", tt.model, tt.hardware, s, tt.least)
		}
	}
}

// The measured speed of a machine with graphics is not that of its processor, and not one with other kernels where there is one with
// those of the answer. What else was measured answers where nothing is known.
func TestMeasuredWhereTheAnswerIsFor(t *testing.T) {
	unified := func(h *dataset.Hardware) { h.Vendor, h.Type, h.UnifiedMemory = dataset.Apple, "soc", true }
	nameless := func(h *dataset.Hardware) { unified(h); h.MemoryBandwidthGBps = nil }
	with := func(tool dataset.Slug, b dataset.Benchmark) dataset.Benchmark { b.Tool = tool; return b }
	e := directory([]func(h *dataset.Hardware){called("mac", unified), called("mac-2", unified), called("mac-unknown", nameless)},
		run("bm-gpu", "mac", "metal", 50), run("bm-cpu", "mac", "cpu", 9), run("bm-silent", "mac", "", 48),
		with("transformers", run("bm-python", "mac", "metal", 12)),
		with("mlx-lm", run("bm-mlx-2", "mac-2", "metal", 60)),
		run("bm-cpu-3", "mac-unknown", "cpu", 9))
	for _, tt := range []struct {
		hardware dataset.Slug
		want     []dataset.Slug
	}{
		{"mac", []dataset.Slug{"bm-gpu", "bm-silent"}},
		{"mac-2", []dataset.Slug{"bm-mlx-2"}},       // nothing with the kernels of llama.cpp
		{"mac-unknown", []dataset.Slug{"bm-cpu-3"}}, // no bandwidth, no estimate
	} {
		s := speedOn(t, e, tt.hardware)
		if s.Measured == nil {
			t.Errorf("%s: nothing measured, want %v", tt.hardware, tt.want)
			continue
		}
		got := slices.Sorted(slices.Values(s.Measured.Runs))
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: measured by %v, want %v", tt.hardware, got, tt.want)
		}
		runs, fault := e.Models(Query{Hardware: tt.hardware}, 0)
		if fault != nil {
			t.Fatal(fault)
		}
		if b := runs.Found[0]; b.TPS == nil || *b.TPS != *s.TPS {
			t.Errorf("%s: the list has %v, the answer %v", tt.hardware, b.TPS, *s.TPS)
		}
	}
}

package fit

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"modeldex/dataset"
)

func seeded(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// on is a measurement of the page of a source.
func on(page string, b dataset.Benchmark) dataset.Benchmark {
	url := dataset.URL("https://example.org/" + page)
	b.SourceURL = &url
	return b
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
		runs, fault := e.Models(Query{Hardware: tt.hardware})
		if fault != nil {
			t.Fatal(fault)
		}
		if b := runs.Found[0]; b.TPS == nil || *b.TPS != *s.TPS {
			t.Errorf("%s: the list has %v, the answer %v", tt.hardware, b.TPS, *s.TPS)
		}
	}
}

// A page has cards on two boards: the slow row is neither an answer nor what estimates rest on.
func TestHeldBackOnOnePage(t *testing.T) {
	e := directory([]func(h *dataset.Hardware){called("card", func(*dataset.Hardware) {})},
		on("page", run("bm-board", "card", "cuda", 15)), on("page", run("bm-desk-1", "card", "cuda", 60)), on("page", run("bm-desk-2", "card", "cuda", 64)))
	if m := speedOn(t, e, "card").Measured; m == nil || !slices.Equal(slices.Sorted(slices.Values(m.Runs)), []dataset.Slug{"bm-desk-1", "bm-desk-2"}) {
		t.Errorf("measured %+v, want the two desks", m)
	}
}

// What another program reached is an answer where no estimate contradicts it: slower than its band it says more of the program than of the
// card, faster it is none for another engine.
func TestMeasuredWithOtherPrograms(t *testing.T) {
	with := func(tool dataset.Slug, b dataset.Benchmark) dataset.Benchmark {
		b.Tool, b.Concurrency = tool, num(1)
		return b
	}
	var cards []func(h *dataset.Hardware)
	var runs []dataset.Benchmark
	for _, slug := range []dataset.Slug{"slow", "near", "fast", "a", "b", "c", "d"} {
		cards = append(cards, called(slug, func(*dataset.Hardware) {}))
	}
	for i, slug := range []dataset.Slug{"a", "b", "c", "d"} {
		runs = append(runs, on(string(slug), run("bm-"+slug, slug, "cuda", 50+float64(i))))
	}
	e := directory(cards, append(runs,
		on("x", with("distributed-llama", run("bm-slow", "slow", "cuda", 10))), on("y", with("exllamav2", run("bm-near", "near", "cuda", 48))), on("z", with("exllamav3", run("bm-fast", "fast", "cuda", 90))))...)
	for _, tt := range []struct {
		hardware dataset.Slug
		rules    Rules
		want     string
	}{
		{"slow", LlamaCpp, UseEstimate}, {"near", LlamaCpp, UseMeasured}, {"fast", LlamaCpp, UseMeasured},
	} {
		q := Query{Model: "llama", Hardware: tt.hardware, Rules: tt.rules}
		a, fault := e.Fit(q)
		if fault != nil {
			t.Fatal(fault)
		}
		s := a.Sizes[0].Speed
		if s.Use == nil || *s.Use != tt.want || (s.Measured != nil) != (tt.want == UseMeasured) {
			t.Errorf("%s: %+v, want %s", tt.hardware, s, tt.want)
			continue
		}
		for _, first := range []Preference{"", PreferMeasured} {
			q.Prefer = first
			list, fault := e.Models(q)
			if fault != nil {
				t.Fatal(fault)
			}
			if b := list.Found[0]; b.Use == nil || *b.Use != tt.want || *b.TPS != *s.TPS {
				t.Errorf("%s, prefer %q: the list has %v, want %s", tt.hardware, first, b.Use, tt.want)
			}
		}
	}
}

// The runs of another program made a card of 2020 four times as slow as it is, and models of one shape differed by two fifths.
func TestShippedAnswers(t *testing.T) {
	e := shippedEngine(t)
	tps := func(model, hardware dataset.Slug, quantization string) float64 {
		a, fault := e.Fit(Query{Model: model, Hardware: hardware, Quantization: quantization})
		if fault != nil || a.Sizes[0].Speed.TPS == nil {
			t.Fatalf("%s on %s: %v, no speed", model, hardware, fault)
		}
		return *a.Sizes[0].Speed.TPS
	}
	if got := tps("llama-3.1-8b-instruct", "nvidia-rtx-3060-ti", "Q4_0"); got < 45 {
		t.Errorf("an RTX 3060 Ti has %v tokens per second, want the 448 GB/s of its memory to count", got)
	}
	if got := tps("qwen3-32b", "amd-rx-7900-xtx", "Q4_K_M"); got < 18 || got > 45 {
		t.Errorf("an RX 7900 XTX has %v tokens per second with 32 billion parameters", got)
	}
	thinking, coder := tps("qwen3-30b-a3b-thinking-2507", "nvidia-rtx-3090", "Q4_K_M"), tps("qwen3-coder-30b-a3b-instruct", "nvidia-rtx-3090", "Q4_K_M")
	if coder > 1.25*thinking || thinking > 1.25*coder {
		t.Errorf("two models of one shape have %v and %v tokens per second", thinking, coder)
	}
}

// Weights that were trained in four bits are named as they were released: other files have the same weights under names that promise more or
// fewer bits. A model of their shape without a file of 16 bits counts as one, too.
func TestShippedFourBits(t *testing.T) {
	e := shippedEngine(t)
	for _, hardware := range []dataset.Slug{"nvidia-rtx-3060", "amd-ryzen-ai-max-395", "nvidia-rtx-4090"} {
		runs, fault := e.Models(Query{Hardware: hardware, Prefer: PreferMeasured})
		if fault != nil {
			t.Fatal(fault)
		}
		for _, b := range runs.Found {
			if m := e.models[b.Model]; m.fourBits && b.Quantization != "MXFP4" && b.Verdict == Fits {
				t.Errorf("%s on %s: %s, want MXFP4", b.Model, hardware, b.Quantization)
			}
		}
	}
	if m := e.models["gpt-oss-safeguard-120b"]; !m.fourBits {
		t.Error("a model of the shape of gpt-oss-120b does not count as trained in four bits")
	}
}

// A model whose type is not published has a speed as a dense one, which its assumptions say; a very large one has none.
func TestSpeedOfUnknownType(t *testing.T) {
	e := shippedEngine(t)
	for _, slug := range e.bySlug {
		m := e.models[slug]
		if m.Architecture.Type != nil || m.ParamsB == nil || m.mixture() || len(m.Quantizations) == 0 {
			continue
		}
		a, fault := e.Fit(Query{Model: slug, Hardware: "nvidia-b200"})
		if fault != nil {
			t.Fatal(fault)
		}
		estimate := a.Sizes[0].Speed.Estimate
		if dense := *m.ParamsB < mostDense; dense != (estimate != nil) {
			t.Errorf("%s with %v billion parameters: estimate %v", slug, *m.ParamsB, estimate)
		} else if dense && !slices.Contains(estimate.Assumes, "the model is dense; its type is not published") {
			t.Errorf("%s: assumes %q", slug, estimate.Assumes)
		}
	}
}

package fit

import (
	"slices"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/pack"
	"modeldex/dataset/record"
)

// directory is an engine of several pieces of hardware, each a card with a change.
func directory(hardware []func(h *dataset.Hardware), rows ...dataset.Benchmark) *Engine {
	set := &dataset.Set{Models: []dataset.Model{llama(func(*dataset.Model) {})}, Benchmarks: pack.New(rows)}
	for _, change := range hardware {
		set.Hardware = append(set.Hardware, card(change))
	}
	return New(set)
}

func called(slug dataset.Slug, change func(h *dataset.Hardware)) func(h *dataset.Hardware) {
	return func(h *dataset.Hardware) {
		h.Slug = slug
		change(h)
	}
}

// run is a measurement on a piece of hardware with a backend, of one stream.
func run(id, hardware dataset.Slug, backend string, tps float64) dataset.Benchmark {
	return bench(func(b *dataset.Benchmark) {
		b.ID, b.Hardware, b.GenerationTPS = id, hardware, &tps
		b.Backend = &backend
		if backend == "" {
			b.Backend = nil
		}
	})
}

func speedOn(t *testing.T, e *Engine, hardware dataset.Slug) *Speed {
	t.Helper()
	a, fault := e.Fit(Query{Model: "llama", Hardware: hardware})
	if fault != nil {
		t.Fatal(fault)
	}
	return a.Sizes[0].Speed
}

// TestBackendOf: an estimate is for the backend that people use on the hardware, measured or not.
func TestBackendOf(t *testing.T) {
	amd := func(h *dataset.Hardware) { h.Vendor = record.AMD }
	nvidia := func(*dataset.Hardware) {}
	unified := func(maker dataset.Vendor) func(h *dataset.Hardware) {
		return func(h *dataset.Hardware) { h.Vendor, h.Type, h.UnifiedMemory = maker, "soc", true }
	}
	e := directory([]func(h *dataset.Hardware){
		called("green", nvidia), called("green-new", nvidia), called("green-compared", nvidia), called("green-silent", nvidia),
		called("red", amd), called("red-2", amd), called("red-pro", amd), called("red-new", amd), called("red-in-a-mac", amd), called("red-inside", unified(record.AMD)),
		called("apple", unified(dataset.Apple)), called("apple-new", unified(dataset.Apple)), called("apple-slow", unified(dataset.Apple)),
		called("board", unified("broadcom")), called("processor", func(h *dataset.Hardware) { h.Type = "cpu" }),
		called("red-old", func(h *dataset.Hardware) { h.Vendor, h.Backends = record.AMD, []string{"rocm", "opencl"} }),
		called("tensor", func(h *dataset.Hardware) { h.Vendor = "google" }),
	},
		run("bm-g1", "green", "cuda", 60), run("bm-g2", "green", "", 55), run("bm-g3", "green", "", 56), run("bm-g4", "green", "vulkan", 50),
		run("bm-g5", "green-compared", "vulkan", 50), run("bm-g6", "green-silent", "", 50),
		run("bm-r1", "red", "vulkan", 60), run("bm-r2", "red-2", "vulkan", 60), run("bm-r3", "red-in-a-mac", "metal", 40),
		run("bm-r4", "red-pro", "rocm", 50), run("bm-r5", "red-pro", "rocm", 51), run("bm-r6", "red-pro", "rocm", 52),
		run("bm-a1", "apple", "metal", 60), run("bm-a2", "apple-slow", "cpu", 10), run("bm-a3", "apple-slow", "cpu", 11), run("bm-a4", "apple-slow", "metal", 40),
		run("bm-p1", "processor", "cpu", 10),
	)
	for _, tt := range []struct {
		hardware dataset.Slug
		want     string
	}{
		{"green", "cuda"},        // more of its runs do not name their backend
		{"green-new", "cuda"},    // never measured
		{"green-silent", "cuda"}, // no run names its backend
		{"green-compared", "cuda"},
		{"red-pro", "rocm"},
		{"red-new", "vulkan"}, // of most silicon, not of most runs
		{"red-old", "rocm"},   // the usual one is not of its record
		{"red-in-a-mac", "vulkan"},
		{"red-inside", "vulkan"}, // nothing of its class was measured
		{"apple-new", "metal"},
		{"apple-slow", "metal"}, // not what its processor did
		{"board", "cpu"},
		{"processor", "cpu"},
		{"tensor", ""}, // its memory is not that of a processor
	} {
		if got := e.backendOf(e.hardware[tt.hardware].Hardware, "llama.cpp"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.hardware, got, tt.want)
		}
	}
}

// TestShippedBackends: no estimate is for a backend that the hardware does not have.
func TestShippedBackends(t *testing.T) {
	e := shippedEngine(t)
	discrete := map[dataset.Vendor][]string{dataset.Nvidia: {"cuda"}, record.AMD: {"rocm", "vulkan"}, record.Intel: {"sycl", "vulkan"}}
	for _, slug := range e.hwBySlug {
		h := e.hardware[slug].Hardware
		want := discrete[h.Vendor]
		switch {
		case h.Type == "cpu", slices.Equal(h.Backends, []string{"cpu"}):
			want = []string{"cpu"}
		case h.Vendor == dataset.Apple:
			want = []string{"metal"}
		case h.UnifiedMemory && want == nil:
			want = []string{"cpu", "opencl", "hexagon"}
		case want == nil:
			want = []string{""}
		}
		if got := e.backendOf(h, "llama.cpp"); !slices.Contains(want, got) {
			t.Errorf("%s: llama.cpp is estimated with %q, want one of %q", slug, got, want)
		}
	}
}

// TestMeasuredAtTheSameBandwidth: a variant with other memory is another machine, and a machine that is built of a chip is the same.
func TestMeasuredAtTheSameBandwidth(t *testing.T) {
	chip := func(gbps float64) func(h *dataset.Hardware) {
		return func(h *dataset.Hardware) {
			h.Vendor, h.Type, h.UnifiedMemory, h.MemoryBandwidthGBps = dataset.Apple, "soc", true, &gbps
		}
	}
	machine := func(chips ...dataset.Slug) func(h *dataset.Hardware) {
		return func(h *dataset.Hardware) {
			h.Vendor, h.Type, h.UnifiedMemory, h.MemoryBandwidthGBps, h.Chip = dataset.Apple, "desktop", true, nil, &chips
		}
	}
	family := func(h *dataset.Hardware) {
		chip(400)(h)
		h.MemoryBandwidthGBps, h.Variants = nil, &[]dataset.Slug{"chip-slow", "chip-fast"}
	}
	e := directory([]func(h *dataset.Hardware){
		called("chip", family), called("chip-slow", chip(300)), called("chip-fast", chip(400)),
		called("mac", machine("chip-fast")), called("mac-of-either", machine("chip-slow", "chip-fast")),
	}, run("bm-slow", "chip-slow", "metal", 40), run("bm-fast", "chip-fast", "metal", 60))
	for _, tt := range []struct {
		hardware dataset.Slug
		want     []dataset.Slug
	}{
		{"chip-slow", []dataset.Slug{"bm-slow"}},
		{"chip-fast", []dataset.Slug{"bm-fast"}},
		{"chip", []dataset.Slug{"bm-fast"}}, // of a record of variants the highest counts
		{"mac", []dataset.Slug{"bm-fast"}},
		{"mac-of-either", nil}, // which of both it is was not said
	} {
		var got []dataset.Slug
		if m := speedOn(t, e, tt.hardware).Measured; m != nil {
			got = m.Runs
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: measured by %v, want %v", tt.hardware, got, tt.want)
		}
	}
	if mac, fast := speedOn(t, e, "mac"), speedOn(t, e, "chip-fast"); mac.Estimate == nil || fast.Estimate == nil || mac.Estimate.Median != fast.Estimate.Median {
		t.Errorf("the estimate for a machine is %+v, for its chip %+v: want the same", mac.Estimate, fast.Estimate)
	}
}

// The runs of an H100 with slower memory were given as measured on the one with faster memory, and none as measured on a DGX Spark, which
// is a GB10.
func TestShippedMeasured(t *testing.T) {
	e := shippedEngine(t)
	speed := func(model, hardware dataset.Slug, quantization string) *Speed {
		a, fault := e.Fit(Query{Model: model, Hardware: hardware, Quantization: quantization})
		if fault != nil {
			t.Fatal(fault)
		}
		return a.Sizes[0].Speed
	}
	if m := speed("llama-2-13b", "nvidia-h100-sxm5-80gb", "F16").Measured; m != nil {
		t.Errorf("measured %+v on an H100 SXM, want nothing: the runs are of an H100 PCIe", m)
	}
	if m := speed("llama-2-13b", "nvidia-h100-pcie-80gb", "F16").Measured; m == nil {
		t.Error("nothing measured on an H100 PCIe")
	}
	chip, machine := speed("gpt-oss-120b", "nvidia-gb10", "MXFP4"), speed("gpt-oss-120b", "nvidia-dgx-spark", "MXFP4")
	if chip.Measured == nil || machine.Measured == nil || machine.Measured.Median != chip.Measured.Median {
		t.Errorf("measured %+v on a DGX Spark and %+v on its chip, want the same", machine.Measured, chip.Measured)
	}
}

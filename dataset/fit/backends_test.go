package fit

import (
	"slices"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// directory is an engine of several pieces of hardware, each a card with a change.
func directory(hardware []func(h *dataset.Hardware), rows ...dataset.Benchmark) *Engine {
	set := &dataset.Set{Models: []dataset.Model{llama(func(*dataset.Model) {})}, Benchmarks: dataset.Pointers(rows)}
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

// TestBackendOf: an estimate is for the backend that people use on the hardware, of those that its record names.
func TestBackendOf(t *testing.T) {
	unified := func(h *dataset.Hardware) { h.Type, h.UnifiedMemory = "soc", true }
	for _, tt := range []struct {
		vendor   dataset.Vendor
		tool     dataset.Slug
		backends []string
		change   func(h *dataset.Hardware)
		want     string
	}{
		{dataset.Nvidia, "llama.cpp", []string{"vulkan", "cuda"}, nil, "cuda"},
		{dataset.Nvidia, "vllm", nil, nil, "cuda"},
		{record.AMD, "llama.cpp", nil, nil, "vulkan"},
		{record.AMD, "ollama", []string{"rocm", "opencl"}, nil, "rocm"},
		{record.AMD, "vllm", nil, nil, "rocm"},
		{record.AMD, "llama.cpp", nil, unified, "vulkan"},
		{record.AMD, "llama.cpp", []string{"cpu"}, unified, "cpu"},
		{record.Intel, "llama.cpp", []string{"sycl"}, nil, "sycl"},
		{record.Intel, "vllm", nil, nil, "xpu"},
		{dataset.Apple, "llama.cpp", nil, unified, "metal"},
		{dataset.Apple, "mlx-lm", nil, unified, "mlx"},
		{"qualcomm", "llama.cpp", []string{"cpu", "opencl"}, unified, "opencl"},
		{"broadcom", "llama.cpp", nil, unified, "cpu"},
		{record.AMD, "llama.cpp", nil, func(h *dataset.Hardware) { h.Type = "cpu" }, "cpu"},
		{"google", "llama.cpp", nil, nil, ""}, // its memory is not that of a processor
	} {
		h := card(func(h *dataset.Hardware) {
			h.Vendor, h.Backends = tt.vendor, tt.backends
			if tt.change != nil {
				tt.change(h)
			}
		})
		if got := backendOf(&h, tt.tool); got != tt.want {
			t.Errorf("%s %s of %v: %q, want %q", tt.tool, tt.vendor, tt.backends, got, tt.want)
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
		if got := backendOf(h, "llama.cpp"); !slices.Contains(want, got) {
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

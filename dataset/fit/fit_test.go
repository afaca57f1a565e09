package fit

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/record"

	gocmp "github.com/google/go-cmp/cmp"
)

func num(v int64) *int64     { return &v }
func dec(v float64) *float64 { return &v }

// llama is a dense model of 8 billion parameters with one size of 4 GiB.
func llama(change func(m *dataset.Model)) dataset.Model {
	kind, attention, tied := record.ModelType("dense"), "gqa", true
	m := dataset.Model{
		ModelFacts: dataset.ModelFacts{
			Slug: "llama", Name: "Llama", ParamsB: dec(8),
			Architecture: dataset.Architecture{Type: &kind, NumLayers: num(32), HiddenSize: num(4096), IntermediateSize: num(14336), VocabSize: num(128256), ContextLength: num(131072), NumAttentionHeads: num(32), TieWordEmbeddings: &tied},
			KVCache:      dataset.KVCache{Attention: &attention, NumKVHeads: num(8), HeadDim: num(128), NumKVLayers: num(32)},
		},
		Quantizations: []dataset.Quantization{{Name: "Q4_K_M", Format: "gguf", SizeBytes: 4 * gib, Basis: dataset.Published}},
	}
	change(&m)
	return m
}

func card(change func(h *dataset.Hardware)) dataset.Hardware {
	h := dataset.Hardware{Slug: "card", Name: "Card", Vendor: dataset.Nvidia, Type: "gpu", VRAMGB: dec(8), MemoryBandwidthGBps: dec(400)}
	change(&h)
	return h
}

func engineOf(model func(m *dataset.Model), hardware func(h *dataset.Hardware), rows ...dataset.Benchmark) *Engine {
	return New(&dataset.Set{
		Models: []dataset.Model{llama(model)}, Hardware: []dataset.Hardware{card(hardware)}, Benchmarks: dataset.Pointers(rows),
	})
}

func TestVerdicts(t *testing.T) {
	same := func(*dataset.Model) {}
	gb := func(gb float64) func(h *dataset.Hardware) { return func(h *dataset.Hardware) { h.VRAMGB = &gb } }
	unified := func(gb float64) func(h *dataset.Hardware) {
		return func(h *dataset.Hardware) { h.VRAMGB, h.UnifiedMemory, h.Vendor = &gb, true, dataset.Apple }
	}
	// The model takes 4 GiB of weights, 1 GiB of cache at 8,192 tokens, 258.5 MiB of buffer and 1
	// GiB of reserve.
	for _, c := range []struct {
		name     string
		model    func(m *dataset.Model)
		hardware func(h *dataset.Hardware)
		query    Query
		want     Verdict
		missing  string
	}{
		{"room for all", same, gb(8), Query{}, Fits, ""},
		{"room without the reserve", same, gb(6), Query{}, Tight, ""},
		{"room for the cache only", same, gb(5), Query{}, Offload, "system_memory_gb"},
		{"enough main memory", same, gb(5), Query{SystemMemoryGB: 32}, Offload, ""},
		{"too little main memory", same, gb(5), Query{SystemMemoryGB: 1}, No, ""},
		{"no room for the cache", same, gb(2), Query{Context: 131072, SystemMemoryGB: 16}, No, ""},
		{"another program cannot offload", same, gb(5), Query{Rules: VLLM}, No, ""},
		{"two thirds of unified memory", same, unified(9), Query{}, Tight, ""},
		{"all of unified memory", same, unified(9), Query{UnifiedShare: 1}, Fits, ""},
		{"unified memory has nowhere to offload to", same, unified(6), Query{}, No, ""},
		{"a smaller cache", same, gb(6), Query{KV: Q40}, Fits, ""},
		{"two cards, each with buffer and reserve", same, gb(4), Query{Count: 2}, Fits, ""},
		{"no memory size", same, func(h *dataset.Hardware) { h.VRAMGB = nil }, Query{}, Unknown, "hardware.vram_gb"},
		{"no cache facts", func(m *dataset.Model) { m.KVCache = dataset.KVCache{} }, gb(80), Query{}, Fits, "kv_cache.num_kv_heads"},
		{"no cache facts that may decide", func(m *dataset.Model) { m.KVCache = dataset.KVCache{} }, gb(8), Query{Rules: MLX}, Unknown, "kv_cache.num_kv_heads"},
		{"no layers of a hybrid", func(m *dataset.Model) {
			kind := record.ModelType("hybrid")
			m.Architecture.Type, m.KVCache.NumKVLayers = &kind, nil
		}, gb(80), Query{}, Fits, "kv_cache.num_kv_layers"},
		{"weights that are too large whatever the cache takes", func(m *dataset.Model) { m.KVCache = dataset.KVCache{} }, gb(3), Query{SystemMemoryGB: 1}, No, "kv_cache.num_kv_heads"},
		{"an upper bound that fits", func(m *dataset.Model) { m.Architecture.SlidingWindow = num(1024) }, gb(8), Query{}, Fits, "kv_cache.num_sliding_window_layers"},
		{"an upper bound that does not", func(m *dataset.Model) { m.Architecture.SlidingWindow = num(1024) }, gb(5), Query{Rules: MLX}, Unknown, "kv_cache.num_sliding_window_layers"},
		{"a compressed cache that is not known", func(m *dataset.Model) { yes := true; m.KVCache.CompressedKV = &yes }, gb(5), Query{Rules: MLX}, Unknown, "kv_cache.compressed_kv"},
		{"a buffer that is not known", func(m *dataset.Model) { m.Architecture.VocabSize = nil }, gb(6), Query{}, Tight, "architecture.vocab_size"},
		{"room for any buffer", func(m *dataset.Model) { m.Architecture.VocabSize = nil }, gb(8), Query{}, Fits, "architecture.vocab_size"},
		{"a reserve that the buffer may need", func(m *dataset.Model) { m.Architecture.VocabSize = nil }, gb(6.2), Query{}, Tight, "architecture.vocab_size"},
		{"a buffer that may not fit", func(m *dataset.Model) { m.Architecture.VocabSize = nil }, gb(5.3), Query{Rules: MLX}, Unknown, "architecture.vocab_size"},
		{"a buffer that may not fit, unless layers are in main memory", func(m *dataset.Model) { m.Architecture.VocabSize = nil }, gb(5.3), Query{}, Offload, "architecture.vocab_size"},
	} {
		q := c.query
		q.Model, q.Hardware = "llama", "card"
		a, fault := engineOf(c.model, c.hardware).Fit(q)
		if fault != nil {
			t.Errorf("%s: %v", c.name, fault)
			continue
		}
		if a.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %+v", c.name, a.Verdict, c.want, a.Sizes[0].Memory)
		}
		missing := slices.Concat(a.Missing, a.Sizes[0].Missing)
		if c.missing == "" && len(missing) > 0 || c.missing != "" && !slices.Contains(missing, c.missing) {
			t.Errorf("%s: missing %v, want %q", c.name, missing, c.missing)
		}
		if buffer := a.Sizes[0].Memory.Compute; (buffer.Basis == LowerBound) != slices.Contains(missing, "architecture.vocab_size") {
			t.Errorf("%s: a buffer with the basis %s, missing %v", c.name, buffer.Basis, missing)
		}
		if (a.Available == nil) != (c.missing == "hardware.vram_gb") || a.Available == nil && a.Sizes[0].Headroom != nil {
			t.Errorf("%s: available %v, headroom %v", c.name, a.Available, a.Sizes[0].Headroom)
		}
		if s := a.Sizes[0].Speed; (c.want == Offload || c.want == No) && s.Estimate != nil {
			t.Errorf("%s: an estimate for weights in other memory", c.name)
		}
	}
}

func TestFaults(t *testing.T) {
	e := engineOf(func(*dataset.Model) {}, func(*dataset.Hardware) {})
	for _, c := range []struct {
		query Query
		field string
	}{
		{Query{Model: "none", Hardware: "card"}, "model"},
		{Query{Model: "llama", Hardware: "none"}, "hardware"},
		{Query{Model: "llama"}, "hardware"},
		{Query{Model: "llama", Hardware: "card", Count: 9}, "count"},
		{Query{Model: "llama", Hardware: "card", Context: 131073}, "context"},
		{Query{Model: "llama", Hardware: "card", Context: MaxContext + 1, AllowExtended: true}, "context"},
		{Query{Model: "llama", Hardware: "card", Quantization: "Q9"}, "quantization"},
		{Query{Model: "llama", Hardware: "card", Rules: VLLM, KV: Q80}, "kv"},
		{Query{Model: "llama", Hardware: "card", UnifiedShare: 2}, "unified_share"},
		{Query{Model: "llama", Hardware: "card", UnifiedShare: -0.1}, "unified_share"},
		{Query{Model: "llama", Hardware: "card", MemoryGB: -1}, "memory_gb"},
		{Query{Model: "llama", Hardware: "card", BandwidthGBps: -1}, "memory_gb"},
		{Query{Model: "llama", Hardware: "card", SystemMemoryGB: -1}, "memory_gb"},
		{Query{Model: "llama", Hardware: "card", Count: -1}, "count"},
		{Query{Model: "llama", Hardware: "card", Context: -1}, "context"},
	} {
		if _, fault := e.Fit(c.query); fault == nil || fault.Field != c.field {
			t.Errorf("Fit(%+v) = %v, want a fault of %s", c.query, fault, c.field)
		}
	}
	if a, fault := e.Fit(Query{Model: "llama", Hardware: "card", Context: 131073, AllowExtended: true}); fault != nil || a.Context != 131073 {
		t.Errorf("an extended context: %v", fault)
	}
}

// The longest context fits, and the next step does not.
func TestMaxContext(t *testing.T) {
	e := shippedEngine(t)
	for _, model := range []dataset.Slug{"llama-3.1-8b", "gemma-3-4b-it", "deepseek-v3"} {
		for _, gb := range []float64{6, 12, 24, 80, 640} {
			q := Query{Model: model, MemoryGB: gb}
			a, fault := e.Fit(q)
			if fault != nil {
				t.Fatal(fault)
			}
			for _, s := range a.Sizes {
				most := s.MaxContext.F16
				if most == nil {
					t.Fatalf("%s %s: no longest context", model, s.Quantization)
				}
				for _, step := range []int64{0, LlamaPad} {
					at := q
					at.Quantization, at.Context = s.Quantization, *most+step
					if at.Context == 0 || at.Context > e.models[model].limit {
						continue
					}
					b, fault := e.Fit(at)
					if fault != nil {
						t.Fatal(fault)
					}
					if fits := b.Verdict == Fits; fits != (step == 0) {
						t.Errorf("%s %s in %v GB at %d tokens: %s, longest %d", model, s.Quantization, gb, at.Context, b.Verdict, *most)
					}
				}
			}
		}
	}
}

func bench(change func(b *dataset.Benchmark)) dataset.Benchmark {
	quant, tps, page := "Q4_K_M", 60.0, dataset.URL("https://example.com/a")
	b := dataset.Benchmark{
		ID: "bm-1", Model: "llama", Hardware: "card", HardwareCount: 1, Tool: "llama.cpp", Quantization: &quant,
		GenerationTPS: &tps, SourceURL: &page, NPrompt: num(512), NGen: num(128),
	}
	change(&b)
	return b
}

func TestEvidenceOutranksFormula(t *testing.T) {
	proof := bench(func(b *dataset.Benchmark) { b.NGPULayers, b.MemoryGB = num(99), dec(4.2) })
	e := engineOf(func(*dataset.Model) {}, func(h *dataset.Hardware) { h.VRAMGB = dec(4.2) }, proof)
	ask := func(context int64) Size {
		a, fault := e.Fit(Query{Model: "llama", Hardware: "card", Context: context})
		if fault != nil {
			t.Fatal(fault)
		}
		return a.Sizes[0]
	}
	if s := ask(640); s.Verdict != Fits || len(s.Evidence) != 1 || s.Evidence[0].ID != "bm-1" {
		t.Errorf("a resident run in less memory: %s, evidence %v", s.Verdict, s.Evidence)
	}
	if s := ask(641); s.Verdict == Fits {
		t.Error("a run with a shorter cache proves nothing for a longer one")
	}
}

// A measurement is of a card as it is sold, so it says nothing of one with another bandwidth.
func TestOtherBandwidth(t *testing.T) {
	e := shippedEngine(t)
	speed := func(gbps float64) *Speed {
		a, fault := e.Fit(Query{Model: "gpt-oss-20b", Hardware: "nvidia-rtx-4090", Quantization: "MXFP4", BandwidthGBps: gbps})
		if fault != nil || len(a.Sizes) != 1 || a.Sizes[0].Speed.TPS == nil {
			t.Fatalf("bandwidth %v: %v, %+v", gbps, fault, a)
		}
		return a.Sizes[0].Speed
	}
	own := speed(0)
	if *own.Use != UseMeasured || *speed(1008).TPS != *own.TPS {
		t.Errorf("the bandwidth of the record gives %v (%s), without it %v (%s), want one measured speed", *speed(1008).TPS, *speed(1008).Use, *own.TPS, *own.Use)
	}
	if half := speed(504); *half.Use != UseEstimate || half.Measured != nil || *half.TPS > 0.75**own.TPS {
		t.Errorf("half of the bandwidth gives %v (%s), want an estimate below three quarters of %v", *half.TPS, *half.Use, *own.TPS)
	}
	a, fault := e.Fit(Query{Model: "gpt-oss-20b", Hardware: "nvidia-rtx-4090", Quantization: "MXFP4", BandwidthGBps: 0.001})
	if fault != nil || a.Sizes[0].Speed.TPS != nil {
		t.Errorf("a millionth of it gives %+v, %v, want no speed: it would be rounded to 0", a.Sizes[0].Speed, fault)
	}
}

func TestMeasuredFirst(t *testing.T) {
	e := engineOf(func(*dataset.Model) {}, func(*dataset.Hardware) {},
		bench(func(b *dataset.Benchmark) {}),
		bench(func(b *dataset.Benchmark) { b.ID, b.GenerationTPS = "bm-2", dec(70) }),
		bench(func(b *dataset.Benchmark) { b.ID, b.Concurrency, b.GenerationTPS = "bm-3", num(8), dec(300) }),
		bench(func(b *dataset.Benchmark) { b.ID, b.Quantization = "bm-4", new(string) }),
	)
	a, fault := e.Fit(Query{Model: "llama", Hardware: "card"})
	if fault != nil {
		t.Fatal(fault)
	}
	s := a.Sizes[0].Speed
	if s.Measured == nil || s.Measured.N != 2 || s.Measured.Pages != 1 || s.Measured.Median != 65 || s.Measured.P10 != 61 || s.Measured.P90 != 69 {
		t.Fatalf("measured %+v, want two runs around 65", s.Measured)
	}
	if !slices.Equal(s.Measured.Runs, []dataset.Slug{"bm-1", "bm-2"}) {
		t.Errorf("runs %v, want those of one stream and this size", s.Measured.Runs)
	}
	if s.Use == nil || *s.Use != UseMeasured || *s.TPS != 65 {
		t.Errorf("use %v %v, want the measurement", s.Use, s.TPS)
	}
}

func TestNothingNearNoEstimate(t *testing.T) {
	a, fault := engineOf(func(*dataset.Model) {}, func(*dataset.Hardware) {}).Fit(Query{Model: "llama", Hardware: "card"})
	if fault != nil {
		t.Fatal(fault)
	}
	if s := a.Sizes[0].Speed; s.Estimate != nil || s.Use != nil || s.TPS != nil {
		t.Errorf("an estimate from no measurement: %+v", s)
	}
}

func TestCosts(t *testing.T) {
	date := dataset.Date("2026-01-01")
	hw := func(h *dataset.Hardware) {
		h.TDPWatts, h.StreetPriceUSD, h.StreetPriceDate = dec(250), dec(1000), &date
	}
	e := engineOf(func(*dataset.Model) {}, hw, bench(func(b *dataset.Benchmark) { b.GenerationTPS = dec(100) }))
	ask := func(c Costs) *Cost {
		c.Today = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		a, fault := e.Fit(Query{Model: "llama", Hardware: "card", Costs: c})
		if fault != nil {
			t.Fatal(fault)
		}
		return a.Sizes[0].Cost
	}
	// A million tokens at 100 a second take 2.778 hours; 250 W x 0.8 are 0.556 kWh; the price over
	// 2 years of 10 hours a day is 0.1369 dollars per hour.
	c := ask(Costs{USDPerKWh: dec(0.3), HoursPerDay: dec(10), Years: dec(2)})
	if c.KWhPerMTok == nil || *c.KWhPerMTok != 0.556 || *c.PowerBasis != "tdp_x_0.8" || c.USDPerMTok == nil || *c.USDPerMTok != 0.547 || len(c.Notices) != 1 {
		t.Errorf("bought: %+v", c)
	}
	if c := ask(Costs{USDPerHour: dec(0.36)}); *c.USDPerMTok != 1 || *c.PriceBasis != "rented" {
		t.Errorf("rented: %+v", c)
	}
	if c := ask(Costs{USDPerKWh: dec(0.3)}); c.USDPerMTok != nil || len(c.Reasons) == 0 {
		t.Errorf("without hours: %+v, want null with a reason", c)
	}
}

// Power of the device and of the machine at the wall are not mixed: the device counts where a run says it.
func TestPowerIsNotMixed(t *testing.T) {
	run := func(id dataset.Slug, watts float64, basis *dataset.PowerBasis) dataset.Benchmark {
		return bench(func(b *dataset.Benchmark) { b.ID, b.PowerWatts, b.PowerBasis = id, &watts, basis })
	}
	device, wall := record.PowerDevice, record.PowerWall
	for _, tt := range []struct {
		name    string
		runs    []dataset.Benchmark
		want    float64
		notices int
	}{
		{"both", []dataset.Benchmark{run("bm-1", 100, &device), run("bm-2", 400, &wall), run("bm-3", 500, nil), run("bm-4", 120, &device)}, 110, 0},
		{"wall", []dataset.Benchmark{run("bm-1", 400, &wall), run("bm-2", 100, nil)}, 400, 1},
		{"neither", []dataset.Benchmark{run("bm-1", 300, nil)}, 300, 1},
	} {
		e := engineOf(func(*dataset.Model) {}, func(h *dataset.Hardware) { h.TDPWatts = dec(250) }, tt.runs...)
		a, fault := e.Fit(Query{Model: "llama", Hardware: "card", Costs: Costs{USDPerKWh: dec(0.3)}})
		if fault != nil {
			t.Fatal(fault)
		}
		c := a.Sizes[0].Cost
		if c.Watts == nil || *c.Watts != tt.want || *c.PowerBasis != "measured" || len(c.Notices) != tt.notices {
			t.Errorf("%s: %+v, want %v W and %d notices", tt.name, c, tt.want, tt.notices)
		}
	}
}

// The power of another part of the machine than that whose speed is used does not count.
func TestPowerIsOfTheSameWork(t *testing.T) {
	device, npu, gpu := record.PowerDevice, dataset.ComputeUnit("npu"), dataset.ComputeUnit("gpu")
	run := func(id dataset.Slug, unit *dataset.ComputeUnit, watts *float64) dataset.Benchmark {
		return bench(func(b *dataset.Benchmark) {
			b.ID, b.ComputeUnit, b.PowerWatts = id, unit, watts
			if watts != nil {
				b.PowerBasis = &device
			}
		})
	}
	for _, tt := range []struct {
		name string
		runs []dataset.Benchmark
		want float64
	}{
		{"a neural engine beside the graphics", []dataset.Benchmark{run("bm-1", &gpu, nil), run("bm-2", &npu, dec(4))}, 200},
		{"both", []dataset.Benchmark{run("bm-1", &gpu, dec(50)), run("bm-2", &npu, dec(4))}, 50},
	} {
		e := engineOf(func(*dataset.Model) {}, func(h *dataset.Hardware) { h.TDPWatts = dec(250) }, tt.runs...)
		a, fault := e.Fit(Query{Model: "llama", Hardware: "card", Costs: Costs{USDPerKWh: dec(0.3)}})
		if fault != nil {
			t.Fatal(fault)
		}
		if c := a.Sizes[0].Cost; c.Watts == nil || *c.Watts != tt.want {
			t.Errorf("%s: %v W, want %v", tt.name, *cmp.Or(c.Watts, new(float64)), tt.want)
		}
	}
}

// Equal datasets give equal answers, made from many goroutines.
func TestSameAnswers(t *testing.T) {
	set := shippedSet(t)
	a, b := shippedEngine(t), New(set)
	for _, h := range []dataset.Slug{"nvidia-rtx-4090", "apple-m4-max-40gpu", "amd-ryzen-ai-max-395"} {
		done := make(chan *Answer)
		for _, e := range []*Engine{a, b} {
			go func() {
				answer, _ := e.Fit(Query{Model: "llama-3.1-8b", Hardware: h})
				done <- answer
			}()
		}
		if diff := gocmp.Diff(<-done, <-done, gocmp.AllowUnexported(OnDevice{})); diff != "" {
			t.Errorf("%s: two engines differ:\n%s", h, diff)
		}
	}
}

// Lists agree with single answers.
func TestListsAgreeWithAnswers(t *testing.T) {
	e := shippedEngine(t)
	q := Query{Hardware: "nvidia-rtx-3060", Context: 16384, MinTPS: 20}
	best, fault := e.Models(q)
	if fault != nil || len(best.Found) < 50 {
		t.Fatalf("%d models, %v", len(best.Found), fault)
	}
	for _, b := range best.Found[:40] {
		one := q
		one.Model, one.Quantization = b.Model, b.Quantization
		a, fault := e.Fit(one)
		if fault != nil {
			t.Fatal(fault)
		}
		s := a.Sizes[0]
		if s.Verdict != b.Verdict || s.Memory.Total != b.Total || *b.TPS < 20 {
			t.Errorf("%s %s: %+v, alone %s %+v", b.Model, b.Quantization, b, s.Verdict, s.Memory)
		}
	}
}

// A list of hardware says of each piece what its own answer says.
func TestListOfHardwareAgreesWithAnswers(t *testing.T) {
	e, r := shippedEngine(t), seeded(t)
	estimates := 0
	for range 3 {
		q := Query{Model: e.bySlug[r.IntN(len(e.bySlug))], Count: 1 + r.IntN(2)}
		if r.IntN(2) == 0 {
			q.Context = 2048
		}
		q.MinTPS = []float64{0, 1, math.Exp(4 * r.Float64())}[r.IntN(3)]
		best, fault := e.Hardware(q)
		if fault != nil {
			continue // the context is too long
		}
		for _, b := range best.Found {
			one := q
			one.Hardware, one.Quantization = b.Hardware, b.Quantization
			a, fault := e.Fit(one)
			if fault != nil {
				t.Fatal(fault)
			}
			s := a.Sizes[0].Speed
			if q.Context > 0 && s.Filled != nil {
				s.TPS = &s.Filled.TPS
			}
			if !reflect.DeepEqual(b.TPS, s.TPS) || !reflect.DeepEqual(b.Use, s.Use) {
				t.Fatalf("%s %s on %s: %v %v in the list, %v %v alone", q.Model, b.Quantization, b.Hardware, b.TPS, b.Use, s.TPS, s.Use)
			}
			if b.Use != nil && *b.Use == UseEstimate {
				estimates++
			}
		}
	}
	t.Logf("%d estimates", estimates)
}

// What a list leaves out because a fact is missing is what single answers do not know.
func TestListsNameWhatIsUnknown(t *testing.T) {
	e, r := shippedEngine(t), seeded(t)
	undecided, noSpeed := 0, 0
	for i := range datasettest.Rounds(6, 30) {
		q := Query{Count: 1 + r.IntN(2), Rules: []Rules{"", LlamaCpp, VLLM}[r.IntN(3)]}
		if r.IntN(2) == 0 {
			q.Context = 2048
		}
		q.MinTPS = []float64{0, 1, math.Exp(6 * r.Float64())}[r.IntN(3)]
		var got Runs
		var fault *Fault
		var each []Query
		if i%2 == 0 {
			q.Hardware = e.hwBySlug[r.IntN(len(e.hwBySlug))]
			if i == 0 { // models of unknown memory were measured there
				q = Query{Hardware: "nvidia-gb10"}
			}
			got, fault = e.Models(q)
			for range 60 {
				q.Model = e.bySlug[r.IntN(len(e.bySlug))]
				each = append(each, q)
			}
		} else {
			q.Model = e.bySlug[r.IntN(len(e.bySlug))]
			if i == 1 { // one layer fits on two of the smallest cards with the least that it can take, and not with the most
				q = Query{Model: "ling-1t", Count: 2}
			}
			got, fault = e.Hardware(q)
			for _, slug := range e.hwBySlug {
				if q.Hardware = slug; r.IntN(len(e.hwBySlug)) < 60 || i == 1 && e.hardware[slug].memoryGB == 4 {
					each = append(each, q)
				}
			}
		}
		if fault != nil {
			continue // the context is too long
		}
		for _, one := range each {
			a, fault := e.Fit(one)
			if fault != nil {
				continue
			}
			runs, unknown, speed := false, len(a.Sizes) == 0, false
			for j := range a.Sizes {
				s := &a.Sizes[j]
				if !s.Listed {
					continue
				}
				unknown = unknown || s.Verdict == Unknown
				if s.Verdict == Fits || s.Verdict == Tight {
					runs, speed = true, speed || s.Speed.TPS != nil
				}
			}
			slug := one.Model
			if i%2 == 1 {
				slug = one.Hardware
			}
			if want := !runs && unknown; slices.Contains(got.Undecided, slug) != want {
				t.Errorf("%+v, at least %v: undecided is %v, want %v", one, q.MinTPS, !want, want)
			}
			if want := runs && !speed && q.MinTPS > 0; slices.Contains(got.NoSpeed, slug) != want {
				t.Errorf("%+v, at least %v: without a speed is %v, want %v", one, q.MinTPS, !want, want)
			}
		}
		undecided, noSpeed = undecided+len(got.Undecided), noSpeed+len(got.NoSpeed)
	}
	t.Logf("%d undecided, %d without a speed", undecided, noSpeed)
}

// No estimate is faster than the memory of the machine allows. The first machines have measurements near that.
func TestEstimateWithinBandwidth(t *testing.T) {
	e, r := shippedEngine(t), seeded(t)
	machines := []dataset.Slug{"qualcomm-snapdragon-8-gen-3", "qualcomm-snapdragon-x-elite-x1e-84-100", "apple-m3-pro-14gpu"}
	for range datasettest.Rounds(1, 8) {
		machines = append(machines, e.hwBySlug[r.IntN(len(e.hwBySlug))])
	}
	estimates, limited := 0, 0
	for _, hardware := range machines {
		for _, model := range e.bySlug {
			a, fault := e.Fit(Query{Model: model, Hardware: hardware, Context: 512, BestOnly: true})
			if fault != nil {
				continue
			}
			if len(a.Sizes) > 1 {
				t.Fatalf("%s on %s: %d sizes, want the best alone", model, hardware, len(a.Sizes))
			}
			for _, size := range a.Sizes {
				if size.Speed == nil || size.Speed.Estimate == nil {
					continue
				}
				s := size.Speed.Estimate
				estimates++
				if s.Share == 1 {
					limited++
				}
				if s.Checked == nil || !slices.IsSortedFunc(s.Evidence, func(a, b Weight) int { return cmp.Compare(b.Weight, a.Weight) }) {
					t.Fatalf("%s on %s: checked %v, evidence %v, want the heaviest first", model, hardware, s.Checked, s.Evidence)
				}
				if s.Share > 1 || s.Median > s.P95 || s.P05 > s.Median {
					t.Errorf("%s %s on %s: %.4f of the bandwidth, %v to %v to %v tokens/s", model, size.Quantization, hardware, s.Share, s.P05, s.Median, s.P95)
				}
			}
		}
	}
	if estimates < 1000 || limited == 0 {
		t.Errorf("%d estimates, %d of them at what the memory allows, want over 1,000 and some", estimates, limited)
	}
}

// Devices of unknown memory share the layers evenly: two are as fast as one.
func TestSeveralDevicesOfUnknownMemory(t *testing.T) {
	e := shippedEngine(t)
	var tps [2]float64
	for i := range tps {
		a, fault := e.Fit(Query{Model: "qwen3-8b", Hardware: "intel-core-i9-12900k", Count: i + 1, Quantization: "Q4_K_M"})
		if fault != nil || a.Verdict != Unknown || a.Sizes[0].Speed.Estimate == nil {
			t.Fatalf("%+v %v, want an estimate without a verdict", a, fault)
		}
		tps[i] = a.Sizes[0].Speed.Estimate.Median
	}
	if tps[0] != tps[1] || tps[0] <= 0 {
		t.Errorf("%v tokens per second with one and with two, want the same", tps)
	}
}

// A Mac Studio with an M4 Max of 128 GB has the larger of its two chips: the other is made with 36. Its sizes of memory are those of its chips.
func TestChipOfMemory(t *testing.T) {
	e := shippedEngine(t)
	speed := func(hardware dataset.Slug, gb float64) float64 {
		a, fault := e.Fit(Query{Model: "llama-3.1-8b-instruct", Hardware: hardware, MemoryGB: gb, Quantization: "Q4_K_M"})
		if fault != nil {
			t.Fatal(fault)
		}
		if s := a.Sizes[0].Speed; s.TPS != nil {
			return *s.TPS
		}
		return 0
	}
	for gb, chip := range map[float64]dataset.Slug{0: "apple-m4-max-40gpu", 64: "apple-m4-max-40gpu", 36: "apple-m4-max-32gpu"} {
		if got, want := speed("apple-mac-studio-m4-max", gb), speed(chip, gb); got != want || got == 0 {
			t.Errorf("with %v GB: %v tokens per second, want the %v of %s", gb, got, want, chip)
		}
	}
	if got := speed("apple-mac-studio-m4-max", 100); got != 0 {
		t.Errorf("with 100 GB, which no chip has: %v tokens per second, want none", got)
	}
	for hardware, want := range map[dataset.Slug][]float64{"apple-mac-studio-m3-ultra": {96, 256, 512}, "apple-mac-studio-m4-max": {36, 48, 64, 128}, "nvidia-rtx-4090": nil} {
		if got, _ := e.MemorySizes(hardware); !slices.Equal(got, want) {
			t.Errorf("%s is sold with %v GB, want %v", hardware, got, want)
		}
	}
}

// A run that took more of unified memory than is usual shows what machines of its silicon can be set to; macOS keeps its default.
func TestShownShare(t *testing.T) {
	e := shippedEngine(t)
	a, fault := e.Fit(Query{Model: "glm-4.5-air", Hardware: "amd-ryzen-ai-max-395", Quantization: "UD-Q6_K_XL"})
	if fault != nil {
		t.Fatal(fault)
	}
	if s := a.Available.Share; a.Sizes[0].Verdict != Fits || s == nil || s.Share <= 0.75 || !strings.Contains(s.Basis, "bm-") || s.Source == nil {
		t.Errorf("%s with %+v, want it to fit in what a run took", a.Sizes[0].Verdict, s)
	}
	for _, hardware := range e.hwBySlug {
		if m, fault := e.machine(&Query{Hardware: hardware, Count: 1}); fault == nil && m.hw.Vendor == dataset.Apple && m.share != nil && m.share.Share > 0.75 {
			t.Errorf("%s: a share of %v", hardware, m.share.Share)
		}
	}
}

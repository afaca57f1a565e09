package fit

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

func sameModel(*dataset.Model)       {}
func sameHardware(*dataset.Hardware) {}

// TestCostFacts: what a cost is worked out from, and the reason or notice where a fact is missing or old.
func TestCostFacts(t *testing.T) {
	bought := Costs{USDPerKWh: dec(0.3), HoursPerDay: dec(10), Years: dec(2), Today: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)}
	with := func(change func(c *Costs)) Costs {
		c := bought
		change(&c)
		return c
	}
	priced := func(street, launch *float64, date string) func(h *dataset.Hardware) {
		return func(h *dataset.Hardware) {
			d := dataset.Date(date)
			h.TDPWatts, h.StreetPriceUSD, h.LaunchPriceUSD = dec(250), street, launch
			if h.ReleaseDate = &d; street != nil {
				h.StreetPriceDate = &d
			}
		}
	}
	one := func(q *Query) {}
	for _, tt := range []struct {
		name     string
		hardware func(h *dataset.Hardware)
		query    func(q *Query)
		costs    Costs
		watts    float64 // 0: null
		price    float64
		basis    string
		known    bool   // what a million tokens cost
		says     string // part of the only reason or notice
	}{
		{"a price of today", priced(dec(1000), dec(900), "2026-11-22"), one, bought, 200, 1000, "street", true, ""},
		{"of 180 days ago", priced(dec(1000), nil, "2026-05-26"), one, bought, 200, 1000, "street", true, ""},
		{"of 181 days ago", priced(dec(1000), nil, "2026-05-25"), one, bought, 200, 1000, "street", true, "older than 180 days"},
		{"of a month", priced(dec(1000), nil, "2026-06"), one, bought, 200, 1000, "street", true, ""},
		{"of the launch", priced(nil, dec(900), "2024-01-01"), one, bought, 200, 900, "launch", true, "older than 180 days"},
		{"two devices", priced(dec(1000), nil, "2026-11-01"), func(q *Query) { q.Count = 2 }, bought, 400, 2000, "street", true, ""},
		{"a chip that is set to 45 to 200 W", func(h *dataset.Hardware) {
			priced(dec(1000), nil, "2026-11-01")(h)
			h.TDPRangeWatts = &[]float64{45, 200}
		}, one, bought, 160, 1000, "street", true, ""},
		{"of one of several sizes of memory", func(h *dataset.Hardware) {
			priced(dec(1000), nil, "2026-11-01")(h)
			h.MemoryOptionsGB, h.VRAMGB = &[]float64{8, 16}, dec(16)
		}, one, bought, 200, 1000, "street", true, "sold with less memory"},
		{"of the smallest size of memory", func(h *dataset.Hardware) {
			priced(dec(1000), nil, "2026-11-01")(h)
			h.MemoryOptionsGB, h.VRAMGB = &[]float64{8, 16}, dec(16)
		}, func(q *Query) { q.MemoryGB = 8 }, bought, 200, 1000, "street", true, ""},
		{"four devices that work in turn", priced(dec(1000), nil, "2026-11-01"), func(q *Query) { q.Count = 4 }, bought, 800, 4000, "street", true, "upper bound"},
		{"no price", priced(nil, nil, "2026-11-01"), one, bought, 200, 0, "", false, "the price of the hardware"},
		{"no hours", priced(dec(1000), nil, "2026-11-01"), one, with(func(c *Costs) { c.HoursPerDay = nil }), 200, 0, "", false, "hours_per_day and years"},
		{"no years", priced(dec(1000), nil, "2026-11-01"), one, with(func(c *Costs) { c.Years = nil }), 200, 0, "", false, "hours_per_day and years"},
		{"no price of energy", priced(dec(1000), nil, "2026-11-01"), one, with(func(c *Costs) { c.USDPerKWh = nil }), 200, 1000, "street", false, "usd_per_kwh is not given"},
		{"no power", func(h *dataset.Hardware) { priced(dec(1000), nil, "2026-11-01")(h); h.TDPWatts = nil }, one, bought, 0, 1000, "street", false, "no run measured the power"},
		{"a described machine", sameHardware, func(q *Query) { q.Hardware, q.MemoryGB = "", 8 }, bought, 0, 0, "", false, "the speed is unknown"},
	} {
		runs := []dataset.Benchmark{bench(func(b *dataset.Benchmark) {}), bench(func(b *dataset.Benchmark) { b.ID, b.HardwareCount = "bm-2", 2 })}
		q := Query{Model: "llama", Hardware: "card", Costs: tt.costs}
		tt.query(&q)
		a, fault := engineOf(sameModel, tt.hardware, runs...).Fit(q)
		if fault != nil {
			t.Fatal(fault)
		}
		c := a.Sizes[0].Cost
		says := strings.Join(slices.Concat(c.Reasons, c.Notices), "; ")
		if val := cmp.Or(c.Watts, new(float64)); *val != tt.watts || (c.KWhPerMTok == nil) != (tt.watts == 0) {
			t.Errorf("%s: %v W, want %v", tt.name, *val, tt.watts)
		}
		if val := cmp.Or(c.PriceUSD, new(float64)); *val != tt.price || *cmp.Or(c.PriceBasis, new(string)) != tt.basis {
			t.Errorf("%s: price %v, %+v, want %v, %s", tt.name, *val, c, tt.price, tt.basis)
		}
		if known := c.USDPerMTok != nil; known != tt.known || (says == "") != (tt.says == "") || !strings.Contains(says, tt.says) || strings.Contains(says, ";") {
			t.Errorf("%s: cost known: %t, says %q; want %t and %q alone", tt.name, known, says, tt.known, tt.says)
		}
	}
}

// TestProofs: what a run must say, and of what it is evidence then.
func TestProofs(t *testing.T) {
	run := func(change func(b *dataset.Benchmark)) dataset.Benchmark {
		return bench(func(b *dataset.Benchmark) {
			b.NGPULayers, b.MemoryGB = num(99), dec(4.2)
			change(b)
		})
	}
	yes, no := true, false
	as := func(*dataset.Benchmark) {}
	for _, tt := range []struct {
		name  string
		run   func(b *dataset.Benchmark)
		query Query
		want  bool
	}{
		{"all layers", as, Query{Hardware: "card"}, true},
		{"all layers, as -1", func(b *dataset.Benchmark) { b.NGPULayers = num(-1) }, Query{Hardware: "card"}, true},
		{"all but the output", func(b *dataset.Benchmark) { b.NGPULayers = num(32) }, Query{Hardware: "card"}, false},
		{"nothing of layers", func(b *dataset.Benchmark) { b.NGPULayers = nil }, Query{Hardware: "card"}, false},
		{"not offloaded", func(b *dataset.Benchmark) { b.NGPULayers, b.PartialOffload = nil, &no }, Query{Hardware: "card"}, true},
		{"offloaded", func(b *dataset.Benchmark) { b.PartialOffload = &yes }, Query{Hardware: "card"}, false},
		{"less memory than the weights", func(b *dataset.Benchmark) { b.MemoryGB = dec(3.9) }, Query{Hardware: "card"}, false},
		{"the formula agrees", func(b *dataset.Benchmark) { b.MemoryGB = dec(80) }, Query{Hardware: "card"}, false},
		{"as much memory", as, Query{MemoryGB: 4.2, BandwidthGBps: 400}, true},
		{"less memory", as, Query{MemoryGB: 4.1, BandwidthGBps: 400}, false},
		{"unified memory", as, Query{MemoryGB: 4.2, UnifiedShare: 0.5, BandwidthGBps: 400}, false},
	} {
		e := engineOf(sameModel, func(h *dataset.Hardware) { h.VRAMGB = dec(4.2) }, run(tt.run))
		q := tt.query
		q.Model, q.Context = "llama", 640
		a, fault := e.Fit(q)
		if fault != nil {
			t.Fatal(fault)
		}
		if got := len(a.Sizes[0].Evidence) > 0; got != tt.want || got != (a.Verdict == Fits) {
			t.Errorf("%s: evidence %v, %s; want evidence: %t", tt.name, a.Sizes[0].Evidence, a.Verdict, tt.want)
		}
		if list, fault := e.Models(q); fault != nil || (len(list.Found) == 1) != tt.want {
			t.Errorf("%s: a list has %v, %v; want one with evidence: %t", tt.name, list.Found, fault, tt.want)
		}
	}
}

// TestMemoryOf: the memory of one device, its bandwidth, and the part of unified memory that graphics get.
func TestMemoryOf(t *testing.T) {
	e := New(&dataset.Set{Hardware: []dataset.Hardware{
		card(func(h *dataset.Hardware) { h.Slug, h.VRAMGB = "large", dec(16) }),
		card(func(h *dataset.Hardware) { h.Slug, h.VRAMGB = "small", dec(12) }),
		card(func(h *dataset.Hardware) { h.Slug, h.VRAMGB = "unknown", nil }),
	}})
	of := func(variants ...dataset.Slug) func(h *dataset.Hardware) {
		return func(h *dataset.Hardware) { h.VRAMGB, h.Variants = nil, &variants }
	}
	for _, tt := range []struct {
		name   string
		change func(h *dataset.Hardware)
		want   float64
	}{
		{"a card", sameHardware, 8},
		{"a processor", func(h *dataset.Hardware) { h.VRAMGB, h.MemoryGB = nil, dec(64) }, 64},
		{"nothing is known", func(h *dataset.Hardware) { h.VRAMGB = nil }, 0},
		{"the smallest variant", of("large", "small"), 12},
		{"the smallest variant first", of("small", "large"), 12},
		{"a variant is unknown", of("small", "unknown"), 0},
	} {
		h := card(tt.change)
		if got := e.memoryGB(&h); got != tt.want {
			t.Errorf("%s: %v GB, want %v", tt.name, got, tt.want)
		}
	}
	for asked, want := range map[float64]float64{0: 400e9, 100: 100e9} {
		if m, fault := e.machine(&Query{Hardware: "small", Count: 1, BandwidthGBps: asked}); fault != nil || m.devices[0].bandwidth != want {
			t.Errorf("a bandwidth of %v GB/s: %v, want %v", asked, m, want)
		}
	}
	for _, tt := range []struct {
		kind     string
		vendor   dataset.Vendor
		gb, want float64
	}{{"soc", dataset.Apple, 36, 0.6667}, {"soc", dataset.Apple, 48, 0.75}, {"soc", dataset.Nvidia, 128, 0.9}, {"apu", record.AMD, 128, 0.75}, {"cpu", record.AMD, 128, 0.9}} {
		if got := shareOf(&dataset.Hardware{Type: dataset.HardwareType(tt.kind), Vendor: tt.vendor}, tt.gb); got.Share != tt.want || strings.Contains(got.Basis, "graphics") && tt.kind == "cpu" {
			t.Errorf("%s of %s with %v GB: share %v of %s, want %v", tt.kind, tt.vendor, tt.gb, got.Share, got.Basis, tt.want)
		}
	}
}

// TestRules: what programs keep room for beside the cache of all tokens.
func TestRules(t *testing.T) {
	query := func(change func(q *Query)) *Query {
		q := Query{Context: 8192}
		change(&q)
		if fault := q.settle(); fault != nil {
			t.Fatal(fault)
		}
		return &q
	}
	as := func(rules Rules, context int64) *Query {
		return query(func(q *Query) { q.Rules, q.Context = rules, context })
	}
	usual, card := as(LlamaCpp, 8192), &device{usable: 20 * gib, visible: 0.98}
	small := shape{hidden: 4096, vocab: 1000, heads: 32, globalLayers: 32, global: width{1024, 1024}}
	sliding := func(q *Query, window int64) int64 {
		_, cells := q.cells(window)
		return cells
	}
	for _, tt := range []struct {
		name      string
		got, want int64
	}{
		{"a buffer that the vocabulary decides", (&shape{hidden: 4096, vocab: 128256}).compute(usual), 4 * 512 * (128256 + 4096)},
		{"a buffer that the context decides", small.compute(usual), 2*512*8192 + 16*512*4096},
		{"a buffer for a smaller cache", small.compute(query(func(q *Query) { q.KV = Q80 })), 2*512*8192 + 16*512*4096 + 2*8192*2048},
		{"a buffer for smaller keys", small.compute(query(func(q *Query) { q.KV, q.KVV = Q80, F16 })), 2*512*8192 + 16*512*4096 + 2*8192*1024},
		{"a buffer without flash attention", small.compute(query(func(q *Query) { q.FlashAttention = new(bool) })), 4*512*8192*33 + 16*512*4096},
		{"a buffer of latent attention without flash attention", (&shape{hidden: 7168, vocab: 1000, heads: 128, latent: true, rank: 512, global: width{keys: 576}}).compute(query(func(q *Query) { q.FlashAttention = new(bool) })), 4*512*8192*129 + 16*512*7168 + 4*512*128*(576+512) + 2*8192*512},
		{"sampling of vLLM", (&shape{hidden: 4096, forward: 14336, vocab: 128256}).compute(as(VLLM, 8192)), 39 * 256 * 128256},
		{"a layer of vLLM on two cards", (&shape{hidden: 4096, forward: 14336, vocab: 1000, perToken: 8}).compute(query(func(q *Query) { q.Rules, q.Count = VLLM, 2 })), 2 * 2048 * (12*4096 + 3*7168)},
		{"reserve of llama.cpp", card.reserve(usual), gib},
		{"reserve of vLLM", card.reserve(as(VLLM, 8192)), 20*gib - 20*gib*882/1000 + VLLMRuntime},
		{"reserve of MLX", card.reserve(as(MLX, 8192)), 0},
		{"window of llama.cpp", sliding(as(LlamaCpp, 100_000), 1024), 1536},
		{"windows of four slots", sliding(query(func(q *Query) { q.Context, q.Parallel = 100_000, 4 }), 1024), 4608},
		{"window of vLLM", sliding(as(VLLM, 100_000), 1024), 1023 + 2048 + 1 + 16},
		{"window of MLX", sliding(as(MLX, 100_000), 1000), 1000},
		{"window of llama.cpp, short", sliding(as(LlamaCpp, 700), 1024), 768},
		{"window of vLLM, short", sliding(as(VLLM, 700), 1024), 704 + 16},
		{"window of MLX, short", sliding(as(MLX, 700), 1000), 768},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, tt.got, tt.want)
		}
	}
}

// TestContextOf: the tokens an answer is for, and the most there can be, with and without a known limit.
func TestContextOf(t *testing.T) {
	for _, tt := range []struct {
		limit         *int64
		asked         int64
		context, most int64
	}{
		{num(131072), 0, 8192, 131072},
		{num(2048), 0, 2048, 2048},
		{num(2048), 1000, 1000, 2048},
		{nil, 0, 8192, MaxContext},
		{nil, 500_000, 500_000, MaxContext},
	} {
		e := engineOf(func(m *dataset.Model) { m.Architecture.ContextLength = tt.limit }, sameHardware)
		a, fault := e.Fit(Query{Model: "llama", MemoryGB: 4096, Context: tt.asked})
		if fault != nil {
			t.Fatal(fault)
		}
		if most := a.Sizes[0].MaxContext.F16; a.Context != tt.context || most == nil || *most != tt.most {
			t.Errorf("limit %v, asked for %d: context %d, most %d; want %d and %d", tt.limit, tt.asked, a.Context, *most, tt.context, tt.most)
		}
	}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]string{
		"IQ4_XS": "IQ4", "UD-IQ2_M": "UD2", "UD-Q4_K_XL": "UD4", "q6_k": "Q6_K", "Q4_0": "Q4_0", "MXFP4_MOE": "MXFP4", "fp16": "FP16",
		"FP8_DYNAMIC": "FP8", "GPTQ-Int4": "GPTQ", "MLX-4bit": "MLX", "W4A16": "other",
	} {
		if got := formatOf(name); got != want {
			t.Errorf("formatOf(%s) = %s, want %s", name, got, want)
		}
	}
}

// A quantized cache never allows a shorter context than one of 16-bit values.
func TestQuantizedCacheAllowsMore(t *testing.T) {
	e := shippedEngine(t)
	compared := 0
	for _, slug := range e.bySlug {
		for _, hardware := range []dataset.Slug{"nvidia-rtx-3060", "nvidia-rtx-4090", "apple-m2-ultra"} {
			a, fault := e.Fit(Query{Model: slug, Hardware: hardware, Context: 512})
			if fault != nil {
				t.Fatal(fault)
			}
			for i := range a.Sizes {
				z := &a.Sizes[i]
				if z.MaxContext.F16 == nil || *z.MaxContext.F16 == 0 {
					continue
				}
				compared++
				if *z.MaxContext.Q80 < *z.MaxContext.F16 || *z.MaxContext.Q40 < *z.MaxContext.Q80 {
					t.Errorf("%s %s on %s: %d tokens with f16, %d with q8_0, %d with q4_0", slug, z.Quantization, hardware, *z.MaxContext.F16, *z.MaxContext.Q80, *z.MaxContext.Q40)
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("%d sizes compared, want more", compared)
	}
}

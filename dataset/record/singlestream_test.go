package record

import "testing"

func TestSingleStream(t *testing.T) {
	num := func(n int64) *int64 { return &n }
	yes, no := true, false
	speed, words := 40.0, "llama-bench; end-to-end rate"
	base := Benchmark{Tool: "llama.cpp", HardwareCount: 1, GenerationTPS: &speed}
	for _, c := range []struct {
		name   string
		change func(b *Benchmark)
		is     Single
		field  string
	}{
		{"a bench row that says nothing", func(*Benchmark) {}, SingleYes, ""},
		{"everything said", func(b *Benchmark) {
			b.Concurrency, b.ContextDepth, b.SpeculativeDecoding, b.PartialOffload = num(1), num(512), &no, &no
		}, SingleYes, ""},
		{"no speed", func(b *Benchmark) { b.GenerationTPS = nil }, SingleNo, "generation_tps"},
		{"withdrawn", func(b *Benchmark) { b.Withdrawn = &Withdrawal{} }, SingleNo, "withdrawn"},
		{"prompt included", func(b *Benchmark) { b.Notes = &words }, SingleNo, "rate_basis"},
		{"prompt included, by its field", func(b *Benchmark) { r := RateEndToEnd; b.RateBasis = &r }, SingleNo, "rate_basis"},
		{"a field outranks the notes", func(b *Benchmark) { r := RateDecode; b.RateBasis, b.Notes = &r, &words }, SingleYes, ""},
		{"throughput", func(b *Benchmark) { s := Scenario("offline"); b.Scenario = &s }, SingleNo, "scenario"},
		{"graphics and processor", func(b *Benchmark) { u := OnMixed; b.ComputeUnit = &u }, SingleNo, "compute_unit"},
		{"two requests", func(b *Benchmark) { b.Concurrency = num(2) }, SingleNo, "concurrency"},
		{"two devices", func(b *Benchmark) { b.HardwareCount = 2 }, SingleNo, "hardware_count"},
		{"drafted", func(b *Benchmark) { b.SpeculativeDecoding = &yes }, SingleNo, "speculative_decoding"},
		{"in main memory", func(b *Benchmark) { b.PartialOffload = &yes }, SingleNo, "partial_offload"},
		{"a filled cache", func(b *Benchmark) { b.ContextDepth = num(513) }, SingleNo, "context_depth"},
		{"generation behind a long prompt", func(b *Benchmark) { b.NPrompt = num(1201) }, SingleNo, "n_prompt"},
		{"generation behind a usual prompt", func(b *Benchmark) { b.NPrompt = num(1200) }, SingleYes, ""},
		{"a long prompt in a run of its own", func(b *Benchmark) { b.NPrompt, b.ContextDepth = num(4096), num(0) }, SingleYes, ""},
		{"a tool without such runs", func(b *Benchmark) { b.Tool, b.NPrompt, b.ContextDepth = "mlx-lm", num(4096), num(0) }, SingleNo, "n_prompt"},
		{"a depth and a prompt behind it", func(b *Benchmark) { b.Tool, b.NPrompt, b.ContextDepth = "mlx-lm", num(800), num(401) }, SingleNo, "n_prompt"},
		{"a batching server that says nothing", func(b *Benchmark) { b.Tool = "vllm" }, SingleUnknown, "concurrency"},
		{"a batching server that says only that", func(b *Benchmark) { b.Tool, b.Concurrency = "vllm", num(1) }, SingleUnknown, "rate_basis"},
		{"a program for one user that may count the prompt", func(b *Benchmark) { b.Tool = "executorch" }, SingleUnknown, "rate_basis"},
		{"a tool without known defaults", func(b *Benchmark) { b.Tool = "new-runner" }, SingleUnknown, "concurrency"},
		{"a tool without known defaults that says most", func(b *Benchmark) {
			r := RateDecode
			b.Tool, b.Concurrency, b.RateBasis, b.SpeculativeDecoding = "new-runner", num(1), &r, &no
		}, SingleUnknown, "context_depth"},
		{"a tool without known defaults that says all", func(b *Benchmark) {
			r := RateDecode
			b.Tool, b.Concurrency, b.RateBasis, b.SpeculativeDecoding, b.ContextDepth = "new-runner", num(1), &r, &no, num(0)
		}, SingleYes, ""},
	} {
		b := base
		c.change(&b)
		if is, field := b.SingleStream(); is != c.is || field != c.field {
			t.Errorf("%s: SingleStream() = %v %q, want %v %q", c.name, is, field, c.is, c.field)
		}
	}
}

// TestWholeRequest: a speed timed with its prompt is near a decode rate where the prompt is short beside the output, and all else is that of a
// single stream.
func TestWholeRequest(t *testing.T) {
	basis := func(b RateBasis) *RateBasis { return &b }
	tokens := func(n int64) *int64 { return &n }
	tps := 50.0
	for _, tt := range []struct {
		name   string
		change func(b *Benchmark)
		want   bool
	}{
		{"lengths unknown", func(*Benchmark) {}, true},
		{"a short prompt", func(b *Benchmark) { b.NPrompt, b.NGen = tokens(64), tokens(128) }, true},
		{"a prompt of more than half the output", func(b *Benchmark) { b.NPrompt, b.NGen = tokens(65), tokens(128) }, false},
		{"a prompt and no output", func(b *Benchmark) { b.NPrompt = tokens(64) }, false},
		{"a decode rate", func(b *Benchmark) { b.RateBasis = basis(RateDecode) }, false},
		{"a total", func(b *Benchmark) { b.RateBasis = basis(RateTotal) }, false},
		{"nothing said", func(b *Benchmark) { b.RateBasis = nil }, false},
		{"two requests", func(b *Benchmark) { b.Concurrency = tokens(2) }, false},
		{"two devices", func(b *Benchmark) { b.HardwareCount = 2 }, false},
	} {
		b := Benchmark{Tool: "llama.cpp", HardwareCount: 1, GenerationTPS: &tps, RateBasis: basis(RateEndToEnd)}
		tt.change(&b)
		if got := b.WholeRequest(); got != tt.want || *b.GenerationTPS != 50 {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

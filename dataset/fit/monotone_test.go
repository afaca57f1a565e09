package fit

import (
	"slices"
	"strconv"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
)

// A verdict never gets worse with more memory, more main memory or another card, nor with a shorter context, a smaller
// file, a smaller cache or fewer requests at once.
func TestVerdictsAreMonotone(t *testing.T) {
	e, r := shippedEngine(t), seeded(t)
	rank := func(v Verdict) int { return slices.Index([]Verdict{No, Unknown, Offload, Tight, Fits}, v) }
	changes := []struct {
		name   string
		better func(q *Query)
	}{
		{"more memory", func(q *Query) { q.MemoryGB *= 1.1 }},
		{"much more memory", func(q *Query) { q.MemoryGB *= 3 }},
		{"another device", func(q *Query) { q.Count++ }},
		{"a shorter context", func(q *Query) { q.Context = max(1, q.Context/3) }},
		{"a smaller file", func(q *Query) { q.WeightsGB *= 0.8 }},
		{"fewer requests", func(q *Query) { q.Parallel = max(1, q.Parallel/2) }},
		{"more main memory", func(q *Query) { q.SystemMemoryGB *= 2 }},
		{"a smaller cache", func(q *Query) { q.KV = map[Rules]KVType{LlamaCpp: Q80, VLLM: FP8, MLX: Q80}[q.Rules] }},
	}
	seen := map[Verdict]int{}
	for range datasettest.Rounds(400, 4000) {
		rules := []Rules{LlamaCpp, LlamaCpp, VLLM, MLX}[r.IntN(4)]
		q := Query{
			Model: e.bySlug[r.IntN(len(e.bySlug))], Rules: rules, MemoryGB: 4 * float64(int(1)<<r.IntN(6)), Count: 1 + r.IntN(3), Context: 1 << (9 + r.IntN(9)),
			WeightsGB: 0.5 * float64(int(1)<<r.IntN(9)), SystemMemoryGB: 16 * float64(int(1)<<r.IntN(4)), Parallel: 1 + r.IntN(4), AllowExtended: true, BestOnly: true,
		}
		before, fault := e.Fit(q)
		if fault != nil {
			t.Fatal(fault)
		}
		seen[before.Verdict]++
		for _, c := range changes {
			if rules != VLLM && c.name == "a smaller cache" && (before.Context > 8192 || before.Verdict == Offload) {
				continue // a quantized cache is unpacked, one layer at a time on each device, which may take more than it saves
			}
			p := q
			c.better(&p)
			after, fault := e.Fit(p)
			if fault != nil {
				t.Fatal(fault)
			}
			if rank(after.Verdict) < rank(before.Verdict) {
				t.Errorf("%s: %s, before %s: %+v", c.name, after.Verdict, before.Verdict, q)
			}
		}
	}
	t.Log(seen)
}

// Each change that is offered has the verdict that is promised.
func TestRemedies(t *testing.T) {
	e := shippedEngine(t)
	n := 0
	for _, model := range []dataset.Slug{"llama-3.3-70b-instruct", "qwen3-30b-a3b", "gpt-oss-120b", "deepseek-v3"} {
		for _, q := range []Query{{Hardware: "nvidia-rtx-3060"}, {Hardware: "nvidia-rtx-4090", Context: 65536}, {Hardware: "nvidia-rtx-4090", Rules: VLLM, Context: 32768}, {Hardware: "nvidia-rtx-3060", SystemMemoryGB: 16}, {Hardware: "nvidia-a100-80gb", Rules: VLLM, Context: 32768, Parallel: 40}} {
			q.Model, q.Quantization, q.AllowExtended = model, "Q4_K_M", true
			a, fault := e.Fit(q)
			if fault != nil {
				t.Fatal(fault)
			}
			for _, r := range a.Remedies {
				p := q
				switch r.Change {
				case "parallel":
					p.Parallel = int(numberOf(t, r.Value))
				case "kv":
					p.KV = KVType(r.Value)
				case "quantization":
					p.Quantization = r.Value
				case "context":
					p.Context = numberOf(t, r.Value)
				case "system_memory_gb":
					p.SystemMemoryGB = float64(numberOf(t, r.Value))
				case "count":
					p.Count = int(numberOf(t, r.Value))
				}
				b, fault := e.Fit(p)
				if fault != nil {
					t.Fatal(fault)
				}
				if n++; b.Verdict != r.Verdict || b.Verdict == a.Verdict {
					t.Errorf("%+v was %s, with %s=%s it is %s, promised %s", q, a.Verdict, r.Change, r.Value, b.Verdict, r.Verdict)
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("%d changes were offered", n)
	}
}

// The file of Qwen3.6 27B in Q8_0 with the layer that drafts has 27.1 GiB (unsloth/Qwen3.6-27B-MTP-GGUF), without it 26.63.
func TestLayerThatDrafts(t *testing.T) {
	e := shippedEngine(t)
	var beside []int64
	for _, gb := range []float64{0, 27.1} {
		a, fault := e.Fit(Query{Model: "qwen3.6-27b", Quantization: "Q8_0", WeightsGB: gb, MemoryGB: 48, MTP: true})
		if fault != nil {
			t.Fatal(fault)
		}
		m := &a.Sizes[0].Memory
		beside = append(beside, m.Companions[0].Bytes.Bytes)
		if m.Total != m.Weights.Bytes+m.Cache.Bytes.Bytes+m.Compute.Bytes+m.Companions[0].Bytes.Bytes-m.Host {
			t.Errorf("a total of %d: %+v", m.Total, m)
		}
	}
	if layer := float64(beside[0]-beside[1]) / gib; layer < 0.42 || layer > 0.52 {
		t.Errorf("%.2f GiB of weights, want those of 27.1 - 26.63", layer)
	}
}

func numberOf(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Any name of a quantization has a size, near to that of published files of its kind; a text that is none has not.
func TestNamesOfQuantizations(t *testing.T) {
	e := shippedEngine(t)
	for name, gb := range map[string]float64{ // of Llama 3.1 8B Instruct in 10^9 bytes, as hubs show them
		"UD-Q4_K_XL": 4.99, "MLX-4bit": 4.52, "4bit": 4.52, "mlx-8bit": 8.54, "AWQ": 5.74, "GPTQ-Int4": 5.74, "FP8": 9.09, "NVFP4": 6.03, "W4A16": 5.7, "W8A8": 9.09, "q4_k_m": 4.92, "4.0bpw": 4.02,
		"Q9": 0, "banana": 0, "Q4_K_M or so": 0, "large": 0,
	} {
		a, fault := e.Fit(Query{Model: "llama-3.1-8b-instruct", Hardware: "nvidia-rtx-4090", Quantization: name, Rules: map[bool]Rules{true: VLLM}[name == "NVFP4"]})
		if (fault == nil) != (gb > 0) {
			t.Errorf("%s: %v", name, fault)
			continue
		}
		if fault != nil {
			if fault.Field != "quantization" || len(fault.Allowed) == 0 {
				t.Errorf("%s: %+v", name, fault)
			}
			continue
		}
		if got := float64(a.Sizes[0].Memory.Weights.Bytes) / 1e9; got < 0.97*gb || got > 1.03*gb {
			t.Errorf("%s: %.2f GB, want %.2f", name, got, gb)
		}
	}
}

package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

var mustSet = func() func(t *testing.T) *dataset.Set {
	var set *dataset.Set
	return func(t *testing.T) *dataset.Set {
		t.Helper()
		if set == nil {
			var err error
			if set, err = dataset.Load(context.Background(), os.DirFS("../../data"), dataset.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		return set
	}
}()

func options(model, hardware string) Options {
	return Options{SourceURL: "https://github.com/ggml-org/llama.cpp/discussions/4167", RunDate: "2026-05-01", Model: model, Hardware: hardware}
}

// TestOutputs: what each program prints is in the lines, the rules of the dataset accept them, and each field says where
// it comes from. change replaces a text of the output, and then skipped is why no line comes of it.
func TestOutputs(t *testing.T) {
	set := mustSet(t)
	for _, c := range []struct {
		format, file, model, hardware, old, new string
		lines                                   []string // fields of each line
		skipped                                 string
	}{
		{format: "batched-bench", lines: []string{
			"tool:llama.cpp n_prompt:512 n_gen:128 concurrency:1 context_depth:0 prompt_tps:7177.3 generation_tps:105.81 rate_basis:decode batch_size:2048 flash_attention:true n_gpu_layers:99 threads:28",
			"concurrency:2 prompt_tps:<nil> generation_tps:185.4 rate_basis:total",
		}, skipped: `N_KV: must be a number, got "256x"`},
		{format: "batched-bench", file: "batched-bench-cpu", model: "SmolLM2-135M-Instruct-Q8_0.gguf", hardware: "EPYC 9354", lines: []string{
			"model:smollm2-135m-instruct hardware:amd-epyc-9354 quantization:Q8_0 n_prompt:128 n_gen:32 concurrency:1 prompt_tps:13.92 generation_tps:1.3 flash_attention:<nil> n_gpu_layers:<nil> threads:2",
			"concurrency:2 prompt_tps:<nil> generation_tps:1.51 rate_basis:total",
		}},
		{format: "batched-bench", old: "is_pp_shared = 0", new: "is_pp_shared = 1", skipped: "share one prompt"},
		{format: "sweep-bench", lines: []string{"tool:ik-llama.cpp context_depth:0 generation_tps:62.57 notes:ubatch 2048", "context_depth:512 prompt_tps:2217.69 generation_tps:61.75"}},
		{format: "ollama", lines: []string{"tool:ollama n_prompt:17 n_gen:180 prompt_tps:177.76 generation_tps:129.92 rate_basis:decode quantization:Q4_K_M"}},
		{format: "ollama", old: "eval rate:            129.92 tokens/s\n", new: "", skipped: "generation_tps is not printed"},
		{format: "ollama", old: "129.92 tokens", new: "99.5 tokens/s\neval rate:            129.92 tokens", skipped: "appears twice"},
		{format: "vllm", lines: []string{"tool:vllm concurrency:16 n_prompt:512 n_gen:128 generation_tps:613.9 rate_basis:total ttft_ms:151.2 ttft_p99_ms:488 tpot_p50_ms:24 scenario:<nil> context_depth:<nil>"}},
		{format: "vllm", old: "Maximum request concurrency:             16", new: "Request rate configured (RPS):           1.50", lines: []string{"scenario:server total_tps:613.9 request_rate:4.8 generation_tps:<nil> concurrency:<nil> rate_basis:<nil>"}},
		{format: "vllm", old: "Maximum request concurrency:             16\n", new: "", lines: []string{"scenario:offline total_tps:613.9"}},
		{format: "vllm", old: "Failed requests:                         0", new: "Failed requests:                         3", skipped: "3 requests failed"},
		{format: "mlx", model: "mlx-community/Qwen3-8B-4bit", hardware: "M4 Max 64GB", lines: []string{"tool:mlx-lm backend:mlx n_prompt:512 n_gen:128 prompt_tps:1210.5 generation_tps:101.25 memory_gb:64 hardware:apple-m4-max-40gpu"}},
		{format: "koboldcpp", lines: []string{"tool:koboldcpp tool_version:1.63 model_raw:Qwen3-8B-Q8_0 quantization:Q8_0 n_prompt:1948 n_gen:100 prompt_tps:2100 generation_tps:47.1 n_gpu_layers:33"}},
		{format: "koboldcpp", old: "Qwen3-8B-Q8_0", new: "Meta-Llama-3-8B-Instruct-Q8_0", skipped: "not from qwen3-8b"},
		{format: "koboldcpp", old: "GenAmount: 100", new: "GenAmount: 4096", skipped: "no room for a prompt"},
	} {
		name := c.format + " " + c.new
		if c.model == "" {
			c.model, c.hardware = "Qwen3-8B-Q4_K_M.gguf", "RTX 4090"
		}
		text, err := os.ReadFile("testdata/" + cmp.Or(c.file, c.format) + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		im, err := New(c.format, set, options(c.model, c.hardware))
		if err != nil {
			t.Fatal(err)
		}
		got, err := im.Read("x", []byte(strings.Replace(string(text), c.old, c.new, 1)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(got.Benchmarks) != len(c.lines) || fmt.Sprint(got.Skipped) == "[]" != (c.skipped == "") || !strings.Contains(fmt.Sprint(got.Skipped), c.skipped) {
			t.Errorf("%s: %d lines, want %d; skipped %v, want %q", name, len(got.Benchmarks), len(c.lines), got.Skipped, c.skipped)
			continue
		}
		for i, want := range c.lines {
			line, err := record.Line(&got.Benchmarks[i])
			if err != nil {
				t.Fatal(err)
			}
			findings, err := dataset.Propose(set, append(line, '\n'), dataset.Options{})
			if err != nil || len(findings) > 0 {
				t.Errorf("%s: %v %v", name, err, findings)
			}
			var fields map[string]any
			if err := json.Unmarshal(line, &fields); err != nil {
				t.Fatal(err)
			}
			for _, pair := range strings.Split(strings.ReplaceAll(want, "ubatch ", "ubatch_"), " ") {
				field, value, _ := strings.Cut(pair, ":")
				if fmt.Sprint(fields[field]) != strings.ReplaceAll(value, "ubatch_", "ubatch ") {
					t.Errorf("%s: %s is %v, want %s", name, field, fields[field], value)
				}
			}
			for field, v := range fields {
				if v != nil && got.From[i][field] == "" {
					t.Errorf("%s: nothing says where %s comes from", name, field)
				}
			}
		}
	}
}

// TestNothingOfIt: other texts are refused, whatever they are.
func TestNothingOfIt(t *testing.T) {
	set := mustSet(t)
	for format := range adapters {
		im, err := New(format, set, options("qwen3-8b", "RTX 4090"))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"", "\x00", "hello", "| a | b |\n|---|---|\n| 1 | 2 |", "{}"} {
			if got, err := im.Read("x", []byte(text)); err == nil || len(got.Benchmarks) > 0 {
				t.Errorf("%s: %q is read as %v", format, text, got)
			}
		}
	}
	for _, opt := range []Options{options("", "RTX 4090"), options("qwen3-8b", ""), options("nothing-9b", "RTX 4090"), options("qwen3-8b", "unobtainium")} {
		if _, err := New("ollama", set, opt); err == nil {
			t.Errorf("%+v is accepted", opt)
		}
	}
	if _, err := New("nothing", set, options("qwen3-8b", "RTX 4090")); err == nil {
		t.Error("a format that nothing prints is accepted")
	}
}

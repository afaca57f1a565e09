package resolve

import (
	"math/rand/v2"
	"strings"
	"testing"

	"modeldex/dataset"
)

// reviewer is Review of the shipped records.
func reviewer(t *testing.T) (*dataset.Set, func(*dataset.Benchmark) (field, text string)) {
	set, _ := load(t)
	models, hardware := make([]*dataset.Model, len(set.Models)), make([]*dataset.Hardware, len(set.Hardware))
	for i := range set.Models {
		models[i] = &set.Models[i]
	}
	for i := range set.Hardware {
		hardware[i] = &set.Hardware[i]
	}
	return set, Review(models, hardware)
}

// TestReview: names as printed that plainly mean another record, and those that leave it open.
func TestReview(t *testing.T) {
	_, review := reviewer(t)
	for _, tt := range []struct {
		model, modelRaw, hardware, hardwareRaw, want string // empty: nothing is said
	}{
		{"qwen3-8b", "Qwen3-8B-Q4_K_M.gguf", "nvidia-rtx-4090", "NVIDIA GeForce RTX 4090", ""},
		{"qwen3-8b", "Qwen3-14B-Q4_K_M.gguf", "", "", `model_raw: is a name of qwen3-14b, where model is "qwen3-8b", got "Qwen3-14B-Q4_K_M.gguf"`},
		{"qwen3-8b", "Meta-Llama-3.1-8B-Instruct", "", "", "model_raw: is a name of llama-3.1-8b-instruct"},
		{"qwen2.5-7b-instruct", "Qwen3-8B", "", "", "model_raw: is a name of qwen3-8b"},
		{"qwen3-8b", "my own tune 70B", "", "", "model_raw: says 70 billion parameters"},
		{"gemma-3n-e2b-it", "Gemma-3n 2B", "", "", ""},                        // effective ones
		{"llama-4-scout-17b-16e-instruct", "Llama-4-Scout-17B", "", "", ""},   // active ones
		{"deepseek-r1-distill-qwen-7b", "qwen2 7B Q4_K - Medium", "", "", ""}, // an architecture
		{"llama-2-7b", "LLaMA 7B", "", "", ""},                                // a release of the same size
		{"qwen3-8b", "Llama 70B or Qwen", "", "", "model_raw: says 70 billion parameters"},
		{"qwen3-8b", "a model", "", "", ""},
		{"", "", "nvidia-rtx-4080", "NVIDIA GeForce RTX 4090", `hardware_raw: is a name of nvidia-rtx-4090, where hardware is "nvidia-rtx-4080", got "NVIDIA GeForce RTX 4090"`},
		{"", "", "nvidia-rtx-4070-ti", "RTX 4070", "hardware_raw: is a name of nvidia-rtx-4070"},
		{"", "", "nvidia-rtx-4060-laptop", "RTX 4060", "hardware_raw: is a name of nvidia-rtx-4060"},
		{"", "", "amd-instinct-mi50-32gb", "AMD Instinct MI50", ""}, // a size of memory
		{"", "", "apple-m3-max-40gpu", "Apple M3 Max 64GB", ""},     // a variant
		{"", "", "amd-ryzen-ai-max-395", "Radeon 8060S Graphics", ""},
		{"", "", "apple-m4-pro", "Mac mini M4 Pro 64 GB", ""},
		{"", "", "nvidia-rtx-4090", "AMD Radeon something", `hardware_raw: says "amd"`},
		{"", "", "intel-arc-b580", "Intel Arc B580 (Ryzen 9 9950X)", ""},
	} {
		b := dataset.Benchmark{Model: dataset.Slug(tt.model), ModelRaw: tt.modelRaw, Hardware: dataset.Slug(tt.hardware), HardwareRaw: tt.hardwareRaw}
		for range 2 { // the second time from memory
			got := ""
			if field, text := review(&b); text != "" {
				got = field + ": " + text
			}
			if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("%s %q, %s %q: %q, want %q", tt.model, tt.modelRaw, tt.hardware, tt.hardwareRaw, got, tt.want)
			}
		}
	}
}

// TestReviewCount: the number of devices in a name is that of the measurement.
func TestReviewCount(t *testing.T) {
	_, review := reviewer(t)
	for _, tt := range []struct {
		raw   string
		count int64
		want  string
	}{
		{"2x RTX 4090", 2, ""},
		{"RTX 4090", 2, ""},
		{"2x RTX 4090", 16, `is 16, but hardware_raw "2x RTX 4090" says 2`},
		{"8 x NVIDIA GeForce RTX 4090", 1, `is 1, but hardware_raw "8 x NVIDIA GeForce RTX 4090" says 8`},
	} {
		b := dataset.Benchmark{Hardware: "nvidia-rtx-4090", HardwareRaw: tt.raw, HardwareCount: tt.count}
		if field, got := review(&b); got != tt.want || got != "" && field != "hardware_count" {
			t.Errorf("%q, count %d: %s: %q, want %q", tt.raw, tt.count, field, got, tt.want)
		}
	}
}

// TestReviewOfShipped: the shipped measurements say nothing, and where one names another record at random, nine of ten do.
func TestReviewOfShipped(t *testing.T) {
	set, review := reviewer(t)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 1))
	var changed, found int
	for _, b := range set.Benchmarks {
		if field, text := review(b); text != "" && b.Withdrawn == nil {
			t.Errorf("%s: %s: %s", b.ID, field, text)
		}
		if rng.IntN(10) > 0 {
			continue
		}
		swapped := *b
		if rng.IntN(2) == 0 {
			swapped.Model = set.Models[rng.IntN(len(set.Models))].Slug
		} else {
			swapped.Hardware = set.Hardware[rng.IntN(len(set.Hardware))].Slug
		}
		changed++
		if _, text := review(&swapped); text != "" {
			found++
		}
	}
	if found*10 < changed*9 {
		t.Errorf("seed %d: %d of %d wrong records were found, want nine of ten", seed, found, changed)
	}
}

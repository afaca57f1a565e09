package resolve

import (
	"testing"
)

func readsAs(t *testing.T, r *Resolver, model, want string) {
	t.Helper()
	if got := r.Resolve(Model, model); string(got.Slug) != want {
		t.Errorf("%s: %q, want %q (%s)", model, got.Slug, want, got.Reason)
	}
}

// A version with a dash for the point, as in the names of services and images, never finds another version.
func TestDashedVersions(t *testing.T) {
	_, r := load(t)
	for name, want := range map[string]string{
		"llama-3-3-70b-instruct":     "llama-3.3-70b-instruct",
		"llama-3-1-8b":               "llama-3.1-8b-instruct",
		"Meta-Llama-3-1-8B-Instruct": "llama-3.1-8b-instruct",
		"qwen3-5-27b":                "qwen3.5-27b",
		"qwen2-5-7b-instruct":        "qwen2.5-7b-instruct",
		"deepseek-v3-1":              "deepseek-v3.1",
		"mistral-small-3-2-24b":      "mistral-small-3.2-24b-instruct-2506",
		"phi-3-5-mini":               "phi-3.5-mini-instruct",
		"glm-4-5-air":                "glm-4.5-air",
		"gemma-3-27b":                "gemma-3-27b-it",
		"llama-3-70b-instruct":       "llama-3-70b-instruct",
	} {
		readsAs(t, r, name, want)
		if q := r.Read("how fast is " + name + " on a 4090"); len(q.Models) != 1 || string(q.Models[0].Slug) != want {
			t.Errorf("a question with %s: %+v, want %s", name, q.Models, want)
		}
	}
	for _, name := range []string{"llama-3-7-70b-instruct", "qwen3-7-27b"} {
		if got := r.Resolve(Model, name); got.Slug != "" {
			t.Errorf("%s was read as %s", name, got.Slug)
		}
	}
}

// Hosts of models add words of their own to names, and people hit a letter beside a digit.
func TestHostForms(t *testing.T) {
	_, r := load(t)
	for name, want := range map[string]string{
		"accounts/fireworks/models/llama-v3p1-8b-instruct": "llama-3.1-8b-instruct",
		"accounts/fireworks/models/qwen2p5-72b-instruct":   "qwen2.5-72b-instruct",
		"meta-llama/Llama-3.3-70B-Instruct-Turbo":          "llama-3.3-70b-instruct",
		"llama3-70b-8192":                    "llama-3-70b-instruct",
		"llama-3.1-8b-instant":               "llama-3.1-8b-instruct",
		"us.meta.llama3-3-70b-instruct-v1:0": "llama-3.3-70b-instruct",
		"ai/qwen2.5:7B-Q4_0":                 "qwen2.5-7b-instruct",
		"AREX-Turbo":                         "arex-turbo",
	} {
		readsAs(t, r, name, want)
	}
	if got := r.Resolve(Hardware, "RTX 4o90"); len(got.Candidates) == 0 || got.Candidates[0].Slug != "nvidia-rtx-4090" {
		t.Errorf("RTX 4o90: %+v", got.Candidates)
	}
}

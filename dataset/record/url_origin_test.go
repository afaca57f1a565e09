package record

import "testing"

func TestOriginKey(t *testing.T) {
	for url, want := range map[URL]string{
		"https://github.com/ggml-org/llama.cpp/discussions/4167#c1":     "github.com/ggml-org/llama.cpp",
		"https://github.com/QwenLM/Qwen3":                               "github.com/qwenlm/qwen3",
		"https://github.com/QwenLM/Qwen3?tab=readme":                    "github.com/qwenlm/qwen3",
		"https://raw.githubusercontent.com/QwenLM/Qwen3/main/README.md": "github.com/qwenlm/qwen3",
		"https://github.com/orgs":                                       "github.com/orgs",
		"https://github.com":                                            "github.com",
		"https://github.com/":                                           "github.com",
		"https://www.amd.com/en/products/graphics.html":                 "amd.com",
		"http://Example.COM?q=https://github.com/a/b":                   "example.com",
		"https://gist.github.com/someone/0123":                          "gist.github.com",
		"https://huggingface.co/Qwen/Qwen3-8B/blob/main/config.json#L1": "huggingface.co",
	} {
		if got := url.OriginKey(); got != want {
			t.Errorf("%s: got %q, want %q", url, got, want)
		}
	}
}

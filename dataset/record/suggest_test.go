package record

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNear(t *testing.T) {
	models := []string{"llama-3-8b", "llama-3.1-8b", "llama-3.1-8b-instruct", "llama-3.1-70b", "qwen3-8b", "phi-4"}
	for _, tt := range []struct {
		name, word string
		candidates []string
		n          int
		want       []string
	}{
		{"one letter off", "nvida", []string{"amd", "nvidia", "intel"}, 1, []string{"nvidia"}},
		{"letter case does not count", "NVIDIA", []string{"amd", "nvidia"}, 1, []string{"nvidia"}},
		{"nearest first", "llama-3.1-8", models, 3, []string{"llama-3.1-8b", "llama-3-8b", "llama-3.1-70b"}},
		{"part of a name", "instruct", models, 3, []string{"llama-3.1-8b-instruct"}},
		{"no more than asked", "llama-3.1-8b", models, 1, []string{"llama-3.1-8b"}},
		{"nothing near", "gpt-oss-120b", []string{"phi-4", "qwen3-8b"}, 3, []string{}},
		{"two letters say too little to search for", "ph", []string{"some-phi-model"}, 1, []string{}},
		{"nothing to choose from", "x", nil, 3, []string{}},
		{"none wanted", "phi-4", models, 0, []string{}},
		{"no word", "", []string{"ab", "abcdef"}, 2, []string{}},
		{"another word as short", "f0", []string{"yi", "phi"}, 1, []string{}},
		{"one sign", "_", []string{"q"}, 1, []string{}},
		{"a sign of several bytes", "\u2603", []string{"yi"}, 1, []string{}},
		{"a plural", "families", []string{"family", "license"}, 1, []string{"family"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, Near(tt.word, tt.candidates, tt.n)); diff != "" {
				t.Errorf("Near(%q) (-want +got):\n%s", tt.word, diff)
			}
		})
	}
}

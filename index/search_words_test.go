package index

import (
	"slices"
	"strings"
	"testing"
)

// Words that no record has are those that a look at every name does not find, and come with words of names that are near.
func TestUnknownWords(t *testing.T) {
	_, gen := shippedGeneration(t)
	for _, tt := range []struct {
		table *Table
		words string
		near  []string // the nearest word of each unknown one; empty for none
	}{
		{gen.Hardware, "nvida", []string{"nvidia"}},
		{gen.Hardware, "nvidia geforce", nil},
		{gen.Models, "lama", nil}, // a part of llama
		{gen.Models, "gema mistrall", []string{"gemma", "mistral"}},
		{gen.Benchmarks, "qwenn gefroce", []string{"qwen", "geforce"}},
		{gen.Tools, "xx zzzzzzzzzzzzz", []string{"", ""}},
	} {
		words := strings.Fields(tt.words)
		for _, word := range append(tt.table.search.words[:200:200], words...) {
			if has := tt.table.search.has(word); has == tt.table.search.match([]string{word}).IsEmpty() {
				t.Errorf("%q: has is %v, a search says the opposite", word, has)
			}
		}
		got := tt.table.UnknownWords(words, 3)
		var near []string
		for _, u := range got {
			if !slices.Contains(words, u.Word) {
				t.Errorf("%q: %q was not asked for", tt.words, u.Word)
			}
			if len(u.Near) == 0 {
				near = append(near, "")
				continue
			}
			near = append(near, u.Near[0])
			if len(u.Near) > 3 {
				t.Errorf("%q: %d words near %q", tt.words, len(u.Near), u.Word)
			}
			for _, n := range u.Near {
				if tt.table.search.match([]string{n}).IsEmpty() {
					t.Errorf("%q: no record has %q either", tt.words, n)
				}
			}
		}
		if !slices.Equal(near, tt.near) {
			t.Errorf("%q: near words %q, want %q", tt.words, near, tt.near)
		}
	}
}

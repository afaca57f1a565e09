package resolve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ExampleResolver_Resolve reads the two names whose steps the package page tells.
func ExampleResolver_Strict() {
	r := resolver()
	h := r.Strict(Hardware, "NVIDIA GeForce RTX 4090 Laptop GPU 16GB x2")
	fmt.Println(h.Slug, h.MemoryGB, h.Count)
	m := r.Strict(Model, "unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF:Q4_K_M")
	fmt.Println(m.Slug, m.Quantization, m.Format)
	// Output:
	// nvidia-rtx-4090-laptop 16 2
	// qwen3-30b-a3b-instruct-2507 Q4_K_M gguf
}

// TestSteps: what each step that the package page tells makes of its example.
func TestSteps(t *testing.T) {
	text := clean("NVIDIA GeForce RTX 4090 Laptop GPU 16GB x2")
	one, count := cutTimes(text)
	part := cutHardware(one)
	words, memory := hwWords(part.main)
	if count != 2 || len(part.extras) != 0 || strings.Join(words, " ") != "rtx 4090 laptop" || memory != 16 || join(words) != "rtx4090laptop" {
		t.Errorf("%q is %d of %q with %q beside it, words %q, %v GB", text, count, part.main, part.extras, words, memory)
	}
	name := cutModel(clean("unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF:Q4_K_M"))
	if name.owner != "unsloth" || name.name != "qwen3-30b-a3b-instruct-2507-gguf" || name.tag != "q4_k_m" {
		t.Errorf("the parts of the model's name are %+v", name)
	}
	mark, ok := allMarks(name.tag)
	bare, _ := bareModel(name.name)
	if want := []string{"qwen", "3", "30b", "a3b", "instruct", "2507"}; !ok || mark.quant != "Q4_K_M" || !slices.Equal(modelWords(bare), want) {
		t.Errorf("mark %+v, words %q, want %q", mark, modelWords(bare), want)
	}
}

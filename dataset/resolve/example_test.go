package resolve

import (
	"fmt"
)

// ExampleResolver_Strict reads the two names whose steps the package page tells.
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

package fit

import (
	"math"
	"strings"
	"testing"

	"modeldex/dataset"
)

// TestBitsPerWeight: files leave out the part of a model that looks at pictures, so their weights are counted by the file
// of 16 bits, unless that cannot be of 16 bits throughout.
func TestBitsPerWeight(t *testing.T) {
	t.Parallel()
	params, published := 5.0, 4.5
	model := func(sizes ...dataset.Quantization) *target {
		m := &dataset.Model{Quantizations: sizes}
		m.ParamsB = &params
		return &target{Model: m, weights: weightsByFormat(m)}
	}
	size := func(name, format string, gb float64) dataset.Quantization {
		return dataset.Quantization{Name: name, Format: format, SizeBytes: int64(gb * 1e9), Basis: dataset.Published}
	}
	said := size("Q4_0", "gguf", 2.5)
	said.BitsPerWeight = &published
	for _, tt := range []struct {
		name  string
		sizes []dataset.Quantization
		want  float64 // of the first
	}{
		{"no file of 16 bits", []dataset.Quantization{size("Q4_0", "gguf", 2.5)}, 4},
		{"four of five billion weights", []dataset.Quantization{size("Q4_0", "gguf", 2.25), size("BF16", "gguf", 8)}, 4.5},
		{"the larger of two", []dataset.Quantization{size("Q4_0", "gguf", 2.25), size("f16", "gguf", 8), size("BF16", "gguf", 7.9)}, 4.5},
		{"the file itself", []dataset.Quantization{size("BF16", "gguf", 8)}, 16},
		{"another format", []dataset.Quantization{size("Q4_0", "mlx", 2.5), size("BF16", "gguf", 8)}, 4},
		{"most weights of four bits", []dataset.Quantization{size("Q4_0", "gguf", 2.5), size("BF16", "gguf", 3)}, 4},
		{"computed from the parameters", []dataset.Quantization{size("Q4_0", "gguf", 2.5), {Name: "BF16", Format: "gguf", SizeBytes: 8e9, Basis: dataset.Computed}}, 4},
		{"the record says", []dataset.Quantization{said, size("BF16", "gguf", 10)}, 4.5},
		{"the record says by parameters", []dataset.Quantization{said, size("BF16", "gguf", 8)}, 5},
		{"a matrix twice", []dataset.Quantization{size("Q4_0", "gguf", 2.5), size("BF16", "gguf", 12)}, 4},
		{"rounded", []dataset.Quantization{size("Q4_0", "gguf", 2.5), size("BF16", "gguf", 9.8)}, 4},
	} {
		m := model(tt.sizes...)
		if got := m.bits(&m.Quantizations[0]); got == nil || math.Abs(*got-tt.want) > 1e-9 {
			t.Errorf("%s: %v bits, want %v", tt.name, *got, tt.want)
		}
	}
	if m := (&target{Model: &dataset.Model{}}); m.bits(&dataset.Quantization{SizeBytes: 1}) != nil || weightsByFormat(m.Model) != nil {
		t.Error("bits of a model of unknown parameters")
	}
}

// TestFourBitsOfShipped: a size of four bits by its name is not said to have fewer, where the weights of the files are known.
func TestFourBitsOfShipped(t *testing.T) {
	t.Parallel()
	e := shippedEngine(t)
	looked := 0
	for _, slug := range e.bySlug {
		m := e.models[slug]
		for i := range m.Quantizations {
			z := &m.Quantizations[i]
			if m.weights[z.Format] == 0 || !strings.Contains(z.Name, "Q4") {
				continue
			}
			looked++
			if bits := m.bits(z); *bits < LeastBits {
				t.Errorf("%s of %s: %.2f bits per weight", z.Name, slug, *bits)
			}
		}
	}
	if looked < 100 {
		t.Errorf("%d sizes were looked at", looked)
	}
}

// TestOrderOfSizes: of sizes of one precision a file that can be had comes before one that was worked out, and a smaller one first.
func TestOrderOfSizes(t *testing.T) {
	t.Parallel()
	size := func(name string, basis dataset.Basis, bits float64, bytes int64) dataset.Quantization {
		return dataset.Quantization{Name: name, Basis: basis, BitsPerWeight: &bits, SizeBytes: bytes}
	}
	m := &target{Model: &dataset.Model{Quantizations: []dataset.Quantization{
		size("fifth", dataset.Computed, 4, 10), size("third", dataset.Computed, 16, 90), size("second", dataset.Published, 16, 110),
		size("first", dataset.Published, 16, 100), size("fourth", dataset.Published, 8, 50), size("last", dataset.Published, 32, 200),
	}}}
	var names []string
	for _, o := range m.inOrder() {
		names = append(names, m.Quantizations[o.at].Name)
	}
	if got := strings.Join(names, " "); got != "first second third fourth fifth last" {
		t.Errorf("the order is %s", got)
	}
}

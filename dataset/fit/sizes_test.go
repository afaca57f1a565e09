package fit

import (
	"cmp"
	"math"
	"slices"
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
	unknown := &dataset.Model{Quantizations: []dataset.Quantization{size("BF16", "gguf", 8)}}
	if m := (&target{Model: unknown, weights: weightsByFormat(unknown)}); m.bits(&m.Quantizations[0]) != nil {
		t.Error("bits of a model of unknown parameters")
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
	for _, at := range m.inOrder("") {
		names = append(names, m.Quantizations[at].Name)
	}
	if got := strings.Join(names, " "); got != "first second third fourth fifth last" {
		t.Errorf("the order is %s", got)
	}
}

// Of sizes whose files differ by less than a tenth one is chosen: a file before a computed size, a usual one before others, the more
// precise of two. The smallest is always chosen, and so is one that ran where the formula says that it does not fit.
func TestSpread(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sizes [][2]int64 // claim and bytes
		want  []int
	}{
		{"none", nil, nil},
		{"far from each other", [][2]int64{{1, 300}, {2, 200}, {3, 100}}, []int{1, 2, 3}},
		{"the usual file", [][2]int64{{2, 105}, {1, 100}, {2, 60}}, []int{1, 2}},
		{"a file before a computed size", [][2]int64{{3, 105}, {2, 100}, {4, 60}}, []int{2, 4}},
		{"a tenth more is far enough", [][2]int64{{1, 1210}, {1, 1100}, {1, 1000}}, []int{1, 1, 1}},
		{"less is not", [][2]int64{{1, 1209}, {1, 1100}, {1, 1000}}, []int{1, 1}},
		{"the smallest, near to another", [][2]int64{{1, 102}, {4, 100}}, []int{1, 4}},
		{"what ran, near to another", [][2]int64{{0, 105}, {1, 103}, {2, 50}}, []int{0, 2}},
		{"two that ran", [][2]int64{{0, 105}, {0, 103}, {2, 50}}, []int{0, 0, 2}},
	} {
		m := &target{Model: &dataset.Model{}}
		for i, s := range tt.sizes {
			m.Quantizations = append(m.Quantizations, dataset.Quantization{SizeBytes: s[1]})
			m.sizes, m.listed = append(m.sizes, stored{claim: int(s[0])}), append(m.listed, i)
		}
		m.spread(false)
		var got []int
		for i := range m.sizes {
			if m.sizes[i].chosen {
				got = append(got, m.sizes[i].claim)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Whatever the shipped data says of a model, a list looks at few of its sizes on hardware where none was measured, and at one
// that is as small as any published file but those of MLX, and of at least LeastBits where that is. A size of four bits by its name is not
// said to have fewer, where the weights of the files are known.
func TestSizesOfShipped(t *testing.T) {
	e := shippedEngine(t)
	fourBits := 0
	for _, slug := range e.bySlug {
		m := e.models[slug]
		n := 0
		for i := range m.sizes {
			n += oneIf(m.sizes[i].chosen)
		}
		if n > 20 {
			t.Errorf("%s: lists look at %d of %d sizes", slug, n, len(m.sizes))
		}
		for at := range m.Quantizations {
			z := &m.Quantizations[at]
			asSmall := func(o int) bool {
				return m.sizes[o].chosen && m.Quantizations[o].SizeBytes <= z.SizeBytes && (m.hasLeastBits(o) || !m.hasLeastBits(at))
			}
			if z.Basis == dataset.Published && z.Format != "mlx" && !slices.ContainsFunc(m.order, asSmall) {
				t.Errorf("%s: lists look at nothing as small as %s", slug, z.Name)
			}
			if m.weights[z.Format] > 0 && strings.Contains(z.Name, "Q4") {
				if fourBits++; !m.hasLeastBits(at) {
					t.Errorf("%s of %s has fewer bits per weight", z.Name, slug)
				}
			}
		}
	}
	if fourBits < 100 {
		t.Errorf("%d sizes of four bits were looked at", fourBits)
	}
}

// A list names the first of the sizes of the answer about the one model: one that somebody published, measured or usually
// makes. Sizes that are not listed are behind all that are. With MeasuredFirst it names no size of more than EnoughBits where
// another runs that was measured as well, or neither was.
func TestListedSizes(t *testing.T) {
	set, e := shippedSet(t), shippedEngine(t)
	exists := map[string]bool{}
	for _, b := range set.Benchmarks {
		if b.Quantization != nil && b.Withdrawn == nil {
			exists[string(b.Model)+" "+strings.ToLower(*b.Quantization)] = true
		}
	}
	for i := range set.Models {
		m := &set.Models[i]
		for _, name := range usual {
			exists[string(m.Slug)+" "+strings.ToLower(name)] = true
		}
		for j := range m.Quantizations {
			if z := &m.Quantizations[j]; z.Basis == dataset.Published {
				exists[string(m.Slug)+" "+strings.ToLower(z.Name)] = true
			}
		}
	}
	named, moderate := 0, 0
	for _, hardware := range []dataset.Slug{"nvidia-rtx-3060", "nvidia-rtx-4090", "apple-m4-max-40gpu", "amd-ryzen-ai-max-395"} {
		for _, list := range []struct {
			prefer Preference
			least  float64
		}{{"", 0}, {"", 30}, {PreferMeasured, 0}} {
			q := Query{Hardware: hardware, Prefer: list.prefer, MinTPS: list.least}
			found, fault := e.Models(q)
			if fault != nil {
				t.Fatal(fault)
			}
			for _, b := range found.Found {
				named++
				if !exists[string(b.Model)+" "+strings.ToLower(b.Quantization)] {
					t.Errorf("%s on %s: %s, which nobody published, measured or usually makes", b.Model, hardware, b.Quantization)
				}
				if list.least > 0 {
					continue
				}
				q.Model = b.Model
				a, fault := e.Fit(q)
				if fault != nil {
					t.Fatal(fault)
				}
				if a.Sizes[0].Quantization != b.Quantization {
					t.Errorf("%s on %s: %s in the list, %s first of its sizes", b.Model, hardware, b.Quantization, a.Sizes[0].Quantization)
				}
				if !slices.IsSortedFunc(a.Sizes, func(x, y Size) int { return cmp.Compare(oneIf(y.Listed), oneIf(x.Listed)) }) {
					t.Errorf("%s on %s: a size that is not listed is before one that is", b.Model, hardware)
				}
				if list.prefer == "" || b.BitsPerWeight == nil || *b.BitsPerWeight <= EnoughBits {
					moderate += oneIf(list.prefer != "")
					continue
				}
				for i := range a.Sizes {
					z := &a.Sizes[i]
					if z.Listed && z.Verdict == b.Verdict && z.BitsPerWeight != nil && *z.BitsPerWeight >= LeastBits && *z.BitsPerWeight <= EnoughBits &&
						(z.Speed.Measured != nil || a.Sizes[0].Speed.Measured == nil) {
						t.Errorf("%s on %s: %s, where %s runs as well", b.Model, hardware, b.Quantization, z.Quantization)
					}
				}
			}
		}
	}
	if named < 1000 || moderate < 500 {
		t.Errorf("%d answers, %d of at most %d bits, want more", named, moderate, EnoughBits)
	}
}

// The weights of gpt-oss were trained in four bits: its files of 16 bits are hardly larger, and what a computed size of fewer bits says
// is true of no file.
func TestNoUsualSizesOfWeightsInFourBits(t *testing.T) {
	e := shippedEngine(t)
	for _, slug := range []dataset.Slug{"gpt-oss-20b", "gpt-oss-120b"} {
		target := e.models[slug]
		if names := target.madeByPublishers(); len(names) > 0 {
			t.Errorf("%s: %v count as usual", slug, names)
		}
		if at := slices.IndexFunc(target.Quantizations, func(z dataset.Quantization) bool { return z.Name == "MXFP4" }); !target.sizes[at].chosen {
			t.Errorf("%s: lists do not look at MXFP4, the weights as they were trained", slug)
		}
	}
	if names := e.models["llama-3.1-8b-instruct"].madeByPublishers(); slices.Contains(names, "F16") || !slices.Contains(names, "Q8_0") {
		t.Errorf("llama-3.1-8b-instruct, of which BF16 is published: %v", names)
	}
}

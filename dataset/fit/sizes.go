package fit

import (
	"cmp"
	"math"
	"slices"

	"modeldex/dataset"
)

// A way is how weights are stored, in numbers: what estimates know of a name of a quantization. Names that were
// not measured may be of the same way.
type way struct {
	quant, quantKind int32
	logBits          float64 // of the bits per weight
}

// stored is a size in numbers. All sizes of one name are stored in one way.
type stored struct {
	logBytes float64 // of the bytes one token reads; where the share of the target is known
	way      int32   // in the engine's list
	folded   int32   // number of the name, letter case aside
}

// prepare works out what estimates need of every size, once what was measured is known.
func (e *Engine) prepare() {
	l := &e.learnt
	ofName, ways := map[string]stored{}, map[way]int32{}
	for _, slug := range e.bySlug {
		t := e.models[slug]
		t.model, t.family = l.names.find(modelName, string(t.Slug)), l.names.find(familyName, string(t.Family))
		one := 1.0
		t.share = e.line.BytesPerToken(&dataset.Benchmark{Model: t.Slug, ModelSizeGiB: &one}) / gib
		t.sizes = make([]stored, len(t.Quantizations))
		for i := range t.sizes {
			z := &t.Quantizations[i]
			s, known := ofName[z.Name]
			if !known {
				e.ways, s.way = numbered(e.ways, ways, way{
					l.names.find(quantName, z.Name), l.names.find(quantKindName, quantKindOf(z.Name)), math.Log(e.bitsOf(z.Name)),
				})
				s.folded = l.names.find(foldedName, folded(z.Name))
				ofName[z.Name] = s
			}
			s.logBytes = math.Log(t.bytesPerToken(z.SizeBytes))
			t.sizes[i] = s
		}
	}
	l.ways = len(e.ways)
}

// bitsOf is the bits per weight of a quantization. Names without a number count as 4.5, because most of
// them are of 4-bit files; it is only compared with other bits.
func (e *Engine) bitsOf(quantization string) float64 {
	return cmp.Or(e.line.BitsPerWeight(quantization), 4.5)
}

// bytesPerToken is what one token reads of a size; 0 where unknown.
func (t *target) bytesPerToken(size int64) float64 { return float64(size) * t.share }

// named lists the numbers of the sizes of a name, all for the empty one.
func (t *target) named(name string) (out []int) {
	for i := range t.Quantizations {
		if name == "" || sameName(t.Quantizations[i].Name, name) {
			out = append(out, i)
		}
	}
	return out
}

// inOrder lists the sizes of a model, the most precise first.
func (t *target) inOrder() []ordered {
	out := make([]ordered, len(t.Quantizations))
	for i := range out {
		out[i] = ordered{i, t.Quantizations[i].SizeBytes}
	}
	of := func(i int) float64 { return precision(t.bits(&t.Quantizations[i])) }
	slices.SortStableFunc(out, func(a, b ordered) int {
		return cmp.Or(-cmp.Compare(of(a.at), of(b.at)), cmp.Compare(a.bytes, b.bytes))
	})
	return out
}

// bits is the storage of a size in bits per weight, worked out where the record does not say.
func (t *target) bits(z *dataset.Quantization) *float64 {
	if z.BitsPerWeight != nil || t.ParamsB == nil {
		return z.BitsPerWeight
	}
	bits := float64(z.SizeBytes) * 8 / (*t.ParamsB * 1e9)
	return &bits
}

// precision orders sizes by bits per weight, nil where they are unknown.
func precision(bits *float64) float64 {
	switch {
	case bits == nil:
		return 0
	case *bits > 17:
		return -1
	}
	return *bits
}

func weightsOf(z *dataset.Quantization) Bytes {
	if z.Basis == dataset.Published {
		return Bytes{z.SizeBytes, Published, "weights.file"}
	}
	return Bytes{z.SizeBytes, Computed, "weights.bits"}
}

package fit

import (
	"cmp"
	"slices"

	"modeldex/dataset"
)

// sizes returns the sizes of a name, all for the empty one.
func (t *target) sizes(name string) []*dataset.Quantization {
	var out []*dataset.Quantization
	for i := range t.Quantizations {
		if z := &t.Quantizations[i]; name == "" || sameName(z.Name, name) {
			out = append(out, z)
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
	of := func(i int) float64 {
		s := Size{BitsPerWeight: t.bits(&t.Quantizations[i])}
		return precision(&s)
	}
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

func precision(s *Size) float64 {
	if s.BitsPerWeight == nil {
		return 0
	}
	if *s.BitsPerWeight > 17 {
		return -1
	}
	return *s.BitsPerWeight
}

func weightsOf(z *dataset.Quantization) Bytes {
	if z.Basis == dataset.Published {
		return Bytes{z.SizeBytes, Published, "weights.file"}
	}
	return Bytes{z.SizeBytes, Computed, "weights.bits"}
}

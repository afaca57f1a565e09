package dataset

import (
	"math"
	"slices"
)

// computed returns a type as it is in every model without a published size, except for the
// size: method, bits and source are shared by all of them.
func computed(q *QuantizationType) Quantization {
	bits := *q.EffectiveBitsPerWeight
	method := "params_b x 10^9 x bits_per_weight / 8"
	if q.EffectiveBasis != nil {
		method += "; bits_per_weight: " + *q.EffectiveBasis
	}
	return Quantization{
		Name: q.Name, Format: q.Format, BitsPerWeight: &bits,
		Basis: Computed, Method: &method, Source: sourceOf(q, "effective_bits_per_weight"),
	}
}

// computedSize is the size of a model of paramsB billion parameters, in bytes: parameters x
// effective bits per weight / 8. Small models with large vocabularies run above it, because
// embeddings and output head are kept at higher precision.
func computedSize(paramsB, bits float64) int64 { return int64(math.Round(paramsB * 1e9 * bits / 8)) }

// sourceOf is the page the field was read from, nil where no page backs it.
func sourceOf(q *QuantizationType, field string) *URL {
	for _, s := range q.Sources {
		if slices.Contains(s.Fields, field) {
			return s.URL
		}
	}
	return nil
}

// addComputed appends to every model of known size the quantizations without a published size
// of. A type without a measured whole-file average is left out rather than guessed.
func addComputed(models []Model, types []QuantizationType) {
	var known []Quantization
	for i := range types {
		if types[i].EffectiveBitsPerWeight != nil {
			known = append(known, computed(&types[i]))
		}
	}
	most := 0
	for i := range models {
		most += len(models[i].Quantizations) + len(known)
	}
	// There is one list for all models, of exactly the size it needs. A list for each model would be allocated
	// among those discarded while it grew, and would keep their memory in use.
	all := make([]Quantization, 0, most)
	for i := range models {
		m := &models[i]
		if m.ParamsB == nil {
			continue
		}
		have := make(map[string]bool, len(m.Quantizations))
		first := len(all)
		for _, q := range m.Quantizations {
			have[q.Name] = true
			all = append(all, q)
		}
		for _, q := range known {
			if !have[q.Name] {
				q.SizeBytes = computedSize(*m.ParamsB, *q.BitsPerWeight)
				all = append(all, q)
			}
		}
		m.Quantizations = all[first:len(all):len(all)] // a list of its own: that of the file is remembered
	}
}

package dataset

import (
	"math"
	"slices"
)

// QuantizationType is one way of storing weights: data/quantizations.json.
type QuantizationType struct {
	// Name of the type, as files carry it.
	Name string `json:"name" jsonschema:"minLength=1,example=Q4_K_M"`
	// File format.
	Format string `json:"format" jsonschema:"minLength=1,example=gguf"`
	// Storage type most blocks of such a file have.
	MainBlockType *string `json:"main_block_type" jsonschema:"nullable,minLength=1,example=Q4_K"`
	// Storage of that block type, in bits per weight, exact.
	BlockBitsPerWeight *float64 `json:"block_bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.5" jsonschema_extras:"unit=bits"`
	// Whether some tensors of such a file have another block type.
	Mix *bool `json:"mix" jsonschema:"nullable,example=true"`
	// Whole-file average to estimate sizes with; null where nobody measured one.
	EffectiveBitsPerWeight *float64 `json:"effective_bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.8944" jsonschema_extras:"unit=bits"`
	// Where the whole-file average comes from.
	EffectiveBasis *string `json:"effective_basis" jsonschema:"nullable,minLength=1,example=measured\\, whole-file average for Llama 3.1 8B"`
	// Older published average over a file of the first LLaMA 7B.
	Llama17BBitsPerWeight *float64 `json:"llama_1_7b_bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.83" jsonschema_extras:"unit=bits"`
	// Spread over the published sizes of models of 3 billion parameters and more.
	Observed *ObservedBits `json:"observed" jsonschema:"nullable"`
	// Where the figures come from; each entry names the fields it backs.
	Sources []SourceRef `json:"sources"`
}

// ObservedBits is the spread of bits per weight over published files.
type ObservedBits struct {
	// Number of files.
	N int64 `json:"n" jsonschema:"minimum=1,example=5"`
	// Median, in bits per weight.
	Median float64 `json:"median" jsonschema:"exclusiveMinimum=0,example=1.762" jsonschema_extras:"unit=bits"`
	// Smallest, in bits per weight.
	Min float64 `json:"min" jsonschema:"exclusiveMinimum=0,example=1.66" jsonschema_extras:"unit=bits"`
	// Largest, in bits per weight.
	Max float64 `json:"max" jsonschema:"exclusiveMinimum=0,example=3.075" jsonschema_extras:"unit=bits"`
}

// computed returns the size of a model of paramsB billion parameters stored this way:
// parameters x effective bits per weight / 8. Small models with large vocabularies run above
// it, because embeddings and output head are kept at higher precision.
func (q *QuantizationType) computed(paramsB float64) Quantization {
	bits := *q.EffectiveBitsPerWeight
	method := "params_b x 10^9 x bits_per_weight / 8"
	if q.EffectiveBasis != nil {
		method += "; bits_per_weight: " + *q.EffectiveBasis
	}
	return Quantization{
		Name: q.Name, Format: q.Format, BitsPerWeight: &bits,
		SizeBytes: int64(math.Round(paramsB * 1e9 * bits / 8)),
		Basis:     Computed, Method: &method, Source: q.source("effective_bits_per_weight"),
	}
}

// source is the page the field was read from, nil where no page backs it.
func (q *QuantizationType) source(field string) *URL {
	for _, s := range q.Sources {
		if slices.Contains(s.Fields, field) {
			return s.URL
		}
	}
	return nil
}

// addComputed appends to every model of known size the quantizations nobody published a size
// of. A type without a measured whole-file average is left out rather than guessed.
func addComputed(models []Model, types []QuantizationType) {
	for i := range models {
		m := &models[i]
		if m.ParamsB == nil {
			continue
		}
		have := make(map[string]bool, len(m.Quantizations))
		for _, q := range m.Quantizations {
			have[q.Name] = true
		}
		for j := range types {
			if t := &types[j]; t.EffectiveBitsPerWeight != nil && !have[t.Name] {
				m.Quantizations = append(m.Quantizations, t.computed(*m.ParamsB))
			}
		}
	}
}

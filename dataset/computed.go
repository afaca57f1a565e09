package dataset

import (
	"cmp"
	"math"
	"slices"
)

// A computable is a type that sizes are computed of, as every model without a published size has it but for the size.
type computable struct {
	Quantization
	limited string // the method where the published sizes decide
	keeps   bool   // the embedding and the output in 16 bits
}

func computed(q *QuantizationType) computable {
	bits, method, field := q.EffectiveBitsPerWeight, "params_b x 10^9 x bits_per_weight / 8", "effective_bits_per_weight"
	if bits == nil {
		bits, method, field = q.BlockBitsPerWeight, keptMethod, "block_bits_per_weight"
	}
	if q.EffectiveBasis != nil {
		method += "; bits_per_weight: " + *q.EffectiveBasis
	}
	var source *URL // no page may back it
	if at := slices.IndexFunc(q.Sources, func(s SourceRef) bool { return slices.Contains(s.Fields, field) }); at >= 0 {
		source = q.Sources[at].URL
	}
	return computable{Quantization{
		Name: q.Name, Format: q.Format, BitsPerWeight: new(*bits), Basis: Computed, Method: &method, Source: source,
	}, method + "; limited by the published sizes of fewer and of more bits", q.EffectiveBitsPerWeight == nil}
}

// keptMethod is how the size of a type follows that keeps the embedding and the output in 16 bits: AWQ, GPTQ and FP8.
const keptMethod = "(params_b x 10^9 - kept) x block_bits_per_weight / 8 + kept x 2; kept: vocab_size x hidden_size, twice unless tie_word_embeddings"

func kept(m *Model) float64 {
	a := &m.Architecture
	if a.VocabSize == nil || a.HiddenSize == nil || a.TieWordEmbeddings == nil {
		return 0
	}
	matrices := 2.0
	if *a.TieWordEmbeddings {
		matrices = 1
	}
	return matrices * float64(*a.VocabSize**a.HiddenSize)
}

// of is the type in a model. It is not ok if a fact is unknown, or if the weights are stored in fewer bits than its
// file of 16 bits says: then only types of at least so many bits and less than 16 are known.
func (c *computable) of(m *Model, published []publishedSize) (q Quantization, ok bool) {
	q = c.Quantization
	bits, weights := *q.BitsPerWeight, *m.ParamsB*1e9
	if c.keeps {
		most := kept(m)
		if most == 0 || most > weights {
			return q, false
		}
		bits = ((weights-most)*bits + most*16) / weights
		q.BitsPerWeight = &bits
	}
	q.SizeBytes = int64(math.Round(weights * bits / 8))
	fewest, least, most := 0.0, int64(0), int64(math.MaxInt64)
	for _, p := range published {
		switch {
		case p.format != q.Format:
		case p.bits < bits:
			least = max(least, p.bytes)
		case p.bits > bits:
			most = min(most, p.bytes)
		}
		if real := float64(p.bytes) * 8 / weights; p.bits >= fullBits && real < storedSmaller {
			fewest = real
		}
	}
	if limited := min(max(q.SizeBytes, min(least, most)), max(least, most)); limited != q.SizeBytes {
		q.SizeBytes, q.Method = limited, &c.limited
	}
	return q, fewest == 0 || bits >= fewest && bits < fullBits
}

const (
	// storedSmaller is how many bits per weight a file of 16 bits has at least, unless most of its weights are stored in four whatever its name.
	storedSmaller = 10
	// fullBits is a little less than files of 16 bits have.
	fullBits = 15.5
)

type publishedSize struct {
	format string
	bits   float64
	bytes  int64
}

// addComputed appends to models the quantizations they have no published size of, where the average of a type is known.
func addComputed(models []Model, types []QuantizationType) {
	var known []computable
	bits := map[string]float64{}
	for i := range types {
		if b := types[i].EffectiveBitsPerWeight; b != nil || types[i].Format != "gguf" && types[i].BlockBitsPerWeight != nil {
			known = append(known, computed(&types[i]))
			bits[types[i].Name] = *cmp.Or(b, types[i].BlockBitsPerWeight)
		}
	}
	most := 0
	for i := range models {
		most += len(models[i].Quantizations) + len(known)
	}
	// There is one list for all models, of exactly the size it needs. A list for each model would be allocated
	// among those discarded while it grew, and would keep their memory in use.
	all := make([]Quantization, 0, most)
	var published []publishedSize
	for i := range models {
		m := &models[i]
		if m.ParamsB == nil {
			continue
		}
		have := make(map[string]bool, len(m.Quantizations))
		first := len(all)
		published = published[:0]
		for _, q := range m.Quantizations {
			have[q.Name] = true
			all = append(all, q)
			if b := bits[q.Name]; b > 0 {
				published = append(published, publishedSize{q.Format, b, q.SizeBytes})
			}
		}
		for k := range known {
			if have[known[k].Name] {
				continue
			}
			if q, ok := known[k].of(m, published); ok {
				all = append(all, q)
			}
		}
		m.Quantizations = all[first:len(all):len(all)] // a list of its own: that of the file is remembered
	}
}

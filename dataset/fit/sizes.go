package fit

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
)

// stored is a size in numbers.
type stored struct {
	storage        storage
	exists, chosen bool    // whether it was published, measured or is usually made, and whether lists may name it anywhere
	claim          int     // see claim
	bytes          float64 // that one token reads; 0 where unknown
	logBits        float64 // of the bits per weight
	format, folded int32   // numbers of the kind of quantization and of its name, letter case aside
}

// stored is a size of a model. Its bytes are those that files of its quantization have of models of the same shape.
func (e *Engine) stored(t *target, z *dataset.Quantization) stored {
	name := folded(z.Name)
	return stored{
		storage: e.storage(z.Name), bytes: t.body.reads(cmp.Or(t.body.bytes[name], float64(z.SizeBytes))), logBits: math.Log(e.bitsOf(z.Name)),
		format: e.numbers.find("format " + formatOf(z.Name)), folded: e.numbers.find("quantization " + name),
	}
}

// choose works out the sizes, once what was measured is known, and which lists may name: those that were published,
// measured or are usual, one of several of about the same bytes (see spread), and any on hardware where it was measured.
func (e *Engine) choose() {
	type size struct{ shape, quant int32 }
	measured := map[size]bool{}
	for p, list := range e.runs {
		for _, r := range list {
			measured[size{p.shape, r.quant}] = true
		}
	}
	for _, t := range e.models {
		made := t.madeByPublishers()
		t.sizes = make([]stored, len(t.Quantizations))
		for _, at := range t.order {
			z, s := &t.Quantizations[at], &t.sizes[at]
			*s = e.stored(t, z)
			if s.exists = z.Basis == dataset.Published || t.ran[s.folded] || slices.Contains(made, z.Name); s.exists {
				s.claim, t.listed = e.claim(t, z), append(t.listed, at)
			}
		}
		t.spread(true)
		t.spread(false)
		t.listed = slices.DeleteFunc(t.listed, func(at int) bool {
			return !t.sizes[at].chosen && !measured[size{t.body.shape, t.sizes[at].folded}]
		})
	}
}

// claim orders sizes of about the same bytes, the least first: 0, always chosen, for one that ran where the formula says
// no; then published files before computed sizes, of both usual ones first.
func (e *Engine) claim(t *target, z *dataset.Quantization) int {
	first := usual
	if t.fourBits {
		first = asTrained
	}
	if slices.ContainsFunc(e.proofs[t.Slug], func(p proof) bool { return strings.EqualFold(p.quantization, z.Name) }) {
		return 0
	}
	return 1 + 2*oneIf(z.Basis != dataset.Published) + oneIf(!slices.Contains(first, z.Name))
}

// leastStep is the ratio of bytes between sizes of a list: speeds of nearer ones differ less than estimates err.
const leastStep = 1.1

// spread chooses among the sizes with or without LeastBits, the most precise first, so that no two are within leastStep,
// unless one has the claim 0. The smallest is always chosen: whether a model runs does not depend on the choice.
func (t *target) spread(leastBits bool) {
	var sizes, kept []int
	for _, at := range t.listed {
		if t.hasLeastBits(at) == leastBits && t.Quantizations[at].Format != "mlx" { // most hardware cannot run it
			sizes = append(sizes, at)
		}
	}
	bytes := func(at int) int64 { return t.Quantizations[at].SizeBytes }
	slices.SortStableFunc(sizes, func(a, b int) int { return cmp.Compare(t.sizes[a].claim, t.sizes[b].claim) })
	for _, at := range sizes {
		near := func(k int) bool {
			return float64(max(bytes(k), bytes(at))) < leastStep*float64(min(bytes(k), bytes(at)))
		}
		smallest := slices.MinFunc(sizes, func(a, b int) int { return cmp.Compare(bytes(a), bytes(b)) })
		if s := &t.sizes[at]; at == smallest || s.claim == 0 || !slices.ContainsFunc(kept, near) {
			kept, s.chosen = append(kept, at), true
		}
	}
}

// LeastBits is the precision, in bits per weight, below which people rarely go while they have a choice:
// perplexity rises steeply under it (llama.cpp, https://github.com/ggml-org/llama.cpp/pull/1684).
const LeastBits = 4

// EnoughBits is the bits per weight above which answers become no better: Q8_0, of 8.5, raises the perplexity of Llama 3 8B
// by 0.0026 (https://github.com/ggml-org/llama.cpp/blob/master/tools/quantize/quantize.cpp).
const EnoughBits = 9

// hasLeastBits reports whether a size is known to have at least LeastBits.
func (t *target) hasLeastBits(size int) bool { return val(t.bits(&t.Quantizations[size])) >= LeastBits }

// beyondEnough is 1 for more than EnoughBits. Of weights trained in four bits it is 0 for those alone.
func (t *target) beyondEnough(size int) int {
	if t.fourBits {
		return oneIf(!slices.Contains(asTrained, t.Quantizations[size].Name))
	}
	return oneIf(val(t.bits(&t.Quantizations[size])) > EnoughBits)
}

// oneIf is 1 for true and 0 for false, so that what is true comes last in an order.
func oneIf(is bool) int {
	if is {
		return 1
	}
	return 0
}

// usual are the quantizations that publishers make for at least two thirds of the models. F16 means the weights as
// trained.
var usual = []string{"F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "Q3_K_M", "Q2_K"}

// asTrained are the sizes people choose of a model whose weights were trained in four bits: the weights as they are.
var asTrained = []string{"MXFP4"}

// madeByPublishers are the sizes that may be taken to exist though none is known to be published: none of weights trained
// in four bits, and not F16 beside a published file of 16 bits.
func (t *target) madeByPublishers() []string {
	switch {
	case t.fourBits:
		return nil
	case slices.ContainsFunc(t.Quantizations, isFull):
		return usual[1:]
	}
	return usual
}

// bitsOf is the bits per weight of a quantization, of a name without a number those of the most files.
func (e *Engine) bitsOf(quantization string) float64 {
	return cmp.Or(e.line.BitsPerWeight(quantization), 4.5)
}

// named lists the numbers of the sizes of a name, all for the empty one.
func (t *target) named(name string) (out []int) {
	for i := range t.Quantizations {
		if name == "" || strings.EqualFold(t.Quantizations[i].Name, name) {
			out = append(out, i)
		}
	}
	return out
}

// inOrder lists the sizes of a name, all for the empty one, the most precise first.
func (t *target) inOrder(name string) []int {
	return slices.SortedStableFunc(slices.Values(t.named(name)), t.comparePrecision)
}

// comparePrecision orders two sizes, given by number: the more precise first (above 17 bits is no more than what was
// trained), then a published file, then the smaller one.
func (t *target) comparePrecision(i, j int) int {
	a, b := &t.Quantizations[i], &t.Quantizations[j]
	precision := func(z *dataset.Quantization) float64 {
		if bits := val(t.bits(z)); bits <= 17 {
			return bits
		}
		return -1
	}
	return cmp.Or(
		cmp.Compare(precision(b), precision(a)),
		cmp.Compare(oneIf(b.Basis == dataset.Published), oneIf(a.Basis == dataset.Published)),
		cmp.Compare(a.SizeBytes, b.SizeBytes),
	)
}

// bits is the bits per weight of a size: of its file where files of the format leave a part out, else of the record, or
// from the parameters.
func (t *target) bits(z *dataset.Quantization) *float64 {
	weights := t.weights[z.Format]
	switch {
	case weights > 0 && z.Basis == dataset.Published:
	case z.BitsPerWeight != nil || t.ParamsB == nil:
		return z.BitsPerWeight
	default:
		weights = *t.ParamsB * 1e9
	}
	return new(round4(float64(z.SizeBytes) * 8 / weights))
}

// weightsByFormat is the weights in files of a format, where published files of 16 bits show that they leave a part out.
func weightsByFormat(m *dataset.Model) map[string]float64 {
	out := map[string]float64{}
	for _, z := range m.Quantizations {
		weights := float64(z.SizeBytes) / 2
		if part := weights / (val(m.ParamsB) * 1e9); isFull(z) && part >= leastPart && part <= mostPart {
			out[z.Format] = max(out[z.Format], weights)
		}
	}
	return out
}

// isFull reports whether a size is a published file that is named after 16 bits per weight.
func isFull(z dataset.Quantization) bool {
	return z.Basis == dataset.Published && slices.Contains([]string{"BF16", "F16", "FP16"}, strings.ToUpper(z.Name))
}

const (
	// Below this part of the parameters a file of 16 bits per weight has other weights than its name says: those of gpt-oss
	// have 0.28 and 0.33, because most of their weights take four bits whatever the name. Other models have 0.71 or more.
	leastPart = 0.5
	// Above it the difference may come from a size that was printed with one decimal of a GiB. A file may also have more
	// weights than the model has parameters, if it repeats a matrix; other files of the model need not.
	mostPart = 0.97
)

// folded is equal for names that are the same.
func folded(name string) string { return strings.ToLower(name) }

// val is an optional value, zero where unknown.
func val[T any](v *T) (value T) {
	if v != nil {
		value = *v
	}
	return value
}

// HasSize reports whether a model has a size of this name.
func (e *Engine) HasSize(model dataset.Slug, name string) bool {
	t, fault := e.target(&Query{Model: model})
	return fault == nil && len(t.named(name)) > 0
}

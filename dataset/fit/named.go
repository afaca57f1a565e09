package fit

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// A kind is what the name of a quantization says: the bits of a block, and those per weight of published files; 0 if unknown.
type kind struct{ blocks, observed float64 }

// leastFiles is how many published files make the bits of a name.
const leastFiles = 3

// kindsOf are the names of the directory, of main block types and of published files, in upper case.
func kindsOf(set *dataset.Set) map[string]kind {
	out, files := map[string]kind{}, map[string][]float64{}
	for i := range set.Quantizations {
		q := &set.Quantizations[i]
		for _, name := range []string{q.Name, cmp.Or(val(q.MainBlockType), q.Name)} {
			upper := strings.ToUpper(name)
			out[upper] = kind{blocks: cmp.Or(val(q.BlockBitsPerWeight), out[upper].blocks)}
		}
	}
	for _, m := range set.Models {
		for _, z := range m.Quantizations {
			if name := strings.ToUpper(z.Name); m.ParamsB != nil && z.Basis == dataset.Published {
				files[name] = append(files[name], float64(z.SizeBytes)*8 / *m.ParamsB / 1e9)
			}
		}
	}
	for name, bits := range files {
		k := out[name]
		if len(bits) >= leastFiles {
			k.observed = record.Median(bits)
		}
		out[name] = k
	}
	return out
}

// storage is how a size of a name is stored.
func (e *Engine) storage(name string) storage {
	weights, plain, longest := e.line.BitsPerWeight(name), strings.TrimPrefix(strings.ToUpper(name), "UD-"), ""
	for of, k := range e.kinds {
		if k.blocks > 0 && strings.HasPrefix(plain, of) && len(of) > len(longest) {
			longest = of
		}
	}
	return storage{cmp.Or(e.kinds[longest].blocks, weights), weights}
}

// A spelling is how names of a kind of quantization are written.
type spelling struct {
	name       *regexp.Regexp
	format     string
	bits       float64
	checkpoint bool
}

// spellings are names of quantizations outside of GGUF: the format of their files and the bits of a weight, or what is added
// to those in the name. Checkpoints keep embedding and output in 16 bits. Groups of 128 of their weights have a 16-bit scale
// and, unless they are symmetric, a zero of their own width; 16 weights of NVFP4 an 8-bit scale. Groups of 64 weights of
// MLX have a 16-bit scale and a 16-bit bias.
var spellings = []spelling{
	{regexp.MustCompile(`^FP8([-_ ].*)?$`), "safetensors", 8, true},
	{regexp.MustCompile(`^(?:NV|NVIDIA )FP4([-_ ].*)?$`), "safetensors", 4.5, true},
	{regexp.MustCompile(`^(?:AWQ|GPTQ|AUTOROUND)([-_ ]?(4[-_ ]?BIT|INT4|W4A16)?([-_ ]?G128)?)?$`), "safetensors", 4.15625, true},
	{regexp.MustCompile(`^GPTQ[-_ ]?(INT8|8[-_ ]?BIT)$`), "safetensors", 8.1875, true},
	{regexp.MustCompile(`^(?:INT4|W4A16|W4A8)([-_ ].*)?$`), "safetensors", 4.125, true},
	{regexp.MustCompile(`^(?:INT8|W8A8|W8A16)([-_ ].*)?$`), "safetensors", 8, true},
	{regexp.MustCompile(`^(NF4|BNB[-_ ]?(4[-_ ]?BIT|NF4)|(BNB|BITSANDBYTES))$`), "safetensors", 4.5, true},
	{regexp.MustCompile(`^(?:MLX[-_ ]?)?([2-8])[-_ ]?BIT(?:[-_ ]?(?:MLX|DWQ|G64))*$`), "mlx", 0.5, false},
	{regexp.MustCompile(`^(?:EXL[23][-_ ]?)?(\d(?:\.\d+)?) ?BPW$`), "exl2", 0, false},
}

// writtenAs is how a name outside of GGUF is written, and the number in it; nil for others.
func writtenAs(name string) (w *spelling, number string) {
	for i := range spellings {
		if m := spellings[i].name.FindStringSubmatch(strings.ToUpper(name)); m != nil {
			return &spellings[i], m[1]
		}
	}
	return nil, ""
}

// sizeOf is the size of a model in a quantization of any name, without bytes if it is no such name, or the parameters are
// unknown.
func (e *Engine) sizeOf(t *target, name string) (z dataset.Quantization, formula string) {
	plain, params, bits := strings.ToUpper(strings.TrimSpace(name)), t.layout.params, 0.0
	z = dataset.Quantization{Name: name, Format: "gguf", Basis: dataset.Computed}
	own, known := e.kinds[plain]
	_, stemKnown := e.kinds[stem(plain)]
	switch w, number := writtenAs(plain); {
	case w != nil && w.checkpoint:
		kept := min(t.layout.matrices()*t.layout.embedding, params)
		z.Format, z.SizeBytes = w.format, int64((params-kept)*w.bits/8+kept*2)
		return z, "weights.checkpoint"
	case w != nil:
		bits, _ = strconv.ParseFloat(number, 64)
		z.Format, bits = w.format, bits+w.bits
	case known || stemKnown:
		s := e.storage(name)
		bits = cmp.Or(own.observed, s.weights, s.blocks)
	}
	if z.SizeBytes, z.BitsPerWeight = int64(params*bits/8), &bits; z.SizeBytes == 0 || z.Format != "gguf" {
		return z, "weights.bits"
	}
	for i := range t.Quantizations { // a published file of fewer bits is no larger, and one of more no smaller
		of := &t.Quantizations[i]
		switch b := t.bits(of); {
		case of.Format != "gguf" || of.Basis != dataset.Published || b == nil:
		case *b < bits:
			z.SizeBytes = max(z.SizeBytes, of.SizeBytes)
		case *b > bits:
			z.SizeBytes = min(z.SizeBytes, of.SizeBytes)
		}
	}
	return z, "weights.bits"
}

// stem is a name of a GGUF type without the recipe of a publisher before it and the mix after it.
func stem(plain string) string {
	return ggufMix.ReplaceAllString(strings.TrimSuffix(strings.TrimPrefix(plain, "UD-"), "-QAT"), "")
}

var ggufMix = regexp.MustCompile(`_(X{0,3}[SML]|MOE)$`)

// inSize is a model in a quantization that the query names but the model does not list. vLLM needs a published
// checkpoint, because the listed sizes have another format.
func (e *Engine) inSize(t *target, q *Query) (*target, *Fault) {
	var z dataset.Quantization
	formula, own := "weights.given", t.named(q.Quantization)
	published := func(i int) bool { return t.Quantizations[i].Basis == dataset.Published }
	w, _ := writtenAs(q.Quantization)
	switch {
	case q.WeightsGB > 0:
		z = dataset.Quantization{Name: cmp.Or(q.Quantization, "given"), Format: "any", SizeBytes: bytesOf(q.WeightsGB), Basis: dataset.Published}
	case q.Quantization == "" || len(own) > 0 && (q.Rules != VLLM || w == nil || !w.checkpoint || slices.ContainsFunc(own, published)):
		return t, nil
	default:
		if z, formula = e.sizeOf(t, q.Quantization); z.SizeBytes > 0 {
			break
		}
		text := "must be a quantization of %s or a known type, such as Q4_K_M, UD-Q4_K_XL, MLX-4bit, AWQ, GPTQ-Int4, FP8, NVFP4 or W4A16"
		if t.layout.params == 0 {
			text = "must be a listed quantization of %s, because its parameter count is not published; or set weights_gb"
		}
		names := make([]string, len(t.Quantizations))
		for i := range names {
			names[i] = t.Quantizations[i].Name
		}
		return nil, &Fault{"quantization", fmt.Sprintf(text, t.Slug), names}
	}
	one, m := *t, *t.Model
	q.Quantization = z.Name
	m.Quantizations, one.Model, one.formula = []dataset.Quantization{z}, &m, formula
	one.sizes, one.order, one.listed = []stored{e.stored(&one, &z)}, []int{0}, []int{0}
	if one.sizes[0].exists, one.sizes[0].chosen = true, true; formula == "weights.checkpoint" {
		one.sizes[0].storage.blocks = 16
	}
	return &one, nil
}

// weightsOf is the size of the weights and where it comes from.
func (t *target) weightsOf(z *dataset.Quantization) Bytes {
	switch {
	case t.formula == "weights.given":
		return exact(z.SizeBytes, Given, t.formula)
	case z.Basis == dataset.Published:
		return exact(z.SizeBytes, Published, "weights.file")
	}
	return exact(z.SizeBytes, Computed, cmp.Or(t.formula, "weights.bits"))
}

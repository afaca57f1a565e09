package fit

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// types are what names of quantizations say.
type types struct {
	line     *dataset.Roofline
	blocks   map[string]float64 // bits of a block, by its type in upper case
	observed map[string]float64 // median bits per weight of published files, by name in upper case
	known    map[string]bool    // names of the directory, in upper case
}

// leastFiles is how many published files make the bits of a name.
const leastFiles = 3

func newTypes(set *dataset.Set, line *dataset.Roofline) types {
	t := types{line, map[string]float64{}, map[string]float64{}, map[string]bool{}}
	for i := range set.Quantizations {
		q := &set.Quantizations[i]
		upper := strings.ToUpper(q.Name)
		if t.known[upper] = true; q.BlockBitsPerWeight != nil {
			t.blocks[upper] = *q.BlockBitsPerWeight
			t.blocks[strings.ToUpper(*cmp.Or(q.MainBlockType, &q.Name))] = *q.BlockBitsPerWeight
		}
	}
	bits := map[string][]float64{}
	for i := range set.Models {
		m := &set.Models[i]
		for j := range m.Quantizations {
			if z := &m.Quantizations[j]; m.ParamsB != nil && z.Basis == dataset.Published {
				upper := strings.ToUpper(z.Name)
				t.known[upper] = true
				bits[upper] = append(bits[upper], float64(z.SizeBytes)*8 / *m.ParamsB / 1e9)
			}
		}
	}
	for name, list := range bits {
		if len(list) >= leastFiles {
			t.observed[name] = record.Median(list)
		}
	}
	return t
}

// storage is how a size of a name is stored.
func (t *types) storage(name string) (s storage) {
	s.weights = t.line.BitsPerWeight(name)
	plain, longest := strings.TrimPrefix(strings.ToUpper(name), "UD-"), ""
	for of := range maps.Keys(t.blocks) {
		if strings.HasPrefix(plain, of) && len(of) > len(longest) {
			longest = of
		}
	}
	s.blocks = cmp.Or(t.blocks[longest], s.weights)
	return s
}

// written are names of quantizations outside of GGUF: the format of their files and the bits of a weight, or what is added
// to those in the name. Checkpoints keep embedding and output in 16 bits. Groups of 128 of their weights have a 16-bit scale
// and, unless they are symmetric, a zero of their own width; 16 weights of NVFP4 an 8-bit scale. Groups of 64 weights of
// MLX have a 16-bit scale and a 16-bit bias.
var written = []struct {
	name       *regexp.Regexp
	format     string
	bits       float64
	checkpoint bool
}{
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

// sizeOf is the size of a model in a quantization of any name; false for what is no name of one, or a model of unknown
// parameters.
func (e *Engine) sizeOf(t *target, name string) (z dataset.Quantization, formula string, ok bool) {
	plain, params, bits := strings.ToUpper(strings.TrimSpace(name)), t.layout.params, 0.0
	z = dataset.Quantization{Name: name, Format: "gguf", Basis: dataset.Computed}
	for _, w := range written {
		m := w.name.FindStringSubmatch(plain)
		switch {
		case m == nil:
			continue
		case w.checkpoint:
			kept := min(t.layout.matrices()*t.layout.embedding, params)
			z.Format, z.SizeBytes = w.format, int64((params-kept)*w.bits/8+kept*2)
			return z, "weights.checkpoint", params > 0
		}
		bits, _ = strconv.ParseFloat(m[1], 64)
		z.Format, bits = w.format, bits+w.bits
	}
	if s := e.types.storage(name); bits == 0 && (e.types.known[plain] || e.types.known[stem(plain)] || e.types.blocks[stem(plain)] > 0) {
		bits = cmp.Or(e.types.observed[plain], s.weights, s.blocks)
	}
	z.SizeBytes, z.BitsPerWeight = int64(params*bits/8), &bits
	for i := range t.Quantizations { // a published file of fewer bits is no larger, and one of more no smaller
		of := &t.Quantizations[i]
		if b := t.bits(of); z.Format == "gguf" && of.Format == "gguf" && of.Basis == dataset.Published && b != nil {
			if *b < bits {
				z.SizeBytes = max(z.SizeBytes, of.SizeBytes)
			} else if *b > bits {
				z.SizeBytes = min(z.SizeBytes, of.SizeBytes)
			}
		}
	}
	return z, "weights.bits", params*bits > 0
}

// stem is a name of a GGUF type without the recipe of a publisher before it and the mix after it.
func stem(plain string) string {
	plain = strings.TrimPrefix(plain, "UD-")
	plain = strings.TrimSuffix(plain, "-QAT")
	if cut := ggufMix.FindStringIndex(plain); cut != nil {
		return plain[:cut[0]]
	}
	return plain
}

var ggufMix = regexp.MustCompile(`_(X{0,3}[SML]|MOE)$`)

// inSize is a model in the size that a query names, if it is none of its own.
func (e *Engine) inSize(t *target, q *Query) (*target, *Fault) {
	var z dataset.Quantization
	formula, ok := "weights.given", true
	switch {
	case q.WeightsGB > 0:
		z = dataset.Quantization{Name: cmp.Or(q.Quantization, "given"), Format: "any", SizeBytes: bytesOf(q.WeightsGB), Basis: dataset.Published}
	case q.Quantization == "" || len(t.named(q.Quantization)) > 0 && (q.Rules != VLLM || !t.computedCheckpoint(q.Quantization)):
		return t, nil
	default:
		z, formula, ok = e.sizeOf(t, q.Quantization)
	}
	if !ok {
		names := []string{}
		for i := range t.Quantizations {
			names = append(names, t.Quantizations[i].Name)
		}
		text := fmt.Sprintf("must be a size of %s or the name of a quantization, such as Q4_K_M, UD-Q4_K_XL, MLX-4bit, AWQ, GPTQ-Int4, FP8, NVFP4 or W4A16", t.Slug)
		if t.layout.params == 0 {
			text = fmt.Sprintf("must be a size of %s, whose parameters are not published; weights_gb says how large a file is", t.Slug)
		}
		return nil, &Fault{"quantization", text, names}
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

// computedCheckpoint reports whether a name is one of a checkpoint, and the model has no published file of it: its own size
// is computed for another format.
func (t *target) computedCheckpoint(name string) bool {
	for _, i := range t.named(name) {
		if t.Quantizations[i].Basis == dataset.Published {
			return false
		}
	}
	for _, w := range written {
		if w.checkpoint && w.name.MatchString(strings.ToUpper(name)) {
			return true
		}
	}
	return false
}

// weightsOf is the size of the weights and where it comes from.
func (t *target) weightsOf(z *dataset.Quantization) (b Bytes) {
	b = Bytes{Bytes: z.SizeBytes, Basis: Computed, Formula: cmp.Or(t.formula, "weights.bits")}
	switch {
	case t.formula == "weights.given":
		b.Basis = Given
	case z.Basis == dataset.Published:
		b.Basis, b.Formula = Published, "weights.file"
	}
	b.between(b.Bytes, b.Bytes)
	return b
}

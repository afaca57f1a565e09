package resolve

import (
	"regexp"
	"strings"
)

// marks are what a name says about how a model is stored. They are not part of its key.
type marks struct {
	quant  string // as it is usually written: Q4_K_M, UD-Q4_K_XL, FP8, GPTQ-4bit
	format string // gguf, mlx, safetensors, exl2, exl3
	any    bool   // the name has a mark, so it is that of a converted file
}

// strong are the words that are always marks, with the format they imply, if any. The value is
// how they are written in a quantization, empty where they are none.
var strong = map[string]struct{ quant, format string }{
	"gguf": {"", "gguf"}, "ggml": {"", "gguf"}, "mlx": {"", "mlx"}, "safetensors": {"", "safetensors"},
	"exl2": {"EXL2", "exl2"}, "exl3": {"EXL3", "exl3"}, "awq": {"AWQ", "safetensors"}, "autoawq": {"AWQ", "safetensors"},
	"gptq": {"GPTQ", "safetensors"}, "autogptq": {"GPTQ", "safetensors"}, "autoround": {"AutoRound", "safetensors"},
	"bnb": {"bnb", "safetensors"}, "hf": {}, "i1": {}, "imat": {}, "imatrix": {}, "qat": {}, "dwq": {}, "mtp": {},
	"bf16": {"BF16", ""}, "fp16": {"F16", ""}, "f16": {"F16", ""}, "fp32": {"F32", ""}, "f32": {"F32", ""},
	"fp8": {"FP8", ""}, "fp4": {"FP4", ""}, "nf4": {"NF4", ""}, "nvfp4": {"NVFP4", ""}, "mxfp4": {"MXFP4", ""}, "mxfp8": {"MXFP8", ""},
	"mxfp4_moe": {"MXFP4_MOE", "gguf"}, "int2": {"INT2", ""}, "int3": {"INT3", ""}, "int4": {"INT4", ""}, "int8": {"INT8", ""},
	"w4a16": {"W4A16", "safetensors"}, "w8a8": {"W8A8", "safetensors"}, "w8a16": {"W8A16", "safetensors"}, "w4a8": {"W4A8", "safetensors"},
}

// weak are words that are marks only behind another mark: "FP8-dynamic", "GPTQ-Pro".
var weak = set("dynamic static kv mixed pro fast moe channel block block128 sym asym e4m3 marlin unsloth hybrid gs32 gs64 gs128 g32 g64 g128")

// classify reads one word as a mark.
func classify(word string) (m marks, ok bool) {
	if s, known := strong[word]; known {
		return marks{quant: s.quant, format: s.format, any: true}, true
	}
	switch {
	case ggufType(word):
		return marks{quant: strings.ToUpper(word), format: "gguf", any: true}, true
	case strings.HasSuffix(word, "bpw") && numeric(word[:len(word)-3]):
		return marks{quant: word, any: true}, true
	case len(word) == 4 && word[1:] == "bit" && '2' <= word[0] && word[0] <= '8':
		return marks{quant: word, any: true}, true // one digit: "1.58bit" is part of a name
	}
	return marks{}, false
}

// ggufType reports whether a word is a storage type of GGUF files: Q4_0, Q4_K_M, IQ2_XXS, TQ1_0.
func ggufType(word string) bool {
	w := strings.TrimPrefix(strings.TrimPrefix(word, "i"), "t")
	if len(w) < 2 || w[0] != 'q' || !isDigit(w[1]) || w[1] == '0' || w[1] == '9' {
		return false
	}
	if len(w) == 2 {
		return word == w // q4, q8
	}
	if w[2] != '_' || len(w) == 3 || len(w) > 12 {
		return false
	}
	for i := 3; i < len(w); i++ {
		if !isDigit(w[i]) && (w[i] < 'a' || w[i] > 'z') && w[i] != '_' {
			return false
		}
	}
	return isDigit(w[3]) || strings.IndexByte("ksmlxn", w[3]) >= 0
}

func numeric(s string) bool { return s != "" && strings.Trim(s, "0123456789.") == "" && isDigit(s[0]) }

// cutMark cuts the last mark off a name in lower case. ok is false where it ends in none.
func cutMark(name string) (rest string, m marks, ok bool) {
	if cut := strings.LastIndexAny(name, "- "); cut > 0 {
		word := name[cut+1:]
		if m, ok := classify(word); ok && (word != "qat" || tuned(name[:cut])) {
			return name[:cut], m, true
		}
		if word == "ud" {
			return name[:cut], marks{quant: "UD", any: true}, true
		}
		if word == "unsloth" { // "-unsloth-bnb-4bit", where the rest was cut before
			return name[:cut], marks{any: true}, true
		}
		if weak[word] || word == "bit" && cut > 1 && '2' <= name[cut-1] && name[cut-1] <= '8' && strings.IndexByte("- ", name[cut-2]) >= 0 {
			if word == "bit" {
				return name[:cut-2], marks{quant: name[cut-1:cut] + "bit", any: true}, true
			}
			if rest, m, ok := cutMark(name[:cut]); ok {
				return rest, m, true
			}
			return name, marks{}, false
		}
	}
	for _, separator := range []byte("._") {
		for cut := strings.IndexByte(name, separator); cut > 0; {
			if m, ok := classify(name[cut+1:]); ok {
				return name[:cut], m, true
			}
			next := strings.IndexByte(name[cut+1:], separator)
			if next < 0 {
				break
			}
			cut += 1 + next
		}
	}
	return name, marks{}, false
}

// tuned reports whether a name ends in what makers call a model trained to answer. Only of those
// are there files of quantization-aware training: "gemma-4-26B-A4B-QAT" is not the base model.
func tuned(name string) bool {
	return strings.HasSuffix(name, "it") || strings.HasSuffix(name, "instruct") || strings.Contains(name, "embedding")
}

// allMarks reads a text that is nothing but marks: the tag "Q4_K_M" or "mlx-nvfp4".
func allMarks(text string) (m marks, ok bool) {
	rest, m := bareModel("it-" + text) // "it", so that "Q4_0-QAT" is read
	return m, rest == "it"
}

// under adds a mark that stood before the ones read so far.
func (m *marks) under(before marks) {
	m.any = true
	if m.format == "" || before.format == "exl2" || before.format == "exl3" || before.format == "mlx" {
		if before.format != "" {
			m.format = before.format
		}
	}
	switch {
	case before.quant == "":
	case m.quant == "":
		if before.quant != "UD" {
			m.quant = before.quant
		}
	case before.quant == "UD" || before.quant == "AWQ" || before.quant == "GPTQ" || before.quant == "AutoRound" || before.quant == "EXL2" || before.quant == "EXL3":
		m.quant = before.quant + "-" + m.quant
	case m.quant == "AWQ" || m.quant == "GPTQ" || m.quant == "AutoRound": // "autoround-int4", "INT4-AWQ"
		m.quant += "-" + before.quant
	case before.quant == "MXFP4" || before.quant == "NVFP4": // "MXFP4-Q4": the experts' type leads
		m.quant = before.quant + "-" + m.quant
	}
}

// shard is the part number of a file in pieces.
func cutShard(name string) string {
	if len(name) > 15 {
		tail := name[len(name)-15:]
		if tail[0] == '-' && tail[6:10] == "-of-" && numeric(tail[1:6]) && numeric(tail[10:]) {
			return name[:len(name)-15]
		}
	}
	return name
}

// sizes are the words llama-bench prints for the sizes of a mix.
var typeSizes = map[string]string{"small": "S", "medium": "M", "large": "L"}

// typeWords finds the storage type at the end of a type llama-bench prints, with its size in words
// or bits: "Q4_K - Medium", "IQ2_XXS - 2.0625 bpw", "MXFP4 MoE", "mostly Q4_0", "Q8_0 (guessed)".
var typeWords = regexp.MustCompile(`(?i)\b((?:I|T)?Q[0-9]_[0-9A-Z_]+(?: mix)?|BF16|F16|F32|MXFP4|NVFP4)` +
	`(?: - (Small|Medium|Large)| - [0-9.]+ bpw(?: ternary)?| MoE)?(?: \(guessed\))?$`)

// usualTypes are the types people call otherwise than llama.cpp prints them.
var usualTypes = map[string]string{"Q2_K_M": "Q2_K", "IQ3_S MIX": "IQ3_M"}

// TypeQuantization reads the storage type at the end of the type of a model as llama-bench prints
// it ("llama 8B Q4_K - Medium" is Q4_K_M). rest is what precedes it. The quantization is
// empty if there is none.
func TypeQuantization(printed string) (rest, quantization string) {
	at := typeWords.FindStringSubmatchIndex(printed)
	if at == nil {
		return printed, ""
	}
	name := strings.ToUpper(printed[at[2]:at[3]])
	if at[4] >= 0 {
		name += "_" + typeSizes[strings.ToLower(printed[at[4]:at[5]])]
	}
	if usual := usualTypes[name]; usual != "" {
		name = usual
	}
	rest = strings.TrimSpace(printed[:at[0]])
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, " mostly"), " all")
	return rest, name
}

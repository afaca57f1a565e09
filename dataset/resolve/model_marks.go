package resolve

import (
	"strings"
)

// marks are what a name says about how a model is stored. They are not part of its key.
type marks struct {
	quant  string // as it is usually written: Q4_K_M, UD-Q4_K_XL, FP8, GPTQ-4bit
	format string // gguf, mlx, safetensors, exl2, exl3
	any    bool   // the name has a mark, so it is that of a converted file
}

// classify reads one word as a mark.
func classify(word string) (m marks, ok bool) {
	if s, known := strong[word]; known {
		return marks{quant: s.quant, format: s.format, any: true}, true
	}
	switch {
	case mlcType(word):
		return marks{quant: word, any: true}, true
	case ggufType(word):
		return marks{quant: strings.ToUpper(word), format: "gguf", any: true}, true
	case strings.HasSuffix(word, "bpw") && numeric(word[:len(word)-3]):
		return marks{quant: word, any: true}, true
	case len(word) == 4 && word[1:] == "bit" && '2' <= word[0] && word[0] <= '8':
		return marks{quant: word, any: true}, true // one digit: "1.58bit" is part of a name
	}
	return marks{}, false
}

// mlcType reports whether a word is a storage type of MLC: "q4f16_1".
func mlcType(word string) bool {
	if len(word) < 5 || word[0] != 'q' || !isDigit(word[1]) {
		return false
	}
	rest := word[2:]
	return rest == "f16" || rest == "f32" || len(rest) == 5 && (rest[:4] == "f16_" || rest[:4] == "f32_") && isDigit(rest[4])
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

// cut adds all marks at the end of a name to m. It returns the name, without its last mark, without the last two, and
// so on.
func (m *marks) cut(name string) (stems []string) {
	for {
		stems = append(stems, name)
		rest, mark, ok := cutMark(name)
		if !ok {
			return stems
		}
		m.under(mark)
		name = rest
	}
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

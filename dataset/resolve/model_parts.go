package resolve

import (
	"path"
	"strings"
)

// modelName is a name of a model in parts, all in lower case.
type modelName struct {
	owner  string // of a Hub repository, empty where there is none
	name   string
	tag    string // behind a colon, as Ollama and llama.cpp have it, unless it only says how the model is stored
	latest bool   // the tag is latest
	store  bool   // of LM Studio, where models that answer have the names of their base models
	marks  marks  // of the tag or file
}

// cutModel takes a clean name apart: "hf.co/unsloth/qwen3-8b-gguf:q4_k_m" is the name "qwen3-8b-gguf" of the owner
// "unsloth" with the tag "q4_k_m". It does not judge the parts.
func cutModel(text string) (m modelName) {
	s := strings.Trim(text, `"'`)
	begun := patterns["address"].FindString(s)
	hub := strings.Contains(begun, "/")
	m.store = strings.Contains(begun, "lmstudio.ai/")
	s = strings.ReplaceAll(s[len(begun):], `\`, "/")
	if s, _, _ = strings.Cut(s, " --"); hub { // flags
		s = s[:strings.IndexAny(s+"?", "?#")]
	}
	s = m.cutTag(strings.Trim(rewrite("model forms", s), "/"))
	pieces := strings.Split(s, "/")
	gguf := strings.HasSuffix(s, ".gguf")
	m.name = strings.TrimSuffix(path.Base(s), ".gguf")
	switch n := len(pieces); {
	case strings.ContainsAny(text[:min(1, len(text))], "/~.") || strings.Contains(text, `\`): // of this machine
	case gguf && n == 3: // LM Studio: owner/repository/file
		m.owner, m.name = pieces[0], pieces[1]
		_, m.marks = bareModel(pieces[2])
	case n == 2, n > 2 && hub:
		m.owner, m.name = pieces[0], strings.TrimSuffix(pieces[1], ".gguf")
	}
	if gguf && m.marks.format == "" {
		m.marks.format, m.marks.any = "gguf", true
	}
	return m
}

// cutTag cuts the tag of Ollama and llama.cpp, "name:tag", and the storage type of LM Studio, "name@q4_k_m".
func (m *modelName) cutTag(s string) (rest string) {
	if name, tag, ok := strings.Cut(s, "@"); ok {
		if marks, ok := allMarks(tag); ok {
			s, m.marks = name, marks
		}
	}
	cut := strings.LastIndexByte(s, ':')
	if cut < 2 || strings.Contains(s[cut:], "/") || cut == len(s)-1 {
		return s
	}
	if marks, ok := allMarks(s[cut+1:]); ok {
		m.marks = marks
	} else if m.latest = s[cut+1:] == "latest"; !m.latest {
		m.tag = s[cut+1:]
	}
	return s[:cut]
}

// marks are what a name says about how a model is stored. They are not part of its key.
type marks struct {
	quant  string // as it is usually written: Q4_K_M, UD-Q4_K_XL, FP8, GPTQ-4bit
	format string // gguf, mlx, safetensors, exl2, exl3
	any    bool   // the name has a mark, so it is that of a converted file
}

// classify reads one word as a mark.
func classify(word string) (m marks, ok bool) {
	switch written := means("marks", word); {
	case written != "":
		m.quant, m.format, _ = strings.Cut(written, " ")
		m.quant = strings.TrimPrefix(m.quant, "-")
	case says("bits", word): // of MLC, EXL and MLX
		m.quant = strings.NewReplacer("-", "", " ", "").Replace(word)
	case says("gguf type", word):
		m.quant, m.format = strings.ToUpper(word), "gguf"
	default:
		return m, false
	}
	m.any = true
	return m, true
}

// cutMark cuts the last mark off a name in lower case, with the words behind it that are marks only there. ok is false if it
// ends in none. Only of models trained to answer are there files of quantization-aware training: "gemma-4-26B-A4B-QAT" is
// not the base model.
func cutMark(name string) (rest string, m marks, ok bool) {
	whole := name
	for cut := strings.LastIndexAny(whole, "- "); cut > 0 && is("weak marks", whole[cut+1:]); cut = strings.LastIndexAny(whole, "- ") {
		whole = whole[:cut]
	}
	for at := 1; at < len(whole); at++ {
		if strings.IndexByte("-_. ", whole[at]) < 0 {
			continue
		}
		if m, ok := classify(whole[at+1:]); ok && (whole[at+1:] != "qat" || says("answers", whole[:at])) {
			return whole[:at], m, true
		}
	}
	return name, marks{}, false
}

// cut adds all marks at the end of a name to m. It returns the name, without its last mark, without the last two, and
// so on.
func (m *marks) cut(name string) (stems []string) {
	for ok := true; ok; {
		stems = append(stems, name)
		var mark marks
		if name, mark, ok = cutMark(name); ok {
			m.under(mark)
		}
	}
	return stems
}

// under adds a mark that stood before the ones read so far.
func (m *marks) under(before marks) {
	m.any = true
	if f := before.format; f != "" && (m.format == "" || f == "exl2" || f == "exl3" || f == "mlx") {
		m.format = f
	}
	switch {
	case m.quant == "" && before.quant != "UD":
		m.quant = before.quant
	case m.quant != "" && is("marks before", before.quant):
		m.quant = before.quant + "-" + m.quant
	case m.quant == "AWQ" || m.quant == "GPTQ" || m.quant == "AutoRound": // "autoround-int4", "INT4-AWQ"
		if before.quant != "" {
			m.quant += "-" + before.quant
		}
	}
}

// bareModel cuts all marks off a name.
func bareModel(name string) (bare string, m marks) {
	stems := m.cut(name)
	return stems[len(stems)-1], m
}

// allMarks reads a text that is nothing but marks: the tag "Q4_K_M" or "mlx-nvfp4".
func allMarks(text string) (m marks, ok bool) {
	rest, m := bareModel("it-" + text) // "it", so that "Q4_0-QAT" is read
	return m, rest == "it"
}

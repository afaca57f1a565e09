package resolve

import (
	"path"
	"regexp"
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

var (
	address    = regexp.MustCompile(`^(?:` + strings.Join(vocabulary["addresses"].order, "|") + `)+ ?`)
	hubCache   = regexp.MustCompile(`^.*models--([^/]+?)--([^/]+).*$`)
	fileIn     = regexp.MustCompile(`^(.*?)/(?:resolve|blob|tree|raw)/.*?([^/]+)$`)
	shard      = regexp.MustCompile(`-[0-9]{5}-of-[0-9]{5}$`)
	routes     = regexp.MustCompile(`:(?:free|nitro|exacto|floor|extended|online|thinking)$`)
	fetchedFor = regexp.MustCompile(`^[^_]+_.*-gguf_(?:(?:ud-)?(?:i?q[0-9](?:_[0-9klmsx]+)*|b?f16|mxfp4)_)?([a-z].*)$`) // by llama.cpp
)

// cutModel takes a clean name apart: "hf.co/unsloth/qwen3-8b-gguf:q4_k_m" is the name "qwen3-8b-gguf" of the owner
// "unsloth" with the tag "q4_k_m". It does not judge the parts.
func cutModel(text string) (m modelName) {
	s := strings.Trim(text, `"'`)
	begun := address.FindString(s)
	hub := strings.Contains(begun, "/")
	m.store = strings.Contains(begun, "lmstudio.ai/")
	s = strings.ReplaceAll(s[len(begun):], `\`, "/")
	s, _, _ = strings.Cut(s, " --") // flags
	if hub {
		s, _, _ = strings.Cut(s, "?")
		s, _, _ = strings.Cut(s, "#")
	}
	s = hubCache.ReplaceAllString(s, "$1/$2")
	file := ""
	if at := fileIn.FindStringSubmatch(s); at != nil {
		s, file = at[1], at[2]
	}
	s = m.cutTag(routes.ReplaceAllString(strings.Trim(s, "/"), ""))
	pieces := strings.Split(s, "/")
	gguf := strings.HasSuffix(s, ".gguf")
	m.name = path.Base(s)
	switch n := len(pieces); {
	case strings.ContainsAny(text[:min(1, len(text))], "/~.") || strings.Contains(text, `\`): // of this machine
	case gguf && n == 3: // LM Studio: owner/repository/file
		m.owner, m.name, file = pieces[0], pieces[1], pieces[2]
	case n == 2, n > 2 && hub && !gguf:
		m.owner, m.name = pieces[0], pieces[1]
	}
	if file != "" {
		_, m.marks = bareModel(file)
	}
	m.name = shard.ReplaceAllString(strings.TrimPrefix(strings.TrimSuffix(m.name, ".gguf"), "ggml-model-"), "")
	m.name = fetchedFor.ReplaceAllString(m.name, "$1")
	if gguf && m.marks.format == "" {
		m.marks.format, m.marks.any = "gguf", true
	}
	return m
}

// cutTag cuts the tag of Ollama and llama.cpp, "name:tag", and the storage type of LM Studio, "name@q4_k_m".
func (m *modelName) cutTag(s string) (rest string) {
	if cut := strings.LastIndexByte(s, '@'); cut > 0 {
		if mark, ok := classify(s[cut+1:]); ok {
			s, m.marks = s[:cut], mark
		}
	}
	cut := strings.LastIndexByte(s, ':')
	if cut < 2 || strings.Contains(s[cut:], "/") || cut == len(s)-1 {
		return s
	}
	tag := s[cut+1:]
	if marks, ok := allMarks(tag); ok {
		m.marks = marks
	} else if m.latest = tag == "latest"; !m.latest {
		m.tag = tag
	}
	return s[:cut]
}

// marks are what a name says about how a model is stored. They are not part of its key.
type marks struct {
	quant  string // as it is usually written: Q4_K_M, UD-Q4_K_XL, FP8, GPTQ-4bit
	format string // gguf, mlx, safetensors, exl2, exl3
	any    bool   // the name has a mark, so it is that of a converted file
}

var (
	ggufType  = regexp.MustCompile(`^(?:q[1-8]|[it]*q[1-8]_[0-9ksmlxn][0-9a-z_]{0,8})$`)
	otherType = regexp.MustCompile(`^(?:q[0-9]f(?:16|32)(?:_[0-9])?|[0-9][0-9.]*bpw|[2-8]bit)$`) // of MLC, EXL and MLX
)

// classify reads one word as a mark.
func classify(word string) (m marks, ok bool) {
	switch written := means("marks", word); {
	case written != "":
		m.quant, m.format, _ = strings.Cut(written, " ")
		m.quant = strings.TrimPrefix(m.quant, "-")
	case otherType.MatchString(word):
		m.quant = word
	case ggufType.MatchString(word):
		m.quant, m.format = strings.ToUpper(word), "gguf"
	default:
		return m, false
	}
	m.any = true
	return m, true
}

var partedBits = regexp.MustCompile(`[- ]([2-8])[- ]bit$`)

// cutMark cuts the last mark off a name in lower case. ok is false if it ends in none.
func cutMark(name string) (rest string, m marks, ok bool) {
	if cut := strings.LastIndexAny(name, "- "); cut > 0 {
		word := name[cut+1:]
		if m, ok := classify(word); ok && (word != "qat" || answers.MatchString(name[:cut])) {
			return name[:cut], m, true
		}
		bits := partedBits.FindStringSubmatch(name)
		switch {
		case word == "ud":
			return name[:cut], marks{quant: "UD", any: true}, true
		case word == "unsloth": // "-unsloth-bnb-4bit", where the rest was cut before
			return name[:cut], marks{any: true}, true
		case bits != nil:
			return name[:cut-2], marks{quant: bits[1] + "bit", any: true}, true
		case is("weak marks", word):
			if rest, m, ok := cutMark(name[:cut]); ok {
				return rest, m, true
			}
			return name, marks{}, false
		}
	}
	for at, c := range name {
		if (c == '.' || c == '_') && at > 0 {
			if m, ok := classify(name[at+1:]); ok {
				return name[:at], m, true
			}
		}
	}
	return name, marks{}, false
}

// answers ends in what makers call a model trained to answer. Only of those are there files of quantization-aware
// training: "gemma-4-26B-A4B-QAT" is not the base model.
var answers = regexp.MustCompile(`(?:it|instruct)$|embedding`)

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
	if file, ok := strings.CutSuffix(name, ".gguf"); ok {
		name, m = shard.ReplaceAllString(file, ""), marks{format: "gguf", any: true}
	}
	stems := m.cut(name)
	return stems[len(stems)-1], m
}

// allMarks reads a text that is nothing but marks: the tag "Q4_K_M" or "mlx-nvfp4".
func allMarks(text string) (m marks, ok bool) {
	rest, m := bareModel("it-" + text) // "it", so that "Q4_0-QAT" is read
	return m, rest == "it"
}

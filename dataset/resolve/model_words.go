package resolve

import (
	"path"
	"regexp"
	"strconv"
	"strings"
)

// sizeUnits stay with the number before them: billions, millions, trillions, thousands, experts.
var sizeUnits = set("b m t k e")

// modelWords reads the words of a model's name. Sizes stay whole ("8b", "a3b", "e4b", "8x7b"),
// everything else is cut between letters and numbers, so that "Qwen3-8B" and "qwen 3 8b" are the
// same words. A v before a number is left out: makers write "Mistral-7B-v0.3" and "Llama-v3.1".
func modelWords(text string) []string {
	words := make([]string, 0, 12)
	for i := 0; i < len(text); {
		word := ""
		switch c := text[i]; {
		case isDigit(c):
			word, i = numberWord(text, i)
		case isLetter(c):
			word, i = letterWord(text, i)
		default:
			if i++; c == '+' {
				word = "plus"
			}
		}
		if word != "" {
			words = append(words, word)
		}
	}
	return words
}

// numberWord reads a word that begins with a digit, at i, and returns its end: a number, with its unit if it is a size.
func numberWord(text string, i int) (word string, end int) {
	j := pastNumber(text, i)
	k := pastLetters(text, j)
	before := k < len(text) && isDigit(text[k]) // before another number
	switch unit := text[j:k]; {
	case len(unit) == 1 && sizeUnits[unit]:
		return dotted(text[i:j]) + unit, k
	case unit == "x" && before: // "8x7b"
		if end = pastNumber(text, k); end < len(text) && text[end] == 'b' {
			end++
		}
		return text[i:end], end
	case unit == "ba" && before: // "21BA3B"
		return dotted(text[i:j]) + "b", j + 1
	default:
		return dotted(text[i:j]), j
	}
}

// letterWord reads a word that begins with a letter, at i, and returns its end. The word is empty for a v before a number.
func letterWord(text string, i int) (word string, end int) {
	j := pastLetters(text, i)
	if word = text[i:j]; j == len(text) || !isDigit(text[j]) {
		return word, j
	}
	switch word {
	case "v":
		return "", j
	case "a", "e": // "a3b", "e4b"
		if k := pastNumber(text, j); k < len(text) && (text[k] == 'b' || text[k] == 'm') && pastLetters(text, k) == k+1 {
			return word + dotted(text[j:k+1]), k + 1
		}
	}
	return word, j
}

// pastNumber is the end of the number that goes on at i. A point or an underscore between digits belongs to it.
func pastNumber(text string, i int) int {
	for i < len(text) && (isDigit(text[i]) || (text[i] == '.' || text[i] == '_') && i+1 < len(text) && isDigit(text[i+1]) && i > 0 && isDigit(text[i-1])) {
		i++
	}
	return i
}

func pastLetters(text string, i int) int {
	for i < len(text) && isLetter(text[i]) {
		i++
	}
	return i
}

// dotted is a number with a point where the name has an underscore.
func dotted(number string) string { return strings.ReplaceAll(number, "_", ".") }

// active reports whether a word is the number of parameters read for one token: "a3b", "a400m".
func active(word string) bool { return len(word) > 2 && word[0] == 'a' && isDigit(word[1]) }

// params reads the size among words, in billions; 0 if there is none or it counts experts.
func params(words []string) float64 {
	for _, w := range words {
		if !isDigit(w[0]) || len(w) < 2 {
			continue
		}
		unit := map[byte]float64{'b': 1, 'm': 1e-3, 't': 1e3}[w[len(w)-1]]
		if n, err := strconv.ParseFloat(w[:len(w)-1], 64); err == nil && unit > 0 {
			return n * unit
		}
	}
	return 0
}

// modelName is a name of a model in parts, all in lower case.
type modelName struct {
	owner string // of a Hub repository, empty where there is none
	name  string
	tag   string // behind a colon, as Ollama and llama.cpp have it
	marks marks  // of the tag or file
}

// hubs are addresses that may precede owner and name.
var hubs = []string{"huggingface.co/", "www.huggingface.co/", "hf.co/", "hf-mirror.com/", "modelscope.cn/models/", "www.modelscope.cn/models/", "ollama.com/library/", "registry.ollama.ai/library/", "ollama.com/", "lmstudio.ai/models/"}

// commands load a model, and are copied with its name.
var commands = []string{"ollama run ", "ollama pull ", "vllm serve ", "lms load ", "lms get "}

// cutModel takes a clean name apart.
func cutModel(text string) (m modelName) {
	s := strings.Trim(text, `"'`)
	for _, command := range commands {
		s = strings.TrimPrefix(s, command)
	}
	address := false
	for _, scheme := range []string{"https://", "http://", "hf://"} {
		if rest, ok := strings.CutPrefix(s, scheme); ok {
			s, address = rest, true
		}
	}
	for _, hub := range hubs {
		if rest, ok := strings.CutPrefix(s, hub); ok {
			s, address = rest, true
			break
		}
	}
	if cut := strings.IndexAny(s, "?#"); cut >= 0 && address {
		s = s[:cut]
	}
	s = strings.ReplaceAll(s, `\`, "/")
	if at := strings.Index(s, "models--"); at >= 0 { // the cache of the Hub's client
		repo, _, _ := strings.Cut(s[at+len("models--"):], "/")
		s = strings.Replace(repo, "--", "/", 1)
	}
	file := ""
	for _, in := range []string{"/resolve/", "/blob/", "/tree/", "/raw/"} {
		if repo, rest, ok := strings.Cut(s, in); ok {
			s, file = repo, path.Base(rest)
		}
	}
	s = strings.Trim(s, "/")
	if cut := strings.LastIndexByte(s, '@'); cut > 0 { // LM Studio: model@quantization
		if mk, ok := classify(s[cut+1:]); ok {
			s, m.marks = s[:cut], mk
		}
	}
	if cut := strings.LastIndexByte(s, ':'); cut > 1 && !strings.Contains(s[cut:], "/") {
		s, m.tag = s[:cut], s[cut+1:]
	}
	pieces := strings.Split(s, "/")
	local := strings.ContainsAny(text[:1], "/~.") || strings.Contains(text, `\`)
	switch {
	case local:
		m.name = pieces[len(pieces)-1]
	case strings.HasSuffix(s, ".gguf") && len(pieces) == 3: // LM Studio: owner/repository/file
		m.owner, m.name, file = pieces[0], pieces[1], pieces[2]
	case strings.HasSuffix(s, ".gguf") && len(pieces) > 3:
		m.name = pieces[len(pieces)-1]
	case len(pieces) == 2:
		m.owner, m.name = pieces[0], pieces[1]
	case len(pieces) > 2 && address:
		m.owner, m.name = pieces[0], pieces[1]
	default:
		m.name = pieces[len(pieces)-1]
	}
	if file != "" {
		_, mk := bareModel(file)
		m.marks = mk
	}
	m.name = cached(cutShard(strings.TrimSuffix(m.name, ".gguf")))
	if strings.HasSuffix(s, ".gguf") && m.marks.format == "" {
		m.marks.format, m.marks.any = "gguf", true
	}
	return m
}

// inCache is what llama.cpp puts before a file it fetched: owner_repository-GGUF_, and the folder of the file.
var inCache = regexp.MustCompile(`^[^_]+_.*-gguf_(?:(?:ud-)?(?:i?q[0-9](?:_[0-9klmsx]+)*|b?f16|mxfp4)_)?([a-z].*)$`)

// cached is the name of a file without what the cache of llama.cpp put before it.
func cached(file string) string {
	if of := inCache.FindStringSubmatch(file); of != nil {
		return of[1]
	}
	return file
}

// bareModel cuts all marks off a name.
func bareModel(name string) (bare string, m marks) {
	if strings.HasSuffix(name, ".gguf") {
		name, m = cutShard(strings.TrimSuffix(name, ".gguf")), marks{format: "gguf", any: true}
	}
	for {
		rest, mark, ok := cutMark(name)
		if !ok {
			return name, m
		}
		m.under(mark)
		name = rest
	}
}

// repackagers are accounts of the Hub that convert the models of others and keep their names.
var repackagers = set("unsloth bartowski lmstudio-community mlx-community thebloke maziyarpanahi mradermacher ggml-org second-state quantfactory redhatai neuralmagic nm-testing cyankiwi quanttrio" +
	" lmstudio-ai gaianet tensorblock nexaai prince-canuma mungert dranger003 turboderp lonestriker bullerwins ubergarm anikifoss intel amd nvidia openvino onnx-community mlc-ai stelterlab hugging-quants" +
	" casperhansen solidrusst kaitchup modelcloud jamesburton brittlewis12 afrideva lewdiculous duyntnet crusoeai kosbu cpatonnz qwen ai-sage huihui-quants ollama library featherless-ai-quants devquasar alpindale")

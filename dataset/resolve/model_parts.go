package resolve

import (
	"path"
	"regexp"
	"strings"
)

// modelName is a name of a model in parts, all in lower case.
type modelName struct {
	owner string // of a Hub repository, empty where there is none
	name  string
	tag   string // behind a colon, as Ollama and llama.cpp have it
	store bool   // of LM Studio, where models that answer have the names of their base models
	marks marks  // of the tag or file
}

// cutModel takes a clean name apart: "hf.co/unsloth/qwen3-8b-gguf:q4_k_m" is the name "qwen3-8b-gguf" of the owner
// "unsloth" with the tag "q4_k_m". It does not judge the parts.
func cutModel(text string) (m modelName) {
	s, address := cutAddress(strings.Trim(text, `"'`))
	m.store = address && strings.Contains(text, "lmstudio.ai/")
	s, file := cutFile(fromCache(strings.ReplaceAll(s, `\`, "/")))
	s = m.cutTag(strings.Trim(s, "/"))
	pieces := strings.Split(s, "/")
	last := pieces[len(pieces)-1]
	gguf := strings.HasSuffix(s, ".gguf")
	local := strings.ContainsAny(text[:1], "/~.") || strings.Contains(text, `\`)
	switch {
	case local:
		m.name = last
	case gguf && len(pieces) == 3: // LM Studio: owner/repository/file
		m.owner, m.name, file = pieces[0], pieces[1], last
	case len(pieces) == 2, len(pieces) > 2 && address && !gguf:
		m.owner, m.name = pieces[0], pieces[1]
	default:
		m.name = last
	}
	if file != "" {
		_, m.marks = bareModel(file)
	}
	m.name = cached(cutShard(strings.TrimPrefix(strings.TrimSuffix(m.name, ".gguf"), "ggml-model-")))
	if gguf && m.marks.format == "" {
		m.marks.format, m.marks.any = "gguf", true
	}
	return m
}

// cutAddress cuts the command that loads a model, and the address of the hub it is on.
func cutAddress(s string) (rest string, address bool) {
	for _, command := range commands {
		if arguments, ok := strings.CutPrefix(s, command); ok {
			s, _, _ = strings.Cut(arguments, " --") // flags
		}
	}
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
	return s, address
}

// fromCache is the repository of a path in the cache of the Hub's client: "…/models--qwen--qwen3-8b/snapshots/…".
func fromCache(s string) string {
	_, in, ok := strings.Cut(s, "models--")
	if !ok {
		return s
	}
	repo, _, _ := strings.Cut(in, "/")
	return strings.Replace(repo, "--", "/", 1)
}

// cutFile divides the address of a file into its repository and its name.
func cutFile(s string) (repository, file string) {
	for _, in := range []string{"/resolve/", "/blob/", "/tree/", "/raw/"} {
		if repo, rest, ok := strings.Cut(s, in); ok {
			s, file = repo, path.Base(rest)
		}
	}
	return s, file
}

// cutTag cuts the tag of Ollama and llama.cpp, "name:tag", and the storage type of LM Studio, "name@q4_k_m".
func (m *modelName) cutTag(s string) (rest string) {
	if cut := strings.LastIndexByte(s, '@'); cut > 0 {
		if mark, ok := classify(s[cut+1:]); ok {
			s, m.marks = s[:cut], mark
		}
	}
	if cut := strings.LastIndexByte(s, ':'); cut > 1 && !strings.Contains(s[cut:], "/") {
		s, m.tag = s[:cut], s[cut+1:]
	}
	return s
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

// bareModel cuts all marks off a name.
func bareModel(name string) (bare string, m marks) {
	if strings.HasSuffix(name, ".gguf") {
		name, m = cutShard(strings.TrimSuffix(name, ".gguf")), marks{format: "gguf", any: true}
	}
	stems := m.cut(name)
	return stems[len(stems)-1], m
}

// allMarks reads a text that is nothing but marks: the tag "Q4_K_M" or "mlx-nvfp4".
func allMarks(text string) (m marks, ok bool) {
	rest, m := bareModel("it-" + text) // "it", so that "Q4_0-QAT" is read
	return m, rest == "it"
}

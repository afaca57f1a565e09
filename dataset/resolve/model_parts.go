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
	marks marks  // of the tag or file
}

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
	for {
		rest, mark, ok := cutMark(name)
		if !ok {
			return name, m
		}
		m.under(mark)
		name = rest
	}
}

// allMarks reads a text that is nothing but marks: the tag "Q4_K_M" or "mlx-nvfp4".
func allMarks(text string) (m marks, ok bool) {
	rest, m := bareModel("it-" + text) // "it", so that "Q4_0-QAT" is read
	return m, rest == "it"
}

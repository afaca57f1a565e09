package resolve

import (
	"regexp"
	"slices"
	"strings"

	"modeldex/dataset"
)

// toolNames finds tools.
type toolNames struct {
	recs  []record
	exact map[string]int32   // slug, name or alias -> record
	keys  map[string][]int32 // key -> records
	like  *likeness
}

func newToolNames(tools []dataset.Tool) *toolNames {
	n := &toolNames{exact: map[string]int32{}, keys: map[string][]int32{}, like: newLikeness()}
	for i := range tools {
		t := &tools[i]
		n.recs = append(n.recs, record{t.Slug, t.Name})
		if t.Repository != nil {
			if _, repo, ok := strings.Cut(string(*t.Repository), "//github.com/"); ok {
				addOnce(n.keys, join(toolWords(clean(repo))), int32(i))
			}
		}
		for _, text := range append([]string{string(t.Slug), t.Name}, t.Aliases...) {
			n.exact[spelled(text)] = int32(i)
			key := join(toolWords(clean(text)))
			if addOnce(n.keys, key, int32(i)) {
				n.like.add(int32(i), key)
			}
		}
	}
	n.like.freeze()
	return n
}

func (n *toolNames) resolve(text string) Answer {
	if i, ok := n.exact[text]; ok {
		return Answer{Slug: n.recs[i].slug, Name: n.recs[i].name, Confidence: Exact, Reason: "slug, name or alias"}
	}
	bare := withoutBracket(text)
	name, version := cutVersion(bare)
	key := join(toolWords(name))
	if found := n.keys[key]; len(found) == 1 {
		a := Answer{Slug: n.recs[found[0]].slug, Name: n.recs[found[0]].name, Confidence: Parsed, Reason: "name with other separators"}
		if version != "" {
			a.Reason = "name without the version " + version
		}
		return a
	} else if len(found) > 1 {
		return Answer{Ambiguous: true, Reason: "several tools have this name", Candidates: n.list(found, "has this name")}
	}
	if bare != text {
		name, _ = cutVersion(text)
		key = join(toolWords(name))
	}
	return Answer{Reason: unknownName, key: key}
}

// withoutBracket cuts a backend or the number of a build in brackets off the end of a tool's name: "llama.cpp b4567
// (vulkan)". Other words may name a fork: "ollama (ipex-llm)".
func withoutBracket(text string) string {
	open := strings.LastIndex(text, " (")
	if open <= 0 || !strings.HasSuffix(text, ")") || slices.ContainsFunc(toolWords(text[open:]), func(w string) bool { return !toolBackends[w] && !isDigit(w[0]) }) {
		return text
	}
	return text[:open]
}

func (n *toolNames) list(recs []int32, reason string) (out []Candidate) {
	recs = recs[:min(MaxCandidates, len(recs))]
	out = slices.Grow(out, len(recs))
	for _, i := range recs {
		out = append(out, Candidate{Tool, n.recs[i].slug, n.recs[i].name, reason})
	}
	return out
}

// version is the version of a tool: "0.5.4", "v0.8", "1.0.0rc2", the number of a build behind a b, or a commit. A plain
// number may be part of the name.
var version = regexp.MustCompile(`^(?:v?[0-9]+(?:\.[0-9]+)+(?:rc[0-9]+|\.?(?:dev|post)[0-9]+)?|b[0-9]{2,}|[0-9a-f]{7,40})$`)

// cutVersion cuts a version off the end of a tool's name: "ollama 0.5.4", "vllm/v0.8", "llama.cpp b4567",
// "mlx version: 0.29.3".
func cutVersion(text string) (name, number string) {
	cut := strings.LastIndexAny(text, " /@:=-")
	if cut <= 0 || cut == len(text)-1 {
		return text, ""
	}
	number = text[cut+1:]
	if !strings.ContainsAny(number, "0123456789") || !version.MatchString(number) { // a word may have the letters of a commit
		return text, ""
	}
	name = strings.TrimRight(text[:cut], " =@:/-")
	return strings.TrimRight(strings.TrimSuffix(strings.TrimSuffix(name, " is"), " version"), " -"), number
}

package resolve

import (
	"regexp"
	"slices"
	"strings"

	"modeldex/dataset"
)

// toolNames finds tools by whole names.
type toolNames struct {
	recs  []record
	exact map[string]int32 // slug, name or alias -> record
}

func newToolNames(tools []dataset.Tool) *toolNames {
	n := &toolNames{exact: map[string]int32{}}
	for i := range tools {
		t := &tools[i]
		n.recs = append(n.recs, record{t.Slug, t.Name})
		for _, text := range append([]string{string(t.Slug), t.Name}, t.Aliases...) {
			n.exact[spelled(text)] = int32(i)
		}
	}
	return n
}

// strictTool reads the name of a tool, with its version or another separator.
func (r *Resolver) strictTool(text string) Answer {
	n := r.tools
	if i, ok := n.exact[text]; ok {
		return Answer{Slug: n.recs[i].slug, Name: n.recs[i].name, Confidence: Exact, Reason: "slug, name or alias"}
	}
	name, version := cutVersion(withoutBracket(text))
	var found []match
	for _, m := range r.lexTools.match(texts(split(name)), 0) {
		if m.cost == 0 {
			found = append(found, m)
		}
	}
	switch {
	case len(found) == 1:
		a := Answer{Slug: n.recs[found[0].rec].slug, Name: n.recs[found[0].rec].name, Confidence: Parsed, Reason: "name with other separators"}
		if version != "" {
			a.Reason = "name without the version " + version
		}
		return a
	case len(found) > 1:
		a := Answer{Ambiguous: true, Reason: "several tools have this name"}
		for _, m := range found[:min(MaxCandidates, len(found))] {
			a.Candidates = append(a.Candidates, Candidate{Tool, n.recs[m.rec].slug, n.recs[m.rec].name, "has this name"})
		}
		return a
	}
	return Answer{Reason: unknownName, key: text}
}

// withoutBracket cuts a backend or the number of a build in brackets off the end of a tool's name: "llama.cpp b4567
// (vulkan)". Other words may name a fork: "ollama (ipex-llm)".
func withoutBracket(text string) string {
	open := strings.LastIndex(text, " (")
	if open <= 0 || !strings.HasSuffix(text, ")") || slices.ContainsFunc(split(text[open:]), func(w word) bool { return !toolBackends[w.text] && !isDigit(w.text[0]) }) {
		return text
	}
	return text[:open]
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

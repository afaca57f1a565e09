package resolve

import (
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
	name, version := cutVersion(text)
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
	return Answer{Reason: unknownName, key: key}
}

func (n *toolNames) list(recs []int32, reason string) (out []Candidate) {
	for _, i := range recs[:min(MaxCandidates, len(recs))] {
		out = append(out, Candidate{Tool, n.recs[i].slug, n.recs[i].name, reason})
	}
	return out
}

// cutVersion cuts a version off the end of a tool's name: "ollama 0.5.4", "vllm/v0.8", "llama.cpp
// b4567". A version has a point, or is a build number behind a b; a plain number may be part of
// the name.
func cutVersion(text string) (name, version string) {
	cut := strings.LastIndexAny(text, " /@:=-")
	if cut <= 0 || cut == len(text)-1 {
		return text, ""
	}
	version = text[cut+1:]
	digits := strings.TrimPrefix(version, "v")
	build := strings.TrimPrefix(version, "b")
	switch {
	case digits != "" && isDigit(digits[0]) && strings.Trim(digits, "0123456789.") == "" && strings.Contains(digits, "."):
	case build != version && len(build) >= 3 && strings.Trim(build, "0123456789") == "":
	default:
		return text, ""
	}
	return strings.TrimRight(text[:cut], " =@:/-"), version
}

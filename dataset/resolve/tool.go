package resolve

import (
	"regexp"
	"slices"
	"strings"
)

// strictTool reads the name of a tool, with its version or another separator.
func (r *Resolver) strictTool(text string) (a Answer) {
	x := r.tools
	if i, ok := x.exact[text]; ok {
		a.found(&x.recs[i], Exact, "slug, name or alias")
		return a
	}
	name, version := cutVersion(text)
	var found []int
	for _, m := range x.match(texts(split(name)), 0, true) {
		if m.cost == 0 {
			found = append(found, m.rec)
		}
	}
	switch {
	case len(found) == 1 && version != "":
		a.found(&x.recs[found[0]], Parsed, "name without the version "+version)
	case len(found) == 1:
		a.found(&x.recs[found[0]], Parsed, "name with other separators")
	case len(found) > 1:
		return Answer{Ambiguous: true, Reason: "several tools have this name", Candidates: x.list(found, "has this name")}
	default:
		return Answer{Reason: unknownName, key: text}
	}
	return a
}

// versioned is the name of a tool with its version behind it: "0.5.4", "v0.8", "1.0.0rc2", the number of a build behind a
// b, or a commit. A plain number may be part of the name.
var versioned = regexp.MustCompile(`^(.+?)(?:[ -](?:is|version))*[ =@:/-]+` +
	`(v?[0-9]+(?:\.[0-9]+)+(?:rc[0-9]+|\.?(?:dev|post)[0-9]+)?|b[0-9]{2,}|[0-9a-f]{7,40})$`)

// cutVersion cuts a version off the end of a tool's name, "ollama 0.5.4", "vllm/v0.8", "mlx version: 0.29.3", and a
// backend or the number of a build in brackets: "llama.cpp b4567 (vulkan)". Other words may name a fork.
func cutVersion(text string) (name, number string) {
	name, inside, _ := strings.Cut(text, " (")
	known := func(w word) bool { return !is("tool backends", w.text) && !isDigit(w.text[0]) }
	if !strings.HasSuffix(inside, ")") || slices.ContainsFunc(split(inside), known) {
		name = text
	}
	if at := versioned.FindStringSubmatch(name); at != nil {
		return at[1], at[2]
	}
	return name, ""
}

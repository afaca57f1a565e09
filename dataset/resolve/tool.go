package resolve

import "strings"

// strictTool reads the name of a tool, with its version or another separator. Other words may name a fork.
func (r *Resolver) strictTool(text string) (a Answer) {
	x := r.tools
	if i, ok := x.exact[text]; ok {
		a.found(&x.recs[i], Exact, "slug, name or alias")
		return a
	}
	ws := split(text)
	for n := len(ws); n > 0; n-- {
		found, rest := x.whole(texts(ws[:n])), text[ws[n-1].end:]
		switch {
		case len(found) == 0 || !says("version", rest):
		case len(found) > 1:
			return Answer{Ambiguous: true, Reason: "several tools have this name", Candidates: x.list(found, "has this name")}
		case rest == "":
			a.found(&x.recs[found[0]], Parsed, "name with other separators")
			return a
		default:
			a.found(&x.recs[found[0]], Parsed, "name without the version "+strings.Trim(rest, " =@:/-"))
			return a
		}
	}
	return Answer{Reason: unknownName, key: text}
}

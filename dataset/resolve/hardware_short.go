package resolve

import (
	"regexp"
	"slices"
	"strings"
)

// readShort understands a name that leaves out words of its line, or that says "desktop". main is the name itself.
func (n *hardwareNames) readShort(words []string, memory float64, main string) reading {
	laptop, desktop := slices.Contains(words, "laptop"), slices.Contains(words, "desktop")
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "laptop" || w == "desktop" })
	line, number := cutLine(words)
	if number == nil || laptop && desktop {
		return reading{}
	}
	if len(line) == 2 && line[0] == "r" && len(number[0]) >= 4 { // "R9 7950X"; an R9 290X is a Radeon
		line = []string{"ryzen", line[1]}
	}
	mobile := n.behind(line, append(slices.Clip(number), "laptop"), memory)
	if laptop {
		return mobile
	}
	r := n.behind(line, number, memory)
	if desktop {
		return r
	}
	r = r.or(mobile).or(n.behind(line, append(slices.Clip(number), "max", "q"), memory))
	if ofCards(main) { // an R9 390 is not a Ryzen AI Max 390
		r.found = slices.DeleteFunc(r.found, func(rec int32) bool { return n.recs[rec].kind != "gpu" })
	}
	switch {
	case len(mobile.found) > 0:
		r.bare, r.note = true, "the name does not say whether it is the one for laptops"
	case len(line) == 0 && !n.decides(number, r.found, main):
		r.bare, r.note = true, "the number is used by several lines of products"
	}
	return r
}

// behind finds the records with a number whose line has the given words, in this order, and lacks nothing else than
// lineWords.
func (n *hardwareNames) behind(line, number []string, memory float64) (r reading) {
	for _, name := range n.lined[join(number)] {
		if leavesOut(name.line, line) {
			r = r.or(n.lookKey(name.key, memory))
		}
	}
	return r
}

// leavesOut reports whether the words of stated are those of line without some of lineWords. An RTX PRO 4500 is not an
// RTX 4500, and a Quadro RTX 4000 not a Quadro 4000.
func leavesOut(line, stated []string) bool {
	for i, w := range line {
		switch {
		case len(stated) > 0 && stated[0] == w:
			stated = stated[1:]
		case !lineWords[w] || i > 0 && (w == "pro" && line[i-1] == "rtx" || w == "rtx" && line[i-1] == "quadro"):
			return false
		}
	}
	return len(stated) == 0
}

// coreX are numbers that Intel gave processors of its Core X line, such as i9-9900X, before AMD gave them to others.
var coreX = regexp.MustCompile(`^[79][89][02468]0x$`)

// decides reports whether a number without its line says which product it is: with letters ("7900xtx") it mostly does,
// without them only cards of NVIDIA have numbers of their own. A 7600 is a Radeon as well as a Ryzen.
func (n *hardwareNames) decides(number []string, found []int32, main string) bool {
	switch {
	case coreX.MatchString(join(number)):
		return strings.Contains(main, "amd")
	case slices.ContainsFunc(number, func(w string) bool { return isLetter(w[0]) }) || ofCards(main):
		return true
	}
	return len(number[0]) >= 4 && !slices.ContainsFunc(found, func(rec int32) bool { return n.recs[rec].vendor != "nvidia" })
}

// ofCards reports whether a name has a brand that only graphics have.
func ofCards(main string) bool {
	return strings.Contains(main, "geforce") || strings.Contains(main, "radeon")
}

package record

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Near returns up to n of the candidates a reader may have meant by word, nearest first. They contain it, differ from it in their
// ending, or are within a third of its length in edits and have a letter in common with it. Letter case does not count. It costs
// one comparison a candidate, so it is for error paths.
func Near(word string, candidates []string, n int) []string {
	type scored struct {
		text     string
		distance int
	}
	word = strings.ToLower(word)
	limit := max(2, len(word)/3)
	runes := utf8.RuneCountInString(word)
	var near []scored
	for _, c := range candidates {
		folded := strings.ToLower(c)
		d := limit + 1
		if gap := len(folded) - len(word); gap <= limit && -gap <= limit {
			if d = levenshtein.ComputeDistance(word, folded); d >= runes {
				continue // another word: nothing of it is left
			}
		}
		if d > limit && (len(word) >= 3 && strings.Contains(folded, word) || otherEnding(word, folded)) {
			d = limit // as good as the farthest miss
		}
		if d <= limit {
			near = append(near, scored{c, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(len(a.text), len(b.text)), cmp.Compare(a.text, b.text))
	})
	out := make([]string, 0, n)
	for _, s := range near[:min(n, len(near))] {
		out = append(out, s.text)
	}
	return out
}

// otherEnding says whether a word has another ending than the name of at most its length, as a plural does:
// families, family.
func otherEnding(word, name string) bool {
	const stem, ending = 5, 3
	n := len(name) - 1
	return n >= stem && n < len(word) && len(word)-n <= ending && word[:n] == name[:n]
}

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
	letters := countLetters(word)
	var near []scored
	for _, c := range candidates {
		folded := strings.ToLower(c)
		d := limit + 1
		if gap := len(folded) - len(word); gap <= limit && -gap <= limit && letters.apart(folded) <= limit {
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

type letterCount struct {
	of    [256]int16
	size  int
	ascii bool
}

func countLetters(word string) (c letterCount) {
	c.size, c.ascii = len(word), true
	for i := range len(word) {
		c.of[word[i]]++
		c.ascii = c.ascii && word[i] < 0x80
	}
	return c
}

// apart returns a lower bound of the edits from the word to another: the letters one of them has
// more than the other. It takes a twentieth of the time the edits take to compute, and rules out
// nearly all names. Words beyond ASCII are not judged: there a letter is several bytes.
func (c *letterCount) apart(other string) int {
	if !c.ascii {
		return 0
	}
	left, common := c.of, 0
	for i := range len(other) {
		b := other[i]
		if b >= 0x80 {
			return 0
		}
		if left[b] > 0 {
			left[b]--
			common++
		}
	}
	return max(c.size, len(other)) - common
}

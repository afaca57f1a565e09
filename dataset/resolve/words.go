package resolve

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// signs are written otherwise before anything else: compatibility folding would turn "Arc™" to "arctm".
var signs = strings.NewReplacer("(r)", " ", "(tm)", " ", "(c)", " ", "(R)", " ", "(TM)", " ", "(C)", " ",
	"®", " ", "™", " ", "©", " ", "℠", " ", "×", "x")

// clean gives a name in lower case, in one Unicode form, with single blanks, and without trademark signs and characters
// that cannot be seen.
func clean(s string) string {
	s = signs.Replace(s)
	if strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 }) {
		s = norm.NFKC.String(s)
	}
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsControl(c) || unicode.Is(unicode.Cf, c):
			return -1
		}
		return unicode.ToLower(c)
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || c >= 0x80 }

// A word of a text in lower case: letters, a number, or a size such as 8b. start and end are its place in bytes.
type word struct {
	text       string
	start, end int
}

// split cuts a text into runs of letters, numbers with a point inside, and plus signs, which become the word "plus".
func split(text string) (out []word) {
	for i := 0; i < len(text); {
		j := i + 1
		run := func(of func(c byte) bool) {
			for j < len(text) && of(text[j]) {
				j++
			}
		}
		switch c := text[i]; {
		case isDigit(c):
			if run(isDigit); j+1 < len(text) && (text[j] == '.' || text[j] == '_') && isDigit(text[j+1]) {
				j++
				run(isDigit)
			}
			out = append(out, word{strings.ReplaceAll(text[i:j], "_", "."), i, j})
		case isLetter(c):
			run(func(next byte) bool { return isLetter(next) && (next < 0x80) == (c < 0x80) })
			if i > 0 && isDigit(text[i-1]) && c == 'x' && j > i+1 && strings.IndexByte("tls", text[i+1]) < 0 {
				j = i + 1 // the x of "8xA100", which is not that of XT, XL and XS
			}
			out = append(out, word{text[i:j], i, j})
		case c == '+' && i > 0 && text[i-1] > ' ' && (j == len(text) || !isDigit(text[j]) && !isLetter(text[j])):
			out = append(out, word{"plus", i, j})
		}
		i = j
	}
	return out
}

// sized joins the parts of the sizes and letters of models: 8 b is 8b, a 3 b is a3b, 8 x 7 b is 8x7b, r 1 is r1. A v
// before a number is left out.
func sized(ws []word) (out []word) {
	glued := func(i int) bool { return i > 0 && i < len(ws) && ws[i].start == ws[i-1].end }
	number := func(i int) bool { return i < len(ws) && isDigit(ws[i].text[0]) }
	unit := func(i int) bool {
		return glued(i) && len(ws[i].text) == 1 && strings.IndexByte("bmtke", ws[i].text[0]) >= 0 && !(glued(i+1) && number(i+1))
	}
	for i := 0; i < len(ws); {
		w, n := ws[i].text, 1
		switch {
		case number(i) && glued(i+1) && ws[i+1].text == "x" && glued(i+2) && number(i+2): // 8x7b
			n = 3
		case len(w) == 1 && isLetter(w[0]) && glued(i+1) && number(i+1):
			if w == "v" && !(glued(i) && number(i-1)) {
				i++
				continue
			}
			n = 2 // r1
		}
		if (n > 1 || number(i)) && unit(i+n) {
			n++
		}
		out = append(out, word{strings.Join(texts(ws[i:i+n]), ""), ws[i].start, ws[i+n-1].end})
		i += n
	}
	return out
}

// phrased writes several words for one thing in the spelling that names are compared in.
func phrased(ws []word) []word {
	out := make([]word, 0, len(ws))
	for i := 0; i < len(ws); {
		n, to := 1, ws[i].text
		for _, p := range phrasesBy[ws[i].text] {
			if len(p) <= len(ws)-i && slices.Equal(p, texts(ws[i:i+len(p)])) {
				n, to = len(p), means("phrases", strings.Join(p, " "))
				break
			}
		}
		for t := range strings.FieldsSeq(to) {
			out = append(out, word{t, ws[i].start, ws[i+n-1].end})
		}
		i += n
	}
	return out
}

// phrasesBy are the words of phrases by the first of them, long ones first.
var phrasesBy = func() map[string][][]string {
	by := map[string][][]string{}
	for _, from := range vocabulary["phrases"].order {
		words := strings.Fields(from)
		by[words[0]] = append(by[words[0]], words)
		slices.SortStableFunc(by[words[0]], func(a, b []string) int { return len(b) - len(a) })
	}
	return by
}()

// texts are the words without their places.
func texts(ws []word) []string {
	out := make([]string, len(ws))
	for i, w := range ws {
		out[i] = w.text
	}
	return out
}

// active reports whether a word is the number of parameters read for one token: "a3b", "a400m".
func active(word string) bool { return len(word) > 2 && word[0] == 'a' && isDigit(word[1]) }

// params reads the size among words, in billions; 0 if there is none or it counts experts.
func params(words ...string) float64 {
	for _, w := range words {
		if isDigit(w[0]) && len(w) > 1 {
			unit := map[byte]float64{'b': 1, 'm': 1e-3, 't': 1e3}[w[len(w)-1]]
			if n, err := strconv.ParseFloat(w[:len(w)-1], 64); err == nil && unit > 0 {
				return n * unit
			}
		}
	}
	return 0
}

// isSize reports whether a word is a number of parameters: "8b", "270m", "8x7b".
func isSize(word string) bool {
	last := word[len(word)-1]
	return isDigit(word[0]) && (last == 'b' || last == 'm' && len(word) > 2)
}

package resolve

import (
	"regexp"
	"slices"
	"strings"
)

// A word of a text in lower case: letters, a number, or a size such as 8b. start and end are its place in bytes.
type word struct {
	text       string
	start, end int
}

// split cuts a text into runs of letters, numbers with a point inside, and plus signs, which become the word "plus".
func split(text string) (out []word) {
	ascii := func(c byte) bool { return c < 0x80 }
	for i := 0; i < len(text); {
		j := i + 1
		switch c := text[i]; {
		case isDigit(c):
			for j < len(text) && isDigit(text[j]) {
				j++
			}
			if j+1 < len(text) && (text[j] == '.' || text[j] == '_') && isDigit(text[j+1]) {
				for j++; j < len(text) && isDigit(text[j]); j++ {
				}
			}
			out = append(out, word{dotted(text[i:j]), i, j})
		case isLetter(c):
			for j < len(text) && isLetter(text[j]) && ascii(text[j]) == ascii(c) {
				j++
			}
			if c == 'x' && j > i+1 && i > 0 && isDigit(text[i-1]) && !strings.HasPrefix(text[i:j], "xt") && !strings.HasPrefix(text[i:j], "xl") && !strings.HasPrefix(text[i:j], "xs") {
				j = i + 1 // 8xA100
			}
			out = append(out, word{text[i:j], i, j})
		case c == '+' && i > 0 && (isDigit(text[i-1]) || isLetter(text[i-1])) && (j == len(text) || !isDigit(text[j]) && !isLetter(text[j])):
			out = append(out, word{"plus", i, j})
		}
		i = j
	}
	return out
}

// withCores writes the number of graphics cores of a chip as slugs do, and leaves out those of its processor.
func withCores(text string) string {
	if !strings.Contains(text, "core") && !strings.Contains(text, "gpu") {
		return text
	}
	return processorCores.ReplaceAllString(graphicsCores.ReplaceAllString(text, " ${1}${2}${3}gcores "), " ")
}

var (
	graphicsCores  = regexp.MustCompile(`\b(?:([1-9][0-9]?)[- ]?cores? gpu|([1-9][0-9]?)[- ]?gpu[- ]?cores?|([1-9][0-9]?)gpu)\b`)
	processorCores = regexp.MustCompile(`\b[0-9]+[- ]cores? (?:cpu|processor)\b`)
)

// sized joins the parts of the sizes and letters of models: 8 b is 8b, a 3 b is a3b, 8 x 7 b is 8x7b, r 1 is r1. A v
// before a number is left out.
func sized(ws []word) (out []word) {
	glued := func(i int) bool { return i > 0 && i < len(ws) && ws[i].start == ws[i-1].end }
	number := func(i int) bool { return i < len(ws) && isDigit(ws[i].text[0]) }
	join := func(i, n int) {
		text := ""
		for _, w := range ws[i : i+n] {
			text += w.text
		}
		out = append(out, word{text, ws[i].start, ws[i+n-1].end})
	}
	unit := func(i int) bool {
		return glued(i) && len(ws[i].text) == 1 && sizeUnits[ws[i].text] && !(glued(i+1) && number(i+1))
	}
	for i := 0; i < len(ws); {
		w, n := ws[i].text, 1
		switch {
		case number(i) && glued(i+1) && ws[i+1].text == "x" && glued(i+2) && number(i+2):
			n = 3
			if unit(i + 3) {
				n = 4
			}
		case number(i) && unit(i+1):
			n = 2
		case number(i) && glued(i+1) && ws[i+1].text == "ba" && glued(i+2): // 21BA3B
			out = append(out, word{w + "b", ws[i].start, ws[i].end})
			ws = slices.Clone(ws)
			ws[i+1].text, ws[i+1].start = "a", ws[i+1].end-1
			i++
			continue
		case len(w) == 1 && isLetter(w[0]) && glued(i+1) && number(i+1):
			if w == "v" && !(glued(i) && number(i-1)) {
				i++
				continue
			}
			n = 2
			if (w == "a" || w == "e") && unit(i+2) {
				n = 3
			} else if unit(i + 2) { // r7b
				n = 3
			}
		}
		join(i, n)
		i += n
	}
	return out
}

// phrase writes several words for one thing in the spelling that names are compared in.
func phrased(ws []word) []word {
	out := make([]word, 0, len(ws))
	for i := 0; i < len(ws); {
		n, to := phraseAt(ws[i:])
		if n == 0 {
			out = append(out, ws[i])
			i++
			continue
		}
		for t := range strings.FieldsSeq(to) {
			out = append(out, word{t, ws[i].start, ws[i+n-1].end})
		}
		i += n
	}
	return out
}

func phraseAt(ws []word) (n int, to string) {
	for _, p := range phrasesBy[ws[0].text] {
		if len(p.words) > n && len(p.words) <= len(ws) && slices.EqualFunc(p.words, ws[:len(p.words)], func(w string, have word) bool { return w == have.text }) {
			n, to = len(p.words), p.to
		}
	}
	return n, to
}

type phraseOf struct {
	words []string
	to    string
}

var phrasesBy = func() map[string][]phraseOf {
	by := map[string][]phraseOf{}
	for from, to := range vocabulary["phrases"] {
		words := strings.Fields(from)
		by[words[0]] = append(by[words[0]], phraseOf{words, to})
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

// spell writes words as the names of a lexicon have them: glued ones apart ("gptoss"), parted ones together ("code
// llama"), 36 behind letters as 3.6, and a word with one letter wrong as the one it is like.
func (x *lexicon) spell(ws []word) []word { return x.spelled(ws, true) }

func (x *lexicon) spelled(ws []word, guess bool) (out []word) {
	for i := 0; i < len(ws); i++ {
		w := ws[i]
		letters := isLetter(w.text[0]) && w.text[0] < 0x80
		glued := i > 0 && ws[i-1].end == w.start && isLetter(ws[i-1].text[0])
		switch {
		case letters && i+1 < len(ws) && isLetter(ws[i+1].text[0]) && x.post[w.text+ws[i+1].text] != nil && !x.pairs[w.text+ws[i+1].text] && ws[i+1].start <= w.end+1:
			out = append(out, word{w.text + ws[i+1].text, w.start, ws[i+1].end})
			i++
		case x.post[w.text] != nil:
			out = append(out, w)
		case letters && x.joined[w.text] != nil:
			for _, part := range x.joined[w.text] {
				out = append(out, word{part, w.start, w.end})
			}
		case glued && len(w.text) == 2 && isDigit(w.text[0]) && x.post[w.text[:1]+"."+w.text[1:]] != nil:
			out = append(out, word{w.text[:1] + "." + w.text[1:], w.start, w.end})
		case letters && len(w.text) > 3 && x.kind == Model && i+1 < len(ws) && ws[i+1].start == w.end && isDigit(ws[i+1].text[0]) && x.post[w.text[:len(w.text)-1]] != nil && x.post[w.text[len(w.text)-1:]+ws[i+1].text] != nil: // deepseekr1
			out = append(out, word{w.text[:len(w.text)-1], w.start, w.end - 1}, word{w.text[len(w.text)-1:] + ws[i+1].text, w.end - 1, ws[i+1].end})
			i++
		case guess && letters && len(w.text) >= 4 && x.kind == Model && !is("common", w.text) && i+1 < len(ws) && isDigit(ws[i+1].text[0]):
			if meant := x.misspelled(w.text); meant != "" {
				w.text = meant
			}
			out = append(out, w)
		default:
			out = append(out, w)
		}
	}
	return out
}

// misspelled is the one word of names that differs from w in one letter, which is not the first; empty for none or several.
func (x *lexicon) misspelled(w string) (meant string) {
	for have := range x.post {
		if len(have) >= 4 && have[0] == w[0] && isLetter(have[0]) && oneApart(have, w) {
			if meant != "" {
				return ""
			}
			meant = have
		}
	}
	return meant
}

// oneApart reports whether two words differ by one letter more, less or other, or by two that changed places.
func oneApart(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	if len(a)-len(b) > 1 {
		return false
	}
	i := 0
	for i < len(b) && a[i] == b[i] {
		i++
	}
	if len(a) > len(b) {
		return a[i+1:] == b[i:]
	}
	return i < len(b) && (a[i+1:] == b[i+1:] || i+1 < len(b) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:])
}

// respell is spell without guesses at misspelled words.
func (x *lexicon) respell(ws []word) []word { return x.spelled(ws, false) }

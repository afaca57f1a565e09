package resolve

import (
	"embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed vocabulary
var vocabularyFiles embed.FS

// A section of the vocabulary is words, with what they mean where a line says it ("raspi = raspberry pi").
type section struct {
	means map[string]string
	order []string // the words in the order of the file
}

// vocabulary has the sections of the files by name.
var vocabulary = readVocabulary()

func readVocabulary() map[string]*section {
	all := map[string]*section{}
	for _, file := range []string{"hardware", "models", "questions"} {
		text, err := vocabularyFiles.ReadFile("vocabulary/" + file + ".txt")
		if err != nil {
			panic(err)
		}
		var s *section
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "#") {
				continue
			} else if name, ok := strings.CutPrefix(line, "["); ok && strings.HasSuffix(name, "]") {
				if name = strings.TrimSuffix(name, "]"); all[name] == nil {
					all[name] = &section{means: map[string]string{}}
				}
				s = all[name]
			} else if from, to, ok := strings.Cut(line, " = "); ok {
				s.means[from] = to
				s.order = append(s.order, from)
			} else {
				for w := range strings.FieldsSeq(line) {
					s.means[w] = w
				}
			}
		}
	}
	return all
}

// is reports whether a word is in a section of the vocabulary.
func is(section, word string) bool { return means(section, word) != "" }

// means is what a section says of a word; empty for nothing.
func means(section, word string) string { return vocabulary[section].means[word] }

// An expression finds something in texts. Texts without one of the signs do not have it: expressions take time.
type expression struct {
	*regexp.Regexp
	signs []string
}

// newExpression reads "expression" or "signs :: expression".
func newExpression(text string) *expression {
	signs, form, ok := strings.Cut(text, ":: ")
	if !ok {
		signs, form = "", text
	}
	return &expression{regexp.MustCompile(form), strings.Fields(signs)}
}

// may reports whether a text can have what an expression finds.
func (e *expression) may(text string) bool {
	return len(e.signs) == 0 || slices.ContainsFunc(e.signs, func(sign string) bool { return strings.Contains(text, sign) })
}

// patterns are the expressions of the vocabulary by name.
var patterns = func() map[string]*expression {
	all := map[string]*expression{}
	for name, text := range vocabulary["expressions"].means {
		all[name] = newExpression(text)
	}
	return all
}()

// says reports whether a text has what an expression of the vocabulary finds.
func says(name, text string) bool {
	return patterns[name].may(text) && patterns[name].MatchString(text)
}

// A place is where something stands in a text, in bytes.
type place struct{ start, end int }

type places []place

// at reports whether a word is at one of the places.
func (p places) at(w word) bool {
	return slices.ContainsFunc(p, func(p place) bool { return w.start < p.end && p.start < w.end })
}

// A fact is where an expression matches, and its groups; empty ones were not matched.
type fact struct {
	place
	part []string
}

// find finds all that an expression of the vocabulary matches.
func find(name, text string) (out []fact) {
	if !patterns[name].may(text) {
		return nil
	}
	for _, m := range patterns[name].FindAllStringSubmatchIndex(text, -1) {
		f := fact{place: place{m[0], m[1]}}
		for ; len(m) > 0; m = m[2:] {
			f.part = append(f.part, text[max(m[0], 0):max(m[1], 0)])
		}
		out = append(out, f)
	}
	return out
}

// number is the number in the first of some groups that has one; 0 for none.
func (f *fact) number(groups ...int) float64 {
	for _, g := range groups {
		if n, err := strconv.ParseFloat(strings.ReplaceAll(f.part[g], ",", ""), 64); err == nil {
			return n
		}
	}
	return 0
}

// A rewriting is a form that programs print, and how it is written instead.
type rewriting struct {
	*expression
	to string
}

// rewritings are the sections with lines such as "signs :: expression = replacement", in which _ is a blank.
var rewritings = func() map[string][]rewriting {
	all := map[string][]rewriting{}
	for name, section := range vocabulary {
		for _, line := range section.order {
			if strings.Contains(line, ":: ") {
				all[name] = append(all[name], rewriting{newExpression(line), strings.ReplaceAll(section.means[line], "_", " ")})
			}
		}
	}
	return all
}()

// rewrite writes the forms of a section that a text has as the section says.
func rewrite(section, text string) string {
	for _, r := range rewritings[section] {
		if r.may(text) {
			text = r.ReplaceAllString(text, r.to)
		}
	}
	return strings.TrimSpace(text)
}

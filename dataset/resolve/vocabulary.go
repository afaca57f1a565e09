package resolve

import (
	"embed"
	"regexp"
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

// expression is one of the section of expressions.
func expression(name string) *regexp.Regexp { return regexp.MustCompile(means("expressions", name)) }

// A rewriting is a form that programs print, and how it is written instead. Texts without the sign do not have the form.
type rewriting struct {
	sign string
	form *regexp.Regexp
	to   string
}

// rewritings reads a section with lines such as "sign :: expression = replacement", in which _ is a blank.
func rewritings(section string) (out []rewriting) {
	for _, line := range vocabulary[section].order {
		sign, form, _ := strings.Cut(line, ":: ")
		to := strings.ReplaceAll(vocabulary[section].means[line], "_", " ")
		out = append(out, rewriting{strings.TrimSpace(sign), regexp.MustCompile(form), to})
	}
	return out
}

// rewrite writes the forms of a section that a text has as the section says.
func rewrite(list []rewriting, text string) string {
	for _, r := range list {
		if strings.Contains(text, r.sign) {
			text = r.form.ReplaceAllString(text, r.to)
		}
	}
	return strings.TrimSpace(text)
}

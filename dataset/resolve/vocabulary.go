package resolve

import (
	"embed"
	"path"
	"strings"
)

//go:embed vocabulary
var vocabularyFiles embed.FS

// vocabulary has the sections of the files: words, with what they mean where a line says it ("raspi = raspberry pi").
var vocabulary = readVocabulary()

func readVocabulary() map[string]map[string]string {
	all := map[string]map[string]string{}
	files, err := vocabularyFiles.ReadDir("vocabulary")
	if err != nil {
		panic(err)
	}
	for _, f := range files {
		text, err := vocabularyFiles.ReadFile(path.Join("vocabulary", f.Name()))
		if err != nil {
			panic(err)
		}
		var section map[string]string
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(line, "#")
			line = strings.TrimSpace(line)
			if name, ok := strings.CutPrefix(line, "["); ok {
				section = map[string]string{}
				all[strings.TrimSuffix(name, "]")] = section
			} else if from, to, ok := strings.Cut(line, " = "); ok {
				section[from] = to
			} else {
				for w := range strings.FieldsSeq(line) {
					section[w] = w
				}
			}
		}
	}
	return all
}

// is reports whether a word is in a section of the vocabulary.
func is(section, word string) bool { return vocabulary[section][word] != "" }

// wordsOf are the words of a section of the vocabulary.
func wordsOf(section string) map[string]bool {
	words := make(map[string]bool, len(vocabulary[section]))
	for w := range vocabulary[section] {
		words[w] = true
	}
	return words
}

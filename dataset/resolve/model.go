package resolve

import (
	"regexp"
	"strings"
)

func (n *modelNames) resolve(text string) Answer {
	cut := cutModel(text)
	if i, ok := n.exact[text]; ok {
		a := n.found(i, Exact, "slug, name, alias or repository")
		_, m := bareModel(cut.name)
		a.describe(m, modelWords(cut.name))
		return a
	}
	if a, ok := n.byType(text); ok {
		return a
	}
	a, words, m := n.byName(cut)
	if a.Reason == unknownName && strings.Contains(text, "_") { // between words, not behind an account
		name := text[:len(text)-len(storedAs.FindString(text))]
		spaced := cutModel(strings.ReplaceAll(name, "_", "-") + text[len(name):])
		if b, more, marks := n.byName(spaced); b.Slug != "" || b.Ambiguous {
			a, words, m, cut = b, more, marks, spaced
		}
	}
	if a.Reason == unknownName && (cut.owner == "" || cut.owner == "library") {
		a = n.byLibrary(words)
	}
	if a.Reason == unknownName {
		a.key = join(words)
	}
	a.describe(m, words)
	if a.Format == "" && cut.owner == "mlx-community" {
		a.Format = "mlx"
	}
	return a
}

// storedAs finds the storage type at the end of a name, in which underscores belong.
var storedAs = regexp.MustCompile(`(?:ud[-_])?i?q[0-9]_[0-9a-z_]+(?:\.gguf)?$`)

// describe adds what a name says besides the model.
func (a *Answer) describe(m marks, words []string) {
	a.Quantization, a.Format, a.ParamsB = m.quant, m.format, params(words)
}

// byName reads a name with its marks, owner and tag.
func (n *modelNames) byName(cut modelName) (a Answer, words []string, m marks) {
	m = cut.marks
	name := cut.name
	if cut.tag != "" {
		if mark, ok := allMarks(cut.tag); ok {
			m = mark
		} else {
			return n.byTag(cut)
		}
	}
	a, words, read := n.byMarks(cut.owner, name, m.any)
	read.under(m)
	return a, words, combine(read, m)
}

// combine keeps the marks of a tag or file, which are of the file that is used, over those of the
// repository.
func combine(repository, file marks) marks {
	if file.quant != "" {
		repository.quant = file.quant
	}
	if file.format != "" {
		repository.format = file.format
	}
	return repository
}

// byMarks cuts one mark after the other off the end of a name until the rest is known: the longest
// known name wins, so that "Falcon3-7B-Instruct-1.58bit" keeps its bits and "-4bit" goes.
func (n *modelNames) byMarks(owner, name string, converted bool) (a Answer, words []string, m marks) {
	stem := name
	m.any = converted
	for {
		words = modelWords(stem)
		if recs := n.known(words); len(recs) > 0 {
			rest := stem
			for { // marks that are part of the record's own name are reported all the same
				more, mark, ok := cutMark(rest)
				if !ok {
					break
				}
				m.under(mark)
				rest = more
			}
			return n.judgeWritten(recs, owner, stem, m), words, m
		}
		rest, mark, ok := cutMark(stem)
		if !ok {
			break
		}
		m.under(mark)
		stem = rest
	}
	if maker, rest, ok := strings.Cut(stem, "_"); ok && owner == "" && (n.owners[maker] || repackagers[maker]) { // bartowski's files: owner_name
		if recs := n.known(modelWords(rest)); len(recs) > 0 {
			return n.judge(recs, maker, m), words, m
		}
	}
	if recs := n.withoutMaker(stem); len(recs) > 0 {
		return n.judge(recs, owner, m), words, m
	}
	return n.unknown(words, owner), words, m
}

// withoutMaker reads a name that begins with the name of its maker, "IBM-Granite-3.1", or with
// that of a repackager, "QuantTrio-Qwen3.6-27B".
func (n *modelNames) withoutMaker(stem string) []int32 {
	cut := strings.IndexAny(stem, "- _")
	if cut <= 0 {
		return nil
	}
	maker := stem[:cut]
	var out []int32
	for _, rec := range n.known(modelWords(stem[cut+1:])) {
		if n.recs[rec].owners[maker] || repackagers[maker] {
			out = append(out, rec)
		}
	}
	return out
}

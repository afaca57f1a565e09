package resolve

import (
	"regexp"
	"strings"
)

// resolve tries what is certain before what needs rules. It looks for a name as a record has it, a type that
// llama-bench prints, the words of the name, and last for a name of Ollama without its colon.
func (n *modelNames) resolve(text string) Answer {
	if begun, short := cutDots(text); short {
		a := n.resolve(begun)
		return a.cutShort(Model)
	}
	name := cutModel(text)
	if i, ok := n.exact[text]; ok {
		a := n.found(i, Exact, "slug, name, alias or repository")
		_, m := bareModel(name.name)
		a.describe(m, modelWords(name.name))
		return a
	}
	if a, ok := n.byType(text); ok {
		return a
	}
	if rest, quant := TypeQuantization(text); strings.Contains(text[len(rest):], " - ") { // "gemma 3 4b it q4_k - medium"
		return n.resolve(rest + " " + strings.ToLower(quant))
	}
	r := n.byName(name)
	if r.answer.Reason == unknownName && strings.Contains(text, "_") {
		other := withHyphens(text)
		if b := n.byName(other); b.answer.Slug != "" || b.answer.Ambiguous {
			r, name = b, other
		}
	}
	a := r.answer
	if a.Reason == unknownName && (name.owner == "" || name.owner == "library") {
		a = n.byLibrary(r.words)
	}
	if a.Reason == unknownName {
		a.key = join(r.words)
	}
	a.describe(r.marks, r.words)
	if a.Format == "" && name.owner == "mlx-community" {
		a.Format = "mlx"
	}
	return a
}

// withHyphens takes a name apart in which underscores are between words, not behind an account.
func withHyphens(text string) modelName {
	name := text[:len(text)-len(storedAs.FindString(text))]
	return cutModel(strings.ReplaceAll(name, "_", "-") + text[len(name):])
}

// storedAs finds the storage type at the end of a name, in which underscores belong.
var storedAs = regexp.MustCompile(`(?:ud[-_])?i?q[0-9]_[0-9a-z_]+(?:\.gguf)?$`)

// describe adds what a name says besides the model.
func (a *Answer) describe(m marks, words []string) {
	a.Quantization, a.Format, a.ParamsB = m.quant, m.format, params(words)
}

// modelReading is a name as it was understood.
type modelReading struct {
	answer Answer
	words  []string // of the name without its marks
	marks  marks
}

// byName reads a name with its marks, owner and tag.
func (n *modelNames) byName(name modelName) modelReading {
	file := name.marks
	if name.tag != "" {
		mark, ok := allMarks(name.tag)
		if !ok {
			return n.byTag(name)
		}
		file = mark
	}
	r := n.byMarks(name, file.any)
	r.marks.under(file)
	if file.quant != "" { // those of the file that is used count, not those of its repository
		r.marks.quant = file.quant
	}
	if file.format != "" {
		r.marks.format = file.format
	}
	return r
}

// byMarks looks a name up with fewer and fewer of the marks at its end: the longest known name wins, so that
// "Falcon3-7B-Instruct-1.58bit" keeps its bits and "-4bit" goes.
func (n *modelNames) byMarks(name modelName, converted bool) (r modelReading) {
	stems := r.marks.cut(name.name)
	r.marks.any = r.marks.any || converted
	for _, stem := range stems {
		r.words = modelWords(stem)
		if recs := n.known(r.words); len(recs) > 0 {
			r.answer = n.judgeWritten(recs, name, stem, r.marks)
			return r
		}
	}
	if recs, account := n.withoutMaker(stems[len(stems)-1], name.owner); len(recs) > 0 {
		r.answer = n.judge(recs, account, r.marks)
		return r
	}
	r.answer = n.unknown(r.words, name.owner)
	return r
}

// withoutMaker reads a name that begins with its maker, "IBM-Granite-3.1", or with one who converts models,
// "QuantTrio-Qwen3.6-27B" and "bartowski_Qwen3-8B". account is whose the name is then.
func (n *modelNames) withoutMaker(stem, owner string) (recs []int32, account string) {
	if maker, name, ok := strings.Cut(stem, "_"); ok && owner == "" && (n.owners[maker] || repackagers[maker]) { // an account as a whole
		if recs := n.known(modelWords(name)); len(recs) > 0 {
			return recs, maker
		}
	}
	cut := strings.IndexAny(stem, "- _")
	if cut <= 0 {
		return nil, ""
	}
	maker := stem[:cut]
	for _, rec := range n.known(modelWords(stem[cut+1:])) {
		if n.recs[rec].owners[maker] || repackagers[maker] {
			recs = append(recs, rec)
		}
	}
	return recs, owner
}

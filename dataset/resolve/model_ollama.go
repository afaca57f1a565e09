package resolve

import (
	"slices"
	"strings"
)

// byTag reads "library:tag" of Ollama, with a size, a variant and a storage type in the tag.
func (n *modelNames) byTag(name modelName) modelReading {
	r := modelReading{marks: marks{format: "gguf"}}
	if name.tag == "latest" {
		r.answer, r.words = n.latest(name)
		return r
	}
	stems := r.marks.cut(name.tag)
	for _, tag := range stems {
		if i, ok := n.exact[name.name+":"+tag]; ok && (name.owner == "" || repackagers[name.owner] || n.recs[i].owners[name.owner]) {
			r.answer, r.words = n.found(i, Parsed, "tag without the storage type"), modelWords(tag)
			return r
		}
	}
	tag := stems[len(stems)-1]
	size, base := strings.CutSuffix(tag, "-text") // Ollama's word for base models
	r.words = modelWords(name.name + "-" + size)
	recs := n.known(r.words)
	if len(recs) == 0 {
		r.answer = n.unknown(r.words, name.owner)
		return r
	}
	// "llama3:8b" is the chat model, although its words are those of the base model. What a tag with only a
	// size means is up to Ollama's library, unless there is only one model to choose.
	if all := n.variants(r.words); !base && len(all) > 1 && onlySize(modelWords(tag)) {
		r.answer = Answer{Ambiguous: true, Reason: "a tag with a size only says neither release nor variant", Candidates: n.list(all, "has this name and size")}
		return r
	}
	r.answer = n.judge(recs, name.owner, r.marks)
	return r
}

// latest reads "name:latest". What that is changes with time, so it only counts where the name
// itself leaves no choice: it states a size, or no other record shares the library.
func (n *modelNames) latest(name modelName) (Answer, []string) {
	words := modelWords(name.name)
	recs, others := n.known(words), n.ofLibrary(words)
	switch {
	case len(recs) == 1 && (params(words) > 0 || len(others) == 0):
		return n.judge(recs, name.owner, marks{any: true}), words
	case len(others) > 0:
		return Answer{Ambiguous: true, Reason: "the tag latest states no size, and what it means changes", Candidates: n.list(others, "has a tag of this library")}, words
	}
	return n.unknown(words, name.owner), words
}

// ofLibrary are the records with a tag of the library with these words.
func (n *modelNames) ofLibrary(words []string) (out []int32) {
	for _, t := range n.library[join(words)] {
		out = appendOnce(out, t.rec)
	}
	return out
}

// byLibrary reads a name of Ollama as people write it: without the tag ("qwen2.5"), or with another separator before it
// ("deepseek r1 32b"). The latter is an answer only if nothing else of this name has the words of the tag.
func (n *modelNames) byLibrary(words []string) Answer {
	if recs := n.ofLibrary(words); len(recs) > 0 {
		return Answer{Ambiguous: true, Reason: "the name is that of a library of Ollama, and states no size", Candidates: n.list(recs, "has a tag of this library")}
	}
	for _, t := range n.tags[join(words)] {
		name := strings.Join(t.library, " ") + " "
		if !strings.HasPrefix(strings.Join(n.words(t.rec), " ")+" ", name) {
			continue
		}
		has := func(of []string) bool {
			return !slices.ContainsFunc(t.words, func(w string) bool { return !slices.Contains(of, w) })
		}
		recs := []int32{t.rec}
		for _, other := range n.library[join(t.library)] {
			if has(other.words) {
				recs = appendOnce(recs, other.rec)
			}
		}
		for _, rec := range beginning(n.phrases, name) {
			if has(n.words(rec)) {
				recs = appendOnce(recs, rec)
			}
		}
		if len(recs) > 1 {
			return Answer{Ambiguous: true, Reason: "several models have this name and size", Candidates: n.list(recs, "has this name and size")}
		}
		return n.found(t.rec, Parsed, "tag of Ollama with another separator")
	}
	return Answer{Reason: unknownName}
}

package resolve

import (
	"slices"
	"strings"
)

// byTag reads "library:tag" of Ollama, with a size, a variant and a storage type in the tag.
func (n *modelNames) byTag(cut modelName) (a Answer, words []string, m marks) {
	m = marks{format: "gguf"}
	if cut.tag == "latest" {
		a, words = n.latest(cut)
		return a, words, m
	}
	tag := cut.tag
	for {
		if i, ok := n.exact[cut.name+":"+tag]; ok && (cut.owner == "" || repackagers[cut.owner] || n.recs[i].owners[cut.owner]) {
			return n.found(i, Parsed, "tag without the storage type"), modelWords(tag), m
		}
		rest, mark, ok := cutMark(tag)
		if !ok {
			break
		}
		m.under(mark)
		tag = rest
	}
	size, base := strings.CutSuffix(tag, "-text") // Ollama's word for base models
	words = modelWords(cut.name + "-" + size)
	if recs := n.known(words); len(recs) > 0 {
		// "llama3:8b" is the chat model although the words are those of the base model: a tag with
		// a size only is what its library makes of it, unless there is nothing to choose from.
		if !base && onlySize(modelWords(tag)) {
			if all := n.variants(words); len(all) > 1 {
				return Answer{Ambiguous: true, Reason: "a tag with a size only says neither release nor variant", Candidates: n.list(all, "has this name and size")}, words, m
			}
		}
		return n.judge(recs, cut.owner, m), words, m
	}
	return n.unknown(words, cut.owner), words, m
}

// variants are all records whose words begin with these, with or without active parameters.
func (n *modelNames) variants(words []string) []int32 {
	text := strings.Join(words, " ") + " "
	out := beginning(n.phrases, text)
	for _, rec := range beginning(n.short, text) {
		out = appendOnce(out, rec)
	}
	return out
}

// latest reads "name:latest". What that is changes with time, so it only counts where the name
// itself leaves no choice: it states a size, or no other record shares the library.
func (n *modelNames) latest(cut modelName) (Answer, []string) {
	words := modelWords(cut.name)
	recs, others := n.known(words), n.ofLibrary(words)
	switch {
	case len(recs) == 1 && (params(words) > 0 || len(others) == 0):
		return n.judge(recs, cut.owner, marks{any: true}), words
	case len(others) > 0:
		return Answer{Ambiguous: true, Reason: "the tag latest states no size, and what it means changes", Candidates: n.list(others, "has a tag of this library")}, words
	}
	return n.unknown(words, cut.owner), words
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

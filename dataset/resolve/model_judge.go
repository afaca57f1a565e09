package resolve

import (
	"fmt"
	"slices"
	"strings"
)

// judge decides whether the records of a name are an answer. An unknown account may have given the name to
// something else, unless the name says that it is a conversion.
func (n *modelNames) judge(recs []int32, owner string, m marks) Answer {
	if len(recs) > 1 {
		return Answer{Ambiguous: true, Reason: "several models have this name", Candidates: n.list(recs, "has this name")}
	}
	rec := &n.recs[recs[0]]
	switch {
	case owner == "" || rec.owners[owner] || repackagers[owner] || strings.HasPrefix(owner, "models"):
		if m.any {
			return n.found(recs[0], Parsed, "name without what says how it is stored")
		}
		return n.found(recs[0], Parsed, "name in another spelling")
	case m.any:
		return n.found(recs[0], Parsed, fmt.Sprintf("converted by %q", owner))
	}
	return Answer{
		Confidence: Near, Reason: fmt.Sprintf("the name is known, but not from the account %q, which may have changed the model", owner),
		Candidates: n.list(recs, "has this name at its maker"),
	}
}

// judgeWritten judges records whose words are those of stem. A maker's base model has the name of the release
// without a word after it ("Llama 3.1 8B"). People who leave words out mean the model that answers
// ("Llama-3.1-8B-Instruct") as often. So such a name is an answer only if it is spelled like a repository or
// file of the base model.
func (n *modelNames) judgeWritten(recs []int32, name modelName, stem string, m marks) Answer {
	if len(recs) == 1 && (name.store || name.owner == "" && !n.recs[recs[0]].own[stem]) {
		if tuned := n.tuned(recs[0]); len(tuned) > 0 {
			return Answer{
				Ambiguous: true, Reason: "the name is that of the base model, and is used for the one that was made of it as well",
				Candidates: n.list(append(recs[:1:1], tuned...), "has this name and size"),
			}
		}
	}
	return n.judge(recs, name.owner, m)
}

// tuned are the models whose name is that of a base model and a word for what it was trained to do.
func (n *modelNames) tuned(base int32) (out []int32) {
	words := n.words(base)
	if slices.ContainsFunc(words, variant) {
		return nil
	}
	for _, rec := range n.cores[join(words)] {
		if rec != base && slices.ContainsFunc(n.words(rec), answers) {
			out = append(out, rec)
		}
	}
	return out
}

// unknown answers words no record has. Where records only add to them, those are the candidates
// of an ambiguous name; a single one that adds no more than its active parameters is the answer.
func (n *modelNames) unknown(words []string, owner string) Answer {
	if len(words) > 2 || slices.ContainsFunc(words, isSize) {
		text := strings.Join(words, " ") + " "
		longer := n.variants(words)
		if len(longer) == 1 && n.same(n.short, text) == longer[0] {
			return n.judge(longer, owner, marks{})
		}
		if len(longer) > 0 {
			reason := "the name leaves out what distinguishes the releases of this size"
			if len(longer) == 1 {
				reason = "the name leaves out a part of the model's own name"
			}
			return Answer{Ambiguous: true, Reason: reason, Candidates: n.list(longer, "begins with this name")}
		}
	}
	if recs := n.cores[join(words)]; len(recs) > 0 {
		return Answer{Ambiguous: true, Reason: "the name leaves out which variant it is", Candidates: n.list(recs, "a variant of this name")}
	}
	return Answer{Reason: unknownName}
}

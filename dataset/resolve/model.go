package resolve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// strictModel reads a name of a model as hubs, files and Ollama have it: all words of the name, what says how it is
// stored aside, are those of one record.
func (r *Resolver) strictModel(text string) (a Answer) {
	x := r.models
	name := cutModel(text)
	if i, ok := x.exact[text]; ok {
		a.found(&x.recs[i], Exact, "slug, name, alias or repository")
		bare, m := bareModel(name.name)
		a.Quantization, a.Format, a.ParamsB = m.quant, m.format, sizeOf(bare)
		return a
	}
	if strings.Contains(text, ",") {
		return Answer{Reason: unknownName}
	}
	if a, ok := r.byType(text); ok {
		return a
	}
	if rest, quant := TypeQuantization(text); strings.Contains(text[len(rest):], " - ") { // "gemma 3 4b it q4_k - medium"
		return r.strictModel(rest + " " + strings.ToLower(quant))
	}
	a = r.byStems(name)
	if f := find("stored as", text); a.Reason == unknownName && len(f) > 0 {
		if b := r.byStems(cutModel(strings.ReplaceAll(f[0].part[1], "_", "-") + f[0].part[2])); b.Slug != "" || b.Ambiguous {
			a = b
		}
	}
	if a.Format == "" && name.owner == "mlx-community" {
		a.Format = "mlx"
	}
	return a
}

// sizeOf is the number of parameters in a name, in billions; 0 for none.
func sizeOf(name string) float64 { return params(texts(sized(split(name)))...) }

// byStems looks a name up with fewer and fewer of the marks at its end: the longest known name wins, so that
// "Falcon3-7B-Instruct-1.58bit" keeps its bits and "-4bit" goes. The name of a maker, or of one who converts models, may
// stand before it.
func (r *Resolver) byStems(name modelName) (a Answer) {
	var m marks
	var stems []string
	var base bool
	if name.tag == "" {
		stems = m.cut(name.name)
	} else {
		m.format = "gguf"
		for _, tag := range m.cut(name.tag) {
			tag, base = strings.CutSuffix(tag, "-text") // Ollama's word for base models
			stems = append(stems, name.name+":"+tag)
		}
	}
	m.any = m.any || name.marks.any || name.latest
	stem := stems[len(stems)-1]
	defer func() {
		m.under(name.marks)
		a.Quantization, a.Format = cmp.Or(name.marks.quant, m.quant), cmp.Or(name.marks.format, m.format)
		a.ParamsB = sizeOf(stem)
	}()
	for _, stem := range stems {
		if i, ok := r.models.exact[stem]; ok && name.tag != "" && !base && r.models.recs[i].trusts(name.owner) {
			a.found(&r.models.recs[i], Parsed, "tag without the quantization")
			return a
		}
		if found := r.named(stem); len(found) > 0 {
			return r.judge(found, name, stem, m, base)
		}
	}
	cut := strings.IndexByte(stem, '_')
	if cut < 0 {
		cut = strings.IndexAny(stem, "- ")
	}
	if cut > 0 {
		found := slices.DeleteFunc(r.named(stem[cut+1:]), func(rec int) bool { return !r.models.recs[rec].trusts(stem[:cut]) })
		if len(found) > 0 {
			return r.judge(found, modelName{owner: name.owner}, stem[cut+1:], m, base)
		}
	}
	return r.leftOut(stem)
}

// trusts reports whether an account does not change models, or made this one.
func (k *known) trusts(owner string) bool {
	return owner == "" || is("repackagers", owner) || k.owners[owner] || k.owners[strings.ReplaceAll(owner, "-", "")]
}

// named are the records that have all words of a text in one name, and no others but for the number of active parameters.
func (r *Resolver) named(text string) (found []int) {
	words := texts(r.models.spell(sized(split(text)), false))
	for _, m := range r.models.match(words, 0, false) {
		if m.cost == 0 || len(found) == 0 && m.cost <= freeWord && slices.ContainsFunc(m.missing(), active) {
			found = append(found, m.rec)
		}
	}
	return found
}

// judge decides whether the records of a name are an answer. An unknown account may have given the name to something
// else, unless the name says that it is a conversion. A base model has the name of the release without a word after it
// ("Llama 3.1 8B"); people who leave words out mean the model that answers as often. So such a name is an answer only
// if it is spelled like a repository or file of the base model.
func (r *Resolver) judge(found []int, name modelName, stem string, m marks, base bool) (a Answer) {
	k := &r.models.recs[found[0]]
	spelled := stem == string(k.slug) || k.model.HFRepo != nil && strings.HasSuffix(strings.ToLower(*k.model.HFRepo), "/"+stem)
	if len(found) == 1 && !base && (name.store || name.tag != "" || name.owner == "" && !spelled) {
		found = append(found, r.tuned(found[0])...)
	}
	several := func(why, each string, recs []int) Answer {
		return Answer{Ambiguous: true, Reason: why, Candidates: r.models.list(recs, each)}
	}
	if len(found) > 1 {
		return several("several models have this name", "has this name and size", found)
	}
	if all := r.models.match(texts(sized(split(stem))), 0, true); name.latest && sizeOf(stem) == 0 && len(all) > 1 {
		return several("the tag latest states no size, and its meaning changes over time", "has this name", numbers(all))
	}
	switch trusted := k.trusts(name.owner); {
	case trusted && m.any:
		a.found(k, Parsed, "name without the quantization")
	case trusted:
		a.found(k, Parsed, "name in another spelling")
	case m.any:
		a.found(k, Parsed, fmt.Sprintf("converted by %q", name.owner))
	default:
		a = several(fmt.Sprintf("the name is known, but not from the account %q, which may have changed the model", name.owner), "has this name in its maker's account", found)
		a.Confidence, a.Ambiguous = Near, false
	}
	return a
}

// numbers are the records of matches.
func numbers(matches []match) (recs []int) {
	for _, m := range matches {
		recs = append(recs, m.rec)
	}
	return recs
}

// tuned are the models that have the name of a base model with a word for what they were trained to do.
func (r *Resolver) tuned(base int) (out []int) {
	words := texts(sized(split(string(r.models.recs[base].slug))))
	if slices.ContainsFunc(words, func(w string) bool { return is("variants", w) }) {
		return nil
	}
	more := func(w string) bool { return w != "instruct" && w != "it" && w != "chat" }
	for _, m := range r.models.match(words, 0, false) {
		if left := m.missing(); len(left) > 0 && !slices.ContainsFunc(left, more) {
			out = append(out, m.rec)
		}
	}
	return out
}

// leftOut answers words that no record has as a whole. Where records only add to them, those are the candidates.
func (r *Resolver) leftOut(text string) (a Answer) {
	x := r.models
	words := texts(x.spell(sized(split(text)), false))
	matches := x.match(words, 0, true)
	if len(matches) > 0 && matches[0].cost == 0 && (len(matches) == 1 || matches[1].cost >= plainWord) {
		a.found(matches[0].known, Parsed, "tag of Ollama with another separator")
		return a
	}
	found := numbers(slices.DeleteFunc(matches, func(m match) bool { return !m.begins(words[0]) || m.cost >= 2*plainWord }))
	a = Answer{Ambiguous: true, Reason: "the name leaves out the part that tells the releases apart", Candidates: x.list(found, "starts with this name")}
	switch len(found) {
	case 0:
		return Answer{Reason: unknownName, key: text}
	case 1:
		a.Reason = "the name leaves out part of the model name"
	}
	return a
}

// TypeQuantization reads the storage type at the end of the type of a model as llama-bench prints
// it ("llama 8B Q4_K - Medium" is Q4_K_M). rest is what precedes it. The quantization is
// empty if there is none.
func TypeQuantization(printed string) (rest, quantization string) {
	f := find("type", printed)
	if f == nil {
		return printed, ""
	}
	name := strings.ToUpper(f[0].part[2])
	if size := f[0].part[3] + f[0].part[4] + f[0].part[5]; size != "" {
		name += "_" + strings.ToUpper(size)
	}
	return f[0].part[1], cmp.Or(means("usual types", name), name)
}

// byType reads the type of a model as llama-bench prints it, "qwen3moe 30B.A3B Q4_K - Medium". It names an architecture
// and a size, not a release, so that it is hardly ever an answer: the candidates are first those that people call so, then
// others of the architecture.
func (r *Resolver) byType(text string) (a Answer, ok bool) {
	rest, quant := TypeQuantization(text)
	architecture, size, _ := strings.Cut(rest, " ")
	at := find("type size", size)
	if quant == "" || len(at) == 0 || strings.HasSuffix(text, strings.ToLower(quant)) && strings.Contains(quant, "_K_") {
		return a, false
	}
	billions := at[0].number(1)
	if at[0].part[2] == "m" {
		billions /= 1000
	}
	x := r.models
	if own := r.named(rest); is("own architectures", architecture) && len(own) == 1 {
		a.found(&x.recs[own[0]], Parsed, "the only release of this architecture and size")
	} else {
		family := strings.TrimRight(strings.TrimSuffix(architecture, "moe"), "0123456789")
		called := slices.DeleteFunc(x.match(texts(sized(split(rest))), 0, true), func(m match) bool { return !m.begins(family) })
		recs := numbers(called[:min(2, len(called))])
		first := len(recs)
		for rec := range x.recs {
			m := x.recs[rec].model
			if m.GGUFArchitecture != nil && strings.EqualFold(*m.GGUFArchitecture, architecture) && m.ParamsB != nil &&
				math.Abs(*m.ParamsB-billions) <= 0.12*billions && !slices.Contains(recs, rec) {
				recs = append(recs, rec)
			}
		}
		slices.SortStableFunc(recs[first:], func(i, j int) int {
			chat := func(rec int) float64 { return math.Round(x.recs[rec].ranked / 100) }
			return cmp.Or(cmp.Compare(chat(j), chat(i)), cmp.Compare(len(x.recs[i].slug), len(x.recs[j].slug)))
		})
		a.Ambiguous, a.Reason = true, "the type gives an architecture and a size, not a release"
		a.Candidates = x.list(recs, "has this architecture and size")
	}
	a.Quantization, a.Format, a.ParamsB = quant, "gguf", billions
	return a, true
}

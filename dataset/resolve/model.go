package resolve

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// strictModel reads a name of a model as hubs, files and Ollama have it: all words of the name, what says how it is
// stored aside, are those of one record.
func (r *Resolver) strictModel(text string) (a Answer) {
	x := r.models
	if begun, short := cutDots(text); short {
		return r.strictModel(begun).cutShort(Model)
	}
	name := cutModel(text)
	if i, ok := x.exact[text]; ok {
		a.found(&x.recs[i], Exact, "slug, name, alias or repository")
		_, m := bareModel(name.name)
		a.describe(m, name.name)
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
	if a.Reason == unknownName && strings.Contains(text, "_") {
		stored := storedAs.FindString(text)
		dashed := strings.ReplaceAll(strings.TrimSuffix(text, stored), "_", "-") + stored
		if b := r.byStems(cutModel(dashed)); b.Slug != "" || b.Ambiguous {
			a = b
		}
	}
	if a.Format == "" && name.owner == "mlx-community" {
		a.Format = "mlx"
	}
	return a
}

// storedAs finds the storage type at the end of a name, in which underscores belong.
var storedAs = regexp.MustCompile(`(?:ud[-_])?i?q[0-9]_[0-9a-z_]+(?:\.gguf)?$`)

// describe adds what a name says besides the model.
func (a *Answer) describe(m marks, name string) {
	a.Quantization, a.Format, a.ParamsB = m.quant, m.format, params(texts(sized(split(name)))...)
}

// byStems looks a name up with fewer and fewer of the marks at its end: the longest known name wins, so that
// "Falcon3-7B-Instruct-1.58bit" keeps its bits and "-4bit" goes.
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
		m.quant, m.format = cmp.Or(name.marks.quant, m.quant), cmp.Or(name.marks.format, m.format)
		a.describe(m, stem)
	}()
	for _, stem := range stems {
		if i, ok := r.models.exact[stem]; ok && name.tag != "" && !base && r.models.recs[i].trusts(name.owner) {
			a.found(&r.models.recs[i], Parsed, "tag without the storage type")
			return a
		}
		if found := r.whole(stem); len(found) > 0 {
			return r.judge(found, name, stem, m, base)
		}
	}
	for _, sign := range []string{"_", "-", " "} { // a maker, or one who converts models, before the name
		if maker, rest, ok := strings.Cut(stem, sign); ok {
			found := r.whole(rest)
			if found = slices.DeleteFunc(found, func(rec int) bool { return !r.models.recs[rec].trusts(maker) }); len(found) > 0 {
				return r.judge(found, modelName{owner: name.owner}, rest, m, base)
			}
		}
	}
	return r.leftOut(stem)
}

// trusts reports whether an account does not change models, or made this one.
func (k *known) trusts(owner string) bool {
	return owner == "" || is("repackagers", owner) || k.owners[owner] || k.owners[strings.ReplaceAll(owner, "-", "")]
}

// whole are the records that have all words of a text in one name, and no others but for the number of active parameters.
func (r *Resolver) whole(text string) (found []int) {
	words := texts(r.models.spell(sized(split(text)), false))
	for _, m := range r.models.match(words, 0, false) {
		if m.cost == 0 || len(found) == 0 && len(m.missing) == 1 && active(m.missing[0]) && m.cost <= freeWord {
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
	words := texts(sized(split(stem)))
	sizeTag := name.tag != "" && onlySize(texts(sized(split(name.tag))))
	if len(found) == 1 && !base && (name.store || sizeTag || name.owner == "" && !k.spelled(stem)) {
		found = append(found, r.tuned(found[0])...)
	}
	switch {
	case len(found) > 1:
		return Answer{Ambiguous: true, Reason: "several models have this name", Candidates: r.models.list(found, "has this name and size")}
	case name.latest && params(words...) == 0 && len(r.partly(stem)) > 1:
		return Answer{Ambiguous: true, Reason: "the tag latest states no size, and what it means changes", Candidates: r.models.list(r.partly(stem), "has this name")}
	case k.trusts(name.owner) && m.any:
		a.found(k, Parsed, "name without the storage type")
	case k.trusts(name.owner):
		a.found(k, Parsed, "name in another spelling")
	case m.any:
		a.found(k, Parsed, fmt.Sprintf("converted by %q", name.owner))
	default:
		why := fmt.Sprintf("the name is known, but not from the account %q, which may have changed the model", name.owner)
		return Answer{Confidence: Near, Reason: why, Candidates: r.models.list(found, "has this name at its maker")}
	}
	return a
}

// spelled reports whether a text is the slug of a model, or the name of its repository.
func (k *known) spelled(text string) bool {
	if k.model.HFRepo != nil {
		if _, repo, _ := strings.Cut(strings.ToLower(*k.model.HFRepo), "/"); repo == text {
			return true
		}
	}
	return text == string(k.slug)
}

// partly are the records with all words of a text, the likeliest first.
func (r *Resolver) partly(text string) (recs []int) {
	for _, m := range r.models.match(texts(sized(split(text))), 0, true) {
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
		if m.rec != base && len(m.missing) > 0 && !slices.ContainsFunc(m.missing, more) {
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
	var found []int
	for _, m := range matches {
		if m.begins(words[0]) && m.cost < 2*plainWord {
			found = append(found, m.rec)
		}
	}
	switch len(found) {
	case 0:
		return Answer{Reason: unknownName, key: text}
	case 1:
		a.Reason = "the name leaves out a part of the model's own name"
	default:
		a.Reason = "the name leaves out what distinguishes the releases"
	}
	a.Ambiguous, a.Candidates = true, x.list(found, "begins with this name")
	return a
}

// typeWords finds the storage type at the end of a model type that llama-bench prints, with its size in words
// or bits. Examples: "Q4_K - Medium", "IQ2_XXS - 2.0625 bpw", "MXFP4 MoE", "mostly Q4_0", "Q8_0 (guessed)".
var typeWords = regexp.MustCompile(`(?i)^(.*?)(?: (?:mostly|all))? ?\b((?:I|T)?Q[0-9]_[0-9A-Z_]+(?: mix)?|BF16|F16|F32|MXFP4|NVFP4)` +
	`(?: - (S)mall| - (M)edium| - (L)arge| - [0-9.]+ bpw(?: ternary)?| MoE)?(?: \(guessed\))?$`)

// TypeQuantization reads the storage type at the end of the type of a model as llama-bench prints
// it ("llama 8B Q4_K - Medium" is Q4_K_M). rest is what precedes it. The quantization is
// empty if there is none.
func TypeQuantization(printed string) (rest, quantization string) {
	at := typeWords.FindStringSubmatch(printed)
	if at == nil {
		return printed, ""
	}
	name := strings.ToUpper(at[2])
	if size := at[3] + at[4] + at[5]; size != "" {
		name += "_" + strings.ToUpper(size)
	}
	return at[1], cmp.Or(means("usual types", name), name)
}

// typeSize is the size in the type of a model: "30B.A3B", "8x7B", "0.5B".
var typeSize = regexp.MustCompile(`^([0-9.]+?)([bm])(?:\.a[0-9.]+b)?$`)

// byType reads the type of a model as llama-bench prints it, "qwen3moe 30B.A3B Q4_K - Medium". It names an architecture
// and a size, not a release, so that it is hardly ever an answer.
func (r *Resolver) byType(text string) (a Answer, ok bool) {
	rest, quant := TypeQuantization(text)
	architecture, size, cut := strings.Cut(rest, " ")
	at := typeSize.FindStringSubmatch(size)
	if quant == "" || !cut || at == nil || strings.HasSuffix(text, strings.ToLower(quant)) && strings.Contains(quant, "_K_") {
		return a, false
	}
	billions, _ := strconv.ParseFloat(at[1], 64)
	if at[2] == "m" {
		billions /= 1000
	}
	x := r.models
	if own := r.whole(architecture + " " + size); is("own architectures", architecture) && len(own) == 1 {
		a.found(&x.recs[own[0]], Parsed, "the only release of this architecture and size")
	} else {
		a.Ambiguous, a.Reason = true, "the type names an architecture and a size, not a release"
		a.Candidates = x.list(r.ofType(architecture, size, billions), "has this architecture and size")
	}
	a.Quantization, a.Format, a.ParamsB = quant, "gguf", billions
	return a, true
}

// ofType are the models of an architecture and a size: first those that people call so, then plain releases.
func (r *Resolver) ofType(architecture, size string, billions float64) (recs []int) {
	x := r.models
	for _, rec := range r.partly(architecture + " " + size) {
		if family := strings.TrimRight(strings.TrimSuffix(architecture, "moe"), "0123456789"); x.recs[rec].begins(family) && len(recs) < 2 {
			recs = append(recs, rec)
		}
	}
	called := len(recs)
	for rec := range x.recs {
		m := x.recs[rec].model
		if m.GGUFArchitecture != nil && strings.EqualFold(*m.GGUFArchitecture, architecture) && m.ParamsB != nil &&
			math.Abs(*m.ParamsB-billions) <= 0.12*billions && !slices.Contains(recs, rec) {
			recs = append(recs, rec)
		}
	}
	slices.SortStableFunc(recs[called:], func(i, j int) int {
		if chat := x.recs[i].ranked > 50; chat != (x.recs[j].ranked > 50) {
			return map[bool]int{true: -1, false: 1}[chat]
		}
		return cmp.Compare(len(x.recs[i].slug), len(x.recs[j].slug))
	})
	return recs
}

package resolve

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
)

// modelNames has what needs no reading: whole names, and who made the records.
type modelNames struct {
	recs  []modelRecord
	exact map[string]int32 // slug, name, alias or repository -> record
}

type modelRecord struct {
	*dataset.Model
	owners map[string]bool // accounts and names of its maker, lower case
	own    map[string]bool // slug, and the name of the repository without its account, lower case
}

func newModelNames(models []dataset.Model) *modelNames {
	n := &modelNames{exact: map[string]int32{}}
	for i := range models {
		m := models[i]
		rec := modelRecord{&m, map[string]bool{}, map[string]bool{string(m.Slug): true}}
		names := append([]string{string(m.Slug), m.Name}, m.Aliases...)
		if m.HFRepo != nil {
			names = append(names, *m.HFRepo)
			owner, name, _ := strings.Cut(strings.ToLower(*m.HFRepo), "/")
			rec.own[name], rec.owners[owner], rec.owners[formerOwners[owner]] = true, true, true
			word, _, _ := strings.Cut(owner, "-")
			rec.owners[word] = true
		}
		for word := range strings.FieldsSeq(strings.ToLower(m.Organization)) {
			rec.owners[word] = true
		}
		for _, text := range names {
			n.exact[spelled(text)], n.exact[clean(text)] = int32(i), int32(i)
		}
		n.recs = append(n.recs, rec)
	}
	return n
}

// strictModel reads a name of a model as hubs, files and Ollama have it: all words of the name, what says how it is stored
// aside, are those of one record.
func (r *Resolver) strictModel(text string) Answer {
	n := r.models
	if begun, short := cutDots(text); short {
		a := r.strictModel(begun)
		return a.cutShort(Model)
	}
	if strings.Contains(text, ",") {
		return Answer{Reason: unknownName}
	}
	name := cutModel(text)
	if i, ok := n.exact[text]; ok {
		a := Answer{Slug: n.recs[i].Slug, Name: n.recs[i].Name, Confidence: Exact, Reason: "slug, name, alias or repository"}
		_, m := bareModel(name.name)
		a.describe(m, name.name)
		return a
	}
	if a, ok := r.byType(text); ok {
		return a
	}
	if rest, quant := TypeQuantization(text); strings.Contains(text[len(rest):], " - ") { // "gemma 3 4b it q4_k - medium"
		return r.strictModel(rest + " " + strings.ToLower(quant))
	}
	a := r.byStems(name)
	if a.Reason == unknownName && strings.Contains(text, "_") {
		stored := storedAs.FindString(text)
		if b := r.byStems(cutModel(strings.ReplaceAll(strings.TrimSuffix(text, stored), "_", "-") + stored)); b.Slug != "" || b.Ambiguous {
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
	a.Quantization, a.Format, a.ParamsB = m.quant, m.format, params(texts(sized(split(name))))
}

// byStems looks a name up with fewer and fewer of the marks at its end: the longest known name wins, so that
// "Falcon3-7B-Instruct-1.58bit" keeps its bits and "-4bit" goes.
func (r *Resolver) byStems(name modelName) (a Answer) {
	file, tag, base := name.marks, name.tag, false
	if mark, ok := allMarks(tag); ok && tag != "" {
		file, tag = mark, ""
	}
	var m marks
	stems := []string{name.name}
	if tag != "" && tag != "latest" {
		m.format = "gguf"
		tags := m.cut(tag)
		tags[len(tags)-1], base = strings.CutSuffix(tags[len(tags)-1], "-text") // Ollama's word for base models
		stems = stems[:0]
		for _, t := range tags {
			stems = append(stems, name.name+":"+t)
		}
	} else {
		stems = m.cut(name.name)
	}
	m.any = m.any || file.any || tag == "latest"
	defer func() {
		m.under(file)
		if file.quant != "" { // those of the file that is used count, not those of its repository
			m.quant = file.quant
		}
		if file.format != "" {
			m.format = file.format
		}
		a.describe(m, stems[len(stems)-1])
	}()
	for _, stem := range stems {
		if i, ok := r.models.exact[stem]; ok && strings.Contains(stem, ":") && !base && r.trusted(int(i), name.owner) {
			return Answer{Slug: r.models.recs[i].Slug, Name: r.models.recs[i].Name, Confidence: Parsed, Reason: "tag without the storage type"}
		}
		if found := r.whole(stem); len(found) > 0 {
			return r.judge(found, name, stem, m, tag, base)
		}
	}
	bare := stems[len(stems)-1]
	for _, sign := range []string{"_", "-", " "} { // a maker, or one who converts models, before the name
		if maker, rest, ok := strings.Cut(bare, sign); ok {
			found := slices.DeleteFunc(r.whole(rest), func(rec int) bool { return !repackagers[maker] && !r.models.recs[rec].owners[maker] })
			if len(found) > 0 {
				return r.judge(found, modelName{owner: name.owner}, rest, m, tag, base)
			}
		}
	}
	return r.leftOut(bare)
}

// trusted reports whether an account does not change models, or made this one.
func (r *Resolver) trusted(rec int, owner string) bool {
	return owner == "" || repackagers[owner] || r.models.recs[rec].owners[owner] || strings.HasPrefix(owner, "models")
}

// whole are the records that have all words of a text in one name, and no others but for the number of active parameters.
func (r *Resolver) whole(text string) (found []int) {
	x := r.lexModels
	words := texts(x.respell(sized(split(text))))
	for _, m := range x.matchNames(words, 0, false) {
		if m.cost == 0 || m.missing != "" && active(strings.TrimSpace(m.missing)) && m.cost <= freeWord && len(found) == 0 {
			found = append(found, m.rec)
		}
	}
	return found
}

// judge decides whether the records of a name are an answer. An unknown account may have given the name to something
// else, unless the name says that it is a conversion. A base model has the name of the release without a word after it
// ("Llama 3.1 8B"); people who leave words out mean the model that answers as often. So such a name is an answer only
// if it is spelled like a repository or file of the base model.
func (r *Resolver) judge(found []int, name modelName, stem string, m marks, tag string, base bool) (a Answer) {
	all := found
	if len(found) == 1 && !base && (name.store || tag != "" && tag != "latest" && onlySize(texts(sized(split(tag)))) || name.owner == "" && !r.models.recs[found[0]].own[stem]) {
		all = append(slices.Clip(found), r.tuned(found[0])...)
	}
	rec := r.models.recs[found[0]]
	switch {
	case len(all) > 1:
		return Answer{Ambiguous: true, Reason: "several models have this name", Candidates: r.modelList(all, "has this name and size")}
	case tag == "latest" && params(texts(sized(split(stem)))) == 0 && len(r.lexModels.match(texts(sized(split(stem))), 0)) > 1:
		return Answer{Ambiguous: true, Reason: "the tag latest states no size, and what it means changes", Candidates: r.modelList(r.partly(stem), "has this name")}
	case r.trusted(found[0], name.owner):
		a = Answer{Reason: "name in another spelling"}
		if m.any {
			a.Reason = "name without what says how it is stored"
		}
	case m.any:
		a = Answer{Reason: fmt.Sprintf("converted by %q", name.owner)}
	default:
		return Answer{
			Confidence: Near, Reason: fmt.Sprintf("the name is known, but not from the account %q, which may have changed the model", name.owner),
			Candidates: r.modelList(found, "has this name at its maker"),
		}
	}
	a.Slug, a.Name, a.Confidence = rec.Slug, rec.Name, Parsed
	return a
}

// partly are the records with all words of a text, the likeliest first.
func (r *Resolver) partly(text string) (recs []int) {
	for _, m := range r.lexModels.match(texts(sized(split(text))), 0) {
		recs = append(recs, m.rec)
	}
	return recs
}

// tuned are the models that have the name of a base model with a word for what they were trained to do.
func (r *Resolver) tuned(base int) (out []int) {
	x := r.lexModels
	words := texts(sized(split(string(x.recs[base].slug))))
	if slices.ContainsFunc(words, func(w string) bool { return variantWords[w] }) {
		return nil
	}
	for _, m := range x.matchNames(words, 0, false) {
		left := strings.Fields(m.missing)
		if m.rec != base && len(left) > 0 && !slices.ContainsFunc(left, func(w string) bool { return w != "instruct" && w != "it" && w != "chat" }) {
			out = append(out, m.rec)
		}
	}
	return out
}

// leftOut answers words that no record has as a whole. Where records only add to them, those are the candidates.
func (r *Resolver) leftOut(text string) Answer {
	x := r.lexModels
	ws := x.respell(sized(split(text)))
	words := texts(ws)
	if m := x.match(words, 0); len(m) > 0 && m[0].cost == 0 && (len(m) == 1 || m[1].cost >= plainWord) {
		return Answer{Slug: x.recs[m[0].rec].slug, Name: x.recs[m[0].rec].name, Confidence: Parsed, Reason: "tag of Ollama with another separator"}
	}
	if len(words) < 2 && !(len(words) == 1 && len(x.post[words[0]]) > 0) {
		return Answer{Reason: unknownName, key: text}
	}
	var found []int
	for _, m := range x.match(words, 0) {
		if begins := x.begins(m.rec, words[0]); begins && m.cost < 2*plainWord {
			found = append(found, m.rec)
		}
	}
	if len(found) == 0 {
		return Answer{Reason: unknownName, key: text}
	}
	reason := "the name leaves out what distinguishes the releases"
	if len(found) == 1 {
		reason = "the name leaves out a part of the model's own name"
	}
	return Answer{Ambiguous: true, Reason: reason, Candidates: r.modelList(found, "begins with this name")}
}

func (r *Resolver) modelList(recs []int, reason string) (out []Candidate) {
	for _, i := range recs[:min(MaxCandidates, len(recs))] {
		out = append(out, Candidate{Model, r.models.recs[i].Slug, r.models.recs[i].Name, reason})
	}
	return out
}

// typeSize is the size in the type of a model: "30B.A3B", "8x7B", "0.5B".
var typeSize = regexp.MustCompile(`^([0-9.]+?)([bm])(?:\.a[0-9.]+b)?$`)

// byType reads the type of a model as llama-bench prints it, "qwen3moe 30B.A3B Q4_K - Medium". It names an architecture
// and a size, not a release, so that it is hardly ever an answer.
func (r *Resolver) byType(text string) (a Answer, ok bool) {
	rest, quant := TypeQuantization(text)
	architecture, size, cut := strings.Cut(rest, " ")
	at := typeSize.FindStringSubmatch(size)
	if quant == "" || !cut || at == nil || strings.ContainsAny(rest, "/:") || strings.HasSuffix(text, strings.ToLower(quant)) && strings.Contains(quant, "_K_") {
		return a, false
	}
	billions, _ := strconv.ParseFloat(at[1], 64)
	if at[2] == "m" {
		billions /= 1000
	}
	a = Answer{Quantization: quant, Format: "gguf", ParamsB: billions}
	var found []int
	for i, m := range r.models.recs {
		if m.GGUFArchitecture != nil && strings.EqualFold(*m.GGUFArchitecture, architecture) && m.ParamsB != nil && math.Abs(*m.ParamsB-billions) <= 0.12*billions {
			found = append(found, i)
		}
	}
	if own := r.whole(architecture + " " + size); ownArchitecture[architecture] && len(own) == 1 {
		m := r.models.recs[own[0]]
		a.Slug, a.Name, a.Confidence, a.Reason = m.Slug, m.Name, Parsed, "the only release of this architecture and size"
		return a, true
	}
	slices.SortStableFunc(found, func(i, j int) int { // plain releases first
		a, b := &r.lexModels.recs[i], &r.lexModels.recs[j]
		return cmp.Or(cmp.Compare(b2i(b.ranked > 50), b2i(a.ranked > 50)), cmp.Compare(len(a.slug), len(b.slug)))
	})
	var called []int // so, as people say it
	for _, i := range r.partly(architecture + " " + size) {
		if r.lexModels.begins(i, strings.TrimRight(strings.TrimSuffix(architecture, "moe"), "0123456789")) && len(called) < 2 {
			called = append(called, i)
		}
	}
	found = slices.Concat(called, slices.DeleteFunc(found, func(i int) bool { return slices.Contains(called, i) }))
	a.Ambiguous, a.Reason = true, "the type names an architecture and a size, not a release"
	a.Candidates = r.modelList(found, "has this architecture and size")
	return a, true
}

package resolve

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"modeldex/dataset"
)

// Resolver knows the names of one dataset. It is immutable and safe for concurrent use.
type Resolver struct {
	models   *modelNames
	hardware *hardwareNames
	tools    *toolNames

	lexModels, lexHardware, lexTools *lexicon
	parts                            Parts
}

// New reads the names of the models, hardware and tools of set. The set is not kept.
func New(set *dataset.Set) *Resolver {
	r := &Resolver{models: newModelNames(set.Models), hardware: newHardwareNames(set.Hardware), tools: newToolNames(set.Tools), parts: Parts{}}
	for i := range set.Hardware {
		h := set.Hardware[i]
		r.parts[h.Slug] = &h
	}
	r.lexModels, r.lexHardware, r.lexTools = modelLexicon(set.Models), hardwareLexicon(set.Hardware), toolLexicon(set.Tools)
	return r
}

// Resolve returns what people mean by a name among records of kind; the empty kind looks in all of them and answers with
// the kind that knows the name best. Where the name leaves something open, the answer is the likeliest record, marked
// Likely, with all that fit as candidates. Safe for concurrent use.
func (r *Resolver) Resolve(kind Kind, name string) Answer {
	a := r.Strict(kind, name)
	if r.settle(&a); a.Slug == "" && len(name) <= MaxQuestion && !cutOff(name) {
		if read, ok := r.meant(kind, name); ok {
			read.Input, read.Quantization, read.Format, read.ParamsB = a.Input, a.Quantization, a.Format, a.ParamsB
			read.MemoryGB, read.Count = cmp.Or(read.MemoryGB, a.MemoryGB), cmp.Or(read.Count, a.Count)
			return read
		}
	}
	return a
}

func cutOff(name string) bool { return strings.HasSuffix(strings.TrimSpace(name), "...") }

// meant reads a name as people put it in a question: words in another order, glued, parted or left out. ok is false
// where it does not name one thing, or has words that were not used.
func (r *Resolver) meant(kind Kind, name string) (a Answer, ok bool) {
	if strings.Contains(name, ",") && kind == Model {
		return a, false
	}
	q := r.Read(name)
	found := append(slices.Clip(q.Models), q.Hardware...)
	if len(found) != 1 || len(q.Unused) > 0 || found[0].Slug == "" || kind != "" && found[0].Kind != kind || q.Host != nil || q.Tool != nil || q.SizeB > 0 {
		return a, false
	}
	if h := found[0].device; h != nil && max(q.MemoryGB, q.HostMemoryGB) > 0 {
		if _, clash := memoryOf(h, max(q.MemoryGB, q.HostMemoryGB)); clash {
			return a, false
		}
	}
	a = found[0].Answer
	a.MemoryGB, a.Count, a.Confidence = q.MemoryGB, q.Count, Likely
	if len(a.Candidates) == 0 {
		a.Candidates = []Candidate{{a.Kind, a.Slug, a.Name, a.Reason}}
	}
	a.likely(a.Reason)
	return a, true
}

// settle chooses the likeliest of the records that fit. A plain name of a model means the one that was trained to
// answer, unless it is a slug or a repository.
func (r *Resolver) settle(a *Answer) {
	named := a.Input == string(a.Slug) || strings.Contains(a.Input, "/") || strings.Contains(strings.ToLower(a.Input), "base")
	switch {
	case a.Kind == Model && a.Slug != "" && !named:
		base := int(r.models.exact[string(a.Slug)])
		if tuned := r.tuned(base); len(tuned) > 0 {
			a.Ambiguous, a.Candidates = true, r.modelList(append(tuned, base), "has this name and size")
			a.likely("a plain name means the model that was trained to answer")
		}
	case a.Slug == "" && a.Ambiguous && !a.listed && len(a.Candidates) > 0:
		slices.SortStableFunc(a.Candidates, func(x, y Candidate) int { return r.likelier(y) - r.likelier(x) })
		if a.Kind == Hardware && r.likelier(a.Candidates[0]) > 1 { // a chip for laptops is meant where it is said
			a.Candidates = slices.DeleteFunc(a.Candidates, func(c Candidate) bool { return r.likelier(c) < 2 })
		}
		a.likely(a.Reason)
	}
}

func (a *Answer) likely(why string) {
	first := a.Candidates[0]
	a.Kind, a.Slug, a.Name, a.Confidence = first.Kind, first.Slug, first.Name, Likely
	a.Ambiguous = len(a.Candidates) > 1
	a.Reason = "read as " + first.Name + ": " + why
}

// likelier is how likely people mean a record that has only a part of its name.
func (r *Resolver) likelier(c Candidate) int {
	words := strings.Split(string(c.Slug), "-")
	has := func(some ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(some, w) })
	}
	switch {
	case c.Kind == Model && has("instruct", "it", "chat"), c.Kind == Hardware && !has("laptop", "q"):
		return 2
	case c.Kind == Model && has("base", "pt", "thinking", "reasoning"):
		return 0
	}
	return 1
}

// Strict is Resolve for those who keep what they read, such as imports: a name that leaves something open has no slug,
// except that of a record the directory keeps for such names. Safe for concurrent use.
func (r *Resolver) Strict(kind Kind, name string) Answer {
	in := limit(name)
	if len(name) > MaxName {
		return Answer{Input: in, Kind: kind, Reason: fmt.Sprintf("the name is longer than %d bytes", MaxName)}
	}
	text := clean(in)
	var a Answer
	if kind != "" {
		a = r.one(kind, text)
		a.Kind = kind
		r.guess(&a)
	} else {
		a = r.any(text)
	}
	a.Input = in
	return a
}

// any looks in all kinds. If one kind knows the name exactly, and no other has it among its names, the rules of
// the others are not needed. Guesses cost more than all rules, so they are made only if no kind has an answer.
func (r *Resolver) any(text string) Answer {
	if k := r.only(text); k != "" {
		if a := r.one(k, text); grade(&a) == 4 {
			a.Kind = k
			return a
		}
	}
	answers := make([]Answer, 0, len(Kinds))
	known := false
	for _, k := range Kinds {
		a := r.one(k, text)
		a.Kind = k
		known = known || grade(&a) > 0
		answers = append(answers, a)
	}
	if !known {
		for i := range answers {
			r.guess(&answers[i])
		}
	}
	return best(answers)
}

// only is the one kind with a record of exactly this name, empty for none or several.
func (r *Resolver) only(text string) (kind Kind) {
	n := 0
	for _, k := range Kinds {
		if r.has(k, text) {
			kind, n = k, n+1
		}
	}
	if n != 1 {
		return ""
	}
	return kind
}

// Has reports whether a record of kind has exactly this name: slug, name, alias or repository, letter case
// aside. Where it has not, no answer is Exact, and no rule was tried to find that out. Safe for concurrent use.
func (r *Resolver) Has(kind Kind, name string) bool {
	return len(name) <= MaxName && r.has(kind, clean(limit(name)))
}

func (r *Resolver) has(kind Kind, text string) (ok bool) {
	switch kind {
	case Model:
		_, ok = r.models.exact[text]
	case Hardware:
		_, ok = r.hardware.exact[text]
	case Tool:
		_, ok = r.tools.exact[text]
	}
	return ok
}

// one reads a name by the rules of one kind.
func (r *Resolver) one(kind Kind, text string) Answer {
	if text == "" {
		return Answer{Reason: "the name is empty"}
	}
	switch kind {
	case Model:
		return r.strictModel(text)
	case Hardware:
		return r.strictHardware(text)
	case Tool:
		return r.strictTool(text)
	}
	return Answer{Reason: "no such kind of record"}
}

// guess adds similar names to an answer no rule had.
func (r *Resolver) guess(a *Answer) {
	x := map[Kind]*lexicon{Model: r.lexModels, Hardware: r.lexHardware, Tool: r.lexTools}[a.Kind]
	if a.key == "" || x == nil {
		return
	}
	var candidates []Candidate
	for _, rec := range x.near(x.rejoined(x.spell(x.words(a.key)))) {
		candidates = append(candidates, Candidate{a.Kind, x.recs[rec].slug, x.recs[rec].name, "similar name"})
	}
	a.guessed(candidates)
}

// limit replaces bytes that are not UTF-8, each by three, and then cuts a name that is too long, between
// characters.
func limit(name string) string {
	name = strings.ToValidUTF8(name[:min(len(name), MaxName+utf8.UTFMax)], "\uFFFD")
	if len(name) > MaxName {
		name = strings.ToValidUTF8(name[:MaxName], "")
	}
	return name
}

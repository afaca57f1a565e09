package resolve

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
)

// Resolver knows the names of one dataset. It is immutable and safe for concurrent use.
type Resolver struct {
	models, hardware, tools *lexicon

	printed   map[string][]int // what drivers print -> records
	relations *dataset.Relations
}

// New reads the names of the models, hardware and tools of set. The set is not kept.
func New(set *dataset.Set) *Resolver {
	return &Resolver{
		models: modelLexicon(set.Models), hardware: hardwareLexicon(set.Hardware), tools: toolLexicon(set.Tools),
		printed: printedNames(set.Hardware), relations: dataset.NewRelations(set.Hardware),
	}
}

// lexicon is that of a kind, nil for none.
func (r *Resolver) lexicon(kind Kind) *lexicon {
	return map[Kind]*lexicon{Model: r.models, Hardware: r.hardware, Tool: r.tools}[kind]
}

// Resolve returns the record that people mean by a name. An empty kind searches all kinds and uses the best match. If
// several records match, the answer is the likeliest one, marked Likely, with all of them as candidates. Safe for
// concurrent use.
func (r *Resolver) Resolve(kind Kind, name string) Answer {
	a := r.Strict(kind, name)
	r.settle(&a)
	if a.Slug == "" && len(name) <= MaxQuestion && !strings.HasSuffix(strings.TrimSpace(name), "...") {
		if read, ok := r.meant(kind, name); ok {
			read.Input, read.Quantization, read.Format, read.ParamsB = a.Input, a.Quantization, a.Format, a.ParamsB
			read.MemoryGB, read.Count = cmp.Or(read.MemoryGB, a.MemoryGB), cmp.Or(read.Count, a.Count)
			return read
		}
	}
	return a
}

// meant reads a name as people put it in a question: words in another order, glued, parted or left out. ok is false
// where it does not name one thing, or has words that were not used.
func (r *Resolver) meant(kind Kind, name string) (a Answer, ok bool) {
	if strings.Contains(name, ",") && kind == Model {
		return a, false
	}
	q := r.read(name)
	found := append(slices.Clip(q.Models), q.Hardware...)
	if len(found) != 1 || len(q.Unused) > 0 || found[0].Slug == "" || kind != "" && found[0].Kind != kind || q.Host != nil || q.Tool != nil || q.SizeB > 0 {
		return a, false
	}
	if h := found[0].Device; h != nil && max(q.MemoryGB, q.HostMemoryGB) > 0 {
		if _, clash := memoryOf(h, max(q.MemoryGB, q.HostMemoryGB)); clash {
			return a, false
		}
	}
	a = found[0].Answer
	a.MemoryGB, a.Count = q.MemoryGB, q.Count
	if len(a.Candidates) == 0 {
		a.Candidates = []Candidate{{a.Kind, a.Slug, a.Name, a.Reason}}
	}
	a.likely(a.Reason)
	return a, true
}

// settle chooses the likeliest of the records that fit. A plain name of a model means the one that was trained to
// answer, unless it is a slug or a repository.
func (r *Resolver) settle(a *Answer) {
	x := r.lexicon(a.Kind)
	kind := func(c Candidate) float64 { return math.Round(x.recs[x.exact[string(c.Slug)]].ranked / 50) }
	named := a.Input == string(a.Slug) || strings.Contains(a.Input, "/") || strings.Contains(strings.ToLower(a.Input), "base")
	switch {
	case a.Kind == Model && a.Slug != "" && !named:
		base := x.exact[string(a.Slug)]
		if tuned := r.tuned(base); len(tuned) > 0 {
			a.Candidates = x.list(append(tuned, base), "has this name and size")
			a.likely("a plain name means the chat model")
		}
	case a.Slug == "" && a.Ambiguous && !a.listed && len(a.Candidates) > 0 && x != nil:
		slices.SortStableFunc(a.Candidates, func(x, y Candidate) int { return cmp.Compare(kind(y), kind(x)) })
		if a.Kind == Hardware && kind(a.Candidates[0]) == 0 { // a chip for laptops is meant where it is said
			a.Candidates = slices.DeleteFunc(a.Candidates, func(c Candidate) bool { return kind(c) < 0 })
		}
		a.likely(a.Reason)
	}
}

// Strict is Resolve for those who keep what they read, such as imports: a name that leaves something open has no slug,
// except that of a record the directory keeps for such names. Safe for concurrent use.
func (r *Resolver) Strict(kind Kind, name string) Answer {
	in := limit(name)
	if len(name) > MaxName {
		return Answer{Input: in, Kind: kind, Reason: fmt.Sprintf("the name is longer than %d bytes", MaxName)}
	}
	text := clean(in)
	if kind == "" {
		a := r.any(text)
		a.Input = in
		return a
	}
	a := r.one(kind, text)
	r.guess(&a)
	a.Input = in
	return a
}

// any looks in all kinds. If one kind knows the name exactly, and no other has it among its names, the rules of
// the others are not needed. Guesses cost more than all rules, so they are made only if no kind has an answer.
func (r *Resolver) any(text string) Answer {
	having := slices.DeleteFunc(slices.Clone(Kinds), func(k Kind) bool { return !r.has(k, text) })
	if len(having) == 1 {
		if a := r.one(having[0], text); grade(&a) == 4 {
			return a
		}
	}
	answers := make([]Answer, len(Kinds))
	for i, k := range Kinds {
		answers[i] = r.one(k, text)
	}
	if !slices.ContainsFunc(answers, func(a Answer) bool { return grade(&a) > 0 }) {
		for i := range answers {
			r.guess(&answers[i])
		}
	}
	return best(answers)
}

// Has reports whether a record of kind has exactly this name: slug, name, alias or repository, letter case
// aside. Where it has not, no answer is Exact, and no rule was tried to find that out. Safe for concurrent use.
func (r *Resolver) Has(kind Kind, name string) bool {
	return len(name) <= MaxName && r.has(kind, clean(limit(name)))
}

func (r *Resolver) has(kind Kind, text string) bool {
	x := r.lexicon(kind)
	if x == nil {
		return false
	}
	_, ok := x.exact[text]
	return ok
}

// one reads a name by the rules of one kind.
func (r *Resolver) one(kind Kind, text string) Answer {
	a := Answer{Reason: "the name is empty"}
	// In a line of a log dots stand for the rest of the line, else for the end of a name that was printed up to a width.
	if begun, short := strings.CutSuffix(text, "..."); short && kind != Tool && !strings.ContainsAny(text, ":=|") {
		return r.one(kind, strings.TrimRight(begun, " .")).cutShort(kind)
	}
	if text != "" {
		a = map[Kind]func(string) Answer{Model: r.strictModel, Hardware: r.strictHardware, Tool: r.strictTool}[kind](text)
	}
	a.Kind = kind
	return a
}

// guess adds similar names to an answer no rule had.
func (r *Resolver) guess(a *Answer) {
	if a.key == "" {
		return
	}
	x := r.lexicon(a.Kind)
	words := split(x.digits(a.key))
	if a.Kind == Model {
		words = sized(words)
	}
	a.Candidates = x.list(x.near(texts(x.spell(phrased(words), true))), "similar name")
	if len(a.Candidates) > 0 {
		a.Confidence, a.Reason = Near, unknownName+"; the candidates are similar"
	}
}

// limit cuts a name that is too long, and replaces bytes that are not UTF-8.
func limit(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), MaxName)], "?")
}

package resolve

import (
	"fmt"
	"strings"

	"modeldex/dataset"
)

// MaxName is the longest name that is read, in bytes. No driver or hub prints longer ones.
const MaxName = 400

// MaxCandidates is how many candidates an answer lists at most.
const MaxCandidates = 5

// Kind is the kind of record a name is looked up in. The empty kind stands for all three.
type Kind string

// The kinds of named records.
const (
	Model    Kind = "model"
	Hardware Kind = "hardware"
	Tool     Kind = "tool"
)

// Kinds lists every kind, in the order they are looked up in.
var Kinds = []Kind{Model, Hardware, Tool}

// Confidence is how an answer was found. It is empty where no record was found.
type Confidence string

// The grades of confidence.
const (
	// Exact: the name is a slug, a name or an alias of the record. Letter case does not count.
	Exact Confidence = "exact"
	// Parsed: the name was read by rules and every word of it is accounted for.
	Parsed Confidence = "parsed"
	// Near: the candidates are guesses by likeness. Such an answer never has a slug.
	Near Confidence = "near"
)

// Confidences lists every grade, best first.
var Confidences = []Confidence{Exact, Parsed, Near}

// Answer is what one name means.
type Answer struct {
	// Input is the name as it was given, cut to MaxName bytes.
	Input string
	// Kind is the kind of the record, empty where none was found and none was asked for.
	Kind Kind
	// Slug is the record; empty where the name is unknown, fits several records or was only guessed.
	Slug dataset.Slug
	// Name is the name of that record.
	Name string
	// Confidence is how it was found.
	Confidence Confidence
	// Ambiguous reports that the name fits more than one product. The candidates are the products.
	// Slug is then empty, or the record the directory keeps for measurements that do not say which
	// of them it was (its variants are the candidates).
	Ambiguous bool
	// Quantization is the storage type of the weights found in the name of a model, such as Q4_K_M.
	Quantization string
	// Format is the file format found in the name of a model: gguf, mlx, safetensors, exl2 or exl3.
	Format string
	// ParamsB is the size found in the name of a model, in billions of parameters; 0 for none.
	ParamsB float64
	// MemoryGB is the memory size found in the name of hardware, in GB; 0 for none.
	MemoryGB float64
	// Count is the number of devices found in the name of hardware ("2x RTX 3090"); 0 for none.
	Count int
	// Reason says in a sentence how the name was read, or why there is no slug.
	Reason string
	// Candidates are the records it may be where there is no single one, best first, at most
	// MaxCandidates.
	Candidates []Candidate

	key string // to guess by, where no rule had an answer
}

// Candidate is a record a name may mean, and why.
type Candidate struct {
	Kind   Kind
	Slug   dataset.Slug
	Name   string
	Reason string
}

// Found reports whether the answer is one record that may stand for the name in a filter.
func (a *Answer) Found() bool { return a.Slug != "" }

// Resolver knows the names of one dataset. It is immutable and safe for concurrent use.
type Resolver struct {
	models   *modelNames
	hardware *hardwareNames
	tools    *toolNames
}

// New reads the names of the models, hardware and tools of set. The set is not kept.
func New(set *dataset.Set) *Resolver {
	return &Resolver{models: newModelNames(set.Models), hardware: newHardwareNames(set.Hardware), tools: newToolNames(set.Tools)}
}

// Resolve returns what name means among records of kind; the empty kind looks in all of them and
// answers with the kind that knows the name best. Safe for concurrent use.
func (r *Resolver) Resolve(kind Kind, name string) Answer {
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

// any looks in all kinds. What one kind knows exactly and no other has among its names needs no
// rules of the others; guesses cost more than all rules, so they are made where no kind has an
// answer.
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
	if _, ok := r.models.exact[text]; ok {
		kind, n = Model, n+1
	}
	if _, ok := r.hardware.exact[text]; ok {
		kind, n = Hardware, n+1
	}
	if _, ok := r.tools.exact[text]; ok {
		kind, n = Tool, n+1
	}
	if n != 1 {
		return ""
	}
	return kind
}

// one reads a name by the rules of one kind.
func (r *Resolver) one(kind Kind, text string) Answer {
	if text == "" {
		return Answer{Reason: "the name is empty"}
	}
	switch kind {
	case Model:
		return r.models.resolve(text)
	case Hardware:
		return r.hardware.resolve(text)
	case Tool:
		return r.tools.resolve(text)
	}
	return Answer{Reason: "no such kind of record"}
}

// guess adds similar names to an answer no rule had.
func (r *Resolver) guess(a *Answer) {
	if a.key == "" {
		return
	}
	switch a.Kind {
	case Model:
		a.guessed(r.models.list(r.models.like.near(a.key, MaxCandidates), "similar name"))
	case Hardware:
		a.guessed(r.hardware.list(r.hardware.like.near(a.key, MaxCandidates), "similar name"))
	case Tool:
		a.guessed(r.tools.list(r.tools.like.near(a.key, MaxCandidates), "similar name"))
	}
}

func (a *Answer) guessed(candidates []Candidate) {
	if len(candidates) > 0 {
		a.Confidence, a.Reason, a.Candidates = Near, unknownName+"; the candidates are similar", candidates
	}
}

// limit cuts a name that is too long, between characters.
func limit(name string) string {
	if len(name) <= MaxName {
		return strings.ToValidUTF8(name, "\uFFFD")
	}
	return strings.ToValidUTF8(name[:MaxName], "")
}

// grade orders answers: a record beats an ambiguous answer, which beats a guess.
func grade(a *Answer) int {
	switch {
	case a.Slug != "" && a.Confidence == Exact:
		return 4
	case a.Slug != "":
		return 3
	case a.Ambiguous:
		return 2
	case a.Confidence == Near:
		return 1
	}
	return 0
}

// best chooses among the answers of all kinds. Two kinds that know a name equally well make it
// ambiguous; where all only guess, the candidates of all are listed by turns.
func best(answers []Answer) Answer {
	top := 0
	for i := range answers {
		top = max(top, grade(&answers[i]))
	}
	var of []Answer
	for i := range answers {
		if grade(&answers[i]) == top {
			of = append(of, answers[i])
		}
	}
	switch {
	case len(of) == 1:
		return of[0]
	case top == 0:
		return Answer{Reason: "no model, hardware or tool has this name"}
	}
	out := Answer{Ambiguous: top >= 2, Reason: "records of several kinds have this name; say which kind is meant"}
	if top == 1 {
		out.Confidence, out.Reason = Near, "no model, hardware or tool has this name; the candidates are similar"
	}
	for turn := 0; turn < MaxCandidates; turn++ {
		for i := range of {
			own := of[i].Candidates
			if top >= 3 && turn == 0 {
				out.Candidates = append(out.Candidates, Candidate{of[i].Kind, of[i].Slug, of[i].Name, of[i].Reason})
			} else if top < 3 && turn < len(own) {
				out.Candidates = append(out.Candidates, own[turn])
			}
		}
	}
	out.Candidates = out.Candidates[:min(MaxCandidates, len(out.Candidates))]
	return out
}

package resolve

import (
	"slices"
	"strings"

	"modeldex/dataset"
)

// MaxName is the longest name that is read, in bytes. No driver or hub prints longer ones.
const MaxName = 400

// Kind is the kind of record a name is looked up in. The empty kind means all three.
type Kind string

// The kinds of named records.
const (
	Model    Kind = "model"
	Hardware Kind = "hardware"
	Tool     Kind = "tool"
)

// Kinds lists every kind, in the order they are looked up in.
var Kinds = []Kind{Model, Hardware, Tool}

// Confidence is how an answer was found. It is empty if no record was found.
type Confidence string

// The grades of confidence.
const (
	// Exact: the name is a slug, a name or an alias of the record. Letter case does not count.
	Exact Confidence = "exact"
	// Parsed: the name was read by rules and every word of it is accounted for.
	Parsed Confidence = "parsed"
	// Likely: several records fit, or the name is only a part of one; the slug is the likeliest, and the first of the
	// candidates. Resolve answers so, Strict never does.
	Likely Confidence = "likely"
	// Near: the candidates are guesses by likeness. Such an answer never has a slug.
	Near Confidence = "near"
)

// Answer is what one name means.
type Answer struct {
	// Input is the name as it was given, cut to MaxName bytes.
	Input string
	// Kind is the kind of the record, empty if none was found and none was asked for.
	Kind Kind
	// Slug is the record; empty if the name is unknown, fits several records or was only guessed.
	Slug dataset.Slug
	// Name is the name of that record.
	Name string
	// Confidence is how it was found.
	Confidence Confidence
	// Ambiguous reports that the name fits more than one product, the candidates, or is not the whole name of one. Slug is
	// then empty, or the record kept for measurements that do not say which of its variants it was.
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
	// Candidates are the records it may be where there is no single one, best first, at most MaxCandidates.
	Candidates []Candidate

	key    string // to guess by, where no rule had an answer
	listed bool   // the name lists several products: none is likelier than another
}

// Candidate is a record a name may mean, and why.
type Candidate struct {
	Kind   Kind
	Slug   dataset.Slug
	Name   string
	Reason string
}

// MaxCandidates is how many candidates an answer lists at most.
const MaxCandidates = 5

const unknownName = "no record has this name"

// Open reports whether several records fit and the slug is only the likeliest of them.
func (a *Answer) Open() bool { return a.Confidence == Likely && len(a.Candidates) > 1 }

// Others are the other records that fit, where the slug is only the likeliest of several.
func (a *Answer) Others() (slugs []string) {
	if a.Open() {
		for _, c := range a.Candidates[1:] {
			slugs = append(slugs, string(c.Slug))
		}
	}
	return slugs
}

// WhyNot says why a name is not that of one record, as the end of a sentence that begins with the name; empty where
// there is a record.
func (a *Answer) WhyNot() string {
	switch {
	case a.Slug != "":
		return ""
	case a.Ambiguous && len(a.Candidates) == 1:
		return "is not the whole name of a record: " + a.Reason + "; did you mean " + string(a.Candidates[0].Slug)
	case a.Ambiguous:
		return "may be several records: " + a.Reason
	case !a.Explained():
		return "is not known"
	}
	return "is not known: " + a.Reason
}

// Explained reports whether the reason says more of a name without a record than that no record has it.
func (a *Answer) Explained() bool {
	return a.Slug == "" && a.Reason != "" && !strings.HasPrefix(a.Reason, unknownName)
}

// Machine is what the name of hardware says of a machine beside its record: the memory of one device in GB, where that
// is not own, the memory of the record; and the number of devices, where there are several. Both are 0 if the
// name says nothing else.
func (a *Answer) Machine(own float64) (memoryGB float64, count int) {
	if a.Confidence != Parsed && a.Confidence != Likely {
		return 0, 0
	}
	if a.MemoryGB != own {
		memoryGB = a.MemoryGB
	}
	if a.Count > 1 {
		count = a.Count
	}
	return memoryGB, count
}

// found sets the record of an answer.
func (a *Answer) found(k *known, how Confidence, reason string) {
	a.Slug, a.Name, a.Confidence, a.Reason = k.slug, k.name, how, reason
}

// likely answers with the first of the candidates.
func (a *Answer) likely(why string) {
	first := a.Candidates[0]
	a.Kind, a.Slug, a.Name, a.Confidence = first.Kind, first.Slug, first.Name, Likely
	a.Ambiguous = len(a.Candidates) > 1
	a.Reason = "read as " + first.Name + ": " + why
}

// unsure leaves the candidates, and takes none of them.
func (a *Answer) unsure(why, near string) {
	if a.Slug != "" && len(a.Candidates) == 0 {
		a.Candidates = []Candidate{{a.Kind, a.Slug, a.Name, near}}
	}
	a.Slug, a.Name, a.Confidence, a.Reason, a.Ambiguous = "", "", Near, why, false
}

// cutShort makes the answer to the beginning of a name a guess: nvidia-smi prints "NVIDIA GeForce RTX 4070 ..." for the
// card with a Ti or for laptops as well.
func (a Answer) cutShort(kind Kind) Answer {
	if a.Slug != "" {
		a.Candidates = slices.Insert(a.Candidates, 0, Candidate{kind, a.Slug, a.Name, "has the name up to where it is cut"})
		a.Candidates = a.Candidates[:min(MaxCandidates, len(a.Candidates))]
		a.unsure("the name is cut short", "")
	}
	return a
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

// best chooses among the answers of all kinds. Two kinds that know a name equally well make it ambiguous; where all only
// guess, the candidates of all are listed by turns.
func best(answers []Answer) Answer {
	top := 0
	for i := range answers {
		top = max(top, grade(&answers[i]))
	}
	answers = slices.DeleteFunc(answers, func(a Answer) bool { return grade(&a) != top })
	switch {
	case len(answers) == 1:
		return answers[0]
	case top == 0:
		return Answer{Reason: "no model, hardware or tool has this name"}
	}
	out := Answer{Ambiguous: top >= 2, Reason: "records of several kinds have this name; say which kind is meant"}
	if top == 1 {
		out.Confidence, out.Reason = Near, "no model, hardware or tool has this name; the candidates are similar"
	}
	for turn := range MaxCandidates {
		for _, a := range answers {
			if top >= 3 {
				a.Candidates = []Candidate{{a.Kind, a.Slug, a.Name, a.Reason}}
			}
			if turn < len(a.Candidates) {
				out.Candidates = append(out.Candidates, a.Candidates[turn])
			}
		}
	}
	out.Candidates = out.Candidates[:min(MaxCandidates, len(out.Candidates))]
	return out
}

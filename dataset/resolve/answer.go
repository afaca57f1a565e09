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

// Confidence is how an answer was found. It is empty where no record was found.
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
	// Kind is the kind of the record, empty where none was found and none was asked for.
	Kind Kind
	// Slug is the record; empty where the name is unknown, fits several records or was only guessed.
	Slug dataset.Slug
	// Name is the name of that record.
	Name string
	// Confidence is how it was found.
	Confidence Confidence
	// Ambiguous reports that the name fits more than one product, or is not the whole name of one. The
	// candidates are the products. Slug is then empty, or the record the directory keeps for measurements
	// that do not say which of them it was (its variants are the candidates).
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

// Found reports whether the answer has a record.
func (a *Answer) Found() bool { return a.Slug != "" }

// Open reports whether several records fit and the slug is only the likeliest of them.
func (a *Answer) Open() bool { return a.Confidence == Likely && len(a.Candidates) > 1 }

// Others are the other records that fit, where the slug is only the likeliest of several.
func (a *Answer) Others() (slugs []string) {
	if a.Open() {
		for i := range a.Candidates[1:] {
			slugs = append(slugs, string(a.Candidates[1+i].Slug))
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
	case a.Partial():
		return "is " + NotWhole + a.Reason + "; did you mean " + string(a.Candidates[0].Slug)
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

// NotWhole begins what is said of a partial name. Its reason follows.
const NotWhole = "not the whole name of a record: "

// Partial reports whether the name is a part of the name of one record, and of no other.
func (a *Answer) Partial() bool { return a.Ambiguous && a.Slug == "" && len(a.Candidates) == 1 }

// Machine is what the name of hardware says of a machine beside its record: the memory of one device in GB, where that
// is not own, the memory of the record; and the number of devices, where there are several. Both are 0 where the
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

// MaxCandidates is how many candidates an answer lists at most.
const MaxCandidates = 5

const unknownName = "no record has this name"

// record is what every kind of record has.
type record struct {
	slug dataset.Slug
	name string
}

func (a *Answer) guessed(candidates []Candidate) {
	if len(candidates) > 0 {
		a.Confidence, a.Reason, a.Candidates = Near, unknownName+"; the candidates are similar", candidates
	}
}

// cutShort makes the answer to the beginning of a name a guess: nvidia-smi prints "NVIDIA GeForce RTX 4070 ..." for the
// card with a Ti or for laptops as well.
func (a Answer) cutShort(kind Kind) Answer {
	if a.Slug != "" {
		first := Candidate{kind, a.Slug, a.Name, "has the name up to where it is cut"}
		a.Candidates = append([]Candidate{first}, a.Candidates...)
		a.Candidates = a.Candidates[:min(MaxCandidates, len(a.Candidates))]
		a.Slug, a.Name, a.Ambiguous, a.Confidence, a.Reason = "", "", false, Near, "the name is cut short"
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

// best chooses among the answers of all kinds. Two kinds that know a name equally well make it
// ambiguous; where all only guess, the candidates of all are listed by turns. answers is not what it was afterwards.
func best(answers []Answer) Answer {
	top := 0
	for i := range answers {
		top = max(top, grade(&answers[i]))
	}
	of := slices.DeleteFunc(answers, func(a Answer) bool { return grade(&a) != top })
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
	out.Candidates = make([]Candidate, 0, MaxCandidates)
	add := func(c Candidate) {
		if len(out.Candidates) < MaxCandidates {
			out.Candidates = append(out.Candidates, c)
		}
	}
	for turn := range MaxCandidates {
		for i := range of {
			own := of[i].Candidates
			if top >= 3 && turn == 0 {
				add(Candidate{of[i].Kind, of[i].Slug, of[i].Name, of[i].Reason})
			} else if top < 3 && turn < len(own) {
				add(own[turn])
			}
		}
	}
	return out
}

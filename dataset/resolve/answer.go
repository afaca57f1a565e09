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
	Exact  Confidence = "exact"  // the name is a slug, a name or an alias of the record, whatever the letter case
	Parsed Confidence = "parsed" // the name was read by rules and every word was understood
	Near   Confidence = "near"   // the candidates are guesses by likeness, and there is no slug
	// Likely: several records fit, or the name is only a part of one; the slug is the likeliest, and the first of the
	// candidates. Resolve answers so, Strict never does.
	Likely Confidence = "likely"
)

// Answer is what one name means. Zero values are not said.
type Answer struct {
	Input      string       `json:"input"`      // the name as it was given, cut to MaxName bytes
	Kind       Kind         `json:"kind"`       // of the record, empty if none was found and none was asked for
	Slug       dataset.Slug `json:"slug"`       // the record; empty if the name is unknown, fits several records or was only guessed
	Name       string       `json:"name"`       // of that record
	Confidence Confidence   `json:"confidence"` // how it was found
	// Ambiguous reports that the name fits more than one product, the candidates, or is not the whole name of one. Slug is
	// then empty, or the record kept for measurements that do not say which of its variants it was.
	Ambiguous    bool        `json:"ambiguous"`
	Quantization string      `json:"quantization"` // storage type of the weights in the name of a model, such as Q4_K_M
	Format       string      `json:"format"`       // of the file in the name of a model: gguf, mlx, safetensors, exl2 or exl3
	ParamsB      float64     `json:"params_b"`     // size in the name of a model, in billions of parameters
	MemoryGB     float64     `json:"memory_gb"`    // in the name of hardware, in GB
	Count        int         `json:"count"`        // of devices, in the name of hardware ("2x RTX 3090")
	Reason       string      `json:"reason"`       // how the name was read, or why there is no slug, in a sentence
	Candidates   []Candidate `json:"candidates"`   // possible records if there is no single one, best first, at most MaxCandidates

	key    string // to guess by, where no rule had an answer
	listed bool   // the name lists several products: none is likelier than another
}

// Candidate is a record a name may mean, and why.
type Candidate struct {
	// Kind of the record.
	Kind Kind `json:"kind" jsonschema:"enum=model,enum=hardware,enum=tool,example=hardware"`
	// The record.
	Slug dataset.Slug `json:"slug" jsonschema:"example=nvidia-rtx-4060-ti-16gb"`
	// Name of the record.
	Name string `json:"name" jsonschema:"example=NVIDIA GeForce RTX 4060 Ti 16GB"`
	// Why it is a candidate.
	Reason string `json:"reason" jsonschema:"example=one of the products with this name"`
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
		return "is not the full name of a record: " + a.Reason + "; did you mean " + string(a.Candidates[0].Slug) + "?"
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

// unsure keeps the candidates without choosing one.
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
		a.Candidates = slices.Insert(a.Candidates, 0, Candidate{kind, a.Slug, a.Name, "starts with this name"})
		a.Candidates = a.Candidates[:min(MaxCandidates, len(a.Candidates))]
		a.unsure("the name is cut short", "")
	}
	return a
}

// grade orders answers: a record beats an ambiguous answer, which beats a guess.
func grade(a *Answer) int {
	if a.Slug == "" && a.Ambiguous {
		return 2
	}
	return map[Confidence]int{Exact: 4, Parsed: 3, Likely: 3, Near: 1}[a.Confidence]
}

// best chooses among the answers of all kinds. Two kinds that know a name equally well make it ambiguous; where all only
// guess, the candidates of all are listed by turns.
func best(answers []Answer) Answer {
	first := slices.MaxFunc(answers, func(a, b Answer) int { return grade(&a) - grade(&b) })
	top := grade(&first)
	answers = slices.DeleteFunc(answers, func(a Answer) bool { return grade(&a) != top })
	switch {
	case len(answers) == 1:
		return first
	case top == 0:
		return Answer{Reason: "no model, hardware or tool has this name"}
	}
	out := Answer{Ambiguous: true, Reason: "records of several kinds have this name; say which kind is meant"}
	if top == 1 {
		out = Answer{Confidence: Near, Reason: "no model, hardware or tool has this name; the candidates are similar"}
	}
	for turn := range MaxCandidates {
		for _, a := range answers {
			if top >= 3 {
				a.Candidates = []Candidate{{a.Kind, a.Slug, a.Name, a.Reason}}
			}
			if turn < len(a.Candidates) && len(out.Candidates) < MaxCandidates {
				out.Candidates = append(out.Candidates, a.Candidates[turn])
			}
		}
	}
	return out
}

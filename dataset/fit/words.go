package fit

import "modeldex/dataset/record"

// Verdict says whether a model runs on a machine.
type Verdict string

// The verdicts, best first. Tight: weights, cache and buffer fit, but only by using the reserve.
// Offload: they do not, and part of the weights can be kept in main memory. Unknown: a fact is
// missing, and what it can be decides.
const (
	Fits    Verdict = "fits"
	Tight   Verdict = "tight"
	Offload Verdict = "offload"
	Unknown Verdict = "unknown"
	No      Verdict = "no"
)

// Verdicts lists the verdicts, best first.
var Verdicts = []Verdict{Fits, Tight, Offload, Unknown, No}

// Values lists the verdicts as texts.
func (Verdict) Values() []string { return record.Texts(Verdicts) }

// Basis says how far a number of bytes can be trusted.
type Basis string

// The bases of byte counts.
const (
	Published  Basis = "published"   // the size of a real file
	Computed   Basis = "computed"    // follows from published figures by the formula named
	UpperBound Basis = "upper_bound" // at most this much: a fact that would make it smaller is missing
	LowerBound Basis = "lower_bound" // at least this much: a fact that may make it larger is missing
	Estimated  Basis = "estimated"   // a rule of thumb with a source
	Given      Basis = "given"       // by the query
)

// Values lists the bases as texts.
func (Basis) Values() []string {
	return record.Texts([]Basis{Published, Computed, UpperBound, LowerBound, Estimated, Given})
}

// Preference is which quantization a row of a list names, see Query.Prefer.
type Preference string

// PreferMeasured is the preference that is not the default.
const PreferMeasured Preference = "measured"

// Values lists the preferences as texts, the default first.
func (Preference) Values() []string { return []string{"best", string(PreferMeasured)} }

// ComputeUnit is a part of a machine that does the work.
type ComputeUnit string

// Values lists the units as texts.
func (ComputeUnit) Values() []string { return []string{"cpu", "gpu", "npu"} }

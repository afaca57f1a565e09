package fit

import (
	_ "embed"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// validated is the evaluation of the shipped data and the bands that follow from it, written by
// `modeldex fit evaluate --write dataset/fit/validated.json`.
//
//go:embed validated.json
var validatedJSON []byte

// Validated is what an evaluation leaves for estimates: how wide bands must be, and how estimates
// did.
type Validated struct {
	// Factors make bands as wide as nine of ten held-out measurements need them.
	Factors factors `json:"band_factors"`
	Evaluation
}

var validated = func() (v Validated) {
	if err := jsonv2.Unmarshal(validatedJSON, &v); err != nil {
		panic("validated.json: " + err.Error()) // the file is part of the build
	}
	return v
}()

// checked gives the scores of estimates of a class; nil where there were too few to say.
func checked(h Holdout, c Class) *Checked {
	s, ok := validated.Of(h, c.String())
	if !ok || s.Estimated < 20 {
		s, ok = validated.Of(h, "all")
	}
	if !ok {
		return nil
	}
	return &Checked{validated.DatasetVersion, h, s.Class, s.Estimated, s.MedianError, s.Coverage}
}

// factors maps a kind of estimate and a class to the factor of its bands.
type factors map[Holdout]map[string]float64

func (f factors) set(h Holdout, c Class, factor float64) {
	if f[h] == nil {
		f[h] = map[string]float64{}
	}
	f[h][c.String()] = factor
}

// of is the factor; 1.5 where nothing was measured.
func (f factors) of(h Holdout, c Class) float64 {
	if x := f[h][c.String()]; x > 0 {
		return x
	}
	return 1.5
}

// EncodeValidated gives the form of validated.json.
func EncodeValidated(v *Validated) ([]byte, error) {
	out, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.WithIndent(" "))
	return append(out, '\n'), err
}

// A Score says how near estimates came to held-out measurements. Errors are estimate over
// measurement less one, without sign. Rates are parts of the rows that got an estimate.
type Score struct {
	Holdout   Holdout `json:"holdout"`
	Class     string  `json:"class"` // all, a class of hardware, dense or mixture
	Rows      int     `json:"rows"`
	Estimated int     `json:"estimated"` // rows with something near enough
	// MedianError is the median absolute error, 0.1 being 10 %.
	MedianError float64 `json:"median_error"`
	Within25    float64 `json:"within_25_percent"`
	Within50    float64 `json:"within_factor_1_5"`
	// Coverage is the part of measurements inside the 90 % band, Width the median of its upper
	// end over its lower.
	Coverage float64 `json:"coverage_90"`
	Width    float64 `json:"band_width"`
	// Constant is the median error of the rule with one constant share, the best for these rows.
	Constant         float64 `json:"constant_share_median_error"`
	ConstantWithin25 float64 `json:"constant_share_within_25_percent"`
	ConstantWithin50 float64 `json:"constant_share_within_factor_1_5"`
}

// A ChoiceScore says how near estimates come to held-out measurements, once with the backend an answer chooses from the other
// measurements and once with that of the measurement. Both are for the same rows: those that name their backend, where the same part of
// the machine does the work.
type ChoiceScore struct {
	Holdout       Holdout `json:"holdout"`
	Rows          int     `json:"rows"`
	Same          int     `json:"same_backend"` // rows with the backend that is chosen
	Estimated     int     `json:"estimated"`
	MedianError   float64 `json:"median_error"`
	Within25      float64 `json:"within_25_percent"`
	Within50      float64 `json:"within_factor_1_5"`
	Given         float64 `json:"given_backend_median_error"`
	GivenWithin25 float64 `json:"given_backend_within_25_percent"`
	GivenWithin50 float64 `json:"given_backend_within_factor_1_5"`
}

// An Evaluation is the scores of all holdouts and classes.
type Evaluation struct {
	DatasetVersion string  `json:"dataset_version"`
	Digest         string  `json:"dataset_digest"`
	Rows           int     `json:"rows"`
	Pages          int     `json:"pages"`
	ConstantShare  float64 `json:"constant_share"`
	Scores         []Score `json:"scores"`
	// Apart are the scores of the rows whose source page took no part in the search for the numbers
	// of estimates, with bands fitted to the other rows.
	Apart []Score `json:"scores_apart"`
	// Chosen are the scores where the backend is the one an answer chooses.
	Chosen []ChoiceScore `json:"scores_with_chosen_backend"`
	// Depth is how near slowdowns with a filled cache came.
	Depth []DepthScore `json:"depth"`
}

// Of returns the score of a holdout and class; false where there is none.
func (ev *Evaluation) Of(h Holdout, class string) (Score, bool) {
	for _, s := range ev.Scores {
		if s.Holdout == h && s.Class == class {
			return s, true
		}
	}
	return Score{}, false
}

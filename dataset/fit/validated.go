package fit

import (
	"cmp"
	_ "embed"
	"math"
	"slices"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// validated is the evaluation of the shipped data and the bands that follow from it, written by
// `modeldex fit evaluate --write dataset/fit/validated.json`.
//
//go:embed validated.json
var validatedJSON []byte

// Validated is an evaluation of a dataset: how estimates did against sources that were hidden from them.
type Validated struct {
	DatasetVersion string `json:"dataset_version"`
	Digest         string `json:"dataset_digest"`
	// Generation is of the speed of generation, Prompt of that of reading prompts.
	Generation Quality `json:"generation"`
	Prompt     Quality `json:"prompt"`
	// Split is of generation with a part of the weights in main memory.
	Split Quality `json:"split"`
	// Load is of servers that answer several requests at once.
	Load Quality `json:"load"`
}

var validated = func() (v Validated) {
	if err := jsonv2.Unmarshal(validatedJSON, &v); err != nil {
		panic("validated.json: " + err.Error()) // the file is part of the build
	}
	return v
}()

// ValidatedData is the evaluation that estimates of this build state.
func ValidatedData() *Validated { return &validated }

// Quality is how good estimates of one kind of speed are.
type Quality struct {
	Rows    int `json:"rows"`
	Sources int `json:"sources"`
	// Factors make bands of each class as wide as nine of ten measurements of hidden sources need them.
	Factors map[string]float64 `json:"band_factors"`
	Scores  []Score            `json:"scores"`
}

// A Score says how near estimates come to measurements of hidden sources. Errors are estimate over measurement less
// one, without sign.
type Score struct {
	// Class is all, usual (programs that people run), a class of hardware, dense, mixture or deep, or a class with one of
	// dense and mixture, and with what was known of it.
	Class       string  `json:"class"`
	Rows        int     `json:"rows"`
	Sources     int     `json:"sources"`
	MedianError float64 `json:"median_error"` // 0.1 is 10 %
	Within25    float64 `json:"within_25_percent"`
	Within50    float64 `json:"within_factor_1_5"`
	Within100   float64 `json:"within_factor_2"`
	// Coverage is the part of measurements inside the 90 % band, with factors of the other sources. Width is the median
	// of its upper end over its lower, and Narrow the part of bands whose ends are within a factor of 4.
	Coverage float64 `json:"coverage_90"`
	Width    float64 `json:"band_width"`
	Narrow   float64 `json:"band_within_factor_4"`
	// Simple is the median error of the rule of thumb: SimpleShare of the bandwidth over the bytes of a token.
	Simple         float64 `json:"rule_of_thumb_median_error"`
	SimpleWithin50 float64 `json:"rule_of_thumb_within_factor_1_5"`
}

// What is known of a configuration beyond its class.
const (
	knownShape   = "shape on silicon"
	knownSilicon = "silicon"
	knownNeither = "other silicon"
)

// knows says what a regression knows of a configuration.
func (r *regression) knows(names [groups]name) string {
	if _, known := r.effects[names[ofMeasured]]; known {
		return knownShape
	}
	if _, known := r.effects[names[ofSilicon]]; known {
		return knownSilicon
	}
	return knownNeither
}

func kindOf(c *config) string {
	if c.mixture {
		return c.class.String() + " mixture"
	}
	return c.class.String() + " dense"
}

// Of is the score of a class; nil where there is none.
func (q *Quality) Of(class string) *Score {
	if i := slices.IndexFunc(q.Scores, func(s Score) bool { return s.Class == class }); i >= 0 {
		return &q.Scores[i]
	}
	return nil
}

// A score needs so many measurements, of so many sources, to be stated.
const (
	enoughRows    = 20
	enoughSources = 3
)

// checked is the score of the first of some classes that has enough measurements; nil where none has.
func (q *Quality) checked(classes ...string) *Checked {
	for _, class := range classes {
		if s := q.Of(class); s != nil && s.Rows >= enoughRows && s.Sources >= enoughSources {
			return &Checked{validated.DatasetVersion, "source", s.Class, s.Rows, s.MedianError, s.Coverage}
		}
	}
	return nil
}

// spread is how far the ends of the 90 % band of an estimate are from it, in logarithms. variance is that of the effects
// it is made of, in units of that of one measurement.
func (q *Quality) spread(c Class, variance float64) float64 {
	return cmp.Or(q.Factors[c.String()], q.Factors["all"], 1) * math.Sqrt(1+variance)
}

// EncodeValidated gives the form of validated.json.
func EncodeValidated(v *Validated) ([]byte, error) {
	out, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.WithIndent(" "))
	return append(out, '\n'), err
}

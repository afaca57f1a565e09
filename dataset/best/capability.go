package best

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"modeldex/dataset"
)

// Evidence is what one published evaluation says of a model.
type Evidence struct {
	Source string
	// Score is on the common scale of the snapshot, before it is drawn to the mean of all models, in points.
	Score float64
	// Variance of Score as a measure of what all evaluations share, in points squared.
	Variance float64
}

// Basis says what a capability rests on. The zero value is never valid.
type Basis string

// The closed set of bases.
const (
	Evaluated Basis = "evaluated" // at least one published evaluation
	Predicted Basis = "predicted" // size, age, kind and maker alone
)

// Values lists the bases.
func (Basis) Values() []string { return []string{string(Evaluated), string(Predicted)} }

// Capability is the capability of a model: its published evaluations, adjusted towards a prediction from size, age,
// kind and maker.
type Capability struct {
	// Score from 0 to 100 on the common scale of the snapshots; higher is better.
	Score float64 `json:"score_0_100" jsonschema:"minimum=0,maximum=100,example=66.4"`
	// evaluated: uses published evaluations. predicted: no evaluations are known, so it uses only size, age, kind and
	// maker.
	Basis Basis `json:"basis" jsonschema:"example=evaluated"`
	// Lower and upper end of the 95 % interval.
	Interval [2]float64 `json:"interval" jsonschema:"minItems=2,maxItems=2"`

	deviation float64
}

// The constants of the prediction. They were chosen on models of one year and held against those of the others.
const (
	leastDeviation = 4.0  // points: a prediction is never more exact
	fitNoise       = 36.0 // points squared of what a prediction cannot know; it keeps a few exact evaluations from deciding the fit
	makerModels    = 3.0  // evaluated models at which the level of a maker counts as much as the mean of all makers
	newMaker       = -3.0 // points of a maker of whom no model was evaluated
	unknownDate    = 5.0  // points of deviation more where the release date is taken from a relative
	outlier        = 2.0  // deviations from which on a lone evaluation is taken to be a bad run, and the more the further it is off
	leastStep      = 0.1  // points by which a larger, or later, model of a line is above
	wide           = 15.0 // points of deviation where nothing is predicted
	z95            = 1.96
)

// features are total and active parameters, age in years since 2025, and whether the model reasons before it answers.
func features(params, active, years float64, thinking bool) []float64 {
	p, a := math.Log2(max(params, 0.1)), math.Log2(max(active, 0.1))
	late := max(years, 0)
	thinks := 0.0
	if thinking {
		thinks = late
	}
	return []float64{1, p, a, years, late * late, thinks, p * years / 10}
}

// usual are the weights of the features in the snapshot of 2026-11-26, for where too few models are evaluated to fit
// any.
var usual = []float64{33.7, 1.83, 0.46, 13.5, -2.2, -0.1, 0.07}

const usualDeviation = 6.0

// ridge draws the weights of the later features to 0, as so many models without them would.
var ridge = []float64{0, 0.02, 0.02, 0.02, 0.05, 0.05, 0.05}

type subject struct {
	*dataset.Model
	evidence []Evidence
	x        []float64 // features, nil where they are not known
	active   float64   // parameters read for one token, in billions; 0 where params_b is not known
	years    float64   // since 2025
	doubt    float64   // deviation of the prediction beside that of all
	mean     float64   // of evidence and prediction
	weight   float64
	known    bool
}

// Capabilities returns the capability of every model that can be rated. of returns the evidence of a model, or nil.
// Base models have no capability.
func Capabilities(models []dataset.Model, of func(dataset.Slug) []Evidence) map[dataset.Slug]Capability {
	subjects := make([]*subject, 0, len(models))
	for i := range models {
		if m := &models[i]; m.Form == nil || *m.Form != "base" {
			s := &subject{Model: m, evidence: of(m.Slug)}
			s.describe(models)
			subjects = append(subjects, s)
		}
	}
	p := predict(subjects)
	for _, s := range subjects {
		s.combine(p)
	}
	keepOrder(subjects)
	out := map[dataset.Slug]Capability{}
	for _, s := range subjects {
		if !s.known {
			continue
		}
		c := Capability{Score: inScale(s.mean), Basis: Predicted, deviation: 1 / math.Sqrt(s.weight)}
		if len(s.evidence) > 0 {
			c.Basis = Evaluated
		}
		c.Interval = [2]float64{inScale(s.mean - z95*c.deviation), inScale(s.mean + z95*c.deviation)}
		out[s.Slug] = c
	}
	return out
}

func inScale(x float64) float64 { return min(max(math.Round(10*x)/10, 0), 100) + 0 }

func (s *subject) describe(models []dataset.Model) {
	if s.ParamsB == nil {
		return
	}
	s.active = *cmp.Or(s.ActiveParamsB, s.EffectiveParamsB, s.ParamsB)
	date := s.ReleaseDate
	if date == nil {
		date, s.doubt = dateOfRelative(s.Model, models), unknownDate
	}
	if date != nil {
		if t, err := time.Parse("2006-01", (string(*date) + "-06")[:7]); err == nil { // without a month, its middle
			s.years = float64(t.Year()-2025) + float64(t.Month()-1)/12
		}
		s.x = features(*s.ParamsB, s.active, s.years, s.Thinking != nil && *s.Thinking)
	}
}

// dateOfRelative is the newest date of the models of the same family whose names begin most like that of m; nil for
// none.
func dateOfRelative(m *dataset.Model, models []dataset.Model) (date *dataset.Date) {
	most := 0
	for i := range models {
		o := &models[i]
		if o.Family != m.Family || o.ReleaseDate == nil {
			continue
		}
		n := 0
		for n < min(len(o.Slug), len(m.Slug)) && o.Slug[n] == m.Slug[n] {
			n++
		}
		if n > most || n == most && date != nil && *o.ReleaseDate > *date {
			most, date = n, o.ReleaseDate
		}
	}
	return date
}

type prediction struct {
	weights  []float64
	variance float64
	makers   map[string]float64
}

func (p *prediction) of(s *subject) float64 {
	level, known := p.makers[s.Organization]
	if !known {
		level = newMaker
	}
	return dot(p.weights, s.x) + level
}

// broad are the sources with many tasks. The third has few and short ones, which say less of size and age.
var broad = []string{"source_a", "source_b"}

func predict(subjects []*subject) prediction {
	type point struct {
		x       []float64
		y, v, w float64 // what evaluations say, its variance and weight
		maker   string
	}
	var points []point
	for _, s := range subjects {
		if s.x == nil || s.doubt > 0 {
			continue
		}
		var sum, weight float64
		for _, e := range s.evidence {
			if slices.Contains(broad, e.Source) {
				sum, weight = sum+e.Score/e.Variance, weight+1/e.Variance
			}
		}
		if weight > 0 {
			points = append(points, point{s.x, sum / weight, 1 / weight, 1 / (1/weight + fitNoise), s.Organization})
		}
	}
	n := len(ridge)
	equations := make([][]float64, n)
	for i := range n {
		equations[i] = make([]float64, n+1)
		equations[i][i] = ridge[i]
		for _, p := range points {
			equations[i][n] += p.w * p.y * p.x[i]
			for j := range n {
				equations[i][j] += p.w * p.x[i] * p.x[j]
			}
		}
	}
	if len(points) < 2*n {
		return prediction{weights: usual, variance: usualDeviation * usualDeviation}
	}
	out := prediction{weights: solve(equations), makers: map[string]float64{}}
	sums := map[string][2]float64{}
	var squares, noise, weights float64
	for _, p := range points {
		rest := p.y - dot(out.weights, p.x)
		squares, noise, weights = squares+p.w*rest*rest, noise+p.w*p.v, weights+p.w
		sums[p.maker] = [2]float64{sums[p.maker][0] + p.w*rest, sums[p.maker][1] + p.w}
	}
	for maker, s := range sums {
		out.makers[maker] = s[0] / (s[1] + makerModels/fitNoise)
	}
	out.variance = max((squares-noise)/weights, leastDeviation*leastDeviation)
	return out
}

func (s *subject) combine(p prediction) {
	mean, variance := 50.0, wide*wide
	if s.x != nil {
		mean, variance = p.of(s), p.variance+s.doubt*s.doubt
	} else if len(s.evidence) == 0 {
		return
	}
	s.known = true
	s.weight = 1 / variance
	sum := mean / variance
	for _, e := range s.evidence {
		v := e.Variance
		if len(s.evidence) == 1 {
			off := math.Abs(e.Score-mean) / math.Sqrt(v+variance)
			v *= max(1, off*off/(outlier*outlier))
		}
		s.weight += 1 / v
		sum += e.Score / v
	}
	s.mean = sum / s.weight
}

func (s *subject) atLeast(part float64, o *subject) bool {
	return *s.ParamsB >= part**o.ParamsB && s.active >= part*o.active
}

// keepOrder moves models to their weighted mean where a larger one of a line is below a smaller one, or a later release
// below an earlier one that is not larger: that is noise of evaluations.
func keepOrder(subjects []*subject) {
	type pair struct{ lower, upper *subject }
	var pairs []pair
	lines, series := map[string][]*subject{}, map[string][]*subject{}
	for _, s := range subjects {
		if s.known && s.active > 0 {
			line, later := namesOf(string(s.Slug))
			lines[line] = append(lines[line], s)
			if s.x != nil && s.doubt == 0 {
				series[later] = append(series[later], s)
			}
		}
	}
	add := func(groups map[string][]*subject, above func(upper, lower *subject) bool) {
		for _, group := range groups {
			for _, a := range group {
				for _, b := range group {
					if above(b, a) {
						pairs = append(pairs, pair{a, b})
					}
				}
			}
		}
	}
	add(lines, func(b, a *subject) bool { return b.atLeast(1, a) && !a.atLeast(1, b) })
	add(series, func(b, a *subject) bool { return a.years < b.years && b.atLeast(0.9, a) })
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(strings.Compare(string(a.lower.Slug), string(b.lower.Slug)), strings.Compare(string(a.upper.Slug), string(b.upper.Slug)))
	})
	for wrong, round := true, 0; wrong && round < 100; round++ {
		wrong = false
		for _, p := range pairs {
			if lack := p.lower.mean + leastStep - p.upper.mean; lack > 1e-9 {
				share := p.upper.weight / (p.lower.weight + p.upper.weight)
				wrong, p.lower.mean, p.upper.mean = true, p.lower.mean-share*lack, p.upper.mean+(1-share)*lack
			}
		}
	}
}

// namesOf are the slug of a model without sizes, and without sizes, versions and dates.
func namesOf(slug string) (line, series string) {
	var a, b []string
	for part := range strings.SplitSeq(slug, "-") {
		if isSize(part) {
			a = append(a, "#")
			continue
		}
		a = append(a, part)
		if b = append(b, strings.TrimRight(part, "0123456789.")); b[len(b)-1] == "" {
			b = b[:len(b)-1]
		}
	}
	return strings.Join(a, "-"), strings.Join(b, "-")
}

func isSize(part string) bool {
	part = strings.TrimLeft(part, "ea")
	end := len(part) - 1
	return end > 0 && strings.ContainsRune("bmt", rune(part[end])) && strings.Trim(part[:end], "0123456789.") == ""
}

func dot(a, b []float64) (sum float64) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// solve solves equations in place; the last column is their right side. The ridge keeps every pivot above 0.
func solve(a [][]float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		for j := range a {
			if f := a[j][i] / a[i][i]; j != i && f != 0 {
				for k := i; k <= len(a); k++ {
					a[j][k] -= f * a[i][k]
				}
			}
		}
	}
	for i := range a {
		out[i] = a[i][len(a)] / a[i][i]
	}
	return out
}

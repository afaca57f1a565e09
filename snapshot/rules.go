package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	jsonv2 "github.com/goccy/go-json/v2"

	"modeldex/dataset/best"
)

// rules are the numbers by which components, composites and confidence follow from the scores
// of a document. normalization.composite states them in words and, after rulesMark, as JSON, so
// that anyone can compute every composite again from the document alone.
//
// All are in points of the common scale, 0 to 100, except for Slope: points for one unit of value.
type rules struct {
	Mean      float64              `json:"mean"`      // of the models of the fit; what is assumed of a model before any score
	Deviation float64              `json:"deviation"` // standard deviation of the same
	Z         float64              `json:"z"`         // half-width of the interval in standard errors
	Specific  map[SourceID]float64 `json:"specific"`  // standard deviation of what only this source measures
	// Drift is the standard deviation by which a reading of an earlier release (split) of a source moves until its
	// newest. A release that is not in it, and every one of the second rules, has none.
	Drift      map[SourceID]map[string]float64 `json:"drift,omitempty"`
	Confidence confidenceRules                 `json:"confidence"` // widest interval of each confidence
	Lines      []Line                          `json:"lines"`      // in the order of their cells
}

// Cell names the scores that share one line: their mean over tasks is one number.
type Cell struct {
	Source   SourceID `json:"source_id"`
	Split    string   `json:"split"`
	Metric   string   `json:"metric"`
	Category string   `json:"category"`
}

// Line brings the values of a cell to the common scale: Level + Slope * value.
type Line struct {
	Cell
	Level float64 `json:"level"`
	Slope float64 `json:"slope"`
	Noise float64 `json:"noise"` // standard error of one value beside the one its interval states
}

type confidenceRules struct {
	High     float64 `json:"high"`
	Moderate float64 `json:"moderate"`
}

// rulesMark comes before the rules as JSON in normalization.composite; they end the text.
const rulesMark = "The numbers as JSON: "

// The common scale and its intervals.
const (
	scaleMean      = 50.0
	scaleDeviation = 15.0      // three standard deviations to either side stay inside 5 to 95
	intervalZ      = 1.9599640 // 97.5 percent point of the normal distribution
)

// baseLimitation is the limitation of a base model, which has scores but no composite.
const baseLimitation = "base model: the sources that link the common scale have no base models, so its place on it is not known"

var errNoRules = errors.New("must state the rules after " + rulesMark)

func statedRules(text string) (*rules, error) {
	_, stated, ok := strings.Cut(text, rulesMark)
	if !ok {
		return nil, errNoRules
	}
	var r rules
	if err := jsonv2.Unmarshal([]byte(stated), &r, jsonv2.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return &r, r.check()
}

func (r *rules) check() error {
	if !(r.Deviation > 0) || !(r.Z > 0) {
		return fmt.Errorf("rules: deviation and z must be greater than 0, got %v and %v", r.Deviation, r.Z)
	}
	if r.Mean != scaleMean || r.Deviation != scaleDeviation || r.Z != intervalZ {
		return fmt.Errorf("rules: mean, deviation and z must be %v, %v and %v, got %v, %v and %v",
			scaleMean, scaleDeviation, intervalZ, r.Mean, r.Deviation, r.Z)
	}
	if !(r.Confidence.High > 0) || r.Confidence.Moderate < r.Confidence.High {
		return fmt.Errorf("rules: confidence: must be 0 < high <= moderate, got %v and %v", r.Confidence.High, r.Confidence.Moderate)
	}
	for i, l := range r.Lines {
		if i > 0 && r.Lines[i-1].compare(l.Cell) >= 0 {
			return fmt.Errorf("rules: lines[%d]: must be unique and in order", i)
		}
		if !(l.Noise > 0) || !(r.Specific[l.Source] > 0) {
			return fmt.Errorf("rules: lines[%d]: noise and the specific deviation of %s must be greater than 0", i, l.Source)
		}
	}
	return nil
}

func (c Cell) compare(d Cell) int {
	return cmp.Or(
		strings.Compare(string(c.Source), string(d.Source)), strings.Compare(c.Split, d.Split),
		strings.Compare(c.Metric, d.Metric), strings.Compare(c.Category, d.Category),
	)
}

func cellOf(s *Score) Cell {
	return Cell{s.SourceID, s.SourceSplit, s.Metric, or(s.Category, "")}
}

func (r *rules) line(c Cell) *Line {
	i, ok := slices.BinarySearchFunc(r.Lines, c, func(l Line, c Cell) int { return l.compare(c) })
	if !ok {
		return nil
	}
	return &r.Lines[i]
}

func (r *rules) normalized(s *Score) *float64 {
	l := r.line(cellOf(s))
	if l == nil {
		return nil
	}
	x := round4(inScale(l.at(s.Value)))
	return &x
}

func (l *Line) at(value float64) float64 { return l.Level + float64(l.Slope*value) }

// inScale holds x inside 0..100; adding 0 turns -0 into 0.
func inScale(x float64) float64 { return min(max(x, 0), maxScore) + 0 }

type estimate struct {
	source SourceID
	x      float64 // on the common scale, before it is drawn to the mean
	weight float64 // precision: 1 / variance, in points
	cells  int
	values int
}

func (r *rules) estimates(scores []Score) []estimate {
	var out []estimate
	for _, id := range sourceIDs {
		if e, ok := r.estimate(id, scores); ok {
			out = append(out, e)
		}
	}
	return out
}

func (r *rules) estimate(id SourceID, scores []Score) (estimate, bool) {
	return r.mean(id, cells(id, scores))
}

// mean is the mean over cells, each weighted by its precision. The largest drift of their releases counts.
func (r *rules) mean(id SourceID, all []cell) (estimate, bool) {
	e := estimate{source: id}
	var weights, sum, drift float64
	for _, c := range all {
		l := r.line(c.Cell)
		if l == nil {
			continue
		}
		stated := l.Slope * c.err
		w := 1 / (float64(l.Noise*l.Noise) + float64(stated*stated))
		weights += w
		sum += float64(w * l.at(c.value))
		drift = max(drift, r.Drift[id][c.Split])
		e.cells++
		e.values += c.values
	}
	if e.cells == 0 {
		return e, false
	}
	specific := r.Specific[id]
	e.x = sum / weights
	e.weight = round6(1 / (1/weights + float64(specific*specific) + float64(drift*drift)))
	return e, true
}

type cell struct {
	Cell
	value  float64
	err    float64 // standard error of value as the source states it: its 95 percent interval over 2 * 1.96
	values int
}

func cells(id SourceID, scores []Score) []cell {
	var out []cell
	for i := range scores {
		s := &scores[i]
		if s.SourceID != id {
			continue
		}
		at, ok := slices.BinarySearchFunc(out, cellOf(s), func(c cell, d Cell) int { return c.compare(d) })
		if !ok {
			out = slices.Insert(out, at, cell{Cell: cellOf(s)})
		}
		c := &out[at]
		c.value += s.Value
		c.values++
		if s.Lower != nil && s.Upper != nil {
			half := (*s.Upper - *s.Lower) / (2 * intervalZ)
			c.err += float64(half * half)
		}
	}
	for i := range out {
		c := &out[i]
		c.value /= float64(c.values)
		c.err = math.Sqrt(c.err) / float64(c.values)
	}
	return out
}

type composite struct {
	score, lower, upper *float64
	half                float64 // half-width of the interval before it is held inside 0..100
	components          []Component
}

// compose combines what the sources say of a model, drawn to the mean of all models, which counts as one more estimate.
// All components move by the same share, so that the composite is their weighted mean.
func (r *rules) compose(all []estimate) composite {
	var c composite
	weights := 1 / float64(r.Deviation*r.Deviation)
	known := 0.0
	for _, e := range all {
		known += e.weight
	}
	if !(known > 0) {
		return c
	}
	share := known / (known + weights)
	for _, e := range all {
		x := r.Mean + float64(share*(e.x-r.Mean))
		c.components = append(c.components, Component{SourceID: e.source, Normalized: round4(inScale(x)), Weight: e.weight})
	}
	c.score = weightedMean(c.components)
	c.half = r.Z / math.Sqrt(known+weights)
	lower, upper := round4(inScale(*c.score-c.half)), round4(inScale(*c.score+c.half))
	c.lower, c.upper = &lower, &upper
	return c
}

func (r *rules) confidence(c composite) Confidence {
	switch {
	case c.score == nil:
		return Low
	case c.half <= r.Confidence.High:
		return High
	case c.half <= r.Confidence.Moderate:
		return Moderate
	}
	return Low
}

func (r *rules) interval(c *Composite) (lower, upper *float64) {
	if c.Score == nil {
		return nil, nil
	}
	known := 1 / float64(r.Deviation*r.Deviation)
	for _, p := range c.Components {
		known += p.Weight
	}
	half := r.Z / math.Sqrt(known)
	lo, hi := round4(inScale(*c.Score-half)), round4(inScale(*c.Score+half))
	return &lo, &hi
}

// evidence is what each source says of a model before it is drawn to the mean of all models.
func (r *rules) evidence(parts []Component) []best.Evidence {
	known := 0.0
	for _, p := range parts {
		known += p.Weight
	}
	out := make([]best.Evidence, len(parts))
	for i, p := range parts {
		share := known / (known + 1/float64(r.Deviation*r.Deviation))
		out[i] = best.Evidence{Source: string(p.SourceID), Score: r.Mean + float64((p.Normalized-r.Mean)/share), Variance: 1 / p.Weight}
	}
	return out
}

func matchingText() string {
	return "1. The alias table maps a raw name of a source to a model key; each of its lines says whether the key is the name in slug form or a person joined them. " +
		"2. A name the table lacks loses the settings in brackets at its end and is brought to lower case with '-' for every run of other characters than letters, digits and . / : +; if that is a key of the table, or a name, Hugging Face id or alias of one model of the directory, it is joined to it. " +
		"3. Any other name is a model of its own under its slug form and is printed by the build. " +
		"4. Where a model is in the directory, by its key or by exactly one reading of its names, its slug is the model key. Settings of one model such as a reasoning effort, quantized forms, and base and instruction-tuned forms are models of their own. " +
		"5. Of several names of one model in one source the newest release is published, then the name with the fewest settings; the others are listed in limitations. Nothing is averaged over names or releases."
}

func (b *builder) compositeText() (string, error) {
	var s strings.Builder
	s.WriteString("All sources are brought to one scale through the models they share. Over the models of the fit the scale has mean 50 and standard deviation 15. ")
	for _, t := range b.tables {
		t.describe(&s)
	}
	s.WriteString("Line: a cell is one category of a metric in one release (split) of a source, its value the mean of its tasks; its place on the scale is x = level + slope * value. A score has the same line: normalized_0_100 = level + slope * value, held inside 0..100 and rounded to 4 decimals, null for a score that does not enter. ")
	s.WriteString("Estimate of a source: X = sum(x / e^2) / sum(1 / e^2) over its cells, where e^2 = noise^2 + (slope * s)^2 and s is the standard error of the value: (upper - lower) / (2 z) where the source gives bounds, over n tasks sqrt(sum s^2) / n, else 0. A category that does not separate models has a large noise and so a small weight. ")
	s.WriteString("Component: weight = 1 / (1 / sum(1 / e^2) + specific^2 + drift^2), rounded to 6 decimals, where drift is that of the release the model was read in, the precision of X as a measure of what the sources share; normalized_0_100 = mean + share * (X - mean), share = W / (W + 1 / deviation^2), W the sum of the weights of the model, held inside 0..100 and rounded to 4 decimals: what is known little of is drawn to the mean. ")
	s.WriteString("Composite: score_0_100 = sum(weight * normalized_0_100) / sum(weight), rounded to 4 decimals. Its 95 percent interval is score_0_100 -+ z / sqrt(W + 1 / deviation^2). ")
	c := b.in.Config.Confidence
	fmt.Fprintf(&s, "Confidence: high when the interval is at most %v points to a side, moderate when at most %v, else low. ", c.High, c.Moderate)
	s.WriteString("Base models have scores but no composite: no source that links the scale has any. ")
	s.WriteString("Fit: level, slope and noise of each cell and the specific deviation of each source maximize the likelihood of value = a + b * (ability + specific of the source) + error, by expectation and maximization from a fixed start for a fixed number of rounds, over all releases; no cell counts as more exact than the median cell of its source. Drift: the root of the sum, over the releases from this one to the newest, of the mean squared difference of X between the models that a release and the next newer one share. ")
	s.WriteString("It is the linear model of test equating (Levine 1955; Angoff 1971; Kolen and Brennan, Test Equating, Scaling, and Linking, 2014, chapter 4) with one testlet for each source (Bradlow, Wainer and Wang, Psychometrika 64, 1999); the Epoch Capabilities Index links benchmarks alike, with a logistic curve (https://epoch.ai/data/eci-documentation/methodology). ")
	numbers, err := jsonv2.Marshal(b.rules, jsonv2.Deterministic(true))
	if err != nil {
		return "", fmt.Errorf("rules: %w", err)
	}
	return s.String() + rulesMark + string(numbers), nil
}

func (t *table) describe(s *strings.Builder) {
	c := t.cfg.Component
	fmt.Fprintf(s, "%s enters with %s: metric %s", t.cfg.SourceID, c.Label, strings.Join(c.Metrics, ", "))
	if len(c.Categories) > 0 {
		fmt.Fprintf(s, ", categories %s", strings.Join(c.Categories, ", "))
	}
	for _, m := range t.cfg.Metrics {
		if m.Evidence != "" {
			fmt.Fprintf(s, " (%s: %s)", m.Metric, m.Evidence)
		}
	}
	s.WriteString(". ")
}

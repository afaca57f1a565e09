package fit

import (
	"hash/crc32"
	"math"
	"slices"
	"sync"

	"modeldex/dataset"
)

// Holdout is what is hidden from an estimate that is compared with a measurement.
type Holdout string

// The holdouts. Page hides the source page of the measurement. Hardware hides the whole silicon
// and the page. Model hides the model on that silicon, whatever the page.
const (
	ByPage     Holdout = "page"
	ByHardware Holdout = "hardware"
	ByModel    Holdout = "model"
)

// Holdouts lists the holdouts.
var Holdouts = []Holdout{ByPage, ByHardware, ByModel}

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

// trial is one comparison.
type trial struct {
	*row
	err   float64 // logarithm of estimate over measurement
	guess guess
	near  Holdout // which validation is that of the estimate, see holdoutOf
	ok    bool
}

// folds is how many trends are fitted for a holdout, each without a part of the rows, so that
// the trend of an estimate has not seen what is held out.
const folds = 10

// Evaluate compares estimates with all comparable measurements of a dataset, each estimate made
// without what the holdout hides, and works out the factors of the bands from the same
// comparisons. It uses all cores for about a second for 10,000 rows.
func Evaluate(set *dataset.Set) *Validated {
	e := New(set)
	rows := e.readAll(set).rows
	v := &Validated{
		Evaluation: Evaluation{DatasetVersion: set.Info.Version, Digest: set.Digest.String(), Rows: len(rows)},
	}
	pages := map[int32]bool{}
	shares := make([]float64, len(rows))
	for i := range rows {
		pages[rows[i].page], shares[i] = true, rows[i].logShare
	}
	if len(rows) == 0 {
		return v
	}
	v.Pages = len(pages)
	constant := medianOf(shares)
	v.ConstantShare = round4(math.Exp(constant))
	trials := map[Holdout][]trial{}
	for _, h := range Holdouts {
		trials[h] = e.learnt.trials(rows, h)
	}
	factors := factorsOf(trials)
	v.Factors = factors
	v.Depth = e.learnt.evaluateDepth()
	seen, unseen := split(trials, e.learnt.names[pageName])
	fromSeen := factorsOf(seen)
	for _, h := range Holdouts {
		v.Scores = append(v.Scores, scores(h, trials[h], constant, factors)...)
		v.Apart = append(v.Apart, scores(h, unseen[h], constant, fromSeen)...)
	}
	return v
}

// apart is how many parts the source pages are in, one of which is left out where numbers are
// searched for.
const apart = 4

// isApart reports whether a page is of the part that was left out. It follows from the address alone.
func isApart(page string) bool { return crc32.ChecksumIEEE([]byte("held out "+page))%apart == 0 }

// split puts the trials of pages apart aside.
func split(trials map[Holdout][]trial, pages map[string]int32) (seen, unseen map[Holdout][]trial) {
	left := map[int32]bool{}
	for page, number := range pages {
		left[number] = isApart(page)
	}
	seen, unseen = map[Holdout][]trial{}, map[Holdout][]trial{}
	for h, list := range trials {
		for i := range list {
			if left[list[i].page] {
				unseen[h] = append(unseen[h], list[i])
			} else {
				seen[h] = append(seen[h], list[i])
			}
		}
	}
	return seen, unseen
}

// covered is the part of held-out measurements a band is to hold.
const covered = 0.9

// factorsOf gives each class the factors with which its bands hold nine of ten measurements, one
// for each kind of estimate, the holdouts taken together. Where a class has too few trials of a
// kind, those of all classes decide.
func factorsOf(trials map[Holdout][]trial) factors {
	need := map[Holdout]*[classes][]float64{}
	all := map[Holdout][]float64{}
	for _, h := range Holdouts {
		need[h] = new([classes][]float64)
	}
	for _, h := range Holdouts {
		for i := range trials[h] {
			t := &trials[h][i]
			if !t.ok {
				continue
			}
			x := -t.err / t.guess.up
			if t.err > 0 {
				x = t.err / t.guess.down
			}
			need[t.near][t.class], all[t.near] = append(need[t.near][t.class], x), append(all[t.near], x)
		}
	}
	out := factors{}
	for _, h := range Holdouts {
		slices.Sort(all[h])
		for c := range classes {
			from := need[h][c]
			slices.Sort(from)
			if len(from) < 20 {
				from = all[h]
			}
			if len(from) > 0 {
				out.set(h, c, round4(at(from, covered)))
			}
		}
	}
	return out
}

// hides returns what a holdout hides of a row's neighbours.
func (h Holdout) hides(r *row) func(s *sample) bool {
	switch h {
	case ByHardware:
		return func(s *sample) bool { return s.silicon == r.silicon || s.page == r.page }
	case ByModel:
		return func(s *sample) bool { return s.model == r.model && s.silicon == r.silicon }
	}
	return func(s *sample) bool { return s.page == r.page }
}

// fold is the part of the rows a row belongs to; rows that are hidden together share it.
func (h Holdout) fold(r *row) int {
	switch h {
	case ByHardware:
		return int(r.silicon) % folds
	case ByModel:
		return int(r.silicon*31+r.model) % folds
	}
	return int(r.page) % folds
}

func (l *learnt) trials(rows []row, h Holdout) []trial {
	out := make([]trial, len(rows))
	var work sync.WaitGroup
	for fold := range folds {
		work.Go(func() {
			t := fitTrend(rows, func(r *row) bool { return h.fold(r) != fold })
			own := learnt{samples: l.samples}
			for c := range own.samples {
				own.samples[c] = slices.Clone(own.samples[c])
				for i := range own.samples[c] {
					s := &own.samples[c][i]
					s.trend = t.parts(&s.point)
				}
			}
			var m machine
			for i := range rows {
				if r := &rows[i]; h.fold(r) == fold {
					out[i] = own.try(r, &t, m.place(&own, &r.point), h)
				}
			}
		})
	}
	work.Wait()
	return out
}

func (l *learnt) try(r *row, t *trend, from *place, h Holdout) trial {
	g, ok, done := l.guess(&r.point, t, from, h.hides(r))
	defer done()
	near := holdoutOf(&r.point, g.neighbours)
	g.neighbours = g.neighbours[:min(len(g.neighbours), 1)] // the memory is for the next trial
	return trial{row: r, err: g.middle - r.logShare, guess: g, near: near, ok: ok}
}

// scores works out the scores of all rows, by class, and of dense models and mixtures.
func scores(h Holdout, trials []trial, constant float64, factors factors) []Score {
	out := []Score{score(h, "all", trials, constant, factors, func(*trial) bool { return true })}
	for c := range classes {
		out = append(out, score(h, c.String(), trials, constant, factors, func(t *trial) bool { return t.class == c }))
	}
	return append(out,
		score(h, "dense", trials, constant, factors, func(t *trial) bool { return !t.mixture }),
		score(h, "mixture", trials, constant, factors, func(t *trial) bool { return t.mixture }))
}

func score(h Holdout, class string, trials []trial, constant float64, factors factors, belongs func(t *trial) bool) Score {
	s := Score{Holdout: h, Class: class}
	var errs, widths, flat []float64
	inside := 0
	for i := range trials {
		t := &trials[i]
		if !belongs(t) {
			continue
		}
		s.Rows++
		if !t.ok || !t.guess.says(factors.of(t.near, t.class)) {
			continue
		}
		s.Estimated++
		low, high := t.guess.band(factors.of(t.near, t.class))
		errs, flat, widths = append(errs, t.err), append(flat, constant-t.logShare), append(widths, math.Exp(high-low))
		if low <= t.logShare && t.logShare <= high {
			inside++
		}
	}
	if s.Estimated == 0 {
		return s
	}
	s.MedianError, s.Within25, s.Within50 = nearness(errs)
	s.Constant, s.ConstantWithin25, s.ConstantWithin50 = nearness(flat)
	s.Coverage, s.Width = round4(float64(inside)/float64(s.Estimated)), round4(medianOf(widths))
	return s
}

// nearness gives the median of errors, and the parts within 25 % and a factor of 1.5.
func nearness(logs []float64) (median, within25, within50 float64) {
	abs := make([]float64, len(logs))
	for i, l := range logs {
		abs[i] = math.Abs(math.Exp(l) - 1)
		if abs[i] <= 0.25 {
			within25++
		}
		if math.Abs(l) <= math.Log(1.5) {
			within50++
		}
	}
	n := float64(len(logs))
	return round4(medianOf(abs)), round4(within25 / n), round4(within50 / n)
}

func round4(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// medianOf sorts values and gives the middle one, the mean of the middle two of an even number.
func medianOf(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}

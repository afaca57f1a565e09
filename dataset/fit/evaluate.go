package fit

import (
	"hash/crc32"
	"math"
	"slices"
	"sync"

	"modeldex/dataset"
)

// trial is one comparison.
type trial struct {
	*row
	err   float64 // logarithm of estimate over measurement
	guess guess
	near  Holdout // which validation is that of the estimate, see guess.holdout
	ok    bool
	choice
}

// A choice is the same comparison with the backend an answer chooses, in place of that of the measurement. It compares where the
// measurement names its backend and the same part of the machine does the work.
type choice struct {
	compares, same bool    // same: it is the backend of the measurement
	chosenErr      float64 // logarithm of estimate over measurement
	chosenOK       bool
}

// folds is how many trends are fitted for a holdout. Each leaves out a part of the rows, so that the trend of
// an estimate has not seen what is held out.
const folds = 10

// Evaluate compares estimates with all comparable measurements of a dataset, each estimate made
// without what the holdout hides, and works out the factors of the bands from the same
// comparisons. It uses all cores for about a second for 10,000 rows.
func Evaluate(set *dataset.Set) *Validated {
	e := New(set)
	read := e.readAll(set)
	rows := read.rows
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
	trend := fitTrend(rows, nil)
	markHeldBack(&trend, rows, read.whole)
	v.Pages = len(pages)
	constant := medianOf(shares)
	v.ConstantShare = round4(math.Exp(constant))
	trials := map[Holdout][]trial{}
	for _, h := range Holdouts {
		trials[h] = e.trials(rows, h)
	}
	factors := factorsOf(trials)
	v.Factors = factors
	v.Depth = e.learnt.evaluateDepth()
	seen, unseen := split(trials, e.learnt.names[pageName])
	fromSeen := factorsOf(seen)
	for _, h := range Holdouts {
		v.Scores = append(v.Scores, scores(h, trials[h], constant, factors)...)
		v.Apart = append(v.Apart, scores(h, unseen[h], constant, fromSeen)...)
		v.Chosen = append(v.Chosen, choiceScore(h, trials[h]))
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
			if !t.ok || t.heldBack {
				continue // what held a run back is not in the band of one that runs as it should
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

func (e *Engine) trials(rows []row, h Holdout) []trial {
	l, out := &e.learnt, make([]trial, len(rows))
	hardware, tools, backends := l.names.list(hardwareName), l.names.list(toolName), l.names.list(backendName)
	var work sync.WaitGroup
	for fold := range folds {
		work.Go(func() {
			t := fitTrend(rows, func(r *row) bool { return h.fold(r) != fold && notHeldBack(r) })
			own := learnt{names: l.names, silicon: l.silicon, samples: l.samples, lookups: l.lookups}
			for c := range own.samples {
				own.samples[c] = slices.Clone(own.samples[c])
				for i := range own.samples[c] {
					s := &own.samples[c][i]
					s.trend = t.parts(&s.point)
				}
			}
			counts := backendCounts{}
			for i := range rows {
				if r := &rows[i]; h.fold(r) != fold {
					counts.count(e.hardware[dataset.Slug(hardware[r.hardware])].Hardware, dataset.Slug(tools[r.tool]), &r.point, backends[r.backend])
				}
			}
			own.usual = counts.usual()
			near := newNearby(anyMachine)
			defer near.free()
			for i := range rows {
				r := &rows[i]
				if h.fold(r) != fold {
					continue
				}
				near.gather(&own, &r.point)
				out[i] = try(r, &t, near, h)
				if backends[r.backend] == "" {
					continue
				}
				chosen := *r
				name := own.backendOf(e.hardware[dataset.Slug(hardware[r.hardware])].Hardware, dataset.Slug(tools[r.tool]))
				if chosen.backend = l.names.find(backendName, name); unitOf(name) != unitOf(backends[r.backend]) {
					continue
				}
				near.gather(&own, &chosen.point)
				c := try(&chosen, &t, near, h)
				out[i].choice = choice{compares: true, same: chosen.backend == r.backend, chosenErr: c.err, chosenOK: c.ok}
			}
		})
	}
	work.Wait()
	return out
}

func try(r *row, t *trend, from *nearby, h Holdout) trial {
	g, ok := from.guess(&r.point, t.parts(&r.point), math.Inf(-1), h.hides(r))
	near := g.holdout(&r.point)
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

// choiceScore works out how near estimates come where the backend is chosen.
func choiceScore(h Holdout, trials []trial) ChoiceScore {
	s := ChoiceScore{Holdout: h}
	var chosen, given []float64
	for i := range trials {
		t := &trials[i]
		if !t.compares {
			continue
		}
		s.Rows++
		if t.same {
			s.Same++
		}
		if t.ok && t.chosenOK {
			chosen, given = append(chosen, t.chosenErr), append(given, t.err)
		}
	}
	if s.Estimated = len(chosen); s.Estimated > 0 {
		s.MedianError, s.Within25, s.Within50 = nearness(chosen)
		s.Given, s.GivenWithin25, s.GivenWithin50 = nearness(given)
	}
	return s
}

package fit

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"modeldex/dataset"
)

// SimpleShare is the share of the memory bandwidth in the rule of thumb that estimates are compared with:
// tokens per second = 0.65 x bandwidth / bytes of the weights that a token reads.
const SimpleShare = 0.65

// usualTools are programs that people run models with, as opposed to research kernels and libraries.
var usualTools = strings.Fields("llama.cpp ollama lm-studio mlx-lm koboldcpp vllm ik-llama.cpp llama-cpp-python omlx vllm-mlx ds4 sglang")

// folds is how many parts the sources are in. The estimates of a part are made without all its sources.
const folds = 10

// A trial is one comparison.
type trial struct {
	*row
	err      float64 // logarithm of estimate over measurement
	variance float64
	knows    string
	fold     int
	spread   float64 // of the band, with factors of the other folds
}

// Evaluate compares estimates with all measurements of a dataset that compare, each made without the whole source of the
// measurement, and works out the factors of the bands from the same comparisons.
func Evaluate(set *dataset.Set) *Validated {
	r := engine(set).read(set)
	v := &Validated{DatasetVersion: set.Info.Version, Digest: set.Digest.String()}
	fold := foldsOf(r.generation, r.prompt)
	var models [folds]struct{ generation, prompt *regression }
	var work sync.WaitGroup
	for i := range folds {
		work.Go(func() {
			models[i].generation, models[i].prompt = r.regressions(func(row *row) bool { return fold[row.source] != i })
		})
	}
	work.Wait()
	v.Generation = quality(r.generation, fold, (*config).generation, func(i int) *regression { return models[i].generation })
	v.Prompt = quality(r.prompt, fold, (*config).reading, func(i int) *regression { return models[i].prompt })
	return v
}

// foldsOf deals the sources out, those with most rows first, so that parts have about the same number of rows.
func foldsOf(lists ...[]row) map[int32]int {
	n := map[int32]int{}
	for _, rows := range lists {
		for i := range rows {
			n[rows[i].source]++
		}
	}
	sources := make([]int32, 0, len(n))
	for s := range n {
		sources = append(sources, s)
	}
	slices.SortFunc(sources, func(a, b int32) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) })
	out := map[int32]int{}
	for i, s := range sources {
		out[s] = i % folds
	}
	return out
}

func quality(rows []row, fold map[int32]int, of func(c *config) physics, model func(fold int) *regression) Quality {
	q, sources := Quality{}, map[int32]bool{}
	var trials []trial
	for i := range rows {
		row := &rows[i]
		if row.supplementary || row.whole {
			continue // they are no speed of a single stream
		}
		sources[row.source] = true
		m, names := model(fold[row.source]), row.names()
		e := m.sum(&names, everyGroup...)
		value := m.physics(of(&row.config)) + e.value
		trials = append(trials, trial{row: row, err: value - row.value, variance: e.variance, knows: m.knows(names), fold: fold[row.source]})
	}
	q.Rows, q.Sources, q.Factors = len(trials), len(sources), factorsOf(trials, -1)
	for i := range folds {
		others := Quality{Factors: factorsOf(trials, i)}
		for j := range trials {
			if t := &trials[j]; t.fold == i {
				t.spread = others.spread(t.class, t.variance)
			}
		}
	}
	q.Scores = scores(trials)
	return q
}

// covered is the part of held-out measurements a band is to hold.
const covered = 0.9

// factorsOf gives each class, and all, the factor with which its bands hold nine of ten trials, one fold left out. A
// class with few trials has none.
func factorsOf(trials []trial, without int) map[string]float64 {
	needs := map[string][]float64{}
	for i := range trials {
		if t := &trials[i]; t.fold != without {
			need := math.Abs(t.err) / math.Sqrt(1+t.variance)
			needs["all"] = append(needs["all"], need)
			needs[t.class.String()] = append(needs[t.class.String()], need)
		}
	}
	out := map[string]float64{}
	for class, list := range needs {
		if len(list) >= enoughRows {
			slices.Sort(list)
			out[class] = round4(at(list, covered))
		}
	}
	return out
}

// scores are those of all trials and of parts of them.
func scores(trials []trial) (out []Score) {
	of := map[string][]*trial{}
	for i := range trials {
		t := &trials[i]
		class, kind := t.class.String(), kindOf(t.mixture)
		for _, name := range []string{"all", class, kind, class + " " + kind, class + " " + kind + ", " + t.knows} {
			of[name] = append(of[name], t)
		}
		if t.deep {
			of["deep"] = append(of["deep"], t)
		}
		if slices.Contains(usualTools, string(t.row.tool)) {
			of["usual"] = append(of["usual"], t)
		}
	}
	for class, list := range of {
		out = append(out, score(class, list))
	}
	slices.SortFunc(out, func(a, b Score) int { return cmp.Compare(a.Class, b.Class) })
	return out
}

func score(class string, trials []*trial) Score {
	s := Score{Class: class, Rows: len(trials)}
	var errs, widths, simple []float64
	inside, narrow := 0, 0
	for _, t := range trials {
		errs, simple = append(errs, t.err), append(simple, math.Log(SimpleShare)-t.value)
		widths = append(widths, math.Exp(2*t.spread))
		if math.Abs(t.err) <= t.spread {
			inside++
		}
		if 2*t.spread <= math.Log(4) {
			narrow++
		}
	}
	n := float64(len(trials))
	s.MedianError, s.Within25, s.Within50, s.Within100 = nearness(errs)
	s.Simple, _, s.SimpleWithin50, _ = nearness(simple)
	s.Coverage, s.Narrow, s.Width = round4(float64(inside)/n), round4(float64(narrow)/n), round4(medianOf(widths))
	return s
}

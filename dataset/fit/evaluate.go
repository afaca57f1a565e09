package fit

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
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
const folds = 24

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
	e := New(set)
	r := e.read(context.Background(), set)
	v := &Validated{DatasetVersion: set.Info.Version, Digest: set.Digest.String()}
	fold := foldsOf(r.generation, r.prompt)
	var models [folds]struct{ generation, prompt *regression }
	var work sync.WaitGroup
	for i := range folds {
		work.Go(func() {
			models[i].generation, models[i].prompt = r.regressions(context.Background(), func(row *row) bool { return fold[row.source] != i })
		})
	}
	work.Wait()
	v.Generation = quality(r.generation, fold, (*config).generation, func(i int) *regression { return models[i].generation })
	v.Split = splitQuality(e, set, fold, func(i int) *regression { return models[i].generation })
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

// expertsOnHost finds how many layers had their experts in main memory, and mainMemory its size, which no field says.
var (
	expertsOnHost = regexp.MustCompile(`(?:experts (?:on CPU|in CPU memory|in main memory|kept in CPU memory)(?: \((\d+) layers\))?|; offload (\d+)$)`)
	mainMemory    = regexp.MustCompile(`(\d+) GB (?:DDR|RAM)`)
)

// splitQuality compares estimates with runs of programs for one user that had a part of the weights in main memory. Their
// host is seldom named: that which is usual counts. Where the weights lay counts as far as a run says, else as an answer
// would place them.
func splitQuality(e *Engine, set *dataset.Set, fold map[int32]int, model func(fold int) *regression) Quality {
	var trials []trial
	sources := map[int32]bool{}
	for i := range set.Benchmarks.Len() {
		b := set.Benchmarks.At(i)
		h, t := e.hardware[b.Hardware], e.models[b.Model]
		if b.GenerationTPS == nil || b.Withdrawn != nil || b.Quantization == nil || !e.line.Elsewhere(b) || h.UnifiedMemory || toolKindOf(b.Tool) != "gguf" ||
			b.HardwareCount != 1 || b.SpeculativeDecoding != nil && *b.SpeculativeDecoding || b.Concurrency != nil && *b.Concurrency > 1 {
			continue
		}
		source := e.numbers.find("source " + sourceOf(b))
		hidden := *e
		hidden.learnt.generation = model(fold[source])
		q := Query{Model: b.Model, Hardware: b.Hardware, Quantization: *b.Quantization, SystemMemoryGB: 1 << 12, Tool: b.Tool}
		if b.ModelSizeGiB != nil {
			q.WeightsGB = *b.ModelSizeGiB
		}
		if m := expertsOnHost.FindStringSubmatch(val(b.Notes)); m != nil {
			n := int64(t.body.layers)
			if given, err := strconv.ParseInt(m[1]+m[2], 10, 64); err == nil {
				n = given
			}
			q.CPUMoE = &n
		} else if b.NGPULayers != nil && *b.NGPULayers <= int64(t.body.layers) {
			q.GPULayers = b.NGPULayers
		}
		if m := mainMemory.FindStringSubmatch(val(b.Notes)); m != nil {
			q.SystemMemoryGB, _ = strconv.ParseFloat(m[1], 64)
		}
		a, fault := hidden.Fit(q)
		if fault != nil || len(a.Sizes) == 0 || a.Sizes[0].Verdict == Fits || a.Sizes[0].Verdict == No || a.Sizes[0].Speed.Estimate == nil {
			continue
		}
		s, class := a.Sizes[0].Speed.Estimate, classOf(h.Hardware, "gpu")
		sources[source] = true
		trials = append(trials, trial{
			row: &row{config: config{class: class, mixture: t.body.mixture}, source: source, tool: b.Tool, hardware: b.Hardware, value: math.Log(*b.GenerationTPS)},
			err: math.Log(s.Median / *b.GenerationTPS), spread: math.Log(s.P95/s.P05) / 2, fold: fold[source],
		})
	}
	return Quality{Rows: len(trials), Sources: len(sources), Scores: scores(trials)}
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
		names := []string{"all", class, kind, class + " " + kind}
		if t.knows != "" {
			names = append(names, class+" "+kind+", "+t.knows)
		}
		for _, name := range names {
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
	inside, narrow, sources := 0, 0, map[int32]bool{}
	for _, t := range trials {
		sources[t.source] = true
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
	s.Sources = len(sources)
	s.MedianError, s.Within25, s.Within50, s.Within100 = nearness(errs)
	s.Simple, _, s.SimpleWithin50, _ = nearness(simple)
	s.Coverage, s.Narrow, s.Width = round4(float64(inside)/n), round4(float64(narrow)/n), round4(medianOf(widths))
	return s
}

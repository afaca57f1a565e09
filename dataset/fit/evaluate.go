package fit

import (
	"cmp"
	"context"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"modeldex/dataset"
	"modeldex/dataset/record"
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
	fold := foldsOf(r.generation, r.prompt, r.load)
	var models [folds]regressions
	var work sync.WaitGroup
	for i := range folds {
		work.Go(func() {
			models[i] = r.regressions(context.Background(), func(row *row) bool { return fold[row.source] != i })
		})
	}
	work.Wait()
	v.Generation = quality(r.generation, fold, (*config).generation, func(i int) *regression { return models[i].generation })
	v.Split = splitQuality(e, set, fold, func(i int) *regression { return models[i].generation })
	v.Prompt = quality(r.prompt, fold, (*config).reading, func(i int) *regression { return models[i].prompt })
	v.Load = quality(r.load, fold, (*config).loading, func(i int) *regression { return models[i].load })
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

const (
	usualWindow = 4096    // tokens of context of a run that does not say, as Ollama and LM Studio reserve
	systemNeeds = 3 * gib // of main memory, beside weights
)

// splitQuality compares estimates with runs of programs for one user that had a part of the weights in main memory. Their
// host is seldom named: that which is usual counts. Where the weights lay counts as far as a run says, else as an answer
// would place them.
func splitQuality(e *Engine, set *dataset.Set, fold map[int32]int, model func(fold int) *regression) Quality {
	var trials []trial
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
		q := Query{
			Model: b.Model, Hardware: b.Hardware, Quantization: *b.Quantization, SystemMemoryGB: 1 << 12, Tool: b.Tool,
			Context: max(val(b.NPrompt)+val(b.NGen)+val(b.ContextDepth), usualWindow),
		}
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
		if bytesOf(q.SystemMemoryGB)-a.Sizes[0].Placement.Host < systemNeeds {
			continue // weights were paged in from disk, which is no speed
		}
		s, class := a.Sizes[0].Speed.Estimate, classOf(h.Hardware, "gpu")
		trials = append(trials, trial{
			row: &row{config: config{class: class, mixture: t.body.mixture}, source: source, tool: b.Tool, hardware: b.Hardware, value: math.Log(*b.GenerationTPS)},
			err: math.Log(s.Median / *b.GenerationTPS), spread: math.Log(s.P95/s.P05) / 2, fold: fold[source],
		})
	}
	return scored(trials, nil)
}

func quality(rows []row, fold map[int32]int, of func(c *config) vector, model func(fold int) *regression) Quality {
	var trials []trial
	for i := range rows {
		row := &rows[i]
		if row.supplementary || row.whole {
			continue // they are no speed of a single stream
		}
		m := model(fold[row.source])
		e := m.predict(&row.config, of(&row.config))
		trials = append(trials, trial{row: row, err: e.value - row.value, variance: e.variance, knows: m.knows(row.names()), fold: fold[row.source]})
	}
	for i := range folds {
		others := Quality{Factors: factorsOf(trials, i)}
		for j := range trials {
			if t := &trials[j]; t.fold == i {
				t.spread = others.spread(t.class, t.variance)
			}
		}
	}
	return scored(trials, factorsOf(trials, -1))
}

// covered is the part of held-out measurements a band is to hold.
const covered = 0.9

// factorsOf gives each class, and all, the factor with which its bands hold nine of ten trials, one fold left out. A
// class with few trials has none.
func factorsOf(trials []trial, without int) map[string]float64 {
	needs := map[string][]float64{}
	for i := range trials {
		if t := &trials[i]; t.fold != without {
			for _, class := range []string{"all", t.class.String()} {
				needs[class] = append(needs[class], math.Abs(t.err)/math.Sqrt(1+t.variance))
			}
		}
	}
	out := map[string]float64{}
	for class, list := range needs {
		if slices.Sort(list); len(list) >= enoughRows {
			out[class] = round4(record.Quantile(list, covered))
		}
	}
	return out
}

// scored are the scores of all trials and of parts of them.
func scored(trials []trial, factors map[string]float64) Quality {
	of := map[string][]*trial{}
	for i := range trials {
		t := &trials[i]
		kind := kindOf(&t.config)
		names := []string{"all", t.class.String(), kind, strings.Fields(kind)[1]}
		if t.knows != "" {
			names = append(names, kind+", "+t.knows)
		}
		if t.deep {
			names = append(names, "deep")
		}
		if slices.Contains(usualTools, string(t.row.tool)) {
			names = append(names, "usual")
		}
		for _, name := range names {
			of[name] = append(of[name], t)
		}
	}
	q := Quality{Rows: len(trials), Factors: factors}
	for _, class := range slices.Sorted(maps.Keys(of)) {
		q.Scores = append(q.Scores, score(class, of[class]))
	}
	if all := q.Of("all"); all != nil {
		q.Sources = all.Sources
	}
	return q
}

func score(class string, trials []*trial) Score {
	s := Score{Class: class, Rows: len(trials)}
	var errs, widths, simple []float64
	sources := map[int32]bool{}
	share := func(of *float64, is bool) { *of += float64(oneIf(is)) / float64(len(trials)) }
	for _, t := range trials {
		sources[t.source] = true
		err, plain := math.Abs(t.err), math.Abs(math.Log(SimpleShare)-t.value)
		errs, simple = append(errs, math.Abs(math.Exp(t.err)-1)), append(simple, math.Abs(SimpleShare/math.Exp(t.value)-1))
		widths = append(widths, math.Exp(2*t.spread))
		share(&s.Within25, errs[len(errs)-1] <= 0.25)
		share(&s.Within50, err <= math.Log(1.5))
		share(&s.Within100, err <= math.Log(2))
		share(&s.Coverage, err <= t.spread)
		share(&s.Narrow, 2*t.spread <= math.Log(4))
		share(&s.SimpleWithin50, plain <= math.Log(1.5))
	}
	s.Sources, s.MedianError, s.Width, s.Simple = len(sources), record.Median(errs), record.Median(widths), record.Median(simple)
	for _, of := range []*float64{&s.MedianError, &s.Within25, &s.Within50, &s.Within100, &s.Coverage, &s.Narrow, &s.Width, &s.Simple, &s.SimpleWithin50} {
		*of = round4(*of)
	}
	return s
}

func round3(v float64) float64 { return math.Round(v*1e3) / 1e3 }

func round4(v float64) float64 { return math.Round(v*1e4) / 1e4 }

package fit

import (
	"cmp"
	"context"
	_ "embed"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"modeldex/dataset"
	"modeldex/dataset/record"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

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
	Simple float64 `json:"rule_of_thumb_median_error"`
}

// SimpleShare is the share of the memory bandwidth in the rule of thumb that estimates are compared with:
// tokens per second = 0.65 x bandwidth / bytes of the weights that a token reads.
const SimpleShare = 0.65

// validatedJSON is the evaluation of the shipped data and the bands that follow from it, written by
// `modeldex fit evaluate --write dataset/fit/validated.json`.
//
//go:embed validated.json
var validatedJSON []byte

var validated = func() (v Validated) {
	if err := jsonv2.Unmarshal(validatedJSON, &v); err != nil {
		panic("validated.json: " + err.Error()) // the file is part of the build
	}
	return v
}()

// ValidatedData is the evaluation that estimates of this build state.
func ValidatedData() *Validated { return &validated }

// EncodeValidated gives the form of validated.json.
func EncodeValidated(v *Validated) ([]byte, error) {
	out, err := jsonv2.Marshal(v, jsonv2.Deterministic(true), jsontext.WithIndent(" "))
	return append(out, '\n'), err
}

// Of is the score of a class; nil where there is none.
func (q *Quality) Of(class string) *Score {
	if i := slices.IndexFunc(q.Scores, func(s Score) bool { return s.Class == class }); i >= 0 {
		return &q.Scores[i]
	}
	return nil
}

const (
	folds = 24 // parts of the sources; the estimates of a part are made without all its sources
	// A score needs so many measurements, of so many sources, to be stated.
	enoughRows    = 20
	enoughSources = 3
	covered       = 0.9 // part of hidden measurements that a band is to hold
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

// knows says what a regression knows of a configuration beyond its class.
func (r *regression) knows(c *config) string {
	names := c.names()
	if _, known := r.effects[names[ofMeasured]]; known {
		return "shape on silicon"
	}
	if _, known := r.effects[names[ofSilicon]]; known {
		return "silicon"
	}
	return "other silicon"
}

func kindOf(c *config) string {
	if c.mixture {
		return "mixture"
	}
	return "dense"
}

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
	fold := foldsOf(r)
	var models [folds]regressions
	var work sync.WaitGroup
	for i := range folds {
		work.Go(func() {
			models[i] = r.regressions(context.Background(), func(row *row) bool { return fold[row.source] != i })
		})
	}
	work.Wait()
	for s, of := range [subjects]*Quality{&v.Generation, &v.Prompt, &v.Load} {
		var trials []trial
		for i := range r.rows[s] {
			row := &r.rows[s][i]
			if row.supplementary || row.whole {
				continue // they are no speed of a single stream
			}
			m := models[fold[row.source]][s]
			e := m.predict(&row.config, subject(s).features(&row.config))
			trials = append(trials, trial{row: row, err: e.value - row.value, variance: e.variance, knows: m.knows(&row.config), fold: fold[row.source]})
		}
		for i := range folds {
			others := Quality{Factors: factorsOf(trials, i)}
			for j := range trials {
				if t := &trials[j]; t.fold == i {
					t.spread = others.spread(t.class, t.variance)
				}
			}
		}
		*of = scored(trials, factorsOf(trials, -1))
	}
	v.Split = scored(splitTrials(e, set, func(source int32) *regression { return models[fold[source]][oneStream] }), nil)
	return v
}

// foldsOf deals the sources out, those with most rows first, so that parts have about the same number of rows.
func foldsOf(r *reader) map[int32]int {
	n, out := map[int32]int{}, map[int32]int{}
	for _, rows := range r.rows {
		for i := range rows {
			n[rows[i].source]++
		}
	}
	for i, s := range slices.SortedFunc(maps.Keys(n), func(a, b int32) int { return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b)) }) {
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

// splitTrials compares estimates with runs of programs for one user that had a part of the weights in main memory. Their
// host is seldom named: that which is usual counts. Where the weights lay counts as far as a run says, else as an answer
// would place them.
func splitTrials(e *Engine, set *dataset.Set, without func(source int32) *regression) (trials []trial) {
	for _, b := range set.Benchmarks {
		h, t := e.hardware[b.Hardware], e.models[b.Model]
		if b.GenerationTPS == nil || b.Withdrawn != nil || b.Quantization == nil || !e.line.Elsewhere(b) || h.UnifiedMemory || toolKindOf(b.Tool) != "gguf" ||
			b.HardwareCount != 1 || val(b.SpeculativeDecoding) || val(b.Concurrency) > 1 {
			continue
		}
		hidden, source := *e, e.numbers.find("source "+sourceOf(b))
		hidden.learnt.regressions[oneStream] = without(source)
		q := Query{
			Model: b.Model, Hardware: b.Hardware, Quantization: *b.Quantization, SystemMemoryGB: 1 << 12, Tool: b.Tool,
			WeightsGB: val(b.ModelSizeGiB), Context: max(val(b.NPrompt)+val(b.NGen)+val(b.ContextDepth), usualWindow),
		}
		if m := expertsOnHost.FindStringSubmatch(val(b.Notes)); m != nil {
			q.CPUMoE = new(int64(t.body.layers))
			if given, err := strconv.ParseInt(m[1]+m[2], 10, 64); err == nil {
				q.CPUMoE = &given
			}
		} else if b.NGPULayers != nil && *b.NGPULayers <= int64(t.body.layers) {
			q.GPULayers = b.NGPULayers
		}
		if m := mainMemory.FindStringSubmatch(val(b.Notes)); m != nil {
			q.SystemMemoryGB, _ = strconv.ParseFloat(m[1], 64)
		}
		a, fault := hidden.Fit(q)
		if fault != nil || len(a.Sizes) == 0 || a.Sizes[0].Verdict == Fits || a.Sizes[0].Verdict == No || a.Sizes[0].Speed.Estimate == nil ||
			bytesOf(q.SystemMemoryGB)-a.Sizes[0].Placement.Host < systemNeeds { // paged in from disk, which is no speed
			continue
		}
		s := a.Sizes[0].Speed.Estimate
		c := config{class: classOf(h.Hardware, "gpu"), modelPart: t.body.modelPart}
		trials = append(trials, trial{
			row: &row{config: c, source: source, tool: b.Tool, value: math.Log(*b.GenerationTPS)},
			err: math.Log(s.Median / *b.GenerationTPS), spread: math.Log(s.P95/s.P05) / 2,
		})
	}
	return trials
}

// factorsOf gives each class, and all, the factor with which its bands hold nine of ten trials, one fold left out. A
// class with few trials has none.
func factorsOf(trials []trial, without int) map[string]float64 {
	needs, out := map[string][]float64{}, map[string]float64{}
	for i := range trials {
		if t := &trials[i]; t.fold != without {
			need := math.Abs(t.err) / math.Sqrt(1+t.variance)
			needs["all"], needs[t.class.String()] = append(needs["all"], need), append(needs[t.class.String()], need)
		}
	}
	for class, list := range needs {
		if slices.Sort(list); len(list) >= enoughRows {
			out[class] = round4(record.Quantile(list, covered))
		}
	}
	return out
}

// usualTools are programs that people run models with, as opposed to research kernels and libraries.
var usualTools = strings.Fields("llama.cpp ollama lm-studio mlx-lm koboldcpp vllm ik-llama.cpp llama-cpp-python omlx vllm-mlx ds4 sglang")

// scored are the scores of all trials and of parts of them.
func scored(trials []trial, factors map[string]float64) Quality {
	of := map[string][]*trial{}
	for i := range trials {
		t := &trials[i]
		class, kind := t.class.String(), kindOf(&t.config)
		names := []string{"all", class, class + " " + kind, kind}
		if t.knows != "" {
			names = append(names, class+" "+kind+", "+t.knows)
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
		err := math.Abs(t.err)
		errs, simple = append(errs, math.Abs(math.Exp(t.err)-1)), append(simple, math.Abs(SimpleShare/math.Exp(t.value)-1))
		widths = append(widths, math.Exp(2*t.spread))
		share(&s.Within25, errs[len(errs)-1] <= 0.25)
		share(&s.Within50, err <= math.Log(1.5))
		share(&s.Within100, err <= math.Log(2))
		share(&s.Coverage, err <= t.spread)
		share(&s.Narrow, 2*t.spread <= math.Log(4))
	}
	s.Sources, s.MedianError, s.Width, s.Simple = len(sources), record.Median(errs), record.Median(widths), record.Median(simple)
	for _, of := range []*float64{&s.MedianError, &s.Within25, &s.Within50, &s.Within100, &s.Coverage, &s.Narrow, &s.Width, &s.Simple} {
		*of = round4(*of)
	}
	return s
}

func round3(v float64) float64 { return math.Round(v*1e3) / 1e3 }

func round4(v float64) float64 { return math.Round(v*1e4) / 1e4 }

package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"modeldex/snapshot/linking"
)

// link fits the common scale over the readings of all splits. Base models are left out: only one source has any.
func link(cfg *Config, tables []*table, groups []*group) *rules {
	l := &linker{cfg: cfg, at: map[Cell]int{}}
	for _, t := range tables {
		for _, g := range groups {
			if !g.base() {
				l.gather(t, g)
			}
		}
	}
	return l.rules()
}

type linker struct {
	cfg    *Config
	models [][]cell // in the order of gathering: one entry for each model, source and split
	keys   []string // the key of the model of each entry
	at     map[Cell]int
}

func (l *linker) gather(t *table, g *group) {
	bySplit := map[int][]named{}
	for _, r := range g.readings[t.cfg.SourceID] {
		bySplit[r.split] = append(bySplit[r.split], r)
	}
	for i := range t.cfg.Splits {
		if rs := bySplit[i]; len(rs) > 0 {
			chosen, _ := preferred(rs)
			l.models = append(l.models, cells(t.cfg.SourceID, slices.DeleteFunc(t.scores(chosen.reading), func(s Score) bool {
				return !t.cfg.enters(t.cfg.metric(s.Metric), s.Category)
			})))
			l.keys = append(l.keys, g.key)
		}
	}
}

func (l *linker) rules() *rules {
	var all []Cell
	for _, cs := range l.models {
		for _, c := range cs {
			all = append(all, c.Cell)
		}
	}
	slices.SortFunc(all, Cell.compare)
	all = slices.Compact(all)
	var sources []int
	for _, c := range all {
		l.at[c] = len(sources)
		sources = append(sources, slices.Index(sourceIDs, c.Source))
	}
	scale := linking.Fit(sources, l.numbers(), l.cfg.LeastModels)
	r := &rules{
		Mean: scaleMean, Deviation: scaleDeviation, Z: intervalZ,
		Specific: map[SourceID]float64{}, Drift: map[SourceID]map[string]float64{}, Confidence: l.cfg.Confidence, Lines: []Line{},
	}
	for i, line := range scale.Lines {
		if line.Count == 0 {
			continue
		}
		id := all[i].Source
		r.Specific[id] = round4(scaleDeviation * scale.Specific[slices.Index(sourceIDs, id)])
		r.Lines = append(r.Lines, Line{
			Cell:  all[i],
			Level: round8(scaleMean + float64(scaleDeviation*line.Level)),
			Slope: round8(l.sign(all[i]) * scaleDeviation * line.Slope),
			Noise: round4(scaleDeviation * line.Noise),
		})
	}
	l.findDrift(r)
	return r
}

// findDrift finds how far models moved from each earlier release to the newest: the root of the sum of the mean squares
// of the steps, over the models that both releases have.
func (l *linker) findDrift(r *rules) {
	for i := range l.cfg.Sources {
		s := &l.cfg.Sources[i]
		bySplit := map[string]map[string]float64{} // split -> model -> what it says
		for j, cs := range l.models {
			if len(cs) == 0 || cs[0].Source != s.SourceID {
				continue
			}
			if e, ok := r.mean(s.SourceID, cs); ok {
				if bySplit[cs[0].Split] == nil {
					bySplit[cs[0].Split] = map[string]float64{}
				}
				bySplit[cs[0].Split][l.keys[j]] = e.x
			}
		}
		var sum float64
		drift := map[string]float64{}
		for j := 1; j < len(s.Splits); j++ {
			var squares, n float64
			newer, older := bySplit[s.Splits[j-1].Split], bySplit[s.Splits[j].Split]
			for _, key := range slices.Sorted(maps.Keys(older)) {
				if x, ok := newer[key]; ok {
					d := older[key] - x
					squares += float64(d * d)
					n++
				}
			}
			sum += squares / max(n, 1)
			if sum > 0 {
				drift[s.Splits[j].Split] = round4(math.Sqrt(sum))
			}
		}
		if len(drift) > 0 {
			r.Drift[s.SourceID] = drift
		}
	}
}

func (l *linker) numbers() []linking.Number {
	keys := once(slices.Clone(l.keys))
	var out []linking.Number
	for i, cs := range l.models {
		model, _ := slices.BinarySearch(keys, l.keys[i])
		for _, c := range cs {
			out = append(out, linking.Number{Model: model, Item: l.at[c.Cell], Value: l.sign(c.Cell) * c.value, Error: c.err})
		}
	}
	return out
}

func (l *linker) sign(c Cell) float64 {
	for i := range l.cfg.Sources {
		if s := &l.cfg.Sources[i]; s.SourceID == c.Source && s.metric(c.Metric).Direction == lower {
			return -1
		}
	}
	return 1
}

// round8 keeps eight significant digits: enough for a slope times a rating of four digits.
func round8(x float64) float64 {
	y, err := strconv.ParseFloat(fmt.Sprintf("%.8g", x), 64)
	if err != nil {
		panic(err) // what was printed reads back
	}
	return y
}

type heldOut struct {
	Source   SourceID
	Models   int     // with a score in the source and in another one
	Common   float64 // rank correlation of the prediction and what the source says, on the common scale
	Coverage float64 // share of the models whose value is inside its 95 percent interval
}

type evaluation []heldOut

const folds = 10

// Evaluate holds out each source in ten folds of models and fits the scale again, the same in each run.
func Evaluate(ctx context.Context, in Inputs) (evaluation, error) {
	b := &builder{in: in, rep: &Report{}}
	groups, err := b.groups()
	if err != nil {
		return nil, err
	}
	e := &evaluator{link: &linker{cfg: &b.in.Config, at: map[Cell]int{}}}
	for _, g := range groups {
		if g.base() {
			continue
		}
		s := subject{key: g.key}
		for _, t := range b.tables {
			e.link.gather(t, g)
			if rs := g.readings[t.cfg.SourceID]; len(rs) > 0 {
				chosen, _ := preferred(rs)
				s.scores = append(s.scores, t.scores(chosen.reading)...)
			}
		}
		e.subjects = append(e.subjects, s)
	}
	slices.SortFunc(e.subjects, func(a, b subject) int { return strings.Compare(a.key, b.key) })
	e.rules = e.link.rules()
	var out evaluation
	for _, s := range in.Config.Sources {
		h, err := e.holdOut(ctx, s.SourceID)
		if err != nil {
			return out, err
		}
		out = append(out, h)
	}
	return out, nil
}

type subject struct {
	key    string
	scores []Score // of all sources
}

type evaluator struct {
	link     *linker
	rules    *rules
	subjects []subject // without base models, by key
}

func (e *evaluator) holdOut(ctx context.Context, id SourceID) (heldOut, error) {
	h := heldOut{Source: id}
	var predicted, said []float64
	inside := 0
	for f := range folds {
		if err := ctx.Err(); err != nil {
			return h, err
		}
		rules := e.without(id, f)
		for _, s := range e.subjects {
			truth, ok := e.rules.estimate(id, s.scores)
			if fold(s.key) != f || !ok {
				continue
			}
			others := slices.DeleteFunc(rules.estimates(s.scores), func(o estimate) bool { return o.source == id })
			c := rules.compose(others)
			if c.score == nil {
				continue
			}
			predicted, said = append(predicted, *c.score), append(said, truth.x)
			sd := math.Sqrt(c.half*c.half/(intervalZ*intervalZ) + 1/truth.weight)
			if math.Abs(truth.x-*c.score) <= intervalZ*sd {
				inside++
			}
		}
	}
	h.Models, h.Common, h.Coverage = len(said), spearman(predicted, said), float64(inside)/float64(max(len(said), 1))
	return h, nil
}

func (e *evaluator) without(id SourceID, f int) *rules {
	l := &linker{cfg: e.link.cfg, at: map[Cell]int{}}
	for i, cs := range e.link.models {
		if len(cs) > 0 && cs[0].Source == id && fold(e.link.keys[i]) == f {
			continue
		}
		l.models, l.keys = append(l.models, cs), append(l.keys, e.link.keys[i])
	}
	return l.rules()
}

// fold spreads the models evenly, by their keys alone.
func fold(key string) int {
	h := fnv.New32a()
	h.Write([]byte(key))
	return int(h.Sum32() % folds)
}

// spearman is the rank correlation of two lists; equal values share the mean of their ranks.
func spearman(a, b []float64) float64 { return pearson(ranksOf(a), ranksOf(b)) }

func ranksOf(values []float64) []float64 {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(values[i], values[j]), cmp.Compare(i, j)) })
	ranks := make([]float64, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			ranks[order[k]] = float64(i+j-1) / 2
		}
		i = j
	}
	return ranks
}

func pearson(a, b []float64) float64 {
	var ma, mb, ab, aa, bb float64
	for i := range a {
		ma += a[i] / float64(len(a))
		mb += b[i] / float64(len(b))
	}
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	return ab / math.Sqrt(aa*bb)
}

// String is the evaluation as a Markdown table.
func (e evaluation) String() string {
	var b strings.Builder
	b.WriteString("Each source held out for a tenth of its models at a time, predicted from their other sources:\n\n")
	b.WriteString("| held out | models | rank correlation | inside the 95 % interval |\n|---|---|---|---|\n")
	for _, h := range e {
		fmt.Fprintf(&b, "| %s | %d | %.3f | %.1f %% |\n", h.Source, h.Models, h.Common, 100*h.Coverage)
	}
	return b.String()
}

package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
)

// heldOut says how well the other sources predict one that was held out.
type heldOut struct {
	Source   SourceID
	Models   int     // with a score in the source and in another one
	Common   float64 // rank correlation of the prediction and what the source says, on the common scale
	Coverage float64 // share of the models whose value is inside its 95 percent interval
}

type evaluation struct {
	HeldOut []heldOut
}

// folds is the number of parts that the models of a source are held out in.
const folds = 10

// Evaluate holds out each source in ten folds of models and fits the scale again. Each fit takes about a tenth of a
// second. The result is the same in each run.
func Evaluate(ctx context.Context, in Inputs) (evaluation, error) {
	b := &builder{in: in, rep: &Report{}}
	groups, err := b.groups()
	if err != nil {
		return evaluation{}, err
	}
	e := newEvaluator(b, groups)
	var out evaluation
	for _, s := range in.Config.Sources {
		h, err := e.holdOut(ctx, s.SourceID)
		if err != nil {
			return out, err
		}
		out.HeldOut = append(out.HeldOut, h)
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

func newEvaluator(b *builder, groups []*group) *evaluator {
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
	return e
}

// holdOut predicts a source of each model from its others, by a fit that has not seen it.
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

// without fits the scale as if the models of a fold were not in the source.
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
	h.Write([]byte(key)) //nolint:errcheck // a hash never fails
	return int(h.Sum32() % folds)
}

// spearman is the rank correlation of two lists; equal values share the mean of their ranks. It
// is NaN for fewer than two pairs.
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
	for _, h := range e.HeldOut {
		fmt.Fprintf(&b, "| %s | %d | %.3f | %.1f %% |\n", h.Source, h.Models, h.Common, 100*h.Coverage)
	}
	return b.String()
}

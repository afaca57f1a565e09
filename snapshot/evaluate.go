package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
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

// evaluation is what Evaluate finds out.
type evaluation struct {
	HeldOut []heldOut
	Rounds  int // bootstrap samples
	Top     int // open models looked at
	// Stay is the mean share of the best open models that are still among the best when the fit is made of
	// other models. Move is the median number of places that one of them moves.
	Stay, Move float64
	// Without is for open models of two or more sources: the share of the best that stay the best when one
	// source is left out, over all sources.
	Without float64
}

// The design of an evaluation. The samples are the same in each run.
const (
	folds     = 10
	topModels = 50
)

// Samples is the number of samples of the models that `modeldex snapshot evaluate` takes.
const Samples = 200

// Evaluate holds out each source in ten folds of models and fits the scale again, and repeats the
// fit over so many samples of the models. Each fit takes about a tenth of a second. The result is
// the same in each run.
func Evaluate(ctx context.Context, in Inputs, samples int) (evaluation, error) {
	b := &builder{in: in, rep: &Report{}}
	groups, err := b.groups()
	if err != nil {
		return evaluation{}, err
	}
	return newEvaluator(b, groups).run(ctx, samples)
}

// subject is one model under evaluation: the scores a build would publish for it.
type subject struct {
	key    string
	open   bool
	scores map[SourceID][]Score
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
		b.rules = &rules{}
		m := b.model(g)
		s := subject{key: g.key, open: m.Openness != nil && *m.Openness == OpenWeights, scores: map[SourceID][]Score{}}
		for _, t := range b.tables {
			e.link.gather(t, g)
			if rs := g.readings[t.cfg.SourceID]; len(rs) > 0 {
				chosen, _ := best(rs)
				s.scores[t.cfg.SourceID] = t.scores(chosen.reading)
			}
		}
		e.subjects = append(e.subjects, s)
	}
	slices.SortFunc(e.subjects, func(a, b subject) int { return strings.Compare(a.key, b.key) })
	e.rules = e.link.rules()
	return e
}

func (e *evaluator) run(ctx context.Context, samples int) (evaluation, error) {
	out := evaluation{Rounds: samples, Top: topModels}
	for i := range e.link.cfg.Sources {
		h, err := e.holdOut(ctx, e.link.cfg.Sources[i].SourceID)
		if err != nil {
			return out, err
		}
		out.HeldOut = append(out.HeldOut, h)
	}
	if err := e.bootstrap(ctx, &out); err != nil {
		return out, err
	}
	out.Without = e.leaveOneOut()
	return out, nil
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
			truth, ok := e.rules.estimate(id, s.scores[id])
			if fold(s.key) != f || !ok {
				continue
			}
			var others []estimate
			for _, o := range rules.estimates(s.all()) {
				if o.source != id {
					others = append(others, o)
				}
			}
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

// all are the scores of every source.
func (s *subject) all() []Score {
	var out []Score
	for _, id := range sourceIDs {
		out = append(out, s.scores[id]...)
	}
	return out
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
	io.WriteString(h, key) //nolint:errcheck // a hash never fails
	return int(h.Sum32() % folds)
}

// bootstrap fits the scale over samples of the models and ranks the open models by each fit.
func (e *evaluator) bootstrap(ctx context.Context, out *evaluation) error {
	rank := func(r *rules) []string {
		return e.rank(func(s *subject) *float64 { return r.compose(r.estimates(s.all())).score })
	}
	published := rank(e.rules)
	top := published[:min(topModels, len(published))]
	rnd := rand.New(rand.NewPCG(14, 50)) // the same samples in each run
	byKey := map[string][]int{}
	for i, key := range e.link.keys {
		byKey[key] = append(byKey[key], i)
	}
	stay := 0
	var moves []float64
	for range out.Rounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		l := &linker{cfg: e.link.cfg, at: map[Cell]int{}}
		for n := range e.subjects {
			for _, i := range byKey[e.subjects[rnd.IntN(len(e.subjects))].key] {
				l.models, l.keys = append(l.models, e.link.models[i]), append(l.keys, fmt.Sprintf("%06d", n))
			}
		}
		got := rank(l.rules())
		for i, key := range top {
			at := slices.Index(got, key)
			if at >= 0 && at < topModels {
				stay++
			}
			moves = append(moves, math.Abs(float64(at-i)))
		}
	}
	if len(moves) == 0 {
		return nil
	}
	slices.Sort(moves)
	out.Stay, out.Move = float64(stay)/float64(len(moves)), moves[len(moves)/2]
	return nil
}

// rank orders the open models that have a score, best first.
func (e *evaluator) rank(score func(*subject) *float64) []string {
	type place struct {
		key   string
		score float64
	}
	var all []place
	for i := range e.subjects {
		if s := &e.subjects[i]; s.open {
			if x := score(s); x != nil {
				all = append(all, place{s.key, *x})
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.key, b.key))
	})
	keys := make([]string, len(all))
	for i, p := range all {
		keys[i] = p.key
	}
	return keys
}

// leaveOneOut ranks the open models of two or more sources without each source in turn. It returns the share of the
// best that stay the best.
func (e *evaluator) leaveOneOut() float64 {
	without := func(id SourceID) []string {
		return e.rank(func(s *subject) *float64 {
			all := e.rules.estimates(s.all())
			if len(all) < 2 {
				return nil
			}
			return e.rules.compose(slices.DeleteFunc(all, func(x estimate) bool { return x.source == id })).score
		})
	}
	full := without("")
	top := full[:min(topModels, len(full))]
	stay, n := 0, 0
	for _, id := range sourceIDs {
		got := without(id)
		for _, key := range top {
			if i := slices.Index(got, key); i >= 0 {
				n++
				if i < topModels {
					stay++
				}
			}
		}
	}
	return float64(stay) / float64(max(n, 1))
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

// WriteTo prints the evaluation as a Markdown table and sentences.
func (e evaluation) WriteTo(w io.Writer) (int64, error) {
	var b strings.Builder
	b.WriteString("Each source held out for a tenth of its models at a time, predicted from their other sources:\n\n")
	b.WriteString("| held out | models | rank correlation | inside the 95 % interval |\n|---|---|---|---|\n")
	for _, h := range e.HeldOut {
		fmt.Fprintf(&b, "| %s | %d | %.3f | %.1f %% |\n", h.Source, h.Models, h.Common, 100*h.Coverage)
	}
	fmt.Fprintf(&b, "\n%d fits over samples of the models: of the %d best open models %.1f %% stay among them, and half of\n"+
		"them move by at most %.0f (places). One source left out: %.1f %% of the %d best open models with two or more sources stay\n"+
		"among them.\n", e.Rounds, e.Top, 100*e.Stay, e.Move, 100*e.Without, e.Top)
	n, err := io.WriteString(w, b.String())
	return int64(n), err
}

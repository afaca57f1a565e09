// Package best says which model to choose, and why.
//
// A Capability is what a model can do, in points of 100: published evaluations, drawn to what its size, age, kind and
// maker predict. A Rule gives points to a model in a quantization on a machine: its capability, less what it loses to
// the quantization, to slow answers and to doubt. Hardware has points of quantization, memory, speed and price.
package best

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/text"
)

// The limits of what is recommended at all.
const (
	LeastBits = 3 // bits per weight; files of fewer answer clearly worse than a smaller model does
	LeastTPS  = 3 // tokens per second; slower is read about, not used
)

// A Rule gives points to models on machines. It never changes, and is safe for concurrent use.
type Rule struct {
	fit      *fit.Engine
	models   map[dataset.Slug]*known
	hardware map[dataset.Slug]*dataset.Hardware
}

type known struct {
	*dataset.Model
	capability *Capability
	runs       int                // measurements of it
	lost       map[string]float64 // points, by quantization in upper case, where that was measured
}

// NewRule makes the rule of a dataset, which it keeps. runs is how many measurements there are of a model.
func NewRule(set *dataset.Set, can map[dataset.Slug]Capability, runs func(dataset.Slug) int, engine *fit.Engine) *Rule {
	r := &Rule{fit: engine, models: make(map[dataset.Slug]*known, len(set.Models)), hardware: make(map[dataset.Slug]*dataset.Hardware, len(set.Hardware))}
	for i := range set.Models {
		k := &known{Model: &set.Models[i], runs: runs(set.Models[i].Slug), lost: map[string]float64{}}
		if c, ok := can[k.Slug]; ok {
			k.capability = &c
		}
		r.models[k.Slug] = k
	}
	for i := range set.Hardware {
		r.hardware[set.Hardware[i].Slug] = &set.Hardware[i]
	}
	for _, metric := range []record.QualityMetric{record.Perplexity, record.KLDivergence} { // the more telling one last
		for i := range set.Quality {
			q := &set.Quality[i]
			if q.Metric != metric || r.models[q.Model] == nil {
				continue
			}
			nats := q.Value
			if metric == record.Perplexity {
				nats = math.Log(q.Value / *q.ReferenceValue)
			}
			r.models[q.Model].lost[strings.ToUpper(q.Quantization)] = min(max(perNat*nats, 0), lost[len(lost)-1].points)
		}
	}
	return r
}

// perNat is how many points a nat per token costs, so that measured quantizations of Llama 3 8B fit lostBits.
const perNat = 50.0

// RuleOf makes the rule of a dataset that has no index. of returns the evidence of a model.
func RuleOf(set *dataset.Set, engine *fit.Engine, of func(dataset.Slug) []Evidence) *Rule {
	runs := map[dataset.Slug]int{}
	for _, b := range set.Benchmarks {
		runs[b.Model]++
	}
	return NewRule(set, Capabilities(set.Models, of), func(model dataset.Slug) int { return runs[model] }, engine)
}

// A List is what runs: Found has what is recommended, the best first, each row with its points and the reason.
type List struct {
	fit.Runs
	// LeftOut runs, and is not recommended: by the reason, in a few words.
	LeftOut map[string][]fit.Best
}

// All are the rows that are recommended and those that are not.
func (l *List) All() []fit.Best {
	all := slices.Clone(l.Found)
	for _, why := range slices.Sorted(maps.Keys(l.LeftOut)) {
		all = append(all, l.LeftOut[why]...)
	}
	return all
}

// The reasons for which what runs is not recommended.
const (
	otherForm = "not a chat model"
	noneKnown = "no known capability"
	noProgram = "no current tool known"
)

// Models finds the models that run on the machine of a query, each in the quantization with the most points, or as Prefer
// says.
func (r *Rule) Models(q fit.Query) (List, *fit.Fault) {
	least := limits{LeastBits, LeastTPS}
	if q.MinTPS > 0 {
		least.tps = 0
	}
	runs, fault := r.find(q, least, r.fit.Models)
	if fault != nil {
		return List{}, fault
	}
	return order(runs, func(b *fit.Best) string {
		switch k := r.models[b.Model]; {
		case k.Form != nil && *k.Form != "chat":
			return otherForm
		case k.capability == nil:
			return noneKnown
		}
		return r.against(&q, least, b)
	}), nil
}

func (r *Rule) find(q fit.Query, least limits, find func(fit.Query) (fit.Runs, *fit.Fault)) (fit.Runs, *fit.Fault) {
	value := func(b *fit.Best) float64 { return r.value(&q, least, b) }
	asked := q
	if q.Prefer != fit.PreferMeasured {
		asked.Value = value
	}
	runs, fault := find(asked)
	for i := range runs.Found {
		b := &runs.Found[i]
		value(b)
		b.Why = why(&q, r.models[b.Model], b)
	}
	return runs, fault
}

// Fit answers a query with the quantization first that has the most points, or, with PreferMeasured, that was measured.
func (r *Rule) Fit(q fit.Query) (*fit.Answer, *fit.Fault) {
	if asked := q; q.Prefer != fit.PreferMeasured {
		q.Value = func(b *fit.Best) float64 { return r.value(&asked, limits{LeastBits, LeastTPS}, b) }
	}
	return r.fit.Fit(q)
}

// value is the points of a row, which it sets, and less than any where the row is not recommended.
func (r *Rule) value(q *fit.Query, least limits, b *fit.Best) float64 {
	p := r.points(b)
	if b.Points = &p; r.against(q, least, b) != "" {
		return p.Total - unwanted
	}
	return p.Total
}

func order(runs fit.Runs, against func(b *fit.Best) string) List {
	found := runs.Found
	out := List{Runs: runs, LeftOut: map[string][]fit.Best{}}
	out.Found = make([]fit.Best, 0, len(found))
	for i := range found {
		if why := against(&found[i]); why != "" {
			out.LeftOut[why] = append(out.LeftOut[why], found[i])
		} else {
			out.Found = append(out.Found, found[i])
		}
	}
	slices.SortStableFunc(out.Found, func(a, b fit.Best) int { return -cmp.Compare(a.Points.Total, b.Points.Total) })
	return out
}

type limits struct{ bits, tps float64 }

// against is why a quantization on a machine is not recommended, empty if it is. One that a caller asks for is.
func (r *Rule) against(q *fit.Query, least limits, b *fit.Best) string {
	trained := r.models[b.Model].TrainedBits
	few := b.BitsPerWeight != nil && *b.BitsPerWeight < least.bits && (trained == nil || *trained >= least.bits)
	switch {
	case few && q.Quantization == "":
		return fmt.Sprintf("fewer than %.3g bits per weight", least.bits)
	case b.TPS != nil && *b.TPS < least.tps:
		return fmt.Sprintf("slower than %.3g tokens per second", least.tps)
	}
	return ""
}

// unwanted is more points than any rule gives: a quantization that is not recommended is named only where none is.
const unwanted = 1e4

// The points of a recommendation, in those of capability.
const (
	doubt      = 0.5 // part of the deviation of a capability that is taken off
	tight      = 1.5 // for memory that should stay free
	parted     = 3.0 // for a part in main memory: prompts are read slowly, and the speed is less sure
	unknownTPS = 8.0 // where no speed is known
	usesBy     = 0.5 // for each doubling of the measurements: what people measure is what they use
	mostUses   = 4.0
	unproven   = 4.0 // of a model that nobody has evaluated or measured
	provenRuns = 3.0 // doublings of measurements from which on it is proven
	enough     = 8.6 // bits per weight: of Q8_0, beyond which answers become no better
	idleBits   = 0.5 // for each bit, or doubling, beyond enough
	lowTrained = 6.0 // of weights trained in fewer than LeastBits: they do less than their number says
)

// lost is how many points a model of 30 billion parameters loses to so many bits per weight, from perplexities and
// scores of quantized files (llama.cpp, https://github.com/ggml-org/llama.cpp/tree/master/tools/quantize; Unsloth's
// comparisons of dynamic quantizations, https://docs.unsloth.ai).
var lost = []struct{ bits, points float64 }{
	{8, 0}, {6.5, 0.2}, {5.6, 0.6}, {4.8, 1.5}, {4.3, 2.2}, {3.9, 4}, {3.4, 7}, {3, 11}, {2.6, 18}, {2.1, 28}, {1.7, 40}, {0, 50},
}

// lostBits are the points that a model loses to a quantization: small models more, trained in few bits none in as many.
// More bits than help cost a little, for their memory.
func (k *known) lostBits(bits float64) float64 {
	if t := k.TrainedBits; t != nil {
		switch {
		case *t < LeastBits:
			return lowTrained
		case bits >= *t-0.5: // the rest of the weights may have more bits
			return idleBits * max(0, bits-*t-0.6)
		}
	}
	if bits > enough {
		return idleBits * math.Log2(bits/enough)
	}
	params := 30.0
	if k.ParamsB != nil {
		params = *k.ParamsB
	}
	for i := 1; i < len(lost); i++ {
		if low, high := lost[i], lost[i-1]; bits >= low.bits {
			share := (high.bits - min(bits, high.bits)) / (high.bits - low.bits)
			return (high.points + (low.points-high.points)*share) * min(max(math.Pow(30/params, 0.2), 0.55), 1.3)
		}
	}
	return lost[len(lost)-1].points
}

// lostSpeed are the points lost to slow answers: none from 40 tokens per second on, then 3 and below 10 tokens 10 a
// halving.
func lostSpeed(tps float64) float64 {
	switch {
	case tps >= 40:
		return 0
	case tps >= 10:
		return 3 * math.Log2(40/tps)
	}
	return 6 + 10*math.Log2(10/max(tps, 0.1))
}

func (r *Rule) points(b *fit.Best) fit.Points {
	k := r.models[b.Model]
	var p fit.Points
	measured := math.Log2(1 + float64(k.runs))
	if c := k.capability; c != nil {
		p.Capability, p.Uncertain = c.Score, -doubt*c.deviation
		if c.Basis == Predicted {
			p.Unknown = -unproven * (1 - min(1, measured/provenRuns))
		}
	}
	if b.BitsPerWeight != nil {
		p.Quantization = -k.lostBits(*b.BitsPerWeight)
		if measured, ok := k.lost[strings.ToUpper(b.Quantization)]; ok {
			p.Quantization = -measured
		}
	}
	p.Memory = -map[fit.Verdict]float64{fit.Tight: tight, fit.Offload: parted}[b.Verdict]
	if p.Speed = -unknownTPS; b.TPS != nil {
		p.Speed = -lostSpeed(*b.TPS)
	}
	p.Use = min(mostUses, usesBy*measured)
	p.Sum()
	return p
}

func why(q *fit.Query, k *known, b *fit.Best) string {
	context := q.Context
	if context == 0 {
		context = fit.DefaultContext
		if k.Architecture.ContextLength != nil {
			context = min(context, *k.Architecture.ContextLength)
		}
	}
	words := []string{map[fit.Verdict]string{fit.Fits: "fits", fit.Tight: "just fits", fit.Offload: "partly in main memory"}[b.Verdict] + " with " + text.Tokens(context) + " context"}
	if b.Count > 1 {
		words[0] += " on " + text.Whole(b.Count)
	}
	switch {
	case b.TPS == nil:
		words = append(words, "speed unknown")
	case *b.Use == fit.UseMeasured:
		words = append(words, text.Tenths(*b.TPS)+" tok/s measured")
	default:
		words = append(words, "about "+text.Estimate(*b.TPS)+" tok/s")
	}
	return strings.Join(words, ", ")
}

package fit

import (
	"context"
	"math"
	"slices"
)

// A regression explains logarithms by a sum: weighted terms, and the effects of names. A name is of a group, such as
// silicon with its kernels, and its effect is what configurations with that name have in common beyond the terms.
// Effects are pulled to 0, by so much in each group as the spread of its effects says (a mixed model, see Henderson,
// https://doi.org/10.2307/2529430), so that a name with few measurements hardly counts and one that was never
// measured is 0.
type regression struct {
	terms   []float64
	effects [groups]map[name]effect
	unknown [groups]float64 // variance of the effect of a name that was never measured
}

// An effect is a logarithm, and its variance in units of the variance of one measurement.
type effect struct{ value, variance float64 }

// A group is a kind of name.
type group int

// The groups.
const (
	ofSilicon    group = iota // silicon, kernels
	ofArch                    // architecture of the silicon, kernels, class
	ofKernels                 // class, kernels
	ofTool                    // tool
	ofShape                   // shape of the model
	ofMeasured                // shape, silicon, kernels
	ofFormat                  // kind of quantization, kernels
	ofFormatArch              // kind of quantization, architecture, kernels
	ofMixture                 // silicon, whether the model is a mixture, kernels
	ofChip                    // silicon, whatever runs on it: what a tool of its own kernels says of a card without others
	ofSource                  // source, silicon, shape: what is of one machine and its settings, and of no answer
	groups
)

// A name is made of numbers of texts.
type name [3]int32

// An observation is a logarithm with what may explain it.
type observation struct {
	value, weight float64
	terms         []float64
	names         [groups]name
}

const (
	rounds      = 12  // of fitting terms and effects by turns; more change no answer by a hundredth
	ridge       = 0.4 // keeps terms of classes with few rows near 0
	startPull   = 4.0 // measurements that pull as strongly as the prior, before the spread is known
	mostPull    = 200 // bounds of the same
	leastPull   = 1   //
	settled     = 3   // rounds before rows that do not agree lose weight
	agrees      = 0.2 // what is left of a row that counts in full (Huber's weights), in logarithms
	spreadKnown = 2   // rounds before pulls follow from the spread of effects
)

// regress fits a regression.
func regress(ctx context.Context, rows []observation) *regression {
	r := &regression{terms: make([]float64, terms)}
	left, weights := make([]float64, len(rows)), make([]float64, len(rows))
	for i := range rows {
		left[i], weights[i] = rows[i].value, rows[i].weight
	}
	var of [groups][]int32 // of each row, the number of its name
	var known [groups][]name
	var effects, sums [groups][]float64
	var pull [groups]float64
	for g := range groups {
		numbers := map[name]int32{}
		of[g], pull[g] = make([]int32, len(rows)), startPull
		for i := range rows {
			n, is := numbers[rows[i].names[g]]
			if !is {
				n = int32(len(known[g]))
				numbers[rows[i].names[g]], known[g] = n, append(known[g], rows[i].names[g])
			}
			of[g][i] = n
		}
		effects[g], sums[g] = make([]float64, len(known[g])), make([]float64, len(known[g]))
	}
	for round := range rounds {
		if ctx.Err() != nil {
			break
		}
		r.fitTerms(rows, left, weights)
		spread := 0.0
		total := 0.0
		for i, w := range weights {
			spread, total = spread+w*left[i]*left[i], total+w
		}
		spread /= math.Max(total, 1e-9)
		for g := range groups {
			e, sum := effects[g], sums[g]
			values := make([]float64, len(e))
			clear(sum)
			for i, n := range of[g] {
				sum[n] += weights[i]
				values[n] += weights[i] * (left[i] + e[n])
			}
			for n := range values {
				values[n] /= sum[n] + pull[g]
			}
			for i, n := range of[g] {
				left[i] += e[n] - values[n]
			}
			effects[g] = values
			if round >= spreadKnown && len(values) > 0 {
				squares := 0.0
				for n, v := range values {
					squares += v*v + spread/(sum[n]+pull[g])
				}
				pull[g] = min(mostPull, max(leastPull, spread*float64(len(values))/math.Max(squares, 1e-9)))
			}
		}
		if round >= settled {
			for i := range rows {
				weights[i] = rows[i].weight * min(1, agrees/max(math.Abs(left[i]), 1e-9))
			}
		}
	}
	for g := range groups {
		r.effects[g], r.unknown[g] = make(map[name]effect, len(known[g])), 1/pull[g]
		for n, name := range known[g] {
			r.effects[g][name] = effect{effects[g][n], 1 / (sums[g][n] + pull[g])}
		}
	}
	return r
}

// fitTerms fits the terms to what is left and themselves, and takes from what is left what the change explains.
func (r *regression) fitTerms(rows []observation, left, weights []float64) {
	n := len(r.terms)
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n+1)
		a[i][i] = ridge
	}
	used := make([]int, 0, n)
	for i := range rows {
		x, y := rows[i].terms, left[i]
		used = used[:0]
		for j, v := range x {
			if v != 0 {
				used, y = append(used, j), y+v*r.terms[j]
			}
		}
		for _, j := range used {
			wx := weights[i] * x[j]
			for _, k := range used {
				a[j][k] += wx * x[k]
			}
			a[j][n] += wx * y
		}
	}
	was := r.terms
	r.terms = solve(a)
	for i := range rows {
		for j, v := range rows[i].terms {
			if v != 0 {
				left[i] += v * (was[j] - r.terms[j])
			}
		}
	}
}

// solve eliminates by Gauss and Jordan. The ridge makes the matrix positive definite, so that no pivot is 0.
func solve(a [][]float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		for j := range a {
			if f := a[j][i] / a[i][i]; j != i && f != 0 {
				for k := i; k <= len(a); k++ {
					a[j][k] -= f * a[i][k]
				}
			}
		}
	}
	for i := range a {
		out[i] = a[i][len(a)] / a[i][i]
	}
	return out
}

// physics is the part of a logarithm that terms explain.
func (r *regression) physics(p physics) (value float64) {
	own, all := r.terms[ofClass*(1+int(p.class)):], r.terms[ofClass*(1+int(classes)):]
	value = p.base[years] * own[years] * (classYears - 1)
	for i, x := range p.base {
		value += x * (r.terms[i] + own[i])
	}
	for i, x := range p.all {
		value += x * all[i]
	}
	return value
}

// Groups by what they depend on.
var (
	ofMachine  = []group{ofSilicon, ofArch, ofKernels, ofTool, ofChip}
	ofModel    = []group{ofShape, ofMeasured, ofMixture}
	ofSize     = []group{ofFormat, ofFormatArch}
	everyGroup = slices.Concat(ofMachine, ofModel, ofSize)
)

// sum adds up the effects of names.
func (r *regression) sum(names *[groups]name, of ...group) (sum effect) {
	for _, g := range of {
		e, known := r.effects[g][names[g]]
		if !known {
			e.variance = r.unknown[g]
		}
		sum.value, sum.variance = sum.value+e.value, sum.variance+e.variance
	}
	return sum
}

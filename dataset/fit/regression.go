package fit

import (
	"context"
	"math"
	"slices"
)

// A regression explains logarithms by a sum: weighted features, and the effects of names. A name is of a group, such as
// silicon with its kernels, and its effect is what configurations with that name have in common beyond the features.
// Effects are pulled to 0, by so much in each group as the spread of its effects says (a mixed model, see Henderson,
// https://doi.org/10.2307/2529430), so that a name with few measurements hardly counts and one that was never
// measured is 0.
type regression struct {
	weights [classes]vector // of the features
	effects map[name]effect
	unknown [groups]float64 // the variance of the effect of a name that was never measured
}

// An effect is a logarithm, and its variance in units of the variance of one measurement.
type effect struct{ value, variance float64 }

// A group is a kind of name.
type group int

// The groups.
const (
	ofSilicon    group = iota // silicon, kernels
	ofArch                    // architecture of the silicon, kernels, class
	ofKernels                 // kernels, class
	ofTool                    // tool
	ofShape                   // shape of the model
	ofMeasured                // shape, silicon, kernels
	ofFormat                  // kind of quantization, kernels
	ofFormatArch              // kind of quantization, architecture, kernels
	ofSource                  // source, silicon, shape: effects of single machines and settings, which answers do not use
	groups
)

// A name is a group and numbers of texts.
type name [4]int32

// An observation is a logarithm with what may explain it.
type observation struct {
	value, weight float64
	class         Class
	features      vector
	names         [groups]name
}

const (
	rounds      = 8   // of fitting; more change no answer by a hundredth
	steps       = 20  // of a solution, which begins at that of the last round
	ridge       = 0.4 // keeps weights of classes with few rows near 0
	spreadKnown = 2   // rounds before pulls follow from the spread of effects
	settled     = 3   // rounds before rows that do not agree lose weight
	agrees      = 0.2 // what is left of a row that counts in full (Huber's weights), in logarithms
	// Unknowns: the weights of features for all classes, what each class adds, and the effects.
	firstEffect = features + perClass*int(classes)
)

// leastPull is the minimum number of measurements that weigh as much as the prior. A tool needs more, because one
// source has most runs of many tools.
var leastPull = [groups]float64{ofSilicon: 3, 3, 3, ofTool: 10, 3, 3, 3, 3, 3}

// A term is how often an unknown is in an observation.
type term struct {
	at int
	x  float64
}

// regress fits a regression.
func regress(ctx context.Context, rows []observation) *regression {
	numbers, groupOf := map[name]int{}, []group{} // of effects
	terms, weights := make([][]term, len(rows)), make([]float64, len(rows))
	for i := range rows {
		weights[i] = rows[i].weight
		for j, x := range rows[i].features {
			terms[i] = append(terms[i], term{j, x})
			if j < perClass {
				terms[i] = append(terms[i], term{features + perClass*int(rows[i].class) + j, x})
			}
		}
		for g, name := range rows[i].names {
			if name[1] == 0 {
				continue
			}
			n, known := numbers[name]
			if !known {
				n = len(groupOf)
				numbers[name], groupOf = n, append(groupOf, group(g))
			}
			terms[i] = append(terms[i], term{firstEffect + n, 1})
		}
	}
	solution := make([]float64, firstEffect+len(groupOf))
	prior := slices.Repeat([]float64{ridge}, len(solution))
	known := prior // also where ctx ended before the first round
	pull := leastPull
	for round := range rounds {
		if ctx.Err() != nil {
			break
		}
		for i, g := range groupOf {
			prior[firstEffect+i] = pull[g]
		}
		known = solve(rows, terms, weights, solution, prior)
		spread, total := 0.0, 1e-9
		for i := range rows {
			left := rows[i].value - dot(terms[i], solution)
			spread, total = spread+weights[i]*left*left, total+weights[i]
			if round >= settled {
				weights[i] = rows[i].weight * min(1, agrees/max(math.Abs(left), 1e-9))
			}
		}
		squares, n := [groups]float64{}, [groups]float64{}
		for i, g := range groupOf {
			value := solution[firstEffect+i]
			squares[g], n[g] = squares[g]+value*value+spread/total/known[firstEffect+i], n[g]+1
		}
		for g := range pull {
			if round >= spreadKnown {
				pull[g] = max(leastPull[g], spread/total*n[g]/max(squares[g], 1e-9))
			}
		}
	}
	r := &regression{effects: make(map[name]effect, len(numbers))}
	for c := range r.weights {
		copy(r.weights[c][:], solution)
		for i := range perClass {
			r.weights[c][i] += solution[features+perClass*c+i]
		}
	}
	for name, n := range numbers {
		r.effects[name] = effect{solution[firstEffect+n], 1 / known[firstEffect+n]}
	}
	for g := range pull {
		r.unknown[g] = 1 / pull[g]
	}
	return r
}

func dot(terms []term, of []float64) (sum float64) {
	for _, t := range terms {
		sum += t.x * of[t.at]
	}
	return sum
}

// solve improves the solution of weighted least squares, in which pull holds each unknown to 0: conjugate gradients,
// divided by the diagonal (https://doi.org/10.1007/978-0-387-40065-5, chapter 5). The diagonal is what is known of each.
func solve(rows []observation, terms [][]term, weights, solution, pull []float64) (diagonal []float64) {
	n := len(solution)
	diagonal = slices.Clone(pull)
	rest, direction, image := make([]float64, n), make([]float64, n), make([]float64, n)
	for at := range n {
		rest[at] = -pull[at] * solution[at]
	}
	for i, row := range terms {
		left := weights[i] * (rows[i].value - dot(row, solution))
		for _, t := range row {
			rest[t.at] += left * t.x
			diagonal[t.at] += weights[i] * t.x * t.x
		}
	}
	was := math.Inf(1)
	for range steps {
		now, along := 0.0, 0.0
		for at := range n {
			now += rest[at] * rest[at] / diagonal[at]
		}
		for at := range n {
			direction[at] = rest[at]/diagonal[at] + now/was*direction[at]
			image[at] = pull[at] * direction[at]
		}
		for i, row := range terms {
			moved := weights[i] * dot(row, direction)
			for _, t := range row {
				image[t.at] += moved * t.x
			}
		}
		for at := range n {
			along += direction[at] * image[at]
		}
		if along == 0 {
			break
		}
		for at := range n {
			solution[at] += now / along * direction[at]
			rest[at] -= now / along * image[at]
		}
		was = now
	}
	return diagonal
}

// predict is the predicted logarithm for a configuration: its features plus the effects of its names.
func (r *regression) predict(c *config, features vector) (sum effect) {
	for i, x := range features {
		sum.value += x * r.weights[c.class][i]
	}
	for g, name := range c.names() {
		if name[1] == 0 {
			continue
		}
		e, known := r.effects[name]
		if !known {
			e.variance = r.unknown[g]
		}
		sum.value, sum.variance = sum.value+e.value, sum.variance+e.variance
	}
	return sum
}

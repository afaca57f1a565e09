// Package linking puts tests that ask different questions on one scale, through the models that took more than one of
// them:
//
//	value = intercept + loading * (ability + specific) + error
//
// Ability is what all sources share; over the models of the fit it has mean 0 and variance 1. Specific belongs to one
// model in one source. The variance of error is what the item adds plus the square of the standard error that the
// source states. It is the linear model of test equating by Levine (1955) and Angoff (1971), see Kolen and Brennan,
// Test Equating, Scaling, and Linking (3rd edition, 2014), chapter 4, with the testlet of Bradlow, Wainer and Wang,
// Psychometrika 64 (1999), for each source. Fit maximizes the likelihood by expectation and maximization (Rubin and
// Thayer, Psychometrika 47, 1982). Variances carry a weak prior, so that no item decides alone (a Heywood case).
//
// The result is the same on every processor: sums are taken in a fixed order, products that enter sums are converted
// explicitly, which prevents a fused multiply-add, and of package math only Sqrt is used.
package linking

import (
	"cmp"
	"math"
	"slices"
)

// Number is one value that an item gives to a model.
type Number struct {
	Model int     // 0 and up
	Item  int     // index in the sources given to Fit
	Value float64 // on the scale of the item
	Error float64 // standard error of Value as the source states it; 0 when it states none
}

type line struct {
	Level float64
	Slope float64
	Noise float64 // standard deviation on the scale of ability that the item adds to the stated error
	Count int     // models of the fit that have the item; 0: the item has no line
}

type scale struct {
	Lines    []line    // one for each item
	Specific []float64 // standard deviation on the scale of ability of what each source measures beside it
}

// rounds of Fit: after 150 the shipped data changes by less than 0.0005 standard deviations a round.
const rounds = 200

// The priors of variances: as if so many more numbers had been seen, with this variance. They
// matter for items that few models have.
const (
	priorCount    = 4
	priorError    = 0.1 // share of the variance of the values of an item
	priorSpecific = 0.1 // share of the variance of ability
)

// Fit estimates the line of every item. sources holds the source of each item, numbered from 0. An item that fewer than
// least models have gets no line. Values must rise with ability. The arguments are neither kept nor changed.
func Fit(sources []int, numbers []Number, least int) scale {
	f := newFit(sources, numbers, least)
	for range rounds {
		f.expect()
		f.maximize()
	}
	return f.scale()
}

type fit struct {
	sources []int
	bySrc   int      // number of sources
	numbers []Number // sorted by model, then item; Value and Error standardized
	of      [][2]int // model -> its range in numbers
	items   []item
	tau     []float64  // source -> variance of specific
	state   [][]moment // model -> source -> ability + specific
}

type item struct {
	mean, sd float64 // of the values, to standardize
	count    int
	a, b, s2 float64
}

type moment struct {
	has           bool
	mean, vari    float64
	delta, deltaV float64
}

func newFit(sources []int, numbers []Number, least int) *fit {
	f := &fit{sources: sources, items: make([]item, len(sources))}
	for _, s := range sources {
		f.bySrc = max(f.bySrc, s+1)
	}
	for _, n := range numbers {
		f.items[n.Item].count++
	}
	f.numbers = slices.DeleteFunc(slices.Clone(numbers), func(n Number) bool { return f.items[n.Item].count < max(least, 1) })
	slices.SortFunc(f.numbers, func(a, b Number) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Item, b.Item), cmp.Compare(a.Value, b.Value), cmp.Compare(a.Error, b.Error))
	})
	f.standardize()
	for i, n := range f.numbers {
		for len(f.of) <= n.Model {
			f.of = append(f.of, [2]int{i, i})
		}
		f.of[n.Model][1] = i + 1
	}
	f.state = make([][]moment, len(f.of))
	for m := range f.state {
		f.state[m] = make([]moment, f.bySrc)
	}
	f.tau = slices.Repeat([]float64{2 * priorSpecific}, f.bySrc)
	for i := range f.items {
		f.items[i].b, f.items[i].s2 = 0.9, 0.2 // a start in the middle: most of the variance is ability
	}
	return f
}

func (f *fit) standardize() {
	for i := range f.items {
		f.items[i].count = 0
	}
	for _, n := range f.numbers {
		it := &f.items[n.Item]
		it.count++
		it.mean += n.Value
	}
	for i := range f.items {
		f.items[i].mean /= float64(max(f.items[i].count, 1))
	}
	for _, n := range f.numbers {
		d := n.Value - f.items[n.Item].mean
		f.items[n.Item].sd += float64(d * d)
	}
	for i := range f.items {
		it := &f.items[i]
		it.sd = math.Sqrt(it.sd / float64(max(it.count, 1)))
		if !(it.sd > 0) {
			it.sd = 1 // one model, or all values equal
		}
	}
	for i := range f.numbers {
		n := &f.numbers[i]
		it := &f.items[n.Item]
		n.Value, n.Error = (n.Value-it.mean)/it.sd, n.Error/it.sd
	}
}

func (f *fit) expect() {
	weight, sum := make([]float64, f.bySrc), make([]float64, f.bySrc)
	for m, span := range f.of {
		clear(weight)
		clear(sum)
		for _, n := range f.numbers[span[0]:span[1]] {
			it, s := &f.items[n.Item], f.sources[n.Item]
			v := it.s2 + float64(n.Error*n.Error)
			weight[s] += float64(it.b*it.b) / v
			sum[s] += float64(it.b*(n.Value-it.a)) / v
		}
		f.combine(f.state[m], weight, sum)
	}
}

func (f *fit) combine(out []moment, weight, sum []float64) {
	total, pull := 1.0, 0.0 // precision of ability and precision times mean; 1: the variance of ability over all models
	for s := range out {
		if weight[s] > 0 {
			p := 1 / (1/weight[s] + f.tau[s])
			total += p
			pull += float64(p * (sum[s] / weight[s]))
		}
	}
	for s := range out {
		if !(weight[s] > 0) {
			out[s] = moment{}
			continue
		}
		// what the other sources and the prior say is the prior of this source
		v, x := 1/weight[s], sum[s]/weight[s]
		p := 1 / (v + f.tau[s])
		others := total - p
		mean, vari := (pull-float64(p*x))/others, 1/others
		prior := vari + f.tau[s]
		gain := 1 / (prior + v)
		out[s] = moment{
			has:    true,
			mean:   mean + float64(prior*gain*(x-mean)),
			vari:   prior - float64(prior*prior*gain),
			delta:  f.tau[s] * gain * (x - mean),
			deltaV: f.tau[s] - float64(f.tau[s]*f.tau[s]*gain),
		}
	}
}

func (f *fit) maximize() {
	for s := range f.tau {
		sum, n := priorCount*priorSpecific, float64(priorCount)
		for _, state := range f.state {
			if m := state[s]; m.has {
				sum += float64(m.delta*m.delta) + m.deltaV
				n++
			}
		}
		f.tau[s] = sum / n
	}
	f.regress()
	f.boundNoise()
}

// regression gathers the weighted regression of one item on ability + specific.
type regression struct{ w, x, y, xx, xy, rest float64 }

func (f *fit) regress() {
	sums := make([]regression, len(f.items))
	each := func(do func(r *regression, it *item, n Number, m moment, w float64)) {
		for _, n := range f.numbers {
			it := &f.items[n.Item]
			w := it.s2 / (it.s2 + float64(n.Error*n.Error))
			do(&sums[n.Item], it, n, f.state[n.Model][f.sources[n.Item]], w)
		}
	}
	each(func(r *regression, _ *item, n Number, m moment, w float64) {
		r.w += w
		r.x += float64(w * m.mean)
		r.y += float64(w * n.Value)
	})
	for i := range sums {
		if sums[i].w > 0 {
			sums[i].x /= sums[i].w
			sums[i].y /= sums[i].w
		}
	}
	each(func(r *regression, _ *item, n Number, m moment, w float64) {
		d := m.mean - r.x
		r.xx += float64(w * (float64(d*d) + m.vari))
		r.xy += float64(w * d * (n.Value - r.y))
	})
	for i := range sums {
		if r, it := &sums[i], &f.items[i]; r.w > 0 {
			it.b = max(r.xy/r.xx, leastLoading)
			it.a = r.y - float64(it.b*r.x)
		}
	}
	each(func(r *regression, it *item, n Number, m moment, _ float64) {
		e := n.Value - it.a - float64(it.b*m.mean)
		r.rest += float64(e*e) + float64(it.b*it.b*m.vari) - float64(n.Error*n.Error)
	})
	for i := range sums {
		if it := &f.items[i]; it.count > 0 {
			it.s2 = max(sums[i].rest+priorCount*priorError, leastError) / float64(it.count+priorCount)
		}
	}
}

// The likelihood is outside the valid range of a line.
const (
	leastLoading = 0.05 // standard deviations of the values for one of ability
	leastError   = 0.01
)

// boundNoise lets no item be more exact than the median of its source: one that repeats the others would decide alone.
func (f *fit) boundNoise() {
	bySource := make([][]float64, f.bySrc)
	for i, it := range f.items {
		if it.count > 0 {
			bySource[f.sources[i]] = append(bySource[f.sources[i]], it.s2/float64(it.b*it.b))
		}
	}
	for s := range bySource {
		slices.Sort(bySource[s])
	}
	for i := range f.items {
		if it := &f.items[i]; it.count > 0 {
			all := bySource[f.sources[i]]
			it.s2 = max(it.s2, float64(all[len(all)/2]*it.b*it.b))
		}
	}
}

func (f *fit) scale() scale {
	s := scale{Lines: make([]line, len(f.items)), Specific: make([]float64, f.bySrc)}
	for i, tau := range f.tau {
		s.Specific[i] = math.Sqrt(tau)
	}
	for i, it := range f.items {
		if it.count == 0 {
			continue
		}
		slope := 1 / float64(it.sd*it.b)
		s.Lines[i] = line{
			Level: -float64((it.mean + float64(it.sd*it.a)) * slope),
			Slope: slope,
			Noise: math.Sqrt(it.s2) / it.b,
			Count: it.count,
		}
	}
	return s
}

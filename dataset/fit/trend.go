package fit

import "math"

// A trend is the share of the bandwidth as a smooth function of a configuration, fitted by least squares. The less
// time a token should take, the less of the bandwidth it reaches; by how much depends on the class. A trend moves
// a measurement part of the way to the configuration asked for before the measurement counts.
type trend struct {
	smooth  smooth
	effects effects
}

// smooth are the weights of the terms.
type smooth [trendTerms]float64

const (
	trendTerms = 1 + 3*int(classes) + 4
	ridge      = 1  // keeps terms of classes with few rows near 0
	midTime    = -4 // logarithm of 18 ms, a middling token, so that terms are nearly independent

	// trendPart is how much of the way the trend moves a measurement to the configuration asked
	// for, and effectPart how much of it the effects of names do. They were searched for with the
	// distances of estimates.
	trendPart  = 0.55
	effectPart = 0.55
)

var midBits = math.Log(4.5) // as middling

// terms are the values the weights of a trend multiply.
func (p *point) terms() (x [trendTerms]float64) {
	x[0] = 1
	time := p.logTime() - midTime
	c := 1 + 3*int(p.class)
	x[c], x[c+1], x[c+2] = 1, time, time*time
	bits := p.logBits - midBits
	last := x[1+3*int(classes):]
	if p.mixture {
		last[0], last[1] = 1, time
	}
	last[2], last[3] = bits, bits*bits
	return x
}

// parts is how far the trend moves a configuration from the middle of all, in logarithms of the
// share. It is a part of what the trend expects, as a measurement says more of its own place than
// a trend does.
func (t *trend) parts(p *point) float64 {
	effects := t.effects.of(p)
	return t.partsWith(p, &effects)
}

// partsWith is parts where the effects are at hand.
func (t *trend) partsWith(p *point, effects *[effectGroups]float64) float64 {
	return trendPart*t.smooth.at(p) + effectPart*sumOf(effects)
}

// at is the sum of the terms of a configuration; most are 0.
func (s *smooth) at(p *point) (share float64) {
	const last = 1 + 3*int(classes)
	time, bits, c := p.logTime()-midTime, p.logBits-midBits, 1+3*int(p.class)
	share = s[0] + s[c] + s[c+1]*time + s[c+2]*(time*time)
	if p.mixture {
		share += s[last]
		share += s[last+1] * time
	}
	share += s[last+2] * bits
	return share + s[last+3]*(bits*bits)
}

// An effect is what one name does to the share, whatever else a configuration is. Examples are a model whose
// layers take longer than their bytes say (mostly they do in all models of its shape), and hardware whose driver is slow with one backend. Names are of
// groups; a configuration has one name of each. Names with few measurements are pulled to 0, and a name that
// was never measured is 0.
type effect uint8

const (
	networkEffect effect = iota // the shape of the model
	modelEffect                 // the model
	familyEffect                // its family
	placeEffect                 // silicon with kernels and backend
	formatEffect                // how weights are stored, with kernels and backend
	archEffect                  // family with kernels and backend
	effectGroups
)

// pull is how many measurements, counted by the root of the rows of a page, pull a name of a group as
// strongly to 0 as its own pull it away.
var pull = [effectGroups]float64{networkEffect: 2, modelEffect: 4, familyEffect: 16, placeEffect: 2.5, formatEffect: 16, archEffect: 16}

// effects maps names of groups to logarithms.
type effects [effectGroups]map[uint64]float64

// effectNames are the names of a configuration.
func (p *point) effectNames() [effectGroups]uint64 {
	kernels := p.kernels()
	return [effectGroups]uint64{
		networkEffect: uint64(uint32(p.network)), modelEffect: uint64(uint32(p.model)), familyEffect: uint64(uint32(p.family)),
		placeEffect:  uint64(uint32(p.silicon))<<32 | kernels,
		formatEffect: formatName(p.quantKind, kernels),
		archEffect:   uint64(uint32(p.family))<<32 | kernels,
	}
}

// kernels are those of a tool, with the backend.
func (p *point) kernels() uint64 {
	return uint64(uint16(p.toolKind))<<16 | uint64(uint16(p.backend))
}

func formatName(quantKind int32, kernels uint64) uint64 {
	return uint64(uint32(quantKind))<<32 | kernels
}

// of are the effects of the names of a configuration.
func (e *effects) of(p *point) (out [effectGroups]float64) {
	for g, name := range p.effectNames() {
		out[g] = e[g][name]
	}
	return out
}

func sumOf(effects *[effectGroups]float64) (sum float64) {
	for _, x := range effects {
		sum += x
	}
	return sum
}

// rounds is how often each group is fitted to what the others leave.
const rounds = 4

// fitEffects fits the groups by turns to what the smooth part leaves of the rows.
func fitEffects(rows []row, weights []float64, s *smooth) (e effects) {
	left := make([]float64, len(rows))
	names := make([][effectGroups]uint64, len(rows))
	for i := range rows {
		left[i], names[i] = rows[i].logShare-s.at(&rows[i].point), rows[i].effectNames()
	}
	type sum struct{ weight, value float64 }
	for g := range e {
		e[g] = map[uint64]float64{}
	}
	for range rounds {
		for g := range e {
			sums := make(map[uint64]sum, len(e[g]))
			for i := range rows {
				if w := weights[i]; w > 0 {
					name := names[i][g]
					of := sums[name]
					sums[name] = sum{of.weight + w, of.value + w*(left[i]+e[g][name])}
				}
			}
			for name, of := range sums {
				sums[name] = sum{of.weight, of.value / (of.weight + pull[g])}
			}
			for i := range rows {
				name := names[i][g]
				left[i] += e[g][name] - sums[name].value
			}
			for name, of := range sums {
				e[g][name] = of.value
			}
		}
	}
	return e
}

// fitTrend fits the rows for which use is true, all where it is nil. A page counts by the root
// of its rows, so that one long table does not decide.
func fitTrend(rows []row, use func(r *row) bool) trend {
	pages := map[int32]int{}
	for i := range rows {
		pages[rows[i].page]++
	}
	weights := make([]float64, len(rows))
	var a [trendTerms][trendTerms + 1]float64
	for i := range a {
		a[i][i] = ridge
	}
	for i := range rows {
		r := &rows[i]
		if use != nil && !use(r) {
			continue
		}
		w := 1 / math.Sqrt(float64(pages[r.page]))
		weights[i] = w
		x := r.terms()
		for j, xj := range x {
			if xj == 0 {
				continue
			}
			for k, xk := range x {
				a[j][k] += w * xj * xk
			}
			a[j][trendTerms] += w * xj * r.logShare
		}
	}
	t := trend{smooth: solve(&a)}
	t.effects = fitEffects(rows, weights, &t.smooth)
	return t
}

// solve eliminates by Gauss and Jordan. The ridge makes the matrix positive definite, so no
// pivot is 0.
func solve(a *[trendTerms][trendTerms + 1]float64) (out smooth) {
	for i := range a {
		pivot := i
		for j := i + 1; j < trendTerms; j++ {
			if math.Abs(a[j][i]) > math.Abs(a[pivot][i]) {
				pivot = j
			}
		}
		a[i], a[pivot] = a[pivot], a[i]
		for j := range a {
			if j == i {
				continue
			}
			f := a[j][i] / a[i][i]
			for k := i; k <= trendTerms; k++ {
				a[j][k] -= f * a[i][k]
			}
		}
	}
	for i := range out {
		out[i] = a[i][trendTerms] / a[i][i]
	}
	return out
}

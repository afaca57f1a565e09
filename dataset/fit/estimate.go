package fit

import (
	"cmp"
	"math"
	"slices"
)

// Distances between configurations: what one difference costs. A measurement weighs e to the
// power of minus its distance, so one at 2.3 weighs a tenth. The numbers, and the pulls of effects,
// were searched for on three of four source pages of the shipped data so that the errors of Evaluate
// are small there, and rounded; they are not finer than that. The pages of the fourth part (apart)
// took no part in the search.
const (
	otherModel    = 1.4
	otherVariant  = 2.3 // another record of the same silicon
	otherHardware = 3.0
	otherArch     = 1.4  // on top of otherHardware
	otherMemory   = 4.0  // memory of another kind; on top of otherHardware
	perBandwidth  = 1.65 // for each factor of e
	otherTool     = 6.5
	otherKernels  = 8.0 // on top of otherTool
	otherBackend  = 2.3
	otherUnit     = 1.7
	otherQuant    = 0.75
	otherFormat   = 0.6 // on top of otherQuant
	perBits       = 5.2
	otherKind     = 3.2 // dense or mixture of experts
	perBytes      = 3.2
	perTime       = 0.65
	perActive     = 0.15
	// tooFar ends the search: beyond it nothing is near enough for an estimate. A class is no
	// neighbour of another.
	tooFar = 12.0
	// mostApart is the logarithm of the ratio of bandwidths beyond which other hardware says nothing, however near all else is: a
	// processor of a supercomputer would be estimated from a desktop of a twentieth of its bandwidth.
	mostApart = 2.08 // eight times
	// lightest is the smallest weight, relative to the nearest, that still counts.
	lightest = 8e-2
)

// logLightest is how much farther than the nearest, below 0, a sample of the smallest weight is.
var logLightest = math.Log(lightest)

// placeDistance is how little b says about a by what models run on and with, 0 for the same. It is the
// same for all models on one machine. The distance of two configurations is the sum of that, of their wayDistance, of otherModel
// if the model is another one, and of how much the amounts of a token differ.
func placeDistance(a, b *setup) (d float64) {
	if a.tool != b.tool {
		d += otherTool
		if a.toolKind != b.toolKind {
			d += otherKernels
		}
	}
	if a.backend != b.backend {
		d += otherBackend
	}
	if a.unit != b.unit {
		d += otherUnit
	}
	if a.hardware != b.hardware {
		if a.silicon == b.silicon {
			d += otherVariant
		} else {
			apart := math.Abs(a.logBandwidth - b.logBandwidth)
			if apart > mostApart {
				return math.Inf(1)
			}
			d += otherHardware + perBandwidth*apart
			if a.arch != b.arch {
				d += otherArch
			}
			if a.memory != b.memory {
				d += otherMemory
			}
		}
	}
	return d
}

// wayDistance is how little a sample says about a configuration by how their weights are stored.
func (f *form) wayDistance(p *form) (d float64) {
	if p.quant != f.quant {
		d += otherQuant + perBits*math.Abs(p.logBits-f.logBits)
		if p.quantKind != f.quantKind {
			d += otherFormat
		}
	}
	if p.mixture != f.mixture {
		d += otherKind
	}
	return d
}

// distance adds to a distance how little a sample says about a configuration by what one token takes.
func (a *amounts) distance(d float64, p *amounts) float64 {
	return d + a.withoutTime(p) + perTime*math.Abs(p.logTime-a.logTime)
}

// withoutTime is the part of distance that does not depend on the machine.
func (a *amounts) withoutTime(p *amounts) float64 {
	return perBytes*math.Abs(p.logBytes-a.logBytes) + perActive*math.Abs(p.logActive-a.logActive)
}

// A neighbour is a measurement near a configuration: what it says about it, and its weight.
type neighbour struct {
	at     int32   // number of the sample in its class
	value  float64 // logarithm of the share, moved to the configuration asked for
	weight float64
	far    float64
}

// A guess is an estimate in logarithms of the share.
type guess struct {
	middle     float64
	down, up   float64     // half widths of the band, before the factor of the class
	nearest    float64     // distance of the nearest measurement
	neighbours []neighbour // by value
	samples    []sample    // of the class, by number
}

// guess estimates the share of a configuration from the samples of a place that skip does not exclude; ok
// is false where none is near enough. here is what the trend says of the configuration. Where the share is
// below least it may be false as well: that is found out sooner. The neighbours are valid until the next
// guess.
func (n *nearby) guess(p *point, here, least float64, skip func(s *sample) bool) (g guess, ok bool) {
	near, nearest := n.find(p, here, least, skip, n.found[:0])
	n.found, g.nearest, g.samples = near, nearest, n.samples
	kept := near[:0]
	for _, s := range near {
		if s.far > nearest-logLightest {
			continue
		}
		if s.weight = math.Exp(nearest - s.far); s.weight >= lightest {
			kept = append(kept, s)
		}
	}
	near = kept
	if len(near) == 0 || middleBelow(near, least) {
		return g, false
	}
	order := n.lookup.order
	slices.SortFunc(near, func(a, b neighbour) int {
		if c := cmp.Compare(a.value, b.value); c != 0 {
			return c
		}
		return cmp.Compare(order[a.at], order[b.at])
	})
	g.neighbours = near
	g.middle = min(quantile(near, 0.5), 0) // moved by the trend, shares of a few are above what the memory allows
	g.reach()
	return g, true
}

// middleBelow reports whether the weighted median of neighbours in any order is certainly below a value:
// the neighbours below it have half the weight of all, half of that of the last of them counted.
func middleBelow(near []neighbour, least float64) bool {
	total, below, last, highest := 0.0, 0.0, 0.0, math.Inf(-1)
	for i := range near {
		n := &near[i]
		total += n.weight
		if n.value >= least {
			continue
		}
		below += n.weight
		if n.value > highest || n.value == highest && n.weight > last {
			highest, last = n.value, n.weight
		}
	}
	return below-last/2 >= (0.5+1e-9)*total
}

// The half width of a band before the factor of its class: the spread of the neighbours, and a
// floor that grows with the distance of the nearest.
const (
	bandFloor = 0.08
	bandSlope = 0.04
)

// reach works out the half widths of the band, in logarithms.
func (g *guess) reach() {
	floor := bandFloor + bandSlope*g.nearest
	g.down = math.Hypot(g.middle-quantile(g.neighbours, 0.1), floor)
	g.up = math.Hypot(quantile(g.neighbours, 0.9)-g.middle, floor)
}

// band gives the ends of the band. The upper one is at most 0: the memory allows no more.
func (g *guess) band(factor float64) (low, high float64) {
	return g.middle - factor*g.down, min(g.middle+factor*g.up, 0)
}

// widest is the ratio of the ends of a band beyond which an estimate says nothing.
const widest = 8

// says reports whether an estimate is worth giving: something is near, and the band is not too
// wide.
func (g *guess) says(factor float64) bool {
	low, high := g.band(factor)
	return len(g.neighbours) > 0 && high-low <= math.Log(widest)
}

// quantile is the weighted quantile of neighbours in order of value: the value at which the
// weights before it reach q of all, halves of its own weight counted.
func quantile(near []neighbour, q float64) float64 {
	total := 0.0
	for i := range near {
		total += near[i].weight
	}
	at, before, last := q*total, 0.0, near[0].value
	lastAt := 0.0
	for i := range near {
		mid := before + near[i].weight/2
		if mid >= at {
			if i == 0 || mid == lastAt {
				return near[i].value
			}
			return last + (near[i].value-last)*(at-lastAt)/(mid-lastAt)
		}
		before += near[i].weight
		last, lastAt = near[i].value, mid
	}
	return near[len(near)-1].value
}

package fit

import (
	"cmp"
	"math"

	"modeldex/dataset"
)

// An ask is a model on a machine with the settings of a query: what the answers for all its sizes share.
type ask struct {
	e        *Engine
	q        *Query
	t        *target
	m        *machine
	need     need
	runs     []runKey // measured of the model on the hardware and what is related to it
	site     *site
	least    float64               // estimates of less are not needed, in tokens per second
	logLeast float64               // of a little less, to be on the safe side of rounding
	filled   bool                  // whether the speed with a full cache counts
	known    bool                  // whether what follows is set
	point    point                 // the configuration of the size asked for last
	effects  [effectGroups]float64 // of its names; formatEffect where it was needed
}

// A site is a machine with a tool: what the asks for all its models share. Zero except for near, it is set
// when the first speed needs it.
type site struct {
	near *nearby
	is   bool
	at   spot
}

// ask is for a query that is normal. All asks of one site have the same machine, tool and backend. Without
// near in the site it is not asked for speeds.
func (e *Engine) ask(q *Query, t *target, m *machine, s *site) ask {
	a := ask{e: e, q: q, t: t, m: m, need: t.need(q, m), site: s}
	if m.hw != nil && s.near != nil {
		a.runs = e.runs.of(t.model, m.related)
	}
	return a
}

// wants sets what a list needs: speeds of at least so many tokens per second, with a full cache or an empty one.
func (a *ask) wants(least float64, filled bool) {
	a.least, a.filled = least, filled
	if least > roundedBy {
		a.logLeast = math.Log(least - roundedBy)
	}
}

// lists reports whether lists may name a size: it was chosen for all hardware, or measured on this.
func (a *ask) lists(size int) bool {
	return a.t.chosen[size] || len(a.runs) > 0 && len(inQuant(a.runs, a.t.sizes[size].folded)) > 0
}

// atAnySpeed answers a question about an ask as if it had no least speed.
func (a *ask) atAnySpeed(is func() bool) bool {
	least := a.least
	defer func() { a.least = least }()
	a.least = 0
	return is()
}

// configuration is what an estimate of a size is for, valid until the next call; false where a fact is missing.
func (a *ask) configuration(size int) (*point, bool) {
	z := &a.t.sizes[size]
	if math.IsInf(z.logBytes, -1) || a.m.bandwidth == 0 || a.m.classless {
		return nil, false
	}
	p := &a.point
	if !a.known {
		a.know()
	}
	way := &a.e.ways[z.way]
	p.way, p.quant, p.quantKind, p.logBits, p.logBytes = z.way+1, way.quant, way.quantKind, way.logBits, z.logBytes
	return p, true
}

// know sets what is the same for all sizes. The bandwidth is known.
func (a *ask) know() {
	p := &a.point
	*p = a.site.place(a).point
	p.model, p.family, p.network, p.mixture = a.t.model, a.t.family, a.t.net, a.t.mixture()
	a.effects, a.known = a.e.learnt.trend.effects.of(p), true
}

// place is the part of all configurations of a site that is of the site.
func (s *site) place(a *ask) *spot {
	if s.is {
		return &s.at
	}
	h, tool := a.m.works, a.q.tool()
	if h == nil {
		h = &dataset.Hardware{Type: "gpu", Vendor: dataset.Nvidia, UnifiedMemory: !a.m.discrete}
	}
	s.is = true
	if a.m.usual != nil && tool == LlamaCpp.tool() && a.q.Backend == "" {
		s.at = *a.m.usual
	} else {
		s.at = a.e.spotOf(h, tool, cmp.Or(a.q.Backend, a.e.learnt.backendOf(h, tool)), a.m.bandwidth)
	}
	return &s.at
}

// here is what the trend says of the configuration.
func (a *ask) here() float64 {
	a.effects[formatEffect] = a.site.near.format(&a.e.learnt, &a.point)
	return a.e.learnt.trend.partsWith(&a.point, &a.effects)
}

package fit

import (
	"cmp"
	"math"

	"modeldex/dataset"
)

// An ask is a model on a machine with the settings of a query: what the answers for all its sizes share.
type ask struct {
	e      *Engine
	q      *Query
	t      *target
	m      *machine
	need   need
	runs   []runKey // measured of its shape on the hardware and what is related to it
	site   *site
	laid   *Placement                  // where weights lie that are not all on devices
	others map[*dataset.Hardware]*site // of devices unlike the first
	fixed  *effect                     // what all sizes have in common, once the first speed needed it
	near   []near                      // measurements near the model and the machine, once the first estimate needed them
	least  float64                     // speeds of less are not wanted, in tokens per second
	filled bool                        // whether the speed with a full cache counts
}

// A site is a machine with a program: what the asks for all its models share. It is worked out when the first speed
// needs it.
type site struct {
	speeds  bool // whether asks are for speeds
	known   bool
	config  config
	effect  effect // of the machine
	backend string
}

// ask is for a query that is normal. All asks of one site have the same machine, tool and backend.
func (e *Engine) ask(q *Query, t *target, m *machine, s *site) ask {
	a := ask{e: e, q: q, t: t, m: m, need: e.need(t, q), site: s}
	if m.hw != nil && s.speeds {
		a.runs = e.runs.of(t.body.number, m.related)
	}
	return a
}

// wants sets what a list needs: speeds of at least so many tokens per second, with a full cache or an empty one.
func (a *ask) wants(least float64, filled bool) { a.least, a.filled = least, filled }

// lists reports whether lists may name a size: it was chosen for all hardware, or measured on this.
func (a *ask) lists(size int) bool {
	return a.t.chosen[size] || a.t.exists[size] && len(a.runs) > 0 && len(inQuant(a.runs, a.t.sizes[size].folded)) > 0
}

// place is what runs where, on the first device.
func (a *ask) place() *site {
	if s := a.site; !s.known {
		h := a.m.works
		if h == nil {
			h = &dataset.Hardware{Type: "gpu", Vendor: dataset.Nvidia, UnifiedMemory: !a.m.discrete}
		}
		*s = *a.siteWith(h, a.m.bandwidth)
	}
	return a.site
}

// siteWith is a device of a bandwidth with the program of the query.
func (a *ask) siteWith(h *dataset.Hardware, bandwidth float64) *site {
	s, tool := &site{speeds: true, known: true, backend: a.q.Backend}, a.q.tool()
	switch {
	case s.backend != "":
	case a.q.ComputeUnit == "cpu" || a.q.ComputeUnit == "npu":
		s.backend = string(a.q.ComputeUnit)
	default:
		s.backend = a.e.backendOf(h, tool)
	}
	s.config = a.e.deviceConfig(h, tool, s.backend, cmp.Or(a.q.ComputeUnit, unitOf(s.backend)), bandwidth, a.e.numbers.find)
	names := s.config.names()
	s.effect = a.e.learnt.generation.sum(&names, ofMachine...)
	return s
}

// unit is the part of the machine that the answer is for.
func (a *ask) unit() ComputeUnit {
	return cmp.Or(a.q.ComputeUnit, unitOf(a.place().backend))
}

// config is the configuration of a size on the first device with so many tokens in the cache; false where a fact is
// missing.
func (a *ask) config(size int, tokens int64) (config, bool) { return a.configOn(0, size, tokens) }

func (a *ask) configOn(device, size int, tokens int64) (config, bool) {
	z := &a.t.sizes[size]
	if a.m.bandwidth == 0 || z.bytes == 0 || len(a.e.learnt.rows) == 0 {
		return config{}, false
	}
	c := a.siteOf(device).config
	a.t.body.into(&c)
	c.format, c.logBits, c.logBytes = z.format, z.logBits, math.Log(z.bytes)
	if c.plainAttention = a.q.NoFlashAttention; tokens > 0 {
		c.cache, c.depth = a.t.body.of.cacheBytes(tokens), float64(tokens)
	}
	return c, !math.IsInf(c.logBandwidth, -1)
}

// A guess is a speed in logarithms, and how far the ends of its 90 % band are from it.
type guess struct{ log, spread float64 }

// guessOn is the speed that the regression expects of a size on one device; false where a fact is missing.
func (a *ask) guessOn(device, size int, tokens int64) (g guess, ok bool) {
	c, ok := a.configOn(device, size, tokens)
	if !ok {
		return g, false
	}
	r, names, e := a.e.learnt.generation, c.names(), effect{}
	if device == 0 {
		if a.fixed == nil {
			of := r.sum(&names, ofModel...)
			a.fixed = &effect{of.value + a.site.effect.value, of.variance + a.site.effect.variance}
		}
		e = r.sum(&names, ofSize...)
		e.value, e.variance = e.value+a.fixed.value, e.variance+a.fixed.variance
	} else {
		e = r.sum(&names, everyGroup...)
	}
	g = guess{min(r.physics(c.generation())+e.value, 0) - c.logTime(), validated.Generation.spread(c.class, e.variance)}
	return g, round3(math.Exp(g.log-g.spread)) > 0 // what is rounded to 0 is none
}

// band is the speed and its band, or the time of so much work.
func (g *guess) band(work float64) Band {
	if work == 0 {
		return Band{round3(math.Exp(g.log - g.spread)), round3(math.Exp(g.log)), round3(math.Exp(g.log + g.spread))}
	}
	return Band{round3(work / math.Exp(g.log+g.spread)), round3(work / math.Exp(g.log)), round3(work / math.Exp(g.log-g.spread))}
}

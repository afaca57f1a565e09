package fit

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// An evaluation is a model on a machine with the settings of a query, shared by the answers for all quantizations.
type evaluation struct {
	e       *Engine
	q       *Query
	t       *target
	m       *machine
	burdens [2]burden  // the least and the most
	runs    []timed    // measured of its shape on the hardware and what is related to it
	laid    *Placement // where weights lie that are not all on devices
	on      []OnDevice // what lay found last
	near    []near     // measurements near the model and the machine, once the first estimate needed them
}

// evaluate is for a query that is normal.
func (e *Engine) evaluate(q *Query, t *target, m *machine) evaluation {
	a := evaluation{e: e, q: q, t: t, m: m, runs: e.timedOf(t.body.shape, m.related)}
	a.weigh()
	return a
}

// lists reports whether lists may name a size: it was chosen for all hardware, or measured on this.
func (a *evaluation) lists(size int) bool {
	s := &a.t.sizes[size]
	return s.chosen || s.exists && slices.ContainsFunc(a.runs, func(r timed) bool { return r.quant == s.folded })
}

// A program is a device with the tool and the backend of a query.
type program struct {
	config  config
	backend string
}

// program is that of a device, worked out when the first speed needs it.
func (a *evaluation) program(device int) *program {
	d, q := &a.m.devices[device], a.q
	if d.program != nil {
		return d.program
	}
	tool, backend := q.tool(), q.Backend
	switch {
	case backend != "":
	case q.ComputeUnit == "cpu" || q.ComputeUnit == "npu":
		backend = string(q.ComputeUnit)
	default:
		backend = backendOf(d.works.Hardware, tool)
	}
	unit := cmp.Or(q.ComputeUnit, unitOf(backend))
	d.program = &program{a.e.deviceConfig(d.works, tool, backend, unit, d.bandwidth, a.e.numbers.find), backend}
	return d.program
}

// unit is the part of the machine that the answer is for.
func (a *evaluation) unit() ComputeUnit {
	return cmp.Or(a.q.ComputeUnit, unitOf(a.program(0).backend))
}

// config is the configuration of a size on a device with so many tokens in the cache; false if a fact is missing.
func (a *evaluation) config(device, size int, tokens int64) (config, bool) {
	z, c := &a.t.sizes[size], a.program(device).config
	c.modelPart, c.format, c.logBits, c.logBytes, c.plainAttention = a.t.body.modelPart, z.format, z.logBits, math.Log(z.bytes), !a.q.flashAttention()
	if tokens > 0 {
		c.cache, c.depth = a.t.body.of.cacheBytes(tokens), float64(tokens)
	}
	return c, z.bytes > 0 && !math.IsInf(c.logBandwidth, -1) && len(a.e.learnt.rows) > 0
}

// A guess is a speed in logarithms, and how far the ends of its 90 % band are from it.
type guess struct{ log, spread float64 }

// guessOn is the speed that the regression expects of a size on one device; false if a fact is missing.
func (a *evaluation) guessOn(device, size int, tokens int64) (g guess, ok bool) {
	c, ok := a.config(device, size, tokens)
	if !ok {
		return g, false
	}
	e := a.e.learnt.regressions[oneStream].predict(&c, c.generation())
	g = guess{min(e.value, 0) - c.logTime(), validated.Generation.spread(c.class, e.variance)}
	if of := a.m.devices[device].between; of != nil {
		g.spread = math.Hypot(g.spread, math.Log(of[1]/of[0])/2)
	}
	return g, round3(math.Exp(g.log-g.spread)) > 0 // what is rounded to 0 is none
}

// band is the speed and its band.
func (g *guess) band() Band {
	return Band{round3(math.Exp(g.log - g.spread)), round3(math.Exp(g.log)), round3(math.Exp(g.log + g.spread))}
}

const (
	// tensorGain: n devices that share each layer are n^tensorGain as fast as one. Of the shipped runs with one and with
	// several cards, two are 1.2 to 1.7 times as fast, four 1.3 to 2.4 times, eight 1.3 to 3.6 times.
	tensorGain = 0.55
	// hostShare is the share of the main memory bandwidth that a processor reaches with weights there. hostLaunch is the
	// extra time per layer in seconds, for the transfer to the card and back.
	hostShare  = 0.56
	hostLaunch = 20e-6
	// mostOnDesktop is what boards with two channels hold: more lies in the memory of a server.
	mostOnDesktop = 192 * gib
	// hostSpread and tensorSpread are how far the ends of a 90 % band are from such a time, in logarithms.
	hostSpread   = 0.6
	tensorSpread = 0.3
)

// guess is the speed that is expected of a size on the whole machine; false if a fact is missing. The time of a token
// is the sum of the times of the layers on each device and in main memory.
func (a *evaluation) guess(size int, tokens int64) (g guess, ok bool) {
	g, ok = a.guessOn(0, size, tokens)
	devices := len(a.m.devices)
	if !ok || devices == 1 && a.laid == nil {
		return g, ok
	}
	seconds, uncertain, slowest := 0.0, 0.0, math.Inf(1)
	add := func(time, spread float64) { seconds, uncertain = seconds+time, uncertain+time*spread }
	for i := range devices {
		on, ok := a.guessOn(i, size, tokens)
		if !ok {
			return g, false
		}
		slowest = min(slowest, on.log)
		add(a.part(i)/math.Exp(on.log), on.spread)
	}
	if a.q.Split == SplitTensor {
		seconds, uncertain = 0, 0
		add(1/math.Exp(slowest)/math.Pow(float64(devices), tensorGain), g.spread+tensorSpread)
	}
	if p := a.laid; p != nil && *p.HostRead > 0 {
		bandwidth, _ := a.hostBandwidth()
		layers := max(0, a.t.body.layers-float64(*p.GPULayers))
		if layers == 0 {
			layers = float64(*p.CPUMoE)
		}
		add(float64(*p.HostRead)/(hostShare*bandwidth)+hostLaunch*layers, hostSpread)
	}
	return guess{-math.Log(seconds), uncertain / seconds}, true
}

// part is the share of a token's work that a device does, by the weights it reads, or by memory if all weights are on
// devices.
func (a *evaluation) part(device int) float64 {
	switch {
	case a.m.available == 0:
		return 1 / float64(len(a.m.devices))
	case a.laid == nil:
		return float64(a.m.devices[device].usable) / float64(a.m.available)
	}
	all := *a.laid.HostRead
	for i := range a.laid.Devices {
		all += *a.laid.Devices[i].Read
	}
	return float64(*a.laid.Devices[device].Read) / float64(max(all, 1))
}

// lays sets the placement of the weights. It returns false if they have no speed or the weights read per token are
// unknown.
func (a *evaluation) lays(v Verdict, p *Placement) bool {
	a.laid = nil
	if v != Offload && (v == No || !a.q.given()) {
		return v != No
	}
	if p == nil || p.HostRead == nil || p.GPULayers == nil {
		return false
	}
	a.laid = p
	return true
}

// hostBandwidth is that of the main memory beside discrete devices, in bytes per second: asked for, of the host, or what
// is usual beside the card, and then its name.
func (a *evaluation) hostBandwidth() (bandwidth float64, usual string) {
	if gbps := a.q.SystemBandwidthGBps; gbps > 0 {
		return gbps * 1e9, ""
	}
	if a.m.host != nil {
		if h := a.e.hardware[a.m.host.Slug]; h.bandwidth > 0 {
			return h.bandwidth, ""
		}
	}
	switch h := a.m.hw; {
	case h != nil && strings.HasPrefix(val(h.MemoryType), "HBM"):
		return 307.2e9, "eight channels of DDR5-4800"
	case a.laid != nil && a.laid.Host > mostOnDesktop:
		return 204.8e9, "eight channels of DDR4-3200"
	case h != nil && h.ReleaseDate != nil && h.ReleaseDate.Number() < 20221001:
		return 51.2e9, "two channels of DDR4-3200"
	}
	return 89.6e9, "two channels of DDR5-5600"
}

package fit

import (
	"cmp"
	"math"
	"slices"

	"modeldex/dataset"
)

// Method is the method of all estimates.
const Method = "weighted median of the share of memory bandwidth of the nearest measurements"

// Words of Speed.Use.
const (
	UseMeasured = "measured"
	UseEstimate = "estimate"
)

const (
	mostEvidence = 10
	mostIDs      = 20
)

// A wish says what a speed is worked out for.
type wish uint8

const (
	inMemory wish = 1 << iota // the weights are in the memory of the devices
	brief                     // without the measurements an estimate rests on, and how it was validated
)

func residentIf(is bool) wish {
	if is {
		return inMemory
	}
	return 0
}

// speed works out the speed of one size. An estimate is only for weights that are resident in the
// memory of the devices: one device, or several whose layers work in turn. A brief one is left out
// where there are measurements.
func (e *Engine) speed(q *Query, t *target, m *machine, z *dataset.Quantization, want wish) *Speed {
	s := &Speed{Measured: e.measured(q, t, m, z.Name)}
	p, backend, ok := e.configuration(q, t, m, z)
	if ok && want&inMemory != 0 && (want&brief == 0 || s.Measured == nil) {
		s.Estimate = e.estimate(q, m, &p, backend, want)
	}
	switch {
	case s.Measured != nil:
		s.use(UseMeasured, s.Measured.Median)
	case s.Estimate != nil:
		s.use(UseEstimate, s.Estimate.Median)
	default:
		return s
	}
	if slow, ok := e.slowdown(t, &p, q.Context); ok {
		slow.TPS = round3(*s.TPS * slow.Factor)
		s.Filled = &slow
	}
	return s
}

func (s *Speed) use(which string, tps float64) { s.Use, s.TPS = &which, &tps }

// measured summarizes the measurements of exactly this.
func (e *Engine) measured(q *Query, t *target, m *machine, quantization string) *Measured {
	if m.hw == nil {
		return nil
	}
	l := &e.learnt
	var speeds []float64
	pages := map[string]bool{}
	out := &Measured{Runs: []dataset.Slug{}}
	e.runs.each(l.names.find(modelName, string(t.Slug)), l.names.find(siliconName, l.siliconOf(m.hw.Slug)), func(b *dataset.Benchmark) {
		if b.Quantization == nil || !sameName(*b.Quantization, quantization) || int(b.HardwareCount) != q.Count {
			return
		}
		if q.Tool != "" && b.Tool != q.Tool || q.Backend != "" && text(b.Backend) != q.Backend {
			return
		}
		speeds = append(speeds, *b.GenerationTPS)
		pages[pageOf(b)] = true
		if len(out.Runs) < mostIDs {
			out.Runs = append(out.Runs, b.ID)
		}
	})
	if len(speeds) == 0 {
		return nil
	}
	slices.Sort(speeds)
	out.N, out.Pages = len(speeds), len(pages)
	out.P10, out.Median, out.P90 = round3(at(speeds, 0.1)), round3(at(speeds, 0.5)), round3(at(speeds, 0.9))
	return out
}

// toolOf is the program the rules name.
func (r Rules) tool() dataset.Slug {
	if r == MLX {
		return "mlx-lm"
	}
	return dataset.Slug(r)
}

// configuration is what an estimate of a size is for, with the backend; false where a fact is missing.
func (e *Engine) configuration(q *Query, t *target, m *machine, z *dataset.Quantization) (p point, backend string, ok bool) {
	h := m.hw
	if h == nil {
		h = &dataset.Hardware{Type: "gpu", Vendor: dataset.Nvidia, UnifiedMemory: !m.discrete}
	}
	b := dataset.Benchmark{Model: t.Slug, Quantization: &z.Name, Hardware: h.Slug, Tool: q.tool(), HardwareCount: 1}
	size := float64(z.SizeBytes) / gib
	b.ModelSizeGiB = &size
	backend = q.Backend
	if backend == "" {
		backend = e.learnt.backendOf(h, b.Tool)
	}
	b.Backend = &backend
	p, ok = e.pointOf(t, h, &b, m.bandwidth, e.learnt.names.find)
	if p.backend < 0 && backend == "" {
		p.backend = -2
	}
	return p, backend, ok
}

// tool is the program of a query.
func (q *Query) tool() dataset.Slug { return cmp.Or(q.Tool, q.Rules.tool()) }

// estimate works out the speed of a configuration; nil where nothing is near enough.
func (e *Engine) estimate(q *Query, m *machine, p *point, backend string, want wish) *Estimate {
	if q.Count > 1 && q.Rules != LlamaCpp {
		return nil
	}
	l := &e.learnt
	g, ok, done := l.guess(p, &l.trend, m.place(l, p), nil)
	defer done()
	kind := holdoutOf(p, g.neighbours)
	factor := validated.Factors.of(kind, p.class)
	if !ok || !g.says(factor) {
		return nil
	}
	low, high := g.band(factor)
	out := &Estimate{
		P05: round3(math.Exp(low - p.logTime())), Median: round3(math.Exp(g.middle - p.logTime())), P95: round3(math.Exp(high - p.logTime())),
	}
	if want&brief != 0 {
		return out
	}
	out.Method, out.Share, out.Bytes, out.Nearest = Method, round4(math.Exp(g.middle)), int64(math.Exp(p.logBytes)), round3(g.nearest)
	out.Tool, out.Backend, out.Class = string(q.tool()), backend, p.class.String()
	out.Evidence, out.Assumes, out.Checked = weightsOfNear(g.neighbours), []string{}, checked(kind, p.class)
	if q.Count > 1 {
		out.Assumes = append(out.Assumes, "the devices hold different layers and work in turn, so that together they are as fast as one; not validated")
		out.Checked = nil
	}
	if m.hw == nil {
		out.Assumes = append(out.Assumes, "a discrete card, or unified memory where unified_share is given, of no particular make; not validated")
		out.Checked = nil
	}
	return out
}

// weightsOfNear lists the heaviest neighbours.
func weightsOfNear(near []neighbour) []Weight {
	near = slices.Clone(near)
	slices.SortFunc(near, func(a, b neighbour) int { return cmp.Or(-cmp.Compare(a.weight, b.weight), cmp.Compare(a.id, b.id)) })
	total := 0.0
	for i := range near {
		total += near[i].weight
	}
	out := make([]Weight, 0, mostEvidence)
	for _, n := range near[:min(len(near), mostEvidence)] {
		out = append(out, Weight{n.id, round4(n.weight / total), int(n.rows)})
	}
	return out
}

// holdoutOf says which validation is that of an estimate: by page where the model itself was
// measured on this silicon, by model where others were, by hardware where none was.
func holdoutOf(p *point, near []neighbour) Holdout {
	h := ByHardware
	for i := range near {
		if near[i].silicon == p.silicon {
			if near[i].model == p.model {
				return ByPage
			}
			h = ByModel
		}
	}
	return h
}

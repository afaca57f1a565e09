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

// speed works out the speed of one size, given by number. An estimate is only for weights that are resident
// in the memory of the devices: one device, or several whose layers work in turn. A brief one is left out
// where there are measurements, and it may be left out where the speed is below the least of the ask.
func (a *ask) speed(size int, want wish) *Speed {
	s := &Speed{Measured: a.measured(size, want)}
	if s.Measured == nil && want&inMemory == 0 {
		return s
	}
	p, ok := a.configuration(size)
	if ok && want&inMemory != 0 && (want&brief == 0 || s.Measured == nil) {
		s.Estimate = a.estimate(&p, want)
	}
	switch {
	case s.Measured != nil:
		s.use(UseMeasured, s.Measured.Median)
	case s.Estimate != nil:
		s.use(UseEstimate, s.Estimate.Median)
	default:
		return s
	}
	if slow, known := a.e.slowdown(a.t, &p, a.q.Context); ok && known {
		slow.TPS = round3(*s.TPS * slow.Factor)
		s.Filled = &slow
	}
	return s
}

func (s *Speed) use(which string, tps float64) { s.Use, s.TPS = &which, &tps }

// measured summarizes the measurements of this very size; a brief one has only the median.
func (a *ask) measured(size int, want wish) *Measured {
	runs := inQuant(a.runs, a.e.ways[a.t.sizes[size].way].folded)
	if len(runs) == 0 {
		return nil
	}
	var speeds []float64
	pages := map[string]bool{}
	out := &Measured{Runs: []dataset.Slug{}}
	a.e.runs.each(runs, func(b *dataset.Benchmark) {
		if int(b.HardwareCount) != a.q.Count || a.q.Tool != "" && b.Tool != a.q.Tool || a.q.Backend != "" && text(b.Backend) != a.q.Backend {
			return
		}
		speeds = append(speeds, *b.GenerationTPS)
		if want&brief != 0 {
			return
		}
		pages[pageOf(b)] = true
		if len(out.Runs) < mostIDs {
			out.Runs = append(out.Runs, b.ID)
		}
	})
	if len(speeds) == 0 {
		return nil
	}
	slices.Sort(speeds)
	out.Median = round3(at(speeds, 0.5))
	if want&brief == 0 {
		out.N, out.Pages = len(speeds), len(pages)
		out.P10, out.P90 = round3(at(speeds, 0.1)), round3(at(speeds, 0.9))
	}
	return out
}

// toolOf is the program the rules name.
func (r Rules) tool() dataset.Slug {
	if r == MLX {
		return "mlx-lm"
	}
	return dataset.Slug(r)
}

// configuration is what an estimate of a size is for; false where a fact is missing.
func (a *ask) configuration(size int) (p point, ok bool) {
	z := &a.t.sizes[size]
	if a.t.share == 0 || a.m.bandwidth == 0 || a.t.Quantizations[size].SizeBytes == 0 {
		return point{}, false
	}
	way := &a.e.ways[z.way]
	p = a.point()
	p.model, p.family, p.mixture = a.t.model, a.t.family, a.t.mixture()
	p.quant, p.quantKind, p.logBits, p.logBytes = way.quant, way.quantKind, way.logBits, z.logBytes
	return p, true
}

// tool is the program of a query.
func (q *Query) tool() dataset.Slug { return cmp.Or(q.Tool, q.Rules.tool()) }

// roundedBy is more than the rounding of a speed makes it larger.
const roundedBy = 1e-3

// estimate works out the speed of a configuration; nil where nothing is near enough, or where it is below
// the least speed of the ask.
func (a *ask) estimate(p *point, want wish) *Estimate {
	q, m := a.q, a.m
	if q.Count > 1 && q.Rules != LlamaCpp {
		return nil
	}
	least := math.Inf(-1)
	if a.least > roundedBy {
		least = math.Log(a.least-roundedBy) + p.logTime()
	}
	a.site.near.gather(&a.e.learnt, p)
	g, ok, done := a.site.near.guess(p, a.here(p), least, nil)
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
	out.Tool, out.Backend, out.Class = string(q.tool()), a.site.backend, p.class.String()
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

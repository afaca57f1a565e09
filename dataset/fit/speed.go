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
	UseSibling  = "sibling" // measured, but on siblings of the hardware only
	UseEstimate = "estimate"
)

// useOf is the word for measurements, on siblings only or not.
func useOf(siblings bool) string {
	if siblings {
		return UseSibling
	}
	return UseMeasured
}

const (
	mostEvidence = 10
	mostIDs      = 20
)

// speed works out the speed of one size, given by number. An estimate is only for weights that are resident
// in the memory of the devices: one device, or several whose layers work in turn.
func (a *ask) speed(size int, resident bool) *Speed {
	m, rank := a.measured(size, otherProgram)
	s := &Speed{Measured: m}
	p, ok := a.configuration(size)
	if ok && resident {
		s.Estimate = a.estimate(p)
	}
	switch {
	case s.Estimate == nil && m == nil:
		s.Measured, _ = a.measured(size, otherWork)
	case s.Estimate != nil && m != nil && rank == otherProgram && !a.answers(p, m.Median):
		s.Measured = nil
	}
	switch {
	case s.Measured != nil:
		s.use(useOf(s.Measured.Relation == dataset.Sibling), s.Measured.Median)
	case s.Estimate != nil:
		s.use(UseEstimate, s.Estimate.Median)
	default:
		return s
	}
	if !ok {
		return s
	}
	if slow, known := a.e.slowdown(a.t, p, a.q.Context); known {
		slow.TPS = round3(*s.TPS * slow.Factor)
		s.Filled = &slow
	}
	return s
}

func (s *Speed) use(which string, tps float64) { s.Use, s.TPS = &which, &tps }

// A pace is what a list says of the speed of a size.
type pace struct {
	use   string  // empty where nothing is known
	tps   float64 // in tokens per second
	depth int64   // tokens in the cache it is for
}

// pace is the speed of one size, with a full cache if the ask is for that. It may be unknown where it is below
// the least of the ask. The weights are resident. Without estimates only measurements that answer count.
func (a *ask) pace(size int, estimates bool) (out pace) {
	p, ok := a.configuration(size)
	if runs, siblings := a.counted(size); len(runs) > 0 {
		out.use, out.tps = useOf(siblings), round3(at(runs, 0.5))
	} else if estimates {
		out.use, out.tps = a.otherwise(size, p, ok)
	}
	if out.use == "" || !a.filled || !ok {
		return out
	}
	if slow, known := a.e.slowdown(a.t, p, a.q.Context); known {
		out.tps, out.depth = round3(out.tps*slow.Factor), slow.Depth
	}
	return out
}

// counted are the measured speeds of a size that answer an ask, in order: none of another part of the machine, and none of another program
// that the estimate contradicts. They may all be on siblings of the hardware.
func (a *ask) counted(size int) (speeds []float64, siblings bool) {
	speeds, rank, siblings := a.tried(size, otherProgram, nil)
	if len(speeds) == 0 || rank != otherProgram {
		return speeds, siblings
	}
	if p, ok := a.configuration(size); ok && !a.answers(p, at(speeds, 0.5)) {
		return nil, false
	}
	return speeds, siblings
}

// answers reports whether a speed that another program reached is an answer beside the estimate. Where it is below the band of that, it says
// more of the program than of the machine. Where it is above, the machine is as fast as that with some program, which is no
// answer to a question about another engine than the usual one.
func (a *ask) answers(p *point, tps float64) bool {
	return a.atAnySpeed(func() bool {
		g, factor, ok := a.guess(p)
		low, high := g.band(factor)
		return !ok || tps >= g.tps(p, low) && (tps <= g.tps(p, high) || a.q.Rules == LlamaCpp)
	})
}

// otherwise is the speed of a size of which nothing was measured where the answer is for: an estimate, if the configuration p is known,
// else what another part of the machine did.
func (a *ask) otherwise(size int, p *point, known bool) (use string, tps float64) {
	if known {
		if g, _, ok := a.guess(p); ok {
			return UseEstimate, g.tps(p, g.middle)
		}
	}
	runs, _, siblings := a.tried(size, otherWork, nil)
	if len(runs) == 0 || known && a.estimable(p) {
		return "", 0
	}
	return useOf(siblings), round3(at(runs, 0.5))
}

// estimable reports whether there is an estimate, fast enough or not.
func (a *ask) estimable(p *point) bool {
	return a.atAnySpeed(func() bool {
		_, _, ok := a.guess(p)
		return ok
	})
}

// How well a measurement answers for the machine, the program and the backend of an ask. Those of the best rank that any has are the
// measured speed. So on a machine with graphics it is not the speed of its processor, nor that of a program that others of the same
// weights leave far behind.
const (
	otherWork    = iota // another part of the machine did the work; it answers where there is no estimate
	otherProgram        // the same part, with other kernels
	sameProgram
)

// rank is how well a measurement answers for an ask.
func (a *ask) rank(b *dataset.Benchmark) int {
	if unit := unitThat(b); unit != "" && unit != a.unit() {
		return otherWork
	}
	if toolKindOf(b.Tool) != toolKindOf(a.q.tool()) {
		return otherProgram
	}
	return sameProgram
}

// unitThat is the part of a machine that did the work of a measurement, empty where it does not say.
func unitThat(b *dataset.Benchmark) string {
	switch {
	case b.ComputeUnit != nil:
		return string(*b.ComputeUnit)
	case b.Backend != nil:
		return unitOf(*b.Backend)
	}
	return ""
}

// unit is the part of the machine that the answer is for.
func (a *ask) unit() string {
	return unitOf(a.site.place(a).name)
}

// relation is how the hardware of a measurement is related to that of the ask.
func (a *ask) relation(b *dataset.Benchmark) dataset.Relation {
	return a.e.relations.Between(a.m.hw.Slug, b.Hardware)
}

// on says what a measurement was made on.
func (e *Engine) on(m *machine, measured dataset.Slug) MeasuredOn {
	out := MeasuredOn{MeasuredOn: measured}
	if m.hw != nil {
		if relation := e.relations.Between(m.hw.Slug, measured); relation != "" {
			out.Relation = &relation
		}
	}
	return out
}

// tried are the measured speeds of a size, in order, of the best rank there is from least on, and that rank. Those on siblings of the
// hardware count only where there are no others of that rank. It visits their records, the first with fresh, and begins anew where a
// better one comes; nil visits none.
func (a *ask) tried(size, least int, visit func(b *dataset.Benchmark, fresh bool)) (speeds []float64, rank int, siblings bool) {
	if len(a.runs) == 0 {
		return nil, least, false // as of most models on most machines
	}
	runs := inQuant(a.runs, a.t.sizes[size].folded)
	if len(runs) == 0 {
		return nil, least, false
	}
	grade := 2 * least // 2 x rank, and 1 more for what is not on a sibling
	a.e.runs.each(runs, func(b *dataset.Benchmark) {
		if int(b.HardwareCount) != a.q.Count || !a.e.sameBandwidth(a.m, b.Hardware) || a.q.Tool != "" && b.Tool != a.q.Tool || a.q.Backend != "" && text(b.Backend) != a.q.Backend {
			return
		}
		is := 2 * a.rank(b)
		if a.relation(b) != dataset.Sibling {
			is++
		}
		if is < grade {
			return
		}
		if is > grade {
			grade, speeds = is, speeds[:0]
		}
		speeds = append(speeds, *b.GenerationTPS)
		if visit != nil {
			visit(b, len(speeds) == 1)
		}
	})
	slices.Sort(speeds)
	return speeds, grade / 2, len(speeds) > 0 && grade%2 == 0
}

// sameBandwidth reports whether what was measured on a piece of hardware of the silicon of a machine was measured at its bandwidth:
// variants may differ in it, and a query may give its own. A measurement at an unknown bandwidth counts.
func (e *Engine) sameBandwidth(m *machine, measured dataset.Slug) bool {
	own := e.line.Bandwidth(measured)
	return own == 0 || own == m.bandwidth
}

// measured summarizes the measurements of this very size of the best rank there is from least on, and gives the rank; nil where there are
// none.
func (a *ask) measured(size, least int) (out *Measured, rank int) {
	var pages map[string]bool
	farthest := 0
	speeds, rank, _ := a.tried(size, least, func(b *dataset.Benchmark, fresh bool) {
		if fresh {
			pages, farthest, out = map[string]bool{}, 0, &Measured{Runs: []dataset.Slug{}}
		}
		pages[pageOf(b)] = true
		farthest = max(farthest, slices.Index(dataset.RelationKinds, a.relation(b)))
		if len(out.Runs) < mostIDs {
			out.Runs = append(out.Runs, b.ID)
			out.On = append(out.On, MeasuredRun{b.ID, a.e.on(a.m, b.Hardware)})
		}
	})
	if len(speeds) == 0 {
		return nil, rank
	}
	out.N, out.Pages, out.Relation = len(speeds), len(pages), dataset.RelationKinds[farthest]
	out.P10, out.Median, out.P90 = round3(at(speeds, 0.1)), round3(at(speeds, 0.5)), round3(at(speeds, 0.9))
	return out, rank
}

// toolOf is the program the rules name.
func (r Rules) tool() dataset.Slug {
	if r == MLX {
		return "mlx-lm"
	}
	return dataset.Slug(r)
}

// tool is the program of a query.
func (q *Query) tool() dataset.Slug { return cmp.Or(q.Tool, q.Rules.tool()) }

// roundedBy is more than the rounding of a speed makes it larger.
const roundedBy = 1e-3

// guess estimates the share of a configuration and gives the factor of its band; false where nothing is near
// enough, or where the speed is below the least of the ask.
func (a *ask) guess(p *point) (g guess, factor float64, ok bool) {
	if a.q.Count > 1 && a.q.Rules != LlamaCpp {
		return g, 0, false
	}
	least, here := math.Inf(-1), a.here()
	if a.least > roundedBy {
		least = a.logLeast + p.logTime()
	}
	near := a.site.near
	near.gather(&a.e.learnt, p)
	if least > here+near.lookup.highest+roundedBy {
		return g, 0, false // as a median is at most the largest of its values
	}
	if g, ok = near.guess(p, here, least, nil); !ok {
		return g, 0, false
	}
	factor = validated.Factors.of(g.holdout(p), p.class)
	low, _ := g.band(factor)
	return g, factor, g.says(factor) && g.tps(p, low) > 0 // what is rounded to 0 is none
}

// tps is the speed of a configuration with a share.
func (g *guess) tps(p *point, share float64) float64 { return round3(math.Exp(share - p.logTime())) }

// estimate works out the speed of a configuration; nil where nothing is near enough.
func (a *ask) estimate(p *point) *Estimate {
	q, m := a.q, a.m
	g, factor, ok := a.guess(p)
	if !ok {
		return nil
	}
	low, high := g.band(factor)
	out := &Estimate{P05: g.tps(p, low), Median: g.tps(p, g.middle), P95: g.tps(p, high)}
	kind := g.holdout(p)
	out.Method, out.Share, out.Bytes, out.Nearest = Method, round4(math.Exp(g.middle)), int64(math.Exp(p.logBytes)), round3(g.nearest)
	out.Tool, out.Backend, out.Class = string(q.tool()), a.site.at.name, p.class.String()
	out.Evidence, out.Assumes, out.Checked = a.weights(&g), []string{}, checked(kind, p.class)
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

// weights lists the heaviest neighbours.
func (a *ask) weights(g *guess) []Weight {
	near := slices.Clone(g.neighbours)
	slices.SortFunc(near, func(a, b neighbour) int {
		return cmp.Or(-cmp.Compare(a.weight, b.weight), cmp.Compare(g.samples[a.at].id, g.samples[b.at].id))
	})
	total := 0.0
	for i := range near {
		total += near[i].weight
	}
	out := make([]Weight, 0, mostEvidence)
	for _, n := range near[:min(len(near), mostEvidence)] {
		s := &g.samples[n.at]
		measured := a.e.runs.pack.At(int(s.row)).Hardware
		out = append(out, Weight{s.id, a.e.on(a.m, measured), round4(n.weight / total), int(s.rows)})
	}
	return out
}

// holdout says which validation is that of an estimate: by page where the model itself was
// measured on this silicon, by model where others were, by hardware where none was.
func (g *guess) holdout(p *point) Holdout {
	h := ByHardware
	for i := range g.neighbours {
		if s := &g.samples[g.neighbours[i].at]; s.silicon == p.silicon {
			if s.model == p.model {
				return ByPage
			}
			h = ByModel
		}
	}
	return h
}

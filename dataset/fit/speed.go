package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"modeldex/dataset"
)

// Method is the method of all estimates.
const Method = "regression of the share of memory bandwidth on physics and on effects of hardware, program, shape and quantization"

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

// apart is the ratio of speeds beyond which runs are not one measurement: something that no field says held some of
// them back, such as a driver that did not use the card.
const apart = 3

// speed works out the speed of one size, given by number, with the verdict and the placement of its weights.
func (a *ask) speed(size int, verdict Verdict, p *Placement) *Speed {
	s, resident := &Speed{}, verdict != No
	if a.laid = nil; resident && (verdict == Offload || a.q.given()) {
		resident = a.layOut(p)
	}
	if resident {
		s.Estimate = a.estimate(size)
	}
	s.Measured = a.measured(size, generation)
	if resident {
		s.Prompt = a.promptSpeed(size)
	}
	if of := s.Measured; of != nil && of.Note == nil {
		s.use(useOf(of.Relation == dataset.Sibling), of.Median)
	} else if s.Estimate != nil {
		s.use(UseEstimate, s.Estimate.Median)
	}
	if s.TPS == nil {
		return s
	}
	if factor, ok := a.slowdown(size, a.q.Context); ok {
		s.Filled = &Slowdown{Depth: a.q.Context, Factor: factor, TPS: round3(*s.TPS * factor), Checked: validated.Generation.checked("deep", "")}
	}
	if resident {
		a.times(size, s)
	}
	return s
}

func (s *Speed) use(which string, tps float64) { s.Use, s.TPS = &which, &tps }

// slowdown is the part of the speed that a full cache leaves; false where the cache is unknown.
func (a *ask) slowdown(size int, tokens int64) (factor float64, ok bool) {
	empty, ok := a.guess(size, 0)
	if !ok || !a.t.body.of.cacheKnown() {
		return 0, false
	}
	full, _ := a.guess(size, tokens)
	return min(1, round4(math.Exp(full.log-empty.log))), true
}

// A pace is what a list says of the speed of a size.
type pace struct {
	use   string  // empty where nothing is known
	tps   float64 // in tokens per second
	depth int64   // tokens in the cache it is for
}

// pace is the speed of one size, with a full cache if the ask is for that. The weights are resident. Without estimates
// only measurements that answer count.
func (a *ask) pace(size int, estimates bool) (out pace) {
	if speeds, siblings := a.counted(size); len(speeds) > 0 {
		out.use, out.tps = useOf(siblings), round3(at(speeds, 0.5))
	} else if estimates {
		if g, ok := a.guess(size, 0); ok {
			out.use, out.tps = UseEstimate, round3(math.Exp(g.log))
		}
	}
	if out.use == "" || !a.filled {
		return out
	}
	if factor, ok := a.slowdown(size, a.q.Context); ok {
		out.tps, out.depth = round3(out.tps*factor), a.q.Context
	}
	return out
}

// How well a measurement answers for the machine, the program and the backend of an ask. Those of the best rank that any
// has are the measured speed. So on a machine with graphics it is not the speed of its processor, nor that of a program
// that others of the same weights leave far behind.
const (
	otherWork    = iota // another part of the machine did the work; it answers where there is no estimate
	otherProgram        // the same part, with other kernels
	sameProgram
)

// rank is how well a measurement answers for an ask.
func (a *ask) rank(b *dataset.Benchmark) int {
	if unit := unitThat(b); unit != "" && unit != a.unit() && a.m.works.Type != "cpu" {
		return otherWork
	}
	if toolKindOf(b.Tool) != toolKindOf(a.q.tool()) {
		return otherProgram
	}
	return sameProgram
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

// A kind of speed: what a measurement has of it, nil for nothing that compares, and what is expected of a size.
type kind struct {
	of    func(b *dataset.Benchmark) *float64
	guess func(a *ask, size int) (guess, bool)
}

var (
	generation = kind{func(b *dataset.Benchmark) *float64 { return b.GenerationTPS }, func(a *ask, size int) (guess, bool) { return a.guess(size, 0) }}
	reading    = kind{promptOf, func(a *ask, size int) (guess, bool) { return a.promptGuess(size, usualPrompt, 0) }}
)

// asked reports whether a measurement is of what a query asks for.
func (a *ask) asked(b *dataset.Benchmark) bool {
	q := a.q
	return int(b.HardwareCount) == q.Count && len(q.Beside) == 0 && a.e.sameBandwidth(a.m, b.Hardware) && (q.Tool == "" || b.Tool == q.Tool) &&
		(q.Backend == "" || val(b.Backend) == q.Backend) && (q.ComputeUnit == "" || cmp.Or(unitThat(b), q.ComputeUnit) == q.ComputeUnit)
}

// tried is what was measured of a size, of the best rank there is. Runs on siblings of the hardware count only where
// there are no others of that rank.
type tried struct {
	runs     []*dataset.Benchmark
	speeds   []float64 // of those that were not held back, in order
	rank     int
	siblings bool
	slow     int // runs that were held back: slower than the fastest by more than apart
}

// tried are the measured speeds of a size.
func (a *ask) tried(size int, k kind) (t tried) {
	if len(a.runs) == 0 {
		return t // as of most models on most machines
	}
	grade := 0 // 2 x rank, and 1 more for what is not on a sibling
	a.e.runs.each(inQuant(a.runs, a.t.sizes[size].folded), func(b *dataset.Benchmark) {
		speed := k.of(b)
		if speed == nil || !a.asked(b) {
			return
		}
		is := 2 * a.rank(b)
		if a.relation(b) != dataset.Sibling {
			is++
		}
		if is > grade {
			grade, t.runs, t.speeds = is, t.runs[:0], t.speeds[:0]
		}
		if is == grade {
			t.runs, t.speeds = append(t.runs, b), append(t.speeds, *speed)
		}
	})
	if len(t.speeds) == 0 {
		return t
	}
	slices.Sort(t.speeds)
	t.rank, t.siblings = grade/2, grade%2 == 0
	least := at(t.speeds, 0.9) / apart
	for t.speeds[t.slow] < least {
		t.slow++
	}
	t.speeds = t.speeds[t.slow:]
	t.runs = slices.DeleteFunc(t.runs, func(b *dataset.Benchmark) bool { return *k.of(b) < least })
	return t
}

// counted are the measured speeds of a size that answer an ask, in order. They may all be on siblings of the hardware.
func (a *ask) counted(size int) (speeds []float64, siblings bool) {
	t := a.tried(size, generation)
	if len(t.speeds) == 0 || a.doubt(size, generation, &t) != "" {
		return nil, false
	}
	return t.speeds, t.siblings
}

// doubt says why measured speeds are no answer; empty where they are.
func (a *ask) doubt(size int, k kind, t *tried) string {
	if t.slow > len(t.speeds) {
		return "the runs differ by more than threefold: they are not one measurement"
	}
	g, ok := k.guess(a, size)
	middle, band := at(t.speeds, 0.5), g.band(0)
	switch {
	case !ok || a.q.Count > 1:
	case t.rank == otherWork:
		return "another part of the machine did the work"
	case math.Log(middle) < g.log-math.Log(apart):
		return "the runs reach less than a third of what others lead to expect"
	case t.rank == otherProgram && (middle < band.P05 || middle > band.P95 && a.q.Rules != LlamaCpp):
		return "the runs are of other programs, and far from what this one reaches"
	}
	return ""
}

// sameBandwidth reports whether what was measured on a piece of hardware of the silicon of a machine was measured at its
// bandwidth: variants may differ in it, and a query may give its own. A measurement at an unknown bandwidth counts.
func (e *Engine) sameBandwidth(m *machine, measured dataset.Slug) bool {
	own := e.line.Bandwidth(measured)
	return own == 0 || own == m.bandwidth
}

// measured summarizes the measurements of this very size of the best rank there is; nil where there are none.
func (a *ask) measured(size int, k kind) *Measured {
	t := a.tried(size, k)
	if len(t.speeds) == 0 {
		return nil
	}
	out := &Measured{N: len(t.speeds), Slow: t.slow, Runs: []dataset.Slug{}, P10: round3(at(t.speeds, 0.1)), Median: round3(at(t.speeds, 0.5)), P90: round3(at(t.speeds, 0.9))}
	pages, farthest := map[string]bool{}, 0
	for _, b := range t.runs {
		pages[pageOf(b)] = true
		farthest = max(farthest, slices.Index(dataset.RelationKinds, a.relation(b)))
		if len(out.Runs) < mostIDs {
			out.Runs = append(out.Runs, b.ID)
			out.On = append(out.On, MeasuredRun{b.ID, b.Model, a.e.on(a.m, b.Hardware)})
		}
	}
	out.Pages, out.Relation = len(pages), dataset.RelationKinds[farthest]
	if why := a.doubt(size, k, &t); why != "" {
		out.Note = &why
	}
	return out
}

// tool is the program the rules name.
func (r Rules) tool() dataset.Slug {
	if r == MLX {
		return "mlx-lm"
	}
	return dataset.Slug(r)
}

// tool is the program of a query.
func (q *Query) tool() dataset.Slug { return cmp.Or(q.Tool, q.Rules.tool()) }

// estimate works out the speed of a size on one device; nil where a fact is missing.
func (a *ask) estimate(size int) *Estimate {
	g, ok := a.guess(size, 0)
	if !ok {
		return nil
	}
	c, _ := a.config(size, 0)
	out := &Estimate{
		Band: g.band(0), Method: Method, Share: round4(min(1, math.Exp(g.log+c.logTime()))), Bytes: int64(math.Exp(c.logBytes)),
		Tool: string(a.q.tool()), Backend: a.place().backend, Unit: a.unit(), Class: c.class.String(),
		Evidence: a.evidence(&c), Assumes: a.assumes(&c), Checked: validated.Generation.of(&c, a.e.learnt.generation),
	}
	switch {
	case a.m.hw == nil || len(a.m.devices) > 1:
		out.Checked = nil
	case a.laid != nil:
		out.Checked = validated.Split.checked("all", "")
	}
	return out
}

// assumes says what an estimate takes for granted.
func (a *ask) assumes(c *config) []string {
	out := append([]string{}, a.assumesOfSplit()...)
	if a.m.hw == nil {
		out = append(out, "a discrete card, or unified memory where unified_share is given, of no particular make; not validated")
	}
	tool := a.q.tool()
	switch e, known := a.e.learnt.generation.effects[ofTool][c.names()[ofTool]]; {
	case a.q.Tool == "":
	case !known:
		out = append(out, "no run of "+string(tool)+" compares: as other programs with its kernels")
	default:
		out = append(out, fmt.Sprintf("with %s speeds are %.0f %% of those that programs with its kernels have on average", tool, 100*math.Exp(e.value)))
	}
	return out
}

// near is a measurement that says something of a model and a machine, and how much.
type near struct {
	row    *row
	weight float64
}

// mostNear is how many of them an estimate chooses its evidence from.
const mostNear = 100

// evidence lists the runs that an estimate rests on most: each weighs by the effects it shares with the configuration.
func (a *ask) evidence(c *config) []Weight {
	l, names := &a.e.learnt, c.names()
	weigh := func(row *row, of []group) (weight float64) {
		own := row.names()
		for _, g := range of {
			if own[g] == names[g] {
				weight += row.weight * l.generation.effects[g][own[g]].variance
			}
		}
		return weight
	}
	heaviest := func(x, y near) int { return cmp.Or(-cmp.Compare(x.weight, y.weight), cmp.Compare(x.row.at, y.row.at)) }
	if a.near == nil {
		numbers := slices.Concat(l.bySilicon[names[ofSilicon]], l.byShape[names[ofShape]])
		if len(numbers) == 0 {
			numbers = slices.Clone(l.byKernels[names[ofKernels]])
		}
		slices.Sort(numbers)
		a.near = []near{}
		for _, i := range slices.Compact(numbers) {
			a.near = append(a.near, near{&l.rows[i], weigh(&l.rows[i], ofMachine) + weigh(&l.rows[i], ofModel)})
		}
		slices.SortFunc(a.near, heaviest)
		a.near = a.near[:min(len(a.near), mostNear)]
	}
	found, total := slices.Clone(a.near), 0.0
	for i := range found {
		n := &found[i]
		n.weight = (n.weight + weigh(n.row, ofSize)) * math.Exp(-math.Abs(n.row.logBytes-c.logBytes))
		total += n.weight
	}
	slices.SortFunc(found, heaviest)
	out := make([]Weight, 0, mostEvidence)
	for _, n := range found[:min(len(found), mostEvidence)] {
		b := a.e.runs.pack.At(int(n.row.at))
		out = append(out, Weight{b.ID, b.Model, a.e.on(a.m, b.Hardware), round4(n.weight / total)})
	}
	return out
}

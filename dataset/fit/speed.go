package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// Method is the method of all estimates.
const Method = "regression of the share of memory bandwidth on physics and on effects of hardware, program, shape and quantization"

// Words of Speed.Use.
const (
	UseMeasured = "measured"
	UseSibling  = "sibling" // measured, but on siblings of the hardware only
	UseEstimate = "estimate"
)

const (
	mostEvidence = 10
	mostIDs      = 20
)

// apart is the ratio of speeds beyond which runs are not one measurement: something that no field says held some of
// them back, such as a driver that did not use the card.
const apart = 3

// speed works out the speed of one size, given by number, with the verdict and the placement of its weights.
func (a *evaluation) speed(size int, verdict Verdict, p *Placement) *Speed {
	resident := a.lays(verdict, p)
	s := &Speed{Measured: a.measured(size, generation)}
	if resident {
		s.Estimate, s.Load = a.estimate(size), a.underLoad(size)
	}
	if resident && a.laid == nil { // how fast prompts are read from main memory was not tested
		s.Prompt = a.promptSpeed(size)
	}
	listSpeed := a.listSpeed(size, resident)
	if listSpeed.use == "" {
		return s
	}
	s.Use, s.TPS = &listSpeed.use, &listSpeed.tps
	if factor, ok := a.slowdown(size, listSpeed.empty, a.q.Context); ok {
		s.Filled = &Slowdown{Depth: a.q.Context, Factor: factor, TPS: round3(listSpeed.tps * factor), Checked: validated.Generation.checked("deep")}
	}
	if resident {
		a.times(size, s, listSpeed.empty)
	}
	return s
}

// A listSpeed is what a list says of the speed of a size.
type listSpeed struct {
	use   string  // empty where nothing is known
	tps   float64 // in tokens per second, with an empty cache
	empty guess   // what is expected of it; 0 where that is not known
}

// listSpeed is the speed of one size. Without estimates only measurements count.
func (a *evaluation) listSpeed(size int, estimates bool) (out listSpeed) {
	g, ok := a.guess(size, 0)
	if ok {
		out.empty = g
	}
	if t := a.tried(size, generation); t.answers() {
		out.use, out.tps = useOf(t.siblings), round3(record.Quantile(t.speeds, 0.5))
	} else if ok && estimates {
		out.use, out.tps = UseEstimate, round3(math.Exp(g.log))
	}
	return out
}

// slowdown is the part of the speed that a full cache leaves; false if the cache is unknown.
func (a *evaluation) slowdown(size int, empty guess, tokens int64) (factor float64, ok bool) {
	if empty == (guess{}) || !a.t.body.of.cacheKnown() {
		return 0, false
	}
	full, _ := a.guess(size, tokens)
	return min(1, round4(math.Exp(full.log-empty.log))), true
}

// How well a measurement answers for the machine, the program and the backend of an evaluation. Those of the best rank that any
// has are the measured speed. So on a machine with graphics it is not the speed of its processor, nor that of a program
// that others of the same weights leave far behind.
const (
	otherWork    = iota // another part of the machine did the work; it answers where there is no estimate
	otherProgram        // the same part, with other kernels
	sameProgram
)

// rank is how well a measurement answers for an evaluation.
func (a *evaluation) rank(b *dataset.Benchmark) int {
	if unit := unitThat(b); unit != "" && unit != a.unit() && a.m.works.Type != "cpu" {
		return otherWork
	}
	if toolKindOf(b.Tool) != toolKindOf(a.q.tool()) {
		return otherProgram
	}
	return sameProgram
}

// relation is how the hardware of a measurement is related to that of the evaluation.
func (a *evaluation) relation(b *dataset.Benchmark) dataset.Relation {
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
	guess func(a *evaluation, size int) (guess, bool)
}

var (
	generation = kind{func(b *dataset.Benchmark) *float64 { return b.GenerationTPS }, func(a *evaluation, size int) (guess, bool) { return a.guess(size, 0) }}
	reading    = kind{promptOf, func(a *evaluation, size int) (guess, bool) { return a.promptGuess(size, usualPrompt, 0) }}
)

// asked reports whether a measurement is of what a query asks for.
func (a *evaluation) asked(b *dataset.Benchmark) bool {
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
	slow     int    // runs that were held back: slower than the fastest by more than apart
	doubt    string // why they are no answer; empty where they are
}

func (t *tried) answers() bool { return len(t.speeds) > 0 && t.doubt == "" }

// useOf is the word for measurements, on siblings only or not.
func useOf(siblings bool) string {
	if siblings {
		return UseSibling
	}
	return UseMeasured
}

// tried are the measured speeds of a size.
func (a *evaluation) tried(size int, k kind) (t tried) {
	grade := 0 // 2 x rank, and 1 more for what is not on a sibling
	for _, r := range a.runs {
		if r.quant != a.t.sizes[size].folded {
			continue
		}
		b := a.e.pack.At(int(r.at))
		speed := k.of(b)
		if speed == nil || !a.asked(b) {
			continue
		}
		is := 2*a.rank(b) + 1 - oneIf(a.relation(b) == dataset.Sibling)
		if is > grade {
			grade, t.runs, t.speeds = is, t.runs[:0], t.speeds[:0]
		}
		if is == grade {
			t.runs, t.speeds = append(t.runs, b), append(t.speeds, *speed)
		}
	}
	if len(t.speeds) == 0 {
		return t
	}
	slices.Sort(t.speeds)
	t.rank, t.siblings = grade/2, grade%2 == 0
	least := record.Quantile(t.speeds, 0.9) / apart
	t.slow, _ = slices.BinarySearch(t.speeds, least)
	t.speeds = t.speeds[t.slow:]
	t.runs = slices.DeleteFunc(t.runs, func(b *dataset.Benchmark) bool { return *k.of(b) < least })
	t.doubt = a.doubt(size, k, &t)
	return t
}

// doubt says why measured speeds are no answer; empty if they are.
func (a *evaluation) doubt(size int, k kind, t *tried) string {
	if t.slow > len(t.speeds) {
		return "the runs differ by more than threefold: they are not one measurement"
	}
	g, ok := k.guess(a, size)
	middle, band := record.Quantile(t.speeds, 0.5), g.band()
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
func (a *evaluation) measured(size int, k kind) *Measured {
	t := a.tried(size, k)
	if len(t.speeds) == 0 {
		return nil
	}
	at := func(q float64) float64 { return round3(record.Quantile(t.speeds, q)) }
	out := &Measured{N: len(t.speeds), Slow: t.slow, Runs: []dataset.Slug{}, P10: at(0.1), Median: at(0.5), P90: at(0.9)}
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
	if t.doubt != "" {
		out.Note = &t.doubt
	}
	return out
}

// tool is the program of a query.
func (q *Query) tool() dataset.Slug {
	if q.Tool == "" && q.Rules == MLX {
		return "mlx-lm"
	}
	return cmp.Or(q.Tool, dataset.Slug(q.Rules))
}

// estimate works out the speed of a size; nil where a fact is missing.
func (a *evaluation) estimate(size int) *Estimate {
	g, ok := a.guess(size, 0)
	if !ok {
		return nil
	}
	c, _ := a.config(a.place(), size, 0)
	out := &Estimate{
		Band: g.band(), Method: Method, Share: round4(min(1, math.Exp(g.log+c.logTime()))), Bytes: int64(math.Exp(c.logBytes)),
		Tool: string(a.q.tool()), Backend: a.place().backend, Unit: a.unit(), Class: c.class.String(),
		Evidence: a.evidence(&c), Assumes: a.assumes(&c),
	}
	switch {
	case a.m.hw == nil || len(a.m.devices) > 1:
	case a.laid != nil:
		out.Checked = validated.Split.checked("all")
	default:
		class, kind := c.class.String(), kindOf(&c)
		out.Checked = validated.Generation.checked(kind+", "+a.e.learnt.generation.knows(c.names()), kind, class, "all")
	}
	return out
}

// assumes says what an estimate takes for granted.
func (a *evaluation) assumes(c *config) []string {
	out := []string{}
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch n := len(a.m.devices); {
	case n > 1 && a.q.Split == SplitTensor:
		say("%d devices that share each layer are %.1f times as fast as one, as runs with one and with several cards differ", n, math.Pow(float64(n), tensorGain))
	case n > 1:
		say("the devices hold different layers and work in turn: their times add up")
	}
	if a.laid != nil && *a.laid.HostRead > 0 {
		bandwidth, usual := a.hostBandwidth()
		if usual != "" {
			usual = " (" + usual + ", as is usual beside it: host or system_bandwidth_gbps says what there is)"
		}
		say("%.1f GB of a token's weights are read from main memory of %.0f GB/s%s", float64(*a.laid.HostRead)/1e9, bandwidth/1e9, usual)
	}
	if a.m.hw == nil {
		say("a discrete card, or unified memory where unified_share is given, of no particular make; not validated")
	}
	switch e, known := a.e.learnt.generation.effects[c.names()[ofTool]]; {
	case c.tool == 0 || a.q.Tool == "":
	case !known:
		say("no run of %s compares: as other programs with its kernels", a.q.Tool)
	default:
		say("with %s speeds are %.0f %% of those of the usual program with its kernels", a.q.Tool, 100*math.Exp(e.value))
	}
	return out
}

// A near measurement says something of a model and a machine, and so much.
type near struct {
	row    *row
	weight float64
}

// mostNear is how many of them an estimate chooses its evidence from.
const mostNear = 100

// evidence lists the runs that an estimate rests on most: each weighs by the effects it shares with the configuration,
// and the nearer the more bytes alike a token reads.
func (a *evaluation) evidence(c *config) []Weight {
	if a.near == nil {
		a.near = a.e.learnt.near(c)
	}
	found, total := slices.Clone(a.near), 0.0
	for i := range found {
		found[i].weight *= math.Exp(-math.Abs(found[i].row.logBytes - c.logBytes))
		total += found[i].weight
	}
	slices.SortStableFunc(found, func(x, y near) int { return -cmp.Compare(x.weight, y.weight) })
	out := make([]Weight, 0, mostEvidence)
	for _, n := range found[:min(len(found), mostEvidence)] {
		b := a.e.pack.At(int(n.row.at))
		out = append(out, Weight{b.ID, b.Model, a.e.on(a.m, b.Hardware), round4(n.weight / total)})
	}
	return out
}

// near are the measurements of the silicon or the shape of a configuration, else of its kernels, the heaviest first.
func (l *learnt) near(c *config) []near {
	names := c.names()
	for _, alike := range []func(row *row) bool{
		func(row *row) bool { return row.silicon == c.silicon || row.shape == c.shape },
		func(row *row) bool { return row.kernels == c.kernels },
	} {
		found := []near{}
		for i := range l.rows {
			row := &l.rows[i]
			if !alike(row) {
				continue
			}
			weight, own := 0.0, row.names()
			for _, g := range slices.Concat(ofMachine, ofModel) {
				if own[g] == names[g] {
					weight += row.weight * l.generation.effects[names[g]].variance
				}
			}
			found = append(found, near{row, weight})
		}
		if slices.SortFunc(found, func(x, y near) int { return cmp.Or(-cmp.Compare(x.weight, y.weight), cmp.Compare(x.row.at, y.row.at)) }); len(found) > 0 {
			return found[:min(len(found), mostNear)]
		}
	}
	return nil
}

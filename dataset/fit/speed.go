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
const Method = "a regression of effective bandwidth against hardware, tool, model shape and quantization"

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

// apart is the ratio of speeds beyond which runs are not comparable: something unrecorded slowed some of them down,
// such as a driver that did not use the card.
const apart = 3

// speed works out the speed of one size, given by number, with the verdict and the placement of its weights.
func (a *evaluation) speed(size int, verdict Verdict, p *Placement) *Speed {
	resident := a.lays(verdict, p)
	s := &Speed{Measured: a.measured(size, oneStream)}
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
func (a *evaluation) listSpeed(size int, estimates bool) listSpeed {
	g, ok := a.guess(size, 0)
	if !ok {
		g = guess{}
	}
	if m, _ := a.tried(size, oneStream); m.answers() {
		return listSpeed{m.use(), m.Median, g}
	} else if ok && estimates {
		return listSpeed{UseEstimate, round3(math.Exp(g.log)), g}
	}
	return listSpeed{empty: g}
}

// slowdown is the part of the speed that a full cache leaves; false if the cache is unknown.
func (a *evaluation) slowdown(size int, empty guess, tokens int64) (factor float64, ok bool) {
	if empty == (guess{}) || !a.t.body.of.cacheKnown() {
		return 0, false
	}
	full, _ := a.guess(size, tokens)
	return min(1, round4(math.Exp(full.log-empty.log))), true
}

// How well a measurement answers for the machine, the program and the backend of an evaluation. Those of the best rank
// that any has are the measured speed. So on a machine with graphics it is not the speed of its processor, nor that of
// a program that others of the same weights leave far behind.
const (
	otherWork    = iota // the runs used another part of the machine; it answers where there is no estimate
	otherProgram        // the same part, with other kernels
	sameProgram
)

// rank is how well a measurement answers for an evaluation.
func (a *evaluation) rank(b *dataset.Benchmark) int {
	if unit := unitThat(b); unit != "" && unit != a.unit() && a.m.devices[0].works.Type != "cpu" {
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

// asked reports whether a measurement is of what a query asks for.
func (a *evaluation) asked(b *dataset.Benchmark) bool {
	q := a.q
	return int(b.HardwareCount) == q.Count && len(q.Beside) == 0 && a.e.sameBandwidth(a.m, b.Hardware) && (q.Tool == "" || b.Tool == q.Tool) &&
		(q.Backend == "" || val(b.Backend) == q.Backend) && (q.ComputeUnit == "" || cmp.Or(unitThat(b), q.ComputeUnit) == q.ComputeUnit)
}

// sameBandwidth reports whether what was measured on a piece of hardware of the silicon of a machine was measured at
// its bandwidth: variants may differ in it, and a query may give its own. A measurement at an unknown bandwidth counts.
func (e *Engine) sameBandwidth(m *machine, measured dataset.Slug) bool {
	own := e.line.Bandwidth(measured)
	return own == 0 || own == m.devices[0].bandwidth
}

// measured summarizes the measurements of a size of the best rank there is, and names them; nil where there are none.
func (a *evaluation) measured(size int, s subject) *Measured {
	out, runs := a.tried(size, s)
	if out == nil {
		return nil
	}
	pages, farthest := map[string]bool{}, 0
	out.Runs = []dataset.Slug{}
	for _, b := range runs {
		pages[pageOf(b)] = true
		farthest = max(farthest, slices.Index(dataset.RelationKinds, a.relation(b)))
		if len(out.Runs) < mostIDs {
			out.Runs = append(out.Runs, b.ID)
			out.On = append(out.On, MeasuredRun{b.ID, b.Model, a.e.on(a.m, b.Hardware)})
		}
	}
	out.Pages, out.Relation = len(pages), dataset.RelationKinds[farthest]
	return out
}

// tried has the numbers of that, and the runs that were not held back. Runs on siblings of the hardware count only
// where there are no others of the rank.
func (a *evaluation) tried(size int, s subject) (out *Measured, runs []*dataset.Benchmark) {
	grade := 0 // 2 x rank, and 1 more for what is not on a sibling
	for _, r := range a.runs {
		if r.quant != a.t.sizes[size].folded {
			continue
		}
		b := a.e.benchmarks[r.at]
		if s.speedOf(b) == nil || !a.asked(b) {
			continue
		}
		is := 2*a.rank(b) + 1 - oneIf(a.relation(b) == dataset.Sibling)
		if is > grade {
			grade, runs = is, runs[:0]
		}
		if is == grade {
			runs = append(runs, b)
		}
	}
	if len(runs) == 0 {
		return nil, nil
	}
	speeds := make([]float64, len(runs))
	for i, b := range runs {
		speeds[i] = *s.speedOf(b)
	}
	slices.Sort(speeds)
	least := record.Quantile(speeds, 0.9) / apart
	slow, _ := slices.BinarySearch(speeds, least)
	at := func(q float64) float64 { return round3(record.Quantile(speeds[slow:], q)) }
	out = &Measured{N: len(runs) - slow, Slow: slow, P10: at(0.1), Median: at(0.5), P90: at(0.9), Grade: grade}
	if doubt := a.doubt(size, s, out); doubt != "" {
		out.Note = &doubt
	}
	return out, slices.DeleteFunc(runs, func(b *dataset.Benchmark) bool { return *s.speedOf(b) < least })
}

// answers reports whether measurements are an answer.
func (m *Measured) answers() bool { return m != nil && m.Note == nil }

// use is the word for measurements, on siblings only or not.
func (m *Measured) use() string {
	if m.Grade%2 == 0 {
		return UseSibling
	}
	return UseMeasured
}

// doubt says why measurements are no answer; empty if they are.
func (a *evaluation) doubt(size int, s subject, m *Measured) string {
	if m.Slow > m.N {
		return "the runs differ by more than a factor of three, so they do not measure the same thing"
	}
	g, ok := a.guess(size, 0)
	if s == prompts {
		g, ok = a.promptGuess(size, usualPrompt, 0)
	}
	band, rank := g.band(), m.Grade/2
	switch {
	case !ok || a.q.Count > 1:
	case rank == otherWork:
		return "the runs used another part of the machine"
	case m.Median < math.Exp(g.log)/apart:
		return "the runs are slower than a third of what similar runs suggest"
	case rank == otherProgram && (m.Median < band.P05 || m.Median > band.P95 && a.q.Rules != LlamaCpp):
		return "the runs used other programs and are far from what this one reaches"
	}
	return ""
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
	c, _ := a.config(0, size, 0)
	out := &Estimate{
		Band: g.band(), Method: Method, Share: round4(min(1, math.Exp(g.log+c.logTime()))), Bytes: int64(math.Exp(c.logBytes)),
		Tool: string(a.q.tool()), Backend: a.program(0).backend, Unit: a.unit(), Class: c.class.String(),
		Evidence: a.evidence(&c), Assumes: a.assumes(&c),
	}
	switch {
	case a.m.hw == nil || len(a.m.devices) > 1:
	case a.laid != nil:
		out.Checked = validated.Split.checked("all")
	default:
		class := c.class.String()
		kind := class + " " + kindOf(&c)
		out.Checked = validated.Generation.checked(kind+", "+a.e.learnt.regressions[oneStream].knows(&c), kind, class, "all")
	}
	return out
}

// assumes says what an estimate takes for granted.
func (a *evaluation) assumes(c *config) []string {
	out := []string{}
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch n := len(a.m.devices); {
	case n > 1 && a.q.Split == SplitTensor:
		say("%d devices that share each layer are %.1f times as fast as one, judging by runs on one and on several cards", n, math.Pow(float64(n), tensorGain))
	case n > 1:
		say("the devices hold different layers and take turns, so their times add up")
	}
	if a.t.body.dense {
		say("the model is dense; its type is not published")
	}
	if a.laid != nil && *a.laid.HostRead > 0 {
		bandwidth, usual := a.hostBandwidth()
		if usual != "" {
			usual = " (" + usual + ", the usual memory for this hardware; set host or system_bandwidth_gbps if yours differs)"
		}
		say("each token reads %.1f GB of weights from main memory at %.0f GB/s%s", float64(*a.laid.HostRead)/1e9, bandwidth/1e9, usual)
	}
	if d := a.m.devices[0]; d.between != nil {
		on := "with the installed memory"
		if a.m.hw == nil && a.m.discrete {
			on = "between cards with this memory"
		}
		say("a bandwidth of %.0f GB/s; it varies from %v to %v %s, so set bandwidth_gbps if you know it", d.bandwidth/1e9, d.between[0], d.between[1], on)
	}
	if a.m.hw == nil {
		say("a generic card, processor (compute_unit=cpu) or unified memory (unified_share); not validated")
	}
	switch e, known := a.e.learnt.regressions[oneStream].effects[c.names()[ofTool]]; {
	case c.tool == 0 || a.q.Tool == "":
	case !known:
		say("no comparable run used %s, so it counts like other programs with the same kernels", a.q.Tool)
	default:
		say("%s reaches %.0f%% of the speed of the usual program with the same kernels", a.q.Tool, 100*math.Exp(e.value))
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
		b := a.e.benchmarks[n.row.at]
		out = append(out, Weight{b.ID, b.Model, a.e.on(a.m, b.Hardware), round4(n.weight / cmp.Or(total, 1))})
	}
	return out
}

// near are the measurements that share the silicon, the shape or the kernels of a configuration, the heaviest first.
func (l *learnt) near(c *config) (found []near) {
	names := c.names()
	for i := range l.rows {
		row, weight := &l.rows[i], 0.0
		if row.silicon != c.silicon && row.shape != c.shape && row.kernels != c.kernels {
			continue
		}
		for g, own := range row.names() {
			if own == names[g] && group(g) != ofFormat && group(g) != ofFormatArch {
				weight += row.weight * l.regressions[oneStream].effects[own].variance
			}
		}
		found = append(found, near{row, weight})
	}
	slices.SortFunc(found, func(x, y near) int { return cmp.Or(-cmp.Compare(x.weight, y.weight), cmp.Compare(x.row.at, y.row.at)) })
	return found[:min(len(found), mostNear)]
}

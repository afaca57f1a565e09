package fit

import (
	"cmp"
	"hash/crc32"
	"math"
	"slices"

	"modeldex/dataset"
)

// maxRows bounds the measurements estimates are learnt from. Of more, an even sample of the
// configurations is kept: the shipped table has under 10,000 that compare, and more neighbours
// than a few hundred do not change a median.
const maxRows = 50_000

// mostRead is how many measurements an engine reads, the newest first, so that a load of a very
// large table is not slower than its other parts: 250,000 take 0.4 seconds.
const mostRead = 250_000

// learnt is what estimates rest on.
type learnt struct {
	names    numbers
	silicon  map[dataset.Slug]string // variant -> the record that stands for it
	backends map[backendKey]int      // how often a backend was measured
	usual    map[[2]int32]string     // silicon, or class below 0, and kind of tool -> its most measured backend
	samples  [classes][]sample
	trend    trend
	slow     []slowdown
	costs    map[slowKey]slowCost // of groups of slowdowns
}

// A row is one comparable measurement.
type row struct {
	point
	page     int32
	id       dataset.Slug
	logShare float64
}

// A reader gathers what an engine keeps of the measurements.
type reader struct {
	*Engine
	rows []row
	deep []deepRow
	thin uint32 // rows whose hash has one of these bits are left out
	runs []runKey
}

// learn reads the measurements once.
func (e *Engine) learn(set *dataset.Set) {
	l := &e.learnt
	l.names, l.silicon, l.backends = newNumbers(), map[dataset.Slug]string{}, map[backendKey]int{}
	for i := range set.Hardware {
		h := &set.Hardware[i]
		if h.Variants != nil {
			for _, v := range *h.Variants {
				l.silicon[v] = string(h.Slug)
			}
		}
		if h.IntegratedGPU != nil {
			l.silicon[*h.IntegratedGPU] = string(h.Slug)
		}
	}
	r := e.readAll(set)
	e.runs = newRuns(set.Benchmarks, r.runs)
	l.chooseBackends()
	l.slow = e.slowdowns(r)
	l.learnCosts()
	l.collect(r.rows)
}

func (e *Engine) readAll(set *dataset.Set) *reader {
	r := &reader{Engine: e}
	recs := set.Benchmarks.Reader()
	for i := range min(set.Benchmarks.Len(), mostRead) {
		if b := recs.At(i); b.GenerationTPS != nil && b.Withdrawn == nil {
			r.read(b, i)
		}
	}
	return r
}

// read keeps what matters of one measurement.
func (r *reader) read(b *dataset.Benchmark, at int) {
	l := &r.learnt
	is, field := b.SingleStream()
	if is == dataset.SingleYes || field == "hardware_count" {
		r.runs = append(r.runs, runKey{pairKey(l.names.of(modelName, string(b.Model)), l.names.of(siliconName, l.siliconOf(b.Hardware))), uint32(at)})
	}
	r.outrank(b)
	deep := field == "context_depth" && is == dataset.SingleNo
	if is != dataset.SingleYes && !deep || b.Quantization == nil || r.line.Elsewhere(b) || r.left(b) {
		return
	}
	p, ok := r.point(b)
	if !ok {
		return
	}
	row := row{p, l.names.of(pageName, pageOf(b)), b.ID, math.Log(*b.GenerationTPS) + p.logTime()}
	switch {
	case row.logShare > 0: // faster than the memory allows: something was drafted or is wrong
	case deep:
		r.deep = append(r.deep, deepRow{row, *b.ContextDepth})
	default:
		r.rows = append(r.rows, row)
		l.count(&p)
	}
}

// left reports whether a row is one too many. The choice follows from the id alone, so that equal
// datasets give equal answers.
func (r *reader) left(b *dataset.Benchmark) bool {
	if len(r.rows) > maxRows {
		r.thin = r.thin<<1 | 1
		r.rows = slices.DeleteFunc(r.rows, func(row row) bool { return hashOf(row.id)&r.thin != 0 })
	}
	return r.thin != 0 && hashOf(b.ID)&r.thin != 0
}

func hashOf(id dataset.Slug) uint32 { return crc32.ChecksumIEEE([]byte(id)) }

func pageOf(b *dataset.Benchmark) string {
	if b.SourceURL == nil {
		return "own"
	}
	return string(*b.SourceURL)
}

// siliconOf is the record that stands for a piece of hardware and its variants.
func (l *learnt) siliconOf(h dataset.Slug) string {
	if s, isVariant := l.silicon[h]; isVariant {
		return s
	}
	return string(h)
}

// point gives the configuration of a measurement in numbers; false where a fact is missing.
func (e *Engine) point(b *dataset.Benchmark) (point, bool) {
	h, m := e.hardware[b.Hardware], e.models[b.Model]
	if h == nil || m == nil {
		return point{}, false
	}
	return e.pointOf(m, h, b, e.line.Bandwidth(b.Hardware), e.learnt.names.of)
}

// pointOf is point with the bandwidth given and names numbered by number. b need hold no more
// than model, quantization, size, tool and backend.
func (e *Engine) pointOf(m *target, h *dataset.Hardware, b *dataset.Benchmark, bandwidth float64, number func(kind, string) int32) (point, bool) {
	bytes, bits := e.line.BytesPerToken(b), e.line.BitsPerWeight(*b.Quantization)
	if bytes == 0 || bandwidth == 0 {
		return point{}, false
	}
	if bits == 0 {
		bits = 4.5 // only compared with other bits; most names without a number are of 4-bit files
	}
	backend := text(b.Backend)
	unit := unitOf(backend)
	if b.ComputeUnit != nil {
		unit = string(*b.ComputeUnit)
	}
	return point{
		model: number(modelName, string(b.Model)), family: number(familyName, string(m.Family)), hardware: number(hardwareName, string(h.Slug)),
		silicon: number(siliconName, e.learnt.siliconOf(h.Slug)), arch: number(archName, text(h.Architecture)),
		tool: number(toolName, string(b.Tool)), toolKind: number(toolKindName, toolKindOf(b.Tool)),
		backend: number(backendName, backend), unit: number(unitName, unit),
		quant: number(quantName, *b.Quantization), quantKind: number(quantKindName, quantKindOf(*b.Quantization)),
		class: classOf(h, unit), mixture: m.mixture(),
		logBytes: math.Log(bytes), logBandwidth: math.Log(bandwidth), logBits: math.Log(bits),
	}, true
}

func (t *target) mixture() bool {
	return t.Architecture.NumExperts != nil || t.ActiveParamsB != nil
}

// collect makes samples of the rows: rows of one page and configuration become one.
func (l *learnt) collect(rows []row) {
	l.trend = fitTrend(rows, nil)
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(compareRuns(&a, &b), cmp.Compare(a.logShare, b.logShare), cmp.Compare(a.id, b.id))
	})
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && compareRuns(&rows[n], &rows[0]) == 0 {
			n++
		}
		middle := &rows[n/2]
		l.samples[middle.class] = append(l.samples[middle.class], sample{
			point: middle.point, page: middle.page, rows: int32(n), id: middle.id, logShare: middle.logShare, trend: l.trend.parts(&middle.point),
		})
		rows = rows[n:]
	}
}

// compareRuns orders rows by page and configuration.
func compareRuns(a, b *row) int {
	return cmp.Or(
		cmp.Compare(a.page, b.page), cmp.Compare(a.model, b.model), cmp.Compare(a.hardware, b.hardware), cmp.Compare(a.tool, b.tool),
		cmp.Compare(a.backend, b.backend), cmp.Compare(a.quant, b.quant), cmp.Compare(a.logBytes, b.logBytes),
	)
}

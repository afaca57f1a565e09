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

// mostRead is how many measurements an engine reads, the newest first. It keeps this part of loading a very
// large table from being slower than the others: 250,000 take 0.4 seconds.
const mostRead = 250_000

// learn reads the measurements once.
func (e *Engine) learn(set *dataset.Set) {
	l := &e.learnt
	l.names, l.silicon = newNumbers(), map[dataset.Slug]string{}
	l.linkSilicon(set.Hardware)
	r := e.readAll(set)
	l.usual = r.backends.usual()
	l.slow = e.slowdowns(r)
	l.learnCosts()
	l.fit(r.rows, r.whole)
	e.runs = newRuns(set.Benchmarks, withoutHeldBack(r.runs, r.rows))
	l.collect(slices.Concat(r.rows, r.whole))
}

func (e *Engine) readAll(set *dataset.Set) *reader {
	r := &reader{Engine: e, backends: backendCounts{}}
	recs := &set.Benchmarks
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
		quant := int32(-2) // that of no name, known or not
		if b.Quantization != nil {
			quant = l.names.of(foldedName, folded(*b.Quantization))
		}
		r.runs = append(r.runs, runKey{pairKey(l.names.of(modelName, string(b.Model)), l.names.of(hardwareName, string(b.Hardware))), quant, uint32(at)})
	}
	r.outrank(b)
	deep := is == dataset.SingleNo && (field == "context_depth" || field == "n_prompt")
	whole := field == "rate_basis" && forOneUser(b.Tool) && b.WholeRequest()
	if is != dataset.SingleYes && !deep && !whole || b.Quantization == nil || r.line.Elsewhere(b) || r.left(b) {
		return
	}
	p, ok := r.point(b)
	if !ok {
		return
	}
	row := row{point: p, page: l.names.of(pageName, pageOf(b)), at: uint32(at), id: b.ID, logShare: math.Log(*b.GenerationTPS) + p.logTime()}
	switch {
	case row.logShare > 0: // faster than the memory allows: something was drafted or is wrong
	case whole:
		r.whole = append(r.whole, row)
	case deep:
		r.deep = append(r.deep, deepRow{row, b.CacheTokens()})
	default:
		r.rows = append(r.rows, row)
		r.backends.count(r.hardware[b.Hardware].Hardware, b.Tool, &p, text(b.Backend))
	}
}

// forOneUser reports whether a tool has the kernels of programs for one user. Runs of servers that are timed with their prompt, one request at a
// time, are not what servers are for, and made estimates no better.
func forOneUser(tool dataset.Slug) bool {
	kind := toolKindOf(tool)
	return kind == "gguf" || kind == "mlx"
}

// left reports whether a row is one too many. The choice follows from the id alone, so that equal
// datasets give equal answers.
func (r *reader) left(b *dataset.Benchmark) bool {
	if len(r.rows)+len(r.whole) > maxRows {
		r.thin = r.thin<<1 | 1
		out := func(row row) bool { return hashOf(row.id)&r.thin != 0 }
		r.rows, r.whole = slices.DeleteFunc(r.rows, out), slices.DeleteFunc(r.whole, out)
	}
	return r.thin != 0 && hashOf(b.ID)&r.thin != 0
}

func hashOf(id dataset.Slug) uint32 { return crc32.ChecksumIEEE([]byte(id)) }

// fit finds the rows that were held back, also of those timed with their prompt, and fits the trend to the others that are decode rates.
func (l *learnt) fit(rows, whole []row) {
	l.trend = fitTrend(rows, nil)
	if markHeldBack(&l.trend, rows, whole) {
		l.trend = fitTrend(rows, notHeldBack)
	}
}

// collect makes samples of the rows that were not held back: rows of one page and configuration become one.
func (l *learnt) collect(rows []row) {
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(compareRuns(&a, &b), cmp.Compare(a.logShare, b.logShare), cmp.Compare(a.id, b.id))
	})
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && compareRuns(&rows[n], &rows[0]) == 0 {
			n++
		}
		middle := &rows[n/2]
		rows = rows[n:]
		if middle.heldBack {
			continue
		}
		l.samples[middle.class] = append(l.samples[middle.class], sample{
			point: middle.point, page: middle.page, rows: int32(n), id: middle.id, row: middle.at, logShare: middle.logShare, trend: l.trend.parts(&middle.point),
		})
	}
	for c := range l.samples {
		l.samples[c] = thinned(l.samples[c], mostSamples)
		slices.SortStableFunc(l.samples[c], func(a, b sample) int { return cmp.Compare(a.logBytes, b.logBytes) })
		l.lookups[c] = newLookup(l.samples[c])
	}
}

// mostSamples bounds the samples of one class, which an estimate looks at: the shipped table has at most
// some 700 of a class. Of 547 decode rates of NVIDIA, 400 give about the same errors, so more than this say little that is new.
const mostSamples = 1000

// thinned keeps at most so many samples: of each configuration one page before a second of any other, and
// the choice among equals follows from the ids.
func thinned(samples []sample, most int) []sample {
	if len(samples) <= most {
		return samples
	}
	type configuration struct {
		model, hardware, tool, backend, unit, quant int32
		logBytes                                    float64
	}
	type ranked struct {
		times int
		hash  uint32
		sample
	}
	all, times := make([]ranked, len(samples)), map[configuration]int{}
	for i, s := range samples {
		all[i] = ranked{hash: hashOf(s.id), sample: s}
	}
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.id, b.id)) })
	for i := range all {
		s := &all[i]
		of := configuration{s.model, s.hardware, s.tool, s.backend, s.unit, s.quant, s.logBytes}
		s.times = times[of]
		times[of]++
	}
	slices.SortStableFunc(all, func(a, b ranked) int { return cmp.Compare(a.times, b.times) })
	kept := make([]sample, most)
	for i := range kept {
		kept[i] = all[i].sample
	}
	return kept
}

package dataset

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"

	"modeldex/dataset/cores"

	"golang.org/x/sync/errgroup"
)

// check judges what no single value shows: fields that belong together, slugs and aliases
// that must be unique, and references.
func (l *loader) check() error {
	l.checkInfo()
	models := register(l, &l.models, "model", modelNames)
	hardware := register(l, &l.hardware, "hardware", hardwareNames)
	tools := register(l, &l.tools, "tool", toolNames)
	l.checkQuantizations()
	l.checkModels()
	l.checkHardware(hardware)
	l.checkTools()
	origins := l.checkOrigins()
	l.checkRuns(models, hardware, tools, origins)
	l.checkCredits(origins)
	l.checkPlausible()
	l.checkChanges()
	return l.checkPublished()
}

// checkRuns checks every benchmark, alone, with the records it refers to and with the others, and reports the references
// to no record.
func (l *loader) checkRuns(models, hardware, tools *registry, origins *origins) {
	hashes := l.checkBenchmarks(models, hardware, tools, origins)
	var tables cores.Group
	tables.Go(func() { l.checkIDs(hashes) }) // one table, so one goroutine: beside the other
	tables.Go(func() { l.checkRepeats(hashes) })
	if l.warn {
		tables.Go(l.checkCopied)
	}
	tables.Wait()
	for _, known := range []*registry{models, hardware, tools} {
		known.report(l)
	}
	origins.report(l)
}

// checkInfo holds dataset.json to one object; a missing or broken one is a finding already.
func (l *loader) checkInfo() {
	switch n := len(l.info.recs); {
	case n > 1:
		l.at(l.info.places[1], "", "the file must hold one object")
	case n == 1:
		l.date(l.info.places[0], "released", &l.info.recs[0].Released)
	case n == 0 && len(l.info.undecodable) == 0 && slices.Contains(l.files, infoFile):
		l.add(Finding{Path: infoFile, Text: "the file must hold one object, got none"})
	}
}

// checkQuantizations holds the names of storage types apart.
func (l *loader) checkQuantizations() {
	byName := map[string]place{}
	for i := range l.quantizations.recs {
		q, p := l.quantizations.recs[i], l.quantizations.places[i]
		if first, twice := byName[q.Name]; twice {
			l.at(p, "name", fmt.Sprintf("%q is a duplicate of %s", q.Name, l.placeText(first)))
			continue
		}
		byName[q.Name] = p
		checkSources(l, p, q, q.Sources)
		if !l.anyFaulty(p) {
			l.boundType(q, p)
		}
	}
}

func (l *loader) checkModels() {
	typeBits, names := l.typeBits(), l.typeNames()
	for i := range l.models.recs {
		m, p := l.models.recs[i], l.models.places[i]
		checkSources(l, p, m, m.Sources)
		l.pair(p, "params_b", m.ParamsB != nil, "params_basis", m.ParamsBasis != nil)
		l.date(p, "release_date", m.ReleaseDate)
		l.checkShape(m, p)
		l.checkSizes(m, p, typeBits)
		checkTwice(l, p, "modalities", m.Modalities)
		if m.ParamsB != nil && m.EffectiveParamsB != nil && *m.EffectiveParamsB > *m.ParamsB {
			l.at(p, "effective_params_b", fmt.Sprintf("must be at most params_b, got %s of %s", plainNumber(*m.EffectiveParamsB), plainNumber(*m.ParamsB)), "params_b")
		}
		if m.ParamsB != nil && m.ActiveParamsB != nil && *m.ActiveParamsB > *m.ParamsB {
			l.at(p, "active_params_b", fmt.Sprintf("must be at most params_b, got %s of %s", plainNumber(*m.ActiveParamsB), plainNumber(*m.ParamsB)), "params_b")
		}
		for j := range m.Quantizations {
			q := &m.Quantizations[j]
			if l.warn {
				l.spelledType(p, fmt.Sprintf("quantizations.%d.name", j), q.Name, names)
			}
			if (q.Basis == Computed) != (q.Method != nil) {
				at := fmt.Sprintf("quantizations.%d.", j)
				l.at(p, at+"method", "must be there where basis is computed and null where it is published", at+"basis")
			}
		}
	}
}

func (l *loader) checkHardware(known *registry) {
	for i := range l.hardware.recs {
		h, p := l.hardware.recs[i], l.hardware.places[i]
		checkSources(l, p, h, h.Sources)
		l.date(p, "release_date", h.ReleaseDate)
		l.pair(p, "fp16_tflops", h.FP16TFLOPS != nil, "fp16_basis", h.FP16Basis != nil)
		l.spread(p, "memory_bandwidth_range_gbps", h.MemoryBandwidthRangeGBps)
		l.spread(p, "tdp_range_watts", h.TDPRangeWatts)
		l.checkPrices(h, p)
		l.checkPart(h, p)
		checkTwice(l, p, "backends", h.Backends)
		checkTwice(l, p, "driver_names", h.DriverNames)
		known.references(l, p, "chip", h.Chip)
		known.references(l, p, "variants", h.Variants)
		if h.IntegratedGPU != nil {
			known.reference(l, p, "integrated_gpu", *h.IntegratedGPU)
		}
	}
}

func (r *registry) references(l *loader, p place, field string, slugs *[]Slug) {
	if slugs == nil {
		return
	}
	for i, slug := range *slugs {
		r.reference(l, p, field+"."+strconv.Itoa(i), slug)
	}
}

func (l *loader) checkTools() {
	for i := range l.tools.recs {
		t, p := l.tools.recs[i], l.tools.places[i]
		checkSources(l, p, t, t.Sources)
		l.date(p, "first_release", t.FirstRelease)
	}
	l.checkToolWords()
}

// endedAt reports, at every so many records of a long loop, whether the load has ended.
func (l *loader) endedAt(i int) bool { return i%recordStep == 0 && l.ctx.Err() != nil }

// recordStep is how many records are looked at in one go: enough that handing them over costs nothing.
const recordStep = 4096

// runHashes are hashes of what no two benchmarks share, by number of the benchmark. They are made where all else of a
// benchmark is looked at: its memory is read once.
type runHashes struct {
	seed         maphash.Seed
	ids          []uint64
	measurements []uint64 // 0 for one that is not compared
}

func newRunHashes(n int) *runHashes {
	return &runHashes{maphash.MakeSeed(), make([]uint64, n), make([]uint64, n)}
}

// checkIDs checks that no two benchmarks have one id.
func (l *loader) checkIDs(hashes *runHashes) {
	c := &l.benchmarks
	ids, found := newFirsts(len(c.recs)), copies{}
	defer found.report(l)
	for i, hash := range hashes.ids {
		if l.endedAt(i) {
			return
		}
		first := ids.first(i, hash, func(k int) bool { return c.recs[k].ID == c.recs[i].ID })
		if first == i {
			continue
		}
		if id := c.recs[i].ID; id != "" {
			found.add(c.places[i], c.places[first], fmt.Sprintf("%q is a duplicate of %s", id, l.placeText(c.places[first])))
		}
	}
}

// checkBenchmarks looks at every benchmark once, on all workers.
func (l *loader) checkBenchmarks(models, hardware, tools *registry, origins *origins) *runHashes {
	speeds, years, hashes := l.newSpeedCheck(models, hardware), l.newYearCheck(), newRunHashes(len(l.benchmarks.recs))
	builds, names := &buildCheck{loader: l}, l.typeNames()
	l.ratios, l.backends = make([]float64, len(l.benchmarks.recs)), l.backendsOfTools()
	var work errgroup.Group
	work.SetLimit(l.opt.Workers)
	for from := 0; from < len(l.benchmarks.recs); from += recordStep {
		work.Go(func() error {
			if l.endedAt(from) {
				return nil
			}
			for i := from; i < min(from+recordStep, len(l.benchmarks.recs)); i++ {
				b, p := l.benchmarks.recs[i], l.benchmarks.places[i]
				model := models.reference(l, p, "model", b.Model)
				device := hardware.reference(l, p, "hardware", b.Hardware)
				l.contradictNamed(b, p, model, device)
				if b.ID.Reserved() {
					l.reserved(p, "id", b.ID)
				}
				l.contradictTool(b, p, tools.reference(l, p, "tool", b.Tool))
				origins.reference(l, p, b)
				l.checkRun(b, p)
				if l.warn && b.Quantization != nil {
					l.spelledType(p, "quantization", *b.Quantization, names)
				}
				builds.add(b, p, model)
				years.check(b, p)
				l.ratios[i] = speeds.check(b, p, model, device)
				hashes.ids[i] = maphash.String(hashes.seed, string(b.ID))
				hashes.measurements[i] = l.measurementHash(hashes.seed, b, p)
			}
			return nil
		})
	}
	_ = work.Wait() // checks report findings, never an error
	speeds.judgeBlames()
	speeds.judgeGroups()
	speeds.judgePrompts()
	builds.judge()
	return hashes
}

func (l *loader) checkRun(b *Benchmark, p place) {
	l.pair(p, "run_date", b.RunDate != nil, "date_basis", b.DateBasis != nil)
	l.date(p, "run_date", b.RunDate)
	if b.Withdrawn != nil {
		l.date(p, "withdrawn.date", &b.Withdrawn.Date)
	}
	l.checkThroughput(b, p)
	if len(l.faulty) == 0 || !l.anyFaulty(p) { // else what cannot be read is zero
		l.boundRun(b, p)
		l.contradictRun(b, p)
	}
	if b.SourceURL == nil && b.Source != Owner {
		l.at(p, "source_url", fmt.Sprintf("must not be null where source is %q", b.Source), "source")
	}
}

package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"

	jsonv2 "github.com/goccy/go-json/v2"
)

// maker makes benchmarks by number. It is only read once made, so many may be made at once.
type maker struct {
	opt      Options
	set      *dataset.Set
	runs     []dataset.Benchmark // of set
	models   map[dataset.Slug]*dataset.Model
	roofline *dataset.Roofline
	released time.Time // no run is newer
}

func newMaker(set *dataset.Set, opt Options) *maker {
	m := &maker{opt: opt, set: set, runs: set.Benchmarks.All(), models: make(map[dataset.Slug]*dataset.Model, len(set.Models))}
	for i := range set.Models {
		m.models[set.Models[i].Slug] = &set.Models[i]
	}
	m.roofline = dataset.NewRoofline(set.Models, set.Hardware, set.Quantizations)
	m.released, _ = set.Info.Released.Time() // a loaded date is one
	return m
}

// A stamp is the place of a benchmark in the files.
type stamp struct {
	id   uint64
	date uint32 // yyyymmdd, zeros for what the date does not say; 0 is unknown
	row  uint32
}

// The first draws of a benchmark are its machine and date, so that stamps are cheap.
func (m *maker) stamp(i int) stamp {
	r := m.random(i)
	b := dataset.Benchmark{}
	m.dated(r, &b, m.real(r))
	s := stamp{id: m.id(i), row: uint32(i)}
	if b.RunDate == nil {
		return s
	}
	digits := 0
	for _, c := range []byte(*b.RunDate) {
		if c != '-' {
			s.date, digits = 10*s.date+uint32(c-'0'), digits+1
		}
	}
	for ; digits < 8; digits++ {
		s.date *= 10
	}
	return s
}

func (m *maker) random(i int) *rand.Rand { return rand.New(rand.NewPCG(m.opt.Seed, uint64(i))) }

// real is one of the measurements of the source, all alike likely.
func (m *maker) real(r *rand.Rand) *dataset.Benchmark {
	return &m.runs[r.IntN(len(m.runs))]
}

// id numbers benchmarks without order and without repeats: every step can be undone within
// 48 bits.
func (m *maker) id(i int) uint64 {
	const mask = 1<<48 - 1
	x := (uint64(i) + m.opt.Seed*0x9e3779b97f4a7c15) & mask
	for range 3 {
		x = x * 0xbf58476d1ce4e5b9 & mask
		x ^= x >> 25
	}
	return x
}

// dated gives b the date of a real run, some days earlier.
func (m *maker) dated(r *rand.Rand, b, run *dataset.Benchmark) {
	b.RunDate, b.DateBasis = run.RunDate, run.DateBasis
	if run.RunDate == nil || len(*run.RunDate) != len(time.DateOnly) {
		return
	}
	day, _ := run.RunDate.Time()
	if day.After(m.released) {
		day = m.released
	}
	moved := dataset.Date(day.AddDate(0, 0, -r.IntN(60)).Format(time.DateOnly))
	b.RunDate = &moved
}

// benchmark makes one: the machine and the way of measuring from one real run, the model and
// its file from another.
func (m *maker) benchmark(i int) dataset.Benchmark {
	r := m.random(i)
	run := m.real(r)
	b := *run
	m.dated(r, &b, run)
	b.ID = dataset.Slug(fmt.Sprintf("bm-%012x", m.id(i)))
	b.Withdrawn = nil
	m.onHardware(r, &b)
	m.ofModel(r, &b, m.real(r))
	if m.opt.Lean {
		lean(&b) // before the speeds, because their bounds depend on the rest
	}
	m.timed(r, &b, run)
	n := int64(1 + i%100_000) // the same measurement must not have two ids
	b.NGen = &n
	return b
}

// The shares of benchmarks that go to any hardware or model, so that each has some.
const (
	anyHardware = 0.1
	anyModel    = 0.15
)

func (m *maker) onHardware(r *rand.Rand, b *dataset.Benchmark) {
	if r.Float64() >= anyHardware {
		return
	}
	h := &m.set.Hardware[r.IntN(len(m.set.Hardware))]
	b.Hardware, b.HardwareRaw, b.MemoryGB = h.Slug, h.Name, h.VRAMGB
}

func (m *maker) ofModel(r *rand.Rand, b, of *dataset.Benchmark) {
	b.Model, b.ModelRaw, b.Quantization, b.ModelSizeGiB = of.Model, of.ModelRaw, of.Quantization, of.ModelSizeGiB
	if r.Float64() < anyModel {
		any := &m.set.Models[r.IntN(len(m.set.Models))]
		b.Model, b.ModelRaw, b.ModelSizeGiB = any.Slug, any.Name, nil
	}
}

// timed moves the speeds of a run of one model to those of the model b has: twice the
// parameters take twice the time. A prompt speed is never raised beyond that, and is left out where
// the hardware changed or a size is unknown, because it could pass what the hardware can compute.
func (m *maker) timed(r *rand.Rand, b, run *dataset.Benchmark) {
	noise, sizes := math.Exp(0.3*r.NormFloat64()), 1.0
	was, is := m.size(run.Model), m.size(b.Model)
	comparable := was > 0 && is > 0
	if comparable {
		sizes = was / is
	}
	scale(&b.PromptTPS, min(noise, 1)*sizes)
	scale(&b.PromptTPSStddev, min(noise, 1)*sizes)
	scale(&b.TTFTMs, 1/(noise*sizes))
	paced(b, noise*sizes)
	if b.GenerationTPS != nil && *b.GenerationTPS > mostTPS {
		paced(b, mostTPS / *b.GenerationTPS)
	}
	if b.PromptTPS != nil && (!comparable || b.Hardware != run.Hardware || *b.PromptTPS > mostTPS) {
		b.PromptTPS, b.PromptTPSStddev = nil, nil
		if b.GenerationTPS == nil {
			slow := leastTPS
			b.PromptTPS = &slow
		}
	}
	m.bound(r, b)
}

// paced makes the generation speed this many times what it was, and its deviation with it.
func paced(b *dataset.Benchmark, times float64) {
	scale(&b.GenerationTPS, times)
	scale(&b.GenerationTPSStddev, times)
}

// mostTPS is below what a check accepts of any hardware.
const mostTPS = 900_000

// bound keeps the generation speed below what the memory bandwidth allows. Where not even the
// least speed is, it becomes unknown.
func (m *maker) bound(r *rand.Rand, b *dataset.Benchmark) {
	ratio, known := m.roofline.Ratio(b)
	if !known || ratio < 0.9 {
		return
	}
	paced(b, (0.4+0.5*r.Float64())/ratio)
	if ratio, known = m.roofline.Ratio(b); known && ratio > 1 {
		b.GenerationTPS, b.GenerationTPSStddev = nil, nil
		if b.PromptTPS == nil {
			slow := leastTPS
			b.PromptTPS = &slow
		}
	}
}

// leastTPS is the slowest speed that is not rounded to none.
const leastTPS = 0.01

// scale multiplies a speed that is known and rounds it to hundredths.
func scale(v **float64, by float64) {
	if *v != nil {
		scaled := max(leastTPS, math.Round(**v*by*100)/100)
		*v = &scaled
	}
}

// size is the parameters read for a token, in billions; 0 where unknown.
func (m *maker) size(slug dataset.Slug) float64 {
	switch model := m.models[slug]; {
	case model.ActiveParamsB != nil:
		return *model.ActiveParamsB
	case model.ParamsB != nil:
		return *model.ParamsB
	default:
		return 0
	}
}

// lean drops the fields that are neither filters nor sorts, and shortens where a run comes from.
func lean(b *dataset.Benchmark) {
	b.MemoryGB, b.ModelSizeGiB, b.PowerWatts, b.TTFTMs = nil, nil, nil, nil
	b.PromptTPSStddev, b.GenerationTPSStddev = nil, nil
	b.BatchSize, b.NGPULayers, b.Threads, b.ContextDepth = nil, nil, nil, nil
	b.Concurrency, b.SpeculativeDecoding, b.FlashAttention = nil, nil, nil
	b.NPrompt, b.NGen, b.ToolVersion, b.OS, b.Notes, b.Reproduce = nil, nil, nil, nil, nil, nil
	b.ModelRaw, b.HardwareRaw = "-", "-"
	if b.SourceURL != nil {
		short := dataset.URL("https://example.org/" + b.ID)
		b.SourceURL, b.SourceKey = &short, nil // the key is that of the page
	}
}

// line is the benchmark in the form of files; a lean one without what is unknown.
func (m *maker) line(i int) ([]byte, error) {
	b := m.benchmark(i)
	if m.opt.Lean {
		return jsonv2.Marshal(&b, jsonv2.OmitZeroStructFields(true))
	}
	return record.Line(&b)
}

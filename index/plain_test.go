package index

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"modeldex/dataset"
)

// random makes sets of records with what makes indexing hard: ties, unknown values, values
// nobody has, speeds that follow the hardware, dates of differing precision.
type random struct {
	*rand.Rand
	distinct int     // about how many values a column has
	unknown  float64 // share of values that are unknown
}

func newRandom(seed uint64, distinct int, unknown float64) *random {
	return &random{rand.New(rand.NewPCG(seed, 1)), distinct, unknown}
}

func maybe[T any](r *random, v T) *T {
	if r.Float64() < r.unknown {
		return nil
	}
	return &v
}

func (r *random) num(scale float64) float64 { return scale * float64(1+r.IntN(r.distinct)) / 4 }

func (r *random) date() dataset.Date {
	d := fmt.Sprintf("%d-%02d-%02d", 2023+r.IntN(3), 1+r.IntN(12), 1+r.IntN(min(28, r.distinct)))
	return dataset.Date(d[:[]int{4, 7, 10, 10, 10, 10}[r.IntN(6)]])
}

// pick favours the first of the choices, as popularity does.
func pick[T any](r *random, from []T) T {
	return from[int(float64(len(from))*math.Pow(r.Float64(), 3))]
}

// set makes a set of n benchmarks about as many models, pieces of hardware and tools as given.
func (r *random) set(n, others int) *dataset.Set {
	s := &dataset.Set{}
	for i := range others {
		s.Models = append(s.Models, r.model(i))
		s.Hardware = append(s.Hardware, r.hardware(i))
		s.Tools = append(s.Tools, r.tool(i))
	}
	slices.SortFunc(s.Models, func(a, b dataset.Model) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(s.Hardware, func(a, b dataset.Hardware) int { return cmp.Compare(a.Slug, b.Slug) })
	slices.SortFunc(s.Tools, func(a, b dataset.Tool) int { return cmp.Compare(a.Slug, b.Slug) })
	runs := make([]dataset.Benchmark, n)
	for i := range runs {
		runs[i] = r.benchmark(i, s)
	}
	s.Benchmarks = sorted(runs)
	return s
}

// sorted packs benchmarks in default order.
func sorted(runs []dataset.Benchmark) dataset.Pack {
	slices.SortFunc(runs, func(a, b dataset.Benchmark) int { return dataset.NewerRun(&a, &b) })
	return dataset.NewPack(runs)
}

func (r *random) model(i int) dataset.Model {
	m := dataset.Model{}
	m.Slug = dataset.Slug(fmt.Sprintf("%s-%d", pick(r, []string{"llama", "qwen", "phi"}), i))
	m.Name = strings.ToUpper(string(m.Slug))
	m.Family = dataset.Slug(pick(r, []string{"llama", "qwen", "phi", "gemma"}))
	m.ReleaseDate, m.ParamsB = maybe(r, r.date()), maybe(r, r.num(1))
	m.HFRepo = maybe(r, fmt.Sprintf("Maker/M%d", i))
	m.Aliases = []string{fmt.Sprintf("Alias:%d", i)}
	m.Architecture.ContextLength = maybe(r, int64(r.num(4096)))
	return m
}

func (r *random) hardware(i int) dataset.Hardware {
	return dataset.Hardware{
		Slug: dataset.Slug(fmt.Sprintf("gpu-%d", i)), Name: pick(r, []string{"Card", "Chip", "Box"}), // equal names tie
		Vendor: pick(r, dataset.Vendors), Type: pick(r, dataset.HardwareTypes), Aliases: []string{fmt.Sprintf("Card %d", i)},
		ReleaseDate: maybe(r, r.date()), VRAMGB: maybe(r, r.num(8)), MemoryBandwidthGBps: maybe(r, r.num(100)),
		FP16TFLOPS: maybe(r, r.num(10)), TDPWatts: maybe(r, r.num(50)), LaunchPriceUSD: maybe(r, r.num(99)), StreetPriceUSD: maybe(r, r.num(99)),
	}
}

func (r *random) tool(i int) dataset.Tool {
	return dataset.Tool{
		Slug: dataset.Slug(fmt.Sprintf("tool%d.cpp", i)), Name: fmt.Sprintf("Tool %d", i/2), Category: pick(r, dataset.Categories),
		FirstRelease: maybe(r, r.date()), Aliases: []string{fmt.Sprintf("t%d", i)},
	}
}

func (r *random) benchmark(i int, s *dataset.Set) dataset.Benchmark {
	at := int(float64(len(s.Hardware)) * math.Pow(r.Float64(), 3))
	speed := float64(at+1) * (1 + r.num(0.1))
	b := dataset.Benchmark{
		ID: dataset.Slug(fmt.Sprintf("bm-%06d", i)), Model: pick(r, s.Models).Slug, Hardware: s.Hardware[at].Slug, Tool: pick(r, s.Tools).Slug,
		Quantization: maybe(r, pick(r, []string{"Q4_K_M", "Q8_0", "F16"})), Backend: maybe(r, pick(r, []string{"cuda", "vulkan", "cpu"})),
		Source: pick(r, dataset.Sources), RunDate: maybe(r, r.date()), GenerationTPS: maybe(r, speed), PromptTPS: maybe(r, r.num(7)),
	}
	return b
}

// renderers give rows that tell what they were made of.
var renderers = Renderers{
	Model: func(dst []byte, m *dataset.Model, n int) ([]byte, error) {
		return fmt.Appendf(dst, "%s %d", m.Slug, n), nil
	},
	ModelDetail: func(dst []byte, m *dataset.Model, n int) ([]byte, error) {
		return fmt.Appendf(dst, "detail %s %d", m.Slug, n), nil
	},
	Hardware: func(dst []byte, h *dataset.Hardware, n int) ([]byte, error) {
		return fmt.Appendf(dst, "%s %d", h.Slug, n), nil
	},
	Tool: func(dst []byte, t *dataset.Tool, n int) ([]byte, error) {
		return fmt.Appendf(dst, "%s %d", t.Slug, n), nil
	},
	Benchmark: func(dst []byte, b *dataset.Benchmark, _ *float64) ([]byte, error) { return append(dst, b.ID...), nil },
}

func mustBuild(t testing.TB, s *dataset.Set) *Generation {
	t.Helper()
	gen, err := Build(s, renderers)
	if err != nil {
		t.Fatalf("Build: %v", err)
	}
	return gen
}

// plain is the oracle: records as lists of values, questions answered by looking at each.
type plain struct {
	recs []plainRecord // in default order
	home Sort
	sets []Field
	nums []Field
	// texts are sorted by, nums are sorted by and ranged over.
	texts []Field
}

type plainRecord struct {
	slug  string
	names []string // what words are looked for in
	id    string   // what a word may be equal to
	sets  map[Field][]string
	nums  map[Field]float64 // no entry where unknown
	texts map[Field]string
}

// plains gives the oracles of a set by table: models, hardware, tools, benchmarks.
func plains(s *dataset.Set) [4]*plain {
	bySlug := Sort{Field: Slug}
	out := [4]*plain{
		{home: bySlug, sets: []Field{Family}, nums: []Field{Params, ContextLength, Released, BenchmarkCount}, texts: []Field{Slug, Name}},
		{home: bySlug, sets: []Field{Vendor, Type}, nums: []Field{VRAM, Bandwidth, FP16, TDP, LaunchPrice, StreetPrice, Released, BenchmarkCount}, texts: []Field{Slug, Name}},
		{home: bySlug, sets: []Field{Category}, nums: []Field{Released, BenchmarkCount}, texts: []Field{Slug, Name}},
		{home: Sort{Field: RunDate, Desc: true}, sets: []Field{Model, Hardware, Tool, Source, Family, Quantization, Backend}, nums: []Field{RunDate, GenerationTPS, PromptTPS}},
	}
	runs, families, names := map[dataset.Slug]float64{}, map[dataset.Slug]string{}, map[dataset.Slug][]string{}
	for _, b := range s.Benchmarks.All() {
		runs[b.Model]++
		runs[b.Hardware]++
		runs[b.Tool]++
	}
	for _, m := range s.Models {
		rec := plainNamed(m.Slug, m.Name, m.Aliases, runs)
		if m.HFRepo != nil {
			rec.names = append(rec.names, strings.ToLower(*m.HFRepo))
		}
		families[m.Slug], names[m.Slug] = string(m.Family), rec.names
		rec.sets[Family] = []string{string(m.Family)}
		rec.num(Params, m.ParamsB)
		rec.date(Released, m.ReleaseDate)
		if c := m.Architecture.ContextLength; c != nil {
			rec.nums[ContextLength] = float64(*c)
		}
		out[0].recs = append(out[0].recs, rec)
	}
	for _, h := range s.Hardware {
		rec := plainNamed(h.Slug, h.Name, h.Aliases, runs)
		names[h.Slug] = rec.names
		rec.sets[Vendor], rec.sets[Type] = []string{string(h.Vendor)}, []string{string(h.Type)}
		for f, v := range map[Field]*float64{VRAM: h.VRAMGB, Bandwidth: h.MemoryBandwidthGBps, FP16: h.FP16TFLOPS, TDP: h.TDPWatts, LaunchPrice: h.LaunchPriceUSD, StreetPrice: h.StreetPriceUSD} {
			rec.num(f, v)
		}
		rec.date(Released, h.ReleaseDate)
		out[1].recs = append(out[1].recs, rec)
	}
	for _, tl := range s.Tools {
		rec := plainNamed(tl.Slug, tl.Name, tl.Aliases, runs)
		names[tl.Slug] = rec.names
		rec.sets[Category] = []string{string(tl.Category)}
		rec.date(Released, tl.FirstRelease)
		out[2].recs = append(out[2].recs, rec)
	}
	for _, b := range s.Benchmarks.All() {
		rec := plainRecord{slug: string(b.ID), id: string(b.ID), nums: map[Field]float64{}}
		rec.names = slices.Concat(names[b.Model], names[b.Hardware], names[b.Tool])
		rec.sets = map[Field][]string{
			Model: {string(b.Model)}, Hardware: {string(b.Hardware)}, Tool: {string(b.Tool)}, Source: {string(b.Source)}, Family: {families[b.Model]},
			Quantization: list(b.Quantization), Backend: list(b.Backend),
		}
		rec.date(RunDate, b.RunDate)
		rec.num(GenerationTPS, b.GenerationTPS)
		rec.num(PromptTPS, b.PromptTPS)
		out[3].recs = append(out[3].recs, rec)
	}
	return out
}

func plainNamed(slug dataset.Slug, name string, aliases []string, runs map[dataset.Slug]float64) plainRecord {
	rec := plainRecord{slug: string(slug), sets: map[Field][]string{}, nums: map[Field]float64{BenchmarkCount: runs[slug]}}
	rec.texts = map[Field]string{Slug: string(slug), Name: strings.ToLower(name)}
	for _, n := range append([]string{string(slug), name}, aliases...) {
		rec.names = append(rec.names, strings.ToLower(n))
	}
	return rec
}

func list(v *string) []string {
	if v == nil {
		return nil
	}
	return []string{*v}
}

func (r *plainRecord) num(f Field, v *float64) {
	if v != nil {
		r.nums[f] = *v
	}
}

func (r *plainRecord) date(f Field, d *dataset.Date) {
	if d == nil {
		return
	}
	year, month, day := 0, 0, 0
	_, _ = fmt.Sscanf(string(*d), "%d-%d-%d", &year, &month, &day) // fewer where the date says less
	r.nums[f] = float64(year*10000 + month*100 + day)
}

// holds reports whether the record holds the query, but for the ranges listed in except.
func (r *plainRecord) holds(q Query, except int) bool {
	for _, s := range q.Sets {
		if !slices.ContainsFunc(s.Values, func(v string) bool { return slices.Contains(r.sets[s.Field], v) }) {
			return false
		}
	}
	for _, w := range q.Words {
		if w != r.id && !slices.ContainsFunc(r.names, func(n string) bool { return strings.Contains(n, w) }) {
			return false
		}
	}
	for i, rg := range q.Ranges {
		if v, ok := r.nums[rg.Field]; i != except && (!ok || v < rg.Min || v > rg.Max) {
			return false
		}
	}
	return true
}

// position is where the record stands in an order.
func (p *plain) position(r *plainRecord, by Sort) Position {
	if by.Field == None {
		by = p.home
	}
	at := Position{Slug: r.slug, Home: r.nums[RunDate]}
	if text, ok := r.texts[by.Field]; ok {
		at.Known, at.Text = true, text
	} else {
		at.Num, at.Known = r.nums[by.Field], false
		_, at.Known = r.nums[by.Field]
	}
	return at
}

// compare orders positions: by value, unknown last; then newer runs first, unknown last; then
// by slug.
func (p *plain) compare(a, b Position, by Sort) int {
	if by.Field == None {
		by = p.home
	}
	c := cmp.Or(cmp.Compare(a.Num, b.Num), cmp.Compare(a.Text, b.Text))
	if by.Desc {
		c = -c
	}
	if a.Known != b.Known {
		c = 1
		if a.Known {
			c = -1
		}
	}
	return cmp.Or(c, -cmp.Compare(a.Home, b.Home), cmp.Compare(a.Slug, b.Slug))
}

// answer is what a page says, with slugs for ordinals.
type answer struct {
	Slugs    []string
	Total    int
	Excluded []int
	Next     *Position
}

// answer answers a query the slow way.
func (p *plain) answer(q Query) answer {
	var found []Position
	for i := range p.recs {
		if p.recs[i].holds(q, -1) {
			found = append(found, p.position(&p.recs[i], q.Sort))
		}
	}
	out := answer{Total: len(found), Excluded: p.excluded(q)}
	slices.SortFunc(found, func(a, b Position) int { return p.compare(a, b, q.Sort) })
	if q.After != nil {
		found = slices.DeleteFunc(found, func(f Position) bool { return p.compare(f, *q.After, q.Sort) <= 0 })
	}
	for _, f := range found[:min(q.Limit, len(found))] {
		out.Slugs = append(out.Slugs, f.Slug)
	}
	if q.Limit > 0 && len(found) > q.Limit {
		out.Next = &found[q.Limit-1]
	}
	return out
}

func (p *plain) excluded(q Query) []int {
	var out []int
	for i, rg := range q.Ranges {
		n := 0
		for j := range p.recs {
			if _, known := p.recs[j].nums[rg.Field]; !known && p.recs[j].holds(q, i) {
				n++
			}
		}
		out = append(out, n)
	}
	return out
}

// answerOf is what the table answers, in the form of the oracle.
func answerOf(t *Table, q Query) answer {
	page := t.Select(q)
	out := answer{Total: page.Total, Excluded: page.Excluded, Next: page.Next}
	for _, ord := range page.Ords {
		out.Slugs = append(out.Slugs, t.Slug(ord))
	}
	return out
}

func tables(gen *Generation) [4]*Table {
	return [4]*Table{gen.Models, gen.Hardware, gen.Tools, gen.Benchmarks}
}

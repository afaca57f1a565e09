package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/record"
)

// random makes sets of records with what makes indexing hard: ties, unknown values, values
// nobody has, speeds that follow the hardware, dates of differing precision.
type random struct {
	*rand.Rand
	distinct int     // about how many values a column has
	unknown  float64 // share of values that are unknown
}

// values are the members of a closed set.
func values[S interface {
	~string
	Values() []string
}]() (out []S) {
	for _, v := range S("").Values() {
		out = append(out, S(v))
	}
	return out
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
	s := &dataset.Set{Quantizations: quantizations}
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
		if i > 0 && r.IntN(5) == 0 { // the same again on another day, with another speed
			again := runs[r.IntN(i)]
			again.ID, again.RunDate = runs[i].ID, runs[i].RunDate
			if again.Scenario == nil {
				again.GenerationTPS = runs[i].GenerationTPS
			}
			runs[i] = again
		}
	}
	s.Benchmarks = sorted(runs)
	return s
}

// quantizations are what rooflines need to know of the weights.
var quantizations = func() (out []dataset.QuantizationType) {
	for name, bits := range map[string]float64{"Q4_K_M": 4.9, "Q8_0": 8.5, "F16": 16} {
		out = append(out, dataset.QuantizationType{Name: name, EffectiveBitsPerWeight: &bits})
	}
	return out
}()

// sorted packs benchmarks in default order.
func sorted(runs []dataset.Benchmark) []*dataset.Benchmark {
	slices.SortFunc(runs, func(a, b dataset.Benchmark) int { return record.NewerRun(&a, &b) })
	return dataset.Pointers(runs)
}

func (r *random) model(i int) dataset.Model {
	m := dataset.Model{}
	m.Slug = dataset.Slug(fmt.Sprintf("%s-%d", pick(r, []string{"llama", "qwen", "phi"}), i))
	m.Name = strings.ToUpper(string(m.Slug))
	m.Family = dataset.Slug(pick(r, []string{"llama", "qwen", "phi", "gemma"}))
	m.ReleaseDate, m.ParamsB = maybe(r, r.date()), maybe(r, r.num(1))
	m.HFRepo = maybe(r, fmt.Sprintf("Maker/M%d", i))
	m.Aliases = []string{fmt.Sprintf("Alias:%d", i)}
	m.Organization, m.License = pick(r, []string{"Meta", "Alibaba"}), maybe(r, pick(r, []string{"MIT", "Apache-2.0"}))
	m.Architecture.Type, m.ActiveParamsB = maybe(r, pick(r, values[record.ModelType]())), maybe(r, r.num(1))
	m.Modalities = values[record.Modality]()[:r.IntN(3)]
	m.Architecture.ContextLength = maybe(r, int64(r.num(4096)))
	return m
}

func (r *random) hardware(i int) dataset.Hardware {
	var forms *[]dataset.Slug
	if i%10 == 3 && i > 3 {
		forms = &[]dataset.Slug{dataset.Slug(fmt.Sprintf("gpu-%d", i-1)), dataset.Slug(fmt.Sprintf("gpu-%d", i-2))}
	}
	var chips *[]dataset.Slug
	if i%10 == 5 {
		chips = &[]dataset.Slug{dataset.Slug(fmt.Sprintf("gpu-%d", i-3)), dataset.Slug(fmt.Sprintf("gpu-%d", i-4))}
	}
	var inside *dataset.Slug
	if i%10 == 7 {
		slug := dataset.Slug(fmt.Sprintf("gpu-%d", i-4))
		inside = &slug
	}
	return dataset.Hardware{
		Variants: forms, Chip: chips, IntegratedGPU: inside, UnifiedMemory: r.IntN(2) == 0, Architecture: maybe(r, pick(r, []string{"Ada", "RDNA 3"})),
		Backends: []string{"cuda", "vulkan", "cpu"}[:r.IntN(4)],
		Slug:     dataset.Slug(fmt.Sprintf("gpu-%d", i)), Name: pick(r, []string{"Card", "Chip", "Box"}), // equal names tie
		Vendor: pick(r, dataset.Vendors), Type: pick(r, values[dataset.HardwareType]()), Aliases: []string{fmt.Sprintf("Card %d", i)},
		ReleaseDate: maybe(r, r.date()), VRAMGB: maybe(r, r.num(8)), MemoryBandwidthGBps: maybe(r, r.num(100)),
		FP16TFLOPS: maybe(r, r.num(10)), TDPWatts: maybe(r, r.num(50)), LaunchPriceUSD: maybe(r, r.num(99)), StreetPriceUSD: maybe(r, r.num(99)),
	}
}

func (r *random) tool(i int) dataset.Tool {
	return dataset.Tool{
		Slug: dataset.Slug(fmt.Sprintf("tool%d.cpp", i)), Name: fmt.Sprintf("Tool %d", i/2), Category: pick(r, values[record.Category]()),
		Backends: maybe(r, []string{"cuda", "cpu"}[:r.IntN(3)]), License: maybe(r, pick(r, []string{"MIT", "GPL"})), Platforms: maybe(r, []string{"linux"}),
		APICompatibility: maybe(r, []string{"openai", "ollama"}[:r.IntN(3)]), ModelFormats: maybe(r, []string{"gguf"}),
		FirstRelease: maybe(r, r.date()), Aliases: []string{fmt.Sprintf("t%d", i)},
	}
}

func (r *random) benchmark(i int, s *dataset.Set) dataset.Benchmark {
	at := int(float64(len(s.Hardware)) * math.Pow(r.Float64(), 3))
	speed := float64(at+1) * (1 + r.num(0.1))
	b := dataset.Benchmark{
		ID: dataset.Slug(fmt.Sprintf("bm-%06d", i)), Model: pick(r, s.Models).Slug, Hardware: s.Hardware[at].Slug, Tool: pick(r, s.Tools).Slug,
		Quantization: maybe(r, pick(r, []string{"Q4_K_M", "Q8_0", "F16"})), Backend: maybe(r, pick(r, []string{"cuda", "vulkan", "cpu"})),
		Source: pick(r, values[dataset.Source]()), RunDate: maybe(r, r.date()), GenerationTPS: maybe(r, speed), PromptTPS: maybe(r, r.num(7)),
		HardwareCount: pick(r, []int64{1, 2, 4}), ToolVersion: maybe(r, pick(r, []string{"b100", "b101", "b2"})),
		Concurrency: maybe(r, pick(r, []int64{1, 8, 128})), ContextDepth: maybe(r, pick(r, []int64{0, 512, 4096, 20000, 100000})),
		NPrompt: maybe(r, pick(r, []int64{512, 2048})), NGen: maybe(r, int64(128)), SpeculativeDecoding: maybe(r, pick(r, []bool{false, true})),
		PartialOffload: maybe(r, pick(r, []bool{false, true})), FlashAttention: maybe(r, r.IntN(2) == 0),
		TTFTMs: maybe(r, r.num(3)), PowerWatts: maybe(r, 100+r.num(9)),
		RateBasis: maybe(r, pick(r, values[record.RateBasis]())), ComputeUnit: maybe(r, pick(r, values[dataset.ComputeUnit]())), PowerBasis: maybe(r, pick(r, values[dataset.PowerBasis]())),
		SourceKey: maybe(r, pick(r, []string{"a", "b", "c"})),
		SourceURL: maybe(r, dataset.URL(fmt.Sprintf("https://example.org/%d", r.IntN(9)))),
	}
	if r.IntN(12) == 0 {
		b.Withdrawn = &dataset.Withdrawal{Date: "2026-01-01", Reason: "measured something else"}
	}
	if r.IntN(12) == 0 {
		b.Scenario, b.TotalTPS, b.GenerationTPS, b.PromptTPS = &values[record.Scenario]()[r.IntN(3)], b.GenerationTPS, nil, nil
	}
	return b
}

// renderers give rows that tell what they were made of.
var renderers = Renderers{
	Model: func(dst []byte, m *dataset.Model, n BenchmarkCounts, _ *best.Capability) ([]byte, error) {
		return fmt.Appendf(dst, "%s %d", m.Slug, n.Own), nil
	},
	ModelDetail: func(dst []byte, m *dataset.Model, n BenchmarkCounts, _ *best.Capability, _ map[string]*dataset.SizeQuality) ([]byte, error) {
		return fmt.Appendf(dst, "detail %s %d", m.Slug, n.Own), nil
	},
	Hardware: func(dst []byte, h *dataset.Hardware, n BenchmarkCounts) ([]byte, error) {
		return fmt.Appendf(dst, "%s %d %d", h.Slug, n.Own, n.WithVariants), nil
	},
	Tool: func(dst []byte, t *dataset.Tool, n BenchmarkCounts) ([]byte, error) {
		return fmt.Appendf(dst, "%s %d", t.Slug, n.Own), nil
	},
	Quality: func(dst []byte, q *dataset.Quality) ([]byte, error) {
		return append(dst, q.ID...), nil
	},
	Benchmark: func(dst []byte, b *dataset.Benchmark, _ Computed) ([]byte, error) { return append(dst, b.ID...), nil },
	Score:     testScore,
	Evidence:  testEvidence,
}

// testScore is known for two of three models.
func testScore(slug dataset.Slug) float64 {
	if len(slug)%3 == 0 {
		return math.NaN()
	}
	return float64(len(slug)*7%50) + 0.5
}

// testEvidence is the same number again.
func testEvidence(slug dataset.Slug) []best.Evidence {
	if score := testScore(slug); score == score {
		return []best.Evidence{{Source: "source_a", Score: score, Variance: 1}}
	}
	return nil
}

func mustBuild(t testing.TB, s *dataset.Set) *Generation {
	t.Helper()
	gen, err := Build(context.Background(), s, renderers)
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
	// texts are sorted by, nums are sorted by and ranged over, ranged are ranged over.
	texts, ranged []Field
	listed        func(*plainRecord) bool // without a filter by Scenario; nil: all
	variants      map[Field]map[string][]string
}

type plainRecord struct {
	slug  string
	row   string             // what renderers make of it
	names []string           // what words are looked for in
	id    string             // what a word may be equal to
	sets  map[Field][]string // nil where unknown
	nums  map[Field]float64  // no entry where unknown
	texts map[Field]string
	page  string // of a benchmark
	// withdrawn: a benchmark that statistics leave out
	withdrawn bool
}

// plains gives the oracles of a set by table: models, hardware, tools, benchmarks.
func plains(s *dataset.Set) [4]*plain {
	bySlug := Sort{Field: Slug}
	out := [4]*plain{
		{home: bySlug, sets: []Field{Family, "organization", "license", "architecture", "form", "thinking", "gguf_architecture", "shape", "modality", "has_benchmarks"}, nums: []Field{"params_b", "active_params_b", "context_length", "release_date", "intelligence", "capability", BenchmarkCount}, texts: []Field{Slug, Name}},
		{home: bySlug, sets: []Field{"vendor", "type", "architecture", "backend", "unified_memory", "has_benchmarks"}, nums: []Field{"vram_gb", "memory_bandwidth_gbps", "fp16_tflops", "tdp_watts", "launch_price_usd", "street_price_usd", "release_date", BenchmarkCount}, texts: []Field{Slug, Name}},
		{home: bySlug, sets: []Field{"category", "backend", "license", "os", "api", "model_format", "has_benchmarks"}, nums: []Field{"first_release", BenchmarkCount}, texts: []Field{Slug, Name}},
		{
			home: Sort{Field: RunDate, Desc: true}, sets: slices.Concat(settingFields, []Field{Model, Hardware, Source, Family, Settings, "depth_band", Month, Scenario, "reproduced_by"}),
			nums: []Field{RunDate, GenerationTPS, PerStream, PromptTPS, Roofline, "total_tps"}, ranged: []Field{Concurrency, "hardware_count", "context_depth", "reproduced_by"},
			listed:   func(rec *plainRecord) bool { return len(rec.sets[Scenario]) == 0 },
			variants: map[Field]map[string][]string{Hardware: plainVariants(s)},
		},
	}
	rooflines := dataset.NewRoofline(s.Models, s.Hardware, s.Quantizations)
	runs, families, names := map[dataset.Slug]float64{}, map[dataset.Slug]string{}, map[dataset.Slug][]string{}
	for _, b := range s.Benchmarks {
		if b.Scenario != nil {
			continue
		}
		runs[b.Model]++
		runs[b.Hardware]++
		runs[b.Tool]++
	}
	anchors, silicon := map[dataset.Slug][]string{}, dataset.NewRelations(s.Hardware) // what finds a piece of hardware
	for _, h := range s.Hardware {
		for _, found := range silicon.Related(h.Slug) {
			anchors[found] = append(anchors[found], string(h.Slug))
		}
	}
	can := best.Capabilities(s.Models, testEvidence)
	for _, m := range s.Models {
		rec := plainNamed(m.Slug, m.Name, m.Aliases, runs)
		if m.HFRepo != nil {
			rec.names = append(rec.names, strings.ToLower(*m.HFRepo))
		}
		families[m.Slug], names[m.Slug] = string(m.Family), rec.names
		rec.sets[Family], rec.sets["organization"], rec.sets["license"] = []string{string(m.Family)}, []string{m.Organization}, known(m.License)
		rec.sets["architecture"], rec.sets["modality"] = known(m.Architecture.Type), record.Texts(m.Modalities)
		rec.sets["form"] = known(m.Form)
		if m.Thinking != nil {
			rec.sets["thinking"] = []string{fmt.Sprint(*m.Thinking)}
		}
		rec.sets["gguf_architecture"], rec.sets["shape"] = known(m.GGUFArchitecture), known(m.Shape())
		rec.num("params_b", m.ParamsB)
		rec.num("active_params_b", m.ActiveParamsB)
		if m.ActiveParamsB == nil && m.Architecture.NumExperts == nil && m.Architecture.Type != nil && *m.Architecture.Type == "dense" {
			rec.num("active_params_b", m.ParamsB)
		}
		if score := testScore(m.Slug); score == score {
			rec.nums["intelligence"] = score
		}
		if c, ok := can[m.Slug]; ok {
			rec.nums["capability"] = c.Score
		}
		rec.date("release_date", m.ReleaseDate)
		if c := m.Architecture.ContextLength; c != nil {
			rec.nums["context_length"] = float64(*c)
		}
		out[0].recs = append(out[0].recs, rec)
	}
	for _, h := range s.Hardware {
		rec := plainNamed(h.Slug, h.Name, h.Aliases, runs)
		names[h.Slug] = rec.names
		rec.sets["vendor"], rec.sets["type"] = []string{string(h.Vendor)}, []string{string(h.Type)}
		rec.sets["architecture"], rec.sets["backend"] = known(h.Architecture), h.Backends
		rec.sets[Silicon] = anchors[h.Slug]
		rec.sets["unified_memory"] = []string{fmt.Sprint(h.UnifiedMemory)}
		for f, v := range map[Field]*float64{"vram_gb": h.VRAMGB, "memory_bandwidth_gbps": h.MemoryBandwidthGBps, "fp16_tflops": h.FP16TFLOPS, "tdp_watts": h.TDPWatts, "launch_price_usd": h.LaunchPriceUSD, "street_price_usd": h.StreetPriceUSD} {
			rec.num(f, v)
		}
		rec.date("release_date", h.ReleaseDate)
		withVariants := runs[h.Slug]
		for _, v := range out[3].variants[Hardware][rec.slug] {
			withVariants += runs[dataset.Slug(v)]
		}
		rec.row += fmt.Sprintf(" %v", withVariants)
		out[1].recs = append(out[1].recs, rec)
	}
	for _, tl := range s.Tools {
		rec := plainNamed(tl.Slug, tl.Name, tl.Aliases, runs)
		names[tl.Slug] = rec.names
		rec.sets["category"], rec.sets["license"], rec.sets["backend"] = []string{string(tl.Category)}, known(tl.License), list(tl.Backends)
		rec.sets["os"], rec.sets["api"], rec.sets["model_format"] = list(tl.Platforms), list(tl.APICompatibility), list(tl.ModelFormats)
		rec.date("first_release", tl.FirstRelease)
		out[2].recs = append(out[2].recs, rec)
	}
	reproduced := dataset.Reproduced(s.Benchmarks)
	for i, b := range s.Benchmarks {
		rec := plainRecord{slug: string(b.ID), row: string(b.ID), id: string(b.ID), nums: map[Field]float64{}, withdrawn: b.Withdrawn != nil}
		rec.names = slices.Concat(names[b.Model], names[b.Hardware], names[b.Tool])
		rec.sets = map[Field][]string{
			Model: {string(b.Model)}, Hardware: {string(b.Hardware)}, Tool: {string(b.Tool)}, Source: {string(b.Source)}, Family: {families[b.Model]},
			Quantization: known(b.Quantization), Backend: known(b.Backend), "tool_version": known(b.ToolVersion),
			Concurrency: shown(b.Concurrency), "hardware_count": shown(&b.HardwareCount), "context_depth": shown(b.ContextDepth),
			"threads": shown(b.Threads), "n_prompt": shown(b.NPrompt), "n_gen": shown(b.NGen), "speculative_decoding": shown(b.SpeculativeDecoding),
			"rate_basis": known(b.RateBasis), Scenario: known(b.Scenario), "compute_unit": known(b.ComputeUnit), "power_basis": known(b.PowerBasis),
			"partial_offload": shown(b.PartialOffload), "flash_attention": shown(b.FlashAttention),
		}
		rec.sets[Silicon] = anchors[b.Hardware]
		if n := reproduced[i]; n >= 0 {
			rec.sets["reproduced_by"] = []string{fmt.Sprint(n)}
		}
		plainBenchmark(&rec, b)
		rec.date(RunDate, b.RunDate)
		rec.num(GenerationTPS, b.GenerationTPS)
		rec.num(PromptTPS, b.PromptTPS)
		if ratio, known := rooflines.Ratio(b); known {
			rec.nums[Roofline] = ratio
		}
		out[3].recs = append(out[3].recs, rec)
	}
	return out
}

// TestPlainFields: each field that lists filter or sort by has a naive reading here, so that no new one is left out of the
// tests that compare with it. Slugs, and filters that stand for slugs, are read apart.
func TestPlainFields(t *testing.T) {
	want := plains(&dataset.Set{})
	for i, fields := range [][]FieldInfo{ModelFields, HardwareFields, ToolFields, BenchmarkFields} {
		read := slices.Concat(want[i].sets, want[i].nums, want[i].texts, want[i].ranged)
		for _, f := range fields {
			asked := f.Param+f.Min+f.Max != "" || f.Is(Sorts)
			if apart := f.Is(Key) || f.Is(Related); asked && !apart && !slices.Contains(read, f.Name) {
				t.Errorf("table %d has %s: add it to plains, which read it in the naive way", i, f.Name)
			}
		}
	}
}

func plainNamed(slug dataset.Slug, name string, aliases []string, runs map[dataset.Slug]float64) plainRecord {
	rec := plainRecord{slug: string(slug), row: fmt.Sprintf("%s %v", slug, runs[slug]), sets: map[Field][]string{}, nums: map[Field]float64{BenchmarkCount: runs[slug]}}
	rec.sets["has_benchmarks"] = []string{fmt.Sprint(runs[slug] > 0)}
	rec.texts = map[Field]string{Slug: string(slug), Name: strings.ToLower(name)}
	for _, n := range append([]string{string(slug), name}, aliases...) {
		rec.names = append(rec.names, strings.ToLower(n))
	}
	return rec
}

func known[T ~string](v *T) []string {
	if v == nil {
		return nil
	}
	return []string{string(*v)}
}

func shown[T any](v *T) []string {
	if v == nil {
		return nil
	}
	return []string{fmt.Sprint(*v)}
}

// settingFields are the settings that statistics compare.
var settingFields = []Field{
	Tool, Quantization, Backend, "tool_version", Concurrency, "hardware_count", "context_depth", "threads", "n_prompt", "n_gen",
	"speculative_decoding", "partial_offload", "flash_attention", "rate_basis", "compute_unit", "power_basis",
}

// plainBenchmark adds what is computed from a benchmark.
func plainBenchmark(rec *plainRecord, b *dataset.Benchmark) {
	switch is, field := b.SingleStream(); {
	case b.Withdrawn != nil:
		rec.sets[Settings] = []string{"withdrawn"}
	case is == record.SingleYes:
		rec.sets[Settings] = []string{"single_stream"}
	case is == record.SingleNo && field == "n_prompt":
		rec.sets[Settings] = []string{"long_prompt"}
	case is == record.SingleNo:
		rec.sets[Settings] = []string{"other"}
	}
	if b.ContextDepth != nil {
		bands := map[bool]string{*b.ContextDepth <= 65536: "16385-65536", *b.ContextDepth > 65536: "65537+"}
		for _, band := range []struct {
			most int64
			name string
		}{{16384, "4097-16384"}, {4096, "513-4096"}, {512, "0-512"}} {
			if *b.ContextDepth <= band.most {
				bands[true] = band.name
			}
		}
		rec.sets["depth_band"] = []string{bands[true]}
	}
	if b.RunDate != nil && strings.Contains(string(*b.RunDate), "-") {
		rec.sets[Month] = []string{string(*b.RunDate)[:7]}
	}
	switch {
	case b.GenerationTPS == nil:
	case b.RateBasis != nil && *b.RateBasis == "decode":
		rec.nums[PerStream] = *b.GenerationTPS
	case b.Concurrency != nil:
		rec.nums[PerStream] = *b.GenerationTPS / float64(*b.Concurrency)
	}
	if b.GenerationTPS != nil && b.PowerWatts != nil {
		rec.nums["tokens_per_joule"] = *b.GenerationTPS / *b.PowerWatts
	}
	rec.num("ttft_ms", b.TTFTMs)
	rec.num("total_tps", b.TotalTPS)
	for _, f := range []Field{Concurrency, "hardware_count", "context_depth", "threads", "n_prompt", "n_gen", "reproduced_by"} {
		for _, v := range rec.sets[f] {
			rec.nums[f], _ = strconv.ParseFloat(v, 64)
		}
	}
	rec.page = "own"
	if b.SourceURL != nil {
		rec.page = string(*b.SourceURL)
	}
}

// plainVariants follows the links between hardware until nothing is added.
func plainVariants(s *dataset.Set) map[string][]string {
	out := map[string][]string{}
	for _, of := range s.Hardware {
		forms := map[dataset.Slug]bool{of.Slug: true}
		for before := 0; before < len(forms); {
			before = len(forms)
			for _, h := range s.Hardware {
				if h.IntegratedGPU != nil && forms[*h.IntegratedGPU] {
					forms[h.Slug] = true
				}
				if forms[h.Slug] && h.Variants != nil {
					for _, v := range *h.Variants {
						forms[v] = true
					}
				}
			}
		}
		for _, h := range s.Hardware {
			all := h.Chip != nil && len(*h.Chip) > 0
			for _, c := range list2(h.Chip) {
				all = all && forms[c]
			}
			if all {
				forms[h.Slug] = true
			}
		}
		for f := range forms {
			if f != of.Slug {
				out[string(of.Slug)] = append(out[string(of.Slug)], string(f))
			}
		}
	}
	return out
}

func list2[T any](v *[]T) []T {
	if v == nil {
		return nil
	}
	return *v
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
	whole := string(*d) + "-01-01"[:len("2024-05-31")-len(*d)] // its first day
	n, err := strconv.ParseFloat(strings.ReplaceAll(whole, "-", ""), 64)
	if err != nil {
		panic(err)
	}
	r.nums[f] = n
}

// has reports whether a record has one of the values of a set.
func (p *plain) has(r *plainRecord, s Set) bool {
	have := r.sets[s.Field]
	var forms map[string][]string
	if !s.OnlySelf {
		forms = p.variants[s.Field]
	}
	for _, v := range s.Values {
		if prefix, ok := strings.CutSuffix(v, "*"); ok {
			if slices.ContainsFunc(have, func(h string) bool { return strings.HasPrefix(h, prefix) }) {
				return true
			}
			continue
		}
		if v == r.slug && (s.Field == Slug || s.Field == "id") || slices.Contains(have, v) {
			return true
		}
		if forms != nil && slices.ContainsFunc(forms[v], func(form string) bool { return slices.Contains(have, form) }) {
			return true
		}
	}
	return false
}

// holds reports whether the record matches the query, except for the set and the range left out;
// -1 leaves out none.
func (p *plain) holds(r *plainRecord, q Query, exceptSet, except int) bool {
	return p.matches(r, q, exceptSet, except) && (p.asks(q, exceptSet) || p.listed == nil || p.listed(r))
}

// asks reports whether a query is for throughput results as well.
func (p *plain) asks(q Query, exceptSet int) bool {
	for i, s := range q.Sets {
		if i != exceptSet && (s.Field == Scenario || s.Field == ID) {
			return true
		}
	}
	return false
}

// matches is holds for records that are listed only if they are asked for as well.
func (p *plain) matches(r *plainRecord, q Query, exceptSet, except int) bool {
	for i, s := range q.Sets {
		if i != exceptSet && !p.has(r, s) {
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

// position is the place of the record in an order.
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
	Slugs                    []string
	Total                    int
	Excluded, ExcludedBySets []int
	Unlisted                 int
	Mixed                    []SettingCount
	Next                     *Position
}

// answer answers a query the slow way.
func (p *plain) answer(q Query) answer {
	var found []Position
	var mixed []SettingCount
	unlisted := 0
	for i := range p.recs {
		if p.holds(&p.recs[i], q, -1, -1) {
			found = append(found, p.position(&p.recs[i], q.Sort))
			mixed = p.recs[i].addSettings(mixed)
		} else if p.matches(&p.recs[i], q, -1, -1) {
			unlisted++
		}
	}
	out := answer{Total: len(found), Unlisted: unlisted, Excluded: p.excluded(q), ExcludedBySets: p.excludedBySets(q)}
	bySettings := slices.ContainsFunc(q.Sets, func(s Set) bool { return s.Field == Settings || s.Field == Scenario })
	speed := slices.Contains([]Field{"generation_tps", "generation_tps_per_stream", "prompt_tps", "roofline_ratio"}, q.Sort.Field)
	if p.home.Field == RunDate && q.Limit > 0 && speed && !bySettings {
		out.Mixed = slices.DeleteFunc(mixed, func(s SettingCount) bool { return s.Count == 0 })
	}
	if len(out.Mixed) == 0 {
		out.Mixed = nil
	}
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

// addSettings adds the settings of a benchmark that one of a single stream does not have.
func (r *plainRecord) addSettings(counts []SettingCount) []SettingCount {
	if counts == nil {
		counts = []SettingCount{
			{"rate_basis", "end_to_end", 0},
			{"rate_basis", "total", 0},
			{Concurrency, ">1", 0},
			{"hardware_count", ">1", 0},
			{"speculative_decoding", "true", 0},
			{"partial_offload", "true", 0},
			{"compute_unit", "mixed", 0},
			{"context_depth", ">512", 0},
			{"n_prompt", ">1200", 0},
			{Settings, "unknown", 0},
		}
	}
	if slices.Contains(r.sets[Settings], "single_stream") {
		return counts
	}
	for i, c := range counts {
		has := slices.Contains(r.sets[c.Field], c.Value)
		if least, above := strings.CutPrefix(c.Value, ">"); above {
			n, _ := strconv.ParseFloat(least, 64)
			has = r.nums[c.Field] > n
		}
		if c.Field == "n_prompt" {
			has = slices.Contains(r.sets[Settings], "long_prompt")
		}
		if has || c.Value == "unknown" && len(r.sets[Settings]) == 0 {
			counts[i].Count++
		}
	}
	return counts
}

func (p *plain) excluded(q Query) []int {
	var out []int
	for i, rg := range q.Ranges {
		n := 0
		for j := range p.recs {
			if _, known := p.recs[j].nums[rg.Field]; !known && p.holds(&p.recs[j], q, -1, i) {
				n++
			}
		}
		out = append(out, n)
	}
	return out
}

// excludedBySets counts the records without a value of each filter. What has no scenario is no throughput result.
func (p *plain) excludedBySets(q Query) []int {
	var out []int
	for i, s := range q.Sets {
		n := 0
		for j := range p.recs {
			unknown := p.recs[j].sets[s.Field] == nil && slices.Contains(p.sets, s.Field)
			if unknown && s.Field != Scenario && p.holds(&p.recs[j], q, i, -1) {
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
	out := answer{Total: page.Total, Excluded: page.Excluded, ExcludedBySets: page.ExcludedBySets, Unlisted: page.Unlisted, Mixed: page.Mixed, Next: page.Next}
	for _, ord := range page.Ords {
		out.Slugs = append(out.Slugs, t.Slug(ord))
	}
	return out
}

func tables(gen *Generation) [4]*Table {
	return [4]*Table{gen.Models, gen.Hardware, gen.Tools, gen.Benchmarks}
}

// sameNumber compares numbers; unknown equals unknown.
func sameNumber(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

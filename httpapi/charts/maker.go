package charts

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/httpapi/rowjson"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Maker makes the figures of a generation. Slugs that are not known give figures without a drawing.
type Maker struct{ gen *index.Generation }

// For returns the maker of a generation.
func For(gen *index.Generation) Maker { return Maker{gen} }

// The bounds of what one figure reads and draws.
const (
	mostRead = 3000 // runs read, the newest first
	mostRows = 24   // rows of a plot of speeds
	mostDots = 40   // runs drawn in one row
	mostRoof = 400  // runs drawn under a roof
	mostSame = 14   // rows of a comparison
	mostNear = 16   // neighbours
)

type modelRow struct {
	Slug          string
	Name          string
	ContextLength int64
	Sizes         []sizeRow
}

// modelDetail is what is read of the detail of a model.
type modelDetail struct {
	Name         string `json:"name"`
	Architecture struct {
		ContextLength *int64 `json:"context_length"`
	} `json:"architecture"`
	Quantizations []sizeRow `json:"quantizations"`
}

type sizeRow struct {
	Name          string   `json:"name"`
	BitsPerWeight *float64 `json:"bits_per_weight"`
	SizeBytes     int64    `json:"size_bytes"`
	Basis         string   `json:"basis"`
	Source        *string  `json:"source"`
}

func (m Maker) model(slug string) modelRow {
	ord, ok := m.gen.Models.Find(slug)
	if !ok {
		return modelRow{Slug: slug, Name: slug}
	}
	row := read[modelDetail](m.gen.Models.Detail(ord), modelMembers)
	out := modelRow{Slug: slug, Name: row.Name, Sizes: row.Quantizations}
	if row.Architecture.ContextLength != nil {
		out.ContextLength = *row.Architecture.ContextLength
	}
	return out
}

// The names of what is read of rows.
var (
	modelMembers    = rowjson.NamesFor[modelDetail]()
	hardwareMembers = rowjson.NamesFor[hardwareRow]()
)

// read decodes the members of a row of the index that a type has. The row was encoded by the same program.
func read[T any](row []byte, members rowjson.Names) (out T) {
	if err := jsonv2.Unmarshal(rowjson.Pick(row, members), &out); err != nil {
		panic(fmt.Errorf("a row of the index is not what it was: %w", err))
	}
	return out
}

func (m Maker) modelName(slug string) string { return nameIn(m.gen.Models, slug) }

func (m Maker) hardwareName(slug string) string { return nameIn(m.gen.Hardware, slug) }

func nameIn(t *index.Table, slug string) string {
	ord, ok := t.Find(slug)
	if !ok {
		return slug
	}
	return rowjson.Text(t.Row(ord), "name")
}

// runMembers are the members of a run that are read of its row, in the order of rows.
var runMembers = []string{"id", "quantization", "tool", "tool_version", "backend", "context_depth", "flash_attention", "source_url", "run_date"}

// run reads a run, for those that are drawn.
func (m Maker) run(r measured) Run {
	var b dataset.Benchmark
	rowjson.ReadRun(&b, m.gen.Benchmarks.Row(r.ord), runMembers)
	return Run{ID: string(b.ID), TPS: r.tps, Quantization: known(b.Quantization), Settings: settings(&b), Source: string(known(b.SourceURL))}
}

// known is a value, or the zero value where it is unknown.
func known[T any](v *T) (out T) {
	if v != nil {
		out = *v
	}
	return out
}

// settings says in words how a run was made.
func settings(b *dataset.Benchmark) string {
	parts := append(make([]string, 0, 5), string(b.Tool))
	if b.ToolVersion != nil {
		parts[0] += " " + *b.ToolVersion
	}
	if b.Backend != nil {
		parts = append(parts, *b.Backend)
	}
	if depth := known(b.ContextDepth); depth > 0 {
		parts = append(parts, "at "+tokens(depth)+" tokens")
	}
	if known(b.FlashAttention) {
		parts = append(parts, "flash attention")
	}
	if b.RunDate != nil {
		parts = append(parts, string(*b.RunDate))
	}
	return strings.Join(parts, ", ")
}

// A measured run is one with a speed, by its ordinal. What figures group and count by is read from the columns.
type measured struct {
	ord uint32
	tps float64
}

// runs reads the newest runs of one stream of a record and its variants, and how many there are.
func (m Maker) runs(f index.Field, slug string) ([]measured, int) {
	return m.runsOf(index.Set{Field: f, Values: []string{slug}})
}

// runsOf is runs of what matches all sets.
func (m Maker) runsOf(sets ...index.Set) ([]measured, int) {
	ords, total := m.gen.Benchmarks.First(index.Query{Sets: append(sets, index.Set{Field: index.Settings, Values: []string{index.SingleStream}}), Limit: mostRead})
	out := make([]measured, 0, len(ords))
	for _, ord := range ords {
		if tps := m.gen.Benchmarks.Number(index.GenerationTPS, ord); tps > 0 {
			out = append(out, measured{ord, tps})
		}
	}
	return out, total
}

// of is the value of a field of a run, empty where it is unknown.
func (m Maker) of(f index.Field, r measured) string { return m.gen.Benchmarks.Text(f, r.ord) }

// source is the line about where the values of a figure come from.
func (m Maker) source(what string) string {
	return fmt.Sprintf("Source: modeldex %s, %s%s.", m.gen.Info.Version, m.gen.Info.License, what)
}

// pages counts the pages that runs were published on.
func (m Maker) pages(runs []measured) int {
	seen := map[uint32]bool{}
	for _, r := range runs {
		seen[m.gen.Benchmarks.SourcePage(r.ord)] = true
	}
	return len(seen)
}

func address(preset string, params ...string) string {
	v := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		v.Set(params[i], params[i+1])
	}
	return "/charts/" + preset + ".svg?" + strings.ReplaceAll(v.Encode(), "%2C", ",")
}

// usualSizes are the quantizations people choose from, the most usual first. A plot of memory shows
// the first few of them that the model has.
var usualSizes = []string{"Q4_K_M", "Q8_0", "MXFP4", "BF16", "F16", "Q2_K", "Q6_K", "Q5_K_M", "Q3_K_M", "IQ4_XS", "Q4_0", "FP8", "NVFP4", "AWQ", "4bit", "8bit"}

// ModelMemory draws memory against context of a model.
func (m Maker) ModelMemory(slug string) *Figure {
	model := m.model(slug)
	d := MemoryData{Model: model.Name, Source: m.source("; computed from the published architecture")}
	for _, name := range chosenSizes(model.Sizes, m.mostMeasured(slug, model.Sizes)) {
		d.Lines = append(d.Lines, m.memoryLine(&model, name))
	}
	f := Memory(d)
	f.Address = address("model-memory", "model", slug)
	return f
}

// mostMeasured is the size of a model that most benchmarks used, empty without any.
func (m Maker) mostMeasured(slug string, sizes []sizeRow) string {
	counts := map[string]int{}
	for _, s := range sizes {
		_, counts[s.Name] = m.gen.Benchmarks.First(index.Query{Sets: []index.Set{{Field: index.Model, Values: []string{slug}}, {Field: index.Quantization, Values: []string{s.Name}}}})
	}
	if name := most(counts); counts[name] > 0 {
		return name
	}
	return ""
}

// chosenSizes are at most four sizes of a model, the largest first: the main one and usual ones.
func chosenSizes(sizes []sizeRow, main string) []string {
	bytes := map[string]int64{}
	for _, s := range sizes {
		if s.SizeBytes > 0 {
			bytes[s.Name] = s.SizeBytes
		}
	}
	var out []string
	for _, name := range append([]string{main}, usualSizes...) {
		same := func(o string) bool { return math.Abs(math.Log(float64(bytes[o])/float64(bytes[name]))) < 0.12 }
		if bytes[name] > 0 && len(out) < 4 && !slices.ContainsFunc(out, same) {
			out = append(out, name)
		}
	}
	for _, s := range sizes {
		if len(out) == 0 && s.SizeBytes > 0 {
			out = append(out, s.Name)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return -cmp.Compare(bytes[a], bytes[b]) })
	return out
}

// memoryLine asks the fit engine at powers of two up to the limit of the model. The machine is
// larger than any: only what is taken counts.
func (m Maker) memoryLine(model *modelRow, quantization string) MemoryLine {
	line := MemoryLine{Name: quantization}
	limit := model.ContextLength
	if limit == 0 {
		limit = 131072
	}
	for context := int64(1024); ; context *= 2 {
		context = min(context, limit, fit.MaxContext)
		answer, fault := m.gen.Fit.Fit(fit.Query{Model: dataset.Slug(model.Slug), Quantization: quantization, Context: context, MemoryGB: 1e6, BestOnly: true})
		if fault != nil || len(answer.Sizes) == 0 {
			return line
		}
		if need := answer.Sizes[0].Memory; need.Cache != nil && need.Compute != nil {
			line.Points = append(line.Points, MemoryPoint{context, need.Weights.Bytes, need.Cache.Bytes.Bytes, need.Compute.Bytes, need.Cache.Basis == fit.UpperBound})
		}
		if context >= min(limit, fit.MaxContext) {
			return line
		}
	}
}

// ModelSizes draws the sizes of the quantizations of a model.
func (m Maker) ModelSizes(slug string) *Figure {
	model := m.model(slug)
	d := SizesData{Model: model.Name, Source: m.source("; the table names the page of each size")}
	for _, s := range model.Sizes {
		size := Size{Name: s.Name, Bytes: s.SizeBytes, BitsPerWeight: math.NaN(), Published: s.Basis == "published"}
		if s.BitsPerWeight != nil {
			size.BitsPerWeight = *s.BitsPerWeight
		}
		if s.Source != nil {
			size.Href = *s.Source
		}
		d.Sizes = append(d.Sizes, size)
	}
	f := Sizes(d)
	f.Address = address("model-sizes", "model", slug)
	return f
}

// ModelSpeeds draws the measured speed of a model by hardware.
func (m Maker) ModelSpeeds(slug string) *Figure {
	runs, total := m.runs(index.Model, slug)
	d := SpeedsData{Title: m.modelName(slug) + ": measured speed by hardware", Group: "Hardware", Runs: total}
	d.Source = m.source(fmt.Sprintf("; runs published on %s", count(m.pages(runs), "page")))
	byHardware := map[string][]measured{}
	quantizations := map[string]int{}
	for _, r := range runs {
		name := m.of(index.Hardware, r)
		byHardware[name] = append(byHardware[name], r)
		quantizations[m.of(index.Quantization, r)]++
	}
	d.Total = len(byHardware)
	if main := most(quantizations); 4*quantizations[main] >= len(runs) {
		d.Main = main // what fewer used is not the usual one
	}
	names := slices.SortedFunc(maps.Keys(byHardware), func(a, b string) int {
		return cmp.Or(-cmp.Compare(len(byHardware[a]), len(byHardware[b])), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), mostRows)] {
		row := SpeedRow{Name: m.hardwareName(name), Href: "/hardware/" + name}
		for _, r := range every(m.fastestFirst(byHardware[name]), mostDots) {
			row.Runs = append(row.Runs, m.run(r))
		}
		d.Rows = append(d.Rows, row)
	}
	f := Speeds(d)
	f.Address = address("model-speeds", "model", slug)
	return f
}

// fastestFirst sorts runs by speed, then by id.
func (m Maker) fastestFirst(runs []measured) []measured {
	slices.SortFunc(runs, func(a, b measured) int {
		if a.tps != b.tps {
			return -cmp.Compare(a.tps, b.tps)
		}
		return cmp.Compare(m.gen.Benchmarks.Slug(a.ord), m.gen.Benchmarks.Slug(b.ord))
	})
	return runs
}

// most is the text that was counted most; the first in order of letters where several were.
func most(counts map[string]int) string {
	best := ""
	for text, n := range counts {
		if text != "" && (n > counts[best] || n == counts[best] && text < best || best == "") {
			best = text
		}
	}
	return best
}

type hardwareRow struct {
	Slug                string   `json:"slug"`
	Name                string   `json:"name"`
	Vendor              string   `json:"vendor"`
	Type                string   `json:"type"`
	VRAMGB              *float64 `json:"vram_gb"`
	MemoryBandwidthGBps *float64 `json:"memory_bandwidth_gbps"`
	LaunchPriceUSD      *float64 `json:"launch_price_usd"`
	ReleaseDate         *string  `json:"release_date"`
	StreetPriceUSD      *float64 `json:"street_price_usd"`
	StreetPriceDate     *string  `json:"street_price_date"`
	StreetPriceSource   *string  `json:"street_price_source"`
	StreetPriceKind     *string  `json:"street_price_condition"`
}

func (m Maker) hardware(slug string) (hardwareRow, bool) {
	ord, ok := m.gen.Hardware.Find(slug)
	if !ok {
		return hardwareRow{Slug: slug, Name: slug}, false
	}
	row := read[hardwareRow](m.gen.Hardware.Row(ord), hardwareMembers)
	return row, true
}

func number(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

// priced is hardware at the price seen in the street, or else that of its launch.
func (h *hardwareRow) priced() Priced {
	p := Priced{Name: h.Name, Href: "/hardware/" + h.Slug, PriceUSD: number(h.StreetPriceUSD), BandwidthGBps: number(h.MemoryBandwidthGBps), MemoryGB: number(h.VRAMGB)}
	switch {
	case h.StreetPriceUSD != nil:
		p.Street, p.PriceKind = true, "street"
		if h.StreetPriceKind != nil {
			p.PriceKind += ", " + *h.StreetPriceKind
		}
		if h.StreetPriceDate != nil {
			p.PriceKind += ", " + *h.StreetPriceDate
		}
		if h.StreetPriceSource != nil {
			p.PriceHref = *h.StreetPriceSource
		}
	case h.LaunchPriceUSD != nil:
		p.PriceUSD, p.PriceKind = *h.LaunchPriceUSD, "launch"
		if h.ReleaseDate != nil {
			p.PriceKind += ", " + *h.ReleaseDate
		}
	default:
		p.PriceKind = "unknown"
	}
	return p
}

// HardwareRoof draws the runs of a piece of hardware under the roof of its memory bandwidth.
func (m Maker) HardwareRoof(slug string) *Figure {
	h, _ := m.hardware(slug)
	runs, total := m.runs(index.Hardware, slug)
	d := RoofData{Hardware: h.Name, BandwidthGBps: number(h.MemoryBandwidthGBps), Total: total, Source: m.source(fmt.Sprintf("; runs published on %s", count(m.pages(runs), "page")))}
	modelNames := map[string]string{}
	for _, r := range runs {
		ratio := m.gen.Benchmarks.Number(index.Roofline, r.ord)
		if !(ratio > 0) || m.of(index.Hardware, r) != slug || len(d.Runs) == mostRoof {
			continue // variants may have another bandwidth
		}
		model := m.of(index.Model, r)
		if modelNames[model] == "" {
			modelNames[model] = m.modelName(model)
		}
		d.Runs = append(d.Runs, RoofRun{m.run(r), modelNames[model], ratio * d.BandwidthGBps / r.tps, ratio})
	}
	f := Roof(d)
	f.Address = address("hardware-roof", "hardware", slug)
	return f
}

// found is what runs on a piece of hardware, none where that cannot be said.
func (m Maker) found(slug string) []fit.Best {
	runs, _ := m.gen.Fit.Models(fit.Query{Hardware: dataset.Slug(slug), MeasuredFirst: true}, 0)
	return runs.Found
}

// scored are the models among those found that have a score and fit with at least four bits per weight. The
// score is of the full model, and says little about a smaller size.
func (m Maker) scored(found []fit.Best) (models []FitModel) {
	for i := range found {
		b := &found[i]
		ord, ok := m.gen.Models.Find(string(b.Model))
		if !ok || b.BelowLeastBits() {
			continue
		}
		score := m.gen.Models.Number("intelligence", ord)
		if math.IsNaN(score) {
			continue
		}
		out := FitModel{Quantization: b.Quantization, MemoryGB: float64(b.Total) / gib, TPS: number(b.TPS), Tight: b.Verdict == fit.Tight}
		out.Measured = b.Use != nil && *b.Use == fit.UseMeasured
		out.Name, out.Href, out.Score = m.modelName(string(b.Model)), "/models/"+string(b.Model), score
		models = append(models, out)
	}
	return models
}

// HardwareFits is the models with the highest scores that run on a piece of hardware.
func (m Maker) HardwareFits(slug string) *Figure { return m.FitsOf(slug, m.found(slug)) }

// FitsOf is HardwareFits of what was found to run on the hardware alone, measured sizes first.
func (m Maker) FitsOf(slug string, found []fit.Best) *Figure {
	f := Fits(FitsData{Hardware: m.hardwareName(slug), Models: m.scored(found), Total: len(found), Source: m.source("; scores of the newest snapshot, speeds measured or estimated from measurements")})
	f.Address = address("hardware-fits", "hardware", slug)
	return f
}

// HardwareFrontier is the intelligence of models against their speed on a piece of hardware.
func (m Maker) HardwareFrontier(slug string) *Figure { return m.FrontierOf(slug, m.found(slug)) }

// FrontierOf is HardwareFrontier of what was found, as FitsOf.
func (m Maker) FrontierOf(slug string, found []fit.Best) *Figure {
	f := Frontier(FrontierData{Hardware: m.hardwareName(slug), Models: m.scored(found), Source: m.source("; scores of the newest snapshot, speeds measured or estimated from measurements")})
	f.Address = address("hardware-frontier", "hardware", slug)
	return f
}

// HardwareNeighbours draws price and bandwidth of a piece of hardware among others of its type that
// are near it in price, bandwidth and memory.
func (m Maker) HardwareNeighbours(slug string) *Figure {
	h, ok := m.hardware(slug)
	d := NeighboursData{Hardware: h.Name, Of: h.priced(), Source: m.source("; the table says which price")}
	if ok && d.Of.known() {
		d.Others = m.near(slug, &h, d.Of.PriceUSD)
	}
	f := Neighbours(d)
	f.Address = address("hardware-neighbours", "hardware", slug)
	return f
}

// near finds the nearest priced hardware of the same type, by the columns of the table.
func (m Maker) near(slug string, h *hardwareRow, price float64) []Priced {
	t := m.gen.Hardware
	type candidate struct {
		ord      uint32
		distance float64
	}
	var found []candidate
	same, _ := t.First(index.Query{Sets: []index.Set{{Field: "type", Values: []string{h.Type}}}, Limit: t.Len()})
	for _, ord := range same {
		p := t.Number("street_price_usd", ord)
		if math.IsNaN(p) {
			p = t.Number("launch_price_usd", ord)
		}
		distance := apart(p, price) + apart(t.Number("memory_bandwidth_gbps", ord), number(h.MemoryBandwidthGBps))
		if memory := apart(t.Number("vram_gb", ord), number(h.VRAMGB)); finite(memory) {
			distance += memory
		}
		if finite(distance) && t.Slug(ord) != slug {
			found = append(found, candidate{ord, distance})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.ord, b.ord))
	})
	var out []Priced
	for _, c := range found[:min(len(found), mostNear)] {
		other, _ := m.hardware(t.Slug(c.ord))
		out = append(out, other.priced())
	}
	return out
}

// apart is the distance of two values as a logarithm, NaN where one is unknown or zero.
func apart(a, b float64) float64 { return math.Abs(math.Log(ratio(a, b))) }

// hardwareComparison compares pieces of hardware.
func (m Maker) hardwareComparison() *comparison {
	return &comparison{
		preset: "compare", table: "hardware", field: index.Hardware, title: "The same measurements on ", row: "Model and quantization",
		name: m.hardwareName, other: index.Model, otherName: m.modelName,
	}
}

// CompareHardware draws the same measurements of several pieces of hardware side by side.
func (m Maker) CompareHardware(slugs []string) *Figure {
	c := m.hardwareComparison()
	return m.compare(c, slugs, m.groups(c, slugs))
}

// CompareHardwareAndPrices are the figures CompareHardware and HardwarePrices, whose runs are read once.
func (m Maker) CompareHardwareAndPrices(slugs []string) (speeds, prices *Figure) {
	c := m.hardwareComparison()
	groups := m.groups(c, slugs)
	return m.compare(c, slugs, groups), m.prices(slugs, groups)
}

// CompareModels draws the speed of several models on the same hardware side by side.
func (m Maker) CompareModels(slugs []string) *Figure {
	c := &comparison{
		preset: "compare-models", table: "models", field: index.Model, title: "The same measurements of ", row: "Hardware and quantization",
		name: m.modelName, other: index.Hardware, otherName: m.hardwareName,
	}
	return m.compare(c, slugs, m.groups(c, slugs))
}

// comparison is what is compared, and by what the measurements are the same.
type comparison struct {
	preset, table string // of the address of the figure, and of a page of what is compared
	field         index.Field
	title, row    string
	name          func(slug string) string
	other         index.Field
	otherName     func(slug string) string
}

func (m Maker) compare(c *comparison, slugs []string, groups []*group) *Figure {
	d := CompareData{Row: c.row}
	for _, slug := range slugs[:min(len(slugs), MostCompared)] {
		d.Series = append(d.Series, Series{c.name(slug), "/" + c.table + "/" + slug})
	}
	d.Rows, d.Total = m.sharedRows(c, slugs, groups)
	d.Title, d.Source = c.title+names(d.Series), m.source("; the table has every median")
	f := Compare(d)
	f.Address = address(c.preset, c.table, strings.Join(slugs, ","))
	return f
}

// group is the runs of one configuration on several things.
type group struct {
	name, quantization string
	runs               [][]measured // by place of the thing
	shared, total      int          // things with runs, runs
}

// groups gathers the runs of a comparison by its other field and the quantization, the most shared first.
func (m Maker) groups(c *comparison, slugs []string) []*group {
	byName := map[[2]string]*group{}
	slugs = slugs[:min(len(slugs), MostCompared)]
	for i, slug := range slugs {
		runs, _ := m.runs(c.field, slug)
		for _, r := range runs {
			key := [2]string{m.of(c.other, r), m.of(index.Quantization, r)}
			if key[1] == "" {
				continue
			}
			g := byName[key]
			if g == nil {
				g = &group{name: key[0], quantization: key[1], runs: make([][]measured, len(slugs))}
				byName[key] = g
			}
			if len(g.runs[i]) == 0 {
				g.shared++
			}
			g.runs[i] = append(g.runs[i], r)
			g.total++
		}
	}
	var out []*group
	for _, g := range byName {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *group) int {
		return cmp.Or(-cmp.Compare(a.shared, b.shared), -cmp.Compare(a.total, b.total), cmp.Compare(a.name, b.name), cmp.Compare(a.quantization, b.quantization))
	})
	return out
}

// sharedRows are the rows of the groups that at least two things share, and how many those are.
func (m Maker) sharedRows(c *comparison, slugs []string, groups []*group) (rows []CompareRow, total int) {
	for _, g := range groups {
		if g.shared < 2 {
			break
		}
		if total++; total > mostSame {
			continue
		}
		row := CompareRow{Name: c.otherName(g.name) + " " + g.quantization}
		for i, runs := range g.runs {
			row.Values = append(row.Values, m.spreadOf(c, slugs[i], g, runs))
		}
		rows = append(rows, row)
	}
	return rows, total
}

// spreadOf is the runs of the thing with the slug in one group. Several lead to the list of them.
func (m Maker) spreadOf(c *comparison, slug string, g *group, runs []measured) Spread {
	if len(runs) == 0 {
		return Spread{}
	}
	speeds := make([]Run, len(runs))
	for i, r := range runs {
		speeds[i] = Run{TPS: r.tps}
	}
	s := Spread{N: len(runs), Href: benchmarkHref(m.gen.Benchmarks.Slug(runs[0].ord))}
	if len(runs) > 1 {
		s.Href = m.ListOf(c.field, slug, c.other, g.name, g.quantization)
	}
	slices.SortFunc(speeds, func(a, b Run) int { return cmp.Compare(a.TPS, b.TPS) })
	s.Low, s.Mid, s.High = speeds[0].TPS, middle(speeds), speeds[len(speeds)-1].TPS
	return s
}

// mostIDs is how many ids the filter of a list takes.
const mostIDs = 50

// ListOf is the address of the list of the runs of a group. They are those of one stream that the filter of a field
// gives, with this value of another field and this quantization, which is empty where it is not known. Filters name
// them, or their ids where the filters give others too: those of variants, or of every quantization.
func (m Maker) ListOf(field index.Field, slug string, other index.Field, value, quantization string) string {
	q := url.Values{string(field): {slug}, string(other): {value}, "settings": {index.SingleStream}, "sort": {"-generation_tps"}}
	sets := []index.Set{{Field: field, Values: []string{slug}}, {Field: other, Values: []string{value}}}
	if quantization != "" {
		q.Set("quantization", quantization)
		sets = append(sets, index.Set{Field: index.Quantization, Values: []string{quantization}})
	}
	var ids []string
	runs, total := m.runsOf(sets...)
	for _, r := range runs {
		if m.of(other, r) == value && m.of(index.Quantization, r) == quantization {
			ids = append(ids, m.gen.Benchmarks.Slug(r.ord))
		}
	}
	if len(ids) != total && len(ids) <= mostIDs {
		q = url.Values{"id": {strings.Join(ids, ",")}, "sort": {"-generation_tps"}}
	}
	return "/explore/benchmarks?" + strings.ReplaceAll(q.Encode(), "%2C", ",")
}

// HardwarePrices draws price per GB and per token per second of several pieces of hardware. The
// speed is that of the configuration most of them were measured with.
func (m Maker) HardwarePrices(slugs []string) *Figure {
	return m.prices(slugs, m.groups(m.hardwareComparison(), slugs))
}

func (m Maker) prices(slugs []string, groups []*group) *Figure {
	slugs = slugs[:min(len(slugs), MostCompared)]
	d := PricesData{Title: "What memory and speed cost", Source: m.source("; the table says which price")}
	model, quantization := "llama-3.1-8b-instruct", "Q4_K_M"
	if len(groups) > 0 && groups[0].shared > 1 {
		model, quantization = groups[0].name, groups[0].quantization
	}
	d.Work = m.modelName(model) + " " + quantization
	for _, slug := range slugs {
		h, _ := m.hardware(slug)
		item := PriceItem{Priced: h.priced(), TPS: math.NaN()}
		answer, fault := m.gen.Fit.Fit(fit.Query{Model: dataset.Slug(model), Quantization: quantization, Hardware: dataset.Slug(slug), BestOnly: true})
		if fault == nil && len(answer.Sizes) > 0 && answer.Sizes[0].Speed != nil && answer.Sizes[0].Speed.TPS != nil {
			item.TPS, item.Measured = *answer.Sizes[0].Speed.TPS, *answer.Sizes[0].Speed.Use == fit.UseMeasured
			item.Rests = "/fit?" + url.Values{"hardware": {slug}, "model": {model}, "quantization": {quantization}}.Encode() + "#rests"
		}
		d.Items = append(d.Items, item)
	}
	f := Prices(d)
	f.Address = address("prices", "hardware", strings.Join(slugs, ","))
	return f
}

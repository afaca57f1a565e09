package pages

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/index"
)

// Hardware is the page of a piece of hardware. ord is its ordinal in the generation.
func (s *Site) Hardware(gen *index.Generation, ord uint32, at Place) *Sheet {
	h := decode[hardwareRecord](gen.Hardware.Detail(ord))
	sources, refs := sourcesOf(h.Sources)
	v := &Sheet{
		Frame: recordFrame(gen, at, "/explore/hardware", h.Name, h.Name+": "+hardwareLead(h)+". Which models run on it, and how fast, with sources."),
		Kind:  "hardware", Heading: h.Name,
		Crumbs: []Link{{Text: "Hardware", Href: "/explore/hardware"}, {Text: vendorName(h.Vendor), Href: "/explore/hardware?vendor=" + url.QueryEscape(string(h.Vendor))}},
		Lead:   hardwareLead(h), Sources: sources, Figures: hardwareFigures(gen, h, refs), Groups: hardwareGroups(gen, h, refs),
		Actions: []Link{
			{Text: "All models that run", Href: "/fit?hardware=" + url.QueryEscape(string(h.Slug)), NoFollow: true},
			{Text: "Compare", Href: "/compare?hardware=" + url.QueryEscape(string(h.Slug)), NoFollow: true},
		},
	}
	v.Title += ": which models run on it, and how fast" // what people search for
	if h.Note != nil {
		v.Notes = append(v.Notes, *h.Note)
	}
	runs, _ := gen.Fit.Models(fit.Query{Hardware: h.Slug, MeasuredFirst: true}, 0) // none at all without its memory
	best := BestFirst(gen, runs.Found)
	v.Tables = append(v.Tables, fitsTable(gen, h, best), speedByModel(gen, h), neighboursTable(gen, h), pricesTable(h), hardwareRuns(gen, h))
	v.Answer = hardwareAnswer(gen, h, best, len(runs.Undecided))
	draw, slug := charts.For(gen), string(h.Slug)
	v.Tables[0].Plot = plot(draw.FrontierOf(slug, runs.Found), "plot-fits", at.Base)
	v.Tables[1].Plot = plot(draw.HardwareRoof(slug), "plot-speed", at.Base)
	v.Tables[2].Plot = plot(draw.HardwareNeighbours(slug), "plot-neighbours", at.Base)
	v.Tables = slices.DeleteFunc(v.Tables, func(t Table) bool { return t.ID == "prices" && len(t.Rows) == 0 })
	s.finishRecord(v, "hardware", string(h.Slug), h.Name)
	return v
}

// vendorNames are names that are not the slug with a capital letter.
var vendorNames = map[dataset.Vendor]string{"nvidia": "NVIDIA", "amd": "AMD", "aws": "AWS", "hisilicon": "HiSilicon", "mediatek": "MediaTek", "moorethreads": "Moore Threads", "sambanova": "SambaNova", "sifive": "SiFive", "spacemit": "SpacemiT"}

func vendorName(v dataset.Vendor) string {
	return cmp.Or(vendorNames[v], Sentence(string(v)))
}

// typeNames are types of hardware in words.
var typeNames = map[dataset.HardwareType]string{"gpu": "graphics card", "cpu": "processor", "apu": "processor with graphics", "soc": "system on a chip"}

func hardwareLead(h *hardwareRecord) string {
	parts := []string{vendorName(h.Vendor) + " " + cmp.Or(typeNames[h.Type], string(h.Type))}
	if h.VRAMGB != nil {
		memory := text.Exact(*h.VRAMGB) + " GB"
		if h.UnifiedMemory {
			memory += " unified memory"
		}
		parts = append(parts, memory)
	}
	if h.MemoryBandwidthGBps != nil {
		parts = append(parts, text.Rounded(*h.MemoryBandwidthGBps)+" GB/s")
	}
	if h.ReleaseDate != nil {
		parts = append(parts, "released "+dateText(h.ReleaseDate))
	}
	return strings.Join(parts, " · ")
}

func hardwareFigures(gen *index.Generation, h *hardwareRecord, refs map[string][]int) []Fact {
	f := facts{refs: refs}
	if h.VRAMGB != nil {
		note := str(h.MemoryType)
		if h.UnifiedMemory {
			note = strings.TrimSpace(note + " unified, largest size")
		}
		f.add("Memory", "vram_gb", Cell{Text: text.Exact(*h.VRAMGB) + " GB"}, note)
	} else if h.MaxMemoryGB != nil {
		f.add("Memory", "max_memory_gb", Cell{Text: text.Exact(*h.MaxMemoryGB) + " GB"}, "at most")
	}
	if h.MemoryBandwidthGBps != nil {
		f.add("Bandwidth", "memory_bandwidth_gbps", Cell{Text: text.Rounded(*h.MemoryBandwidthGBps)}, "GB/s")
	}
	if h.StreetPriceUSD != nil {
		condition, more, _ := strings.Cut(str(h.StreetPriceCondition), ",") // after the comma, how it was worked out
		price := Cell{Text: text.Dollars(*h.StreetPriceUSD), Href: webAddress(str(h.StreetPriceSource)), Title: Sentence(strings.TrimSpace(more))}
		f.add("Price", "street_price_usd", price, strings.TrimSpace(condition+" "+dateText(h.StreetPriceDate)))
	} else if h.LaunchPriceUSD != nil {
		f.add("Price", "launch_price_usd", Cell{Text: text.Dollars(*h.LaunchPriceUSD)}, "at launch")
	}
	runs, note := h.BenchmarkCountWithVariants, "measured runs"
	if page := siliconRuns(gen, h, 0); runs == 0 && page.Total > 0 {
		runs, note = page.Total, "measured runs of its silicon"
	}
	f.add("Benchmarks", "", Cell{Text: text.Whole(runs), Href: "#runs"}, note)
	return f.list
}

// siliconRuns are the newest runs of all hardware that has the silicon of this one, as a machine has that of its chip.
func siliconRuns(gen *index.Generation, h *hardwareRecord, limit int) index.Page {
	return gen.Benchmarks.Select(index.Query{Sets: []index.Set{{Field: index.Silicon, Values: []string{string(h.Slug)}}}, Limit: limit})
}

// hardwareRuns is the newest runs of a piece of hardware, or where it has none, of others with its silicon.
func hardwareRuns(gen *index.Generation, h *hardwareRecord) Table {
	t := runsOf(gen, index.Hardware, string(h.Slug), h.BenchmarkCount)
	page := siliconRuns(gen, h, shownRuns)
	if len(t.Rows) > 0 || page.Total == 0 {
		return t
	}
	t.Columns = runColumns(index.None)
	t.Intro = "No run of this record itself is known. " + newestOf(len(page.Ords), page.Total) + " of hardware with the same silicon."
	t.More = &Link{Text: "All of them, with filters", Href: "/explore/benchmarks?silicon=" + url.QueryEscape(string(h.Slug)), NoFollow: true}
	t.addRuns(gen, page.Ords, index.None)
	return t
}

func hardwareGroups(gen *index.Generation, h *hardwareRecord, refs map[string][]int) (out []Group) {
	f := facts{refs: refs}
	f.add("Vendor", "", Cell{Text: vendorName(h.Vendor), Href: "/explore/hardware?vendor=" + url.QueryEscape(string(h.Vendor)), NoFollow: true}, "")
	f.text("Kind", "", cmp.Or(typeNames[h.Type], string(h.Type)))
	f.text("Released", "release_date", cmp.Or(dateText(h.ReleaseDate), str(h.ReleaseQuarter)))
	f.text("Architecture", "architecture", str(h.Architecture))
	f.text("Processor cores", "cpu_architecture", str(h.CPUArchitecture))
	f.text("Form", "", str(h.FormFactor))
	f.text("Built by", "", str(h.Manufacturer))
	n := newNames(gen)
	for _, chip := range deref(h.Chip) {
		f.add("Chip", "", n.cell("hardware", chip), "")
	}
	if h.IntegratedGPU != nil {
		f.add("Graphics inside", "", n.cell("hardware", *h.IntegratedGPU), "")
	}
	for _, variant := range deref(h.Variants) {
		f.add("Variant", "", n.cell("hardware", variant), "")
	}
	f.text("Other names", "", strings.Join(h.Aliases, ", "))
	f.text("Slug", "", string(h.Slug))
	out = append(out, f.group("About")...)

	f.number("Memory", "vram_gb", h.VRAMGB, "GB")
	f.text("Sold with", "memory_options_gb", listOf(h.MemoryOptionsGB, "GB"))
	f.number("Memory of the machine", "memory_gb", h.MemoryGB, "GB")
	f.number("Most memory", "max_memory_gb", h.MaxMemoryGB, "GB")
	f.number("High-bandwidth memory", "hbm_gb", h.HBMGB, "GB")
	f.text("Kind of memory", "memory_type", str(h.MemoryType))
	f.flag("Unified", "", &h.UnifiedMemory)
	if h.MemoryBandwidthGBps != nil {
		f.add("Bandwidth", "memory_bandwidth_gbps", Cell{Text: text.Exact(*h.MemoryBandwidthGBps) + " GB/s"}, str(h.MemoryBandwidthBasis))
	}
	f.text("Measured bandwidth", "memory_bandwidth_range_gbps", listOf(h.MemoryBandwidthRangeGBps, "GB/s"))
	f.number("Read bandwidth", "memory_read_bandwidth_gbps", h.MemoryReadBandwidthGBps, "GB/s")
	f.count("Channels", "memory_channels", h.MemoryChannels, "")
	f.count("Memory speed", "memory_speed_mts", h.MemorySpeedMTs, "MT/s")
	out = append(out, f.group("Memory")...)

	if h.FP16TFLOPS != nil {
		f.add("FP16", "fp16_tflops", Cell{Text: text.Exact(*h.FP16TFLOPS) + " TFLOPS"}, str(h.FP16Basis))
	}
	f.number("FP16 tensor, FP16 accumulation", "fp16_tensor_fp16acc_tflops", h.FP16TensorFP16AccTFLOPS, "TFLOPS")
	f.number("FP16 vector", "fp16_vector_tflops", h.FP16VectorTFLOPS, "TFLOPS")
	f.number("FP32", "fp32_tflops", h.FP32TFLOPS, "TFLOPS")
	f.number("INT8", "int8_tops", h.INT8TOPS, "TOPS")
	f.number("Neural processor", "npu_tops", h.NPUTOPS, "TOPS")
	f.count("Graphics cores", "gpu_cores", h.GPUCores, "")
	f.count("Processor cores", "cpu_cores", h.CPUCores, "")
	f.number("Power", "tdp_watts", h.TDPWatts, "W")
	f.text("Power range", "tdp_range_watts", listOf(h.TDPRangeWatts, "W"))
	f.number("Turbo power", "max_turbo_power_watts", h.MaxTurboPowerWatts, "W")
	f.text("Interface", "pcie", str(h.PCIe))
	f.text("Backends seen to work", "backends", strings.Join(h.Backends, ", "))
	f.text("CUDA capability", "cuda_compute_capability", str(h.CUDAComputeCapability))
	f.text("GFX target", "gfx_target", str(h.GFXTarget))
	f.text("PCI ids", "pci_ids", strings.Join(h.PCIIDs, ", "))
	return append(out, f.group("Compute")...)
}

func listOf(v *[]float64, unit string) string {
	if v == nil || len(*v) == 0 {
		return ""
	}
	out := make([]string, len(*v))
	for i, n := range *v {
		out[i] = text.Exact(n)
	}
	return strings.Join(out, ", ") + " " + unit
}

// shownFits is how many models the page of a piece of hardware lists.
const shownFits = 25

// fitsTable is the models that run on a piece of hardware, by intelligence.
func fitsTable(gen *index.Generation, h *hardwareRecord, best []fit.Best) Table {
	t := Table{
		ID: "fits", Title: "What runs on it",
		Intro:   "The best models that fit, by intelligence score, with room for 8k tokens. Speeds are with an empty cache.",
		Columns: []Column{{Text: "Model"}, {Text: "Intelligence", Number: true, Title: "Composite of published evaluations, 0 to 100"}, {Text: "Size", Short: true}, {Text: "Memory", Number: true}, {Text: "Tok/s", Number: true}, {Text: "Speed is"}},
		Empty:   "No model is known to fit, or the memory of this hardware is unknown.",
		More:    &Link{Text: "All models that run, with context and speed of your choice", Href: "/fit?hardware=" + url.QueryEscape(string(h.Slug)), NoFollow: true},
		Source:  "Each is in the most precise size of four to nine bits that was measured here, else in one of more bits that was, else in the most precise of up to nine bits that fits. Those that fit only with fewer than four bits per weight, which makes answers clearly worse, come last. Memory is computed. An estimate leads to the measurements it rests on.",
	}
	t.Rows = fitRows(gen, best[:min(shownFits, len(best))], nil)
	if len(gen.Fit.Unpublished(h.Slug)) > 0 {
		if t.Empty = "What fits depends on its memory, which is not published or differs between its variants: choose how much yours has."; h.Type == "cpu" {
			t.Empty = ofMainMemory
		}
		t.Offers = offeredMemory(url.Values{"hardware": {string(h.Slug)}})
	}
	return t
}

// BestFirst orders models that run by score, unknown last, then by parameters. Those that fit only with fewer than
// four bits per weight come after all others: their scores are of the full model.
func BestFirst(gen *index.Generation, found []fit.Best) []fit.Best {
	type ranked struct {
		below         int // 1 with fewer than four bits
		score, params float64
		at            int
	}
	rows := make([]ranked, len(found))
	for i := range found {
		rows[i] = ranked{0, math.Inf(-1), math.Inf(-1), i}
		if found[i].BelowLeastBits() {
			rows[i].below = 1
		}
		if ord, ok := gen.Models.Find(string(found[i].Model)); ok {
			rows[i].score, rows[i].params = knownOrLess(gen.Models.Number("intelligence", ord)), knownOrLess(gen.Models.Number("params_b", ord))
		}
	}
	slices.SortFunc(rows, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.below, b.below), cmp.Compare(b.score, a.score), cmp.Compare(b.params, a.params), cmp.Compare(a.at, b.at))
	})
	out := make([]fit.Best, len(rows))
	for i, r := range rows {
		out[i] = found[r.at]
	}
	return out
}

// knownOrLess is a value, or less than any where it is unknown.
func knownOrLess(v float64) float64 {
	if math.IsNaN(v) {
		return math.Inf(-1)
	}
	return v
}

// fitRows are the rows of models that run on a machine, which the parameters describe.
func fitRows(gen *index.Generation, found []fit.Best, machine url.Values) [][]Cell {
	n := newNames(gen)
	rows := make([][]Cell, 0, len(found))
	for i := range found {
		b := &found[i]
		score := math.NaN()
		if ord, ok := gen.Models.Find(string(b.Model)); ok {
			score = gen.Models.Number("intelligence", ord)
		}
		rows = append(rows, append([]Cell{n.cell("models", b.Model), {Text: text.Tenths(score)}}, fitCells(b, machine)...))
	}
	return rows
}

// fitCells are size, memory and speed of what runs, each speed with the way to what it rests on.
func fitCells(b *fit.Best, machine url.Values) []Cell {
	size := Cell{Text: b.Quantization}
	if b.BelowLeastBits() {
		size.Note, size.Title = "below 4 bits", belowFour
	}
	if b.Verdict == fit.Tight {
		size.Note, size.Title = strings.TrimPrefix(size.Note+", tight", ", "), strings.TrimSpace("It fits only by using memory that should stay free. "+size.Title)
	}
	speed, kind := Cell{Text: text.Unknown}, Cell{Text: "unknown", Class: "none"}
	if b.TPS != nil {
		speed.Text = text.Tenths(*b.TPS)
		rests := speedOf(string(b.Model), string(b.Hardware), b.Quantization, machine)
		kind = Cell{Text: "estimate", Class: "estimate", Href: rests, NoFollow: true}
		if b.Use != nil && *b.Use == fit.UseMeasured {
			kind = Cell{Text: "measured", Class: "measured", Href: benchmarksOf(string(b.Model), string(b.Hardware), b.Quantization), NoFollow: true}
		}
		if b.Depth > 0 || b.Count > 1 {
			kind.Href = rests // no list has these runs: they are scaled, or of several devices
		}
		switch {
		case b.Depth > 0 && kind.Text == "measured":
			kind.Note = "scaled to " + text.Tokens(b.Depth)
		case b.Depth > 0:
			kind.Note = "at " + text.Tokens(b.Depth)
		}
	}
	return []Cell{size, {Text: text.GiB(b.Total)}, speed, kind}
}

// speedByModel is the measured speeds on a piece of hardware, one row per model and quantization.
func speedByModel(gen *index.Generation, h *hardwareRecord) Table {
	t := speedTable("model")
	if h.BenchmarkCountWithVariants == 0 {
		t.Empty = noRuns
		return t
	}
	t.More = &Link{Text: "All runs on this hardware", Href: "/explore/benchmarks?hardware=" + url.QueryEscape(string(h.Slug)), NoFollow: true}
	n := newNames(gen)
	t.addSpeeds(fastest(singleStream(gen, index.Hardware, string(h.Slug), index.Model, index.Quantization)), func(other, quantization string) (Cell, string) {
		return n.cell("models", dataset.Slug(other)), charts.For(gen).ListOf(index.Hardware, string(h.Slug), index.Model, other, quantization)
	})
	return t
}

// shownNeighbours is how many neighbours a table lists.
const shownNeighbours = 10

// neighboursTable is hardware with about the same memory.
func neighboursTable(gen *index.Generation, h *hardwareRecord) Table {
	t := Table{
		ID: "neighbours", Title: "Its neighbours",
		Caption: "With the same amount of memory, by bandwidth:",
		Columns: []Column{{Text: "Hardware"}, {Text: "Memory, GB", Number: true}, {Text: "Bandwidth, GB/s", Number: true}, {Text: "Street price", Number: true, Title: "US dollars"}, {Text: "Runs", Number: true}},
		Empty:   "No other hardware has the same amount of memory, or it is unknown.",
	}
	if h.VRAMGB == nil {
		return t
	}
	q := index.Query{
		Ranges: []index.Range{{Field: "vram_gb", Min: *h.VRAMGB, Max: *h.VRAMGB}},
		Sort:   index.Sort{Field: "memory_bandwidth_gbps", Desc: true}, Limit: gen.Hardware.Len(),
	}
	ords, _ := gen.Hardware.First(q)
	mine := slices.IndexFunc(ords, func(ord uint32) bool { return gen.Hardware.Slug(ord) == string(h.Slug) })
	from := max(0, min(mine-shownNeighbours/2, len(ords)-shownNeighbours))
	for _, ord := range ords[from:min(len(ords), from+shownNeighbours)] {
		other := decodeShown[hardwareRecord]("hardware", gen.Hardware.Row(ord))
		name := Cell{Text: other.Name, Href: "/hardware/" + string(other.Slug)}
		if other.Slug == h.Slug {
			name = Cell{Text: other.Name, Class: "self"}
		}
		t.Rows = append(t.Rows, []Cell{name, numberCell(other.VRAMGB), numberCell(other.MemoryBandwidthGBps), priceCell(other.StreetPriceUSD), {Text: text.Whole(other.BenchmarkCount)}})
	}
	if len(t.Rows) > 0 {
		gb := url.QueryEscape(exactPlain(*h.VRAMGB))
		t.More = &Link{Text: "All hardware with this memory", Href: "/explore/hardware?max_vram_gb=" + gb + "&min_vram_gb=" + gb + "&sort=-memory_bandwidth_gbps", NoFollow: true}
	}
	return t
}

func priceCell(v *float64) Cell {
	if v == nil {
		return textCell("")
	}
	return Cell{Text: text.Dollars(*v)}
}

// exactPlain is a number as parameters take it.
func exactPlain(v float64) string { return strings.ReplaceAll(text.Exact(v), ",", "") }

// pricesTable is every price seen.
func pricesTable(h *hardwareRecord) Table {
	t := Table{ID: "prices", Title: "Prices seen", Columns: []Column{{Text: "Day"}, {Text: "Price", Number: true}, {Text: "Condition"}, {Text: "Kind"}, {Text: "Source"}}}
	for i := range h.PriceObservations {
		p := &h.PriceObservations[i]
		price := Cell{Text: inCurrency(p.Amount, p.Currency), Title: str(p.Note)}
		if r := deref(p.AmountRange); len(r) == 2 {
			price.Note = "to " + inCurrency(r[1], p.Currency)
		}
		t.Rows = append(t.Rows, []Cell{{Text: string(p.Date)}, price, {Text: p.Condition}, textCell(str(p.Kind)), {Text: host(string(p.Source)), Href: webAddress(string(p.Source))}})
	}
	return t
}

// inCurrency is an amount of money: dollars as everywhere, others with the code of their currency.
func inCurrency(amount float64, currency string) string {
	if currency == "USD" {
		return text.Dollars(amount)
	}
	return strings.TrimPrefix(text.Dollars(amount), "$") + " " + currency
}

package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/index"
)

// hardware is the page of a piece of hardware.
func (s *Site) hardware(gen *index.Generation, ord uint32, at Place) *Sheet {
	row := gen.Hardware.Detail(ord)
	h, slug, n := decode[hardwareRecord](row), gen.Hardware.Slug(ord), newNames(gen)
	sources, refs := sourcesOf(h.Sources)
	v := &Sheet{
		Frame:   s.recordFrame(gen, at, "/explore/hardware", h.Name, h.Name+": "+hardwareLead(h)+". Which models run on it, and how fast, with sources."),
		Heading: h.Name, Lead: hardwareLead(h), Words: true,
		Crumbs:  []Link{{Text: "Hardware", Href: "/explore/hardware"}, {Text: vendorName(string(h.Vendor)), Href: address("/explore/hardware", "vendor", string(h.Vendor))}},
		Sources: sources, Figures: hardwareFigures(gen, h, refs), Groups: groupsOf(n, hardwareFields, row, refs),
		Actions: []Link{
			{Text: "All models that run", Href: address("/fit", "hardware", slug)},
			{Text: "Compare", Href: address("/compare", "hardware", slug)},
		},
		Invite: &Link{Text: "Contribute a run on this hardware", Href: address("/contribute", "hardware", slug)},
	}
	v.Title += ": which models run on it, and how fast" // what people search for
	if h.Note != nil {
		v.Notes = append(v.Notes, *h.Note)
	}
	runs, _ := gen.Fit.Models(fit.Query{Hardware: h.Slug, MeasuredFirst: true}, 0) // none at all without its memory
	best, draw := BestFirst(gen, runs.Found), charts.For(gen)
	fits, neighbours := fitsTable(gen, h, best), neighboursTable(gen, h)
	speed := speedTable(n, singleStream(gen, index.Hardware, slug, index.Model), index.Hardware, slug, index.Model, h.BenchmarkCountWithVariants)
	fits.Plot = plot(draw.FrontierOf(slug, runs.Found), "plot-fits", at.Base)
	speed.Plot = plot(draw.HardwareRoof(slug), "plot-speed", at.Base)
	neighbours.Plot = plot(draw.HardwareNeighbours(slug), "plot-neighbours", at.Base)
	v.Tables = []Table{fits, speed, neighbours}
	if prices := pricesTable(h); len(prices.Rows) > 0 {
		v.Tables = append(v.Tables, prices)
	}
	v.Tables = append(v.Tables, hardwareRuns(gen, h))
	v.Answer = hardwareAnswer(gen, h, best, len(runs.Undecided))
	v.finishRecord("hardware", slug, h.Name)
	return v
}

// vendorName is a vendor as it writes itself.
func vendorName(vendor string) string {
	return cmp.Or(map[string]string{
		"nvidia": "NVIDIA", "amd": "AMD", "aws": "AWS", "hisilicon": "HiSilicon", "mediatek": "MediaTek", "moorethreads": "Moore Threads",
		"sambanova": "SambaNova", "sifive": "SiFive", "spacemit": "SpacemiT",
	}[vendor], Sentence(vendor))
}

// typeName is a type of hardware in words.
func typeName(kind string) string {
	return cmp.Or(map[string]string{"gpu": "graphics card", "cpu": "processor", "apu": "processor with graphics", "soc": "system on a chip"}[kind], kind)
}

func hardwareLead(h *hardwareRecord) string {
	parts := []string{vendorName(string(h.Vendor)) + " " + typeName(string(h.Type))}
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
		parts = append(parts, "released "+str(h.ReleaseDate))
	}
	return strings.Join(parts, " · ")
}

// joined are the texts that are not empty, with a space between them.
func joined(texts ...string) string {
	return strings.Join(strings.Fields(strings.Join(texts, " ")), " ")
}

func hardwareFigures(gen *index.Generation, h *hardwareRecord, refs map[string][]int) (out []Fact) {
	add := func(label, path string, value Cell, note string) {
		out = append(out, Fact{Label: label, Value: value, Note: note, Refs: refsOf(refs, path)})
	}
	switch {
	case h.VRAMGB != nil && h.UnifiedMemory:
		add("Memory", "vram_gb", Cell{Text: text.Exact(*h.VRAMGB) + " GB"}, joined(str(h.MemoryType), "unified, largest size"))
	case h.VRAMGB != nil:
		add("Memory", "vram_gb", Cell{Text: text.Exact(*h.VRAMGB) + " GB"}, str(h.MemoryType))
	case h.MaxMemoryGB != nil:
		add("Memory", "max_memory_gb", Cell{Text: text.Exact(*h.MaxMemoryGB) + " GB"}, "at most")
	}
	if h.MemoryBandwidthGBps != nil {
		add("Bandwidth", "memory_bandwidth_gbps", Cell{Text: text.Rounded(*h.MemoryBandwidthGBps)}, "GB/s")
	}
	if h.StreetPriceUSD != nil {
		condition, more, _ := strings.Cut(str(h.StreetPriceCondition), ",") // after the comma, how it was worked out
		price := Cell{Text: text.Dollars(*h.StreetPriceUSD), Href: webAddress(str(h.StreetPriceSource)), Title: Sentence(strings.TrimSpace(more))}
		add("Price", "street_price_usd", price, joined(condition, str(h.StreetPriceDate)))
	} else if h.LaunchPriceUSD != nil {
		add("Price", "launch_price_usd", Cell{Text: text.Dollars(*h.LaunchPriceUSD)}, "at launch")
	}
	runs, note := h.BenchmarkCountWithVariants, "measured runs"
	if page := siliconRuns(gen, h, 0); runs == 0 && page.Total > 0 {
		runs, note = page.Total, "measured runs of its silicon"
	}
	add("Benchmarks", "", Cell{Text: text.Whole(runs), Href: "#runs"}, note)
	return out
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
	t.More = &Link{Text: "All of them, with filters", Href: address("/explore/benchmarks", "silicon", string(h.Slug))}
	t.addRuns(gen, page.Ords, index.None)
	return t
}

// hardwareAnswer is how many models run on a piece of hardware, and how fast the best of them are. best is the models
// that run, the best first.
func hardwareAnswer(gen *index.Generation, h *hardwareRecord, best []fit.Best, undecided int) []Cell {
	machine := address("/fit", "hardware", string(h.Slug))
	switch {
	case len(gen.Fit.Unpublished(h.Slug)) > 0 && h.Type == "cpu":
		return []Cell{{Text: "What runs on it depends on the "}, {Text: "memory of the machine", Href: "#fits"}, {Text: "."}}
	case len(gen.Fit.Unpublished(h.Slug)) > 0:
		return []Cell{{Text: "What runs on it depends on its memory, which is not published or differs between variants: "}, {Text: "enter yours", Href: machine}, {Text: "."}}
	case len(best) == 0:
		return []Cell{{Text: "No model listed here is known to run on it."}}
	}
	begin, size := memoryOf(gen, &FitQuery{Query: fit.Query{Hardware: h.Slug}})
	if begin += "It runs "; h.VRAMGB == nil && size != "" { // which the lead does not say
		begin = "With " + size + ", it runs "
	}
	out := []Cell{{Text: begin}, {Text: text.Whole(len(best)) + " of the " + text.Count(gen.Models.Len(), "model", "models"), Href: machine}, {Text: " listed here. "}}
	if undecided > 0 {
		out = append(out, Cell{Text: "For " + text.Whole(undecided) + " we cannot tell: facts about their memory are not published. "})
	}
	return append(out, bestSpeeds(gen, best)...)
}

// shownFits is how many models the page of a piece of hardware lists.
const shownFits = 25

// fitsTable is the models that run on a piece of hardware, by intelligence.
func fitsTable(gen *index.Generation, h *hardwareRecord, best []fit.Best) Table {
	t := Table{
		ID: "fits", Title: "What runs on it", Columns: fitColumns("Memory"),
		Intro:  "The best models that fit, by intelligence score, with room for 8k tokens. Speeds are with an empty cache.",
		Empty:  "No model is known to fit, or the memory of this hardware is unknown.",
		More:   &Link{Text: "All models that run, with context and speed of your choice", Href: address("/fit", "hardware", string(h.Slug))},
		Source: "Each is in the most precise size of four to nine bits that was measured here, else in one of more bits that was, else in the most precise of up to nine bits that fits. Those that fit only with fewer than four bits per weight, which makes answers clearly worse, come last. Memory is computed. An estimate leads to the measurements it rests on.",
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

// shownNeighbours is how many neighbours a table lists.
const shownNeighbours = 10

// neighboursTable is hardware with about the same memory.
func neighboursTable(gen *index.Generation, h *hardwareRecord) Table {
	t := Table{
		ID: "neighbours", Title: "Its neighbours",
		Caption: "With the same amount of memory, by bandwidth:",
		Columns: columns("Hardware", "#Memory, GB", "#Bandwidth, GB/s", "#Street price|US dollars", "#Runs"),
		Empty:   "No other hardware has the same amount of memory, or it is unknown.",
	}
	if h.VRAMGB == nil {
		return t
	}
	ords, _ := gen.Hardware.First(index.Query{
		Ranges: []index.Range{{Field: "vram_gb", Min: *h.VRAMGB, Max: *h.VRAMGB}},
		Sort:   index.Sort{Field: "memory_bandwidth_gbps", Desc: true}, Limit: gen.Hardware.Len(),
	})
	mine := slices.IndexFunc(ords, func(ord uint32) bool { return gen.Hardware.Slug(ord) == string(h.Slug) })
	from := max(0, min(mine-shownNeighbours/2, len(ords)-shownNeighbours))
	for _, ord := range ords[from:min(len(ords), from+shownNeighbours)] {
		other := decodeShown[hardwareRecord]("hardware", gen.Hardware.Row(ord))
		name := Cell{Text: other.Name, Href: "/hardware/" + string(other.Slug)}
		if other.Slug == h.Slug {
			name = Cell{Text: other.Name, Class: "self"}
		}
		t.Rows = append(t.Rows, []Cell{name, known(other.VRAMGB, text.Exact), known(other.MemoryBandwidthGBps, text.Exact), known(other.StreetPriceUSD, text.Dollars), {Text: text.Whole(other.BenchmarkCount)}})
	}
	gb := exactPlain(*h.VRAMGB)
	t.More = &Link{Text: "All hardware with this memory", Href: address("/explore/hardware", "max_vram_gb", gb, "min_vram_gb", gb, "sort", "-memory_bandwidth_gbps")}
	return t
}

// exactPlain is a number as parameters take it.
func exactPlain(v float64) string { return strings.ReplaceAll(text.Exact(v), ",", "") }

// pricesTable is every price seen.
func pricesTable(h *hardwareRecord) Table {
	t := Table{ID: "prices", Title: "Prices seen", Columns: columns("Day", "#Price", "Condition", "Kind", "Source")}
	for i := range h.PriceObservations {
		p := &h.PriceObservations[i]
		price := Cell{Text: inCurrency(p.Amount, p.Currency), Title: str(p.Note)}
		if r := deref(p.AmountRange); len(r) == 2 {
			price.Note = "to " + inCurrency(r[1], p.Currency)
		}
		source := Cell{Text: host(string(p.Source)), Href: webAddress(string(p.Source))}
		t.Rows = append(t.Rows, []Cell{{Text: string(p.Date)}, price, {Text: p.Condition}, cell(str(p.Kind)), source})
	}
	return t
}

// inCurrency is an amount of money: dollars as everywhere, others with the code of their currency.
func inCurrency(amount float64, currency string) string {
	if currency == "USD" {
		return text.Dollars(amount)
	}
	return text.Amount(amount) + " " + currency
}

// tool is the page of a tool.
func (s *Site) tool(gen *index.Generation, ord uint32, at Place) *Sheet {
	row := gen.Tools.Detail(ord)
	t, slug := decode[toolRecord](row), gen.Tools.Slug(ord)
	sources, refs := sourcesOf(t.Sources)
	v := &Sheet{
		Frame: s.recordFrame(gen, at, "/explore/tools", t.Name, t.Description), Heading: t.Name, Lead: t.Description,
		Sources: sources, FactsFirst: true, Groups: groupsOf(newNames(gen), toolFields, row, refs),
		Crumbs: []Link{{Text: "Tools", Href: "/explore/tools"}, {Text: Sentence(string(t.Category)), Href: address("/explore/tools", "category", string(t.Category))}},
	}
	if t.BenchmarkCount > 0 {
		v.Tables = append(v.Tables, runsOf(gen, index.Tool, slug, t.BenchmarkCount))
	}
	v.finishRecord("tools", slug, t.Name)
	return v
}

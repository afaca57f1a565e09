package pages

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/best"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// Conditions are what the pages of models and machines answer for. Zero values are the defaults.
type Conditions struct {
	Context                  int64   // tokens
	MemoryGB, SystemMemoryGB float64 // of the machine, and beside its card
}

func (c *Conditions) query(model, hardware dataset.Slug) fit.Query {
	return fit.Query{Model: model, Hardware: hardware, Context: c.Context, MemoryGB: c.MemoryGB, SystemMemoryGB: c.SystemMemoryGB}
}

// The contexts, and the sizes of main memory, that pages offer.
var (
	offeredContexts = []string{"8192", "32768", "131072"}
	offeredMemory   = []string{"16", "32", "64", "128"}
)

// switchOf is the values of a parameter, each as a link to the page with it. usual is the value that the page has
// without the parameter.
func switchOf(at Place, label, param, usual string, values []string, say func(string) string) Switch {
	params, _ := url.ParseQuery(at.Query)
	now := cmp.Or(params.Get(param), usual)
	out := Switch{Label: label}
	for _, v := range values {
		if params.Set(param, v); v == usual {
			params.Del(param)
		}
		out.Values = append(out.Values, Link{Text: say(v), Href: at.with(params), Current: v == now})
	}
	return out
}

func contextSwitch(at Place) Switch {
	return switchOf(at, "Context", "context", offeredContexts[0], offeredContexts, func(v string) string { return limitText("tokens", v) })
}

func inGB(v string) string { return v + " GB" }

// memorySwitches are the sizes of memory of a machine that is sold with several or without one, and the sizes of main
// memory beside a card.
func memorySwitches(gen *index.Generation, h *rows.Hardware, at Place) (out []Switch) {
	sizes, counted := gen.Fit.MemorySizes(h.Slug)
	switch {
	case len(sizes) > 1:
		values := make([]string, len(sizes))
		for i, gb := range sizes {
			values[i] = exactPlain(gb)
		}
		out = append(out, switchOf(at, "Memory", "memory_gb", exactPlain(counted), values, inGB))
	case len(gen.Fit.Unpublished(h.Slug)) > 0:
		out = append(out, switchOf(at, "Memory", "memory_gb", "", offeredMemory, inGB))
	}
	if h.Type == "gpu" {
		out = append(out, mainMemorySwitch(at))
	}
	return out
}

func mainMemorySwitch(at Place) Switch {
	say := func(v string) string { return cmp.Or(map[string]string{"": "not set"}[v], inGB(v)) }
	return switchOf(at, "Main memory", "system_memory_gb", "", append([]string{""}, offeredMemory[1:]...), say)
}

// usableSpeed is the least speed, in tokens per second, at which people like to read along.
const usableSpeed = 10

// machinePicks are three of the models that run on a machine, which found has, the best first: the best one that is fast
// enough to use, the best one that is at least twice as fast, and the best one that takes at most half as much memory.
func machinePicks(gen *index.Generation, ask fit.Query, found []fit.Best) (out []Pick) {
	n := newNames(gen)
	var first *fit.Best
	add := func(label string, want func(b *fit.Best) bool) {
		i := slices.IndexFunc(found, func(b fit.Best) bool {
			picked := slices.ContainsFunc(out, func(p Pick) bool { return p.Name == n.cell("models", b.Model) })
			return b.TPS != nil && *b.TPS >= usableSpeed && !b.BelowLeastBits() && !picked && want(&b)
		})
		if i < 0 {
			return
		}
		b := &found[i]
		one := ask
		one.Model, one.Quantization, one.BestOnly = b.Model, b.Quantization, true
		longest := cell("")
		if a, fault := gen.Fit.Fit(one); fault == nil && len(a.Sizes) > 0 {
			longest = roomCell(a.Sizes[0].MaxContext.F16)
		}
		first = cmp.Or(first, b)
		out = append(out, Pick{label, n.cell("models", b.Model), []Fact{
			{Label: "Speed", Value: Cell{Text: speedText(*b.TPS, b.Use) + " tok/s"}, Note: basisOf(b.Use)},
			{Label: "Memory", Value: Cell{Text: text.GiB(b.Total)}},
			{Label: "Quantization", Value: Cell{Text: b.Quantization, Href: speedOf(string(b.Model), ask, b.Quantization)}},
			{Label: "Longest context", Value: longest},
		}})
	}
	add("Best", func(*fit.Best) bool { return true })
	if first != nil {
		add("Fast", func(b *fit.Best) bool { return *b.TPS >= 2**first.TPS })
		add("Small", func(b *fit.Best) bool { return 2*b.Total <= first.Total })
	}
	return out
}

func roomCell(v *int64) Cell {
	if v == nil || *v == 0 {
		return cell("")
	}
	return Cell{Text: text.Tokens(max(*v/1024*1024, min(*v, 1024))), Title: text.Whole(*v) + " tokens"}
}

// speedText is a speed in tokens per second: an estimate has two or three digits.
func speedText(tps float64, use *string) string {
	if str(use) == fit.UseEstimate {
		return text.Estimate(tps)
	}
	return text.Tenths(tps)
}

func basisOf(use *string) string {
	switch str(use) {
	case fit.UseMeasured:
		return "measured"
	case fit.UseSibling:
		return "measured on similar hardware"
	case fit.UseEstimate:
		return "estimated"
	}
	return ""
}

// modelPicks are three quantizations of a model: the one of the best quality, the one people use most, and the smallest
// that keeps most of the quality. Each has the smallest of the machines that runs it, and the speed there.
func modelPicks(gen *index.Generation, machines []machineRow, a *fit.Answer) (out []Pick) {
	sizes := slices.DeleteFunc(slices.Clone(a.Sizes), func(z fit.Size) bool {
		return !z.Listed || z.BitsPerWeight == nil || *z.BitsPerWeight > fit.EnoughBits || *z.BitsPerWeight < leastPick
	})
	if len(sizes) == 0 {
		return nil
	}
	slices.SortStableFunc(sizes, func(a, b fit.Size) int { return cmp.Compare(b.Memory.Total, a.Memory.Total) })
	usual := *cmp.Or(usualSize(a), &sizes[0])
	picked := []struct {
		label string
		size  fit.Size
	}{{"Best", sizes[0]}, {"Fast", usual}, {"Small", sizes[len(sizes)-1]}}
	if alike(&sizes[0], &usual) {
		picked[0].size, picked[1].size = usual, usual
	}
	if alike(&usual, &picked[2].size) {
		picked[2].size = usual
	}
	for _, p := range picked {
		if slices.ContainsFunc(out, func(o Pick) bool { return o.Name.Text == p.size.Quantization }) {
			continue
		}
		facts := []Fact{
			{Label: "Memory", Value: Cell{Text: text.GiB(p.size.Memory.Total)}},
			{Label: "Context", Value: Cell{Text: text.Tokens(a.Context)}},
		}
		for i := range machines {
			if z := machines[i].size(gen, p.size.Quantization); z != nil && z.Verdict == fit.Fits && z.Speed != nil && z.Speed.TPS != nil {
				facts = append(facts, Fact{Label: "Runs on", Value: machines[i].name},
					Fact{Label: "Speed", Value: Cell{Text: speedText(speedAt(z), z.Speed.Use) + " tok/s"}, Note: basisOf(z.Speed.Use)})
				break
			}
		}
		out = append(out, Pick{p.label, Cell{Text: p.size.Quantization}, facts})
	}
	return out
}

// alike reports whether two quantizations take nearly the same memory.
func alike(larger, smaller *fit.Size) bool {
	return float64(smaller.Memory.Total) > 0.85*float64(larger.Memory.Total)
}

const (
	usualBits = 4.8 // bits per weight of Q4_K_M, the size people use most
	leastPick = 3.3 // below, the answers of most models are much worse
)

// mostHome is the highest price in US dollars of hardware that people buy for their home.
const mostHome = 4000

// A machineClass is machines of one kind that many people have.
type machineClass struct {
	sets     map[index.Field]string
	vram     [2]float64 // GB, from and to
	count    int        // devices; 0: 1
	memoryGB float64    // where the record has none
}

var machineClasses = []machineClass{
	{sets: map[index.Field]string{"type": "gpu"}, vram: [2]float64{8, 8}},
	{sets: map[index.Field]string{"type": "gpu"}, vram: [2]float64{12, 12}},
	{sets: map[index.Field]string{"type": "gpu"}, vram: [2]float64{16, 16}},
	{sets: map[index.Field]string{"type": "gpu"}, vram: [2]float64{24, 24}},
	{sets: map[index.Field]string{"type": "gpu"}, vram: [2]float64{32, 32}},
	{sets: map[index.Field]string{"type": "gpu"}, vram: [2]float64{24, 24}, count: 2},
	{sets: map[index.Field]string{"vendor": "apple"}, vram: [2]float64{16, 36}},
	{sets: map[index.Field]string{"vendor": "apple"}, vram: [2]float64{48, 128}},
	{sets: map[index.Field]string{"vendor": "apple"}, vram: [2]float64{192, 512}},
	{sets: map[index.Field]string{"vendor": "amd", "type": "apu"}, vram: [2]float64{96, 192}},
	{sets: map[index.Field]string{"type": "cpu"}, memoryGB: 64},
}

// usualSize is the listed quantization that is nearest to the one people use most; nil without one.
func usualSize(a *fit.Answer) (best *fit.Size) {
	distance := func(z *fit.Size) float64 { return math.Abs(*z.BitsPerWeight - usualBits) }
	for i := range a.Sizes {
		z := &a.Sizes[i]
		if z.Listed && z.BitsPerWeight != nil && (best == nil || distance(z) < distance(best)) {
			best = z
		}
	}
	return best
}

type machineRow struct {
	name Cell
	ask  fit.Query
	best *fit.Size // that lists name
}

func (r *machineRow) size(gen *index.Generation, quantization string) *fit.Size {
	one := r.ask
	one.Quantization = quantization
	if a, fault := gen.Fit.Fit(one); fault == nil && len(a.Sizes) > 0 {
		return &a.Sizes[0]
	}
	return nil
}

// commonMachines is a model on the most measured machine of each class. Where only a file of few bits fits, the row has the
// usual quantization: one of so few bits is of little use.
func commonMachines(gen *index.Generation, model dataset.Slug, usual *fit.Size, c Conditions) (out []machineRow) {
	n := newNames(gen)
	for i := range machineClasses {
		k := &machineClasses[i]
		q := index.Query{Sort: index.Sort{Field: index.BenchmarkCount, Desc: true}, Limit: 1}
		for field, value := range k.sets {
			q.Sets = append(q.Sets, index.Set{Field: field, Values: []string{value}})
		}
		if k.vram[0] > 0 {
			q.Ranges = append(q.Ranges, index.Range{Field: "vram_gb", Min: k.vram[0], Max: k.vram[1]})
		}
		if k.sets["type"] == "gpu" {
			q.Ranges = append(q.Ranges, index.Range{Field: "street_price_usd", Min: 0, Max: mostHome})
		}
		page := gen.Hardware.Select(q)
		if len(page.Ords) == 0 {
			continue
		}
		slug := dataset.Slug(gen.Hardware.Slug(page.Ords[0]))
		row := machineRow{name: n.cell("hardware", slug), ask: c.query(model, slug)}
		row.ask.BestOnly, row.ask.Count, row.ask.MemoryGB = true, k.count, k.memoryGB
		if k.sets["type"] != "gpu" {
			row.ask.SystemMemoryGB = 0
		}
		a, fault := gen.Best.Fit(row.ask)
		if fault != nil || len(a.Sizes) == 0 {
			continue
		}
		if k.count > 1 {
			row.name.Text = text.Whole(k.count) + " × " + row.name.Text
		}
		if a.Available != nil {
			row.name.Note = text.Rounded(float64(a.Available.Memory)/(1<<30)/float64(max(k.count, 1))) + " GB"
		}
		b := &a.Sizes[0]
		if usual != nil && (b.Verdict != fit.Fits || b.BitsPerWeight != nil && *b.BitsPerWeight < leastPick) {
			b = cmp.Or(row.size(gen, usual.Quantization), b)
		}
		row.best = b
		out = append(out, row)
	}
	return out
}

func speedAt(z *fit.Size) float64 {
	if z.Speed.Filled != nil {
		return z.Speed.Filled.TPS
	}
	return *z.Speed.TPS
}

func machinesTable(m *rows.ModelDetail, machines []machineRow, c Conditions) Table {
	t := Table{
		ID: "machines", Title: "On popular hardware", Columns: columns("Hardware", "Fit", "~Quantization", "#Memory needed", "#Tok/s", "Basis", "#Longest context"),
		Intro: "The best quantization for each, with a context of " + text.Tokens(cmp.Or(c.Context, fit.DefaultContext)) + " tokens.",
		Empty: "We cannot tell: too little is published about its architecture.",
		More:  &Link{Text: "All hardware that runs it", Href: address("/explore/hardware", "runs", string(m.Slug))},
	}
	for i := range machines {
		r, z := &machines[i], machines[i].best
		if z.Verdict == fit.Unknown {
			continue
		}
		row := []Cell{r.name, verdictCell(z), {Text: z.Quantization}, {Text: text.GiB(z.Memory.Total)}, cell(""), cell(""), roomCell(z.MaxContext.F16)}
		if z.Verdict == fit.No {
			row[2], row[3], row[6] = cell(""), cell(""), cell("")
		}
		if z.Verdict != fit.No && z.Speed != nil && z.Speed.TPS != nil {
			row[4] = Cell{Text: speedText(speedAt(z), z.Speed.Use)}
			row[5] = basisCell(z.Speed.Use, speedOf(string(m.Slug), r.ask, z.Quantization))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// basisCell says whether a speed was measured, and leads to what it rests on.
func basisCell(use *string, href string) Cell {
	class := "measured"
	if str(use) == fit.UseEstimate {
		class = "estimate"
	}
	return Cell{Text: basisOf(use), Class: class, Href: href}
}

func verdictCell(z *fit.Size) Cell {
	said := map[fit.Verdict]string{fit.Offload: "partly in main memory", fit.No: "does not fit", fit.Unknown: "unknown"}[z.Verdict]
	out := Cell{Text: cmp.Or(said, string(z.Verdict)), Class: "v-" + string(z.Verdict)}
	if len(z.Missing) > 0 {
		out.Title = "Unknown: " + strings.ToLower(fieldNamesOf(z.Missing))
	}
	return out
}

func speedOf(model string, q fit.Query, quantization string) string {
	params := url.Values{"model": {model}, "quantization": {quantization}}
	set := func(name, value string, is bool) {
		if is {
			params.Set(name, value)
		}
	}
	set("hardware", string(q.Hardware), q.Hardware != "")
	set("context", exactPlain(float64(q.Context)), q.Context > 0)
	set("count", exactPlain(float64(q.Count)), q.Count > 1)
	set("memory_gb", exactPlain(q.MemoryGB), q.MemoryGB > 0)
	set("system_memory_gb", exactPlain(q.SystemMemoryGB), q.SystemMemoryGB > 0)
	set("bandwidth_gbps", exactPlain(q.BandwidthGBps), q.BandwidthGBps > 0)
	set("unified_share", exactPlain(q.UnifiedShare), q.UnifiedShare > 0)
	set("kv", string(q.KV), q.KV != "")
	set("engine", string(q.Rules), q.Rules != "" && (q.Tool == "" || q.Rules != fit.LlamaCpp))
	set("tool", string(q.Tool), q.Tool != "")
	set("backend", q.Backend, q.Backend != "")
	set("compute_unit", string(q.ComputeUnit), q.ComputeUnit != "")
	return "/fit?" + params.Encode() + "#rests"
}

// capabilityCell is what a model can do. It says where that is a prediction.
func capabilityCell(can *best.Capability) Cell {
	c := cell("")
	if can != nil {
		if c.Text = text.Tenths(can.Score); can.Basis == best.Predicted {
			c.Note = "predicted"
		}
	}
	return c
}

const capabilityHelp = "How good the model is, 0 to 100: from published evaluations, or predicted from its size, age, type and maker"

// belowFour is the remark on quantizations of less than fit.LeastBits.
const belowFour = "Below four bits per weight, most models give noticeably worse answers. A smaller model or more memory is usually the better choice."

func runsTable(gen *index.Generation, q fit.Query, found []fit.Best) Table {
	n := newNames(gen)
	t := Table{ID: "fits", Columns: columns("Model", "#Capability|"+capabilityHelp, "~Quantization", "#Memory needed", "#Tok/s", "Basis")}
	for i := range found {
		b := &found[i]
		model := n.cell("models", b.Model)
		model.Note = b.Why
		can, ok := gen.Capabilities[b.Model]
		t.Rows = append(t.Rows, append([]Cell{model, capabilityCell(map[bool]*best.Capability{true: &can}[ok])}, fitCells(b, q)...))
	}
	return t
}

// fitCells are quantization, memory and speed of what runs, each speed with the way to what it rests on.
func fitCells(b *fit.Best, q fit.Query) []Cell {
	size := Cell{Text: b.Quantization}
	var notes []string
	if b.BelowLeastBits() {
		notes, size.Title = append(notes, "below 4 bits"), belowFour
	}
	if b.Verdict == fit.Tight {
		notes = append(notes, "tight")
	}
	if b.Verdict == fit.Offload {
		notes = append(notes, "partly in main memory")
	}
	if b.Count > 1 {
		notes = append(notes, "on "+text.Whole(b.Count)+" devices")
	}
	if b.TotalPriceUSD != nil && b.PriceDate != nil {
		notes = append(notes, text.Dollars(*b.TotalPriceUSD)+" ("+string(*b.PriceDate)+")")
	}
	size.Note = strings.Join(notes, ", ")
	if b.TPS == nil {
		return []Cell{size, {Text: text.GiB(b.Total)}, cell(""), {Text: "unknown", Class: "none"}}
	}
	if q.Hardware = b.Hardware; b.Count > 1 {
		q.Count = b.Count
	}
	basis := basisCell(b.Use, speedOf(string(b.Model), q, b.Quantization))
	if b.Depth > 0 {
		basis.Note = "at " + text.Tokens(b.Depth)
	}
	return []Cell{size, {Text: text.GiB(b.Total)}, {Text: speedText(*b.TPS, b.Use)}, basis}
}

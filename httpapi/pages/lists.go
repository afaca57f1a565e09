package pages

import (
	"cmp"
	"strings"

	"modeldex/dataset/text"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// list is what the page of a kind of records shows.
type list struct {
	heading, lead string
	fields        []index.FieldInfo
	facets        []string // in order; the first are open
	open          int
	ranges        []string
	openRanges    int
	sorts         []Choice
	inputs        []Input
	columns       []Column
	order         []string // the field that each column orders the list by; empty: none
	minor         []int    // columns that make way for what runs
	cells         func(n *names, row []byte) []Cell
}

// An Input is a text to fill in.
type Input struct{ Name, Label, Value, Hint string }

var leastSpeed = Input{Name: "min_tps", Label: "Minimum speed (tok/s)", Hint: "20"}

var kinds = []string{"models", "hardware", "tools", "benchmarks"}

func tableOf(gen *index.Generation, kind string) *index.Table {
	return map[string]*index.Table{"models": gen.Models, "hardware": gen.Hardware, "tools": gen.Tools, "benchmarks": gen.Benchmarks}[kind]
}

var lists = map[string]*list{
	"models": {
		heading: "Models", lead: "Open-weight language models: size, memory needs, capability and speed.",
		fields: index.ModelFields, facets: []string{"family", "organization", "architecture", "license", "modality", "has_benchmarks"}, open: 2,
		ranges: []string{"params_b", "active_params_b", "context_length", "capability", "release_date"}, openRanges: 1,
		inputs: []Input{{Name: "fits", Label: "Runs on", Hint: "RTX 4090"}, leastSpeed},
		sorts: []Choice{
			{Value: "-capability", Label: "Most capable"},
			{Value: "-release_date", Label: "Newest"},
			{Value: "name", Label: "A to Z"},
			{Value: "params_b", Label: "Smallest"},
			{Value: "-params_b", Label: "Largest"},
			{Value: "-benchmark_count", Label: "Most benchmarks"},
			{Value: "-context_length", Label: "Longest context"},
		},
		columns: columns(
			"Model", "Maker", "#Parameters|In billions; after the slash, the active parameters per token", "#Context (tokens)",
			"#Capability|"+capabilityHelp, "~Released", "#Benchmarks",
		),
		order: []string{"name", "", "params_b", "context_length", "capability", "release_date", "benchmark_count"}, minor: []int{1, 3, 5, 6},
		cells: func(_ *names, row []byte) []Cell {
			m := decode[rows.ModelDetail](row)
			params := billions(m.ParamsB)
			if m.ActiveParamsB != nil {
				params.Note = "/ " + billions(m.ActiveParamsB).Text
			}
			return []Cell{
				{Text: m.Name, Href: "/models/" + string(m.Slug)},
				{Text: m.Organization},
				params, contextCell(m.Architecture.ContextLength), capabilityCell(m.Capability),
				cell(str(m.ReleaseDate)),
				{Text: text.Whole(m.BenchmarkCount)},
			}
		},
	},
	"hardware": {
		heading: "Hardware", lead: "Graphics cards, processors and computers: memory, bandwidth, price and benchmarks.",
		fields: index.HardwareFields, facets: []string{"vendor", "type", "architecture", "backend", "unified_memory", "has_benchmarks"}, open: 2,
		ranges: []string{"vram_gb", "street_price_usd", "memory_bandwidth_gbps", "fp16_tflops", "tdp_watts", "release_date"}, openRanges: 2,
		inputs: []Input{{Name: "runs", Label: "Can run", Hint: "gpt-oss-20b"}, {Name: "context", Label: "Context (tokens)", Hint: "32768"}, leastSpeed},
		sorts: []Choice{
			{Value: "name", Label: "A to Z"},
			{Value: "street_price_usd", Label: "Cheapest"},
			{Value: "-vram_gb", Label: "Most memory"},
			{Value: "-memory_bandwidth_gbps", Label: "Most bandwidth"},
			{Value: "-release_date", Label: "Newest"},
			{Value: "-benchmark_count", Label: "Most benchmarks"},
		},
		columns: columns(
			"Hardware", "Type", "#Memory (GB)", "#Bandwidth (GB/s)", "#Street price|In US dollars", "~Released", "#Benchmarks",
		),
		order: []string{"name", "", "vram_gb", "memory_bandwidth_gbps", "street_price_usd", "release_date", "benchmark_count"}, minor: []int{1, 5, 6},
		cells: func(_ *names, row []byte) []Cell {
			h := decode[rows.Hardware](row)
			memory, price := known(h.VRAMGB, text.Exact), known(h.StreetPriceUSD, text.Dollars)
			if h.UnifiedMemory && h.VRAMGB != nil {
				memory.Note = "unified"
			}
			if h.StreetPriceUSD != nil {
				price.Title = strings.Replace(str(h.StreetPriceCondition), "not stated", "condition not stated", 1) + ", " + str(h.StreetPriceDate)
			}
			return []Cell{
				{Text: h.Name, Href: "/hardware/" + string(h.Slug)},
				{Text: typeName(string(h.Type))},
				memory, known(h.MemoryBandwidthGBps, text.Exact), price,
				cell(cmp.Or(str(h.ReleaseDate), str(h.ReleaseQuarter))),
				{Text: text.Whole(h.BenchmarkCount)},
			}
		},
	},
	"tools": {
		heading: "Tools", lead: "Software that runs, serves, fine-tunes or quantizes models on your own hardware.",
		fields: index.ToolFields, facets: []string{"category", "backend", "os", "api", "model_format", "license", "has_benchmarks"}, open: 3,
		ranges:  []string{"first_release"},
		sorts:   []Choice{{Value: "name", Label: "A to Z"}, {Value: "-benchmark_count", Label: "Most benchmarks"}, {Value: "-first_release", Label: "Newest"}},
		columns: columns("Tool", "Category", "What it does", "Licence", "#Benchmarks"),
		order:   []string{"name", "", "", "", "benchmark_count"},
		cells: func(_ *names, row []byte) []Cell {
			t := decode[rows.Tool](row)
			return []Cell{
				{Text: t.Name, Href: "/tools/" + string(t.Slug)},
				{Text: shown(string(t.Category))},
				{Text: t.Description, Class: "prose"},
				cell(str(t.License)),
				{Text: text.Whole(t.BenchmarkCount)},
			}
		},
	},
	"benchmarks": {
		heading: "Benchmarks", lead: "Published speeds in tokens per second, with settings and source. Only compare speeds with matching settings.",
		fields: index.BenchmarkFields, facets: []string{"model", "hardware", "quantization", "tool", "backend", "family", "source", "compute_unit", "rate_basis", "speculative_decoding", "partial_offload", "flash_attention"}, open: 4,
		ranges: []string{"generation_tps", "prompt_tps", "context_depth", "concurrency", "hardware_count", "run_date"}, openRanges: 1,
		sorts: []Choice{
			{Value: "-run_date", Label: "Newest"},
			{Value: "-generation_tps", Label: "Fastest generation"},
			{Value: "-prompt_tps", Label: "Fastest prompt"},
			{Value: "-roofline_ratio", Label: "Most bandwidth used"},
			{Value: "run_date", Label: "Oldest"},
		},
		columns: runColumns(index.None),
		order:   []string{"", "", "", "generation_tps", "prompt_tps", "", "", "run_date", ""},
		cells:   func(n *names, row []byte) []Cell { return runCells(n, decode[rows.Benchmark](row), index.None) },
	},
}

// UsualSort is the order of a list where nothing else is asked for.
func UsualSort(kind string) string { return lists[kind].sorts[0].Value }

package httpapi

import (
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/httpapi/export"
	"modeldex/httpapi/rowjson"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// kind is how a parameter's value is read.
type kind uint8

const (
	closedSet       kind = iota // one or more of a fixed list
	openSet                     // one or more values, known or not
	slugSet                     // one or more records of another table, by slug or alias
	keySet                      // one or more records of the table itself, by slug or alias
	wholeNumbers                // one or more whole numbers
	atLeast                     // lower end of a range, plain decimal
	atMost                      // upper end of a range, plain decimal
	since                       // first day of a range
	until                       // last day of a range
	ownerOnly                   // true: source is owner; false: no restriction
	includeVariants             // false: filters by slug match the record itself only
	searchText                  // words
	sortKey                     // one of the endpoint's sorts
	pageLimit                   // records per page
	cursorToken                 // place to continue from
	fileFormat                  // form of the rows, see formats.go
	versionRef                  // version or digest of a dataset
	keptRef                     // version or digest of a dataset that the server keeps
	fieldNames                  // names of fields of the rows
	oneWord                     // one of a fixed list, see word
	wordList                    // one or more of a fixed list, see word
	textList                    // one or more texts
	oneName                     // one record of another table, by slug or alias
	oneText                     // one text
	oneChoice                   // one of a fixed list
	wholeNumber                 // from 1 to the most
	plainNumber                 // plain decimal up to the most
	flagValue                   // true or false
)

// param is one query parameter: what the parser, its error messages and OpenAPI know of it.
type param struct {
	name  string
	at    int // its place among the parameters of the endpoint
	kind  kind
	field index.FieldInfo // filters only
	// values are those of a fixed list; for oneWord the first is the default.
	values   []string
	doc      string
	maxCount int                                  // maximum number of values; 0: maxValues
	most     float64                              // wholeNumber and plainNumber only
	fromZero bool                                 // plainNumber only: 0 is a value; otherwise it must be above
	required string                               // what a request without it is told; empty: it may be left out
	table    func(*index.Generation) *index.Table // where the values of a oneName are
	// meant, if not nil, says what texts mean that are not slugs; textList only.
	meant func(p *parser, pm *param, given []string) []string
}

// resource is one list and the way to each of its records.
type resource struct {
	name     string // plural, as in the path
	path     string // of the list, below /api/v1/; empty: name
	file     string // of the list as a file, without its extension; empty: name
	singular string
	table    func(*index.Generation) *index.Table
	params   []param
	sorts    []string
	normal   string // the default sort
	maxLimit int
	row      *rowjson.FieldTree    // what fields= can name; nil: no such parameter
	columns  func() *export.Schema // of the rows as a file; nil: they cannot be one
	detail   *resource             // the endpoint of single records
	facets   *resource             // the endpoint of its facets
	fixed    map[string][]string   // values of parameters that the path gives

	byName     map[string]*param
	paramNames []string // in the order they are documented in
}

const defaultLimit = 100

func modelsOf(g *index.Generation) *index.Table     { return g.Models }
func hardwareOf(g *index.Generation) *index.Table   { return g.Hardware }
func toolsOf(g *index.Generation) *index.Table      { return g.Tools }
func benchmarksOf(g *index.Generation) *index.Table { return g.Benchmarks }

// tableOf is the table that a field refers to.
func tableOf(f index.Field, gen *index.Generation) *index.Table {
	switch f {
	case index.Model:
		return gen.Models
	case index.Hardware:
		return gen.Hardware
	default:
		return gen.Tools
	}
}

var (
	models     = newList(resource{detail: &resource{row: rowjson.TreeOf[rows.ModelDetail](), columns: schemaOf[rows.ModelDetail]("models", "ModelDetail"), params: []param{benchmarksFlag, benchmarksLimit}}, name: "models", singular: "model", table: modelsOf, maxLimit: 200, normal: "slug", row: rowjson.TreeOf[rows.Model](), columns: schemaOf[rows.Model]("models", "Model")}, index.ModelFields)
	hardware   = newList(resource{name: "hardware", singular: "hardware", table: hardwareOf, maxLimit: 200, normal: "slug", row: rowjson.TreeOf[rows.Hardware](), columns: schemaOf[rows.Hardware]("hardware", "Hardware")}, index.HardwareFields)
	tools      = newList(resource{name: "tools", singular: "tool", table: toolsOf, maxLimit: 200, normal: "slug", row: rowjson.TreeOf[rows.Tool](), columns: schemaOf[rows.Tool]("tools", "Tool")}, index.ToolFields)
	benchmarks = newList(resource{name: "benchmarks", singular: "benchmark", table: benchmarksOf, maxLimit: 500, normal: "-run_date", row: rowjson.TreeOf[rows.Benchmark](), columns: schemaOf[rows.Benchmark]("benchmarks", "Benchmark")}, index.BenchmarkFields)
)

// resources lists every list of records, in the order they are documented in.
var resources = []*resource{models, hardware, tools, benchmarks}

// listNames are the names of the lists.
func listNames() (out []string) {
	for _, r := range resources {
		out = append(out, r.name)
	}
	return out
}

// newList makes the list of a table from the declarations of its fields.
func newList(r resource, fields []index.FieldInfo) *resource {
	r.params = filterParams(fields, r.maxLimit)
	for _, f := range fields {
		if f.Is(index.Sorts) {
			r.sorts = append(r.sorts, string(f.Name))
		}
	}
	if r.name == "benchmarks" {
		r.params = append(r.params, benchmarkParams...)
	}
	r.params = append(r.params, fitParams(r.name)...)
	sortDoc := "Order, descending with a leading hyphen. Unknown values come last in both directions; ties are in default order."
	if main := map[string]string{"models": "fits", "hardware": "runs"}[r.name]; main != "" {
		sortDoc += " By tps, the speed in the member fit, with " + main + " only."
	}
	if r.name == "models" {
		sortDoc += " By active_params_b a dense model, where it is null, counts with all its parameters, as it does for min_active_params_b."
	}
	r.params = append(r.params,
		param{name: "q", kind: searchText, doc: "Words that must all occur in " + searched(&r) + ". Letter case is ignored; at most 8 words, 100 characters. Where nothing is found, the notice unknown_value names each word that no record has, and the words nearest to it."},
		param{name: "sort", kind: sortKey, doc: sortDoc},
		param{name: "limit", kind: pageLimit, doc: "Maximum number of records per page. " + allText},
		param{name: "cursor", kind: cursorToken, doc: "Place to continue from, taken from links.next of the previous page. Filters and sort must stay as they were."},
		fieldsParam,
		formatParam,
		asOfParam,
	)
	out := withNames(r)
	out.detail, out.facets = newDetail(out), newFacetList(out, fields)
	return out
}

// newDetail is the endpoint of single records of a list. What differs from the list is declared
// with it: a larger row, further parameters.
func newDetail(list *resource) *resource {
	d := resource{row: list.row, columns: list.columns}
	if list.detail != nil {
		d = *list.detail
	}
	d.name, d.singular, d.table, d.normal, d.maxLimit = list.name, list.singular, list.table, list.normal, maxDetailLimit
	d.params = append(d.params, fieldsParam, formatParam, asOfParam)
	return withNames(d)
}

// maxDetailLimit is the maximum of benchmarks_limit: more than any model has.
const maxDetailLimit = 100_000

var fieldsParam = param{name: "fields", kind: fieldNames, doc: "Fields of the rows to return, separated by commas; nested ones with dots, such as architecture.context_length. slug (id of benchmarks) is always included."}

// asOfParam reads the past: a generation that was served before and is kept. It goes through cursors
// and links as the first digits of the digest, so that a walk stays in one generation.
var asOfParam = param{name: "as_of", kind: keptRef, doc: "Dataset to answer from, as it was served before: its version, or at least 12 digits of its digest. The server keeps a few, which GET /api/v1/dataset lists; another is 410 and names the nearest. Just after a start, one that is being loaded again is 503 with Retry-After. Links and cursors keep it."}

// benchmarkParams are the filters of benchmarks that belong to no single field.
var benchmarkParams = []param{
	{name: "verified", kind: ownerOnly, doc: "true: only measurements of the owner of this directory, as source=owner. false: no restriction."},
	{name: "owner_only", kind: ownerOnly, doc: "Same as verified."},
	{name: "include_variants", kind: includeVariants, doc: "false: hardware matches only records with exactly that slug. Otherwise it also matches its variants, the chips that contain it, and machines built from it."},
}

// searched says where the words of q are looked for.
func searched(r *resource) string {
	if r == nil || r.name != "benchmarks" {
		return "slug, name and aliases"
	}
	return "the slugs, names and aliases of model, hardware and tool; an id is found only whole"
}

// filterParams are the parameters that fields declare.
func filterParams(fields []index.FieldInfo, maxLimit int) []param {
	var out []param
	for _, f := range fields {
		if f.Param != "" {
			pm := param{name: f.Param, field: f, kind: setKind(f), values: f.Values, doc: f.Doc}
			if f.Kind == index.Flag {
				pm.values = []string{"true", "false"}
			}
			if pm.kind == keySet {
				pm.maxCount = maxLimit
			}
			out = append(out, pm)
		}
		low, high := atLeast, atMost
		if f.Kind == index.Date {
			low, high = since, until
		}
		if f.Min != "" {
			out = append(out, param{name: f.Min, kind: low, field: f, doc: "Minimum of " + string(f.Name) + ": " + lowerFirst(f.Doc)})
		}
		if f.Max != "" {
			out = append(out, param{name: f.Max, kind: high, field: f, doc: "Maximum of " + string(f.Name) + ": " + lowerFirst(f.Doc)})
		}
	}
	return out
}

func setKind(f index.FieldInfo) kind {
	switch {
	case f.Is(index.Key):
		return keySet
	case f.Refers != index.None:
		return slugSet
	case f.Kind == index.Count:
		return wholeNumbers
	case f.Kind == index.Flag || f.Values != nil:
		return closedSet
	default:
		return openSet
	}
}

// lowerFirst begins a sentence with a small letter, unless its first word is in capitals, as FP32.
func lowerFirst(s string) string {
	if len(s) > 1 && 'A' <= s[1] && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// withNames makes the look-ups by name of an endpoint's parameters.
func withNames(r resource) *resource {
	if r.path == "" {
		r.path = r.name
	}
	r.byName = make(map[string]*param, len(r.params))
	for i := range r.params {
		r.params[i].at = i
		r.byName[r.params[i].name] = &r.params[i]
		r.paramNames = append(r.paramNames, r.params[i].name)
	}
	return &r
}

// byDate reports whether the default order is by date, not by slug, as that of benchmarks.
func (r *resource) byDate() bool { return r.normal == "-run_date" }

// sortNames lists the values of sort, for error messages and OpenAPI.
func (r *resource) sortNames() []string {
	out := make([]string, 0, 2*len(r.sorts)+2)
	for _, s := range r.sorts {
		out = append(out, s, "-"+s)
	}
	if r.byName["fits"] != nil || r.byName["runs"] != nil {
		out = append(out, string(bySpeed), "-"+string(bySpeed))
	}
	return out
}

// multiple reports whether a parameter takes several values.
func (p *param) multiple() bool {
	return slices.Contains([]kind{closedSet, openSet, slugSet, keySet, wholeNumbers, fieldNames, wordList, textList}, p.kind)
}

var owner = index.Set{Field: index.Source, Values: []string{string(dataset.Owner)}}

// newFacetList is the endpoint of the facets of a list: its filters and the fields to count.
func newFacetList(list *resource, fields []index.FieldInfo) *resource {
	var names []string
	for _, f := range fields {
		if f.Is(index.Facets) {
			names = append(names, string(f.Name))
		}
	}
	r := resource{name: list.name, path: list.name + "/facets", singular: "facet", table: list.table, maxLimit: 1000, normal: list.normal}
	r.params = []param{
		{name: "fields", kind: wordList, values: names, required: "is required: one or more of the allowed values", doc: "Fields to count, separated by commas. Each is counted without its own filter."},
		{name: "limit", kind: pageLimit, doc: "Maximum number of values per field."},
	}
	for _, pm := range list.params {
		switch pm.name {
		case "fields", "limit", "sort", "cursor": // its own, or none
		case formatParam.name:
			r.params = append(r.params, jsonParam)
		default:
			r.params = append(r.params, pm)
		}
	}
	return withNames(r)
}

var (
	benchmarksFlag  = param{name: "benchmarks", kind: oneWord, values: []string{"true", "false"}, doc: "false: without the benchmarks of the model. They never have its throughput results, which GET /api/v1/benchmarks?model=…&scenario=… lists."}
	benchmarksLimit = param{name: "benchmarks_limit", kind: pageLimit, doc: "Maximum number of benchmarks of the model, newest first. Without it, and at most, 5000 are returned; benchmark_count says how many there are, and GET /api/v1/benchmarks?model=… pages through all of them."}
)

// Values of the parameter prefer.
const (
	preferPrecise  = "precise"
	preferMeasured = "measured"
)

// slugOrder is the order of lists of the API, which pages do not offer.
const slugOrder = "slug"

// fitParams are the parameters with which a list keeps what runs: models on a piece of hardware,
// hardware for a model.
func fitParams(list string) []param {
	var out []param
	switch list {
	case "models":
		out = append(out, param{name: "fits", kind: oneName, table: hardwareOf, doc: "Hardware, by slug or alias: only models that run on it. Each row names its best size, verdict and speed in the member fit. Hardware that is sold with several sizes of memory counts with its vram_gb, and the notice memory_assumed says so. A name that states a memory or a number of devices, such as \"M4 Max 64GB\" or \"2x RTX 3090\", sets memory_gb and count where they are not given."},
			param{name: "memory_gb", kind: plainNumber, most: 1e6, doc: "With fits: memory of one device, in GB of 2^30 bytes, for hardware sold with several sizes."})
	case "hardware":
		out = append(out,
			param{name: "runs", kind: oneName, table: modelsOf, doc: "Model, by slug or alias: only hardware that runs it. Each row names the best size, verdict and speed in the member fit. Hardware that is sold with several sizes of memory counts with its vram_gb; the notice memory_assumed says how many rows that are."},
			param{name: "quantization", kind: oneText, doc: "With runs: the size of the model, such as Q4_K_M, instead of the best."})
	default:
		return nil
	}
	other := "With " + out[0].name + ": "
	out = append(out, param{name: "min_tps", kind: plainNumber, most: 1e6, doc: other + "least generation speed, measured or estimated, in tokens per second; with a full cache where context is given. Rows whose speed is unknown are left out, and a notice says how many. The call then counts as six of the burst limit."})
	for _, name := range []string{"count", "context", "kv", "engine", "allow_extended"} {
		pm := *fitQuery.byName[name]
		pm.doc = other + lowerFirst(pm.doc)
		out = append(out, pm)
	}
	out = append(out, param{name: "prefer", kind: oneChoice, values: []string{preferPrecise, preferMeasured}, doc: other + "which size a row names. " +
		preferPrecise + ": the most precise that fits, of those that were published or measured, or that publishers usually make; of sizes that differ by less than a tenth lists look at one, and at those measured on the hardware. " + preferMeasured + ": the most precise of 4 to 9 bits per weight that fits and was measured on the hardware, else one of more bits that was, else the most precise of up to 9 bits that fits, else as " + preferPrecise + ". With more than 9 bits answers become no better. Weights that were trained in four bits count as they were released (MXFP4) before files of other names. The pages choose so."})
	return append(out, param{name: "pareto", kind: flagValue, doc: other + map[string]string{
		"models":   "true: only models that no other beats in both speed and intelligence.",
		"hardware": "true: only hardware that no other beats in speed, street price and bits_per_weight of the size its row names: a size of fewer bits is faster, and not the same. With quantization all rows are of one size.",
	}[list]})
}

// fieldsOf are the declared fields of a list.
func fieldsOf(name string) []index.FieldInfo {
	switch name {
	case "models":
		return index.ModelFields
	case "hardware":
		return index.HardwareFields
	case "tools":
		return index.ToolFields
	default:
		return index.BenchmarkFields
	}
}

// fitQuery is the parameters of GET /api/v1/fit, and the fields of a query of POST /api/v1/fit.
var fitQuery = withNames(resource{
	name: "fit", singular: "fit",
	params: []param{
		{name: "model", kind: oneName, table: modelsOf, required: "is required", doc: "Model, by slug or alias."},
		{name: "hardware", kind: oneName, table: hardwareOf, doc: "Hardware, by slug, alias or another name. Required, unless memory_gb describes the machine. A name that states a memory or a number of devices, such as \"Raspberry Pi 5 8GB\" or \"2x RTX 3090\", sets memory_gb and count where they are not given."},
		{name: "quantization", kind: oneText, doc: "One size of the model by name, such as Q4_K_M; all sizes, best first, without it. Letter case does not count."},
		{name: "count", kind: wholeNumber, most: fit.MaxCount, doc: "Number of devices. With the rules of llama.cpp each has a part of the layers."},
		{name: "context", kind: wholeNumber, most: fit.MaxContext, doc: "Tokens to keep room for. Without it 8192, or the limit of the model where that is less. Above the limit of the model: 400, unless allow_extended is true."},
		{name: "kv", kind: oneChoice, values: fit.KVType("").Values(), doc: "Storage of the key-value cache; f16 without it."},
		{name: "engine", kind: oneChoice, values: fit.Rules("").Values(), doc: "Program whose memory rules apply; llama.cpp without it."},
		{name: "memory_gb", kind: plainNumber, most: 1e6, doc: "Memory of one device, in GB of 2^30 bytes: for hardware sold with several sizes, or with bandwidth_gbps in place of hardware."},
		{name: "bandwidth_gbps", kind: plainNumber, most: 1e6, doc: "Memory bandwidth of one device, in 10^9 bytes per second. With hardware of another bandwidth its measurements do not count."},
		{name: "unified_share", kind: plainNumber, most: 1, doc: "Part of unified memory a model may use; without it the default of the vendor's system, which the answer names."},
		{name: "system_memory_gb", kind: plainNumber, most: 1e6, doc: "Main memory beside a discrete card, in GB, for the verdict offload."},
		{name: "allow_extended", kind: flagValue, doc: "true: accept a context above the limit of the model, as with YaRN."},
		{name: "usd_per_kwh", kind: plainNumber, most: 1e6, fromZero: true, doc: "Price of energy, for costs."},
		{name: "hours_per_day", kind: plainNumber, most: 24, doc: "Hours of use per day, for costs."},
		{name: "years", kind: plainNumber, most: 100, doc: "Years of use, for costs."},
		{name: "usd_per_hour", kind: plainNumber, most: 1e6, fromZero: true, doc: "Rent of the hardware per hour, for costs; in place of its price and energy."},
	},
})

// titleCase writes a word of lower-case letters with a capital.
func titleCase(s string) string { return string(s[0]-'a'+'A') + s[1:] }

package httpapi

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"modeldex/dataset/record"
	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/httpapi/rowjson"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// resource is one list and the way to each of its records, or another endpoint that takes parameters.
type resource struct {
	name     string // plural, as in the path
	path     string // of the list, below /api/v1/; empty: name
	file     string // of the list as a file, without its extension; empty: name
	singular string
	table    func(*index.Generation) *index.Table
	fields   []index.FieldInfo // what the records can be filtered by
	main     string            // the parameter of a list of what runs, fits or runs
	params   []query.Param
	sorts    []string
	normal   string // the default sort
	maxLimit int
	row      *rowjson.FieldTree    // what fields= can name; nil: no such parameter
	columns  func() *export.Schema // of the rows as a file; nil: they cannot be one
	detail   *resource             // the endpoint of single records
	facets   *resource             // the endpoint of its facets
}

// pageParams are the parameters of every list of records.
type pageParams struct {
	Q      string   `query:"q"`
	Sort   string   `query:"sort"`
	Fields []string `query:"fields,ordered"`
	Format string   `query:"format,default=json"`
	Limit  int      `query:"limit,min=1,default=100"`
	Cursor string   `query:"cursor"`
}

type detailParams struct {
	Fields []string `query:"fields,ordered"`
	Format string   `query:"format,default=json"`
}

type modelParams struct {
	// Whether to include the benchmarks of the model. Throughput results are never included; GET
	// /api/v1/benchmarks?model=…&scenario=… lists them.
	Benchmarks bool `query:"benchmarks,default=true"`
	// Maximum number of benchmarks of the model, newest first; default and maximum: 5000. benchmark_count is the total,
	// and GET /api/v1/benchmarks?model=… lists all of them.
	BenchmarksLimit int `query:"benchmarks_limit,min=1,max=100000"`
}

type benchmarkParams struct {
	// Only measurements by the owner of the dataset, like source=owner. false means no restriction.
	Verified bool `query:"verified"`
	// Same as verified.
	OwnerOnly bool `query:"owner_only"`
	// Whether hardware also matches the variants of a record, chips that contain it, and machines built from it. false
	// matches only the record itself.
	IncludeVariants bool `query:"include_variants,default=true"`
}

type facetParams struct {
	// Fields to count, separated by commas. The count of a field ignores the filter on it.
	Fields []string `query:"fields,ordered"`
	// Maximum number of values per field.
	Limit int `query:"limit,min=1,max=1000,default=100"`
	// Format of the response; facets have only json.
	Format string `query:"format,default=json"`
}

const defaultLimit = 100

func modelsOf(g *index.Generation) *index.Table     { return g.Models }
func hardwareOf(g *index.Generation) *index.Table   { return g.Hardware }
func toolsOf(g *index.Generation) *index.Table      { return g.Tools }
func qualityOf(g *index.Generation) *index.Table    { return g.Quality }
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
	models = newList(resource{
		name: "models", singular: "model", table: modelsOf, maxLimit: 200, normal: slugOrder, fields: index.ModelFields,
		main: "fits", params: runsParams[modelRuns]("fits"),
		row: rowjson.TreeOf[rows.Model](), columns: schemaOf[rows.Model]("models"),
		detail: &resource{
			params: query.Of[modelParams](),
			row:    rowjson.TreeOf[rows.ModelDetail](), columns: schemaOf[rows.ModelDetail]("models"),
		},
	})
	hardware = newList(resource{
		name: "hardware", singular: "hardware", table: hardwareOf, maxLimit: 200, normal: slugOrder, fields: index.HardwareFields,
		main: "runs", params: runsParams[hardwareRuns]("runs"),
		row: rowjson.TreeOf[rows.Hardware](), columns: schemaOf[rows.Hardware]("hardware"),
	})
	tools = newList(resource{
		name: "tools", singular: "tool", table: toolsOf, maxLimit: 200, normal: slugOrder, fields: index.ToolFields,
		row: rowjson.TreeOf[rows.Tool](), columns: schemaOf[rows.Tool]("tools"),
	})
	benchmarks = newList(resource{
		name: "benchmarks", singular: "benchmark", table: benchmarksOf, maxLimit: 500, normal: "-run_date", fields: index.BenchmarkFields,
		params: query.Of[benchmarkParams](),
		row:    rowjson.TreeOf[rows.Benchmark](), columns: schemaOf[rows.Benchmark]("benchmarks"),
	})
	quality = newList(resource{
		name: "quality", singular: "quality", table: qualityOf, maxLimit: 500, normal: "id", fields: index.QualityFields,
		row: rowjson.TreeOf[rows.Quality](), columns: schemaOf[rows.Quality]("quality"),
	})
)

// resources are all lists of records, in the order of the documentation. The first ones have pages.
var (
	withPages = []*resource{models, hardware, tools, benchmarks}
	resources = append(slices.Clone(withPages), quality)
)

func listNames() (out []string) {
	for _, r := range resources {
		out = append(out, r.name)
	}
	return out
}

func newList(r resource) *resource {
	r.path = r.name
	for _, f := range r.fields {
		if f.Is(index.Sorts) {
			r.sorts = append(r.sorts, string(f.Name))
		}
	}
	r.params = slices.Concat(filterParams(r.fields, r.maxLimit), r.params, r.describe(query.Of[pageParams]()))
	r.detail, r.facets = newDetail(&r), newFacetList(&r)
	return &r
}

// describe fills in what the parameters that many lists have are for a list.
func (r *resource) describe(params []query.Param) []query.Param {
	for i := range params {
		switch p := &params[i]; p.Name {
		case "q":
			p.Check = searchWords
			p.Doc = "Words that must all appear in " + searched(r.name) + ". Letter case does not matter; at most 8 words, 100 characters. If " +
				"no record matches, the notice unknown_value names each unknown word and similar ones."
		case "sort":
			p.Enum, p.Default, p.Doc = r.sortNames(), r.normal, r.sortText()
			if r.main != "" {
				p.Default = "" // it depends on main
			}
		case "fields":
			p.Doc = "Fields to return, separated by commas; use dots for nested fields, such as " +
				"architecture.context_length. slug (id of benchmarks) is always included; all other fields are left out."
		case "format":
			p.Enum = formatNames()
			p.Doc = "Format of the rows: json, csv, ndjson or parquet. Default: the format of the Accept header."
		case "limit":
			p.Max, p.Doc = float64(r.maxLimit), "Maximum number of records per page. "+allText
			p.Enum = []string{allRows}
			p.Rule = fmt.Sprintf("must be a whole number from 1 to %d, or %s with a file format", r.maxLimit, allRows)
		case "cursor":
			p.Doc = "Cursor from links.next of the previous page. Filters and sort must not change."
		}
	}
	return params
}

func (r *resource) sortText() string {
	text := "Sort order; a leading hyphen means descending. Unknown values come last in both directions; ties are in default order."
	if r.main != "" {
		text += " Default: " + r.normal + ", or best if " + r.main + " is given: recommended rows first, the others left out. " +
			"Only with " + r.main + ": best, and tps, the speed in the field fit"
		if r.main == "runs" {
			text += ", total_price_usd and usd_per_tps, the price of all devices and that price per token per second"
		}
		text += "."
	}
	if r.name == "models" {
		text += " For active_params_b, a dense model without a value counts with all its parameters, as it does for " +
			"min_active_params_b."
	}
	return text
}

// newDetail is the endpoint of single records of a list: of what the list declares for it, a larger row and further
// parameters.
func newDetail(list *resource) *resource {
	d := resource{row: list.row, columns: list.columns}
	if list.detail != nil {
		d = *list.detail
	}
	d.name, d.path, d.singular, d.table, d.normal = list.name, list.path, list.singular, list.table, list.normal
	d.params = append(d.params, d.describe(query.Of[detailParams]())...)
	return &d
}

// searched says where the words of q are looked for.
func searched(list string) string {
	switch list {
	case "quality":
		return "the slug, name and aliases of the model; an id must be complete"
	case "models", "hardware", "tools":
		return "slug, name and aliases"
	}
	return "the slugs, names and aliases of model, hardware and tool; an id must be complete"
}

// filterParams are the parameters that fields declare. Of a field of slugs of the table itself, as many values are taken
// as a page has.
func filterParams(fields []index.FieldInfo, page int) (out []query.Param) {
	for i := range fields {
		f := &fields[i]
		if f.Param != "" {
			p := query.Param{Name: f.Param, Kind: filterKind(f), Enum: f.Values, Many: true, Doc: f.Doc}
			if f.Is(index.Key) {
				p.Most = page
			}
			out = append(out, p)
		}
		bound := query.Param{Kind: query.Number, Tokens: f.Unit == "tokens"}
		if f.Kind == index.Date {
			bound.Kind = query.Date
		}
		for _, end := range [][2]string{{f.Min, "Minimum"}, {f.Max, "Maximum"}} {
			if bound.Name = end[0]; bound.Name != "" {
				bound.Doc = end[1] + " of " + string(f.Name) + ": " + lowerFirst(f.Doc)
				out = append(out, bound)
			}
		}
	}
	return out
}

func filterKind(f *index.FieldInfo) query.Kind {
	switch {
	case f.Kind == index.Count:
		return query.Whole
	case f.Kind == index.Flag:
		return query.Flag
	case f.Values != nil:
		return query.Text
	default:
		return query.Name
	}
}

// lowerFirst begins a sentence with a small letter, unless its first word is in capitals, as FP32.
func lowerFirst(s string) string {
	if len(s) > 1 && 'A' <= s[1] && s[1] <= 'Z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

func (r *resource) sortNames() []string {
	sorts := r.sorts
	if r.main != "" {
		sorts = slices.Concat(sorts, record.Texts(slices.Sorted(maps.Keys(r.runOrders()))))
	}
	out := make([]string, 0, 2*len(sorts))
	for _, s := range sorts {
		out = append(out, s, "-"+s)
	}
	return out
}

func newFacetList(list *resource) *resource {
	r := &resource{
		name: list.name, path: list.name + "/facets", singular: "facet", table: list.table, fields: list.fields, main: list.main,
		maxLimit: 1000, normal: list.normal, params: query.Of[facetParams](),
	}
	fields := query.Find(r.params, "fields")
	for _, f := range list.fields {
		if f.Is(index.Facets) {
			fields.Enum = append(fields.Enum, string(f.Name))
		}
	}
	fields.Required = "is required: one or more of the allowed values"
	query.Find(r.params, "format").Enum = []string{export.JSON.String()}
	for _, p := range list.params {
		if p.Name != "sort" && p.Name != "cursor" && query.Find(r.params, p.Name) == nil {
			r.params = append(r.params, p)
		}
	}
	return r
}

// slugOrder is the order of lists of the API, which pages do not offer.
const slugOrder = "slug"

func titleCase(s string) string { return string(s[0]-'a'+'A') + s[1:] }

package httpapi

import (
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/httpapi/export"
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
	fieldNames                  // names of fields of the rows
	oneWord                     // one of a fixed list, see word
	wordList                    // one or more of a fixed list, see word
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
	kind  kind
	field index.FieldInfo // filters only
	// values are those of a fixed list; for oneWord the first is the default.
	values   []string
	doc      string
	maxCount int                                  // maximum number of values; 0: maxValues
	most     float64                              // wholeNumber and plainNumber only
	table    func(*index.Generation) *index.Table // where the values of a oneName are
}

// resource is one list and the way to each of its records.
type resource struct {
	name     string // plural, as in the path
	path     string // of the list, below /api/v1/; empty: name
	singular string
	table    func(*index.Generation) *index.Table
	params   []param
	sorts    []string
	normal   string // the default sort
	maxLimit int
	row      *fieldTree            // what fields= can name; nil: no such parameter
	columns  func() *export.Schema // of the rows as a file; nil: they cannot be one
	detail   *resource             // the endpoint of single records
	facets   *resource             // the endpoint of its facets

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
	models     = newList(resource{detail: &resource{row: treeOf[ModelDetail](), columns: schemaOf[ModelDetail]("models", "ModelDetail"), params: []param{benchmarksFlag, benchmarksLimit}}, name: "models", singular: "model", table: modelsOf, maxLimit: 200, normal: "slug", row: treeOf[ModelRow](), columns: schemaOf[ModelRow]("models", "Model")}, index.ModelFields)
	hardware   = newList(resource{name: "hardware", singular: "hardware", table: hardwareOf, maxLimit: 200, normal: "slug", row: treeOf[HardwareRow](), columns: schemaOf[HardwareRow]("hardware", "Hardware")}, index.HardwareFields)
	tools      = newList(resource{name: "tools", singular: "tool", table: toolsOf, maxLimit: 200, normal: "slug", row: treeOf[ToolRow](), columns: schemaOf[ToolRow]("tools", "Tool")}, index.ToolFields)
	benchmarks = newList(resource{name: "benchmarks", singular: "benchmark", table: benchmarksOf, maxLimit: 500, normal: "-run_date", row: treeOf[BenchmarkRow](), columns: schemaOf[BenchmarkRow]("benchmarks", "Benchmark")}, index.BenchmarkFields)
)

// resources lists every list of records, in the order they are documented in.
var resources = []*resource{models, hardware, tools, benchmarks}

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
	r.params = append(r.params,
		param{name: "q", kind: searchText, doc: "Words that must all occur in " + searched(&r) + ". Letter case is ignored; at most 8 words, 100 characters."},
		param{name: "sort", kind: sortKey, doc: "Order, descending with a leading hyphen. Unknown values come last in both directions; ties are in default order."},
		param{name: "limit", kind: pageLimit, doc: "Maximum number of records per page. " + allText},
		param{name: "cursor", kind: cursorToken, doc: "Place to continue from, taken from links.next of the previous page. Filters and sort must stay as they were."},
		fieldsParam,
		formatParam,
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
	d.params = append(d.params, fieldsParam, formatParam)
	return withNames(d)
}

// maxDetailLimit is the maximum of benchmarks_limit: more than any model has.
const maxDetailLimit = 100_000

var fieldsParam = param{name: "fields", kind: fieldNames, doc: "Fields of the rows to return, separated by commas; nested ones with dots, such as architecture.context_length. slug (id of benchmarks) is always included."}

// benchmarkParams are the filters of benchmarks that belong to no single field.
var benchmarkParams = []param{
	{name: "verified", kind: ownerOnly, doc: "true: only measurements of the owner of this directory, as source=owner. false: no restriction."},
	{name: "owner_only", kind: ownerOnly, doc: "Same as verified."},
	{name: "include_variants", kind: includeVariants, doc: "false: model and hardware match only records with exactly that slug. Otherwise they also match its variants, the chips that contain it, machines built from it, and repackagings of a model."},
}

// searched says where the words of q are looked for.
func searched(r *resource) string {
	if r == nil || r.name != "benchmarks" {
		return "slug, name and aliases"
	}
	return "id, and in the slugs, names and aliases of model, hardware and tool"
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

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// withNames makes the look-ups by name of an endpoint's parameters.
func withNames(r resource) *resource {
	if r.path == "" {
		r.path = r.name
	}
	r.byName = make(map[string]*param, len(r.params))
	for i := range r.params {
		r.byName[r.params[i].name] = &r.params[i]
		r.paramNames = append(r.paramNames, r.params[i].name)
	}
	return &r
}

// byDate reports whether the default order is by date, not by slug, as that of benchmarks.
func (r *resource) byDate() bool { return r.normal == "-run_date" }

// sortNames lists the values of sort, for error messages and OpenAPI.
func (r *resource) sortNames() []string {
	out := make([]string, 0, 2*len(r.sorts))
	for _, s := range r.sorts {
		out = append(out, s, "-"+s)
	}
	return out
}

// multiple reports whether a parameter takes several values.
func (p *param) multiple() bool {
	return slices.Contains([]kind{closedSet, openSet, slugSet, keySet, wholeNumbers, fieldNames, wordList}, p.kind)
}

var owner = index.Set{Field: index.Source, Values: []string{string(dataset.Owner)}}

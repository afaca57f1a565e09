package pages

import (
	"cmp"
	"html/template"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/index"
)

// ExploreQuery is a list as a page shows it: a query the API has parsed.
type ExploreQuery struct {
	Kind  string // models, hardware, tools or benchmarks
	Query index.Query
	// Runs are the answers of the filters fits and runs, by slug; nil without such a filter.
	Runs map[string]*fit.Best
	// Params are the parameters in canonical spelling, without cursor.
	Params url.Values
	// Words are the words searched for, as they were typed.
	Words string
	// Next makes the query of the page behind a position.
	Next func(*index.Position) string
	// Notes say what the filters left out or took for something else.
	Notes []string
	// Near finds what the words may mean where nothing has them; nil without words.
	Near func() []Link
}

// A Facet is the values of one field, to choose from.
type Facet struct {
	Name, Label, Title string
	Values             []FacetValue
	More               []FacetValue // behind a switch
	Open               bool
}

// A FacetValue is a value and how many records have it.
type FacetValue struct {
	Value, Label, Count string
	Checked             bool
}

// A Range is a field of numbers or dates with ends to choose.
type Range struct {
	Label, Title, Unit string
	Min, Max           string // names of parameters, empty for none
	MinValue, MaxValue string
	Low, High          string // ends of the data, of numbers
	Type               string // number or date
	Open               bool
}

// An Input is a text to fill in.
type Input struct{ Name, Label, Value, Hint string }

// Explore is a list with filters.
type Explore struct {
	Frame
	Kind     string
	Heading  string
	Lead     string
	Total    string
	Words    string
	Facets   []Facet
	Ranges   []Range
	Inputs   []Input
	Settings []Choice // of benchmarks
	Sorts    []Choice
	Table    Table
	Chosen   []Link // filters in force; the link takes one away
	Clear    string
	Next     string
	First    string // set on later pages
	Notes    []string
	Near     []Link // what the words may mean, where nothing has them
	Apart    *Link  // what would match and is listed elsewhere; nil: nothing
	Position string
	Filtered bool
}

// list is what the page of a kind of records shows.
type list struct {
	heading, lead, singular string
	table                   func(*index.Generation) *index.Table
	fields                  []index.FieldInfo
	facets                  []string // in order; the first are open
	open                    int
	ranges                  []string
	openRanges              int
	sorts                   []Choice
	inputs                  []Input
	columns                 []column
}

// column is a column of a list.
type column struct {
	Column
	sort string // the field the list can be ordered by
	// minor columns make way for what runs.
	minor bool
}

var lists = map[string]*list{
	"models": {
		heading: "Models", singular: "model", lead: "Open-weight language models: their shape, the memory they need, and how they did in published evaluations.",
		table:  func(g *index.Generation) *index.Table { return g.Models },
		fields: index.ModelFields, facets: []string{"family", "organization", "architecture", "license", "modality", "has_benchmarks"}, open: 2,
		ranges: []string{"params_b", "active_params_b", "context_length", "intelligence", "release_date"}, openRanges: 1,
		inputs: []Input{{Name: "fits", Label: "Runs on hardware", Hint: "rtx 4090"}, {Name: "min_tps", Label: "With at least tok/s", Hint: "20"}},
		sorts:  []Choice{{Value: "name", Label: "A to Z"}, {Value: "-intelligence", Label: "Intelligence"}, {Value: "-release_date", Label: "Newest"}, {Value: "params_b", Label: "Smallest"}, {Value: "-params_b", Label: "Largest"}, {Value: "-benchmark_count", Label: "Most measured"}, {Value: "-context_length", Label: "Longest context"}},
		columns: []column{
			{Column{Text: "Model"}, "name", false},
			{Column{Text: "Maker"}, "", true},
			{Column{Text: "Parameters", Number: true, Title: "In billions; active ones per token behind a slash"}, "params_b", false},
			{Column{Text: "Context, tokens", Number: true}, "context_length", true},
			{Column{Text: "Intelligence", Number: true, Title: "Composite of published evaluations, 0 to 100"}, "intelligence", false},
			{Column{Text: "Released", Short: true}, "release_date", true},
			{Column{Text: "Runs", Number: true, Title: "Benchmarks of the model itself"}, "benchmark_count", true},
		},
	},
	"hardware": {
		heading: "Hardware", singular: "hardware", lead: "Graphics cards, processors and machines: memory, bandwidth, price, and what was measured on them.",
		table:  func(g *index.Generation) *index.Table { return g.Hardware },
		fields: index.HardwareFields, facets: []string{"vendor", "type", "architecture", "backend", "unified_memory", "has_benchmarks"}, open: 2,
		ranges: []string{"vram_gb", "street_price_usd", "memory_bandwidth_gbps", "fp16_tflops", "tdp_watts", "release_date"}, openRanges: 2,
		inputs: []Input{{Name: "runs", Label: "Runs the model", Hint: "gpt-oss-20b"}, {Name: "context", Label: "With a context of", Hint: "32768"}, {Name: "min_tps", Label: "With at least tok/s", Hint: "20"}},
		sorts:  []Choice{{Value: "name", Label: "A to Z"}, {Value: "street_price_usd", Label: "Cheapest"}, {Value: "-vram_gb", Label: "Most memory"}, {Value: "-memory_bandwidth_gbps", Label: "Most bandwidth"}, {Value: "-release_date", Label: "Newest"}, {Value: "-benchmark_count", Label: "Most measured"}},
		columns: []column{
			{Column{Text: "Hardware"}, "name", false},
			{Column{Text: "Kind"}, "", true},
			{Column{Text: "Memory, GB", Number: true}, "vram_gb", false},
			{Column{Text: "Bandwidth, GB/s", Number: true}, "memory_bandwidth_gbps", false},
			{Column{Text: "FP16, TFLOPS", Number: true, Title: "Dense, FP32 accumulation"}, "fp16_tflops", true},
			{Column{Text: "Street price", Number: true, Title: "US dollars"}, "street_price_usd", false},
			{Column{Text: "Released", Short: true}, "release_date", true},
			{Column{Text: "Runs", Number: true, Title: "Benchmarks on the record itself"}, "benchmark_count", true},
		},
	},
	"tools": {
		heading: "Tools", singular: "tool", lead: "Programs that run, serve, tune and quantize models on your own machine.",
		table:  func(g *index.Generation) *index.Table { return g.Tools },
		fields: index.ToolFields, facets: []string{"category", "backend", "os", "api", "model_format", "license", "has_benchmarks"}, open: 3,
		ranges:  []string{"first_release"},
		sorts:   []Choice{{Value: "name", Label: "A to Z"}, {Value: "-benchmark_count", Label: "Most measured"}, {Value: "-first_release", Label: "Newest"}},
		columns: []column{{Column{Text: "Tool"}, "name", false}, {Column{Text: "Kind"}, "", true}, {Column{Text: "What it does"}, "", false}, {Column{Text: "Licence"}, "", false}, {Column{Text: "Runs", Number: true, Title: "Benchmarks made with it"}, "benchmark_count", true}},
	},
	"benchmarks": {
		heading: "Benchmarks", singular: "benchmark", lead: "Published measurements of tokens per second, each with its settings and the page it was read from. Speeds compare only where settings agree.",
		table:  func(g *index.Generation) *index.Table { return g.Benchmarks },
		fields: index.BenchmarkFields, facets: []string{"model", "hardware", "quantization", "tool", "backend", "family", "source", "compute_unit", "rate_basis", "speculative_decoding", "partial_offload", "flash_attention"}, open: 4,
		ranges: []string{"generation_tps", "prompt_tps", "context_depth", "concurrency", "hardware_count", "run_date"}, openRanges: 1,
		sorts: []Choice{{Value: "-run_date", Label: "Newest"}, {Value: "-generation_tps", Label: "Fastest generation"}, {Value: "-prompt_tps", Label: "Fastest prompt"}, {Value: "-roofline_ratio", Label: "Best use of bandwidth"}, {Value: "run_date", Label: "Oldest"}},
		columns: []column{
			{Column{Text: "Model"}, "", false},
			{Column{Text: "Hardware"}, "", false},
			{Column{Text: "Quantization"}, "", false},
			{Column{Text: "Generation, tok/s", Number: true}, "generation_tps", false},
			{Column{Text: "Prompt, tok/s", Number: true}, "prompt_tps", false},
			{Column{Text: "Settings"}, "", false},
			{Column{Text: "Tool"}, "", false},
			{Column{Text: "Date", Short: true}, "run_date", false},
			{Column{Text: "Source"}, "", false},
		},
	},
}

// PageRows is how many rows a list shows without the parameter limit.
const PageRows = 50

// labels of fields whose names do not read well.
var labels = map[string]string{
	"params_b": "Parameters", "active_params_b": "Active parameters", "organization": "Maker", "license": "Licence", "modality": "Input and output",
	"has_benchmarks": "Has benchmarks", "vram_gb": "Memory", "memory_bandwidth_gbps": "Bandwidth", "fp16_tflops": "FP16", "tdp_watts": "Power",
	"street_price_usd": "Street price", "os": "System", "api": "API", "generation_tps": "Generation", "prompt_tps": "Prompt", "context_depth": "Tokens in the cache",
	"concurrency": "Simultaneous requests", "hardware_count": "Devices", "run_date": "Date of the run", "compute_unit": "Generated by", "source": "Who measured",
	"fits": "Runs on hardware", "runs": "Runs the model", "min_tps": "At least tok/s", "memory_gb": "Memory, GB", "bandwidth_gbps": "Bandwidth, GB/s",
	"unified_share": "Share of unified memory", "count": "Devices", "kv": "Cache", "engine": "Program", "rate_basis": "Rate", "partial_offload": "Part of the weights in main memory", "release_date": "Released",
}

// Label is what pages call a field.
func Label(name string) string { return cmp.Or(labels[name], Sentence(words(name))) }

// Explore is the page of a list.
func (s *Site) Explore(gen *index.Generation, q *ExploreQuery, at Place) *Explore {
	l := lists[q.Kind]
	asked := l.table(gen).Conditions(q.Query)
	v := l.explore(gen, q, asked, at)
	v.Facets, v.Ranges = l.choices(gen, asked, q.Params)
	if on := q.Params.Get("fits"); on != "" && q.Query.After == nil && !q.otherMachine() {
		v.Table.Plot = plot(charts.For(gen).HardwareFrontier(on), "plot-frontier", at.Base)
	}
	return v
}

// otherMachine reports whether what runs is asked for on another machine than the hardware alone, which the plot shows.
func (q *ExploreQuery) otherMachine() bool {
	return slices.ContainsFunc(append([]string{"prefer", "allow_extended"}, ofMachine...), q.Params.Has)
}

// ExploreMarkdown is the page of a list as a Markdown document. It has no values to choose from: counting them
// reads every record that matches.
func (s *Site) ExploreMarkdown(gen *index.Generation, q *ExploreQuery, at Place) []byte {
	l := lists[q.Kind]
	return l.explore(gen, q, l.table(gen).Conditions(q.Query), at).markdown()
}

// titledFilters is how many filters are in the title of a page, which tells tabs and bookmarks apart.
const titledFilters = 3

// explore is the page of a list without what there is to choose from, and without its plot.
func (l *list) explore(gen *index.Generation, q *ExploreQuery, asked *index.Conditions, at Place) *Explore {
	page := asked.Page()
	v := &Explore{
		Frame: Frame{
			Place: at, Title: l.heading, Description: l.lead, Section: at.Path, Canonical: at.Path, Dataset: stampOf(gen),
			Unlisted: at.Query != "", Forms: forms(at.withoutCursor(), "json", "csv", "md"), Scripts: []string{"app.js"}, Styles: []string{"charts.css"},
		},
		Kind: q.Kind, Heading: l.heading, Lead: l.lead, Total: text.Count(page.Total, l.singular, cmp.Or(map[string]string{"hardware": "pieces of hardware"}[q.Kind], q.Kind)),
		Words: q.Words, Notes: q.Notes, Clear: at.Path,
	}
	v.Notes = append(v.Notes, leftOut(q.Query, page)...)
	if page.Total == 0 && q.Near != nil {
		v.Near = append(q.Near(), l.elsewhere(gen, q)...)
	}
	if q.Kind == "hardware" && page.Total == 1 {
		v.Total = "1 piece of hardware"
	}
	for _, in := range l.inputs {
		in.Value = q.Params.Get(in.Name)
		v.Inputs = append(v.Inputs, in)
	}
	v.Sorts = l.sortChoices(q)
	if q.Kind == "benchmarks" {
		now := q.Params.Get("settings")
		v.Apart = underLoad(gen, q, at)
		v.Settings = []Choice{{index.SingleStream, "One request on one device: speeds that compare", now == index.SingleStream}, {"", "All settings, mixed", now == ""}}
	}
	v.Chosen = l.chosen(gen, q, at)
	v.Filtered = len(v.Chosen) > 0
	for i, chosen := range v.Chosen[:min(len(v.Chosen), titledFilters)] {
		v.Title += [...]string{": ", ", "}[min(i, 1)] + chosen.Text
	}
	if len(v.Chosen) > titledFilters {
		v.Title += " and more"
	}
	v.Table = l.rows(gen, q, page.Ords, at)
	if q.Runs != nil && !q.Params.Has("context") && page.Total > 0 {
		v.Notes = append(v.Notes, "Speeds are with an empty cache.")
	}
	if q.Kind == "models" && slices.ContainsFunc(page.Ords, func(ord uint32) bool {
		b := q.Runs[gen.Models.Slug(ord)]
		return b != nil && b.BelowLeastBits()
	}) {
		v.Notes = append(v.Notes, "A score is of the full model. Models marked “below 4 bits” fit only with fewer bits per weight, where answers become clearly worse.")
	}
	if page.Next != nil {
		v.Next = at.Path + "?" + q.Next(page.Next)
	}
	if q.Query.After != nil {
		v.First = at.with(q.Params)
	}
	if !v.Filtered && q.Query.After == nil {
		v.Data = listData(&v.Frame, l)
	}
	return v
}

// leftOut says what the filters of a list leave out because it is not known, and whether its order mixes settings.
func leftOut(q index.Query, page index.Page) (notes []string) {
	add := func(n int, field index.Field) {
		if n > 0 {
			notes = append(notes, text.Whole(n)+record.Noun(n, " more is left out because this is not known of it: ", " more are left out because this is not known of them: ")+strings.ToLower(Label(string(field)))+".")
		}
	}
	for i, n := range page.Excluded {
		add(n, q.Ranges[i].Field)
	}
	for i, n := range page.ExcludedBySets {
		add(n, q.Sets[i].Field)
	}
	if len(page.Mixed) > 0 {
		notes = append(notes, "These speeds were measured with different settings and do not compare. Those of one request on one device do.")
	}
	return notes
}

// elsewhere are the other lists that have records with the same words.
func (l *list) elsewhere(gen *index.Generation, q *ExploreQuery) (links []Link) {
	for _, kind := range []string{"models", "hardware", "tools", "benchmarks"} {
		other := lists[kind]
		if other == l {
			continue
		}
		if _, n := other.table(gen).First(index.Query{Words: q.Query.Words}); n > 0 {
			links = append(links, Link{Text: kind + " (" + text.Whole(n) + ")", Href: "/explore/" + kind + "?q=" + url.QueryEscape(q.Params.Get("q")), NoFollow: true})
		}
	}
	return links
}

// underLoad leads to the results of servers under load that match, which a list has only where it is asked for them.
func underLoad(gen *index.Generation, q *ExploreQuery, at Place) *Link {
	loads := dataset.Scenario("").Values()
	query := q.Query
	query.Sets = append(slices.Clip(query.Sets), index.Set{Field: index.Scenario, Values: loads})
	query.After, query.Limit = nil, 1
	_, n := gen.Benchmarks.First(query)
	if n == 0 || q.Params.Has("scenario") {
		return nil
	}
	with := maps.Clone(q.Params)
	with.Set("scenario", strings.Join(loads, ","))
	text := text.Whole(n) + record.Noun(n, " more is the speed of a server under load", " more are speeds of servers under load")
	return &Link{Text: text, Href: at.with(with), NoFollow: true}
}

// ExploreHTML is the page.
func (s *Site) ExploreHTML(v *Explore) []byte { return s.render("explore.html", v) }

func (v *Explore) markdown() []byte {
	v.Table.Title = v.Total
	sheet := Sheet{Frame: v.Frame, Heading: v.Heading, Lead: v.Lead, Tables: []Table{v.Table}, Notes: v.Notes}
	return sheet.Markdown()
}

func listData(f *Frame, l *list) map[string]any {
	return map[string]any{
		"@context": "https://schema.org", "@type": "Dataset", "name": "modeldex: " + strings.ToLower(l.heading), "description": l.lead, "url": f.Absolute(f.Path),
		"version": f.Dataset.Version, "dateModified": f.Dataset.Released, "license": licenseAddress(f.Dataset.License), "isAccessibleForFree": true,
		"creator": map[string]any{"@type": "Organization", "name": "modeldex", "url": f.Absolute("/")},
	}
}

func (p Place) with(params url.Values) string {
	if len(params) == 0 {
		return p.Path
	}
	return p.Path + "?" + params.Encode()
}

// withoutCursor is the place of the first page: other forms begin there.
func (p Place) withoutCursor() Place {
	q, err := url.ParseQuery(p.Query)
	if err != nil || !q.Has("cursor") {
		return p
	}
	q.Del("cursor")
	p.Query = q.Encode()
	return p
}

func (l *list) field(name string) *index.FieldInfo {
	i := slices.IndexFunc(l.fields, func(f index.FieldInfo) bool { return string(f.Name) == name })
	return &l.fields[i]
}

// shownValues is how many values of a facet are shown at once, mostValues how many at all.
const (
	shownValues = 7
	mostValues  = 60
)

// choices are the facets and ranges of a list under a query.
func (l *list) choices(gen *index.Generation, asked *index.Conditions, params url.Values) (facets []Facet, ranges []Range) {
	fields := make([]index.Field, 0, len(l.facets)+len(l.ranges))
	for _, name := range slices.Concat(l.facets, l.ranges) {
		fields = append(fields, index.Field(name))
	}
	n := newNames(gen)
	for i, counted := range asked.Facets(fields) {
		info := l.field(string(counted.Field))
		if i < len(l.facets) {
			if f := facet(n, info, &counted, params); len(f.Values) > 0 {
				f.Open = f.Open || i < l.open
				facets = append(facets, f)
			}
			continue
		}
		r := rangeOf(info, &counted, params)
		r.Open = r.Open || i-len(l.facets) < l.openRanges
		ranges = append(ranges, r)
	}
	return facets, ranges
}

func facet(n *names, info *index.FieldInfo, counted *index.Facet, params url.Values) Facet {
	f := Facet{Name: info.Param, Label: Label(string(info.Name)), Title: info.Doc}
	chosen := split(params[info.Param])
	f.Open = len(chosen) > 0
	listed := map[string]bool{}
	for _, v := range counted.Values {
		checked := slices.Contains(chosen, v.Value)
		if len(listed) >= mostValues && !checked {
			continue
		}
		listed[v.Value] = true
		value := FacetValue{v.Value, valueLabel(n, info, v.Value), text.Whole(v.Count), checked}
		if len(f.Values) < shownValues || checked {
			f.Values = append(f.Values, value)
		} else {
			f.More = append(f.More, value)
		}
	}
	for _, v := range chosen { // chosen, and no record has it now
		if !listed[v] {
			f.Values = append(f.Values, FacetValue{v, valueLabel(n, info, v), "0", true})
		}
	}
	return f
}

// split is the values of a set filter.
func split(values []string) (out []string) {
	for _, v := range values {
		out = append(out, strings.Split(v, ",")...)
	}
	return out
}

func valueLabel(n *names, info *index.FieldInfo, v string) string {
	switch {
	case info.Refers == index.Model:
		return n.of("models", dataset.Slug(v))
	case info.Refers == index.Hardware:
		return n.of("hardware", dataset.Slug(v))
	case info.Refers == index.Tool:
		return n.of("tools", dataset.Slug(v))
	case info.Kind == index.Flag:
		return yesNo(v == "true")
	case info.Name == "vendor":
		return vendorName(dataset.Vendor(v))
	case info.Name == "type":
		return cmp.Or(typeNames[dataset.HardwareType(v)], v)
	case info.Name == index.Quantization, info.Name == "tool_version", info.Name == "id":
		return v // a name, whose _ is not a space
	}
	return words(v)
}

func rangeOf(info *index.FieldInfo, counted *index.Facet, params url.Values) Range {
	r := Range{Label: Label(string(info.Name)), Title: info.Doc, Unit: unitText(info), Min: info.Min, Max: info.Max, Type: "number"}
	if info.Min != "" {
		r.MinValue = params.Get(info.Min)
	}
	if info.Max != "" {
		r.MaxValue = params.Get(info.Max)
	}
	r.Open = r.MinValue != "" || r.MaxValue != ""
	switch {
	case info.Kind == index.Date:
		r.Type = "date"
	case len(counted.Bins) > 0:
		r.Low, r.High = text.Rounded(counted.Min), text.Rounded(counted.Max)
	}
	return r
}

func (l *list) sortChoices(q *ExploreQuery) []Choice {
	now := cmp.Or(q.Params.Get("sort"), l.sorts[0].Value)
	out := slices.Clone(l.sorts)
	known := false
	for i := range out {
		out[i].Selected = out[i].Value == now
		known = known || out[i].Selected
	}
	if !known {
		name, desc := strings.CutPrefix(now, "-")
		text := Label(name)
		if desc {
			text += ", highest first"
		}
		out = append(out, Choice{now, text, true})
	}
	return out
}

// chosen are the filters in force.
func (l *list) chosen(gen *index.Generation, q *ExploreQuery, at Place) (out []Link) {
	n := newNames(gen)
	names := make([]string, 0, len(q.Params))
	for name := range q.Params {
		if name != "sort" && name != "limit" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	encoded := newEncodedParams(q.Params)
	for _, name := range names {
		values := split(q.Params[name])
		for i, v := range values {
			if name == "q" && len(values) == 1 {
				v = q.Words
			}
			others := slices.Delete(slices.Clone(values), i, i+1)
			query := encoded.with(name, strings.Join(others, ","), func(other string) bool { return isRun(name) && l.goesWithRuns(other) })
			out = append(out, Link{Text: l.chosenText(n, name, v), Href: strings.TrimSuffix(at.Path+"?"+query, "?"), NoFollow: true})
		}
	}
	return out
}

// encodedParams are parameters as an address has them, in its order, each encoded once: a list with many filters
// has a link for each of their values, with all the others.
type encodedParams struct {
	names   []string
	encoded map[string]string
}

func newEncodedParams(params url.Values) *encodedParams {
	p := &encodedParams{slices.Sorted(maps.Keys(params)), map[string]string{}}
	for name, values := range params {
		p.encoded[name] = url.Values{name: values}.Encode()
	}
	return p
}

// with is the query with another value of a parameter, which is left out where that is empty, and without
// some of the others.
func (p *encodedParams) with(name, value string, without func(other string) bool) string {
	var parts []string
	for _, other := range p.names {
		switch {
		case other != name && !without(other):
			parts = append(parts, p.encoded[other])
		case other == name && value != "":
			parts = append(parts, url.QueryEscape(name)+"="+url.QueryEscape(value))
		}
	}
	return strings.Join(parts, "&")
}

func isRun(name string) bool { return name == "fits" || name == "runs" }

// goesWithRuns reports whether a parameter means something only beside fits or runs.
func (l *list) goesWithRuns(name string) bool {
	switch name {
	case "quantization", "min_tps", "count", "context", "kv", "engine", "allow_extended", "prefer", "pareto":
		return l.inputs != nil
	}
	return false
}

func (l *list) chosenText(n *names, name, v string) string {
	for i := range l.fields {
		f := &l.fields[i]
		switch name {
		case f.Param:
			return Label(string(f.Name)) + ": " + valueLabel(n, f, v)
		case f.Min:
			return Label(string(f.Name)) + " from " + limitText(f, v)
		case f.Max:
			return Label(string(f.Name)) + " to " + limitText(f, v)
		}
	}
	switch name {
	case "q":
		return "“" + v + "”"
	case "fits":
		return "Runs on " + n.of("hardware", dataset.Slug(v))
	case "runs":
		return "Runs " + n.of("models", dataset.Slug(v))
	case "min_tps":
		return "At least " + limitText(&index.FieldInfo{Unit: "tok/s"}, v)
	case "context":
		return "Context: " + limitText(&index.FieldInfo{Unit: "tokens"}, v)
	case "prefer":
		return "Most " + v + " sizes"
	}
	return Sentence(words(name)) + ": " + v
}

// limitText is a limit of a range for readers.
func limitText(f *index.FieldInfo, v string) string {
	unit := unitText(f)
	n, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil: // a date
		return strings.TrimSpace(v + " " + unit)
	case unit == "tokens" && n == math.Trunc(n) && n < 1<<53:
		return text.Tokens(int64(n)) + " tokens"
	case unit == "US dollars":
		return text.Dollars(n)
	}
	return strings.TrimSpace(text.Exact(n) + " " + unit)
}

// unitText is the unit of a field as pages write it.
func unitText(f *index.FieldInfo) string {
	switch f.Unit {
	case "10^9 parameters":
		return "billions"
	case "tokens/s":
		return "tok/s"
	}
	return f.Unit
}

// ofOneDevice are columns that are of one device also where a list is for several.
var ofOneDevice = []string{"vram_gb", "memory_bandwidth_gbps", "street_price_usd"}

// rows is the table of a page.
func (l *list) rows(gen *index.Generation, q *ExploreQuery, ords []uint32, at Place) Table {
	t := Table{ID: "results", Title: l.heading, Empty: "No record matches all of these filters. Take one away."}
	now, count := cmp.Or(q.Params.Get("sort"), l.sorts[0].Value), q.Params.Get("count")
	several := count != "" && count != "1"
	var shown []int
	for i, c := range l.columns {
		if c.minor && q.Runs != nil {
			continue
		}
		shown = append(shown, i)
		head := c.Column
		if several && slices.Contains(ofOneDevice, c.sort) {
			head.Text += ", each"
		}
		if c.sort != "" {
			head.Sort, head.Order = sortLink(at, q.Params, c, now)
		}
		t.Columns = append(t.Columns, head)
	}
	if q.Runs != nil {
		t.Columns = append(t.Columns, Column{Text: "Best size", Short: true}, Column{Text: "Takes", Number: true}, Column{Text: "Tok/s", Number: true}, Column{Text: "Speed is"})
	}
	n, table := newNames(gen), l.table(gen)
	t.Rows = make([][]Cell, 0, len(ords))
	for _, ord := range ords {
		all := l.cells(n, q.Kind, table.Row(ord))
		if q.Runs == nil {
			t.Rows = append(t.Rows, all)
			continue
		}
		row := make([]Cell, 0, len(t.Columns))
		for _, i := range shown {
			row = append(row, all[i])
		}
		t.Rows = append(t.Rows, append(row, fitCells(q.Runs[table.Slug(ord)], q.Params)...))
	}
	return t
}

// sortLink is the address of the list ordered by a column: numbers and dates descend first.
func sortLink(at Place, params url.Values, c column, now string) (href, order string) {
	next := c.sort
	if c.Number || strings.HasSuffix(c.sort, "date") {
		next = "-" + c.sort
	}
	switch now {
	case c.sort:
		order, next = "ascending", "-"+c.sort
	case "-" + c.sort:
		order, next = "descending", c.sort
	}
	with := url.Values{}
	for name, v := range params {
		with[name] = v
	}
	with.Set("sort", next)
	return at.with(with), order
}

func (l *list) cells(n *names, kind string, row []byte) []Cell {
	switch kind {
	case "models":
		m := decodeShown[modelRecord](kind, row)
		params := textCell("")
		if m.ParamsB != nil {
			params = Cell{Text: text.Rounded(*m.ParamsB) + "B", Title: text.Exact(*m.ParamsB) + " billion"}
			if m.ActiveParamsB != nil {
				params.Note = "/ " + text.Rounded(*m.ActiveParamsB) + "B"
			}
		}
		context := textCell("")
		if c := m.Architecture.ContextLength; c != nil {
			context = Cell{Text: text.Tokens(*c), Title: text.Whole(*c) + " tokens"}
		}
		score := textCell("")
		if in := m.Intelligence; in != nil && in.Score != nil {
			score = Cell{Text: text.Tenths(*in.Score), Title: string(in.Confidence) + " confidence"}
		}
		return []Cell{{Text: m.Name, Href: "/models/" + string(m.Slug)}, {Text: m.Organization}, params, context, score, textCell(dateText(m.ReleaseDate)), {Text: text.Whole(m.BenchmarkCount)}}
	case "hardware":
		h := decodeShown[hardwareRecord](kind, row)
		memory := numberCell(h.VRAMGB)
		if h.UnifiedMemory && memory.Known() {
			memory.Note = "unified"
		}
		flops := numberCell(h.FP16TFLOPS)
		flops.Title = str(h.FP16Basis)
		price := priceCell(h.StreetPriceUSD)
		price.Title = strings.TrimSpace(str(h.StreetPriceCondition) + " " + dateText(h.StreetPriceDate))
		return []Cell{{Text: h.Name, Href: "/hardware/" + string(h.Slug)}, {Text: cmp.Or(typeNames[h.Type], string(h.Type))}, memory, numberCell(h.MemoryBandwidthGBps), flops, price, textCell(cmp.Or(dateText(h.ReleaseDate), str(h.ReleaseQuarter))), {Text: text.Whole(h.BenchmarkCount)}}
	case "tools":
		t := decodeShown[toolRecord](kind, row)
		return []Cell{{Text: t.Name, Href: "/tools/" + string(t.Slug)}, {Text: string(t.Category)}, {Text: t.Description, Class: "prose"}, textCell(str(t.License)), {Text: text.Whole(t.BenchmarkCount)}}
	default:
		return runCells(n, readRun(row), index.None)
	}
}

// Ticks are the boxes of some values of the facet.
func (f *Facet) Ticks(values []FacetValue) template.HTML {
	b := make([]byte, 0, 160*len(values))
	for i := range values {
		v := &values[i]
		b = appendEscaped(append(b, "\n    <label class=\"tick\"><input type=\"checkbox\" name=\""...), f.Name)
		b = appendEscaped(append(b, `" value="`...), v.Value)
		if b = append(b, '"'); v.Checked {
			b = append(b, " checked"...)
		}
		b = appendEscaped(append(b, "><span>"...), v.Label)
		b = append(appendEscaped(append(b, "</span><small>"...), v.Count), "</small></label>"...)
	}
	return template.HTML(b) //nolint:gosec // texts are escaped
}

// Removals are the filters in force, each as a link that takes it away.
func (v *Explore) Removals() template.HTML {
	var b []byte
	for _, l := range v.Chosen {
		b = appendAddress(append(b, `<li><a href="`...), l.Href)
		b = appendEscaped(append(b, `" rel="nofollow" aria-label="Remove: `...), l.Text)
		b = appendEscaped(append(b, `">`...), l.Text)
		b = append(b, ` <span aria-hidden="true">×</span></a></li>`...)
	}
	return template.HTML(b) //nolint:gosec // texts and addresses are escaped
}

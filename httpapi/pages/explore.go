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
	// Fit is the machine and the settings of the filters fits and runs.
	Fit fit.Query
	// Notes say what the filters left out or took for something else.
	Notes []string
	// Near finds what the words may mean where nothing has them; nil without words.
	Near func() []Link
}

// A Facet is the values of one field, to choose from.
type Facet struct {
	Name, Label string
	Values      []FacetValue
	More        []FacetValue // behind a switch
	Open        bool
}

// A FacetValue is a value and how many records have it.
type FacetValue struct {
	Value, Label, Count string
	Checked             bool
}

// A Range is a field of numbers or dates with ends to choose.
type Range struct {
	Label, Unit        string
	Min, Max           string // names of parameters, empty for none
	MinValue, MaxValue string
	Low, High          string // ends of the data, of numbers
	Type               string // number or date
	Open               bool
}

// Explore is a list with filters.
type Explore struct {
	Frame
	Heading  string
	Lead     string
	Total    string
	Words    string
	Facets   []Facet
	Ranges   []Range
	Inputs   []Input
	Settings []Choice // of benchmarks
	Sorts    Choices
	Table    Table
	Chosen   []Link // filters in force; the link takes one away
	Next     string
	First    string // set on later pages
	Notes    []string
	Near     []Link // what the words may mean, where nothing has them

	choose func() // adds facets and ranges
}

// PageRows is how many rows a list shows without the parameter limit.
const PageRows = 50

// Explore is the page of a list.
func (s *Site) Explore(gen *index.Generation, q *ExploreQuery, at Place) *Explore {
	l := lists[q.Kind]
	asked := tableOf(gen, q.Kind).Conditions(q.Query)
	v := s.explore(l, gen, q, asked, at)
	v.choose = func() { v.Facets, v.Ranges = l.choices(gen, asked, q.Params) }
	return v
}

// HTML is the page.
func (v *Explore) HTML() []byte {
	v.choose()
	return v.site.render("explore.html", v)
}

// Markdown is the page as a Markdown document. It has no values to choose from: counting them reads every record that
// matches.
func (v *Explore) Markdown() []byte {
	t := v.Table
	t.Title = v.Total
	return (&Sheet{Frame: v.Frame, Heading: v.Heading, Lead: v.Lead, Tables: []Table{t}, Notes: v.Notes}).Markdown()
}

func (s *Site) explore(l *list, gen *index.Generation, q *ExploreQuery, asked *index.Conditions, at Place) *Explore {
	page := asked.Page()
	v := &Explore{
		Frame:   s.frame(gen, at, at.Path, l.heading, l.lead),
		Heading: l.heading, Lead: l.lead, Total: text.Whole(page.Total) + " " + nounOf(q.Kind, page.Total),
		Words: q.Words, Notes: append(q.Notes, leftOut(q.Query, page)...), Sorts: l.sortChoices(q), Chosen: l.chosen(gen, q, at),
		Table: l.rows(gen, q, page.Ords, at),
	}
	v.Forms, v.Styles = forms(at.withoutCursor(), "json", "csv", "md"), []string{"charts.css"}
	if page.Total == 0 && q.Near != nil {
		v.Near = q.Near()
	}
	for _, in := range l.inputs {
		if in.Value = q.Params.Get(in.Name); in.Name == "fits" || in.Name == "runs" {
			in.Value = NameOf(gen, in.Value)
		}
		v.Inputs = append(v.Inputs, in)
	}
	if q.Kind == "benchmarks" {
		now := q.Params.Get("settings")
		v.Settings = []Choice{{index.SingleStream, "Comparable speeds: one request, one device", now == index.SingleStream}, {"", "All benchmarks", now == ""}}
	}
	for i, chosen := range v.Chosen[:min(len(v.Chosen), 3)] { // tells tabs and bookmarks apart
		v.Title += [...]string{": ", ", "}[min(i, 1)] + chosen.Text
	}
	if q.Runs != nil && !q.Params.Has("context") && page.Total > 0 {
		v.Notes = append(v.Notes, "Speeds are for an empty cache.")
	}
	if page.Next != nil {
		v.Next = at.Path + "?" + q.Next(page.Next)
	}
	if q.Query.After != nil {
		v.First = at.with(q.Params)
	} else if len(v.Chosen) == 0 {
		v.Data = v.schemaDataset("modeldex: " + strings.ToLower(l.heading))
	}
	return v
}

// leftOut says what the filters of a list leave out because it is not known, and whether its order mixes settings.
func leftOut(q index.Query, page index.Page) (notes []string) {
	add := func(n int, field index.Field) {
		if n > 0 {
			notes = append(notes, text.Whole(n)+record.Noun(n, " more has", " more have")+" no known "+strings.NewReplacer("api", "API", "fp16", "FP16").Replace(strings.ToLower(Label(string(field))))+" and "+record.Noun(n, "is", "are")+" hidden.")
		}
	}
	for i, n := range page.Excluded {
		add(n, q.Ranges[i].Field)
	}
	for i, n := range page.ExcludedBySets {
		add(n, q.Sets[i].Field)
	}
	if len(page.Mixed) > 0 {
		notes = append(notes, "These speeds were measured with different settings, so do not compare them directly. To see comparable ones, choose “Comparable speeds”.")
	}
	return notes
}

func (p Place) with(params url.Values) string {
	p.Query = params.Encode()
	return p.Address()
}

// withoutCursor is the place of the first page: other forms begin there.
func (p Place) withoutCursor() Place {
	if q, err := url.ParseQuery(p.Query); err == nil && q.Has("cursor") {
		q.Del("cursor")
		p.Query = q.Encode()
	}
	return p
}

// shownValues is how many values of a facet are shown at once, mostMore how many behind a switch.
const (
	shownValues = 7
	mostMore    = 50
)

func (l *list) choices(gen *index.Generation, asked *index.Conditions, params url.Values) (facets []Facet, ranges []Range) {
	var fields []index.Field
	for _, name := range slices.Concat(l.facets, l.ranges) {
		fields = append(fields, index.Field(name))
	}
	n := newNames(gen)
	for i, counted := range asked.Facets(fields) {
		info := &l.fields[slices.IndexFunc(l.fields, func(f index.FieldInfo) bool { return f.Name == counted.Field })]
		if i >= len(l.facets) {
			r := rangeOf(info, &counted, params)
			r.Open = r.Open || i-len(l.facets) < l.openRanges
			ranges = append(ranges, r)
		} else if f := facet(n, info, &counted, params); len(f.Values) > 0 {
			f.Open = f.Open || i < l.open
			facets = append(facets, f)
		}
	}
	return facets, ranges
}

func facet(n *names, info *index.FieldInfo, counted *index.Facet, params url.Values) Facet {
	f := Facet{Name: info.Param, Label: Label(string(info.Name))}
	chosen := split(params[info.Param])
	f.Open = len(chosen) > 0
	listed := map[string]bool{}
	for _, v := range counted.Values {
		checked := slices.Contains(chosen, v.Value)
		listed[v.Value] = true
		value := FacetValue{v.Value, valueLabel(n, info, v.Value), text.Whole(v.Count), checked}
		if len(f.Values) < shownValues || checked {
			f.Values = append(f.Values, value)
		} else if len(f.More) < mostMore {
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

// Ticks are the boxes of some values of the facet. They are written here and not by a template: there are hundreds.
func (f *Facet) Ticks(values []FacetValue) template.HTML {
	var b []byte
	for _, v := range values {
		b = appendAttribute(append(b, "\n    <label class=\"tick\"><input type=\"checkbox\""...), "name", f.Name)
		b = appendEscaped(append(b, ` value="`...), v.Value)
		if b = append(b, '"'); v.Checked {
			b = append(b, " checked"...)
		}
		b = appendEscaped(append(b, "><span>"...), v.Label)
		b = append(appendEscaped(append(b, "</span><small>"...), v.Count), "</small></label>"...)
	}
	return template.HTML(b) //nolint:gosec // texts are escaped
}

func split(values []string) []string {
	if len(values) == 0 {
		return nil
	}
	return strings.Split(strings.Join(values, ","), ",")
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
		return vendorName(v)
	case info.Name == "type":
		return typeName(v)
	case info.Name == index.Quantization, info.Name == "tool_version", info.Name == "id":
		return v // a name, whose _ is not a space
	}
	return words(shown(v))
}

func rangeOf(info *index.FieldInfo, counted *index.Facet, params url.Values) Range {
	r := Range{
		Label: Label(string(info.Name)), Unit: unitText(info), Min: info.Min, Max: info.Max, Type: "number",
		MinValue: params.Get(info.Min), MaxValue: params.Get(info.Max),
	}
	r.Open = r.MinValue != "" || r.MaxValue != ""
	if info.Kind == index.Date {
		r.Type = "date"
	} else if len(counted.Bins) > 0 {
		r.Low, r.High = text.Rounded(counted.Min), text.Rounded(counted.Max)
	}
	return r
}

func (l *list) orderOf(q *ExploreQuery) string {
	if q.Runs != nil {
		return cmp.Or(q.Params.Get("sort"), "best")
	}
	return cmp.Or(q.Params.Get("sort"), l.sorts[0].Value)
}

func (l *list) sortChoices(q *ExploreQuery) Choices {
	now, out := l.orderOf(q), slices.Clone(l.sorts)
	if i := slices.IndexFunc(out, func(c Choice) bool { return c.Value == now }); i >= 0 {
		out[i].Selected = true
		return out
	}
	name, down := strings.CutPrefix(now, "-")
	return append(out, Choice{now, Label(name) + map[bool]string{true: ", highest first"}[down], true})
}

func (l *list) chosen(gen *index.Generation, q *ExploreQuery, at Place) (out []Link) {
	n := newNames(gen)
	for _, name := range slices.Sorted(maps.Keys(q.Params)) {
		if name == "sort" || name == "limit" {
			continue
		}
		values := split(q.Params[name])
		for i, v := range values {
			if name == "q" && len(values) == 1 {
				v = q.Words
			}
			without := maps.Clone(q.Params)
			if without.Set(name, strings.Join(slices.Delete(slices.Clone(values), i, i+1), ",")); without.Get(name) == "" {
				without.Del(name)
			}
			if name == "fits" || name == "runs" {
				maps.DeleteFunc(without, func(other string, _ []string) bool { return slices.Contains(besideRuns, other) })
			}
			out = append(out, Link{Text: l.chosenText(n, name, v), Href: at.with(without)})
		}
	}
	return out
}

// besideRuns are the parameters that mean something only beside fits or runs.
var besideRuns = []string{"quantization", "min_tps", "count", "context", "kv", "engine", "allow_extended", "prefer"}

func (l *list) chosenText(n *names, name, v string) string {
	for i := range l.fields {
		f := &l.fields[i]
		switch name {
		case f.Param:
			return Label(string(f.Name)) + ": " + valueLabel(n, f, v)
		case f.Min:
			return Label(string(f.Name)) + " from " + limitText(unitText(f), v)
		case f.Max:
			return Label(string(f.Name)) + " to " + limitText(unitText(f), v)
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
		return "At least " + limitText("tok/s", v)
	case "context":
		return "Context: " + limitText("tokens", v)
	}
	return Sentence(words(name)) + ": " + v
}

func limitText(unit, v string) string {
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

func unitText(f *index.FieldInfo) string {
	unit := cmp.Or(map[string]string{"10^9 parameters": "billion", "tokens/s": "tok/s", "streams": "requests", "0 to 100": "points"}[f.Unit], f.Unit)
	if strings.Contains(strings.ToLower(Label(string(f.Name))), unit) {
		return ""
	}
	return unit
}

func (l *list) rows(gen *index.Generation, q *ExploreQuery, ords []uint32, at Place) Table {
	t := Table{ID: "results", Title: l.heading, Empty: "Nothing matches these filters."}
	var shown []int
	for i, head := range l.columns {
		if q.Runs != nil && slices.Contains(l.minor, i) {
			continue
		}
		shown = append(shown, i)
		if l.order[i] != "" {
			head.Sort, head.Order = sortLink(at, q.Params, l.order[i], head.Number, l.orderOf(q))
		}
		t.Columns = append(t.Columns, head)
	}
	if q.Runs != nil {
		t.Columns = append(t.Columns, columns("~Quantization", "#Memory needed", "#Tok/s", "Basis")...)
	}
	n, table := newNames(gen), tableOf(gen, q.Kind)
	for _, ord := range ords {
		all := l.cells(n, table.Row(ord))
		row := make([]Cell, 0, len(t.Columns))
		for _, i := range shown {
			row = append(row, all[i])
		}
		if q.Runs != nil {
			row = append(row, fitCells(q.Runs[table.Slug(ord)], q.Fit)...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// sortLink is the address of the list ordered by a column: numbers and dates descend first.
func sortLink(at Place, params url.Values, by string, number bool, now string) (href, order string) {
	next := by
	if number || strings.HasSuffix(by, "date") {
		next = "-" + by
	}
	switch now {
	case by:
		order, next = "ascending", "-"+by
	case "-" + by:
		order, next = "descending", by
	}
	with := url.Values{"sort": {next}}
	for name, values := range params {
		if name != "sort" {
			with[name] = values
		}
	}
	return at.with(with), order
}

package httpapi

import (
	"slices"

	"modeldex/httpapi/rows"
	"modeldex/index"
)

// FacetRow is the matching records, counted by the values of one field.
type FacetRow struct {
	// Name of the field.
	Field string `json:"field" jsonschema:"example=vendor"`
	// Kind of values. It determines whether the response has values, or min, max and bins.
	Kind string `json:"kind" jsonschema:"enum=text,enum=flag,enum=count,enum=number,enum=date,example=text"`
	// Unit of the numbers; null if there is none.
	Unit *string `json:"unit" jsonschema:"nullable,example=GB"`
	// Matching records with a value.
	Known int `json:"known" jsonschema:"minimum=0,example=600"`
	// Matching records without a value; an empty list is a value.
	Unknown int `json:"unknown" jsonschema:"minimum=0,example=12"`
	// Values of a text field or flag, most frequent first, at most limit. A record with several values counts for each.
	Values []index.ValueCount `json:"values"`
	// Number of distinct values of a text field or flag, including those beyond limit.
	ValueCount int `json:"value_count" jsonschema:"minimum=0,example=5"`
	// Lowest number or earliest date (a year or a month counts as its first day); null if no record has a value.
	Min any `json:"min"`
	// Highest number or latest date, likewise; null if no record has a value.
	Max any `json:"max"`
	// At most 40 bins of numbers or whole months. They have equal widths, or equal ratios if the highest number is more
	// than 100 times the lowest.
	Bins []FacetBin `json:"bins"`
}

// FacetBin is the number of records in an interval.
type FacetBin struct {
	// Lower end, included.
	From any `json:"from"`
	// Upper end, included only in the last bin.
	To any `json:"to"`
	// Number of records in this interval.
	Count int `json:"count" jsonschema:"minimum=0,example=31"`
}

func facetsOf(facets *resource) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) {
		q, f := facets.parseFor(req)
		if f != nil {
			return nil, f
		}
		return s.cached(req, q.cacheName(), func() ([]byte, string) { return renderFacets(req.gen, facets, q), "" }), nil
	}
}

func renderFacets(gen *index.Generation, facets *resource, q *listQuery) []byte {
	t := facets.table(gen)
	var fields []index.Field
	for _, name := range q.fields {
		fields = append(fields, index.Field(name))
	}
	all := q.Query
	all.Limit = 0
	asked := t.Conditions(all)
	rows := []*FacetRow{}
	for _, f := range asked.Facets(fields) {
		rows = append(rows, facetRow(&f, fieldOf(facets.fields, f.Field), q.Limit))
	}
	page := asked.Page()
	notices := slices.Concat(q.notices, q.excludedNotices(page.Excluded, page.ExcludedBySets), throughputNotice(page.Unlisted), q.leftOutNotices(t), q.unknownWords(t, page.Total))
	end, _ := q.envelope(page.Total, len(rows), notices, nil)
	return dataWith(rows, end)
}

var facetKinds = map[index.FieldKind]string{index.Text: "text", index.Flag: "flag", index.Count: "count", index.Number: "number", index.Date: "date"}

func facetRow(f *index.Facet, info index.FieldInfo, limit int) *FacetRow {
	row := &FacetRow{
		Field: string(f.Field), Kind: facetKinds[info.Kind], Unit: known(info.Unit), Known: f.Known, Unknown: f.Unknown,
		Values: f.Values[:min(limit, len(f.Values))], ValueCount: len(f.Values), Bins: []FacetBin{},
	}
	value := func(v float64) any { return v }
	if info.Kind == index.Date {
		value = func(v float64) any { return rows.DateText(v) }
	}
	if len(f.Bins) > 0 {
		row.Min, row.Max = value(f.Min), value(f.Max)
	}
	for _, bin := range f.Bins {
		row.Bins = append(row.Bins, FacetBin{value(bin.From), value(bin.To), bin.Count})
	}
	return row
}

package httpapi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset/record"
	"modeldex/httpapi/export"
	"modeldex/httpapi/rowjson"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

const (
	maxGroups = 10_000
	maxCells  = 10_000
	// mostParquetGroups is the limit of a page as Parquet, as it is of other lists: the file of 1,000 groups costs twice what they do as
	// JSON, and more than any other request.
	mostParquetGroups = 500
)

// The parameters that only statistics have.
var (
	groupByParam = param{name: "group_by", kind: wordList, values: groupFields(index.Groups), maxCount: 2, required: "is required: one or two of " + strings.Join(groupFields(index.Groups), ", "), doc: "One or two fields to group by."}
	metricParam  = param{name: "metric", kind: oneWord, values: groupFields(index.Metric), doc: "What the statistics are of."}
	weightParam  = param{name: "weight", kind: oneWord, values: []string{"row", "source", "page"}, doc: "source: records with the same page, model, hardware and settings count once, with their median. page: each source page of a group counts once, with the median of its records there, so that a page with a hundred settings counts as much as one with a single run; own measurements without a page count as one page. n is then equal to sources."}
	shapeParam   = param{name: "shape", kind: oneWord, values: []string{"list", "pivot"}, doc: "pivot: a dense matrix of two fields, as for a heat map, of at most 10,000 cells and without pages."}
	valueParam   = param{name: "value", kind: oneWord, values: []string{"median", "n", "sources", "min", "p10", "p25", "p75", "p90", "max"}, doc: "Statistic in the cells of a pivot."}
	allSettings  = param{
		name: "settings", kind: oneWord, values: []string{index.SingleStream, "all"},
		field: fieldOf(index.BenchmarkFields, index.Settings),
		doc:   "single_stream: only decode speeds of one stream on one device. all: no restriction; groups then say which settings differ.",
	}
)

// statsList is the endpoint of statistics: the filters of benchmarks and the parameters above.
var statsList = newStatsList()

func newStatsList() *resource {
	r := resource{name: "benchmarks", path: "benchmarks/stats", file: "benchmark-statistics", singular: "group", table: benchmarksOf, maxLimit: 1000, sorts: index.GroupOrders, normal: "key", columns: schemaOf[rows.Group]("statistics", "StatsGroup")}
	r.params = []param{groupByParam, metricParam, weightParam, shapeParam, valueParam, allSettings}
	for _, pm := range append(filterParams(index.BenchmarkFields, benchmarks.maxLimit), benchmarkParams...) {
		if pm.name != "settings" && pm.name != "scenario" { // throughput results are not speeds of a stream
			r.params = append(r.params, pm)
		}
	}
	r.params = append(r.params,
		param{name: "q", kind: searchText, doc: "Words that must all occur in " + searched(benchmarks) + "."},
		param{name: "sort", kind: sortKey, doc: "Order of the groups, descending with a leading hyphen; ties are in the order of keys."},
		param{name: "limit", kind: pageLimit, doc: fmt.Sprintf("Maximum number of groups per page; as Parquet at most %d. ", mostParquetGroups) + allText},
		param{name: "cursor", kind: cursorToken, doc: "Place to continue from, taken from links.next of the previous page."},
		formatParam, asOfParam,
	)
	return withNames(r)
}

// groupFields are the names of the fields of benchmarks with a use, the default first.
func groupFields(use index.Uses) []string {
	var out []string
	for _, f := range index.BenchmarkFields {
		if f.Is(use) {
			out = append(out, string(f.Name))
		}
	}
	return out
}

func fieldOf(fields []index.FieldInfo, name index.Field) index.FieldInfo {
	return fields[slices.IndexFunc(fields, func(f index.FieldInfo) bool { return f.Name == name })]
}

// showStats answers statistics by group.
func showStats(s *Server, req *request) (*response, *failure) {
	q, f := statsList.parseFor(req)
	if f != nil {
		return nil, f
	}
	if f := checkStats(q); f != nil {
		return nil, f
	}
	if f := req.acceptsFormat(q); f != nil {
		return nil, f
	}
	stats, err := req.gen.Benchmarks.Stats(statsQuery(q))
	var tooMany index.TooManyGroupsError
	switch pivot := q.word(&shapeParam) == "pivot"; {
	case errors.As(err, &tooMany):
		return nil, badGroups(fmt.Sprintf("gives more than %d groups; filter by hardware, model or family, or group by one field", tooMany.Max))
	case pivot && q.format != export.JSON:
		return nil, badParameter("format", q.format.String(), "is not available with shape=pivot; the list has one row per group")
	case pivot && rows.Cells(stats) > maxCells:
		return nil, badGroups(fmt.Sprintf("gives a matrix of more than %d cells; filter by hardware, model or family", maxCells))
	case pivot:
		return s.cached(req, q.cacheName(), func() ([]byte, string) { return renderPivot(req.gen, q, stats), "" }), nil
	}
	switch {
	case q.all:
		q.Limit = len(stats.Groups)
		groups, _ := q.groups(stats)
		return s.complete(req, q, statsSchema(q), len(groups), func() export.Rows { return statsRows(groups, q) })
	case q.format != export.JSON:
		return s.filed(req, q, func() ([]byte, string) {
			groups, next := q.groups(stats)
			return fileOf(req.gen, q.format, statsSchema(q), statsRows(groups, q)), q.link(next)
		}), nil
	}
	return s.cached(req, q.cacheName(), func() ([]byte, string) { return renderStats(req.gen, q, stats) }), nil
}

// statsSchema is the columns of groups: for each field of group_by one in the place of group.
func statsSchema(q *listQuery) *export.Schema {
	var by []export.Column
	for _, name := range q.selected["group_by"] {
		by = append(by, export.Column{Name: "group." + name, Nullable: true, Doc: fieldOf(index.BenchmarkFields, index.Field(name)).Doc})
	}
	return statsList.columns().Replace("group", by...)
}

// statsRows gives groups one after the other.
func statsRows(groups []index.Group, q *listQuery) export.Rows {
	w, row := rows.NewGroupWriter(q.selected["group_by"]), []byte(nil)
	return eachOf(groups, func(g *index.Group) []byte {
		row = w.Append(row[:0], g)
		return row
	})
}

// groups is the page of groups that a query asks for.
func (q *listQuery) groups(stats *index.Stats) ([]index.Group, *index.Position) {
	by := "key"
	if q.Sort.Field != index.None {
		by = string(q.Sort.Field)
	}
	return stats.Page(by, q.Sort.Desc, q.After, q.Limit)
}

// checkStats rejects parameters that do not go together.
func checkStats(q *listQuery) *failure {
	by, pivot := q.selected["group_by"], q.word(&shapeParam) == "pivot"
	switch {
	case pivot && len(by) != 2:
		return badGroups("must be two fields for a pivot")
	case pivot && (q.After != nil || q.limited || q.Sort.Field != index.None):
		return badParameter("shape", "pivot", "pivot has neither pages nor sort; leave out sort, limit and cursor")
	case q.format == export.Parquet && !q.all && q.Limit > mostParquetGroups:
		return badParameter("limit", strconv.Itoa(q.Limit), fmt.Sprintf("must be at most %d with format=parquet; the Link header leads to the next page, and limit=%s gives every group in one file", mostParquetGroups, allRows))
	case !pivot && q.selected["value"] != nil:
		return badParameter("value", q.word(&valueParam), "is a parameter of shape=pivot")
	}
	return nil
}

func badGroups(detail string) *failure {
	f := badParameter("group_by", "", detail)
	f.faults[0].Allowed, f.faults[0].Value = groupByParam.values, nil
	return f
}

func badParameter(name, value, detail string) *failure {
	var faults faultList
	faults.add(invalidParameter, Fault{In: "query", Name: name, Value: clip(value), Detail: detail})
	return faults.failure()
}

var weights = map[string]index.Weight{"row": index.EachRecord, "source": index.OncePerRepeat, "page": index.OncePerPage}

// statsQuery is the question to the index.
func statsQuery(q *listQuery) index.StatsQuery {
	out := index.StatsQuery{
		Query: q.Query, Metric: index.Field(q.word(&metricParam)), Weight: weights[q.word(&weightParam)], MaxGroups: maxGroups,
	}
	for _, by := range q.selected["group_by"] {
		out.By = append(out.By, index.Field(by))
	}
	return out
}

// bytesOfGroup is a little more than groups have on average, so that most pages are not copied while they grow.
const bytesOfGroup = 600

// renderStats writes a page of groups.
func renderStats(gen *index.Generation, q *listQuery, stats *index.Stats) (body []byte, link string) {
	groups, next := q.groups(stats)
	b := append(make([]byte, 0, bytesOfGroup*len(groups)+1024), pageStart...)
	w := rows.NewGroupWriter(q.selected["group_by"])
	for i := range groups {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.Append(b, &groups[i])
	}
	q.meta = statsMeta(q)
	end, link := q.envelope(gen, len(stats.Groups), len(groups), statsNotices(gen, q, stats), next)
	return append(b, end...), link
}

// statsMeta is what meta says of statistics beside what it says of lists.
func statsMeta(q *listQuery) []byte {
	metric := fieldOf(index.BenchmarkFields, index.Field(q.word(&metricParam)))
	b := append([]byte(`"group_by":`), rowjson.Marshal(q.selected["group_by"])...)
	b = rowjson.AppendString(append(b, `,"metric":`...), string(metric.Name))
	b = rowjson.AppendString(append(b, `,"unit":`...), metric.Unit)
	b = rowjson.AppendString(append(b, `,"weight":`...), q.word(&weightParam))
	b = rowjson.AppendString(append(b, `,"settings":`...), q.word(&allSettings))
	return append(b, `,"quantile_type":7,`...)
}

func statsNotices(gen *index.Generation, q *listQuery, stats *index.Stats) []Notice {
	out := slices.Concat(q.notices, q.excludedNotices(stats.Excluded, stats.ExcludedBySets), q.unknownWords(gen.Benchmarks, len(stats.Groups)))
	if n := stats.Unknown; n > 0 {
		metric := q.word(&metricParam)
		out = append(out, Notice{Code: nullExcluded, Parameter: "metric", Count: &n, Detail: fmt.Sprintf("%d %s is unknown", n, record.Noun(n, "record that matches is excluded because its ", "records that match are excluded because their ")+metric)})
	}
	if n := stats.Withdrawn; n > 0 {
		out = append(out, Notice{Code: "withdrawn_excluded", Parameter: "settings", Count: &n, Detail: fmt.Sprintf("%d %s", n, record.Noun(n, "record that matches is excluded because it was withdrawn", "records that match are excluded because they were withdrawn"))})
	}
	if n := stats.Unlisted; n > 0 {
		out = append(out, Notice{Code: throughputExcluded, Parameter: "settings", Count: &n, Detail: fmt.Sprintf("%d %s", n, record.Noun(n, "record that matches is excluded because it is a throughput result", "records that match are excluded because they are throughput results"))})
	}
	if len(stats.Groups) == 0 {
		detail := "no record matches the filters and has a value of the metric"
		if q.word(&allSettings) == index.SingleStream {
			detail += " under settings=single_stream, which holds unless settings=all is given"
		}
		out = append(out, Notice{Code: "no_rows", Parameter: "group_by", Detail: detail})
	}
	return out
}

// renderPivot writes all groups as a matrix.
func renderPivot(gen *index.Generation, q *listQuery, stats *index.Stats) []byte {
	out := rows.PivotOf(stats, q.word(&valueParam))
	q.meta = append(statsMeta(q), `"value":"`+q.word(&valueParam)+`",`...)
	q.Limit = maxCells
	end, _ := q.envelope(gen, len(stats.Groups), len(stats.Groups), statsNotices(gen, q, stats), nil)
	return append(append([]byte(`{"data":`), rowjson.Marshal(out)...), end[1:]...) // without the bracket that ends a list
}

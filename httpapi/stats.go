package httpapi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/httpapi/rowjson"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

const (
	maxGroups = 10_000
	maxCells  = 10_000
	// mostParquetGroups is the maximum page size as Parquet. A file of 1,000 groups costs twice as much as JSON, and more
	// than any other request.
	mostParquetGroups = 500
)

type statsParams struct {
	// One or two fields to group by.
	GroupBy []string `query:"group_by,ordered,most=2"`
	// Field to compute statistics for.
	Metric string `query:"metric"`
	// Weight of records. source: records with the same page, model, hardware and settings count once, using their median.
	// page: each source page counts once per group, using the median of its records; the dataset
	// owner's own measurements, which have no page, count as one page. n then equals sources.
	Weight string `query:"weight"`
	// Shape of the result. pivot: data is a matrix of two fields, as for a heat map, with at most 10,000 cells, and is not
	// paginated. It contains two lists, rows and columns; the values and comparable fields contain one list per row.
	Shape string `query:"shape"`
	// Statistic in the cells of a pivot.
	Value string `query:"value"`
	// Settings of the records. single_stream: only decode speeds of one stream on one device. all: no restriction; groups
	// then list the settings that differ.
	Settings string `query:"settings"`
}

// statsList is the endpoint of statistics: the filters of benchmarks and the parameters above.
var statsList = newStatsList()

func newStatsList() *resource {
	r := &resource{
		name: "benchmarks", path: "benchmarks/stats", file: "benchmark-statistics", singular: "group", table: benchmarksOf,
		fields: index.BenchmarkFields, maxLimit: 1000, sorts: index.GroupOrders, normal: "key",
		columns: schemaOf[rows.Group]("statistics"), params: query.Of[statsParams](),
	}
	for name, values := range map[string][]string{
		"group_by": groupFields(index.Groups), "metric": groupFields(index.Metric), "weight": {"row", "source", "page"},
		"shape": {"list", "pivot"}, "settings": {index.SingleStream, "all"},
		"value": {"median", "n", "sources", "min", "p10", "p25", "p75", "p90", "max"},
	} {
		p := query.Find(r.params, name)
		if p.Enum = values; !p.Many {
			p.Default = values[0]
		}
	}
	by := query.Find(r.params, "group_by")
	by.Required = "is required: one or two of " + strings.Join(by.Enum, ", ")
	for _, p := range append(filterParams(r.fields, benchmarks.maxLimit), query.Of[benchmarkParams]()...) {
		if p.Name != "settings" && p.Name != "scenario" { // throughput results are not speeds of a stream
			r.params = append(r.params, p)
		}
	}
	page := r.describe(query.Of[pageParams]())
	query.Find(page, "q").Doc = "Words that must all appear in " + searched(r.name) + "."
	query.Find(page, "sort").Doc = "Sort order of the groups; a leading hyphen means descending. Ties are sorted by key."
	query.Find(page, "limit").Doc = fmt.Sprintf("Maximum number of groups per page; at most %d as Parquet. ", mostParquetGroups) + allText
	r.params = append(r.params, slices.DeleteFunc(page, func(p query.Param) bool { return p.Name == "fields" })...)
	return r
}

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
	switch pivot := q.Text("shape") == "pivot"; {
	case errors.As(err, &tooMany):
		return nil, badGroups(fmt.Sprintf("has more than %d groups; filter by hardware, model or family, or group by one field", tooMany.Max))
	case pivot && q.format != export.JSON:
		return nil, badParameter("format", q.format.String(), "is not available with shape=pivot; the list has one row per group")
	case pivot && rows.Cells(stats) > maxCells:
		return nil, badGroups(fmt.Sprintf("has more than %d cells; filter by hardware, model or family", maxCells))
	case pivot:
		return s.cached(req, q.cacheName(), func() ([]byte, string) { return renderPivot(q, stats), "" }), nil
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
	return s.cached(req, q.cacheName(), func() ([]byte, string) { return renderStats(q, stats) }), nil
}

func statsSchema(q *listQuery) *export.Schema {
	var by []export.Column
	for _, name := range q.Texts("group_by") {
		by = append(by, export.Column{Name: "group." + name, Nullable: true})
	}
	return statsList.columns().Replace("group", by...)
}

func statsRows(groups []index.Group, q *listQuery) export.Rows {
	return eachOf(groups, func(g *index.Group) []byte { return rowjson.Marshal(rows.GroupOf(g, q.Texts("group_by"))) })
}

func (q *listQuery) groups(stats *index.Stats) ([]index.Group, *index.Position) {
	by := "key"
	if q.Sort.Field != index.None {
		by = string(q.Sort.Field)
	}
	return stats.Page(by, q.Sort.Desc, q.After, q.Limit)
}

// checkStats rejects parameters that do not go together.
func checkStats(q *listQuery) *failure {
	by, pivot := q.Texts("group_by"), q.Text("shape") == "pivot"
	switch {
	case pivot && len(by) != 2:
		return badGroups("must be two fields for a pivot")
	case pivot && (q.After != nil || q.limited || q.Sort.Field != index.None):
		return badParameter("shape", "pivot", "pivot does not support sort, limit and cursor")
	case q.format == export.Parquet && !q.all && q.Limit > mostParquetGroups:
		return badParameter("limit", strconv.Itoa(q.Limit), fmt.Sprintf("must be at most %d with format=parquet; the Link header points to the next page, and limit=%s returns all groups in one file", mostParquetGroups, allRows))
	case !pivot && q.Given("value"):
		return badParameter("value", q.Text("value"), "is a parameter of shape=pivot")
	}
	return nil
}

func badGroups(detail string) *failure {
	f := badParameter("group_by", "", detail)
	f.faults[0].Allowed, f.faults[0].Value = groupFields(index.Groups), nil
	return f
}

var weights = map[string]index.Weight{"row": index.EachRecord, "source": index.OncePerRepeat, "page": index.OncePerPage}

func statsQuery(q *listQuery) index.StatsQuery {
	out := index.StatsQuery{
		Query: q.Query, Metric: index.Field(q.Text("metric")), Weight: weights[q.Text("weight")], MaxGroups: maxGroups,
	}
	for _, by := range q.Texts("group_by") {
		out.By = append(out.By, index.Field(by))
	}
	return out
}

// bytesOfGroup is a little more than groups have on average, so that most pages are not copied while they grow.
const bytesOfGroup = 600

func renderStats(q *listQuery, stats *index.Stats) (body []byte, link string) {
	groups, next := q.groups(stats)
	b := append(make([]byte, 0, bytesOfGroup*len(groups)+1024), pageStart...)
	for i := range groups {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, rowjson.Marshal(rows.GroupOf(&groups[i], q.Texts("group_by")))...)
	}
	end, link := q.envelopeOf(statsMeta(q, stats, len(groups)), next)
	return append(b, end...), link
}

func statsMeta(q *listQuery, stats *index.Stats, count int) *StatsMeta {
	l := q.listMeta(len(stats.Groups), count, statsNotices(q, stats))
	metric := fieldOf(index.BenchmarkFields, index.Field(q.Text("metric")))
	return &StatsMeta{
		Extent: l.Extent, GroupBy: q.Texts("group_by"), Metric: string(metric.Name), Unit: metric.Unit,
		Weight: q.Text("weight"), Settings: q.Text("settings"), QuantileType: 7, Edition: l.Edition, Notices: l.Notices,
	}
}

func statsNotices(q *listQuery, stats *index.Stats) []Notice {
	metric := q.Text("metric") + " is unknown"
	out := slices.Concat(q.notices, q.excludedNotices(stats.Excluded, stats.ExcludedBySets), q.unknownWords(q.gen.Benchmarks, len(stats.Groups)),
		countNotice(nullExcluded, "metric", stats.Unknown,
			"record that matches is excluded because its "+metric, "records that match are excluded because their "+metric),
		countNotice("withdrawn_excluded", "settings", stats.Withdrawn,
			"record that matches is excluded because it was withdrawn", "records that match are excluded because they were withdrawn"),
		countNotice("supplementary_excluded", "group_by", stats.Supplementary,
			"record that matches is excluded because its source counts only in groups without others",
			"records that match are excluded because their sources count only in groups without others"),
		countNotice(throughputExcluded, "settings", stats.Unlisted,
			"record that matches is excluded because it is a throughput result", "records that match are excluded because they are throughput results"))
	if len(stats.Groups) == 0 {
		detail := "no record matches the filters and has a value of the metric"
		if q.Text("settings") == index.SingleStream {
			detail += " with settings=single_stream, which is the default; try settings=all"
		}
		out = append(out, Notice{Code: "no_rows", Parameter: "group_by", Detail: detail})
	}
	return out
}

// renderPivot writes all groups as a matrix.
func renderPivot(q *listQuery, stats *index.Stats) []byte {
	q.Limit = maxCells
	meta := statsMeta(q, stats, len(stats.Groups))
	meta.Value = q.Text("value")
	end, _ := q.envelopeOf(meta, nil)
	return dataWith(rows.PivotOf(stats, meta.Value), end)
}

package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/httpapi/cursor"
	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/index"
)

// listQuery is what the parameters of a list ask for.
type listQuery struct {
	index.Query
	reader // without values in a query that was made by a page
	r      *resource

	limited     bool          // Limit was given
	all         bool          // limit=all was given
	format      export.Format // given, or what the caller accepts
	formatGiven bool
	fields      []string
	noDetails   bool // without the benchmarks of a model
	// canonical is the one address of every spelling of this query; filters is the part a cursor is bound to.
	canonical, filters string
	runs               map[string]*fit.Best // by slug, of the rows; nil: not asked for
	runsSet            int                  // with runs: the number of the set of those slugs
	left               []leftOut            // with runs
	ranged, setOf      []string             // the parameters that Query.Ranges and Query.Sets came from
	searches           int                  // calls of the burst that what was worked out costs, see costs.go
}

func (r *resource) parseFor(req *request) (*listQuery, *failure) {
	q, f := r.parse(query.Read(r.params, req.ctx.QueryArgs().All()), req.gen, req.accepts.Best)
	req.call.SpendBurst(q.searches)
	return q, f
}

// parse makes a query of the parameters of a list. accepts is the form of rows without the parameter format. All faults
// are returned together.
func (r *resource) parse(v *query.Values, gen *index.Generation, accepts export.Format) (*listQuery, *failure) {
	q := &listQuery{reader: reader{Values: v, gen: gen}, r: r}
	q.readPage(accepts)
	q.readOwner()
	for i := range r.fields {
		q.readFilter(&r.fields[i])
	}
	if v.Given("include_variants") && !v.Flag("include_variants") {
		for i := range q.Sets {
			q.Sets[i].OnlySelf = true
		}
	}
	if r.main != "" && v.Param(r.main) != nil {
		q.readRuns()
	}
	q.readCursor()
	return q, failureOf(&v.Faults)
}

func (q *listQuery) readPage(accepts export.Format) {
	q.Words = strings.Fields(q.Text("q"))
	q.fields = q.Texts("fields")
	q.noDetails = q.Param("benchmarks") != nil && !q.Flag("benchmarks")
	if q.r.row != nil {
		q.checkFields()
	}
	normal := q.r.normal
	if q.r.main != "" && q.Given(q.r.main) {
		normal = string(byBest)
	}
	sort := cmp.Or(q.Text("sort"), normal)
	if sort == normal && q.r.main != "" {
		q.Set("sort") // the canonical address is that without it
	}
	if sort != q.r.normal {
		name, desc := strings.CutPrefix(sort, "-")
		q.Sort = index.Sort{Field: index.Field(name), Desc: desc}
	}
	q.limited, q.all = q.Given("limit"), q.Text("limit") == allRows
	if q.Limit = int(q.Number("limit")); q.Given("benchmarks_limit") {
		q.limited, q.Limit = true, int(q.Number("benchmarks_limit"))
	}
	if q.r.filed() {
		q.format = accepts
	}
	if f, ok := export.FormatOf(q.Text("format")); ok && q.Given("format") {
		q.format, q.formatGiven = f, true
	} else if q.format != export.JSON {
		q.Set("format", q.format.String())
	}
}

func (q *listQuery) checkFields() {
	for _, name := range q.fields {
		if !q.r.row.Has(name) {
			shown := *clip(name)
			if f := q.Fault("fields", shown, fmt.Sprintf("%q is not a field of %s", shown, q.r.name)); f != nil {
				f.Suggestion = q.Field(shown, q.r.row.Names())
			}
		}
	}
}

// readOwner makes verified=true and owner_only=true the same as source=owner, which they mean, so that all three
// spellings have one canonical address. Beside a source filter without owner they match nothing, and stay as they are.
func (q *listQuery) readOwner() {
	owner := string(dataset.Owner)
	for _, name := range []string{"verified", "owner_only"} {
		sources := q.Texts("source")
		switch {
		case !q.Flag(name):
		case sources == nil && !q.Of("source") || slices.Contains(sources, owner):
			q.Set("source", owner)
			q.Set(name)
		default:
			q.addSet(name, index.Source, owner)
		}
	}
}

func (q *listQuery) addSet(parameter string, field index.Field, values ...string) {
	q.Sets, q.setOf = append(q.Sets, index.Set{Field: field, Values: values}), append(q.setOf, parameter)
}

func (q *listQuery) readFilter(f *index.FieldInfo) {
	switch values := q.Texts(f.Param); {
	case f.Name == index.Settings && q.r == statsList: // of a single stream, unless the caller asks for all
		if q.Text(f.Param) == index.SingleStream {
			q.addSet(f.Param, f.Name, index.SingleStream)
		}
	case values == nil:
	default:
		if filterKind(f) == query.Name {
			values = q.readNames(f)
			q.Set(f.Param, values...)
		}
		q.addSet(f.Param, f.Name, values...)
	}
	if low, high := q.Given(f.Min), q.Given(f.Max); low || high {
		r := index.Range{Field: f.Name, Min: math.Inf(-1), Max: math.Inf(1)}
		from := f.Max
		if low {
			r.Min, from = q.bound(f, f.Min), f.Min
		}
		if high {
			r.Max = q.bound(f, f.Max)
		}
		if r.Min > r.Max {
			q.Fault(f.Min, q.Text(f.Min), "must not be above "+f.Max+", which is "+q.Text(f.Max))
		}
		q.Ranges, q.ranged = append(q.Ranges, r), append(q.ranged, from)
	}
}

func (q *listQuery) bound(f *index.FieldInfo, name string) float64 {
	if f.Kind != index.Date {
		return q.Number(name)
	}
	day := dataset.Date(q.Text(name))
	return index.DateNumber(&day)
}

// readNames finds the records or values that the names of a filter mean. A name that matches several records filters by
// all of them. An unknown value of an open set matches nothing and gives a notice; an unknown model, hardware or tool
// is a fault.
func (q *listQuery) readNames(f *index.FieldInfo) (found []string) {
	t := q.r.table(q.gen)
	if !f.Is(index.Key) && f.Refers == index.None {
		have := func(v string) []string { return valuesLike(t, f, v) }
		for _, v := range q.Names(f.Param, func(v string) bool { return have(v) != nil }) {
			if values := have(v); values != nil {
				found = append(found, values...)
				continue
			}
			q.noticeUnknown(f.Param, v, q.nearValues(v, t.Values(f.Name)))
			found = append(found, *clip(v))
		}
		return sorted(found)
	}
	if !f.Is(index.Key) {
		t = tableOf(f.Refers, q.gen)
	}
	for _, v := range q.Names(f.Param, func(v string) bool { return exactly(q.gen, t, v) != "" }) {
		slug, a := named(q.gen, t, v)
		q.noticeResolved(f.Param, v, slug, &a)
		switch {
		case slug != "":
			found = append(found, append(a.Others(), slug)...)
		case kindOf(q.gen, t) == "":
			q.noticeUnknown(f.Param, v, q.nearRecords(t, v))
			found = append(found, *clip(v))
		default:
			q.unknownName(f.Param, v, t, &a)
		}
	}
	return sorted(found)
}

func sorted(values []string) []string {
	slices.Sort(values)
	return slices.Compact(values)
}

// valuesLike finds an open value in every spelling records have, because sources write Int4, INT4 and int4; or all
// values with a prefix.
func valuesLike(t *index.Table, f *index.FieldInfo, v string) (found []string) {
	prefix, isPrefix := strings.CutSuffix(v, "*")
	isPrefix = isPrefix && f.Is(index.Prefix)
	for _, have := range t.Values(f.Name) {
		if isPrefix && strings.HasPrefix(have, prefix) {
			return []string{v}
		}
		if strings.EqualFold(have, v) {
			found = append(found, have)
		}
	}
	return found
}

func searchWords(text string) (canonical, fault string) {
	words := strings.Fields(strings.ToLower(strings.ToValidUTF8(text, "\uFFFD")))
	if len(words) == 0 || len(words) > 8 || len([]rune(text)) > 100 {
		return "", "must be 1 to 8 words, at most 100 characters"
	}
	return strings.Join(sorted(words), " "), ""
}

func (q *listQuery) readCursor() {
	if q.filters = q.address("format", "limit", "cursor"); !strings.Contains(q.filters, "?") {
		q.filters += "?"
	}
	if q.all && q.Given("cursor") {
		q.Fault("cursor", q.Text("cursor"), "cannot be used with limit="+allRows+", which is not paginated")
	} else if q.all && q.format == export.JSON {
		q.Fault("limit", allRows, "needs format=csv, ndjson or parquet; JSON comes in pages")
	}
	if token := q.Text("cursor"); token != "" {
		after, err := cursor.Decode(token, q.filters)
		q.After = after
		q.cursorFault(token, err)
	}
	q.canonical = q.address()
}

func (q *listQuery) address(without ...string) string {
	return q.Address("/api/v1/"+q.r.path, without...)
}

// cursorFault reports a cursor that could not be read. Where other parameters are at fault too, the filters the cursor
// is bound to are not known, and a mismatch says nothing.
func (q *listQuery) cursorFault(token string, err error) {
	fault := query.Fault{In: "query", Name: "cursor", Value: clip(token)}
	switch {
	case errors.Is(err, cursor.ErrInvalid):
		fault.Detail = "is damaged or was not made by this service; start again without it"
		q.Add(query.InvalidCursor, fault)
	case err != nil && q.Code == "":
		fault.Detail = "was made with other filters or another sort; keep both unchanged, or start again without it"
		q.Add(query.CursorMismatch, fault)
	}
}

func (q *listQuery) next(p *index.Position) string {
	address := q.canonical
	if q.Given("cursor") {
		address = q.address("cursor")
	}
	if strings.Contains(address, "?") {
		return address + "&cursor=" + cursor.Encode(p, q.filters)
	}
	return address + "?cursor=" + cursor.Encode(p, q.filters)
}

func (q *listQuery) limitOr(other int) int {
	if q.limited {
		return q.Limit
	}
	return other
}

const maxVersionRef = 100

const noVersion = "must be a dataset version, a day as YYYY-MM-DD, at least 12 digits of a digest or 7 of a commit in lower-case hex"

func versionRef(text string) (canonical, fault string) {
	odd := func(r rune) bool {
		return r > 'z' || !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("._+-", r))
	}
	if len(text) > maxVersionRef || strings.ContainsFunc(text, odd) {
		return "", noVersion
	}
	return text, ""
}

// isHex reports whether a text can be the beginning of a digest or a commit.
func isHex(v string) bool {
	const fewest = 7 // as for a commit
	return len(v) >= fewest && strings.Trim(v, "0123456789abcdef") == ""
}

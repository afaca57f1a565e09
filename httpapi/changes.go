package httpapi

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/httpapi/rowjson"
	"modeldex/httpapi/suggest"
	"modeldex/index"

	"github.com/valyala/fasthttp"
)

// changeTables are the values of table.
var changeTables = record.Texts(record.ChangeTables)

// sinceParams say which changes of a record are asked for.
type sinceParams struct {
	// Dataset the caller has: its version, as every answer names it, its digest (the first 12 digits are enough), the
	// git commit of a release (the first 7 digits are enough), or a day as YYYY-MM-DD, which means the dataset before the
	// releases of that day. Changes that made later ones are listed. A version of several editions means the first of
	// them, so that nothing is missed; the digest is exact. Without it every change known is listed.
	Since string `query:"since"`
}

// changedParams say which records the changes of are asked for.
type changedParams struct {
	// Changes of records of these kinds.
	Table []record.ChangeTable `query:"table"`
	// Changes of the records of these slugs, ids of benchmarks included. Another name of a record that is served, by the
	// rules of GET /api/v1/resolve, means that record; a slug that has changes is always that slug, for the record may be
	// gone.
	Slug []string `query:"slug"`
}

// fieldParams say what of a record has changed.
type fieldParams struct {
	// Records in which one of these fields, or a field in it, has another value. Dotted names, such as
	// architecture.context_length. Added and removed records are left out.
	Field []string `query:"field"`
}

// changesForm is what a page of changes looks like.
type changesForm struct {
	// true: added records are shown as their files have them, so that the changes can be applied to a copy of the
	// dataset. That is bulk data, so the rule of the dumps holds for it: open to all, for keys above the free tier, or
	// off.
	Records bool `query:"records"`
	// ndjson: one change per line, without the envelope; the Link header leads to the next page.
	Format string `query:"format,default=json"`
}

// changesPage are the parameters of a page of changes.
type changesPaging struct {
	// Most changes per page.
	Limit int `query:"limit,min=1,max=500,default=100"`
	// Place to go on from, taken from links.next of the page before. The other parameters must stay as they were.
	Cursor string `query:"cursor"`
}

// changesList is the list of what happened to records, recordChanges that of one record. They take their parameters as
// the lists of records do, and have no sorts.
var (
	changesList   = newChangesList(500, query.Of[sinceParams](), query.Of[changedParams](), query.Of[fieldParams](), query.Of[changesForm](), query.Of[changesPaging]())
	recordChanges = newChangesList(500, query.Of[sinceParams](), query.Of[fieldParams](), query.Of[changesForm](), query.Of[changesPaging]())
)

func newChangesList(maxLimit int, params ...[]query.Param) *resource {
	r := &resource{name: "changes", path: "changes", singular: "change", maxLimit: maxLimit, params: slices.Concat(params...)}
	for i := range r.params {
		switch p := &r.params[i]; p.Name {
		case "since", "release":
			p.Check = versionRef
		case "format":
			p.Enum = []string{"json", "ndjson"}
		case "limit":
			p.Max = float64(maxLimit)
		}
	}
	return r
}

// listChanges answers a page of changes.
func listChanges(s *Server, req *request) (*response, *failure) {
	if req.gen == nil {
		return nil, &failure{code: notReady, retryAfter: 1}
	}
	return s.changes(req, changesList, "", "")
}

// changesOf answers a page of the changes of one record: of one that is served or was once.
func (r *resource) changesOf(s *Server, req *request) (*response, *failure) {
	if req.gen == nil {
		return nil, &failure{code: notReady, retryAfter: 1}
	}
	slug := req.param("+") // of several segments, as "openai/gpt-oss-20b"
	if t := r.table(req.gen); !s.cfg.History.Now().Mentions(r.name, slug) {
		if _, ok := t.Find(slug); !ok {
			if known, ok := t.Resolve(slug); ok {
				resp := req.moved("/api/v1/" + r.name + "/" + url.PathEscape(known) + "/changes")
				resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
				return resp, nil
			}
			return r.elsewhere(req, t, slug)
		}
	}
	list := *recordChanges
	list.path = r.name + "/" + url.PathEscape(slug) + "/changes"
	return s.changes(req, &list, r.name, slug)
}

// changes answers a page of a list of changes: of one record, or of those that the parameters name.
func (s *Server) changes(req *request, list *resource, table, slug string) (*response, *failure) {
	q, f := parseChanges(req.ctx.QueryArgs(), req.gen, list, s.cfg.History.Now())
	if f != nil {
		return nil, f
	}
	ask := q.ofChanges()
	if slug != "" {
		ask.Tables, ask.Slugs = []string{table}, []string{slug}
	}
	if q.Flag("records") {
		if f := s.admitBulk(req); f != nil {
			return nil, f
		}
	}
	t, f := s.trailOf(req, q)
	if f != nil {
		if bad := checkSince(req.gen, q.Text("since")); f.faults[0].Name == "since" && bad != nil {
			return nil, bad
		}
		return nil, f
	}
	lines := q.Text("format") == "ndjson"
	contentType := jsonType
	if lines {
		contentType = "application/x-ndjson"
	}
	// The way to a generation can become known after it is served, so its address alone does not
	// name a body.
	name := q.cacheName() + "\x00" + t.State()
	return s.open.Render(req.content[:], req.coding, name, func() *response {
		body, link := changesBody(t, ask, q, lines)
		resp := newDocument(body, contentType, req.coding)
		resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
		if q.Flag("records") {
			s.keepDump(resp, "max-age=300")
		}
		if link != "" {
			resp.set("Link", link)
		}
		resp.route = req.route
		return resp
	}), nil
}

// trailOf is the way from an edition to what is being served.
func (s *Server) trailOf(req *request, q *listQuery) (changes.Trail, *failure) {
	past, since := s.cfg.History.Now(), q.Text("since")
	t, ok := past.Trail(req.gen, since)
	if !ok {
		return t, sinceUnknown(past, req.gen, since)
	}
	if q.After != nil && !t.Leads(q.After.Text) {
		return t, fail(versionGone, Fault{In: "query", Name: "cursor", Value: clip(q.Text("cursor")), Detail: "was made before the changes it leads to were recorded as another release", Suggestion: past.Nearest(req.gen)})
	}
	return t, nil
}

// sinceUnknown is the response to an edition that no way leads from.
func sinceUnknown(past *changes.Past, gen *index.Generation, since string) *failure {
	f := Fault{In: "query", Name: "since", Value: clip(since), Detail: "must be a version whose later changes are known", Suggestion: past.Nearest(gen)}
	if first := past.FirstDay(gen); first != "" && isDay(since) {
		f.Detail = "must be " + first + " or a later day: changes before that day are not known"
	}
	return fail(versionGone, f)
}

// checkSince rejects what can be no edition of this dataset, such as 7d: to say that it is gone would send the caller to read the
// lists anew.
func checkSince(gen *index.Generation, since string) *failure {
	if isDay(since) || isHex(since) || strings.Contains(since, ".") || !strings.Contains(gen.Info.Version, ".") {
		return nil
	}
	return badParameter("since", since, noVersion+"; versions are such as "+gen.Info.Version)
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// admitBulk lets a caller have whole records of the list of changes: those who may have the dumps.
func (s *Server) admitBulk(req *request) *failure {
	if f := s.admitDumps(req); f == nil || f.code != unknownRoute {
		return f
	}
	return badParameter("records", "true", "must be false: this server gives no records in bulk. The lists have the same records.")
}

// ofChanges is a query of the list of changes as the trail reads it.
func (q *listQuery) ofChanges() *changes.Query {
	return &changes.Query{Tables: q.Texts("table"), Slugs: q.Texts("slug"), Fields: q.Texts("field"), Limit: q.Limit, After: q.After}
}

// changesBody makes the body of a page, and its Link header.
func changesBody(t changes.Trail, ask *changes.Query, q *listQuery, lines bool) (body []byte, link string) {
	found, total, last := t.Page(ask)
	rows := t.Rows(found, q.Flag("records"))
	end, link := q.envelope(total, len(rows), slices.Concat(q.notices, unknownFields(t, ask), trailNotices(t)), last)
	if !lines {
		return slices.Concat(pageStart, bytes.Join(rows, []byte{','}), end), link
	}
	for _, row := range rows {
		body = append(append(body, row...), '\n')
	}
	return body, link
}

// trailNotices says what the changes of a trail leave out.
func trailNotices(t changes.Trail) (out []Notice) {
	if t.Gap {
		out = append(out, Notice{
			Code: "changes_unrecorded", Parameter: "since",
			Detail: "the dataset being served differs from the last recorded release, and not all of those differences are listed; compare dataset_digest, and read the lists anew if you need them",
		})
	}
	for _, s := range t.Steps {
		if n := s.LeftOut; n > 0 {
			out = append(out, Notice{
				Code: "changes_left_out", Parameter: "since", Count: &n,
				Detail: fmt.Sprintf("the load with digest %.12s changed %s more than are listed; read the lists anew", s.Digest, record.Counted(n, "record")),
			})
		}
	}
	return out
}

// changedFields are the fields of the files of each of changeTables.
var changedFields = map[string]*rowjson.FieldTree{
	"dataset": rowjson.TreeOf[dataset.Info](), "quantizations": rowjson.TreeOf[record.QuantizationType](),
	"models": rowjson.TreeOf[dataset.Model](), "hardware": rowjson.TreeOf[dataset.Hardware](), "tools": rowjson.TreeOf[dataset.Tool](),
	"benchmarks": rowjson.TreeOf[dataset.Benchmark](), "quality": rowjson.TreeOf[dataset.Quality](),
}

// unknownFields reports the fields that neither a file of the tables asked for nor a change has.
func unknownFields(t changes.Trail, ask *changes.Query) (out []Notice) {
	tables := ask.Tables
	if tables == nil {
		tables = changeTables
	}
	unknown := slices.DeleteFunc(slices.Clone(ask.Fields), func(name string) bool {
		return slices.ContainsFunc(tables, func(table string) bool { return changedFields[table].Has(name) })
	})
	if len(unknown) == 0 {
		return nil
	}
	var names []string
	for _, table := range tables {
		names = append(names, changedFields[table].Names()...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var near suggest.Suggester
	for _, name := range t.Unchanged(tables, unknown) { // others are fields of another time
		n := Notice{Code: unknownValue, Parameter: "field", Value: clip(name), Detail: fmt.Sprintf("no record of %s has a field %q", strings.Join(tables, ", "), *clip(name))}
		for _, meant := range append([]string{near.Field(name, names)}, near.Near(name, names, mostSuggested)...) {
			if meant != "" && !slices.Contains(n.Suggestions, meant) && len(n.Suggestions) < mostSuggested {
				n.Suggestions = append(n.Suggestions, meant)
			}
		}
		out = append(out, n)
	}
	return out
}

// parseChanges reads the parameters of a list of changes. Without a past, slugs are what they are.
func parseChanges(args *fasthttp.Args, gen *index.Generation, list *resource, past *changes.Past) (*listQuery, *failure) {
	v := query.Read(list.params, args.All())
	r := reader{Values: v, gen: gen}
	if v.Given("slug") && past != nil {
		r.readChangedSlugs(past)
	}
	q, f := list.parse(v, gen, export.JSON)
	q.notices = r.notices
	return q, f
}

// readChangedSlugs finds the records whose changes are asked for. What is neither a slug of now nor of a change is read
// as a name.
func (r *reader) readChangedSlugs(past *changes.Past) {
	kind := resolve.Kind("")
	if tables := r.Texts("table"); len(tables) == 1 {
		kind = map[string]resolve.Kind{"models": resolve.Model, "hardware": resolve.Hardware, "tools": resolve.Tool}[tables[0]]
	}
	slugs := slices.Clone(r.Texts("slug"))
	for i, v := range slugs {
		if isChangedSlug(r.gen, past, v) {
			continue
		}
		a := r.gen.Names.Resolve(kind, v)
		switch {
		case a.Slug != "":
			r.noticeResolved("slug", v, string(a.Slug), &a)
			slugs[i] = string(a.Slug)
		case a.Explained() && len(a.Candidates) > 0:
			r.noticeExplained("slug", v, &a)
		default:
			near := candidateSlugs(&a)
			r.notices = append(r.notices, Notice{
				Code: unknownValue, Parameter: "slug", Value: clip(v), Detail: fmt.Sprintf("no record and no change has slug %q", *clip(v)),
				Suggestions: near[:min(mostSuggested, len(near))],
			})
		}
	}
	r.Set("slug", sorted(slugs)...)
}

// isChangedSlug reports whether a record that is served has a slug, or one that a change is of.
func isChangedSlug(gen *index.Generation, past *changes.Past, slug string) bool {
	for _, r := range resources {
		if _, ok := r.table(gen).Find(slug); ok {
			return true
		}
	}
	return slug == "dataset" || slices.Contains(gen.Benchmarks.Values(index.Quantization), slug) ||
		slices.ContainsFunc(changeTables, func(table string) bool { return past.Mentions(table, slug) })
}

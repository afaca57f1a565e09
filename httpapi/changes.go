package httpapi

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/httpapi/rowjson"
	"modeldex/index"

	"github.com/valyala/fasthttp"
)

var changeTables = record.Texts(record.ChangeTables)

type sinceParams struct {
	// Dataset you already have: its version, its digest (at least 12 digits), the git commit of a release (at least 7
	// digits), or a day as YYYY-MM-DD, which means the dataset before the releases of that day. Only later changes are
	// listed. If several editions share a version, the first one counts, so you miss no changes; the digest is exact.
	// Default: all known changes.
	Since string `query:"since"`
}

type changedParams struct {
	// Only changes of these kinds of records.
	Table []record.ChangeTable `query:"table"`
	// Only changes of records with these slugs, or ids of benchmarks. Other names work as in GET /api/v1/resolve; a slug
	// that has changes is always read as that slug, because the record may have been removed.
	Slug []string `query:"slug"`
}

type fieldParams struct {
	// Only records where one of these fields, or a field in it, changed. Use dots for nested fields, such as
	// architecture.context_length. Added and removed records are left out.
	Field []string `query:"field"`
}

// changesForm is what a page of changes looks like.
type changesForm struct {
	// Include added records in full, so that you can apply the changes to a copy of the dataset. This is bulk data: like
	// dumps, it is open to all, limited to keys above the free tier, or off.
	Records bool `query:"records"`
	// Format of the response. ndjson: one change per line, without the envelope; the Link header points to the next page.
	Format string `query:"format,default=json"`
}

// changesPaging are the parameters of a page of changes.
type changesPaging struct {
	// Maximum number of changes per page.
	Limit int `query:"limit,min=1,max=500,default=100"`
	// Cursor from links.next of the previous page. The other parameters must not change.
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
		case "since":
			p.Check = versionRef
		case "format":
			p.Enum = []string{"json", "ndjson"}
		}
	}
	return r
}

func listChanges(s *Server, req *request) (*response, *failure) {
	return s.changes(req, changesList, "", "")
}

func (r *resource) changesOf(s *Server, req *request) (*response, *failure) {
	slug := req.param("+") // of several segments, as "openai/gpt-oss-20b"
	if t := r.table(req.gen); !s.cfg.History.Past().Mentions(r.name, slug) {
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

func (s *Server) changes(req *request, list *resource, table, slug string) (*response, *failure) {
	q, t, f := s.parseChanges(req, req.ctx.QueryArgs(), list)
	if f != nil {
		return nil, f
	}
	ask := q.ofChanges()
	if slug != "" {
		ask.Tables, ask.Slugs = []string{table}, []string{slug}
	}
	records := q.Flag("records")
	if records {
		if f := s.admitDumps(req); f != nil && f.code == unknownRoute {
			return nil, badParameter("records", "true", "must be false: this server does not offer bulk data. The lists have the same records.")
		} else if f != nil {
			return nil, f
		}
	}
	return s.open.Render(req.content[:], req.coding, q.cacheName()+"\x00"+t.State(), func() *response {
		found, total, last := t.Page(ask)
		end, link := q.envelope(total, len(found), slices.Concat(q.notices, trailNotices(t)), last)
		lines, resp := t.Rows(found, records), (*response)(nil)
		if q.Text("format") == "ndjson" {
			resp = newDocument(bytes.Join(append(lines, nil), []byte{'\n'}), "application/x-ndjson", req.coding)
		} else {
			resp = newDocument(slices.Concat(pageStart, bytes.Join(lines, []byte{','}), end), jsonType, req.coding)
		}
		resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
		if records {
			s.keepDump(resp, "max-age=300")
		}
		if link != "" {
			resp.set("Link", link)
		}
		resp.route = req.route
		return resp
	}), nil
}

func (s *Server) parseChanges(req *request, args *fasthttp.Args, list *resource) (*listQuery, changes.Trail, *failure) {
	past := s.cfg.History.Past()
	r := reader{Values: query.Read(list.params, args.All()), gen: req.gen}
	r.readChangedSlugs(past)
	for _, name := range r.Texts("field") {
		if !slices.ContainsFunc(changedFields, func(t *rowjson.FieldTree) bool { return t.Has(name) }) {
			if f := r.Fault("field", name, "is not a field of any record"); f != nil {
				f.Suggestion = r.Field(name, changedNames())
			}
		}
	}
	q, f := list.parse(r.Values, req.gen, export.JSON)
	q.notices = r.notices
	if f != nil {
		return nil, changes.Trail{}, f
	}
	since := q.Text("since")
	t, ok := past.Trail(req.gen, since)
	switch {
	case !ok:
		f = sinceUnknown(past, req.gen, since)
	case q.After != nil && !t.Leads(q.After.Text):
		f = fail(versionGone, Fault{In: "query", Name: "cursor", Value: clip(q.Text("cursor")), Detail: "points to a release that is no longer recorded"})
	}
	return q, t, f
}

// sinceUnknown is the response to an edition that is not known. What can be none, such as 7d, is another fault: to say
// that it is gone would send the caller to read the lists anew.
func sinceUnknown(past *changes.Past, gen *index.Generation, since string) *failure {
	_, err := time.Parse(time.DateOnly, since)
	isDay := err == nil
	if !isDay && !isHex(since) && !strings.Contains(since, ".") && strings.Contains(gen.Info.Version, ".") {
		return badParameter("since", since, noVersion+"; versions are such as "+gen.Info.Version)
	}
	f := Fault{In: "query", Name: "since", Value: clip(since), Detail: "must be a version with known later changes", Suggestion: gen.Info.Version}
	if steps := past.UpTo(gen); len(steps) > 0 {
		f.Suggestion = steps[0].Version
		if isDay {
			f.Detail = "must be " + string(steps[0].Released) + " or a later day: changes before that day are unknown"
		}
	}
	return fail(versionGone, f)
}

func (q *listQuery) ofChanges() *changes.Query {
	return &changes.Query{Tables: q.Texts("table"), Slugs: q.Texts("slug"), Fields: q.Texts("field"), Limit: q.Limit, After: q.After}
}

func trailNotices(t changes.Trail) []Notice {
	if !t.Gap {
		return nil
	}
	return []Notice{{
		Code: "changes_unrecorded", Parameter: "since",
		Detail: "the dataset being served has changes since the last recorded release that are not listed; fetch the lists again if you need them",
	}}
}

var changedFields = []*rowjson.FieldTree{
	rowjson.TreeOf[dataset.Info](), rowjson.TreeOf[record.QuantizationType](), rowjson.TreeOf[dataset.Model](), rowjson.TreeOf[dataset.Hardware](),
	rowjson.TreeOf[dataset.Tool](), rowjson.TreeOf[dataset.Benchmark](), rowjson.TreeOf[dataset.Quality](),
}

func changedNames() (names []string) {
	for _, t := range changedFields {
		names = append(names, t.Names()...)
	}
	return sorted(names)
}

// readChangedSlugs finds the records whose changes are asked for. A slug that no change is of is read as a name.
func (r *reader) readChangedSlugs(past *changes.Past) {
	slugs := slices.Clone(r.Texts("slug"))
	for i, v := range slugs {
		if slices.ContainsFunc(changeTables, func(table string) bool { return past.Mentions(table, v) }) {
			continue
		}
		if a := r.gen.Names.Resolve("", v); a.Slug != "" {
			r.noticeResolved("slug", v, string(a.Slug), &a)
			slugs[i] = string(a.Slug)
		} else if _, known := r.gen.Benchmarks.Find(v); !known {
			r.noticeUnknown("slug", v, candidateSlugs(&a))
		}
	}
	if slugs != nil {
		r.Set("slug", sorted(slugs)...)
	}
}

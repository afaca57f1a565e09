package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"modeldex/dataset/record"
	"modeldex/dataset/text"
	"modeldex/httpapi/export"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/query"
	"modeldex/index"

	"github.com/valyala/fasthttp"
)

// The pages of views: lists and records. Each address has forms by its ending: none is the page
// for people, .json and .csv what the API answers, .md the page as Markdown. They need no key, so that they give no more than
// a page of the API: the first rows of a list, and the newest benchmarks of a record.

// frontID is the route of the front page, which needs no dataset.
const frontID = "front"

// exploreAny leads to the list people look for first.
func exploreAny(_ *Server, req *request) (*response, *failure) {
	return req.seeOther("/explore/models", req.ctx.QueryArgs()), nil
}

// explore answers the page of a list.
func explore(s *Server, req *request) (*response, *failure) {
	name, ending := formOf(req.param("kind"), endings)
	i := slices.IndexFunc(resources, func(r *resource) bool { return r.name == name })
	if i < 0 {
		return nil, fail(unknownRoute)
	}
	r, path := resources[i], "/explore/"+name
	args, dropped := withoutEmpty(req.ctx.QueryArgs())
	tidy, changed := tidied(args, false)
	if ending == "" && string(tidy.Peek("sort")) == slugOrder {
		tidy.Del("sort")
		changed = true
	}
	if (dropped || changed) && ending == "" { // a form sends its empty fields; the address to share has none
		return req.seeOther(path, tidy), nil
	}
	r.useViewDefaults(args)
	q, f := r.parse(query.Read(r.params, args.All()), req.gen, export.JSON)
	if f == nil {
		f = r.viewFault(q, ending)
	}
	if f != nil {
		return nil, f
	}
	if !q.limited && ending == "" {
		q.Limit = pages.PageRows
	}
	_, same, _ := strings.Cut(q.canonical, "?")
	at := s.place(req, path, withoutUsual(same))
	variant := strings.TrimPrefix(q.cacheName(), q.canonical)
	if ending != "" {
		variant += "&as=" + same // the data may be in the order of slugs, which is no part of its address
	}
	typed := strings.Join(strings.Fields(string(args.Peek("q"))), " ") // the canonical spelling has the words sorted
	if (ending == "" || ending == ".md") && typed != "" {
		variant += "&typed=" + typed
	}
	return s.formOfPage(req, at, ending, variant,
		func() []byte { body, _ := r.body(req.gen, q); return body },
		func() []byte { return r.csv(req.gen, q) },
		func() pages.View { return s.pages.Explore(req.gen, exploreQuery(req.gen, r, q, typed), at) }), nil
}

// useViewDefaults has pages name the sizes that were measured, and list records by name, where nothing else is asked for.
// The canonical address says so: the API answers the same there.
func (r *resource) useViewDefaults(args *fasthttp.Args) {
	if r.main != "" && args.Has(r.main) && !args.Has("prefer") {
		args.Set("prefer", string(preferMeasured))
	}
	if r.normal == slugOrder && !args.Has("sort") {
		args.Set("sort", "name") // a slug may begin with the maker, a name rarely does
	}
}

// withoutUsual is a canonical query without what useViewDefaults adds.
func withoutUsual(query string) string {
	params := strings.Split(query, "&")
	return strings.Join(slices.DeleteFunc(params, func(p string) bool { return p == "prefer="+string(preferMeasured) || p == "sort=name" }), "&")
}

// viewFault rejects what lists of the API take and views do not. The ending of the address is the form, and rows
// beyond the first page of data need a key.
func (r *resource) viewFault(q *listQuery, ending string) *failure {
	var faults query.Faults
	reject := func(name, detail string) {
		faults.Add(query.UnknownParameter, Fault{In: "query", Name: name, Detail: detail})
	}
	if q.formatGiven {
		reject("format", "is not a parameter of a page; the ending of the address is the form: .json, .csv or .md")
	}
	if q.all {
		faults.Add(query.InvalidParameter, Fault{In: "query", Name: "limit", Value: clip(allRows), Detail: fmt.Sprintf("must be a whole number from 1 to %d", r.maxLimit)})
	}
	if ending != "" && q.After != nil {
		reject("cursor", "is not a parameter of this form, which gives the first rows only; go on with a key at /api/v1/"+r.name)
	}
	return failureOf(&faults)
}

// csv is the first rows of a list as a file.
func (r *resource) csv(gen *index.Generation, q *listQuery) []byte {
	t := r.table(gen)
	return fileOf(gen, export.CSV, r.schema(q), r.rowsOf(t, t.Select(q.Query).Ords, q))
}

// exploreQuery is what a page needs of a parsed list.
func exploreQuery(gen *index.Generation, r *resource, q *listQuery, typed string) *pages.ExploreQuery {
	_, same, _ := strings.Cut(q.canonical, "?")
	params, _ := url.ParseQuery(withoutUsual(same)) // made by this program
	params.Del("cursor")
	out := &pages.ExploreQuery{
		Kind: r.name, Query: q.Query, Runs: q.runs, Params: params, Words: record.Printable(typed),
		Next: func(p *index.Position) string { _, next, _ := strings.Cut(q.next(p), "?"); return withoutUsual(next) },
	}
	if words := params.Get("q"); words != "" {
		out.Near = func() []pages.Link { return nearWords(gen, r, words) }
	}
	for _, n := range slices.Concat(q.notices, q.leftOutNotices(r.table(gen))) {
		if !respelt(gen, &n) {
			out.Notes = append(out.Notes, noteOf(gen, &n))
		}
	}
	return out
}

// respelt reports whether a notice says no more than that a name was written in another way.
func respelt(gen *index.Generation, n *Notice) bool {
	if n.Code != nameResolved {
		return false
	}
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s)
	}
	typed := plain(*n.Value)
	return typed == plain(pages.NameOf(gen, *n.Slug)) || typed == plain(*n.Slug)
}

// noteOf is a notice of a list in the words of a visitor, who knows nothing of fields, slugs and endpoints.
func noteOf(gen *index.Generation, n *Notice) string {
	switch {
	case n.Code == nameResolved:
		return "“" + record.Printable(*n.Value) + "” was read as " + pages.NameOf(gen, *n.Slug) + "."
	case n.Code == readAs:
		names := make([]string, len(n.Suggestions))
		for i, slug := range n.Suggestions {
			names[i] = pages.NameOf(gen, slug)
		}
		return "“" + record.Printable(*n.Value) + "” may be " + strings.Join(names, " or ") + "."
	case n.Code == "unknown_value":
		note := "Nothing here has the " + strings.ToLower(pages.Label(n.Parameter)) + " “" + record.Printable(*n.Value) + "”."
		if len(n.Suggestions) > 0 {
			names := make([]string, len(n.Suggestions))
			for i, slug := range n.Suggestions {
				names[i] = pages.NameOf(gen, slug)
			}
			note += " Did you mean " + strings.Join(names, " or ") + "?"
		}
		return note
	case n.Code == memoryAssumed && n.Count == nil:
		return "This hardware is sold with several sizes of memory, and the largest counts here. “What runs?” has the others."
	case n.Code == memoryAssumed:
		return record.Counted(*n.Count, "row") + record.Noun(*n.Count, " is", " are") + " of hardware that is sold with several sizes of memory. The largest counts here, and a price may be that of a smaller one."
	case n.Code == nullExcluded && n.Parameter == "min_tps":
		return text.Whole(*n.Count) + " more may be fast enough: of them no speed is known."
	case n.Code == nullExcluded:
		return text.Whole(*n.Count) + " more may run: what decides that is not published of them."
	}
	return pages.Sentence(n.Detail)
}

// recordPage answers the page of a record.
func recordPage(r *resource) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) {
		if f := req.noParameters(); f != nil {
			return nil, f
		}
		name, t := req.param("*"), r.table(req.gen)
		if name == "" {
			return req.moved("/explore/" + r.name), nil
		}
		ord, found := t.Find(name)
		ending := ""
		if !found {
			var stem string
			stem, ending = formOf(name, endings)
			if ord, found = t.Find(stem); found {
				name = stem
			}
		}
		if !found {
			return r.pageElsewhere(req, t, name)
		}
		return s.recordForm(req, r, ord, name, ending), nil
	}
}

// maxPageBenchmarks is how many benchmarks the data form of a model has: those of one page of the API.
const maxPageBenchmarks = 500

// recordForm is one form of the page of a record.
func (s *Server) recordForm(req *request, r *resource, ord uint32, slug, ending string) *response {
	at := s.place(req, "/"+r.name+"/"+slug, "")
	q := &listQuery{reader: reader{gen: req.gen}, r: r, limited: true}
	q.Limit = maxPageBenchmarks
	return s.formOfPage(req, at, ending, "",
		func() []byte { return r.renderOne(req, q, r.table(req.gen), ord) },
		func() []byte {
			q.format = export.CSV
			return r.fileOfOne(req, q, r.table(req.gen), ord)
		},
		func() pages.View { return s.pages.Record(req.gen, r.name, ord, at) })
}

// pageElsewhere answers a name that is not a slug: an alias moves on to the page of its record.
func (r *resource) pageElsewhere(req *request, t *index.Table, name string) (*response, *failure) {
	stem, ending := formOf(name, endings)
	for _, spelling := range []string{name, strings.ToLower(name), strings.TrimRight(name, "/")} {
		if slug := only(req.gen, t, spelling); slug != "" {
			return req.moved("/" + r.name + "/" + url.PathEscape(slug)), nil
		}
	}
	if slug := only(req.gen, t, stem); slug != "" && ending != "" {
		return req.moved("/" + r.name + "/" + url.PathEscape(slug) + ending), nil
	}
	return nil, r.noRecord(t, name)
}

// front answers the front page.
func front(s *Server, req *request) (*response, *failure) {
	at := s.place(req, "/", "")
	if req.gen == nil {
		resp := newDocument(s.pages.Front(nil, at), htmlType, req.coding)
		resp.set("Content-Security-Policy", pagePolicy)
		resp.keep("no-store", openVary)
		return resp, nil
	}
	resp := s.page(req, at, htmlType, func() []byte { return s.pages.Front(req.gen, at) })
	return resp, nil
}

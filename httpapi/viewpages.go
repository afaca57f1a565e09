package httpapi

import (
	"net/url"
	"slices"
	"strings"

	"modeldex/httpapi/pages"
	"modeldex/index"

	"github.com/valyala/fasthttp"
)

// The pages of views: lists and records. Each address has forms by its ending: none is the page
// for people, .json what the API answers, .md the page as Markdown. They need no key, so that they give no more than
// a page of the API: the first rows of a list, and the newest benchmarks of a record.

// pageRoutes are the addresses of pages people read.
func pageRoutes() []route {
	out := []route{
		{method: "GET", path: "/explore/:kind", doc: "/explore/{kind}", id: "explore", tag: "pages", summary: "A list with filters, as a page; with .json or .md as data", answer: explore},
	}
	for _, r := range resources {
		doc := "{slug}"
		if r == benchmarks {
			doc = "{id}"
		}
		out = append(out, route{method: "GET", path: "/" + r.name + "/*", doc: "/" + r.name + "/" + doc, id: "page" + titleCase(r.singular), tag: "pages", summary: "The page of one " + r.singular + "; with .json or .md as data", answer: recordPage(r)})
	}
	return out
}

// place is where a page is served from.
func (s *Server) place(req *request, path, query string) pages.Place {
	return pages.Place{Base: s.base(req.ctx), Path: path, Query: query}
}

// page answers a page that is a function of dataset and address from the cache, or renders it.
// contentType is that of the form.
func (s *Server) page(req *request, at pages.Place, contentType string, render func() []byte) *response {
	// A page holds its own address, so that each base has one of its own; and a page of other
	// templates is another page.
	key := at.Address() + "\x00" + contentType + "\x00" + at.Base + "\x00" + s.pages.Edition()
	resp := s.cache.getOrRender(req.content[:], req.coding, key, func() *response {
		resp := newEntity(render(), req.coding, contentType, func(c coding) string { return etag(req.content[:], c, key) })
		resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
		if contentType == htmlType {
			resp.set("Content-Security-Policy", pagePolicy)
			resp.set("Referrer-Policy", "strict-origin-when-cross-origin")
		}
		if s.cfg.BaseURL != "" {
			resp.public()
		} else {
			resp.keep("private, max-age=300", openVary) // it names the host of the request
		}
		resp.route = req.route
		return resp
	})
	if s.cfg.BaseURL != "" {
		s.cache.alias(resp, req.content[:], req.coding, req.accepts.best, key, req.ctx.RequestURI())
	}
	return resp
}

// endings are the forms of a page beside HTML.
var endings = []string{".json", ".md"}

// formOf splits the ending of a form off a name.
func formOf(name string) (stem, ending string) {
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(name, e); ok {
			return stem, e
		}
	}
	return name, ""
}

// explore answers the page of a list.
func explore(s *Server, req *request) (*response, *failure) {
	name, ending := formOf(req.param("kind"))
	i := slices.IndexFunc(resources, func(r *resource) bool { return r.name == name })
	if i < 0 {
		return nil, fail(&unknownRoute)
	}
	if req.gen == nil {
		return nil, &failure{code: &notReady, retryAfter: 1}
	}
	r, path := resources[i], "/explore/"+name
	args, dropped := withoutEmpty(req.ctx.QueryArgs())
	if dropped && ending == "" { // a form sends its empty fields; the address to share has none
		return req.seeOther(path, args), nil
	}
	q, f := r.parse(args, req.gen)
	if f != nil {
		return nil, f
	}
	if ending != "" && q.After != nil {
		return nil, fail(&unknownParameter, Fault{In: "query", Name: "cursor", Detail: "is not a parameter of this form, which gives the first rows only; go on with a key at /api/v1/" + r.name})
	}
	if !q.limited && ending == "" {
		q.Limit = pages.PageRows
	}
	_, query, _ := strings.Cut(q.canonical, "?")
	at := s.place(req, path, query)
	if ending == ".json" {
		return s.page(req, at, jsonType, func() []byte { body, _ := r.render(req.gen, q); return body }), nil
	}
	view := func() *pages.Explore { return s.pages.Explore(req.gen, exploreQuery(r, q), at) }
	if ending == ".md" {
		return s.page(req, at, markdownType, func() []byte { return view().Markdown() }), nil
	}
	return s.page(req, at, htmlType, func() []byte { return s.pages.ExploreHTML(view()) }), nil
}

// exploreQuery is what a page needs of a parsed list.
func exploreQuery(r *resource, q *listQuery) *pages.ExploreQuery {
	_, query, _ := strings.Cut(q.canonical, "?")
	params, _ := url.ParseQuery(query) // made by this program
	params.Del("cursor")
	out := &pages.ExploreQuery{
		Kind: r.name, Query: q.Query, Runs: q.runs, Params: params,
		Next: func(p *index.Position) string { _, next, _ := strings.Cut(q.next(p), "?"); return next },
	}
	for _, n := range q.notices {
		out.Notes = append(out.Notes, pages.Sentence(n.Detail))
	}
	return out
}

// withoutEmpty is a copy of arguments without those that have no value.
func withoutEmpty(args *fasthttp.Args) (out *fasthttp.Args, dropped bool) {
	out = &fasthttp.Args{}
	for name, v := range args.All() {
		if len(v) == 0 {
			dropped = true
			continue
		}
		out.AddBytesKV(name, v)
	}
	return out, dropped
}

// seeOther sends a browser to a page.
func (req *request) seeOther(path string, args *fasthttp.Args) *response {
	if args.Len() > 0 {
		path += "?" + string(args.QueryString())
	}
	resp := newResponse(303, "", nil)
	resp.set("Location", path)
	resp.set("Cache-Control", "no-store")
	return resp
}

// recordPage answers the page of a record.
func recordPage(r *resource) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) {
		if req.gen == nil {
			return nil, &failure{code: &notReady, retryAfter: 1}
		}
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
			stem, ending = formOf(name)
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
	view := func() *pages.Sheet {
		switch r {
		case models:
			return s.pages.Model(req.gen, ord, at)
		case hardware:
			return s.pages.Hardware(req.gen, ord, at)
		case tools:
			return s.pages.Tool(req.gen, ord, at)
		default:
			return s.pages.Benchmark(req.gen, ord, at)
		}
	}
	switch ending {
	case ".json":
		return s.page(req, at, jsonType, func() []byte {
			q := &listQuery{limited: true}
			q.Limit = maxPageBenchmarks
			return r.renderOne(req, q, r.table(req.gen), ord)
		})
	case ".md":
		return s.page(req, at, markdownType, func() []byte { return view().Markdown() })
	default:
		return s.page(req, at, htmlType, func() []byte { return s.pages.SheetHTML(view()) })
	}
}

// pageElsewhere answers a name that is not a slug: an alias moves on to the page of its record.
func (r *resource) pageElsewhere(req *request, t *index.Table, name string) (*response, *failure) {
	stem, ending := formOf(name)
	for _, spelling := range []string{name, strings.ToLower(name), strings.TrimRight(name, "/"), stem, strings.ToLower(stem)} {
		if slug, ok := t.Resolve(spelling); ok {
			if spelling != stem && spelling != strings.ToLower(stem) {
				ending = ""
			}
			return req.moved("/" + r.name + "/" + url.PathEscape(slug) + ending), nil
		}
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

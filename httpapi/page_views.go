package httpapi

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

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

func exploreAny(_ *Server, req *request) (*response, *failure) {
	return req.seeOther("/explore/models", req.ctx.QueryArgs()), nil
}

func explore(s *Server, req *request) (*response, *failure) {
	name, ending := formOf(req.param("kind"), endings)
	i := slices.IndexFunc(withPages, func(r *resource) bool { return r.name == name })
	if i < 0 {
		return nil, fail(unknownRoute)
	}
	r, path := withPages[i], "/explore/"+name
	args, changed := normalizeForm(req.ctx.QueryArgs(), false)
	if changed && ending == "" { // a form sends its empty fields; the address to share has none
		return req.seeOther(path, args), nil
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
	at := s.place(req, path, r.withoutUsual(same))
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

// useViewDefaults has pages order models and hardware by their first order, where nothing else is asked for. The canonical
// address says so: the API answers the same there.
func (r *resource) useViewDefaults(args *fasthttp.Args) {
	if r.normal == slugOrder && !args.Has("sort") && (r.main == "" || !args.Has(r.main)) {
		args.Set("sort", pages.UsualSort(r.name))
	}
}

func (r *resource) withoutUsual(query string) string {
	params := strings.Split(query, "&")
	return strings.Join(slices.DeleteFunc(params, func(p string) bool { return p == "sort="+pages.UsualSort(r.name) }), "&")
}

// viewFault rejects what lists of the API take and views do not. The ending of the address is the form, and rows
// beyond the first page of data need a key.
func (r *resource) viewFault(q *listQuery, ending string) *failure {
	var faults query.Faults
	reject := func(name, detail string) {
		faults.Add(query.UnknownParameter, Fault{In: "query", Name: name, Detail: detail})
	}
	if q.formatGiven {
		reject("format", "is not a parameter of a page; use the suffix .json, .csv or .md instead")
	}
	if q.all {
		faults.Add(query.InvalidParameter, Fault{In: "query", Name: "limit", Value: clip(allRows), Detail: fmt.Sprintf("must be a whole number from 1 to %d", r.maxLimit)})
	}
	if ending != "" && q.After != nil {
		reject("cursor", "is not a parameter here, because only the first rows are available; for the rest, use a key at /api/v1/"+r.name)
	}
	return failureOf(&faults)
}

func (r *resource) csv(gen *index.Generation, q *listQuery) []byte {
	t := r.table(gen)
	return fileOf(gen, export.CSV, r.schema(q), r.rowsOf(t, t.Select(q.Query).Ords, q))
}

func exploreQuery(gen *index.Generation, r *resource, q *listQuery, typed string) *pages.ExploreQuery {
	_, same, _ := strings.Cut(q.canonical, "?")
	params, _ := url.ParseQuery(r.withoutUsual(same)) // made by this program
	params.Del("cursor")
	out := &pages.ExploreQuery{
		Kind: r.name, Query: q.Query, Runs: q.runs, Params: params, Words: record.Printable(typed),
		Next: func(p *index.Position) string { _, next, _ := strings.Cut(q.next(p), "?"); return r.withoutUsual(next) },
	}
	if q.runs != nil {
		out.Fit = q.asks()
	}
	if words := params.Get("q"); words != "" {
		out.Near = func() []pages.Link { return nearWords(gen, r, words) }
	}
	for _, n := range slices.Concat(q.notices, q.leftOutNotices(r.table(gen))) {
		out.Notes = append(out.Notes, noteOf(gen, &n))
	}
	return out
}

// noteOf is a notice of a list in the words of a visitor, who knows nothing of fields, slugs and endpoints.
func noteOf(gen *index.Generation, n *Notice) string {
	switch {
	case n.Code == readAs && len(n.Suggestions) > 1:
		names := make([]string, len(n.Suggestions))
		for i, slug := range n.Suggestions {
			names[i] = pages.NameOf(gen, slug)
		}
		last := len(names) - 1
		return "“" + record.Printable(*n.Value) + "” could be " + strings.Join(names[:last], ", ") + " or " + names[last] + "; we used " + pages.NameOf(gen, *n.Slug) + "."
	case n.Code == readAs, n.Code == nameResolved:
		return "We took “" + record.Printable(*n.Value) + "” to mean " + pages.NameOf(gen, *n.Slug) + "."
	case n.Code == "unknown_value":
		note := "No results for “" + record.Printable(*n.Value) + "” (" + strings.ToLower(pages.Label(n.Parameter)) + ")."
		if len(n.Suggestions) > 0 {
			names := make([]string, len(n.Suggestions))
			for i, slug := range n.Suggestions {
				names[i] = pages.NameOf(gen, slug)
			}
			note += " Did you mean " + strings.Join(names, " or ") + "?"
		}
		return note
	case n.Code == memoryAssumed && n.Count == nil:
		return "This hardware is sold with several memory sizes. These results are for the largest; choose others under “What runs?”."
	case n.Code == memoryAssumed:
		return text.Whole(*n.Count) + " of these " + record.Noun(*n.Count, "is", "are") + " sold with several memory sizes. Results are for the largest; the price may be for a smaller one."
	case n.Code == notRecommended:
		_, why, _ := strings.Cut(n.Detail, ": ")
		why, _, _ = strings.Cut(why, ";")
		return text.Whole(*n.Count) + " more would work but " + record.Noun(*n.Count, "is", "are") + " not recommended: " + why + "."
	case n.Code == nullExcluded && n.Parameter == "min_tps":
		return text.Whole(*n.Count) + " more may be fast enough, but their speed is unknown."
	case n.Code == nullExcluded:
		return text.Whole(*n.Count) + " more may work, but too little is published to tell."
	}
	return pages.Sentence(n.Detail)
}

// recordParams are the conditions that the pages of models and hardware answer for.
type recordParams struct {
	// Tokens of context to keep room for.
	Context int64 `query:"context,min=1,max=16777216,tokens"`
	// Memory of one device in GB, of hardware that is sold with several sizes.
	MemoryGB float64 `query:"memory_gb,above=0,max=1e6"`
	// Main memory beside a graphics card, in GB.
	SystemMemoryGB float64 `query:"system_memory_gb,above=0,max=1e6"`
}

var recordView = &resource{name: "record", singular: "record", params: query.Of[recordParams]()}

func recordPage(r *resource) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) {
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
		var c recordParams
		at := s.place(req, "/"+r.name+"/"+name, "")
		if (r != models && r != hardware) || (ending != "" && ending != ".md") {
			if f := req.noParameters(); f != nil {
				return nil, f
			}
		} else {
			args, _ := normalizeForm(req.ctx.QueryArgs(), false)
			p := query.Read(recordView.params, args.All())
			if f := failureOf(&p.Faults); f != nil {
				return nil, f
			}
			p.Into(&c)
			at.Query = p.Canonical()
		}
		q := &listQuery{reader: reader{gen: req.gen}, r: r, limited: true}
		q.Limit = maxPageBenchmarks
		return s.formOfPage(req, at, ending, "",
			func() []byte { return r.renderOne(req, q, t, ord) },
			func() []byte { q.format = export.CSV; return r.fileOfOne(req, q, t, ord) },
			func() pages.View { return s.pages.Record(req.gen, r.name, ord, pages.Conditions(c), at) }), nil
	}
}

// maxPageBenchmarks is how many benchmarks the data form of a model has: those of one page of the API.
const maxPageBenchmarks = 500

func (r *resource) pageElsewhere(req *request, t *index.Table, name string) (*response, *failure) {
	stem, ending := formOf(name, endings)
	for _, one := range [][2]string{{name, ""}, {strings.TrimRight(name, "/"), ""}, {stem, ending}} {
		if slug := only(req.gen, t, one[0]); slug != "" {
			return req.moved("/" + r.name + "/" + url.PathEscape(slug) + one[1]), nil
		}
	}
	return nil, r.noRecord(t, name)
}

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

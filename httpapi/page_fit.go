package httpapi

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset/best"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/pages"
	"modeldex/httpapi/query"
	"modeldex/index"
)

// askedParam is a parameter of the page about what runs.
type askedParam struct {
	// The question that led here: the page says how it was read.
	Asked string `query:"asked,bytes=500"`
}

// fitView is the page about what runs. Its parameters describe a machine; all are optional.
var fitView = newFitView()

func newFitView() *resource {
	params := query.Without(fitParams, "usd_per_kwh", "hours_per_day", "years", "usd_per_hour", "prefer")
	query.Find(params, "model").Required = ""
	return &resource{name: "fit", singular: "fit", params: append(params, query.Of[askedParam]()...)}
}

// viewForm reads the requested format of a page and its parameters. The response is a redirect to the canonical URL, or
// nil if the URL is canonical.
func (req *request) viewForm(path string, r *resource) (p *reader, ending string, resp *response) {
	ending = strings.TrimPrefix(string(req.ctx.Path()), path)
	args, changed := normalizeForm(req.ctx.QueryArgs(), r == fitView)
	if changed && ending == "" {
		return nil, "", req.seeOther(path, args)
	}
	return &reader{Values: query.Read(r.params, args.All()), gen: req.gen}, ending, nil
}

func fitPage(s *Server, req *request) (*response, *failure) {
	p, ending, resp := req.viewForm("/fit", fitView)
	if resp != nil {
		return resp, nil
	}
	q := &pages.FitQuery{Query: p.pair()}
	if p.Code == "" {
		p.findFit(q)
	}
	if f := failureOf(&p.Faults); f != nil {
		return nil, f
	}
	at := s.place(req, "/fit", p.Canonical())
	q.Params, _ = url.ParseQuery(p.Canonical()) // made by this program
	if ending != "" && q.Answer == nil && q.Found == nil {
		return nil, badParameter("hardware", "", "is required, unless memory_gb is given")
	}
	q.Params.Del("asked")
	q.Read, q.Instead = p.howRead("/fit", q.Params)
	return s.formOfPage(req, at, ending, strings.Join(q.Read, "\n"),
		func() []byte { return fitData(req.gen, q, p.notices) },
		func() []byte { return fitFile(req.gen, q) },
		func() pages.View { return s.pages.Fit(req.gen, q, at) }), nil
}

// findFit asks the engine what the page needs to know. The work is bounded as that of the filter
// fits.
func (p *reader) findFit(q *pages.FitQuery) {
	if q.Query.Hardware == "" && q.Query.MemoryGB == 0 {
		return
	}
	var fault *fit.Fault
	if q.Query.Model != "" {
		q.Answer, fault = p.gen.Fit.Fit(q.Query)
	} else {
		var runs best.List
		runs, fault = p.gen.Best.Models(q.Query)
		q.NoSpeed, q.Undecided = len(runs.NoSpeed), len(runs.Undecided)
		q.Found = append([]fit.Best{}, runs.Found...)
		for i := range q.Found {
			q.Found[i].Points = nil
		}
	}
	if fault != nil {
		p.fitFault(fault)
	}
}

// howRead says how names were read, and offers a page with the other records that fit them.
func (p *reader) howRead(path string, params url.Values) (said []string, instead []pages.Link) {
	if typed := p.Text("asked"); typed != "" && len(typed) <= 4*resolve.MaxQuestion {
		asked := p.gen.Names.Read(typed)
		said = append(said, "Your question: “"+record.Printable(typed)+"”.")
		if len(asked.Unused) > 0 {
			said = append(said, "Ignored: "+record.Printable(strings.Join(asked.Unused, ", "))+".")
		}
		if left := callOf(p.gen, asked).Left; left != "" {
			said = append(said, strings.ToUpper(left[:1])+left[1:]+".")
		}
		for _, n := range append(slices.Clip(asked.Models), asked.Hardware...) {
			p.noticeResolved(string(n.Kind), n.Input, string(n.Slug), &n.Answer)
		}
	}
	for i := range p.notices {
		n := &p.notices[i]
		if n.Code != nameResolved || !strings.EqualFold(pages.NameOf(p.gen, *n.Slug), *n.Value) {
			said = append(said, noteOf(p.gen, n))
		}
		for _, slug := range n.Suggestions {
			if slug != *n.Slug {
				other := maps.Clone(params)
				other.Set(n.Parameter, slug)
				instead = append(instead, pages.Link{Text: pages.NameOf(p.gen, slug) + " instead", Href: path + "?" + other.Encode()})
			}
		}
	}
	return said, instead
}

// maxFitRows is how many models the data forms list: as many as a page of the API.
const maxFitRows = 200

func fitData(gen *index.Generation, q *pages.FitQuery, read []Notice) []byte {
	if q.Answer != nil {
		return withMeta(gen, q.Answer, read...)
	}
	return withMeta(gen, q.Found[:min(len(q.Found), maxFitRows)], slices.Concat(read, fitNotices(q))...)
}

// fitNotices say how many models a list of what runs leaves out because a fact is missing.
func fitNotices(q *pages.FitQuery) []Notice {
	parameter := "memory_gb"
	if q.Query.Hardware != "" {
		parameter = "hardware"
	}
	return append(leftOut{nullExcluded, parameter, undecided, nil}.notice(q.Undecided), leftOut{nullExcluded, "min_tps", noSpeed, nil}.notice(q.NoSpeed)...)
}

var fitColumns = schemaOf[fit.Best]("fit")

var fitSizeColumns = schemaOf[fit.Size]("sizes")

// fitFile is what fitData has as a file: the models that run, or the sizes of the model that was chosen.
func fitFile(gen *index.Generation, q *pages.FitQuery) []byte {
	if q.Answer != nil {
		return rowsFile(gen, fitSizeColumns(), q.Answer.Sizes)
	}
	return rowsFile(gen, fitColumns(), q.Found[:min(len(q.Found), maxFitRows)])
}

type compareParams struct {
	// Hardware, by slug or another name.
	Hardware []string `query:"hardware,ordered"`
	// Models, by slug or another name.
	Models []string `query:"models,ordered"`
}

var compareView = &resource{name: "compare", singular: "comparison", params: query.Of[compareParams]()}

func comparePage(s *Server, req *request) (*response, *failure) {
	p, ending, resp := req.viewForm("/compare", compareView)
	if resp != nil {
		return resp, nil
	}
	q := &pages.CompareQuery{Hardware: p.names("hardware", pages.MostCompared), Models: p.names("models", pages.MostCompared)}
	q.Notes, _ = p.howRead("/compare", url.Values{})
	if len(q.Hardware) > 0 && len(q.Models) > 0 {
		p.Fault("models", strings.Join(q.Models, ","), "cannot be used with hardware")
	}
	r, slugs, same := hardware, q.Hardware, ""
	if len(q.Models) > 0 {
		r, slugs = models, q.Models
	}
	if len(slugs) > 0 {
		same = r.name + "=" + strings.Join(slugs, ",")
	} else if ending != "" {
		p.Missing("hardware", "or models is required")
	}
	if f := failureOf(&p.Faults); f != nil {
		return nil, f
	}
	at := s.place(req, "/compare", same)
	list := func() *listQuery {
		out := &listQuery{reader: reader{gen: req.gen}, r: r, canonical: "/api/v1/" + r.name + "?slug=" + strings.Join(slugs, ",")}
		out.Query = index.Query{Sets: []index.Set{{Field: index.Slug, Values: slugs}}, Limit: defaultLimit}
		out.setOf = []string{"slug"}
		return out
	}
	return s.formOfPage(req, at, ending, strings.Join(q.Notes, "\n"),
		func() []byte { body, _ := r.body(req.gen, list()); return body },
		func() []byte { return r.csv(req.gen, list()) },
		func() pages.View { return s.pages.Compare(req.gen, q, at) }), nil
}

func snapshotsPage(s *Server, req *request, at pages.Place, ending string) (*response, *failure) {
	if ending == ".json" {
		return listSnapshots(s, req)
	}
	return s.formOfPage(req, at, ending, "", nil, nil, func() pages.View { return s.pages.Snapshots(req.gen, req.catalog, at) }), nil
}

func aboutPage(s *Server, req *request, at pages.Place, _ string) (*response, *failure) {
	return s.page(req, at, htmlType, func() []byte { return s.pages.About(req.gen, at) }), nil
}

func estimatesPage(s *Server, req *request, at pages.Place, _ string) (*response, *failure) {
	return s.page(req, at, htmlType, func() []byte { return s.pages.Estimates(req.gen, at).HTML() }), nil
}

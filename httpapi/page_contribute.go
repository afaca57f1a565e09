package httpapi

import (
	"bytes"
	"net/url"

	"modeldex/dataset/contribute"
	"modeldex/httpapi/query"
)

const (
	formType = "application/x-www-form-urlencoded"
	// mostFormFields is more than any form of ours has.
	mostFormFields = 100
)

// contributeParams are what the page can begin with, as links of other pages give it.
type contributeParams struct {
	// Model to begin with, by slug or another name.
	Model string `query:"model,name=model"`
	// Hardware to begin with, by slug or another name.
	Hardware string `query:"hardware,name=hardware"`
	// Quantization to begin with.
	Quantization string `query:"quantization,bytes=100"`
}

var contributeView = &resource{name: "contribute", singular: "contribution", params: query.Of[contributeParams]()}

// contributeRoutes are the page for measurements of readers. It stores nothing.
func contributeRoutes() []route {
	return []route{
		{method: "GET", path: contributePath, id: "contributePage", tag: "pages", list: contributeView, answer: ofData(contributePage)},
		{method: "POST", path: contributePath, id: "checkContribution", tag: "pages", answer: checkContribution},
	}
}

// contributePage answers the empty form, or one with some names in it.
func contributePage(s *Server, req *request) (*response, *failure) {
	r, _, resp := req.viewForm(contributePath, contributeView)
	if resp != nil {
		return resp, nil
	}
	r.name("model")
	r.name("hardware")
	if f := failureOf(&r.Faults); f != nil {
		return nil, f
	}
	at := s.place(req, contributePath, r.Canonical())
	given, _ := url.ParseQuery(r.Canonical()) // made by this program
	return s.page(req, at, htmlType, func() []byte { return s.pages.Contribute(req.gen, given, nil, at) }), nil
}

// checkContribution checks the form and shows the result. Set and generation come from the same load.
func checkContribution(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	if f := checkMediaType(req.c, formType); f != nil {
		return nil, f
	}
	body := req.ctx.Request.Body()
	if n := bytes.Count(body, []byte{'&'}); n >= mostFormFields {
		return nil, &failure{code: badRequest, detail: "The form has too many fields."}
	}
	sent, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, &failure{code: badRequest, detail: "The form data is malformed."}
	}
	if s.cfg.Records == nil || s.cfg.Records() == nil {
		return nil, &failure{code: notReady, retryAfter: 1}
	}
	d := s.cfg.Records()
	result := contribute.NewDesk(d.Set, d.Generation.Names, s.cfg.Now).Check(sent)
	page := s.pages.Contribute(d.Generation, sent, result, s.place(req, contributePath, ""))
	resp := newEntity(page, req.coding, htmlType, nil, "")
	resp.set("Content-Security-Policy", pagePolicy)
	resp.set("Referrer-Policy", "strict-origin-when-cross-origin")
	resp.keep("no-store", openVary)
	resp.madeOf(d.Generation.Info.Version, d.Generation.Digest.String())
	return resp, nil
}

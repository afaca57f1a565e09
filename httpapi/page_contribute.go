package httpapi

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"modeldex/dataset"
	"modeldex/httpapi/contribute"
	"modeldex/httpapi/encoding"
	"modeldex/httpapi/query"
	"modeldex/index"

	"github.com/gofiber/fiber/v2"
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
		{method: "GET", path: contributePath, id: "contributePage", tag: "pages", summary: "A form for a measurement, as a page", list: contributeView, answer: remembered(ofData(contributePage))},
		{method: "POST", path: contributePath, id: "checkContribution", tag: "pages", summary: "Check a measurement and show its finished line, as a page; nothing is stored", answer: checkContribution},
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

// checkContribution answers the form with what came of it. The records are those of one load: the
// set and the generation that was made of it.
func checkContribution(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	sent, f := readForm(req)
	if f != nil {
		return nil, f
	}
	set, gen := s.records()
	if set == nil {
		return nil, &failure{code: notReady, retryAfter: 1}
	}
	result := contribute.NewDesk(set, gen.Names, s.cfg.Now).Check(sent)
	at := s.place(req, contributePath, "")
	return pageOnce(req, gen, s.pages.Contribute(gen, sent, result, at)), nil
}

// records are the set being served and the generation that was made of it; nil before there are any.
func (s *Server) records() (*dataset.Set, *index.Generation) {
	if s.cfg.Records == nil {
		return nil, nil
	}
	if d := s.cfg.Records(); d != nil {
		return d.Set, d.Generation
	}
	return nil, nil
}

// pageOnce is a page that no cache may keep.
func pageOnce(req *request, gen *index.Generation, body []byte) *response {
	c := req.coding
	if len(body) <= encoding.CompressFrom {
		c = encoding.Identity
	}
	resp := newResponse(http.StatusOK, htmlType, encoding.Compress(body, c))
	if resp.coding = c; c != encoding.Identity {
		resp.set(fiber.HeaderContentEncoding, encoding.Names[c])
	}
	resp.set("Content-Security-Policy", pagePolicy)
	resp.set("Referrer-Policy", "strict-origin-when-cross-origin")
	resp.keep("no-store", openVary)
	resp.madeOf(gen.Info.Version, gen.Digest.String())
	return resp
}

// readForm reads the fields of a form as browsers send it.
func readForm(req *request) (url.Values, *failure) {
	h := &req.ctx.Request.Header
	kind, params, err := mime.ParseMediaType(string(h.ContentType()))
	charset, given := params["charset"]
	coding := strings.ToLower(string(h.Peek(fiber.HeaderContentEncoding)))
	switch {
	case err != nil || kind != formType:
		return nil, &failure{code: unsupportedType, detail: "Send the fields as the form of the page does: as " + formType + "."}
	case given && !strings.EqualFold(charset, "utf-8"):
		return nil, &failure{code: unsupportedType, detail: "Send the form in UTF-8."}
	case coding != "" && coding != "identity":
		return nil, &failure{code: unsupportedType, detail: "Bodies are not decompressed here. Send the form without a Content-Encoding."}
	}
	body := req.ctx.Request.Body()
	if n := bytes.Count(body, []byte{'&'}); n >= mostFormFields {
		return nil, &failure{code: badRequest, detail: "The form has more fields than any form of this service."}
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, &failure{code: badRequest, detail: "The body is not a form: a sign in it is not escaped as it must be."}
	}
	return values, nil
}

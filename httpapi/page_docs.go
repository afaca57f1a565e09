package httpapi

import (
	"regexp"
	"slices"
	"sync"

	"modeldex/httpapi/pages"
	"modeldex/httpapi/reference"

	"github.com/valyala/fasthttp"
)

// apiReference is the content of the pages under /docs, read from /openapi.json at the first request.
var apiReference = sync.OnceValue(func() *reference.Reference {
	ref, err := reference.Read(openapiJSON())
	if err != nil {
		panic(err) // the document is embedded, and a test reads it
	}
	return ref
})

// docs serves a page of the API reference. It works without a dataset.
func docs(s *Server, req *request) (*response, *failure) {
	part, at := "", s.place(req, "/docs", "")
	if req.route.id == "docsPart" {
		if part = req.param("part"); !slices.Contains(pages.DocsParts(apiReference()), part) {
			return nil, fail(unknownRoute)
		}
		at.Path += "/" + part
	}
	var anyContent [16]byte // the page does not depend on the dataset
	return s.open.Render(anyContent[:], req.coding, at.Path+"\x00"+at.Base, func() *response {
		resp := newDocument(s.pages.Docs(apiReference(), s.pages.codes, part, at), htmlType, req.coding)
		resp.set("Content-Security-Policy", pagePolicy)
		if s.cfg.BaseURL == "" {
			resp.keep("private, max-age=300", openVary) // it names the host of the request
		}
		return resp
	}), nil
}

// asset answers a file the pages load. A style sheet of another build leads to that of this one: so a page that a browser
// has kept, or another server of a fleet has made, is readable. Scripts fit pages of their own build only, and pages work
// without them.
func asset(s *Server, req *request) (*response, *failure) {
	name := req.param("name")
	if stem := ofOtherBuild.ReplaceAllString(name, ".css"); stem != name && s.pages.documents["assets/"+name] == nil {
		if current := s.pages.AssetName(stem); current != "" {
			return req.seeOther("/assets/"+current, &fasthttp.Args{}), nil
		}
	}
	return s.document(req, "assets/"+name)
}

// ofOtherBuild is the end of the name of a style sheet.
var ofOtherBuild = regexp.MustCompile(`\.[0-9a-f]{10}\.css$`)

func showProblem(_ *Server, req *request) (*response, *failure) {
	if !slices.ContainsFunc(codes, func(c *code) bool { return c.name == req.param("code") }) {
		return nil, fail(unknownRoute)
	}
	return req.moved("/docs/errors#" + req.param("code")), nil
}

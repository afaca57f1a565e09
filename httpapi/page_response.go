package httpapi

import (
	"strings"

	"modeldex/httpapi/export"
	"modeldex/httpapi/pages"

	"github.com/valyala/fasthttp"
)

// pagePolicy lets a page load scripts, styles, images and data from this origin and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"

const (
	htmlType     = "text/html; charset=utf-8"
	markdownType = "text/markdown; charset=utf-8"
)

type pageSet struct {
	*pages.Site
	// documents maps an address below / to its response.
	documents map[string]*document
	codes     []pages.Code
}

func newPages(cfg pages.Config) *pageSet {
	p := &pageSet{Site: pages.New(cfg), documents: map[string]*document{}}
	p.documents["openapi.json"] = newStatic(jsonType, false, openapiJSON)
	p.documents["favicon.ico"] = newStatic(svgType, false, p.Icon)
	for _, a := range p.Assets() {
		p.documents["assets/"+a.Name] = newStatic(a.ContentType, true, func() []byte { return a.Body })
	}
	for _, c := range codes {
		p.codes = append(p.codes, pages.Code{Name: c.name, Title: c.title, Help: c.help, Status: c.status})
	}
	return p
}

func (s *Server) place(req *request, path, query string) pages.Place {
	return pages.Place{Base: s.base(req.ctx), Path: path, Query: query}
}

// page answers a page that is a function of dataset and address from the cache, or renders it.
// contentType is that of the form.
func (s *Server) page(req *request, at pages.Place, contentType string, render func() []byte) *response {
	return s.pageOf(req, at, contentType, "", render)
}

// pageOf is page for one that is a function of something else as well, which variant names. It is not
// found by its address alone.
func (s *Server) pageOf(req *request, at pages.Place, contentType, variant string, render func() []byte) *response {
	// A page holds its own address, so that each base has one of its own; and a page of other templates is another page.
	key := at.Address() + "\x00" + contentType + "\x00" + at.Base + "\x00" + s.pages.Edition() + "\x00" + variant
	resp := s.open.Render(req.content[:], req.coding, key, func() *response {
		resp := newEntity(render(), req.coding, contentType, req.content[:], key)
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
	if variant == "" {
		s.open.Alias(resp, req.content[:], req.coding, req.accepts.Best, key, s.spelling(req))
	}
	return resp
}

// formOfPage answers the form of a page that an ending names: its data, its Markdown, or the page itself. variant is
// that of pageOf.
func (s *Server) formOfPage(req *request, at pages.Place, ending, variant string, data, file func() []byte, view func() pages.View) *response {
	switch ending {
	case ".json":
		return s.pageOf(req, at, jsonType, variant, data)
	case ".csv":
		return s.pageOf(req, at, export.CSV.ContentType(), variant, file)
	case ".md":
		return s.pageOf(req, at, markdownType, variant, func() []byte { return view().Markdown() })
	}
	return s.pageOf(req, at, htmlType, variant, func() []byte { return view().HTML() })
}

// ofData answers what is made of the dataset, once there is one.
func ofData(answer func(*Server, *request) (*response, *failure)) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) {
		if req.gen == nil {
			return nil, &failure{code: notReady, retryAfter: 1}
		}
		return answer(s, req)
	}
}

// fixed answers a page without parameters at a path, in the form that its ending names.
func fixed(path string, answer func(s *Server, req *request, at pages.Place, ending string) (*response, *failure)) func(*Server, *request) (*response, *failure) {
	return bare(func(s *Server, req *request) (*response, *failure) {
		return answer(s, req, s.place(req, path, ""), strings.TrimPrefix(string(req.ctx.Path()), path))
	})
}

// spelling is the address as it was sent, as the open cache knows responses by it: with the host where pages name that.
func (s *Server) spelling(req *request) []byte {
	if s.cfg.BaseURL != "" {
		return req.ctx.RequestURI()
	}
	return append([]byte(s.base(req.ctx)), req.ctx.RequestURI()...)
}

// endings are the forms of a page beside HTML.
var endings = []string{".json", ".csv", ".md"}

func formOf(name string, endings []string) (stem, ending string) {
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(name, e); ok {
			return stem, e
		}
	}
	return name, ""
}

func (req *request) seeOther(path string, args *fasthttp.Args) *response {
	if args.Len() > 0 {
		path += "?" + string(args.QueryString())
	}
	resp := newResponse(303, "", nil)
	resp.set("Location", path)
	resp.set("Cache-Control", "no-store")
	return resp
}

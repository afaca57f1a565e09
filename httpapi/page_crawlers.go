package httpapi

import (
	"strings"

	"modeldex/httpapi/pages"

	"github.com/gofiber/fiber/v2"
)

const (
	textType    = "text/plain; charset=utf-8"
	xmlType     = "application/xml"
	catalogType = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`
)

// crawlerRoutes are files for crawlers and agents. They name the address of the service, so that they
// are made of the request if --base-url is not set.
func crawlerRoutes() []route {
	file := func(path, contentType string, render func(s *Server, req *request, base string) []byte) route {
		return route{method: fiber.MethodGet, path: path, hidden: true, id: "crawlers" + path, tag: "pages", answer: remembered(ofData(func(s *Server, req *request) (*response, *failure) {
			at := s.place(req, string(req.ctx.Path()), "")
			body := render(s, req, at.Base)
			if body == nil {
				return nil, fail(unknownRoute)
			}
			return s.page(req, at, contentType, func() []byte { return body }), nil
		}))}
	}
	return []route{
		file("/robots.txt", textType, func(_ *Server, _ *request, base string) []byte { return pages.Robots(base) }),
		file("/sitemap.xml", xmlType, func(_ *Server, req *request, base string) []byte { return pages.SitemapIndex(req.gen, base) }),
		file("/sitemaps/:name.xml", xmlType, func(_ *Server, req *request, base string) []byte {
			return pages.Sitemap(req.gen, base, req.param("name"))
		}),
		file("/llms.txt", textType, func(_ *Server, req *request, base string) []byte { return pages.LLMs(req.gen, base) }),
		file("/llms-full.txt", textType, func(s *Server, req *request, base string) []byte {
			return pages.LLMsFull(req.gen, base, endpointsOf(s.routes))
		}),
		{method: fiber.MethodGet, path: "/favicon.ico", hidden: true, id: "favicon", tag: "pages", answer: static("favicon.ico")},
		file("/.well-known/security.txt", textType, func(s *Server, req *request, base string) []byte {
			return pages.Security(req.gen, s.cfg.SupportEmail, base)
		}),
		file("/.well-known/api-catalog", catalogType, func(_ *Server, _ *request, base string) []byte { return pages.APICatalog(base) }),
	}
}

// endpointsOf are the endpoints of the API as a text names them.
func endpointsOf(routes []route) (out []pages.Endpoint) {
	keys := map[access]string{open: "no key", shown: "no key", keyed: "a key", charged: "a key, counted"}
	for i := range routes {
		rt := &routes[i]
		path := rt.path
		if rt.doc != "" {
			path = rt.doc
		}
		if strings.HasPrefix(path, "/api/") {
			out = append(out, pages.Endpoint{Method: rt.method, Path: path, Summary: rt.summary, Key: keys[rt.access]})
		}
	}
	return out
}

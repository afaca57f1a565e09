package httpapi

import (
	"modeldex/httpapi/pages"

	"github.com/gofiber/fiber/v2"
)

const (
	textType = "text/plain; charset=utf-8"
	xmlType  = "application/xml"
)

// crawlerRoutes are files for crawlers and agents. They name the address of the service, so that they
// are made of the request if --base-url is not set.
func crawlerRoutes() []route {
	file := func(path, contentType string, render func(s *Server, req *request, base string) []byte) route {
		return route{method: fiber.MethodGet, path: path, id: "crawlers" + path, tag: "pages", answer: ofData(func(s *Server, req *request) (*response, *failure) {
			at := s.place(req, string(req.ctx.Path()), "")
			body := render(s, req, at.Base)
			if body == nil {
				return nil, fail(unknownRoute)
			}
			return s.page(req, at, contentType, func() []byte { return body }), nil
		})}
	}
	return []route{
		file("/robots.txt", textType, func(_ *Server, _ *request, base string) []byte { return pages.Robots(base) }),
		file("/sitemap.xml", xmlType, func(_ *Server, req *request, base string) []byte { return pages.Sitemap(req.gen, base) }),
		file("/llms.txt", textType, func(_ *Server, req *request, base string) []byte { return pages.LLMs(req.gen, base) }),
		{method: fiber.MethodGet, path: "/favicon.ico", id: "favicon", tag: "pages", answer: static("favicon.ico")},
		file("/.well-known/security.txt", textType, func(s *Server, req *request, base string) []byte {
			return pages.Security(req.gen, s.cfg.SupportEmail, base)
		}),
	}
}

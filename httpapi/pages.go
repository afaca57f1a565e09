package httpapi

import (
	_ "embed"

	"github.com/gofiber/fiber/v2"
)

func (s *Server) document(req *request, address string) (*response, *failure) {
	d := s.pages.documents[address]
	if d == nil {
		return nil, fail(&unknownRoute)
	}
	return d.response(req.ctx.Request.Header.Peek(fiber.HeaderAcceptEncoding)), nil
}

func static(address string) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) { return s.document(req, address) }
}

// asset answers a file the pages load.
func asset(s *Server, req *request) (*response, *failure) {
	return s.document(req, "assets/"+req.param("name"))
}

// showProblem is where the type member of an error leads.
func showProblem(s *Server, req *request) (*response, *failure) {
	page := s.pages.problems[req.param("code")]
	if page == nil {
		return nil, fail(&unknownRoute)
	}
	return page().response(req.ctx.Request.Header.Peek(fiber.HeaderAcceptEncoding)), nil
}

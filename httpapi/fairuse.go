package httpapi

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
)

// Fair use without a key. Pages, charts, badges and large documents are free for everyone, and an
// allowance for each address keeps one reader from taking all of the server. costs.go has the prices.
// Files that pages load cost nothing.

// dataEndings are the endings of the data forms of pages.
var dataEndings = []string{".json", ".csv", ".md", ".ndjson", ".parquet", ".bib", ".txt"}

// pageCost is what a request costs of the allowance of its address, in pages.
func pageCost(req *request) int {
	switch {
	case req.route.pages > 0 && len(req.ctx.Request.Header.Peek(fiber.HeaderRange)) > 0:
		return 1
	case req.route.pages > 0:
		return req.route.pages
	}
	switch req.route.tag {
	case "charts":
		return 1
	case "pages":
		if req.ctx.IsPost() {
			return checkCost
		}
		if slices.Contains(dataEndings, path.Ext(string(req.ctx.Path()))) {
			return dataCost
		}
		if req.ctx.QueryArgs().Has("min_tps") && !strings.HasPrefix(string(req.ctx.Path()), "/explore/benchmarks") {
			return searchCost
		}
		return 1
	}
	return 0
}

// spendPage takes the cost of a request from the allowance of its address. Requests from this
// machine that came through no proxy are exempt.
func (s *Server) spendPage(req *request, cost int) *failure {
	if cost == 0 || s.fairUse == nil {
		return nil
	}
	from := s.client(req.ctx)
	if from.Local {
		return nil
	}
	wait := s.fairUse.Take(from.Addr, cost, req.started)
	if wait == 0 {
		return nil
	}
	return &failure{code: pageLimited, retryAfter: int64((wait + time.Second - 1) / time.Second)}
}

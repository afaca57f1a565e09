package httpapi

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
)

// Fair use without a key. Pages, charts, badges and large documents are free for everyone, and an
// allowance for each address keeps one reader from taking all of the server. The data forms of pages
// cost more, so that they are no way around the quota of a key. Files that pages load cost nothing.

// dataCost is what a data form of a page costs, in pages.
const dataCost = 5

// checkCost is what checking a contribution costs: it is compared with all benchmarks.
const checkCost = 5

// dataEndings are the endings of the data forms of pages.
var dataEndings = []string{".json", ".csv", ".md", ".ndjson", ".parquet", ".bib", ".txt"}

// documentCost is what a document of megabytes costs: a snapshot, a file of a dump. A range of one costs
// a page, so that readers which fetch a file in parts are not turned away.
const documentCost = 5

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
			return searchPages
		}
		return 1
	}
	return 0
}

// spendPage takes the cost of a request from the allowance of its address. Requests from this
// machine that came through no proxy are exempt.
func (s *Server) spendPage(req *request, cost int) *failure {
	if cost == 0 || s.readers == nil {
		return nil
	}
	from := s.client(req.ctx)
	if from.Local {
		return nil
	}
	wait := s.readers.Take(from.Addr, cost, req.started)
	if wait == 0 {
		return nil
	}
	return &failure{code: &pageLimited, retryAfter: int64((wait + time.Second - 1) / time.Second)}
}

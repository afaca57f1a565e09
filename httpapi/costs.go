package httpapi

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Work that is more than that of a page costs more of an allowance, never more of the month: of the burst of a
// key, or of the pages of an address without a key. A call of the burst is about ten milliseconds of processor
// time on the shipped dataset; BenchmarkExpensive measures the most expensive requests.
const (
	// searchCalls is what a list with a least speed costs: sizes of every model are estimated until one is fast enough.
	searchCalls = 5
	// pairsPerCall is how many pairs of model and hardware in one body cost one call.
	pairsPerCall = 50
	// namesPerCall is how many names in one body cost one call.
	namesPerCall = 100
)

// Costs of keyless requests against the allowance of their address, in pages.
const (
	// dataCost is what a data form of a page costs: more than the page, so that it is no way around the quota of a key.
	dataCost = 5
	// checkCost is what checking a contribution costs: it is compared with all benchmarks.
	checkCost = 5
	// searchCost is what a page with a least speed costs.
	searchCost = 5
	// documentCost is what a document of megabytes costs: a snapshot, a file of a dump, changes with whole records. A
	// range of one costs a page, so that readers which fetch a file in parts are not turned away.
	documentCost = 5
	// namesPerPage is how many values of slug and field a page of changes may have for the cost of one page: each that
	// is not known is compared with all names.
	namesPerPage = 10
)

// Fair use without a key. What needs no key is free for everyone, and an allowance for each address keeps one reader
// from taking all of the server.

// freeRoutes are free, by id: requests that probes, preflights and browsers make on their own, and unknown URLs. Agents
// without a key pay in answerMCP, and frames pay for the page they show.
var freeRoutes = []string{"mcp", "embed", "alive", "ready", "asset", "problem", "crawlers/robots.txt", preflight.id, unknownEndpoint.id}

var dataEndings = []string{".json", ".csv", ".md", ".ndjson", ".parquet", ".bib", ".txt"}

// pageCost is what a request without a key costs of the allowance of its address, in pages: one, where nothing says
// otherwise.
func pageCost(req *request) int {
	args := req.ctx.QueryArgs()
	switch rt := req.route; {
	case slices.Contains(freeRoutes, rt.id):
		return 0
	case rt.pages > 0 && len(req.ctx.Request.Header.Peek(fiber.HeaderRange)) > 0:
		return 1
	case rt.pages > 0:
		return rt.pages
	case rt.list == changesList || rt.list == recordChanges:
		names := 0
		for _, name := range []string{"slug", "field"} {
			for _, list := range args.PeekMulti(name) {
				names += 1 + bytes.Count(list, []byte{','})
			}
		}
		cost := 1 + names/namesPerPage
		if args.Has("records") {
			cost += documentCost - 1
		}
		return cost
	case rt.tag != "pages":
		return 1
	case req.ctx.IsPost():
		return checkCost
	case slices.Contains(dataEndings, path.Ext(string(req.ctx.Path()))):
		return dataCost
	case args.Has("min_tps") && !strings.HasPrefix(string(req.ctx.Path()), "/explore/benchmarks"):
		return searchCost
	}
	return 1
}

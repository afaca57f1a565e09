package httpapi

import (
	"fmt"
	"math"
	"slices"
	"time"

	"modeldex/dataset/text"
	"modeldex/httpapi/metrics"
	"modeldex/httpapi/pages"
	"modeldex/quota"
)

// The objectives of a server. Latency is the time from the end of reading a request to its response.
const (
	promisedShare   = 0.99
	callsWithin     = 0.025 // seconds
	pagesWithin     = 0.1
	promisedFailure = 0.001
	datasetFresh    = 30 // days
)

func statusPage(s *Server, req *request, at pages.Place, _ string) (*response, *failure) {
	kinds := map[string]string{}
	for i := range s.routes {
		switch rt := &s.routes[i]; {
		case rt.access >= keyed:
			kinds[rt.id] = "calls"
		case rt.tag == "pages":
			kinds[rt.id] = "pages"
		}
	}
	counts := s.metrics.Counts(func(route string) string { return kinds[route] })
	days := int(time.Since(releasedAt(req.gen)).Hours() / 24)
	files := "up to date"
	refused := s.cfg.History.Refused(req.gen) != nil
	if refused {
		files = "newest files rejected, last good version served"
	}
	objectives := [][]pages.Cell{
		latency("API calls", counts.Of["calls"], callsWithin),
		latency("Pages", counts.Of["pages"], pagesWithin),
		objective("Failed requests (5xx)", fmt.Sprintf("at most %g%%", 100*promisedFailure),
			fmt.Sprintf("%s of %s", text.Whole(counts.Failed), text.Whole(counts.Requests)), float64(counts.Failed) > promisedFailure*float64(counts.Requests)),
		objective("Age of the dataset", fmt.Sprintf("at most %d days", datasetFresh),
			text.Count(days, "day", "days"), days > datasetFresh),
		objective("Dataset updates", "always the newest files that passed all checks", files, refused),
	}
	var limited [][]pages.Cell
	for _, l := range counts.Limited {
		if l.Tier == quota.NoTier {
			l.Tier = "without a key"
		}
		limited = append(limited, []pages.Cell{{Text: l.Tier}, {Text: codes[slices.IndexFunc(codes, func(c *code) bool { return c.name == l.Code })].title, Href: "/problems/" + l.Code}, {Text: text.Whole(l.Requests)}})
	}
	resp := newResponse(200, htmlType, s.pages.Status(req.gen, s.cfg.Version, s.started, objectives, limited, at))
	resp.set("Content-Security-Policy", pagePolicy)
	resp.keep("no-store", openVary)
	resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
	return resp, nil
}

func objective(name, promised, found string, missed bool) []pages.Cell {
	return []pages.Cell{{Text: name}, {Text: promised}, {Text: found}, {Text: map[bool]string{false: "met", true: "missed"}[missed]}}
}

func latency(name string, t metrics.Latency, within float64) []pages.Cell {
	found := "no requests yet"
	if t.Requests > 0 {
		found = fmt.Sprintf("%.2f%% of %s, median at most %s", 100*t.Within(within), text.Whole(t.Requests), milliseconds(t.Quantile(0.5)))
	}
	return objective(name, fmt.Sprintf("%.0f%% within %s", 100*promisedShare, milliseconds(within)), found, t.Requests > 0 && t.Within(within) < promisedShare)
}

func milliseconds(seconds float64) string {
	if math.IsInf(seconds, 1) {
		return "more"
	}
	return fmt.Sprintf("%g ms", 1000*seconds)
}

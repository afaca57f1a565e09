package httpapi

import (
	"fmt"
	"math"
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

// statusPage answers the page of what the server promises and what it has done since its start.
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
	of := func(kind string) metrics.Totals {
		return s.metrics.Totals(func(route string) bool { return kind == "" || kinds[route] == kind })
	}
	days := int(time.Since(releasedAt(req.gen)).Hours() / 24)
	everything := of("")
	refused := s.cfg.History.Refused(req.gen)
	view := &pages.Status{Version: s.cfg.Version, Started: s.started, Loaded: req.gen.Loaded, Objectives: []pages.Objective{
		latency("Calls of the API", of("calls"), callsWithin),
		latency("Pages", of("pages"), pagesWithin),
		{
			Name: "Requests fail (5xx)", Promised: fmt.Sprintf("at most 1 of %.0f", 1/promisedFailure),
			Found:  fmt.Sprintf("%s of %s", text.Whole(everything.Failed), text.Whole(everything.Requests)),
			Missed: float64(everything.Failed) > promisedFailure*float64(everything.Requests),
		},
		{
			Name: "Age of the dataset", Promised: fmt.Sprintf("at most %d days", datasetFresh), Missed: days > datasetFresh,
			Found: fmt.Sprintf("released %s, %s ago", req.gen.Info.Released, text.Count(days, "day", "days")),
		},
		{
			Name: "Changed files are served", Promised: "once they are checked; else the last good ones stay", Missed: refused != nil,
			Found: map[bool]string{false: "the newest files are served", true: "the newest files were rejected"}[refused != nil],
		},
	}}
	s.metrics.EachLimited(func(tier, reason string, n uint64) {
		if tier == quota.NoTier {
			tier = "without a key"
		}
		view.Limited = append(view.Limited, pages.Limited{Tier: tier, Reason: reason, Requests: n})
	})
	resp := newResponse(200, htmlType, s.pages.Status(req.gen, view, at))
	resp.set("Content-Security-Policy", pagePolicy)
	resp.keep("no-store", openVary)
	resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
	return resp, nil
}

// latency is the objective that a share of some requests is answered in time.
func latency(name string, t metrics.Totals, within float64) pages.Objective {
	o := pages.Objective{
		Name: name, Promised: fmt.Sprintf("%.0f of 100 within %s", 100*promisedShare, milliseconds(within)), Found: "none yet",
		Missed: t.Requests > 0 && t.Within(within) < promisedShare,
	}
	if t.Requests > 0 {
		o.Found = fmt.Sprintf("%.2f %% of %s, half of them within %s", 100*t.Within(within), text.Whole(t.Requests), milliseconds(t.Quantile(0.5)))
	}
	return o
}

// milliseconds writes seconds; infinite ones are more than the longest class of latency.
func milliseconds(seconds float64) string {
	if math.IsInf(seconds, 1) {
		return "more"
	}
	return fmt.Sprintf("%g ms", 1000*seconds)
}

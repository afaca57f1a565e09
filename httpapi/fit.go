package httpapi

import (
	"fmt"
	"net/http"
	"slices"

	"modeldex/dataset/fit"
	"modeldex/httpapi/query"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// fitParams are all parameters of the engine; lists of what runs and the page use some of them.
var fitParams = query.Of[fit.Query]()

// fitList is the parameters of GET /api/v1/fit, and the members of a query of POST /api/v1/fit.
var fitList = &resource{name: "fit", path: "fit", singular: "fit", params: query.Without(fitParams, "min_tps", "prefer")}

type fitBody struct {
	// The queries.
	Queries jsontext.Value `query:"queries,required"`
}

// maxFitQueries is how many queries one POST takes. Each costs under a millisecond.
const maxFitQueries = 100

func showFit(s *Server, req *request) (*response, *failure) {
	r := reader{Values: query.Read(fitList.params, req.ctx.QueryArgs().All()), gen: req.gen}
	q := r.fitQuery()
	answer := r.fit(q)
	if f := failureOf(&r.Faults); f != nil {
		return nil, f
	}
	return s.cached(req, withNames(r.Address(fitPath), r.notices), func() ([]byte, string) { return withMeta(req.gen, answer, r.notices...), "" }), nil
}

func (r *reader) fitQuery() fit.Query {
	q := r.pair()
	if !r.Sent("hardware") && !r.Sent("memory_gb") {
		r.Missing("hardware", "is required, unless memory_gb is given")
	}
	q.Today, _ = r.gen.Info.Released.Time() // so that an answer depends on nothing but dataset and query
	return q
}

func (r *reader) pair() (q fit.Query) {
	r.name("model")
	units := r.devices()
	r.name("host")
	r.name("draft")
	r.name("tool")
	r.Into(&q)
	q.Use(units)
	return q
}

func (r *reader) fit(q fit.Query) *fit.Answer {
	if r.Code != "" {
		return nil
	}
	answer, fault := r.gen.Fit.Fit(q)
	if fault != nil {
		r.fitFault(fault)
	}
	return answer
}

func postFit(_ *Server, req *request) (*response, *failure) {
	queries, place, f := readFitQueries(req)
	if f != nil {
		return nil, f
	}
	req.call.SpendBurst((len(queries) - 1) / pairsPerCall)
	answers := make([]*fit.Answer, len(queries))
	var faults query.Faults
	var notices []Notice
	for i, members := range queries {
		r := reader{Values: query.ReadObject(fitList.params, members, place(i)), gen: req.gen}
		q := r.fitQuery()
		q.BestOnly = true
		answers[i] = r.fit(q)
		faults.Join(&r.Faults)
		for _, n := range r.notices {
			n.Parameter = place(i) + n.Parameter
			notices = append(notices, n)
		}
	}
	if f := failureOf(&faults); f != nil {
		return nil, f
	}
	resp := uncached(http.StatusOK, withMeta(req.gen, answers, notices...))
	resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
	return resp, nil
}

func readFitQueries(req *request) ([]map[string]jsontext.Value, func(i int) string, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, nil, f
	}
	members, f := bodyMembers(req.c)
	if f != nil {
		return nil, nil, f
	}
	if members["queries"] == nil && members["model"] != nil {
		return []map[string]jsontext.Value{members}, func(int) string { return "" }, nil
	}
	body := query.ReadObject(query.Of[fitBody](), members, "")
	var queries []map[string]jsontext.Value
	raw := jsontext.Value(body.Text("queries"))
	switch {
	case len(raw) == 0:
	case jsonv2.Unmarshal(raw, &queries) != nil || slices.ContainsFunc(queries, func(q map[string]jsontext.Value) bool { return q == nil }):
		body.Missing("queries", "must be a list of objects")
	case len(queries) == 0 || len(queries) > maxFitQueries:
		body.Missing("queries", fmt.Sprintf("must have 1 to %d entries, got %d", maxFitQueries, len(queries)))
	}
	return queries, func(i int) string { return fmt.Sprintf("queries[%d].", i) }, failureOf(&body.Faults)
}

package httpapi

import (
	"fmt"
	"net/http"
	"slices"

	"modeldex/dataset/fit"
	"modeldex/httpapi/rowjson"
	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// showFit answers which sizes of a model run on a machine, and how fast.
func showFit(s *Server, req *request) (*response, *failure) {
	p := &parser{r: fitQuery, gen: req.gen, values: map[string][]string{}}
	p.collect(req.ctx.QueryArgs())
	q, canonical := p.fitQuery()
	if f := p.faults.failure(); f != nil {
		return nil, f
	}
	answer, fault := req.gen.Fit.Fit(q)
	if fault != nil {
		p.fitFault(fault)
		return nil, p.faults.failure()
	}
	return s.cached(req, address(fitQuery, canonical), func() ([]byte, string) { return withMeta(req.gen, answer), "" }), nil
}

// postFit answers up to 100 queries at once, with the best size of each.
func postFit(s *Server, req *request) (*response, *failure) {
	if f := req.noParameters(); f != nil {
		return nil, f
	}
	queries, f := readFitQueries(req)
	if f != nil {
		return nil, f
	}
	req.call.SpendBurst((len(queries) - 1) / pairsPerCall)
	answers := make([]*fit.Answer, len(queries))
	var faults faultList
	for i, members := range queries {
		p := &parser{r: fitQuery, gen: req.gen, values: map[string][]string{}, in: "body", prefix: fmt.Sprintf("queries[%d].", i)}
		p.collectMembers(members)
		q, _ := p.fitQuery()
		if p.faults.code == nil {
			q.BestOnly = true
			answer, fault := req.gen.Fit.Fit(q)
			if fault != nil {
				p.fitFault(fault)
			}
			answers[i] = answer
		}
		faults.join(invalidField, &p.faults)
	}
	if f := faults.failure(); f != nil {
		return nil, f
	}
	resp := uncached(http.StatusOK, withMeta(req.gen, answers))
	resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
	return resp, nil
}

// readFitQueries reads the list of queries of a body.
func readFitQueries(req *request) ([]map[string]jsontext.Value, *failure) {
	members, f := bodyMembers(req.c)
	if f != nil {
		return nil, f
	}
	var queries []map[string]jsontext.Value
	var faults []Fault
	raw, ok := members["queries"]
	switch {
	case !ok:
		faults = append(faults, Fault{In: "body", Name: "queries", Detail: "is required"})
	case jsonv2.Unmarshal(raw, &queries) != nil || slices.ContainsFunc(queries, func(q map[string]jsontext.Value) bool { return q == nil }):
		faults = append(faults, Fault{In: "body", Name: "queries", Detail: "must be a list of objects"})
	case len(queries) == 0 || len(queries) > maxFitQueries:
		faults = append(faults, Fault{In: "body", Name: "queries", Detail: fmt.Sprintf("must have 1 to %d entries, got %d", maxFitQueries, len(queries))})
	}
	return queries, bodyFailure(faults, members, []string{"queries"})
}

// withMeta is the body of one answer with what it says about itself.
func withMeta(gen *index.Generation, v any, notices ...Notice) []byte {
	data, err := jsonv2.Marshal(v)
	if err != nil {
		panic(err) // answers hold numbers and texts of the dataset
	}
	b := append(append([]byte(`{"data":`), data...), `,"meta":{"dataset_version":`...)
	b = append(rowjson.AppendString(b, gen.Info.Version), `,"dataset_digest":"`...)
	b = append(append(b, gen.Digest.String()...), '"')
	if len(notices) > 0 {
		said, err := jsonv2.Marshal(notices)
		if err != nil {
			panic(err) // texts and numbers
		}
		b = append(append(b, `,"notices":`...), said...)
	}
	return append(b, "}}"...)
}

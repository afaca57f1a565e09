package httpapi

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"modeldex/httpapi/export"
	"modeldex/httpapi/query"
	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/valyala/fasthttp"
)

// hookFilters are the parameters of the list of benchmarks that a webhook can have as filters: those that choose rows.
var hookFilters = newHookFilters()

func newHookFilters() *resource {
	r := *benchmarks
	r.params = slices.DeleteFunc(slices.Clone(benchmarks.params), func(p query.Param) bool {
		return p.Name != "q" && query.Find(query.Of[pageParams](), p.Name) != nil
	})
	return &r
}

// readFilters reads the member filters of a body: names of parameters with a text, number or truth value, or a list of
// them. It returns the canonical query string. Faults are added to those of the body.
func readFilters(raw jsontext.Value, gen *index.Generation, body *query.Values, notices *[]Notice) (canonical string) {
	var members map[string]jsontext.Value
	if raw.Kind() == 'n' {
		return ""
	}
	if err := jsonv2.Unmarshal(raw, &members); err != nil {
		body.Missing("filters", "must be an object of filters, as in the list of benchmarks")
		return ""
	}
	q, _ := hookFilters.parse(query.ReadObject(hookFilters.params, members, "filters."), gen, export.JSON)
	body.Join(&q.Faults)
	*notices = q.notices
	return q.Values.Canonical()
}

// filterLists is a canonical query string as lists of values by name.
func filterLists(canonical string) map[string][]string {
	out := map[string][]string{}
	values, _ := url.ParseQuery(canonical) // written by readFilters
	for name, list := range values {
		if p := query.Find(hookFilters.params, name); len(list) == 1 && p != nil && p.Many {
			list = strings.Split(list[0], ",")
		}
		out[name] = list
	}
	return out
}

// MatchBenchmarks returns those of the benchmarks ords, which rise, that match filters as a webhook
// has them: the canonical query string of the list of benchmarks. Without filters all match, also the throughput results
// that the list leaves out unless their scenario is asked for.
func MatchBenchmarks(gen *index.Generation, filters string, ords []uint32) ([]uint32, error) {
	if filters == "" {
		return ords, nil
	}
	var args fasthttp.Args
	args.Parse(filters)
	q, f := hookFilters.parse(query.Read(hookFilters.params, args.All()), gen, export.JSON)
	if f != nil {
		return nil, errors.New(f.detail)
	}
	return gen.Benchmarks.Among(q.Query, ords), nil
}

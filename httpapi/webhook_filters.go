package httpapi

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"

	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/valyala/fasthttp"
)

// hookFilters are the parameters of the list of benchmarks that a webhook can have as filters.
var hookFilters = newHookFilters()

func newHookFilters() *resource {
	r := resource{name: "benchmarks", singular: "benchmark", table: benchmarksOf, normal: benchmarks.normal, maxLimit: benchmarks.maxLimit}
	for _, pm := range benchmarks.params {
		switch pm.kind {
		case sortKey, pageLimit, cursorToken, fieldNames, keptRef, fileFormat: // of responses
		default:
			if pm.kind < oneName {
				r.params = append(r.params, pm)
			}
		}
	}
	return withNames(r)
}

// readFilters reads the member filters of a body: names of parameters with a text, number or truth
// value, or a list of them. It returns the canonical query string.
func readFilters(raw jsontext.Value, gen *index.Generation) (canonical string, notices []Notice, f *failure) {
	bad := func(name, detail string) *failure {
		return fail(invalidField, Fault{In: "body", Name: name, Detail: detail})
	}
	var members map[string]jsontext.Value
	if raw.Kind() == 'n' {
		return "", nil, nil
	}
	if err := jsonv2.Unmarshal(raw, &members); err != nil {
		return "", nil, bad("filters", "must be an object of filters, as in the list of benchmarks")
	}
	var args fasthttp.Args
	for _, name := range slices.Sorted(maps.Keys(members)) {
		values := []jsontext.Value{members[name]}
		if values[0].Kind() == '[' {
			if err := jsonv2.Unmarshal(values[0], &values); err != nil {
				return "", nil, bad("filters."+*clip(name), "must be a value or a list of values")
			}
		}
		for _, v := range values {
			text := string(v)
			switch v.Kind() {
			case '"':
				_ = jsonv2.Unmarshal(v, &text) // it is a text
			case '0', 't', 'f':
			default:
				return "", nil, bad("filters."+*clip(name), "must be a text, a number, true or false, or a list of them")
			}
			args.Add(name, text)
		}
	}
	p := &parser{r: hookFilters, gen: gen, values: map[string][]string{}, in: "body", prefix: "filters."}
	q, f := p.parse(&args)
	if f != nil {
		return "", nil, f
	}
	_, canonical, _ = strings.Cut(q.canonical, "?")
	return canonical, q.notices, nil
}

// filterLists is a canonical query string as lists of values by name.
func filterLists(canonical string) map[string][]string {
	out := map[string][]string{}
	values, _ := url.ParseQuery(canonical) // written by readFilters
	for name, list := range values {
		if pm := hookFilters.byName[name]; len(list) == 1 && pm != nil && pm.multiple() {
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
	q, f := hookFilters.parse(&args, gen)
	if f != nil {
		return nil, errors.New(sentences(f.faults, f.omitted))
	}
	return gen.Benchmarks.Among(q.Query, ords), nil
}

package httpapi

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// maxFitQueries is how many queries one POST takes. Each costs under a millisecond.
const maxFitQueries = 100

// fitQuery is the parameters of GET /api/v1/fit, and the fields of a query of POST /api/v1/fit.
var fitQuery = withNames(resource{
	name: "fit", singular: "fit",
	params: []param{
		{name: "model", kind: oneName, table: modelsOf, doc: "Model, by slug or alias. Required."},
		{name: "hardware", kind: oneName, table: hardwareOf, doc: "Hardware, by slug or alias. Required, unless memory_gb describes the machine."},
		{name: "quantization", kind: oneText, doc: "One size of the model by name, such as Q4_K_M; all sizes, best first, without it. Letter case does not count."},
		{name: "count", kind: wholeNumber, most: fit.MaxCount, doc: "Number of devices. With the rules of llama.cpp each has a part of the layers."},
		{name: "context", kind: wholeNumber, most: fit.MaxContext, doc: "Tokens to keep room for. Without it 8192, or the limit of the model where that is less. Above the limit of the model: 400, unless allow_extended is true."},
		{name: "kv", kind: oneChoice, values: fit.KVType("").Values(), doc: "Storage of the key-value cache; f16 without it."},
		{name: "engine", kind: oneChoice, values: fit.Rules("").Values(), doc: "Program whose memory rules apply; llama.cpp without it."},
		{name: "memory_gb", kind: plainNumber, most: 1e6, doc: "Memory of one device, in GB of 2^30 bytes: for hardware sold with several sizes, or with bandwidth_gbps in place of hardware."},
		{name: "bandwidth_gbps", kind: plainNumber, most: 1e6, doc: "Memory bandwidth of one device, in 10^9 bytes per second."},
		{name: "unified_share", kind: plainNumber, most: 1, doc: "Part of unified memory a model may use; without it the default of the vendor's system, which the answer names."},
		{name: "system_memory_gb", kind: plainNumber, most: 1e6, doc: "Main memory beside a discrete card, in GB, for the verdict offload."},
		{name: "allow_extended", kind: flagValue, doc: "true: accept a context above the limit of the model, as with YaRN."},
		{name: "usd_per_kwh", kind: plainNumber, most: 1e6, doc: "Price of energy, for costs."},
		{name: "hours_per_day", kind: plainNumber, most: 24, doc: "Hours of use per day, for costs."},
		{name: "years", kind: plainNumber, most: 100, doc: "Years of use, for costs."},
		{name: "usd_per_hour", kind: plainNumber, most: 1e6, doc: "Rent of the hardware per hour, for costs; in place of its price and energy."},
	},
})

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
		for _, fault := range p.faults.list {
			faults.add(&invalidField, fault)
		}
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

// collectMembers is collect for the members of a JSON object, whose texts, numbers and flags are
// read like parameters.
func (p *parser) collectMembers(members map[string]jsontext.Value) {
	for name, raw := range members {
		v := string(raw)
		if raw.Kind() == '"' {
			if err := jsonv2.Unmarshal(raw, &v); err != nil {
				v = ""
			}
		}
		switch _, known := p.r.byName[name]; {
		case !known:
			p.unknown(name)
		case raw.Kind() == 'n': // null is as good as left out
		case v == "":
			p.fault(&invalidField, name, v, "must not be empty")
		case raw.Kind() == '{' || raw.Kind() == '[':
			p.fault(&invalidField, name, v, "must be a text, a number, true or false")
		default:
			p.values[name] = []string{v}
		}
	}
}

// fitQuery reads the parameters into a query and their canonical spelling.
func (p *parser) fitQuery() (q fit.Query, canonical []string) {
	r := fitReader{parser: p}
	q = fit.Query{
		Model:          dataset.Slug(r.name("model")),
		Hardware:       dataset.Slug(r.name("hardware")),
		Quantization:   r.text("quantization"),
		Count:          int(r.number("count")),
		Context:        int64(r.number("context")),
		KV:             fit.KVType(r.choice("kv")),
		Rules:          fit.Rules(r.choice("engine")),
		MemoryGB:       r.number("memory_gb"),
		BandwidthGBps:  r.number("bandwidth_gbps"),
		UnifiedShare:   r.number("unified_share"),
		SystemMemoryGB: r.number("system_memory_gb"),
		AllowExtended:  r.flag("allow_extended"),
	}
	costs := fit.Costs{
		USDPerKWh: r.optional("usd_per_kwh", true), HoursPerDay: r.optional("hours_per_day", false),
		Years: r.optional("years", false), USDPerHour: r.optional("usd_per_hour", true),
	}
	if costs != (fit.Costs{}) {
		costs.Today = released(p.gen)
		q.Costs = &costs
	}
	if q.Model == "" && p.values["model"] == nil {
		p.fault(&invalidParameter, "model", "", "is required")
	}
	if q.Hardware == "" && q.MemoryGB == 0 && p.values["hardware"] == nil && p.values["memory_gb"] == nil {
		p.fault(&invalidParameter, "hardware", "", "is required, unless memory_gb describes the machine")
	}
	return q, r.canonical
}

// released is the day of the dataset: prices are old or not by it, so that an answer depends on
// nothing but dataset and query.
func released(gen *index.Generation) time.Time {
	n := int(index.DateNumber(&gen.Info.Released))
	return time.Date(n/10000, time.Month(max(n/100%100, 1)), max(n%100, 1), 0, 0, 0, 0, time.UTC)
}

// fitReader reads parameters by name and gathers their canonical spelling.
type fitReader struct {
	*parser
	canonical []string
}

func (r *fitReader) value(name string) string {
	if v := r.values[name]; v != nil {
		return v[0]
	}
	return ""
}

func (r *fitReader) keep(name, v string) {
	r.canonical = append(r.canonical, name+"="+url.QueryEscape(v))
}

// name finds a record by slug, alias or a name that can be read by rules; an unknown name is a fault
// with a near slug.
func (r *fitReader) name(name string) string {
	v := r.value(name)
	if v == "" {
		return ""
	}
	pm := r.r.byName[name]
	t := pm.table(r.gen)
	slug, a := named(r.gen, t, v)
	if slug == "" {
		detail := "is not known"
		if a.Ambiguous {
			detail = "may be several records: " + a.Reason
		}
		if f := r.fault(&invalidParameter, name, v, detail); f != nil && len(a.Candidates) > 0 {
			f.Suggestion = string(a.Candidates[0].Slug)
		}
		return ""
	}
	r.keep(name, slug)
	return slug
}

const maxFitText = 100

func (r *fitReader) text(name string) string {
	v := r.value(name)
	if len(v) > maxFitText {
		r.fault(&invalidParameter, name, v, fmt.Sprintf("must be at most %d bytes", maxFitText))
		return ""
	}
	if v != "" {
		r.keep(name, v)
	}
	return v
}

func (r *fitReader) choice(name string) string {
	v := r.value(name)
	if v == "" {
		return ""
	}
	if allowed := r.r.byName[name].values; !slices.Contains(allowed, v) {
		r.notOneOf(name, v, allowed)
		return ""
	}
	r.keep(name, v)
	return v
}

func (r *fitReader) flag(name string) bool {
	v := r.value(name)
	if v == "true" {
		r.keep(name, v)
		return true
	}
	if v != "" && v != "false" {
		r.notOneOf(name, v, []string{"true", "false"})
	}
	return false
}

// number reads a plain decimal above 0; 0 where there is none.
func (r *fitReader) number(name string) float64 {
	if v := r.optional(name, false); v != nil {
		return *v
	}
	return 0
}

func (r *fitReader) optional(name string, zero bool) *float64 {
	v := r.value(name)
	if v == "" {
		return nil
	}
	pm := r.r.byName[name]
	n, ok := plainDecimal(v)
	kind, least := "number", "above 0"
	if pm.kind == wholeNumber {
		kind, least, ok = "whole number", "from 1", ok && n == math.Trunc(n)
	}
	if zero {
		least = "from 0"
	}
	if !ok || n > pm.most || n == 0 && !zero {
		r.fault(&invalidParameter, name, v, fmt.Sprintf("must be a %s %s to %s", kind, least, strconv.FormatFloat(pm.most, 'f', -1, 64)))
		return nil
	}
	r.keep(name, strconv.FormatFloat(n, 'f', -1, 64))
	return &n
}

// fitFault reports what the engine found wrong with a query.
func (p *parser) fitFault(fault *fit.Fault) {
	p.fault(&invalidParameter, fault.Field, strings.Join(p.values[fault.Field], ","), fault.Text)
}

// withMeta is the body of one answer with what it says about itself.
func withMeta(gen *index.Generation, v any) []byte {
	data, err := jsonv2.Marshal(v)
	if err != nil {
		panic(err) // answers hold numbers and texts of the dataset
	}
	b := append(append([]byte(`{"data":`), data...), `,"meta":{"dataset_version":`...)
	b = append(appendString(b, gen.Info.Version), `,"dataset_digest":"`...)
	return append(append(b, gen.Digest.String()...), `"}}`...)
}

package httpapi

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/httpapi/query"
	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

type fitParams struct {
	// Model, by slug or alias.
	Model dataset.Slug `query:"model,name=model,required"`
	// Hardware, by name; required unless memory_gb describes the machine. Several names with commas are one machine. A memory
	// or number of devices in a name, such as "2x RTX 3090", sets memory_gb and count.
	Hardware string `query:"hardware,name=hardware"`
	// A size of the model, or any quantization, by name, such as Q4_K_M or AWQ; all sizes, best first, without it.
	Quantization string `query:"quantization,bytes=100"`
	// Size of the file of weights, in GB of 2^30 bytes, in place of the sizes of the model.
	WeightsGB float64 `query:"weights_gb,above=0,max=1e6"`
	fitOptions
	// Memory of one device, in GB of 2^30 bytes: for hardware sold with several sizes, or with bandwidth_gbps in place
	// of hardware.
	MemoryGB float64 `query:"memory_gb,above=0,max=1e6"`
	// Memory bandwidth of one device, in 10^9 bytes per second. With hardware of another bandwidth its measurements do
	// not count.
	BandwidthGBps float64 `query:"bandwidth_gbps,above=0,max=1e6"`
	// Part of unified memory a model may use; without it the default of the vendor's system, which the answer names.
	UnifiedShare float64 `query:"unified_share,above=0,max=1"`
	// Layers on the cards, as -ngl of llama.cpp, the output counted as one; as many as fit without it.
	GPULayers *int64 `query:"gpu_layers,min=0,max=1000"`
	// Layers, from the first, whose experts stay in main memory, as --n-cpu-moe of llama.cpp; as few as fit without it.
	CPUMoE *int64 `query:"n_cpu_moe,min=0,max=1000"`
	// True: count the projector that reads pictures (mmproj), projector_bytes of the model.
	Projector bool `query:"projector"`
	// Size of the projector file, in GB of 2^30 bytes, instead of the one known for the model.
	ProjectorGB float64 `query:"projector_gb,above=0,max=1e3"`
	// True: count what the layer of the model that drafts tokens takes (MTP).
	MTP bool `query:"mtp"`
	// Model that drafts tokens, by slug or alias, to count it.
	Draft dataset.Slug `query:"draft,name=model"`
	// Quantization of the draft model; default Q8_0.
	DraftQuantization string `query:"draft_quantization,bytes=100,with=draft"`
	speedParams
}

type speedParams struct {
	// Program the speed is of, such as ollama; sets engine, too.
	Tool dataset.Slug `query:"tool,name=tool"`
	// Compute backend, such as vulkan; the usual one without it.
	Backend string `query:"backend,bytes=40"`
	// Part of the machine that works.
	ComputeUnit fit.ComputeUnit `query:"compute_unit"`
	// Prompt length in tokens, for ttft_s.
	PromptTokens int64 `query:"prompt_tokens,min=1,tokens"`
	// Tokens of the answer, for total_s; with prompt_tokens.
	AnswerTokens int64 `query:"answer_tokens,min=1,tokens"`
	// Bandwidth of main memory in GB/s; that of host, or a usual one, without it.
	SystemBandwidthGBps float64 `query:"system_bandwidth_gbps,above=0,max=1e6"`
}

type costParams struct {
	// Price of energy, for costs.
	USDPerKWh *float64 `query:"usd_per_kwh,min=0,max=1e6"`
	// Hours of use per day, for costs.
	HoursPerDay *float64 `query:"hours_per_day,above=0,max=24"`
	// Years of use, for costs.
	Years *float64 `query:"years,above=0,max=100"`
	// Rent of the hardware per hour, for costs; in place of its price and energy.
	USDPerHour *float64 `query:"usd_per_hour,min=0,max=1e6"`
}

// fitList is the parameters of GET /api/v1/fit, and the members of a query of POST /api/v1/fit.
var fitList = &resource{name: "fit", path: "fit", singular: "fit", params: append(withFitLimits(query.Of[fitParams]()), query.Of[costParams]()...)}

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
		r.Missing("hardware", "is required, unless memory_gb describes the machine")
	}
	var c costParams
	if r.Into(&c); c != (costParams{}) {
		q.Costs = &fit.Costs{USDPerKWh: c.USDPerKWh, HoursPerDay: c.HoursPerDay, Years: c.Years, USDPerHour: c.USDPerHour, Today: released(r.gen)}
	}
	return q
}

func (r *reader) pair() fit.Query {
	r.name("model")
	units := r.devices()
	r.name("host")
	r.name("draft")
	r.name("tool")
	var p fitParams
	r.Into(&p)
	q := p.query()
	if p.Tool != "" && !r.Sent("engine") {
		q.Rules = ""
	}
	q.Tool, q.Backend, q.ComputeUnit = p.Tool, p.Backend, p.ComputeUnit
	q.PromptTokens, q.AnswerTokens, q.SystemBandwidthGBps = p.PromptTokens, p.AnswerTokens, p.SystemBandwidthGBps
	q.Model, q.Quantization, q.WeightsGB, q.GPULayers, q.CPUMoE = p.Model, p.Quantization, p.WeightsGB, p.GPULayers, p.CPUMoE
	q.MemoryGB, q.BandwidthGBps, q.UnifiedShare = p.MemoryGB, p.BandwidthGBps, p.UnifiedShare
	q.Projector, q.ProjectorGB, q.MTP, q.Draft, q.DraftQuantization = p.Projector, p.ProjectorGB, p.MTP, p.Draft, p.DraftQuantization
	for i, u := range units {
		if i == 0 {
			q.Hardware, q.MemoryGB = u.Hardware, cmp.Or(q.MemoryGB, u.MemoryGB)
		} else {
			q.Beside = append(q.Beside, u)
		}
	}
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

// released is the day of the dataset: prices are old or not by it, so that an answer depends on
// nothing but dataset and query.
func released(gen *index.Generation) time.Time {
	n := int(index.DateNumber(&gen.Info.Released))
	return time.Date(n/10000, time.Month(max(n/100%100, 1)), max(n%100, 1), 0, 0, 0, 0, time.UTC)
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

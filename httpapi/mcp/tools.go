package mcp

import (
	"net/url"
	"slices"
	"strings"
)

// tool is one tool. Of several calls the first whose main argument is given is made.
type tool struct {
	name, title, text string
	calls             []call
}

// call is a call of the API, and what a tool keeps of its answer.
type call struct {
	main   string // argument that chooses this call
	path   string
	params []string
	// defaults are asked where the caller gives nothing.
	defaults map[string]string
	// keep and meta are the members kept of data and meta, dotted; of a list those of its rows.
	keep, meta []string
	// rows is the member of data that lists rows; empty: data itself is the list, or there is none.
	rows string
	// states are the arguments that the answer states, because its rows do not.
	states []string
	// pairs asks for every pair of the models and hardware given.
	pairs bool
	// page is the URL of the page with the same answer; %s is the query.
	page string
	// shows are the arguments the page has; nil: all.
	shows []string
}

func (c *call) method() string {
	if c.pairs {
		return "POST"
	}
	return "GET"
}

var (
	fitArguments = []string{"count", "context", "kv", "engine"}
	pairNames    = []string{"model", "hardware"}
	fitMembers   = []string{
		"model", "hardware", "count", "context", "kv", "parallel", "engine", "verdict", "missing",
		"sizes.quantization", "sizes.verdict", "sizes.memory.total_bytes", "sizes.missing",
		"sizes.speed.tps", "sizes.speed.use", "sizes.speed.measured.median", "sizes.speed.measured.n", "sizes.speed.measured.run_ids",
		"sizes.speed.estimate.p05", "sizes.speed.estimate.p95", "sizes.speed.estimate.tool",
	}
)

// tools are all tools, in the order they are listed in.
var tools = []tool{
	{
		name: "ask", title: "Answer a question in plain English",
		text: "Use it for a whole question such as \"can an RTX 3090 run gpt-oss-20b at 32k?\". Check reading, and ask the user if a slug is null or confidence is likely. " +
			"call is the API call that was made; detail says what it leaves out",
		calls: []call{{
			path: askPath, params: []string{"q"}, page: "/ask?%s",
			keep: []string{
				"intent", "models.text", "models.slug", "models.confidence", "models.candidates.slug", "hardware.text", "hardware.slug", "hardware.confidence", "hardware.candidates.slug",
				"engine", "count", "memory_gb", "host_memory_gb", "quantization", "context", "max_price_usd", "min_tps", "size_b", "unused",
			},
		}},
	},
	{
		name: "resolve", title: "Find the record for a name",
		text: "Turns any name of a model, hardware or tool into the slug of its record. Confidence likely means that the name is not specific enough; tell the user how it was read. " +
			"If slug is null, ask the user which candidate they mean",
		calls: []call{{
			path: "/api/v1/resolve", params: []string{"q", "kind"}, page: "/explore/models?%s", shows: []string{"q"},
			keep: []string{"input", "kind", "slug", "name", "confidence", "ambiguous", "quantization", "memory_gb", "count", "reason", "candidates.kind", "candidates.slug", "candidates.name"},
		}},
	},
	{
		name: "what_runs", title: "What runs on hardware, or what hardware runs a model",
		text: "With fits: the models that run on hardware. With runs: the hardware that runs a model. Each row shows the best quantization, verdict and speed",
		calls: []call{
			{
				main: "runs", path: "/api/v1/hardware", page: "/explore/hardware?%s",
				params:   append([]string{"runs", "quantization", "min_tps", "vendor", "type", "max_price_usd", "sort", "prefer"}, fitArguments...),
				defaults: map[string]string{"limit": mostRows}, states: []string{"count", "context", "kv", "engine", "quantization"},
				keep: []string{"slug", "name", "vram_gb", "fit.total_price_usd", "fit.price_date", "fit.quantization", "fit.verdict", "fit.total_bytes", "fit.tps", "fit.speed_basis", "fit.depth", "fit.count", "fit.why"},
				meta: []string{"total"},
			},
			{
				main: "fits", path: "/api/v1/models", page: "/explore/models?%s",
				params:   append([]string{"fits", "family", "min_params_b", "max_params_b", "min_capability", "min_tps", "sort", "prefer", "memory_gb"}, fitArguments...),
				defaults: map[string]string{"limit": mostRows}, states: []string{"count", "context", "kv", "engine"},
				keep: []string{"slug", "name", "params_b", "active_params_b", "capability.score_0_100", "capability.basis", "fit.quantization", "fit.verdict", "fit.total_bytes", "fit.tps", "fit.speed_basis", "fit.depth", "fit.count", "fit.why"},
				meta: []string{"total"},
			},
		},
	},
	{
		name: "fit", title: "Whether a model runs on hardware, and how fast",
		text: "The verdict for each quantization of a model on a machine, best first, with memory and speed. run_ids and evidence are the benchmarks behind it; " +
			"missing explains an unknown verdict",
		calls: []call{{
			path: "/api/v1/fit", params: append([]string{"model", "hardware", "quantization", "memory_gb", "bandwidth_gbps", "system_memory_gb", "parallel"}, fitArguments...),
			keep: append([]string{"sizes.speed.estimate.evidence.id"}, fitMembers...), rows: "sizes", page: "/fit?%s",
		}},
	},
	{
		name: "compare", title: "Compare models or hardware by what runs and how fast",
		text: "The best quantization, verdict and speed of every pair of the models and hardware given, 8 pairs at most. Give quantization to compare like with like",
		calls: []call{{
			path: "/api/v1/fit", params: append([]string{"model", "hardware", "quantization"}, fitArguments...), pairs: true,
			keep: fitMembers, page: "/compare?%s",
		}},
	},
	{
		name: "benchmarks", title: "Published measurements with their settings and sources",
		text: "Single runs. Do not average runs with different settings; use statistics. Runs with a scenario are throughput of many streams, not the speed one user sees",
		calls: []call{{
			path: "/api/v1/benchmarks", page: "/explore/benchmarks?%s",
			params:   []string{"model", "hardware", "tool", "quantization", "backend", "source", "settings", "scenario", "concurrency", "min_tps", "since", "sort", "id"},
			defaults: map[string]string{"limit": mostRows},
			keep: []string{
				"id", "model", "hardware", "hardware_count", "quantization", "tool", "tool_version", "backend", "generation_tps", "prompt_tps", "total_tps", "rate_basis", "scenario",
				"n_prompt", "n_gen", "context_depth", "batch_size", "concurrency", "flash_attention", "speculative_decoding", "partial_offload", "source", "source_url", "run_date", "withdrawn",
			},
			meta: []string{"total"},
		}},
	},
	{
		name: "statistics", title: "Median speeds of comparable runs",
		text: "Count, median and spread of measured speeds by hardware, model or other fields. settings is single_stream by default: the speed one user sees. " +
			"Do not quote numbers of a group with comparable false; add its differing_settings to group_by",
		calls: []call{{
			path: "/api/v1/benchmarks/stats", page: "/explore/benchmarks?%s", shows: []string{"model", "hardware", "tool", "quantization", "backend", "settings"},
			params:   []string{"group_by", "metric", "weight", "model", "hardware", "tool", "family", "quantization", "backend", "settings", "since", "sort"},
			defaults: map[string]string{"group_by": "model,hardware", "limit": mostRows},
			keep:     []string{"group", "n", "sources", "p10", "median", "p90", "newest_run_date", "shared_settings", "differing_settings", "comparable"},
			meta:     []string{"total", "metric", "unit", "weight", "settings", "group_by"},
		}},
	},
	{
		name: "changes", title: "What releases changed",
		text: "Changes of records since a release, field by field, oldest first",
		calls: []call{{
			path: "/api/v1/changes", params: []string{"since", "table", "slug", "field"}, defaults: map[string]string{"limit": mostRows}, page: "/changes?%s", shows: []string{"table", "slug", "field"},
			keep: []string{"dataset_version", "released", "table", "slug", "change", "fields.field", "fields.old", "fields.new"}, meta: []string{"total"},
		}},
	},
	{
		name: "dataset", title: "Show which dataset is used",
		text:  "Version, release date, licence and counts of the dataset that the other tools use",
		calls: []call{{path: "/api/v1/dataset", page: "/about", keep: []string{"version", "released", "licence", "counts", "freshness.newest_run"}}},
	},
}

// askPath is the address of questions, whose answer has that of another call in it.
const askPath = "/api/v1/ask"

// byMemory is what a question means where only the memory of a machine is known.
var byMemory = call{path: "/fit.json", page: "/fit?%s", states: []string{}, keep: []string{"model", "quantization", "bits_per_weight", "verdict", "total_bytes", "tps", "speed_basis", "depth"}}

// callOf is the call of an address of the API.
func callOf(path string) *call {
	for i := range tools {
		for j := range tools[i].calls {
			if c := &tools[i].calls[j]; c.path == path && !c.pairs {
				return c
			}
		}
	}
	return &byMemory
}

// mostRows is how many rows a list is asked for: more hardly ever have room in an answer.
const mostRows = "12"

// link is the page with the same answer as a call.
func (c *call) link(args url.Values) string {
	if !strings.Contains(c.page, "%s") {
		return c.page
	}
	kept := url.Values{}
	for name, values := range args {
		if name != "limit" && (c.shows == nil || slices.Contains(c.shows, name)) {
			kept[name] = values
		}
	}
	if c.pairs { // the page compares either of both
		kept = url.Values{"models": args["model"]}
		if strings.Contains(args.Get("hardware"), ",") {
			kept = url.Values{"hardware": args["hardware"]}
		}
	}
	return strings.TrimSuffix(strings.Replace(c.page, "%s", kept.Encode(), 1), "?")
}

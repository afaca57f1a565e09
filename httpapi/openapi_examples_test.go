package httpapi

import (
	"encoding/json"
	"strconv"
	"strings"

	"modeldex/httpapi/query"
)

// queryExamples are the parameters of the call that the reference shows for an endpoint, by the id of
// the operation. TestReferenceCalls makes each call.
var queryExamples = map[string]map[string]string{
	"listModels":      {"family": "llama", "max_params_b": "9"},
	"facetModels":     {"fields": "family,license", "has_benchmarks": "true"},
	"getModel":        {"benchmarks_limit": "10"},
	"listHardware":    {"vendor": "nvidia", "min_vram_gb": "16", "sort": "street_price_usd"},
	"facetHardware":   {"fields": "vendor,vram_gb"},
	"listTools":       {"backend": "vulkan"},
	"facetTools":      {"fields": "category"},
	"listQuality":     {"model": "llama-3-8b", "metric": "kl_divergence", "sort": "change"},
	"facetQuality":    {"fields": "quantization", "metric": "kl_divergence"},
	"listBenchmarks":  {"hardware": "nvidia-rtx-4090", "model": "gpt-oss-20b", "settings": "single_stream", "sort": "-generation_tps"},
	"facetBenchmarks": {"fields": "tool,backend", "hardware": "nvidia-rtx-4090"},
	"benchmarkStats":  {"group_by": "hardware", "model": "llama-3.1-8b-instruct", "sort": "-median"},
	"showFit":         {"model": "gpt-oss-20b", "hardware": "nvidia-rtx-4090", "context": "32768"},
	"ask":             {"q": "can an RTX 3090 run gpt-oss-20b at 32k?"},
	"resolveName":     {"q": "GeForce RTX 4090", "kind": "hardware"},
	"listChanges":     {"table": "models", "limit": "10"},
}

// withExample adds the example of an endpoint to a parameter: as JSON of the type its schema has.
func withExample(rt *route, p *object, pm *query.Param) {
	text, ok := queryExamples[rt.id][pm.Name]
	if !ok {
		return
	}
	number := func(s string) any {
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return json.Number(s)
		}
		return s
	}
	switch {
	case pm.Many && pm.Kind != query.Flag:
		var list []any
		for v := range strings.SplitSeq(text, ",") {
			if pm.Kind == query.Whole {
				list = append(list, number(v))
			} else {
				list = append(list, v)
			}
		}
		p.set("example", list)
	default:
		if p.set("example", number(text)); pm.Kind == query.Flag {
			p.set("example", text == "true")
		}
	}
}

// bodyExamples are the bodies of calls that the reference shows.
var bodyExamples = map[string]object{
	"issueKey":      obj("name", "my dashboard", "email", "ada@example.com", "use_case", "Comparing graphics cards for a local assistant."),
	"rotateKey":     obj("grace_seconds", 3600),
	"postFit":       obj("queries", []any{obj("model", "gpt-oss-20b", "hardware", "nvidia-rtx-4090"), obj("model", "llama-3.1-8b-instruct", "hardware", "apple-m3-max")}),
	"resolveNames":  obj("names", []any{obj("q", "unsloth/Qwen3-8B-GGUF:Q4_K_M"), obj("q", "GeForce RTX 4090", "kind", "hardware")}),
	"createWebhook": obj("url", "https://example.com/hooks/modeldex", "events", []any{"benchmark.created"}, "filters", obj("hardware", []any{"nvidia-rtx-4090"})),
	"changeWebhook": obj("status", "paused"),
	"rotateWebhook": obj("grace_seconds", 3600),
}

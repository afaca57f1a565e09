package httpapi

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"modeldex/httpapi/query"
	"modeldex/httpapi/suggest"
	"modeldex/index"
)

// TestNamesElsewhere: an unknown parameter leads to the one that was meant, also where it is spelled otherwise altogether.
func TestNamesElsewhere(t *testing.T) {
	for _, tt := range []struct {
		list *resource
		sent string
		want string
	}{
		{benchmarks, "gpu", "hardware"},
		{benchmarks, "min_generation_tps", "min_tps"},
		{benchmarks, "generation_tps", "min_tps"},
		{benchmarks, "engine", "tool"},
		{benchmarks, "quant", "quantization"},
		{benchmarks, "from", "since"},
		{benchmarks, "numGpus", "hardware_count"},
		{models, "gpu", "fits"},
		{models, "hardware", "fits"},
		{models, "params_b", "min_params_b"},
		{models, "from", "released_since"},
		{models, "context_length", "min_context"},
		{models, "type", "architecture"},
		{models, "vram", "fits"},
		{hardware, "memory_gb", "min_vram_gb"},
		{hardware, "model", "runs"},
		{hardware, "vram_gb", "min_vram_gb"},
		{hardware, "tdp_watts", "max_tdp_watts"},
		{hardware, "brand", "vendor"},
		{hardware, "minVramGb", "min_vram_gb"},
		{hardware, "page", "cursor"},
		{hardware, "per_page", "limit"},
		{hardware, "pageSize", "limit"},
		{hardware, "order_by", "sort"},
		{hardware, "search", "q"},
		{hardware, "select", "fields"},
		{statsList, "groupby", "group_by"},
		{statsList, "by", "group_by"},
		{fitList, "gpu", "hardware"},
		{fitList, "llm", "model"},
		{fitList, "num_ctx", "context"},
		{fitList, "vram", "memory_gb"},
		{models, "familly", "family"},
		{models, "family[]", "family"},
		{models, "Family", "family"},
		{models, "filter[family]", "family"},
		{models, "released_after", "released_since"},
		{models, "published_before", "released_until"},
		{models, "max_size", "max_params_b"},
		{benchmarks, "newer_than", "since"},
		{benchmarks, "after", "cursor"},
		{hardware, "price_max", "max_price_usd"},
		{models, "xyzzy", ""},
	} {
		if got := new(suggest.Suggester).Parameter(tt.sent, query.Names(tt.list.params)); got != tt.want {
			t.Errorf("%s?%s=: suggestion %q, want %q", tt.list.path, tt.sent, got, tt.want)
		}
	}
	var known []string
	for i := range routes {
		if list := routes[i].list; list != nil {
			known = append(known, query.Names(list.params)...)
		}
	}
	leadsTo(t, suggest.Parameters, known, "no endpoint has a parameter")
}

// TestFieldsElsewhere: a field or an order that rows do not have leads to the one that was meant, not to what is only spelled
// nearly so.
func TestFieldsElsewhere(t *testing.T) {
	s := shippedService(t)
	for query, want := range map[string]string{
		"benchmarks?fields=slug":                            "id",
		"benchmarks?fields=tps":                             "generation_tps",
		"benchmarks?fields=gpu":                             "hardware",
		"benchmarks?fields=generation_tsp":                  "generation_tps",
		"benchmarks?sort=tps":                               "generation_tps",
		"benchmarks?sort=-tokens_per_second":                "-generation_tps",
		"benchmarks?sort=-date":                             "-run_date",
		"benchmarks/stats?group_by=gpu":                     "hardware",
		"benchmarks/stats?group_by=tool&metric=ttft":        "ttft_ms",
		"benchmarks/facets?fields=quant":                    "quantization",
		"models?fields=id":                                  "slug",
		"models?fields=context_length":                      "architecture.context_length",
		"models?sort=-params":                               "-params_b",
		"models?sort=ctx":                                   "context_length",
		"hardware?sort=price":                               "street_price_usd",
		"hardware?fields=memory":                            "vram_gb",
		"hardware?type=gpus":                                "gpu",
		"benchmarks/stats?group_by=tool&sort=-count":        "-n",
		"models?modality=vision":                            "image",
		"models?architecture=mixture-of-experts":            "moe",
		"models?format=jsonl":                               "ndjson",
		"hardware?type=npu":                                 "soc",
		"hardware?type=Notebook":                            "laptop",
		"hardware?vendor=GeForce":                           "nvidia",
		"tools?category=ui":                                 "gui",
		"benchmarks?verified=yes":                           "true",
		"benchmarks?include_variants=no":                    "false",
		"models?sort=newest":                                "-release_date",
		"benchmarks?sort=latest":                            "-run_date",
		"benchmarks?sort=fastest":                           "-generation_tps",
		"hardware?sort=-speed":                              "-memory_bandwidth_gbps",
		"fit?model=qwen3-8b&hardware=nvidia-rtx-4090&kv=q8": "q8_0",
		"hardware?runs=qwen3-8b&kv=q4":                      "q4_0",
		"hardware?min_memory=24":                            "min_vram_gb",
		"benchmarks?context_depth=4096":                     "min_depth",
		"models?sort=-speed":                                "-tps",
		"models?sort=-generation_tps":                       "-tps",
		"hardware?sort=cheapest":                            "street_price_usd",
	} {
		var got struct{ Errors []Fault }
		if err := json.Unmarshal(s.ask(t, "GET", "/api/v1/"+query).body, &got); err != nil || len(got.Errors) != 1 || got.Errors[0].Suggestion != want {
			t.Errorf("%s: %v, faults %+v, want one with the suggestion %q", query, err, got.Errors, want)
		}
	}
	var known []string
	for _, list := range []*resource{models, hardware, tools, benchmarks, statsList} {
		known = append(append(known, list.sortNames()...), "depth_band", "tokens_per_joule")
		if list.row != nil {
			known = append(known, list.row.Names()...)
		}
	}
	var values []string
	for i := range routes {
		if list := routes[i].list; list != nil {
			for _, p := range list.params {
				values = append(values, p.Enum...)
			}
		}
	}
	values = append(values, "true", "false")
	for _, table := range []*index.Table{mustShipped(t).live.Current().Benchmarks, mustShipped(t).live.Current().Hardware} {
		values = append(values, table.Values(index.Backend)...)
	}
	for _, list := range []string{"benchmarks", "hardware"} {
		var got struct{ Meta struct{ Notices []Notice } }
		if err := json.Unmarshal(s.ask(t, "GET", "/api/v1/"+list+"?backend=mps").body, &got); err != nil || len(got.Meta.Notices) == 0 || !slices.Equal(got.Meta.Notices[0].Suggestions, []string{"metal"}) {
			t.Errorf("%s?backend=mps: %v, notices %+v, want one that suggests metal", list, err, got.Meta.Notices)
		}
	}
	leadsTo(t, suggest.Values, values, "no parameter has a value")
	leadsTo(t, suggest.Fields, known, "no row has a field")
}

// TestAddressesElsewhere: an address of another API leads to the one that has what its name promises.
func TestAddressesElsewhere(t *testing.T) {
	s := shippedService(t)
	for path, want := range map[string]string{
		"/api/v1/gpus":              "/api/v1/hardware",
		"/api/v1/model":             "/api/v1/models",
		"/api/v1/model/qwen3-8b":    "/api/v1/models/qwen3-8b",
		"/api/v1/GPUs/RTX%204090":   "/api/v1/hardware/RTX%204090",
		"/v1/models":                "/api/v1/models",
		"/api/hardware":             "/api/v1/hardware",
		"/api/v2/benchmarks":        "/api/v1/benchmarks",
		"/api/v1/benchmark":         "/api/v1/benchmarks",
		"/api/v1/hardwear":          "/api/v1/hardware",
		"/api/v1/stats":             "/api/v1/benchmarks/stats",
		"/api/v1/can-run":           "/api/v1/fit",
		"/api/v1/docs":              "/docs",
		"/swagger.json":             "/openapi.json",
		"/api/v3":                   "/api/v1",
		"/api":                      "/api/v1",
		"/health":                   "/healthz",
		"/xyzzy":                    "",
		"/.env":                     "",
		"/wp-login.php":             "",
		"/api/v1/model/" + s.secret: "/api/v1/models/" + url.PathEscape(hideKeys(s.secret, "mdx")),
	} {
		var got Problem
		if err := json.Unmarshal(s.ask(t, "GET", path).body, &got); err != nil {
			t.Fatal(err)
		}
		suggestion := ""
		if len(got.Errors) > 0 {
			suggestion = got.Errors[0].Suggestion
		}
		if got.Code != "unknown_route" || suggestion != want || !strings.Contains(got.Detail, want) || strings.Contains(got.Detail, s.secret) {
			t.Errorf("%s: %+v, want the suggestion %q", path, got, want)
		}
	}
	served := map[string]bool{}
	for i := range routes {
		served[routes[i].path] = true
	}
	for sent, meant := range suggest.Addresses {
		address := strings.Join(meant, " ")
		if sent != suggest.Fold(sent) {
			t.Errorf("%s is not folded and never found", sent)
		}
		if !served[address] && !strings.HasPrefix(address, "/feeds/") {
			t.Errorf("%s: %s is not served", sent, address)
		}
	}
}

// leadsTo holds that names of other APIs can be found and lead to names there are.
func leadsTo(t *testing.T, names map[string][]string, known []string, none string) {
	t.Helper()
	for sent, meant := range names {
		if sent != suggest.Fold(sent) {
			t.Errorf("%s is not folded and never found", sent)
		}
		for _, name := range meant {
			if !slices.Contains(known, name) {
				t.Errorf("%s: %s %s", sent, none, name)
			}
		}
	}
}

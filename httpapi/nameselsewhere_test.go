package httpapi

import (
	"slices"
	"testing"
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
		{fitQuery, "gpu", "hardware"},
		{fitQuery, "llm", "model"},
		{fitQuery, "num_ctx", "context"},
		{fitQuery, "vram", "memory_gb"},
		{models, "familly", "family"},
		{models, "family[]", "family"},
		{models, "Family", "family"},
		{models, "xyzzy", ""},
	} {
		if got := new(suggester).parameter(tt.sent, tt.list.paramNames); got != tt.want {
			t.Errorf("%s?%s=: suggestion %q, want %q", tt.list.path, tt.sent, got, tt.want)
		}
	}
	known := slices.Clone(resolveParams)
	for i := range routes {
		if list := routes[i].list; list != nil {
			known = append(known, list.paramNames...)
		}
	}
	for sent, meant := range namesElsewhere {
		if sent != foldName(sent) {
			t.Errorf("%s is not folded and never found", sent)
		}
		for _, name := range meant {
			if !slices.Contains(known, name) {
				t.Errorf("%s: no endpoint has a parameter %s", sent, name)
			}
		}
	}
}

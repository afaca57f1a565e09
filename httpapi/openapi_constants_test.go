package httpapi

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/index"
)

// A constant is a figure or a rule that computed answers rest on, as the document states it.
type constant struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	Text  string `json:"text"`
}

// constants are made from the code that uses them.
func constants() []constant {
	var bands, settings []string
	for _, b := range index.DepthBands {
		bands = append(bands, b.Name)
	}
	for _, f := range index.BenchmarkFields {
		if f.Is(index.Setting) {
			settings = append(settings, string(f.Name))
		}
	}
	return []constant{
		{"micro_batch", fit.DefaultMicroBatch, "Tokens in a micro-batch, in the formulas of fit."},
		{"kv_padding.llama.cpp", fit.LlamaPad, "Contexts and sliding caches are rounded up to a multiple of this many tokens. max_context uses these steps with every engine."},
		{"kv_padding.mlx", fit.MLXStep, "Contexts are rounded up to a multiple of this many tokens."},
		{"kv_padding.vllm", fit.VLLMBlock, "Contexts are rounded up to blocks of this many tokens; sliding-window layers get one extra block."},
		{"scheduled_tokens.vllm", fit.VLLMTokens, "Tokens of one step, which sliding-window layers keep in addition to the window."},
		{"reserve_bytes.llama.cpp", fit.LlamaMargin, "Memory that stays free on each device."},
		{"gpu_memory_utilization.vllm", fit.VLLMUtilization, "Share of the reported memory of each card that vLLM uses."},
		{"reported_part", fit.VisiblePart, "Share of its memory that a card reports to vLLM."},
		{"reported_part_ecc", fit.VisiblePartECC, "The same for cards with error correction in GDDR memory."},
		{"runtime_bytes.vllm", fit.VLLMRuntime, "Memory for driver, libraries and graphs on each card with vLLM."},
		{"exchange_bytes.vllm", fit.VLLMExchange, "Memory for exchanging values (NCCL) on each card, if cards of 70 GB or more share each layer."},
		{"requests.vllm", fit.VLLMRequests, "Number of requests whose logits are counted in the compute buffer of vLLM."},
		{"large_card.vllm", []int64{fit.VLLMLarge, fit.VLLMTokensLarge, fit.VLLMRequestsLarge}, "With this many bytes or more, a card other than an A100 uses the next two numbers as defaults: tokens of one step, and requests."},
		{"hidden_values.vllm", fit.VLLMHidden, "Values per token in the compute buffer of vLLM, for each unit of the hidden size."},
		{"forward_values.vllm", fit.VLLMForward, "The same for the width of the feed-forward block, or of the experts that one token reads."},
		{"vocabulary_bytes.vllm", fit.VLLMLogits, "Bytes per request in the compute buffer of vLLM, for each entry of the vocabulary."},
		{"main_memory_part", fit.MainMemoryPart, "Share of main memory that weights and cache may use."},
		{"most_cached_values", fit.MostCached, "If the shape of the cache is unknown: the highest assumed number of values per token in all layers, as a share of parameters^(2/3)."},
		{"most_state_bytes", fit.MostState, "The same for the state of one layer, for each unit of the hidden size."},
		{"default_context", fit.DefaultContext, "Context of a query that does not give one, or the limit of the model if it is lower."},
		{"max_context", fit.MaxContext, "Longest context a query can request, and the limit of a model whose own limit is unknown."},
		{"most_vocabulary", fit.MostVocab, "Largest published vocabulary. If the vocabulary of a model is unknown, the buffer is a lower_bound; max_context assumes this value, and if the value would change the verdict, the verdict is unknown."},
		{"most_hidden_size", fit.MostHidden, "The same for the hidden size."},
		{"depth_bands", bands, "Values of depth_band: tokens of context_depth, both ends included."},
		{"empty_cache_tokens", record.Shallow, "Highest context_depth that counts as an empty cache, for settings=single_stream and reproduced_by."},
		{"short_prompt_tokens", record.ShortPrompt, "The same for the sum of context_depth and n_prompt, if generation follows the prompt, which is assumed unless context_depth is known and the tool is in separate_prompt_tools."},
		{"single_stream_defaults", toolDefaults(), "For settings=single_stream: tools whose documented default applies if one of these fields is null. rate_basis: decode, unless the notes say end-to-end or whole request; concurrency: 1; speculative_decoding: false; context_depth: 0. With any other tool, null makes the settings unknown."},
		{"separate_prompt_tools", toolsWith(func(d record.ToolDefault) bool { return d.Apart }), "Tools that measure the prompt in a separate run."},
		{"reproduced_within", dataset.EqualWithin, "reproduced_by: largest difference between two speeds, as a share of the higher one. Sources differ by source_key. The field is null for a row without source_key, withdrawn rows, throughput results, and rows with drafting, weights in main memory or a filled cache."},
		{"reproduced_equal", []string{"model", "hardware", "hardware_count", "tool", "quantization", "backend", "compute_unit", "rate_basis", "concurrency"}, "reproduced_by: fields that must be equal. An unknown concurrency counts as 1, and two unknown compute_unit values are equal; all other fields must be known."},
		{"repeat_settings", settings, "weight=source: records with the same source page, model and hardware that are equal in these fields and in settings count once; two unknown values are equal."},
		{"roofline_ratio", "generation_tps / concurrency x bytes per token / (memory_bandwidth_gbps x 10^9 x hardware_count)", "Rounded to four decimals. Bytes per token: model_size_gib without a projector, else the published size of the quantization, each times the share of active parameters; else active parameters x bits per weight / 8, with the bits from effective_bits_per_weight of the type or of its smallest mix, or from its name. Null with partial_offload. If partial_offload is unknown, the value is null when n_gpu_layers is below the number of layers, except on a cpu or with unified memory."},
		{"tokens_per_joule", "generation_tps / power_watts", "A metric of the statistics."},
	}
}

// toolDefaults lists by field the tools that have a default.
func toolDefaults() map[string][]dataset.Slug {
	return map[string][]dataset.Slug{
		"rate_basis":           toolsWith(func(d record.ToolDefault) bool { return d.Decode }),
		"concurrency":          toolsWith(func(d record.ToolDefault) bool { return d.Alone }),
		"speculative_decoding": toolsWith(func(d record.ToolDefault) bool { return d.Plain }),
		"context_depth":        toolsWith(func(d record.ToolDefault) bool { return d.Empty }),
	}
}

func toolsWith(has func(d record.ToolDefault) bool) (out []dataset.Slug) {
	for tool, d := range record.ToolDefaults {
		if has(d) {
			out = append(out, tool)
		}
	}
	slices.Sort(out)
	return out
}

// constantsText is the chapter of the guide with the constants.
func constantsText() string {
	var b strings.Builder
	b.WriteString("\n## Constants\n\nComputed values use these constants. `x-constants` contains them in machine-readable form, with the lists of tools.\n\n")
	for _, c := range constants() {
		value := fmt.Sprint(c.Value)
		switch v := c.Value.(type) {
		case []string:
			value = strings.Join(v, ", ")
		case map[string][]dataset.Slug, []dataset.Slug:
			value = "see x-constants"
		}
		fmt.Fprintf(&b, "- `%s` (%s): %s\n", c.Name, value, c.Text)
	}
	return b.String()
}

// TestConstants works answers out from the constants of the published document alone: whoever implements from it has to
// come to what is served.
func TestConstants(t *testing.T) {
	t.Parallel()
	var doc struct {
		Constants []struct {
			Name  string
			Value json.RawMessage
		} `json:"x-constants"`
	}
	if err := json.Unmarshal(openapiJSON(), &doc); err != nil {
		t.Fatal(err)
	}
	read := func(name string, into any) {
		for _, c := range doc.Constants {
			if c.Name == name && json.Unmarshal(c.Value, into) == nil {
				return
			}
		}
		t.Fatalf("the document has no constant %s of this kind", name)
	}
	number := func(name string) (v float64) {
		read(name, &v)
		return v
	}
	s := newService(t, mustShipped(t).live)
	for _, engine := range []string{"llama.cpp", "mlx", "vllm"} {
		const context = 5001
		var got struct {
			Data fit.Answer `json:"data"`
		}
		a := s.ask(t, http.MethodGet, fmt.Sprintf("/api/v1/fit?model=llama-3.1-8b-instruct&memory_gb=24&bandwidth_gbps=1000&context=%d&engine=%s", context, engine))
		if err := json.Unmarshal(a.body, &got); err != nil || a.status != http.StatusOK {
			t.Fatalf("%d %v: %s", a.status, err, a.body)
		}
		padding := number("kv_padding." + engine)
		size := got.Data.Sizes[0]
		// 32 layers of 8 heads with keys and values of 128; a vocabulary of 128,256 and 4,096 wide.
		if want := 32 * math.Ceil(context/padding) * padding * 8 * (128 + 128) * 2; float64(size.Memory.Cache.Bytes.Bytes) != want {
			t.Errorf("%s: a cache of %d bytes, by the constants %.0f", engine, size.Memory.Cache.Bytes.Bytes, want)
		}
		batch := number("micro_batch")
		want := max(4*batch*(128256+4096), 2*batch*context+16*batch*4096)
		if engine == "vllm" {
			batch = number("scheduled_tokens.vllm")
			want = max(2*batch*(number("hidden_values.vllm")*4096+number("forward_values.vllm")*14336), number("vocabulary_bytes.vllm")*number("requests.vllm")*128256)
		}
		if float64(size.Memory.Compute.Bytes) != want {
			t.Errorf("%s: a buffer of %d bytes, by the constants %.0f", engine, size.Memory.Compute.Bytes, want)
		}
	}
	var tools map[string][]dataset.Slug
	read("single_stream_defaults", &tools)
	speed := 10.0
	decode, one, no, zero := record.RateDecode, int64(1), false, int64(0)
	for tool := range record.ToolDefaults {
		for field, clear := range map[string]func(b *dataset.Benchmark){
			"rate_basis":           func(b *dataset.Benchmark) { b.RateBasis = nil },
			"concurrency":          func(b *dataset.Benchmark) { b.Concurrency = nil },
			"speculative_decoding": func(b *dataset.Benchmark) { b.SpeculativeDecoding = nil },
			"context_depth":        func(b *dataset.Benchmark) { b.ContextDepth = nil },
		} {
			b := dataset.Benchmark{}
			b.Tool, b.GenerationTPS, b.HardwareCount = tool, &speed, 1
			b.RateBasis, b.Concurrency, b.SpeculativeDecoding, b.ContextDepth = &decode, &one, &no, &zero
			clear(&b)
			if is, _ := b.SingleStream(); (is == record.SingleYes) != slices.Contains(tools[field], tool) {
				t.Errorf("%s without %s: %d, and the constants say %t", tool, field, is, slices.Contains(tools[field], tool))
			}
		}
	}
	var bands []string
	read("depth_bands", &bands)
	depth := slices.IndexFunc(index.BenchmarkFields, func(f index.FieldInfo) bool { return f.Name == "depth_band" })
	if doc := index.BenchmarkFields[depth].Doc; !strings.Contains(doc, strings.Join(bands, ", ")) {
		t.Errorf("bands %v, and the field says %q", bands, doc)
	}
	for _, c := range constants() { // the document is what the code says now
		var want, have any
		b, _ := json.Marshal(c.Value)
		read(c.Name, &have)
		if _ = json.Unmarshal(b, &want); fmt.Sprint(want) != fmt.Sprint(have) {
			t.Errorf("%s: %v in the document, %v in the code", c.Name, have, want)
		}
	}
}

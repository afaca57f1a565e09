package fit

import "modeldex/dataset"

// Answer is the answer for a model on a machine.
type Answer struct {
	// Slug of the model.
	Model dataset.Slug `json:"model" jsonschema:"example=llama-3.1-8b-instruct"`
	// Slug of the hardware; null for a machine described only by its memory.
	Hardware *dataset.Slug `json:"hardware" jsonschema:"nullable,example=nvidia-rtx-4090"`
	// Additional devices, if several were named.
	Beside []dataset.Slug `json:"beside" jsonschema:"example=nvidia-rtx-3060"`
	// Number of devices per name.
	Count int `json:"count" jsonschema:"minimum=1,example=1"`
	// Tokens that the cache has room for.
	Context int64 `json:"context" jsonschema:"minimum=1,example=8192" jsonschema_extras:"unit=tokens"`
	// Storage type of cached keys.
	KV KVType `json:"kv" jsonschema:"example=f16"`
	// Storage type of cached values.
	KVV KVType `json:"kv_v" jsonschema:"example=f16"`
	// Simultaneous requests. In llama.cpp they share the context; other engines reserve it for each request.
	Parallel int `json:"parallel" jsonschema:"minimum=1,example=1"`
	// Whether flash attention is used, which needs no scratch memory for attention scores.
	FlashAttention bool `json:"flash_attention" jsonschema:"example=true"`
	// Engine whose memory rules apply.
	Rules Rules `json:"engine" jsonschema:"example=llama.cpp"`
	// Memory of the machine; null if it is unknown.
	Available *Available `json:"available" jsonschema:"nullable"`
	// Unknown facts about model and hardware, by field.
	Missing []string `json:"missing" jsonschema:"example=hardware.vram_gb"`
	// Verdict for the best quantization.
	Verdict Verdict `json:"verdict" jsonschema:"example=fits"`
	// Changes that each make it fit on the devices, or run partly in main memory if it does not run at all; cheapest
	// first. Empty if the verdict is fits or tight.
	Remedies []Remedy `json:"would_fit"`
	// Quantizations of the model, best first. Listed ones come before unlisted ones, then better verdicts, then higher
	// precision; with the verdict offload, the smallest one of at least four bits comes first.
	Sizes []Size `json:"sizes"`
}

// Available is the memory of a machine.
type Available struct {
	// Memory of all devices; a vendor's GB counts as 2^30 bytes.
	Memory int64 `json:"memory_bytes" jsonschema:"minimum=0,example=25769803776" jsonschema_extras:"unit=bytes"`
	// The part that a model can use.
	Usable int64 `json:"usable_bytes" jsonschema:"minimum=0,example=25769803776" jsonschema_extras:"unit=bytes"`
	// Share of unified memory that a model can use; null if all memory is usable.
	Share *Share `json:"unified_share" jsonschema:"nullable"`
}

// Share is the share of unified memory that a model can use, and why.
type Share struct {
	// Share of the memory.
	Share float64 `json:"share" jsonschema:"exclusiveMinimum=0,maximum=1,example=0.75"`
	// Where the share comes from.
	Basis string `json:"basis" jsonschema:"example=macOS default above 36 GB"`
	// Source page; null if the caller gave the share.
	Source *dataset.URL `json:"source" jsonschema:"nullable,example=https://github.com/gpustack/gpustack/issues/1375"`
}

// Size is the answer for one quantization of a model.
type Size struct {
	// Name of the quantization.
	Quantization string `json:"quantization" jsonschema:"example=Q4_K_M"`
	// File format.
	Format string `json:"format" jsonschema:"example=gguf"`
	// Bits per weight: bytes x 8 / number of weights. The weights are the parameters of the model, or of its 16-bit file
	// if files leave out part of the model. Null if unknown.
	BitsPerWeight *float64 `json:"bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.8944" jsonschema_extras:"unit=bits"`
	// fits: without using the reserve. tight: only by using the reserve. offload: part of the weights must be in main
	// memory. unknown: a fact is missing. no: it does not fit.
	Verdict Verdict `json:"verdict" jsonschema:"example=fits"`
	// Memory it needs.
	Memory Memory `json:"memory"`
	// Usable memory minus the memory needed on the devices; negative if it does not fit, null if the memory is unknown.
	Headroom *int64 `json:"headroom_bytes" jsonschema:"nullable,example=19504265888" jsonschema_extras:"unit=bytes"`
	// Weights and cache that must be in main memory; null unless the verdict is offload.
	Host *int64 `json:"host_bytes" jsonschema:"nullable,minimum=0,example=2147483648" jsonschema_extras:"unit=bytes"`
	// Longest context that fits without using the reserve, by cache type.
	MaxContext MaxContexts `json:"max_context"`
	// Tokens of cache that vLLM has room for next to the weights, as its log prints; null with other engines.
	CacheTokens *int64 `json:"cache_tokens" jsonschema:"nullable,minimum=0,example=47712" jsonschema_extras:"unit=tokens"`
	// Number of requests with this context that vLLM can run at once; null with other engines.
	Requests *float64 `json:"requests_at_once" jsonschema:"nullable,minimum=0,example=5.8"`
	// Where weights and cache are placed, and the flags for it; null if the memory is unknown.
	Placement *Placement `json:"placement" jsonschema:"nullable"`
	// Unknown facts, by field. Because of them, a value is an upper or lower bound or is missing.
	Missing []string `json:"missing" jsonschema:"example=kv_cache.head_dim"`
	// Runs that fit in less memory than the formula gives; they take precedence over it.
	Evidence []Evidence `json:"evidence"`
	// Generation speed of one request.
	Speed *Speed `json:"speed" jsonschema:"nullable"`
	// Cost of a million tokens; null if the query gives no prices.
	Cost *Cost `json:"cost" jsonschema:"nullable"`
	// Whether lists include it: it is published, measured or in common use, and differs in size by at least 10 % from
	// other listed ones, or it was measured on the hardware.
	Listed bool `json:"listed" jsonschema:"example=true"`
}

// Memory is the memory a model needs on a machine.
type Memory struct {
	// Weights of the file.
	Weights Bytes `json:"weights"`
	// Key-value cache.
	Cache Cache `json:"kv_cache"`
	// Intermediate values, on all devices.
	Compute Bytes `json:"compute_buffer"`
	// What runs next to the model, on the first device.
	Companions []Companion `json:"companions"`
	// Memory that should stay free, on all devices.
	Reserve Bytes `json:"reserve"`
	// Approximate memory used by the driver and its libraries on discrete devices; part of the reserve.
	Runtime int64 `json:"runtime_bytes" jsonschema:"minimum=0,example=444596224" jsonschema_extras:"unit=bytes"`
	// Memory needed on the devices, without the reserve: weights, cache, buffer and companions, minus the part in main
	// memory. With gpu_layers or n_cpu_moe, for that placement.
	Total int64 `json:"total_bytes" jsonschema:"minimum=0,example=6265537888" jsonschema_extras:"unit=bytes"`
	// Lowest possible total if a fact is unknown.
	Low int64 `json:"total_low_bytes" jsonschema:"minimum=0,example=6265537888" jsonschema_extras:"unit=bytes"`
	// Highest possible total.
	High int64 `json:"total_high_bytes" jsonschema:"minimum=0,example=6265537888" jsonschema_extras:"unit=bytes"`
	// Weights in main memory with a discrete device, such as the token embedding.
	Host int64 `json:"host_bytes" jsonschema:"minimum=0,example=295501824" jsonschema_extras:"unit=bytes"`
}

// Bytes is one part of the memory a model needs, and where the number comes from.
type Bytes struct {
	// Size.
	Bytes int64 `json:"bytes" jsonschema:"minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
	// Lowest possible size if a fact is unknown; otherwise the size.
	Low int64 `json:"low_bytes" jsonschema:"minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
	// Highest possible size.
	High int64 `json:"high_bytes" jsonschema:"minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
	// How reliable the number is.
	Basis Basis `json:"basis" jsonschema:"example=computed"`
	// Id of the formula; the reference lists all formulas with their sources.
	Formula string `json:"formula" jsonschema:"example=kv.llama.cpp"`
}

// Cache is the key-value cache by kind of layer.
type Cache struct {
	// Of full-attention layers.
	Global int64 `json:"global_bytes" jsonschema:"minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
	// Of sliding-window layers.
	Sliding int64 `json:"sliding_bytes" jsonschema:"minimum=0,example=0" jsonschema_extras:"unit=bytes"`
	// Of layers with multi-head latent attention.
	Latent int64 `json:"latent_bytes" jsonschema:"minimum=0,example=0" jsonschema_extras:"unit=bytes"`
	// State of linear-attention and state-space layers.
	Recurrent int64 `json:"recurrent_bytes" jsonschema:"minimum=0,example=0" jsonschema_extras:"unit=bytes"`
	Bytes
}

// MaxContexts is the longest context that fits without using the reserve, by cache type. At most the limit of the
// model; 0 if not even the shortest fits; null if the memory is unknown.
type MaxContexts struct {
	// With the cache of the query.
	Asked *int64 `json:"asked" jsonschema:"nullable,minimum=0,example=131072" jsonschema_extras:"unit=tokens"`
	// With a cache of 16-bit values.
	F16 *int64 `json:"f16" jsonschema:"nullable,minimum=0,example=131072" jsonschema_extras:"unit=tokens"`
	// With a cache of 8-bit blocks.
	Q80 *int64 `json:"q8_0" jsonschema:"nullable,minimum=0,example=131072" jsonschema_extras:"unit=tokens"`
	// With a cache of 4-bit blocks.
	Q40 *int64 `json:"q4_0" jsonschema:"nullable,minimum=0,example=131072" jsonschema_extras:"unit=tokens"`
}

// MeasuredOn is the hardware that a piece of evidence was measured on.
type MeasuredOn struct {
	// Slug of the hardware of the benchmark.
	MeasuredOn dataset.Slug `json:"measured_on" jsonschema:"example=nvidia-rtx-4090"`
	// How that hardware is related to the hardware of the query; null if it is not.
	Relation *dataset.Relation `json:"relation" jsonschema:"nullable,enum=same,enum=variant,enum=machine,enum=sibling,example=same"`
}

// Evidence is a run that fit in less memory than the formula gives.
type Evidence struct {
	// Id of the benchmark.
	ID dataset.Slug `json:"id" jsonschema:"example=bm-d20987d408c6"`
	MeasuredOn
	// Memory of its devices.
	Memory int64 `json:"memory_bytes" jsonschema:"minimum=0,example=17179869184" jsonschema_extras:"unit=bytes"`
	// Tokens in its cache.
	Context int64 `json:"context" jsonschema:"minimum=0,example=8192" jsonschema_extras:"unit=tokens"`
	// Memory needed according to the formula.
	Formula int64 `json:"formula_bytes" jsonschema:"minimum=0,example=17394617549" jsonschema_extras:"unit=bytes"`
}

// Speed is the generation speed of one request. Measurements and estimates are never mixed into one number.
type Speed struct {
	// Measurements of the same model and quantization on the same or related hardware; null if there are none.
	Measured *Measured `json:"measured" jsonschema:"nullable"`
	// Estimate; null if a fact is missing.
	Estimate *Estimate `json:"estimate" jsonschema:"nullable"`
	// Which one applies: measured; sibling, if all measurements are on siblings of the hardware; or estimate. Null if
	// there is neither.
	Use *string `json:"use" jsonschema:"nullable,enum=measured,enum=sibling,enum=estimate,example=measured"`
	// Median of the measurements or the estimate in use, with an empty cache.
	TPS *float64 `json:"tps" jsonschema:"nullable,exclusiveMinimum=0,example=127.5" jsonschema_extras:"unit=tokens/s"`
	// Speed with the cache filled with the context of the query; null if the size of the cache is unknown.
	Filled *Slowdown `json:"filled" jsonschema:"nullable"`
	// Prompt processing speed; null if unknown.
	Prompt *PromptSpeed `json:"prompt" jsonschema:"nullable"`
	// Speed with parallel requests, with engine=vllm; null for one request or if a fact is missing.
	Load *Load `json:"load" jsonschema:"nullable"`
	// Seconds to the first token after prompt_tokens; null without them.
	TTFT *Band `json:"ttft_s" jsonschema:"nullable" jsonschema_extras:"unit=s"`
	// Seconds to the end of answer_tokens; null without them.
	Total *Band `json:"total_s" jsonschema:"nullable" jsonschema_extras:"unit=s"`
}

// Measured is the spread of measurements of the same quantization of models with the same shape, on this or related
// hardware with the same memory bandwidth. Siblings count only if there are no others.
type Measured struct {
	// Number of measurements.
	N int `json:"n" jsonschema:"minimum=1,example=4"`
	// Number of measurements left out because the fastest is more than three times as fast.
	Slow int `json:"left_out" jsonschema:"minimum=0,example=0"`
	// Number of source pages.
	Pages int `json:"source_pages" jsonschema:"minimum=1,example=2"`
	// 10th percentile, by linear interpolation (type 7).
	P10 float64 `json:"p10" jsonschema:"exclusiveMinimum=0,example=121.2" jsonschema_extras:"unit=tokens/s"`
	// Median.
	Median float64 `json:"median" jsonschema:"exclusiveMinimum=0,example=127.5" jsonschema_extras:"unit=tokens/s"`
	// 90th percentile.
	P90 float64 `json:"p90" jsonschema:"exclusiveMinimum=0,example=130.8" jsonschema_extras:"unit=tokens/s"`
	// Most distant relation of the measured hardware to this hardware.
	Relation dataset.Relation `json:"relation" jsonschema:"enum=same,enum=variant,enum=machine,enum=sibling,example=same"`
	// Ids of the benchmarks, newest first, at most 20.
	Runs []dataset.Slug `json:"run_ids" jsonschema:"maxItems=20,example=bm-d20987d408c6"`
	// The same benchmarks, with the model and hardware of each.
	On []MeasuredRun `json:"runs" jsonschema:"maxItems=20"`
	// Why the estimate is used instead of these measurements; null if it is not.
	Note *string `json:"note" jsonschema:"nullable,example=the runs differ by more than a factor of three, so they do not measure the same thing"`
	// Twice the rank of the program and the part of the machine that ran (see evaluation.rank), one more for no siblings.
	Grade int `json:"-"`
}

// MeasuredRun is a benchmark whose speed counts.
type MeasuredRun struct {
	// Id of the benchmark.
	ID dataset.Slug `json:"id" jsonschema:"example=bm-d20987d408c6"`
	// Slug of the measured model, which has the same shape as the model of the query.
	Model dataset.Slug `json:"model" jsonschema:"example=llama-3.1-8b-instruct"`
	MeasuredOn
}

// Estimate is a speed from a regression on the share of memory bandwidth that measurements reach.
type Estimate struct {
	Band
	// Method of the estimate.
	Method string `json:"method" jsonschema:"example=regression"`
	// Share of the memory bandwidth the estimate uses.
	Share float64 `json:"bandwidth_share" jsonschema:"exclusiveMinimum=0,maximum=1,example=0.62"`
	// Bytes of weights read per token.
	Bytes int64 `json:"bytes_per_token" jsonschema:"minimum=1,example=4920739168" jsonschema_extras:"unit=bytes"`
	// Tool it is for.
	Tool string `json:"tool" jsonschema:"example=llama.cpp"`
	// Compute backend it is for, by default the usual one; empty if unknown.
	Backend string `json:"backend" jsonschema:"example=cuda"`
	// Part of the machine that runs the model.
	Unit ComputeUnit `json:"compute_unit" jsonschema:"example=gpu"`
	// Class of the hardware.
	Class string `json:"class" jsonschema:"enum=discrete_nvidia,enum=discrete_amd,enum=discrete_intel,enum=apple,enum=other_unified,enum=cpu,enum=discrete_other,example=discrete_nvidia"`
	// The 10 measurements with the most weight, heaviest first.
	Evidence []Weight `json:"evidence" jsonschema:"maxItems=10"`
	// Accuracy of such estimates on hidden measurements; null if not validated.
	Checked *Checked `json:"validated" jsonschema:"nullable"`
	// Assumptions of the estimate.
	Assumes []string `json:"assumes"`
}

// Band is an estimate with its 90 % band.
type Band struct {
	// Lower end of the 90 % band.
	P05 float64 `json:"p05" jsonschema:"minimum=0,example=103.4"`
	// Estimate.
	Median float64 `json:"median" jsonschema:"minimum=0,example=127.5"`
	// Upper end of the 90 % band.
	P95 float64 `json:"p95" jsonschema:"minimum=0,example=156.5"`
}

// PromptSpeed is the prompt processing speed.
type PromptSpeed struct {
	// Measurements; null if there are none.
	Measured *Measured `json:"measured" jsonschema:"nullable"`
	// Estimate for a prompt of prompt_tokens (default 512); null if a fact is missing.
	Estimate *Band `json:"estimate" jsonschema:"nullable"`
	// Which one applies, as for the generation speed.
	Use *string `json:"use" jsonschema:"nullable,enum=measured,enum=sibling,enum=estimate,example=measured"`
	// Median of the measurements or the estimate in use.
	TPS *float64 `json:"tps" jsonschema:"nullable,exclusiveMinimum=0,example=2850" jsonschema_extras:"unit=tokens/s"`
	// Accuracy of such estimates; null if not validated.
	Checked *Checked `json:"validated" jsonschema:"nullable"`
}

// Weight is a measurement that an estimate is based on.
type Weight struct {
	// Id of the benchmark.
	ID dataset.Slug `json:"id" jsonschema:"example=bm-d20987d408c6"`
	// Slug of the measured model.
	Model dataset.Slug `json:"model" jsonschema:"example=llama-3.1-8b-instruct"`
	MeasuredOn
	// Its weight. The weights of all measurements, listed or not, add up to 1.
	Weight float64 `json:"weight" jsonschema:"minimum=0,maximum=1,example=0.58"`
}

// Checked is the accuracy of estimates on measurements from hidden sources.
type Checked struct {
	// Version of the dataset used for the test.
	DatasetVersion string `json:"dataset_version" jsonschema:"example=2026.11.21"`
	// What was hidden: all measurements from the same repository or site.
	Holdout string `json:"holdout" jsonschema:"enum=source,example=source"`
	// Class of hardware and program.
	Class string `json:"class" jsonschema:"example=discrete_nvidia dense"`
	// Measurements compared.
	Rows int `json:"rows" jsonschema:"minimum=1,example=596"`
	// Median absolute error; 0.1 is 10 %.
	MedianError float64 `json:"median_error" jsonschema:"minimum=0,example=0.076"`
	// Share of the measurements inside the 90 % band.
	Coverage float64 `json:"coverage_90" jsonschema:"minimum=0,maximum=1,example=0.9"`
}

// Slowdown is the speed with a filled cache.
type Slowdown struct {
	// Tokens in the cache.
	Depth int64 `json:"depth" jsonschema:"minimum=1,example=8192" jsonschema_extras:"unit=tokens"`
	// Share of the speed with an empty cache.
	Factor float64 `json:"factor" jsonschema:"exclusiveMinimum=0,maximum=1,example=0.945"`
	// Speed with the filled cache.
	TPS float64 `json:"tps" jsonschema:"exclusiveMinimum=0,example=120.5" jsonschema_extras:"unit=tokens/s"`
	// Accuracy of estimates with a filled cache on hidden measurements.
	Checked *Checked `json:"validated" jsonschema:"nullable"`
}

// Cost is the cost of a million generated tokens at the speed in use. Null values have a reason.
type Cost struct {
	// Energy.
	KWhPerMTok *float64 `json:"kwh_per_mtok" jsonschema:"nullable,minimum=0,example=0.556" jsonschema_extras:"unit=kWh"`
	// Energy plus depreciation of the price, or rent.
	USDPerMTok *float64 `json:"usd_per_mtok" jsonschema:"nullable,minimum=0,example=0.547" jsonschema_extras:"unit=US dollars"`
	// Power of all devices while they generate.
	Watts *float64 `json:"watts" jsonschema:"nullable,exclusiveMinimum=0,example=360" jsonschema_extras:"unit=W"`
	// measured: by the runs. Otherwise 0.8 x tdp_watts, or 0.8 x the upper end of tdp_range_watts: decoding waits for
	// memory, so cards stay below their limit.
	PowerBasis *string `json:"power_basis" jsonschema:"nullable,enum=measured,enum=tdp_x_0.8,example=tdp_x_0.8"`
	// Price of all devices.
	PriceUSD *float64 `json:"price_usd" jsonschema:"nullable,exclusiveMinimum=0,example=2873" jsonschema_extras:"unit=US dollars"`
	// Kind of price.
	PriceBasis *string `json:"price_basis" jsonschema:"nullable,enum=street,enum=launch,enum=rented,example=street"`
	// Day of the price or of the launch.
	PriceDate *dataset.Date `json:"price_date" jsonschema:"nullable,example=2026-07-31"`
	// Why values are null.
	Reasons []string `json:"reasons"`
	// What to know about the values.
	Notices []string `json:"notices"`
}

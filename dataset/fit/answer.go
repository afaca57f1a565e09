package fit

import "modeldex/dataset"

// Answer is what is found for a model on a machine.
type Answer struct {
	// Slug of the model.
	Model dataset.Slug `json:"model" jsonschema:"example=llama-3.1-8b-instruct"`
	// Slug of the hardware; null for a machine described by its memory.
	Hardware *dataset.Slug `json:"hardware" jsonschema:"nullable,example=nvidia-rtx-4090"`
	// Further devices, where several were named.
	Beside []dataset.Slug `json:"beside" jsonschema:"example=nvidia-rtx-3060"`
	// Number of devices of each name.
	Count int `json:"count" jsonschema:"minimum=1,example=1"`
	// Tokens the cache has room for.
	Context int64 `json:"context" jsonschema:"minimum=1,example=8192" jsonschema_extras:"unit=tokens"`
	// Storage of keys in the cache.
	KV KVType `json:"kv" jsonschema:"example=f16"`
	// Storage of values in the cache.
	KVV KVType `json:"kv_v" jsonschema:"example=f16"`
	// Requests at once. In llama.cpp they share the context; other engines reserve it for each.
	Parallel int `json:"parallel" jsonschema:"minimum=1,example=1"`
	// Whether attention needs no scratch memory for its scores.
	FlashAttention bool `json:"flash_attention" jsonschema:"example=true"`
	// Program whose memory rules apply.
	Rules Rules `json:"engine" jsonschema:"example=llama.cpp"`
	// Memory of the machine; null if it is unknown.
	Available *Available `json:"available" jsonschema:"nullable"`
	// Facts about model and hardware that are not known, by field.
	Missing []string `json:"missing" jsonschema:"example=hardware.vram_gb"`
	// Verdict of the best size.
	Verdict Verdict `json:"verdict" jsonschema:"example=fits"`
	// Changes of which each one makes it fit on the devices, or run partly in main memory if it does not run at all;
	// cheapest first. Empty if the verdict is fits or tight.
	Remedies []Remedy `json:"would_fit"`
	// Sizes of the model, best first: those that lists may name before all others, then by verdict, then the most precise; of those with part of the weights in main memory the smallest of at least four bits.
	Sizes []Size `json:"sizes"`
}

// Available is the memory of a machine.
type Available struct {
	// Memory of all devices; a vendor's GB counts as 2^30 bytes.
	Memory int64 `json:"memory_bytes" jsonschema:"minimum=0,example=25769803776" jsonschema_extras:"unit=bytes"`
	// The part that a model may use.
	Usable int64 `json:"usable_bytes" jsonschema:"minimum=0,example=25769803776" jsonschema_extras:"unit=bytes"`
	// Its share of unified memory; null if all of it is usable.
	Share *Share `json:"unified_share" jsonschema:"nullable"`
}

// Share is the part of unified memory a model may use, and why.
type Share struct {
	// Part of the memory.
	Share float64 `json:"share" jsonschema:"exclusiveMinimum=0,maximum=1,example=0.75"`
	// Why it is this part.
	Basis string `json:"basis" jsonschema:"example=macOS default above 36 GB"`
	// Page it was read from; null if the caller gave the part.
	Source *dataset.URL `json:"source" jsonschema:"nullable,example=https://github.com/gpustack/gpustack/issues/1375"`
}

// Size is the answer for one quantized form of a model.
type Size struct {
	// Name of the quantization.
	Quantization string `json:"quantization" jsonschema:"example=Q4_K_M"`
	// File format.
	Format string `json:"format" jsonschema:"example=gguf"`
	// Storage of the weights, in bits: bytes x 8 / weights. The weights are the parameters of the model, or of its
	// 16-bit file if files leave out a part of the model. Null if unknown.
	BitsPerWeight *float64 `json:"bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.8944" jsonschema_extras:"unit=bits"`
	// fits: with the reserve to spare. tight: by using the reserve. offload: part of the weights must be in main memory. unknown: a fact is missing. no: it does not.
	Verdict Verdict `json:"verdict" jsonschema:"example=fits"`
	// What it takes.
	Memory Memory `json:"memory"`
	// Usable memory less what the devices must hold; negative if it does not fit, null if the memory is unknown.
	Headroom *int64 `json:"headroom_bytes" jsonschema:"nullable,example=19504265888" jsonschema_extras:"unit=bytes"`
	// Weights and cache that must be in main memory; null unless the verdict is offload.
	Host *int64 `json:"host_bytes" jsonschema:"nullable,minimum=0,example=2147483648" jsonschema_extras:"unit=bytes"`
	// Longest context that fits with the reserve to spare, by type of cache.
	MaxContext MaxContexts `json:"max_context"`
	// Tokens of cache that vLLM has room for beside the weights, as its log prints; null with other engines.
	CacheTokens *int64 `json:"cache_tokens" jsonschema:"nullable,minimum=0,example=47712" jsonschema_extras:"unit=tokens"`
	// How many requests of the context run at once under vLLM; null with other engines.
	Requests *float64 `json:"requests_at_once" jsonschema:"nullable,minimum=0,example=5.8"`
	// Which memory holds the weights, for the verdict, and how to request it; null if the memory is unknown.
	Placement *Placement `json:"placement" jsonschema:"nullable"`
	// Facts that are not known, by field; some make a figure an upper or a lower bound, some leave it out.
	Missing []string `json:"missing" jsonschema:"example=kv_cache.head_dim"`
	// Runs that were resident in less memory than the formula asks for: they outrank it.
	Evidence []Evidence `json:"evidence"`
	// Generation speed of one request.
	Speed *Speed `json:"speed" jsonschema:"nullable"`
	// Costs of a million tokens; null if the query gives no prices.
	Cost *Cost `json:"cost" jsonschema:"nullable"`
	// Whether lists may name it: it was published, measured or is usual, and differs by a tenth or more from others that they name, or was measured on the hardware.
	Listed bool `json:"listed" jsonschema:"example=true"`
}

// Memory is what a model takes on a machine.
type Memory struct {
	// Weights of the file.
	Weights Bytes `json:"weights"`
	// Key-value cache.
	Cache Cache `json:"kv_cache"`
	// Intermediate values, on all devices.
	Compute Bytes `json:"compute_buffer"`
	// What runs beside the model, on the first device.
	Companions []Companion `json:"companions"`
	// Memory that should stay free, on all devices.
	Reserve Bytes `json:"reserve"`
	// Approximate memory that the driver and its libraries also take on discrete devices; part of the reserve.
	Runtime int64 `json:"runtime_bytes" jsonschema:"minimum=0,example=444596224" jsonschema_extras:"unit=bytes"`
	// Memory needed on the devices, without the reserve: weights, cache, buffer and companions, less what is in main
	// memory. With gpu_layers or n_cpu_moe, for that placement.
	Total int64 `json:"total_bytes" jsonschema:"minimum=0,example=6265537888" jsonschema_extras:"unit=bytes"`
	// The least that can be, where a fact is not known.
	Low int64 `json:"total_low_bytes" jsonschema:"minimum=0,example=6265537888" jsonschema_extras:"unit=bytes"`
	// The most that can be.
	High int64 `json:"total_high_bytes" jsonschema:"minimum=0,example=6265537888" jsonschema_extras:"unit=bytes"`
	// Weights in main memory beside a discrete device, such as the token embedding.
	Host int64 `json:"host_bytes" jsonschema:"minimum=0,example=295501824" jsonschema_extras:"unit=bytes"`
}

// Bytes is one part of what a model takes, with where it comes from.
type Bytes struct {
	// Size.
	Bytes int64 `json:"bytes" jsonschema:"minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
	// The least it can be, where a fact is not known; else the size.
	Low int64 `json:"low_bytes" jsonschema:"minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
	// The most it can be.
	High int64 `json:"high_bytes" jsonschema:"minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
	// How far the figure can be trusted.
	Basis Basis `json:"basis" jsonschema:"example=computed"`
	// Id of the formula; the reference page lists them with their sources.
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
	// States of linear-attention and state-space layers.
	Recurrent int64 `json:"recurrent_bytes" jsonschema:"minimum=0,example=0" jsonschema_extras:"unit=bytes"`
	Bytes
}

// MaxContexts is the longest context that fits without using the reserve, by type of cache: at most
// the limit of the model, 0 if not even the shortest fits, null if the memory is unknown.
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
	// Slug of the hardware record that the benchmark names.
	MeasuredOn dataset.Slug `json:"measured_on" jsonschema:"example=nvidia-rtx-4090"`
	// How that record is related to the hardware of the query; null if it is not.
	Relation *dataset.Relation `json:"relation" jsonschema:"nullable,enum=same,enum=variant,enum=machine,enum=sibling,example=same"`
}

// Evidence is a run that was resident in less memory than the formula asks for.
type Evidence struct {
	// Id of the benchmark.
	ID dataset.Slug `json:"id" jsonschema:"example=bm-d20987d408c6"`
	MeasuredOn
	// Memory of its devices.
	Memory int64 `json:"memory_bytes" jsonschema:"minimum=0,example=17179869184" jsonschema_extras:"unit=bytes"`
	// Tokens its cache was filled with.
	Context int64 `json:"context" jsonschema:"minimum=0,example=8192" jsonschema_extras:"unit=tokens"`
	// What the formula asks for.
	Formula int64 `json:"formula_bytes" jsonschema:"minimum=0,example=17394617549" jsonschema_extras:"unit=bytes"`
}

// Speed is what is known of the generation speed of one request. Measurements and estimates are
// never mixed into one figure.
type Speed struct {
	// Measurements of the same model and quantization on the same or related hardware; null if there are none.
	Measured *Measured `json:"measured" jsonschema:"nullable"`
	// Estimate; null if a fact is missing.
	Estimate *Estimate `json:"estimate" jsonschema:"nullable"`
	// Which one applies: measured; sibling, if all measurements are on siblings of the hardware; or estimate. Null if
	// there is neither.
	Use *string `json:"use" jsonschema:"nullable,enum=measured,enum=sibling,enum=estimate,example=measured"`
	// Median of the one to use, with an empty cache.
	TPS *float64 `json:"tps" jsonschema:"nullable,exclusiveMinimum=0,example=127.5" jsonschema_extras:"unit=tokens/s"`
	// What is left when the cache holds the context of the query; null if the size of the cache is unknown.
	Filled *Slowdown `json:"filled" jsonschema:"nullable"`
	// Speed at which the prompt is read; null if unknown.
	Prompt *PromptSpeed `json:"prompt" jsonschema:"nullable"`
	// Speed of the requests of parallel at once, with engine=vllm; null for one, and where a fact is missing.
	Load *Load `json:"load" jsonschema:"nullable"`
	// Seconds to the first token after prompt_tokens; null without them.
	TTFT *Band `json:"ttft_s" jsonschema:"nullable" jsonschema_extras:"unit=s"`
	// Seconds to the end of answer_tokens; null without them.
	Total *Band `json:"total_s" jsonschema:"nullable" jsonschema_extras:"unit=s"`
}

// Measured is the spread of measurements of the same quantization of models of one shape on the hardware and on
// hardware related to it, at its memory bandwidth; on siblings only where there are no others.
type Measured struct {
	// Number of measurements.
	N int `json:"n" jsonschema:"minimum=1,example=4"`
	// Number of further ones that are left out because the fastest is more than three times as fast.
	Slow int `json:"left_out" jsonschema:"minimum=0,example=0"`
	// Number of pages they come from.
	Pages int `json:"source_pages" jsonschema:"minimum=1,example=2"`
	// First tenth, by linear interpolation (type 7).
	P10 float64 `json:"p10" jsonschema:"exclusiveMinimum=0,example=121.2" jsonschema_extras:"unit=tokens/s"`
	// Median.
	Median float64 `json:"median" jsonschema:"exclusiveMinimum=0,example=127.5" jsonschema_extras:"unit=tokens/s"`
	// Last tenth.
	P90 float64 `json:"p90" jsonschema:"exclusiveMinimum=0,example=130.8" jsonschema_extras:"unit=tokens/s"`
	// The farthest relation of the hardware they are on.
	Relation dataset.Relation `json:"relation" jsonschema:"enum=same,enum=variant,enum=machine,enum=sibling,example=same"`
	// Ids of the benchmarks, newest first, at most 20.
	Runs []dataset.Slug `json:"run_ids" jsonschema:"maxItems=20,example=bm-d20987d408c6"`
	// The same benchmarks, and what each was measured on.
	On []MeasuredRun `json:"runs" jsonschema:"maxItems=20"`
	// Why they do not answer the question, so that the estimate counts; null if they do.
	Note *string `json:"note" jsonschema:"nullable,example=the runs differ by more than a factor of three, so they do not measure the same thing"`
	// Twice the rank of the program and the part of the machine that ran (see evaluation.rank), one more for no siblings.
	Grade int `json:"-"`
}

// MeasuredRun is a benchmark whose speed counts.
type MeasuredRun struct {
	// Id of the benchmark.
	ID dataset.Slug `json:"id" jsonschema:"example=bm-d20987d408c6"`
	// Slug of the model that was measured. It has the shape of the model of the query.
	Model dataset.Slug `json:"model" jsonschema:"example=llama-3.1-8b-instruct"`
	MeasuredOn
}

// Estimate is a speed worked out by a regression of the share of the memory bandwidth that measurements reached.
type Estimate struct {
	Band
	// How it was worked out.
	Method string `json:"method" jsonschema:"example=regression"`
	// Share of the memory bandwidth the estimate uses.
	Share float64 `json:"bandwidth_share" jsonschema:"exclusiveMinimum=0,maximum=1,example=0.62"`
	// Weights one token reads.
	Bytes int64 `json:"bytes_per_token" jsonschema:"minimum=1,example=4920739168" jsonschema_extras:"unit=bytes"`
	// Tool it is for.
	Tool string `json:"tool" jsonschema:"example=llama.cpp"`
	// Compute backend it is for: the usual one; empty if none is known.
	Backend string `json:"backend" jsonschema:"example=cuda"`
	// Part of the machine that does the work.
	Unit ComputeUnit `json:"compute_unit" jsonschema:"example=gpu"`
	// Class of the hardware.
	Class string `json:"class" jsonschema:"enum=discrete_nvidia,enum=discrete_amd,enum=discrete_intel,enum=apple,enum=other_unified,enum=cpu,enum=discrete_other,example=discrete_nvidia"`
	// The 10 measurements that carry most of its effects, heaviest first.
	Evidence []Weight `json:"evidence" jsonschema:"maxItems=10"`
	// How such estimates did against measurements that were hidden from them; null if they were not validated.
	Checked *Checked `json:"validated" jsonschema:"nullable"`
	// What it takes for granted.
	Assumes []string `json:"assumes"`
}

// Band is an estimate with the band that holds nine of ten measurements.
type Band struct {
	// Lower end of the 90 % band.
	P05 float64 `json:"p05" jsonschema:"minimum=0,example=103.4"`
	// Estimate.
	Median float64 `json:"median" jsonschema:"minimum=0,example=127.5"`
	// Upper end of the 90 % band.
	P95 float64 `json:"p95" jsonschema:"minimum=0,example=156.5"`
}

// PromptSpeed is what is known of the speed at which a prompt is read.
type PromptSpeed struct {
	// Measurements; null if there are none.
	Measured *Measured `json:"measured" jsonschema:"nullable"`
	// Estimate of a prompt of prompt_tokens, else of 512; null if a fact is missing.
	Estimate *Band `json:"estimate" jsonschema:"nullable"`
	// Which one applies, as for the speed of generation.
	Use *string `json:"use" jsonschema:"nullable,enum=measured,enum=sibling,enum=estimate,example=measured"`
	// Median of the one to use.
	TPS *float64 `json:"tps" jsonschema:"nullable,exclusiveMinimum=0,example=2850" jsonschema_extras:"unit=tokens/s"`
	// How such estimates did; null if they were not validated.
	Checked *Checked `json:"validated" jsonschema:"nullable"`
}

// Weight is a measurement that an estimate is based on.
type Weight struct {
	// Id of the benchmark.
	ID dataset.Slug `json:"id" jsonschema:"example=bm-d20987d408c6"`
	// Slug of the model that was measured.
	Model dataset.Slug `json:"model" jsonschema:"example=llama-3.1-8b-instruct"`
	MeasuredOn
	// Its weight. The weights of all measurements, listed or not, add up to 1.
	Weight float64 `json:"weight" jsonschema:"minimum=0,maximum=1,example=0.58"`
}

// Checked is how estimates did against measurements of sources that were hidden from them.
type Checked struct {
	// Version of the dataset they were compared on.
	DatasetVersion string `json:"dataset_version" jsonschema:"example=2026.11.21"`
	// What was hidden: all measurements of the repository or site.
	Holdout string `json:"holdout" jsonschema:"enum=source,example=source"`
	// Class that the figures belong to.
	Class string `json:"class" jsonschema:"example=discrete_nvidia dense"`
	// Measurements compared.
	Rows int `json:"rows" jsonschema:"minimum=1,example=596"`
	// Median of the error without sign; 0.1 is 10 %.
	MedianError float64 `json:"median_error" jsonschema:"minimum=0,example=0.076"`
	// Part of the measurements inside the 90 % band.
	Coverage float64 `json:"coverage_90" jsonschema:"minimum=0,maximum=1,example=0.9"`
}

// Slowdown is what a filled cache leaves of the speed.
type Slowdown struct {
	// Tokens in the cache.
	Depth int64 `json:"depth" jsonschema:"minimum=1,example=8192" jsonschema_extras:"unit=tokens"`
	// Part of the speed with an empty cache.
	Factor float64 `json:"factor" jsonschema:"exclusiveMinimum=0,maximum=1,example=0.945"`
	// Speed that is left.
	TPS float64 `json:"tps" jsonschema:"exclusiveMinimum=0,example=120.5" jsonschema_extras:"unit=tokens/s"`
	// How estimates with a filled cache did against measurements of hidden sources.
	Checked *Checked `json:"validated" jsonschema:"nullable"`
}

// Cost is what a million generated tokens cost at the speed to use. Null figures have a reason.
type Cost struct {
	// Energy.
	KWhPerMTok *float64 `json:"kwh_per_mtok" jsonschema:"nullable,minimum=0,example=0.556" jsonschema_extras:"unit=kWh"`
	// Energy and the part of the price that is used up, or rent.
	USDPerMTok *float64 `json:"usd_per_mtok" jsonschema:"nullable,minimum=0,example=0.547" jsonschema_extras:"unit=US dollars"`
	// Power of all devices while they generate.
	Watts *float64 `json:"watts" jsonschema:"nullable,exclusiveMinimum=0,example=360" jsonschema_extras:"unit=W"`
	// measured by the runs, or 0.8 of tdp_watts, or of the upper end of tdp_range_watts where it has one: decoding waits for memory, so that
	// cards stay below their limit.
	PowerBasis *string `json:"power_basis" jsonschema:"nullable,enum=measured,enum=tdp_x_0.8,example=tdp_x_0.8"`
	// Price of all devices.
	PriceUSD *float64 `json:"price_usd" jsonschema:"nullable,exclusiveMinimum=0,example=2873" jsonschema_extras:"unit=US dollars"`
	// What price that is.
	PriceBasis *string `json:"price_basis" jsonschema:"nullable,enum=street,enum=launch,enum=rented,example=street"`
	// Day the price was seen, or of the launch.
	PriceDate *dataset.Date `json:"price_date" jsonschema:"nullable,example=2026-07-31"`
	// Why figures are null.
	Reasons []string `json:"reasons"`
	// What to know about the figures.
	Notices []string `json:"notices"`
}

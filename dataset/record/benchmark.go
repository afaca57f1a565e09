package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Benchmark is one published measurement of tokens per second.
type Benchmark struct {
	// Stable public key.
	ID Slug `json:"id" jsonschema:"example=bm-d20987d408c6"`
	// Slug of the measured model.
	Model Slug `json:"model" jsonschema:"example=llama-3.2-3b-instruct"`
	// Model, as printed by the source.
	ModelRaw string `json:"model_raw" jsonschema:"minLength=1,example=Llama-3.2-3B-Instruct" fact:"as printed"`
	// Quantization, as printed by the source, with a few spellings unified.
	Quantization *string `json:"quantization" jsonschema:"nullable,minLength=1,example=Q4_K_M"`
	// Slug of the measured hardware.
	Hardware Slug `json:"hardware" jsonschema:"example=intel-arc-a310"`
	// Hardware, as printed by the source.
	HardwareRaw string `json:"hardware_raw" jsonschema:"minLength=1,example=Intel Arc A310" fact:"as printed"`
	// Number of devices used.
	HardwareCount int64 `json:"hardware_count" jsonschema:"minimum=1,example=1" bounds:"..100000"`
	// Memory of one device, in GB; with unified memory, the memory of the machine.
	MemoryGB *float64 `json:"memory_gb" jsonschema:"nullable,exclusiveMinimum=0,example=4" jsonschema_extras:"unit=GB" bounds:"0.25..16384 GB"`
	// Slug of the measuring tool.
	Tool Slug `json:"tool" jsonschema:"example=llama.cpp"`
	// Version of the tool, as printed by the source.
	ToolVersion *string `json:"tool_version" jsonschema:"nullable,minLength=1,example=b7423 (2aa45ef9e)" fact:"as printed"`
	// Compute backend.
	Backend *string `json:"backend" jsonschema:"nullable,minLength=1,example=vulkan"`
	// Version of the graphics driver or its compute stack, as printed by the source.
	DriverVersion *string `json:"driver_version" jsonschema:"nullable,minLength=1,example=ROCm 7.1.1" fact:"as printed"`
	// Unit that generated the tokens: graphics, processor, neural processor, or graphics and processor together. Null if
	// the source does not say and backend and hardware do not determine it.
	ComputeUnit *ComputeUnit `json:"compute_unit" jsonschema:"nullable,example=gpu"`
	// Prompt length for prompt_tps, in tokens.
	NPrompt *int64 `json:"n_prompt" jsonschema:"nullable,minimum=0,example=512" jsonschema_extras:"unit=tokens" bounds:"..100000000 tokens"`
	// Output length for generation_tps, in tokens.
	NGen *int64 `json:"n_gen" jsonschema:"nullable,minimum=0,example=128" jsonschema_extras:"unit=tokens" bounds:"..100000000 tokens"`
	// Tokens already in the cache before the prompt.
	ContextDepth *int64 `json:"context_depth" jsonschema:"nullable,minimum=0,example=0" jsonschema_extras:"unit=tokens" bounds:"..100000000 tokens"`
	// Logical batch size.
	BatchSize *int64 `json:"batch_size" jsonschema:"nullable,minimum=1,example=2048" jsonschema_extras:"unit=tokens" bounds:"..100000000 tokens"`
	// Simultaneous requests; above 1, both speeds are totals over all requests.
	Concurrency *int64 `json:"concurrency" jsonschema:"nullable,minimum=1,example=1" bounds:"..1000000"`
	// Layers on the accelerator, as printed by the source (99 or more means all).
	NGPULayers *int64 `json:"n_gpu_layers" jsonschema:"nullable,example=99" jsonschema_extras:"unit=layers"`
	// Whether flash attention was on.
	FlashAttention *bool `json:"flash_attention" jsonschema:"nullable,example=true"`
	// Whether a draft model or multi-token prediction was used.
	SpeculativeDecoding *bool `json:"speculative_decoding" jsonschema:"nullable,example=false"`
	// Processor threads.
	Threads *int64 `json:"threads" jsonschema:"nullable,minimum=1,example=16" bounds:"..100000"`
	// Prompt processing speed, in tokens per second.
	PromptTPS *float64 `json:"prompt_tps" jsonschema:"nullable,exclusiveMinimum=0,example=88.71" jsonschema_extras:"unit=tokens/s" bounds:"0.001.. tokens per second"`
	// Standard deviation of prompt_tps over repetitions, in tokens per second.
	PromptTPSStddev *float64 `json:"prompt_tps_stddev" jsonschema:"nullable,minimum=0,example=0.08" jsonschema_extras:"unit=tokens/s"`
	// Generation speed, in tokens per second.
	GenerationTPS *float64 `json:"generation_tps" jsonschema:"nullable,exclusiveMinimum=0,example=13.36" jsonschema_extras:"unit=tokens/s" bounds:"0.001.. tokens per second"`
	// Standard deviation of generation_tps over repetitions, in tokens per second.
	GenerationTPSStddev *float64 `json:"generation_tps_stddev" jsonschema:"nullable,minimum=0,example=0.1" jsonschema_extras:"unit=tokens/s"`
	// How generation_tps was measured: decoding one stream, output divided by the total time including the prompt, or the
	// sum over simultaneous streams. Null if the source does not say and no rule derives it.
	RateBasis *RateBasis `json:"rate_basis" jsonschema:"nullable,example=decode"`
	// Time to the first token, in milliseconds.
	TTFTMs *float64 `json:"ttft_ms" jsonschema:"nullable,minimum=0,example=211.644" jsonschema_extras:"unit=ms" bounds:"..1000000000 ms"`
	// Median time to the first token of a throughput result, in milliseconds.
	TTFTP50Ms *float64 `json:"ttft_p50_ms" jsonschema:"nullable,minimum=0,example=980.5" jsonschema_extras:"unit=ms" bounds:"..1000000000 ms"`
	// 99th percentile of the time to the first token, in milliseconds.
	TTFTP99Ms *float64 `json:"ttft_p99_ms" jsonschema:"nullable,minimum=0,example=1921.3" jsonschema_extras:"unit=ms" bounds:"..1000000000 ms"`
	// Mean time per output token after the first, in milliseconds.
	TPOTMs *float64 `json:"tpot_ms" jsonschema:"nullable,minimum=0,example=41.2" jsonschema_extras:"unit=ms" bounds:"..1000000000 ms"`
	// Median time per output token after the first, in milliseconds.
	TPOTP50Ms *float64 `json:"tpot_p50_ms" jsonschema:"nullable,minimum=0,example=40.8" jsonschema_extras:"unit=ms" bounds:"..1000000000 ms"`
	// 99th percentile of the time per output token, in milliseconds.
	TPOTP99Ms *float64 `json:"tpot_p99_ms" jsonschema:"nullable,minimum=0,example=82.73" jsonschema_extras:"unit=ms" bounds:"..1000000000 ms"`
	// Size of the weights, as printed by the source, in GiB.
	ModelSizeGiB *float64 `json:"model_size_gib" jsonschema:"nullable,exclusiveMinimum=0,example=4.58" jsonschema_extras:"unit=GiB"`
	// Whether model_size_gib includes a vision projector, which text generation does not read.
	SizeIncludesProjector *bool `json:"size_includes_projector" jsonschema:"nullable,example=true"`
	// Whether part of the weights was in main memory instead of device memory, so the speed does not reflect the device's
	// bandwidth. Null if the source does not say.
	PartialOffload *bool `json:"partial_offload" jsonschema:"nullable,example=true"`
	// True if the weights were random numbers in the published shape: speed and size are real, but the answers are not.
	RandomWeights *bool `json:"random_weights" jsonschema:"nullable,example=true"`
	// Power during the run, in watts; power_basis says where it was measured.
	PowerWatts *float64 `json:"power_watts" jsonschema:"nullable,exclusiveMinimum=0,example=302.6" jsonschema_extras:"unit=W" bounds:"..100000000 W"`
	// Where power_watts was measured: at the device, or at the wall for the whole machine.
	PowerBasis *PowerBasis `json:"power_basis" jsonschema:"nullable,example=wall"`
	// Operating system, as printed by the source.
	OS *string `json:"os" jsonschema:"nullable,minLength=1,example=linux" fact:"as printed"`
	// Load of a throughput result: all requests at once (offline), requests arriving over time (server), or a latency
	// limit per user (interactive). Null for a single run or a stated concurrency. Lists return throughput results only if
	// scenario is given.
	Scenario *Scenario `json:"scenario" jsonschema:"nullable,example=offline"`
	// Output tokens per second of the whole system; throughput results only.
	TotalTPS *float64 `json:"total_tps" jsonschema:"nullable,exclusiveMinimum=0,example=34988" jsonschema_extras:"unit=tokens/s" bounds:"0.001.. tokens per second"`
	// Requests per second; throughput results only.
	RequestRate *float64 `json:"request_rate" jsonschema:"nullable,exclusiveMinimum=0,example=0.8" jsonschema_extras:"unit=requests/s" bounds:"..1000000 requests per second"`
	// Number of machines; throughput results only. hardware_count is the number of devices in all of them.
	Nodes *int64 `json:"nodes" jsonschema:"nullable,minimum=1,example=1"`
	// Name the submitter gives the machine.
	System *string `json:"system" jsonschema:"nullable,minLength=1,example=1-node-2S-GNR-PyTorch" fact:"as printed"`
	// Who submitted the result to a benchmark with rounds, such as MLPerf.
	Submitter *string `json:"submitter" jsonschema:"nullable,minLength=1,example=Intel"`
	// Round of that benchmark.
	Round *string `json:"round" jsonschema:"nullable,minLength=1,example=v5.1"`
	// Division of that benchmark: closed (no changes to the model) or open.
	Division *string `json:"division" jsonschema:"nullable,enum=closed,enum=open,example=closed"`
	// Whether the submitted system was on sale at the time of the round.
	Availability *string `json:"availability" jsonschema:"nullable,enum=available,enum=preview,enum=rdi,example=available"`
	// Who measured: the owner of the dataset, the community, or the maker of the tool or hardware.
	Source Source `json:"source" jsonschema:"example=community"`
	// Exact page the numbers come from; null for the dataset owner's own measurements.
	SourceURL *URL `json:"source_url" jsonschema:"nullable,example=https://github.com/geerlingguy/ai-benchmarks/issues/29"`
	// Key of the source in sources.json, which gives its owner and licence; null for the dataset owner's own measurements.
	SourceKey *string `json:"source_key" jsonschema:"nullable,pattern=^[0-9a-z][0-9a-z._/-]*$,example=github.com/geerlingguy/ai-benchmarks"`
	// Day of the run, or of the event that date_basis names.
	RunDate *Date `json:"run_date" jsonschema:"nullable,example=2024-05-11"`
	// What run_date refers to: the run, the post, or the last commit of the file. Null if run_date is null.
	DateBasis *DateBasis `json:"date_basis" jsonschema:"nullable,example=commit"`
	// Notes on the run.
	Notes *string `json:"notes" jsonschema:"nullable,minLength=1,example=llama-bench"`
	// When and why the measurement was withdrawn; null if it is valid. A withdrawn measurement keeps its id but is no
	// longer compared with others.
	Withdrawn *Withdrawal `json:"withdrawn" jsonschema:"nullable"`
	// How to reproduce an own measurement.
	Reproduce *string `json:"reproduce" jsonschema:"nullable,minLength=1,example=llama-bench -t 2 -p 512 -n 128 -r 5"`
}

// IsThroughput reports whether a benchmark is a throughput result: the total of a system under a
// load, which no speed of one stream compares with.
func (b *Benchmark) IsThroughput() bool { return b.Scenario != nil }

// Withdrawal is when and why a published record was withdrawn.
type Withdrawal struct {
	// Day it was withdrawn.
	Date Date `json:"date" jsonschema:"example=2026-11-21"`
	// What was wrong with it.
	Reason string `json:"reason" jsonschema:"minLength=1,example=measured with a faulty driver"`
}

// BenchmarkID works out an id: bm- and 12 hexadecimal digits of the SHA-256 of a JSON array of the source, the
// configuration and the figures. An id that is there stays: links point at it.
func BenchmarkID(b *Benchmark) (Slug, error) {
	line, err := jsonv2.Marshal([]any{
		b.SourceURL, b.ModelRaw, b.HardwareRaw, b.Quantization, b.ToolVersion, b.NPrompt, b.NGen,
		b.ContextDepth, b.BatchSize, b.Concurrency, b.FlashAttention, b.PromptTPS, b.GenerationTPS, b.Notes,
	})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(line)
	return Slug("bm-" + hex.EncodeToString(sum[:6])), nil
}

// NewerRun orders benchmarks by the first day of their run date, newest first and unknown last, then by id.
func NewerRun(a, b *Benchmark) int {
	return cmp.Or(strings.Compare(string(b.RunDay()), string(a.RunDay())), strings.Compare(string(a.ID), string(b.ID)))
}

// RunDay is the first day of the run date, empty if that is unknown.
func (b *Benchmark) RunDay() Date {
	if b.RunDate == nil {
		return ""
	}
	return b.RunDate.FirstDay()
}

package record

import (
	"strconv"
)

// Tool is one program for running, serving, tuning or using models locally.
type Tool struct {
	// Stable public key, lower case.
	Slug Slug `json:"slug" jsonschema:"example=llama.cpp"`
	// Name as its makers write it.
	Name string `json:"name" jsonschema:"minLength=1,example=llama.cpp"`
	// Main purpose.
	Category Category `json:"category" jsonschema:"example=runner"`
	// Other purposes.
	AlsoCategories []Category `json:"also_categories" jsonschema:"example=server"`
	// Who makes it.
	VendorOrOrg *string `json:"vendor_or_org" jsonschema:"nullable,minLength=1,example=ggml-org"`
	// Its own page.
	Homepage *URL `json:"homepage" jsonschema:"nullable,example=https://ollama.com"`
	// Its source code.
	Repository *URL `json:"repository" jsonschema:"nullable,example=https://github.com/ggml-org/llama.cpp"`
	// SPDX id of the licence; null if custom, mixed or unknown.
	License *string `json:"license" jsonschema:"nullable,minLength=1,example=MIT"`
	// Main programming language.
	Language *string `json:"language" jsonschema:"nullable,minLength=1,example=C++"`
	// Date of the first numbered version.
	FirstRelease *Date `json:"first_release" jsonschema:"nullable,example=2023-11-20"`
	// Operating systems it runs on.
	Platforms *[]string `json:"platforms" jsonschema:"nullable,minLength=1,example=linux"`
	// Compute backends it can use. A missing one may still be supported.
	Backends *[]string `json:"backends" jsonschema:"nullable,minLength=1,example=cuda"`
	// Weight formats it can read.
	ModelFormats *[]string `json:"model_formats" jsonschema:"nullable,minLength=1,example=gguf"`
	// APIs it is compatible with.
	APICompatibility *[]string `json:"api_compatibility" jsonschema:"nullable,minLength=1,example=openai"`
	// One sentence on what it does.
	Description string `json:"description" jsonschema:"minLength=1,example=Runs GGUF models on almost any processor or graphics card."`
	// Other names. They work wherever the slug does.
	Aliases []string `json:"aliases" jsonschema:"minLength=1,example=llamacpp"`
	// Status in the words of its makers, if they stopped or slowed development.
	Maintenance *string `json:"maintenance" jsonschema:"nullable,minLength=1,example=archived"`
	// Sources of the values; each entry names the fields it supports.
	Sources []SourceRef `json:"sources"`
}

// Info is dataset.json: metadata of the whole dataset.
type Info struct {
	// Version of the file format; this build reads SchemaVersion.
	SchemaVersion int64 `json:"schema_version" jsonschema:"const=1,example=1"`
	// Version of the content, shown to callers as dataset_version.
	Version string `json:"version" jsonschema:"pattern=^[0-9A-Za-z][0-9A-Za-z.+-]*$,example=2026.11.21"`
	// Release day of the dataset.
	Released Date `json:"released" jsonschema:"example=2026-11-21"`
	// Name of the dataset.
	Title string `json:"title" jsonschema:"minLength=1,example=modeldex"`
	// Licence of the dataset.
	License string `json:"licence" jsonschema:"minLength=1,example=CC-BY-SA-4.0"`
}

// SchemaVersion is the version of the file format this build reads and writes.
const SchemaVersion = 1

// Origin is a source repository or site: one entry of data/sources.json. What it gave is counted from the records that
// name its pages, see dataset.Credits.
type Origin struct {
	// Key of the pages that belong to it: the host without www, and of a repository on GitHub its owner and name too, all in lower case.
	Key string `json:"key" jsonschema:"pattern=^[0-9a-z][0-9a-z._/-]*$,example=github.com/geerlingguy/ai-benchmarks"`
	// Its address.
	URL URL `json:"url" jsonschema:"example=https://github.com/geerlingguy/ai-benchmarks"`
	// Who publishes it.
	Owner string `json:"owner" jsonschema:"minLength=1,example=geerlingguy"`
	// Licence: an SPDX id if there is one, otherwise the name of the licence; "none stated" if the examined pages state
	// none; "By repository" or "By project" if each part has its own. Null if no page could be examined.
	License *string `json:"licence" jsonschema:"nullable,minLength=1,example=MIT"`
	// What was examined for the licence: the file, the terms, or the page that states none. If licence is null, why
	// nothing could be examined. Null if the licence comes from a licence file or a statement of the source.
	LicenseNote *string `json:"licence_note" jsonschema:"nullable,minLength=1,example=no licence file among the files of the repository"`
	// True if its measurements count in statistics only in groups without others, because they are lower than those of the
	// tools themselves or were not checked. Null if they count like all others.
	Supplementary *bool `json:"supplementary" jsonschema:"nullable,example=true"`
	// Day it was first read for this directory.
	Read Date `json:"read" jsonschema:"example=2026-11-21"`
}

// QuantizationType is one way of storing weights: data/quantizations.json.
type QuantizationType struct {
	// Name of the type, as files carry it.
	Name string `json:"name" jsonschema:"minLength=1,example=Q4_K_M"`
	// File format.
	Format string `json:"format" jsonschema:"minLength=1,example=gguf"`
	// Storage type most blocks of such a file have.
	MainBlockType *string `json:"main_block_type" jsonschema:"nullable,minLength=1,example=Q4_K"`
	// Storage of that block type, in bits per weight, exact.
	BlockBitsPerWeight *float64 `json:"block_bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.5" jsonschema_extras:"unit=bits" bounds:"0.5..40 bits"`
	// Whether some tensors of such a file have another block type.
	Mix *bool `json:"mix" jsonschema:"nullable,example=true"`
	// Whole-file average to estimate sizes with; null if none was measured.
	EffectiveBitsPerWeight *float64 `json:"effective_bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.8944" jsonschema_extras:"unit=bits" bounds:"0.5..40 bits"`
	// Where the whole-file average comes from.
	EffectiveBasis *string `json:"effective_basis" jsonschema:"nullable,minLength=1,example=measured\\, whole-file average for Llama 3.1 8B"`
	// Older published average over a file of the first LLaMA 7B.
	Llama17BBitsPerWeight *float64 `json:"llama_1_7b_bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=4.83" jsonschema_extras:"unit=bits" bounds:"0.5..40 bits"`
	// Spread over the published sizes of models of 3 billion parameters and more.
	Observed *ObservedBits `json:"observed" jsonschema:"nullable"`
	// Sources of the values; each entry names the fields it supports.
	Sources []SourceRef `json:"sources"`
}

// ObservedBits is the spread of bits per weight over published files.
type ObservedBits struct {
	// Number of files.
	N int64 `json:"n" jsonschema:"minimum=1,example=5"`
	// Median, in bits per weight.
	Median float64 `json:"median" jsonschema:"exclusiveMinimum=0,example=1.762" jsonschema_extras:"unit=bits"`
	// Smallest, in bits per weight.
	Min float64 `json:"min" jsonschema:"exclusiveMinimum=0,example=1.66" jsonschema_extras:"unit=bits" bounds:"0.5.. bits"`
	// Largest, in bits per weight.
	Max float64 `json:"max" jsonschema:"exclusiveMinimum=0,example=3.075" jsonschema_extras:"unit=bits" bounds:"..40 bits"`
}

// Quality is one published measurement of what a quantization of a model loses against its weights in 16 bits: lines of
// data/quality/*.ndjson.
type Quality struct {
	// Stable public key: ql- and 12 hexadecimal digits.
	ID Slug `json:"id" jsonschema:"pattern=^ql-[0-9a-f]{12}$,example=ql-e24e56a1a3cd"`
	// Slug of the model that was quantized.
	Model Slug `json:"model" jsonschema:"example=llama-3-8b"`
	// Quantization, as in file names.
	Quantization string `json:"quantization" jsonschema:"minLength=1,example=Q4_K_M"`
	// How the file was made, if its name does not say: importance matrix, method, group size. Null if the source does not
	// say.
	Recipe *string `json:"recipe" jsonschema:"nullable,minLength=1,example=imatrix of WikiText\\, 10 M tokens"`
	// What was measured. Do not compare values of different metrics.
	Metric QualityMetric `json:"metric" jsonschema:"example=kl_divergence"`
	// Test behind a task_score; otherwise null.
	Task *string `json:"task" jsonschema:"nullable,minLength=1,example=MMLU-Pro"`
	// Mean KL divergence in nats per token, perplexity, or score in percent.
	Value float64 `json:"value" jsonschema:"minimum=0,example=0.0281"`
	// The same metric for the reference; null for a KL divergence, which already compares with it.
	ReferenceValue *float64 `json:"reference_value" jsonschema:"nullable,exclusiveMinimum=0,example=6.2317"`
	// Weights it is compared with.
	Reference string `json:"reference" jsonschema:"enum=F32,enum=F16,enum=BF16,enum=FP8,example=F16"`
	// Text used for the measurement; null for a task_score.
	Corpus *string `json:"corpus" jsonschema:"nullable,minLength=1,example=WikiText-2 test"`
	// Length of the text chunks, in tokens; null if the source does not say.
	ContextLength *int64 `json:"context_length" jsonschema:"nullable,minimum=1,example=512" jsonschema_extras:"unit=tokens"`
	// Size of the file, in GiB; null if the source does not say.
	SizeGiB *float64 `json:"size_gib" jsonschema:"nullable,exclusiveMinimum=0,example=4.58" jsonschema_extras:"unit=GiB"`
	// Source page of the value.
	SourceURL URL `json:"source_url" jsonschema:"example=https://github.com/ggml-org/llama.cpp/blob/master/tools/perplexity/README.md"`
	// Notes; null if there are none.
	Notes *string `json:"notes" jsonschema:"nullable,minLength=1,example=Read off Table 3."`
}

// Change is how much worse the value is than that of the reference: in percent for a perplexity, in percentage points
// for a score, and the value itself for a KL divergence.
func (q *Quality) Change() float64 {
	switch {
	case q.ReferenceValue == nil:
		return q.Value
	case q.Metric == Perplexity:
		return TwelveDigits((q.Value / *q.ReferenceValue - 1) * 100)
	default:
		return TwelveDigits(*q.ReferenceValue - q.Value)
	}
}

// TwelveDigits rounds a number to 12 digits, which leaves out the noise of sums and quotients.
func TwelveDigits(v float64) float64 {
	out, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	return out
}

// QualityMetric is what was measured of a quantization.
type QualityMetric string

// The metrics, the most telling one first.
const (
	KLDivergence QualityMetric = "kl_divergence"
	Perplexity   QualityMetric = "perplexity"
	TaskScore    QualityMetric = "task_score"
)

// Values lists the metrics.
func (QualityMetric) Values() []string {
	return Texts([]QualityMetric{KLDivergence, Perplexity, TaskScore})
}

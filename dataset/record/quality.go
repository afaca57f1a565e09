package record

import "strconv"

// Quality is one published measurement of what a quantization of a model loses against its weights in 16 bits: lines of
// data/quality/*.ndjson.
type Quality struct {
	// Stable public key: ql- and 12 hexadecimal digits.
	ID Slug `json:"id" jsonschema:"pattern=^ql-[0-9a-f]{12}$,example=ql-e24e56a1a3cd"`
	// Slug of the model that was quantized.
	Model Slug `json:"model" jsonschema:"example=llama-3-8b"`
	// Quantization, as files carry its name.
	Quantization string `json:"quantization" jsonschema:"minLength=1,example=Q4_K_M"`
	// How the file was made where its name does not say: the importance matrix, the method and its group size. Null where the source says nothing.
	Recipe *string `json:"recipe" jsonschema:"nullable,minLength=1,example=imatrix of WikiText\\, 10 M tokens"`
	// What was measured. Figures of different metrics do not compare.
	Metric QualityMetric `json:"metric" jsonschema:"example=kl_divergence"`
	// Test behind a task_score; null for the others.
	Task *string `json:"task" jsonschema:"nullable,minLength=1,example=MMLU-Pro"`
	// Mean KL divergence in nats per token, perplexity, or score in percent.
	Value float64 `json:"value" jsonschema:"minimum=0,example=0.0281"`
	// The same measure of the reference; null for a KL divergence, which is measured against it.
	ReferenceValue *float64 `json:"reference_value" jsonschema:"nullable,exclusiveMinimum=0,example=6.2317"`
	// Weights that it is compared with.
	Reference QualityReference `json:"reference" jsonschema:"example=F16"`
	// Text that the model read; null for a task_score.
	Corpus *string `json:"corpus" jsonschema:"nullable,minLength=1,example=WikiText-2 test"`
	// Length of the pieces of the text, in tokens; null where the source does not say.
	ContextLength *int64 `json:"context_length" jsonschema:"nullable,minimum=1,example=512" jsonschema_extras:"unit=tokens"`
	// Size of the file, in GiB; null where the source does not say.
	SizeGiB *float64 `json:"size_gib" jsonschema:"nullable,exclusiveMinimum=0,example=4.58" jsonschema_extras:"unit=GiB"`
	// Page the figure was read from.
	SourceURL URL `json:"source_url" jsonschema:"example=https://github.com/ggml-org/llama.cpp/blob/master/tools/perplexity/README.md"`
	// What else a reader has to know; null for nothing.
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

// QualityReference is the form of the weights that a quantization is compared with.
type QualityReference string

// Values lists the forms. FP8 is that of models that were published in it.
func (QualityReference) Values() []string { return []string{"F32", "F16", "BF16", "FP8"} }

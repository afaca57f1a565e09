package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"modeldex/dataset"
)

// A Query asks whether one model runs on one machine. The zero value of each field but Model
// means its default.
type Query struct {
	Model        dataset.Slug
	Quantization string // a size of the model by name, or any name of a quantization; empty: all sizes of the model
	// WeightsGB is the size of the file in GB of 2^30 bytes, in place of the sizes of the model; 0: not given.
	WeightsGB float64
	Hardware  dataset.Slug // or MemoryGB and BandwidthGBps
	Beside    []Unit       // further devices, which may be unlike the first
	Count     int          // of each device, so that there are 1 to MaxCount; 0: 1
	Split     Split        // of several devices; empty: that of the rules
	Context   int64        // tokens to keep room for; 0: DefaultContext, or the model's limit where that is less
	KV        KVType       // of keys, and of values without KVV; empty: F16
	KVV       KVType       // of values
	// NoFlashAttention counts the scratch memory that attention needs without it.
	NoFlashAttention bool
	Rules            Rules // empty: LlamaCpp
	// Parallel is how many requests run at once: slots of llama.cpp that share the context, requests of the whole
	// context elsewhere; 0: 1.
	Parallel   int
	MicroBatch int64 // tokens read at once; 0: DefaultMicroBatch, or VLLMTokens
	// Utilization is the part of a card that vLLM may use; 0: VLLMUtilization.
	Utilization float64
	// AllowExtended accepts a context above the model's limit, as with YaRN.
	AllowExtended bool
	// MemoryGB is the memory of one device in GB of 2^30 bytes; 0: that of the hardware. Of
	// hardware sold with several sizes the largest counts without it.
	MemoryGB float64
	// BandwidthGBps is the memory bandwidth of one device in 10^9 bytes per second; 0: that of
	// the hardware.
	BandwidthGBps float64
	// UnifiedShare is the part of unified memory a program may use, above 0 and at most 1; 0: the
	// default of the vendor.
	UnifiedShare float64
	// Host is the processor or machine that holds discrete devices; empty: not known.
	Host dataset.Slug
	// SystemMemoryGB is the main memory beside a discrete device, for offload; 0: that of the host, or not known.
	SystemMemoryGB float64
	// GPULayers is how many layers llama.cpp puts on the devices, the output counted as one; CPUMoE of how many
	// layers, from the first, it keeps the experts in main memory. Nil: as many and as few as there is room for.
	GPULayers, CPUMoE *int64
	// Projector counts the projector that reads pictures, of the size of the record or of ProjectorGB; MTP counts the layer
	// of the model that drafts tokens; Draft is a model that does, in DraftQuantization or Q8_0.
	Projector, MTP    bool
	ProjectorGB       float64
	Draft             dataset.Slug
	DraftQuantization string
	beside            []Companion // once they are worked out
	usualBatch        bool        // MicroBatch is a default
	large             bool        // the defaults of vLLM are those of large cards
	// Tool and Backend are what the speed is asked for; empty: the program of the rules and the
	// backend that is usual there (backendOf).
	Tool    dataset.Slug
	Backend string
	// ComputeUnit is the part of the machine that does the work; empty: that of the backend.
	ComputeUnit ComputeUnit
	// PromptTokens and AnswerTokens are the lengths of a request, for the times it takes; 0: no times.
	PromptTokens, AnswerTokens int64
	// SystemBandwidthGBps is the bandwidth of the main memory beside discrete devices, in 10^9 bytes per second; 0: that
	// of the host, or of what is usual (usualHost).
	SystemBandwidthGBps float64
	Costs               *Costs // nil: no costs
	// MeasuredFirst prefers a size of at least LeastBits that fits and was measured on the hardware to a more
	// precise one whose speed is an estimate. It also prefers any size of at most EnoughBits to one of more.
	MeasuredFirst bool
	// Value says how good a size is that runs: lists name the one of the greatest value. It may set Points. Nil: the most
	// precise.
	Value func(b *Best) float64
	// Only says at which hardware a list of hardware looks. Nil: at all.
	Only func(dataset.Slug) bool
	// BestOnly answers with the best size alone, which is a tenth of the work.
	BestOnly bool
}

// A Unit is a device by name, with its memory in GB, or 0 for that of its record.
type Unit struct {
	Hardware dataset.Slug
	MemoryGB float64
}

// A Fault is something wrong with a query: the field by its API name, what is wrong, and the values there are where they
// can be listed.
type Fault struct {
	Field, Text string
	Allowed     []string
}

func (f *Fault) Error() string { return f.Field + ": " + f.Text }

// normal fills in the defaults, checks the bounds and finds what the query is about.
func (e *Engine) normal(q Query) (Query, *target, *machine, *Fault) {
	t, fault := e.target(&q)
	if fault != nil {
		return q, nil, nil, fault
	}
	m, fault := e.machine(&q)
	return q, t, m, fault
}

// target makes a query normal except for its machine, and finds its model.
func (e *Engine) target(q *Query) (*target, *Fault) {
	t := e.models[q.Model]
	if t == nil {
		return nil, &Fault{Field: "model", Text: fmt.Sprintf("no model has slug %q", q.Model)}
	}
	if fault := q.settle(); fault != nil {
		return nil, fault
	}
	if t.tooLong(q) {
		return nil, &Fault{Field: "context", Text: fmt.Sprintf("must be at most %d, the limit of %s, or pass allow_extended=true; got %d", t.limit, q.Model, q.Context)}
	}
	q.Context = t.context(q.Context)
	var fault *Fault
	if q.beside, fault = e.companions(t, q); fault != nil {
		return nil, fault
	}
	return e.inSize(t, q)
}

// settle fills in the defaults that are the same for all models and machines, and checks the bounds.
func (q *Query) settle() *Fault {
	fault := func(field, format string, args ...any) *Fault {
		return &Fault{Field: field, Text: fmt.Sprintf(format, args...)}
	}
	q.Count, q.Parallel = cmp.Or(q.Count, 1), cmp.Or(q.Parallel, 1)
	q.KV, q.Rules = cmp.Or(q.KV, F16), cmp.Or(q.Rules, rulesOf(q.Tool))
	q.KVV, q.Utilization = cmp.Or(q.KVV, q.KV), cmp.Or(q.Utilization, VLLMUtilization)
	split, batch := SplitLayer, int64(DefaultMicroBatch)
	if q.Rules == VLLM {
		split, batch = SplitTensor, VLLMTokens
	}
	q.usualBatch = q.usualBatch || q.MicroBatch == 0
	q.Split, q.MicroBatch = cmp.Or(q.Split, split), cmp.Or(q.MicroBatch, batch)
	types := q.Rules.kvTypes()
	switch {
	case q.Count < 1 || q.Count > MaxCount:
		return fault("count", "must be 1 to %d, got %d", MaxCount, q.Count)
	case q.Count*(1+len(q.Beside)) > MaxCount:
		return fault("hardware", "must be at most %d devices, got %d", MaxCount, q.Count*(1+len(q.Beside)))
	case q.Context < 0 || q.Context > MaxContext:
		return fault("context", "must be 1 to %d, got %d", MaxContext, q.Context)
	case q.PromptTokens < 0 || q.PromptTokens > MaxContext:
		return fault("prompt_tokens", "must be 1 to %d, got %d", MaxContext, q.PromptTokens)
	case q.AnswerTokens < 0 || q.AnswerTokens > MaxContext:
		return fault("answer_tokens", "must be 1 to %d, got %d", MaxContext, q.AnswerTokens)
	case !slices.Contains(types, string(q.KV)):
		return &Fault{"kv", fmt.Sprintf("must be one of %s with engine=%s, which has no %s cache", strings.Join(types, ", "), q.Rules, q.KV), types}
	case !slices.Contains(types, string(q.KVV)):
		return &Fault{"kv_v", fmt.Sprintf("must be one of %s with engine=%s, which has no %s cache", strings.Join(types, ", "), q.Rules, q.KVV), types}
	case q.NoFlashAttention && q.KVV.quantized() && q.Rules == LlamaCpp:
		return fault("flash_attention", "must be true with values of the cache in %s", q.KVV)
	case q.MemoryGB < 0 || q.BandwidthGBps < 0 || q.SystemMemoryGB < 0 || q.SystemBandwidthGBps < 0 || q.WeightsGB < 0:
		return fault("memory_gb", "must be greater than 0")
	case q.UnifiedShare < 0 || q.UnifiedShare > 1:
		return fault("unified_share", "must be above 0 and at most 1, got %v", q.UnifiedShare)
	case q.Rules != LlamaCpp && q.GPULayers != nil:
		return fault("gpu_layers", "needs engine=llama.cpp")
	case q.Rules != LlamaCpp && q.CPUMoE != nil:
		return fault("n_cpu_moe", "needs engine=llama.cpp")
	}
	return nil
}

// devices is how many there are.
func (q *Query) devices() int64 { return int64(max(q.Count, 1) * (1 + len(q.Beside))) }

// tooLong reports whether a model cannot keep the context of a query in mind.
func (t *target) tooLong(q *Query) bool {
	return t.limit > 0 && q.Context > t.limit && !q.AllowExtended
}

// context is the tokens to keep room for where so many are asked for, 0 for no number.
func (t *target) context(asked int64) int64 {
	switch {
	case asked > 0:
		return asked
	case t.limit > 0:
		return min(DefaultContext, t.limit)
	}
	return DefaultContext
}

// Costs is what a caller pays and how much the machine is used. Nothing has a default.
type Costs struct {
	USDPerKWh   *float64
	HoursPerDay *float64
	Years       *float64
	USDPerHour  *float64  // of rented hardware, in place of its price
	Today       time.Time // for the age of prices
}

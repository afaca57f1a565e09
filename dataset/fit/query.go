package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"modeldex/dataset"
)

// A Query asks whether one model runs on one machine. The zero value of each field but Model means its default. GB are
// 2^30 bytes, bandwidths 10^9 bytes per second.
type Query struct {
	Model        dataset.Slug
	Quantization string  // a size of the model by name, or any name of a quantization; empty: all sizes of the model
	WeightsGB    float64 // of the file, in place of the sizes of the model

	Hardware      dataset.Slug // or MemoryGB and BandwidthGBps
	Beside        []Unit       // further devices, which may be unlike the first
	Count         int          // of each device, so that there are 1 to MaxCount; 0: 1
	MemoryGB      float64      // of one device; 0: that of the hardware, of several sizes the largest
	BandwidthGBps float64      // of one device; 0: that of the hardware
	UnifiedShare  float64      // part of unified memory that a program may use; 0: the default of the vendor

	Host                dataset.Slug // processor or machine that holds discrete devices; empty: not known
	SystemMemoryGB      float64      // main memory beside discrete devices; 0: that of the host, or not known
	SystemBandwidthGBps float64      // of main memory; 0: that of the host, or what is usual
	GPULayers           *int64       // layers llama.cpp puts on the devices, the output counted as one; nil: as many as fit
	CPUMoE              *int64       // layers, from the first, whose experts stay in main memory; nil: as few as possible
	Split               Split        // of several devices; empty: that of the rules

	Rules            Rules   // empty: those of Tool, or LlamaCpp
	Context          int64   // tokens to keep room for; 0: DefaultContext, or the model's limit where that is less
	AllowExtended    bool    // accept a context above the model's limit, as with YaRN
	KV, KVV          KVType  // of keys, and of values; empty: F16, and KV
	NoFlashAttention bool    // count the scratch memory that attention needs without it
	Parallel         int     // slots of llama.cpp, which share the context, or requests that each have it; 0: 1
	MicroBatch       int64   // tokens read at once; 0: DefaultMicroBatch, or VLLMTokens
	Utilization      float64 // part of a card that vLLM may use; 0: VLLMUtilization

	Projector, MTP    bool         // count the projector that reads pictures, and the layer of the model that drafts tokens
	ProjectorGB       float64      // in place of the size that the record has
	Draft             dataset.Slug // model that drafts tokens
	DraftQuantization string       // empty: Q8_0

	Tool                       dataset.Slug // that the speed is asked for; empty: the program of the rules
	Backend                    string       // empty: the usual one (backendOf)
	ComputeUnit                ComputeUnit  // part of the machine that works; empty: that of the backend
	PromptTokens, AnswerTokens int64        // of a request, for the times it takes; 0: no times
	Costs                      *Costs       // nil: no costs

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

	beside            []Companion // once they are worked out
	usualBatch, large bool        // MicroBatch is a default; the defaults of vLLM are those of large cards
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
	q.Count, q.Parallel = cmp.Or(q.Count, 1), cmp.Or(q.Parallel, 1)
	q.KV, q.Rules = cmp.Or(q.KV, F16), cmp.Or(q.Rules, rulesOf(q.Tool))
	q.KVV, q.Utilization = cmp.Or(q.KVV, q.KV), cmp.Or(q.Utilization, VLLMUtilization)
	split, batch := SplitLayer, int64(DefaultMicroBatch)
	if q.Rules == VLLM {
		split, batch = SplitTensor, VLLMTokens
	}
	q.usualBatch = q.usualBatch || q.MicroBatch == 0
	q.Split, q.MicroBatch = cmp.Or(q.Split, split), cmp.Or(q.MicroBatch, batch)
	for _, n := range []struct {
		field          string
		n, least, most int64
	}{
		{"count", int64(q.Count), 1, MaxCount},
		{"context", q.Context, 0, MaxContext},
		{"prompt_tokens", q.PromptTokens, 0, MaxContext},
		{"answer_tokens", q.AnswerTokens, 0, MaxContext},
	} {
		if n.n < n.least || n.n > n.most {
			return &Fault{Field: n.field, Text: fmt.Sprintf("must be 1 to %d, got %d", n.most, n.n)}
		}
	}
	types := q.Rules.kvTypes()
	for _, k := range []struct {
		field string
		kind  KVType
	}{{"kv", q.KV}, {"kv_v", q.KVV}} {
		if !slices.Contains(types, string(k.kind)) {
			return &Fault{k.field, fmt.Sprintf("must be one of %s with engine=%s, which has no %s cache", strings.Join(types, ", "), q.Rules, k.kind), types}
		}
	}
	switch {
	case q.devices() > MaxCount:
		return &Fault{Field: "hardware", Text: fmt.Sprintf("must be at most %d devices, got %d", MaxCount, q.devices())}
	case q.NoFlashAttention && q.KVV.quantized() && q.Rules == LlamaCpp:
		return &Fault{Field: "flash_attention", Text: fmt.Sprintf("must be true with values of the cache in %s", q.KVV)}
	case min(q.MemoryGB, q.BandwidthGBps, q.SystemMemoryGB, q.SystemBandwidthGBps, q.WeightsGB) < 0:
		return &Fault{Field: "memory_gb", Text: "must be greater than 0"}
	case q.UnifiedShare < 0 || q.UnifiedShare > 1:
		return &Fault{Field: "unified_share", Text: fmt.Sprintf("must be above 0 and at most 1, got %v", q.UnifiedShare)}
	case q.Rules != LlamaCpp && q.GPULayers != nil:
		return &Fault{Field: "gpu_layers", Text: "needs engine=llama.cpp"}
	case q.Rules != LlamaCpp && q.CPUMoE != nil:
		return &Fault{Field: "n_cpu_moe", Text: "needs engine=llama.cpp"}
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

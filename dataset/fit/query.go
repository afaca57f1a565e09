package fit

import (
	"fmt"
	"time"

	"modeldex/dataset"
)

// A Query asks whether one model runs on one machine. The zero value of each field but Model
// means its default.
type Query struct {
	Model        dataset.Slug
	Quantization string       // a size of the model by name; empty: all of them
	Hardware     dataset.Slug // or MemoryGB and BandwidthGBps
	Count        int          // devices, 1 to MaxCount; 0: 1
	Context      int64        // tokens to keep room for; 0: DefaultContext, or the model's limit where that is less
	KV           KVType       // empty: F16
	Rules        Rules        // empty: LlamaCpp
	MicroBatch   int64        // tokens read at once (llama.cpp); 0: DefaultMicroBatch
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
	// SystemMemoryGB is the main memory beside a discrete device, for offload; 0: not known.
	SystemMemoryGB float64
	// Tool and Backend are what the speed is asked for; empty: the program of the rules and the
	// backend that is usual there (backendOf).
	Tool    dataset.Slug
	Backend string
	// ComputeUnit is the part of the machine that does the work: cpu, gpu or npu; empty: that of the backend.
	ComputeUnit string
	Costs       *Costs // nil: no costs
	// MeasuredFirst prefers a size of at least LeastBits that fits and was measured on the hardware to a more
	// precise one whose speed is an estimate. It also prefers any size of at most EnoughBits to one of more.
	MeasuredFirst bool
	// BestOnly answers with the best size alone, which is a tenth of the work.
	BestOnly bool
}

// A Fault is something wrong with a query: the field by its API name, and what is wrong.
type Fault struct{ Field, Text string }

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
		return nil, &Fault{"model", fmt.Sprintf("no model has slug %q", q.Model)}
	}
	if fault := q.settle(); fault != nil {
		return nil, fault
	}
	if t.tooLong(q) {
		return nil, &Fault{"context", fmt.Sprintf("must be at most %d, the limit of %s, or pass allow_extended=true; got %d", t.shape.limit, q.Model, q.Context)}
	}
	q.Context = t.context(q.Context)
	return t, nil
}

// settle fills in the defaults that are the same for all models and machines, and checks the bounds.
func (q *Query) settle() *Fault {
	if q.Count == 0 {
		q.Count = 1
	}
	if q.KV == "" {
		q.KV = F16
	}
	if q.Rules == "" {
		q.Rules = LlamaCpp
	}
	if q.MicroBatch == 0 {
		q.MicroBatch = DefaultMicroBatch
	}
	switch {
	case q.Count < 1 || q.Count > MaxCount:
		return &Fault{"count", fmt.Sprintf("must be 1 to %d, got %d", MaxCount, q.Count)}
	case q.Context < 0 || q.Context > MaxContext:
		return &Fault{"context", fmt.Sprintf("must be 1 to %d, got %d", MaxContext, q.Context)}
	case q.Rules == VLLM && q.KV != F16:
		return &Fault{"kv", fmt.Sprintf("must be f16 with engine=vllm, which has no %s cache", q.KV)}
	case q.MemoryGB < 0 || q.BandwidthGBps < 0 || q.SystemMemoryGB < 0:
		return &Fault{"memory_gb", "must be greater than 0"}
	case q.UnifiedShare < 0 || q.UnifiedShare > 1:
		return &Fault{"unified_share", fmt.Sprintf("must be above 0 and at most 1, got %v", q.UnifiedShare)}
	}
	return nil
}

// tooLong reports whether a model cannot keep the context of a query in mind.
func (t *target) tooLong(q *Query) bool {
	return t.shape.limit > 0 && q.Context > t.shape.limit && !q.AllowExtended
}

// context is the tokens to keep room for where so many are asked for, 0 for no number.
func (t *target) context(asked int64) int64 {
	switch {
	case asked > 0:
		return asked
	case t.shape.limit > 0:
		return min(DefaultContext, t.shape.limit)
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

package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"modeldex/dataset"
)

// A Query asks whether one model runs on one machine. Its fields are the parameters of the API, which their comments
// describe, and the flags of the verbs. The zero value of each but Model means its default. GB are 2^30 bytes.
type Query struct {
	// Model, by slug or alias.
	Model dataset.Slug `query:"model,name=model,required" kong:"-"`
	// Hardware, by name; required unless memory_gb is given. Several names, separated by commas, form one machine. A
	// memory size or number of devices in a name, such as "2x RTX 3090", sets memory_gb and count.
	Hardware dataset.Slug `query:"hardware,name=hardware" kong:"-"`
	// Quantization, such as Q4_K_M or AWQ. Default: all quantizations of the model, best first.
	Quantization string `query:"quantization,bytes=100" help:"Quantization, such as Q4_K_M, AWQ or MLX-4bit; default all quantizations of the model." short:"q" placeholder:"NAME"`
	// Size of the weights file, in GB of 2^30 bytes, instead of the sizes listed for the model.
	WeightsGB float64 `query:"weights_gb,above=0,max=1e6" name:"weights-gb" help:"Size of the weights file in GiB, instead of the sizes listed for the model." placeholder:"GB"`
	// Number of devices per name.
	Count int `query:"count,min=1,max=8" help:"Number of devices of each kind, 1 to 8; default the number in the hardware's name, such as 2x3090, or 1." placeholder:"N"`
	// How devices share the model: layer (each has some layers) or tensor (each has a part of every layer). Default:
	// layer; with engine=vllm, tensor.
	Split Split `query:"split" help:"How several devices share the model: layer or tensor." enum:",layer,tensor" default:"" placeholder:"MODE"`
	// Context to reserve memory for, in tokens; 64k is 65,536. Default: 8192, or the limit of the model if it is lower. A
	// value above that limit returns 400 unless allow_extended is true.
	Context int64 `query:"context,min=1,max=16777216,tokens" kong:"-"`
	// Storage type of the key-value cache. Default: f16. llama.cpp supports all but fp8; vllm f16 and fp8; mlx f16, q8_0
	// and q4_0.
	KV KVType `query:"kv,default=f16" name:"kv" help:"Storage type of the key-value cache: ${enum}." enum:"f16,bf16,q8_0,q5_1,q5_0,q4_1,q4_0,iq4_nl,fp8" default:"f16"`
	// Storage type of cached values, if it differs from the keys.
	KVV KVType `query:"kv_v" name:"kv-v" help:"Storage type of cached values, if it differs from the keys." placeholder:"TYPE"`
	// Use flash attention. false adds the scratch memory that attention needs without it.
	FlashAttention *bool `query:"flash_attention,default=true" help:"Use flash attention, which needs no scratch memory for attention scores." negatable:"" default:"true"`
	// Engine whose memory rules apply. Default: llama.cpp.
	Rules Rules `query:"engine,default=llama.cpp" name:"engine" help:"Engine whose memory rules apply: llama.cpp, vllm or mlx." enum:"llama.cpp,vllm,mlx" default:"llama.cpp"`
	// Simultaneous requests. Default: 1. In llama.cpp they share the context; other engines reserve it for each request.
	Parallel int `query:"parallel,min=1,max=1024" help:"Requests served at once; in llama.cpp these are slots, which share the context." placeholder:"N"`
	// Tokens processed in one batch: ubatch-size of llama.cpp (512), max_num_batched_tokens of vLLM (2048).
	MicroBatch int64 `query:"batch_tokens,min=1,max=1e6" name:"batch-tokens" help:"Tokens processed in one batch." placeholder:"N"`
	// Share of each card's memory that vLLM may use. Default: 0.9.
	Utilization float64 `query:"gpu_memory_utilization,above=0,max=1" name:"gpu-memory-utilization" help:"Share of each card's memory that vLLM may use." placeholder:"FRACTION"`
	// Processor or machine that the cards are installed in, by name. A memory size in the name sets system_memory_gb.
	Host dataset.Slug `query:"host,name=hardware" help:"Processor or machine the cards are installed in." placeholder:"NAME"`
	// Main memory in addition to that of the cards, in GB of 2^30 bytes. Default: the memory of the host, or as much as needed.
	SystemMemoryGB float64 `query:"system_memory_gb,above=0,max=1e6" name:"system-memory-gb" help:"Main memory of the machine in GiB, for offloading." placeholder:"GB"`
	// Allow a context above the limit of the model, as with YaRN.
	AllowExtended bool `query:"allow_extended" help:"Allow a context longer than the model's limit."`
	// Memory of one device, in GB of 2^30 bytes: for hardware sold with different memory sizes, or instead of hardware.
	MemoryGB float64 `query:"memory_gb,above=0,max=1e6" name:"memory-gb" help:"Memory of one device in GiB, if the hardware is sold with several sizes; default the size in the hardware's name, if there is one." placeholder:"GB"`
	// Memory bandwidth of one device, in 10^9 bytes per second. If it differs from that of hardware, measurements on the
	// hardware are ignored. Default if hardware is not given: a typical value for cards with memory_gb, or for two channels
	// of DDR4 or DDR5 with compute_unit=cpu.
	BandwidthGBps float64 `query:"bandwidth_gbps,above=0,max=1e6" kong:"-"`
	// Share of unified memory that a model can use. Default: the share the vendor's system allows, shown in the answer.
	UnifiedShare float64 `query:"unified_share,above=0,max=1" help:"Share of unified memory that a model may use, 0 to 1." placeholder:"FRACTION"`
	// Layers on the cards, like -ngl of llama.cpp; the output layer counts as one. Default: as many as fit.
	GPULayers *int64 `query:"gpu_layers,min=0,max=1000" name:"gpu-layers" help:"Layers to put on the cards, counting the output layer as one; default as many as fit." placeholder:"N"`
	// Layers, from the first, whose experts stay in main memory, like --n-cpu-moe of llama.cpp. Default: as few as
	// possible.
	CPUMoE *int64 `query:"n_cpu_moe,min=0,max=1000" name:"n-cpu-moe" help:"Layers whose experts stay in main memory; default as few as possible." placeholder:"N"`
	// Include the image projector (mmproj), with projector_bytes of the model.
	Projector bool `query:"projector" help:"Include the image projector (mmproj) of the model."`
	// Size of the projector file, in GB of 2^30 bytes, instead of the known size.
	ProjectorGB float64 `query:"projector_gb,above=0,max=1e3" name:"projector-gb" help:"Size of the image projector file in GiB, instead of the known size." placeholder:"GB"`
	// Include the layer that drafts tokens (multi-token prediction).
	MTP bool `query:"mtp" name:"mtp" help:"Include the layer that drafts tokens (multi-token prediction)."`
	// Draft model for speculative decoding, by slug or alias; its memory is included.
	Draft dataset.Slug `query:"draft,name=model" help:"Draft model for speculative decoding; its memory is included." placeholder:"MODEL"`
	// Quantization of the draft model; default Q8_0.
	DraftQuantization string `query:"draft_quantization,bytes=100,with=draft" help:"Quantization of the draft model; default Q8_0." placeholder:"NAME"`
	// Tool to estimate the speed for, such as ollama. It also sets engine.
	Tool dataset.Slug `query:"tool,name=tool" help:"Tool to estimate the speed for, by slug, such as ollama; default the engine's own." placeholder:"TOOL"`
	// Compute backend, such as vulkan. Default: the usual one for the hardware.
	Backend string `query:"backend,bytes=40" help:"Compute backend, such as vulkan; default the usual one for the hardware." placeholder:"NAME"`
	// Part of the machine that runs the model.
	ComputeUnit ComputeUnit `query:"compute_unit" help:"Compute unit to run on: cpu, gpu or npu; default that of the backend." enum:",cpu,gpu,npu" default:""`
	// Prompt length in tokens, for ttft_s.
	PromptTokens int64 `query:"prompt_tokens,min=1,max=16777216,tokens" kong:"-"`
	// Length of the answer in tokens, for total_s; needs prompt_tokens.
	AnswerTokens int64 `query:"answer_tokens,min=1,max=16777216,tokens" kong:"-"`
	// Bandwidth of main memory in GB/s. Default: the bandwidth of the host, or a usual value.
	SystemBandwidthGBps float64 `query:"system_bandwidth_gbps,above=0,max=1e6" name:"system-bandwidth-gbps" help:"Bandwidth of the machine's main memory in GB/s, for weights kept there." placeholder:"GBPS"`
	Costs
	// Minimum generation speed, measured or estimated, in tokens per second; with a full cache if context is given. Rows
	// with unknown speed are left out, and a notice says how many. The call counts as six calls towards the burst limit.
	MinTPS float64 `query:"min_tps,above=0,max=1e6" name:"min-tps" help:"Lowest acceptable generation speed, in tokens per second." placeholder:"SPEED"`
	// Quantization shown in each row. best: the one with the highest score (a balance of precision, speed and memory)
	// among those published, measured or in common use. measured: the most precise one with 4 to 9 bits per weight that
	// fits and was measured on the hardware; failing that, a measured one with more bits; failing that, the most precise
	// one with up to 9 bits that fits. Weights trained in four bits (MXFP4) come before other files of the model.
	Prefer Preference `query:"prefer,default=best" help:"Quantization to show in each row. best: the one with the highest score (a balance of precision, speed and memory). measured: the most precise one with 4 to 9 bits per weight that fits and was measured on the hardware; failing that, a measured one with more bits; failing that, the most precise one with up to 9 bits that fits." enum:"best,measured" default:"best"`

	Beside []Unit `kong:"-"` // further devices, which may be unlike the first; Count counts each
	// Value says how good a size is that runs: lists name the one of the greatest value. It may set Points. Nil: the most
	// precise.
	Value func(b *Best) float64 `kong:"-"`
	// Only says at which hardware a list of hardware looks. Nil: at all.
	Only func(dataset.Slug) bool `kong:"-"`
	// BestOnly answers with the best size alone, which is a tenth of the work.
	BestOnly bool `kong:"-"`

	beside            []Companion // once they are worked out
	usualBatch, large bool        // MicroBatch is a default; the defaults of vLLM are those of large cards
}

// Costs is what a caller pays and how much the machine is used. Nothing has a default.
type Costs struct {
	// Electricity price, for costs.
	USDPerKWh *float64 `query:"usd_per_kwh,min=0,max=1e6" name:"usd-per-kwh" help:"Electricity price in US dollars per kWh, for costs." placeholder:"USD"`
	// Hours of use per day, for costs.
	HoursPerDay *float64 `query:"hours_per_day,above=0,max=24" help:"Hours of use per day, for costs." placeholder:"HOURS"`
	// Years of use, for costs.
	Years *float64 `query:"years,above=0,max=100" help:"Years of use, for costs." placeholder:"N"`
	// Rent of the hardware per hour, for costs; replaces price and energy.
	USDPerHour *float64 `query:"usd_per_hour,min=0,max=1e6" name:"usd-per-hour" help:"Price to rent the hardware in US dollars per hour, for costs." placeholder:"USD"`

	Today time.Time `kong:"-"` // for the age of prices
}

// wanted reports whether a query asks for costs.
func (c Costs) wanted() bool {
	c.Today = time.Time{}
	return c != Costs{}
}

func (q *Query) flashAttention() bool { return q.FlashAttention == nil || *q.FlashAttention }

// Use makes devices those of a query. A memory that the query has counts before that of the first.
func (q *Query) Use(devices []Unit) {
	if len(devices) > 0 {
		q.Hardware, q.MemoryGB, q.Beside = devices[0].Hardware, cmp.Or(q.MemoryGB, devices[0].MemoryGB), devices[1:]
	}
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
	if q.KV = cmp.Or(q.KV, F16); q.Rules == "" || q.Rules == LlamaCpp {
		q.Rules = rulesOf(q.Tool) // llama.cpp is the default, also beside a tool
	}
	q.KVV, q.Utilization = cmp.Or(q.KVV, q.KV), cmp.Or(q.Utilization, VLLMUtilization)
	q.usualBatch = q.usualBatch || q.MicroBatch == 0
	split, batch := SplitLayer, int64(DefaultMicroBatch)
	if q.Rules == VLLM {
		split, batch = SplitTensor, VLLMTokens
	}
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
	for i, kind := range []KVType{q.KV, q.KVV} {
		if !slices.Contains(types, string(kind)) {
			return &Fault{[]string{"kv", "kv_v"}[i], fmt.Sprintf("must be one of %s with engine=%s, which has no %s cache", strings.Join(types, ", "), q.Rules, kind), types}
		}
	}
	switch {
	case q.devices() > MaxCount:
		return &Fault{Field: "hardware", Text: fmt.Sprintf("must be at most %d devices, got %d", MaxCount, q.devices())}
	case !q.flashAttention() && q.KVV.quantized() && q.Rules == LlamaCpp:
		return &Fault{Field: "flash_attention", Text: fmt.Sprintf("must be true if cached values are stored as %s", q.KVV)}
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
	if asked == 0 && t.limit > 0 {
		return min(DefaultContext, t.limit)
	}
	return cmp.Or(asked, DefaultContext)
}

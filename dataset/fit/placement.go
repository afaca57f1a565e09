package fit

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"modeldex/dataset"
)

// Placement is the memory that holds the weights and the cache of a quantization, and the flags to request it.
type Placement struct {
	// Number of layers on the devices, plus one for the output; null with engines that do not split a model between
	// devices and main memory.
	GPULayers *int64 `json:"gpu_layers" jsonschema:"nullable,minimum=0,example=33"`
	// Number of layers, from the first, whose experts are in main memory; null if gpu_layers is null.
	CPUMoE *int64 `json:"n_cpu_moe" jsonschema:"nullable,minimum=0,example=12"`
	// How several devices share the model.
	Split Split `json:"split" jsonschema:"example=layer"`
	// Command-line flags for this placement; empty for files that llama.cpp does not read.
	Flags string `json:"flags" jsonschema:"example=-c 8192 -ngl 99 --n-cpu-moe 12"`
	// The same for builds without --n-cpu-moe; null if no experts are in main memory.
	OverrideTensor *string `json:"override_tensor" jsonschema:"nullable,example=-ot blk\\.(0|1)\\.ffn_(up|down|gate)_exps=CPU"`
	// Memory use of each device.
	Devices []OnDevice `json:"devices"`
	// Weights and cache in main memory.
	Host int64 `json:"host_bytes" jsonschema:"minimum=0,example=2147483648" jsonschema_extras:"unit=bytes"`
	// Weights in main memory read per token; null if the weights read per token are unknown.
	HostRead *int64 `json:"host_read_bytes" jsonschema:"nullable,minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
}

// OnDevice is the part of a model on one device.
type OnDevice struct {
	// Slug of the hardware; null for a machine described only by its memory.
	Hardware *dataset.Slug `json:"hardware" jsonschema:"nullable,example=nvidia-rtx-4090"`
	// Number of layers, plus one for the output; with split=tensor, a part of each.
	Layers int64 `json:"layers" jsonschema:"minimum=0,example=33"`
	// Weights.
	Weights int64 `json:"weights_bytes" jsonschema:"minimum=0,example=4920739168" jsonschema_extras:"unit=bytes"`
	// Key-value cache.
	Cache int64 `json:"kv_cache_bytes" jsonschema:"minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
	// Intermediate values.
	Compute int64 `json:"compute_buffer_bytes" jsonschema:"minimum=0,example=271056896" jsonschema_extras:"unit=bytes"`
	// Memory that a model may use.
	Usable int64 `json:"usable_bytes" jsonschema:"minimum=0,example=25769803776" jsonschema_extras:"unit=bytes"`
	// Weights read per token; null if unknown.
	Read *int64 `json:"read_bytes" jsonschema:"nullable,minimum=0,example=4600000000" jsonschema_extras:"unit=bytes"`

	read int64 // of what is counted evenly over the layers
}

// taken is what all devices hold.
func (p *Placement) taken() (bytes int64) {
	for i := range p.Devices {
		bytes += p.Devices[i].Weights + p.Devices[i].Cache + p.Devices[i].Compute
	}
	return bytes
}

// A layout is how the parameters of a model are divided.
type layout struct {
	layers, first int64   // of all, and the leading ones without experts
	embedding     float64 // parameters of the matrix; 0 where unknown
	params        float64 // 0 where unknown
	lookedUp      float64 // part of the file that is only looked up, beside the embedding
	experts       float64 // parameters of all routed experts
	perToken      float64 // part of the experts that one token reads
	tied          *bool
}

// usualLayers is used if the number of layers is unknown.
const usualLayers = 32

func layoutOf(m *dataset.Model) layout {
	a := &m.Architecture
	l := layout{layers: cmp.Or(val(a.NumLayers), usualLayers), first: val(a.NumDenseLayers), tied: a.TieWordEmbeddings}
	l.embedding = float64(val(a.VocabSize) * val(a.HiddenSize))
	if m.ParamsB != nil {
		l.params = *m.ParamsB * 1e9
		if m.EffectiveParamsB != nil {
			l.lookedUp = max(0, 1 - *m.EffectiveParamsB / *m.ParamsB)
		}
	}
	n, k := float64(val(a.NumExperts)), float64(val(a.NumExpertsPerToken))
	if n == 0 || k == 0 || k >= n || l.first >= l.layers {
		l.first = 0
		return l
	}
	l.perToken = k / n
	l.experts = float64((l.layers-l.first)*val(a.HiddenSize)*val(a.MoEIntermediateSize)) * 3 * n
	if m.ActiveParamsB != nil && l.params > 0 && (l.experts == 0 || l.experts > l.params) {
		l.experts = (l.params - *m.ActiveParamsB*1e9) / (1 - l.perToken)
	}
	return l
}

// matrices is how many matrices of the size of the embedding a checkpoint has.
func (l *layout) matrices() float64 { return 2 - float64(oneIf(l.tied != nil && *l.tied)) }

// A storage is the bits of the main blocks of a size, which its embedding has, and of all its weights; 0 if unknown.
type storage struct{ blocks, weights float64 }

// A load is what a size takes: its weights by where they can lie, and what it needs beside them, all in bytes.
type load struct {
	*layout
	burden
	weights        int64
	always, copied int64 // in main memory beside a discrete device whatever is offloaded, and what of that devices hold as well
	output         int64
	dense, experts int64 // of all layers
}

// load divides the weights of a size. An unknown tie of the embedding to the output takes the most memory, or the least.
func (l *layout) load(of burden, weights int64, s storage, offloads, least bool) load {
	out := load{layout: l, burden: of, weights: weights}
	part := func(bits float64) int64 { return min(int64(l.embedding*bits/8), weights/2) }
	tied, embedding, matrices := val(cmp.Or(l.tied, new(!least))), part(s.blocks), 2.0
	if out.output = part(max(s.blocks, OutputBits)); tied {
		embedding, matrices = out.output, 1
	}
	layers := weights
	if offloads {
		out.always = embedding + int64(l.lookedUp*float64(weights))
		layers -= out.always
	}
	switch {
	case tied && offloads:
		out.copied = min(embedding, out.always)
	case tied:
		layers -= out.output
	default:
		out.output = min(out.output, layers/2)
		if layers -= out.output; !offloads {
			layers -= embedding
			out.output += embedding
		}
	}
	if rest := l.params - matrices*l.embedding; l.experts > 0 && rest > 0 {
		out.experts = int64(float64(layers) * min(l.experts/rest, 0.99))
		if s.weights > 0 {
			out.experts = min(out.experts, int64(l.experts*s.weights/8))
		}
	}
	out.dense = layers - out.experts
	return out
}

// onDevices is the weights that devices hold where all layers are on them.
func (l *load) onDevices() int64 { return l.weights - l.always + l.copied }

// of is the weights of the layers from one to before another, without the experts of the layers before moe.
func (l *load) of(from, to, moe int64) (dense, experts int64) {
	if to <= from {
		return 0, 0
	}
	if with := to - max(from, moe, l.first); with > 0 {
		experts = l.experts * with / (l.layers - l.first)
	}
	return l.dense * (to - from) / l.layers, experts
}

// A plan is the layers on the devices, the output counted as one more, and of how many the experts are in main memory.
type plan struct{ gpu, moe int64 }

// holds is what a device takes that has the layers from one to before another, the output counted as the last. Experts in
// main memory are copied to it for long prompts, one matrix at a time.
func (l *load) holds(from, to int64, p plan) (d OnDevice) {
	dense, experts := l.of(from, min(to, l.layers), p.moe)
	d.Layers, d.Weights, d.Cache, d.Compute = to-from, dense+experts, l.cache*max(min(to, l.layers)-from, 0)/l.layers, l.buffer
	if p.moe > l.first && l.experts > 0 {
		d.Compute += l.experts / (l.layers - l.first) / 3
	}
	d.read = dense + int64(float64(experts)*l.perToken)
	if to > l.layers && from <= l.layers {
		d.Weights, d.read = d.Weights+l.output, d.read+l.output
	}
	return d
}

// lay puts a size on the devices, until it is asked again. ok reports whether it fits, with the reserve or without. Layers
// are divided as llama.cpp does without being told how, else each device takes as many as it has room for.
func (a *evaluation) lay(l *load, p plan, reserve bool) (on []OnDevice, ok bool) {
	fits := func(i int, d OnDevice) bool {
		room := a.m.devices[i].usable - d.Weights - d.Cache - d.Compute
		if reserve {
			room -= a.m.devices[i].reserve(a.q)
		}
		return room >= l.extra*int64(oneIf(i == 0))
	}
	n, begin, shared := int64(len(a.m.devices)), l.layers+1-p.gpu, a.q.Split == SplitTensor
	a.on = slices.Grow(a.on[:0], int(n))[:n]
	before, from, ok := int64(0), begin, true
	for i := range a.on {
		before += a.m.devices[i].usable
		end := begin + (p.gpu*before+a.m.available-1)/max(a.m.available, 1)
		d := l.holds(from, end, p)
		if from = end; shared {
			d = l.holds(begin, l.layers+1, p)
			if d.Weights, d.read = d.Weights/n, d.read/n; !a.t.most.latent { // which every device keeps whole
				d.Cache /= n
			}
		}
		a.on[i], ok = d, ok && fits(i, d)
	}
	if ok || n == 1 || shared {
		return a.on, ok
	}
	from = begin
	for i := range a.on {
		end := from
		for end <= l.layers && fits(i, l.holds(from, end+1, p)) {
			end++
		}
		a.on[i], from = l.holds(from, end, p), end
	}
	return a.on, from > l.layers
}

// resident reports whether all of a size fits on the devices.
func (a *evaluation) resident(l *load, reserve bool) bool {
	if l.onDevices()+l.cache > a.m.available {
		return false
	}
	_, ok := a.lay(l, plan{gpu: l.layers + 1}, reserve)
	return ok
}

// inMain is what a plan leaves in main memory.
func (l *load) inMain(p plan) int64 {
	from := l.layers + 1 - p.gpu
	dense, experts := l.of(max(from, 0), l.layers, p.moe)
	out := l.always + l.dense + l.experts - dense - experts + l.cache*min(from, l.layers)/l.layers
	if p.gpu == 0 {
		out += l.output - l.copied
	}
	return out
}

// given reports whether a query says what is on the devices.
func (q *Query) given() bool { return q.GPULayers != nil || q.CPUMoE != nil }

// arrange finds the plan with the most weights on the devices that fits: first the experts of as few layers as possible go
// to main memory, then whole layers. There is none where nothing can be in main memory.
func (a *evaluation) arrange(l *load) (p plan, ok bool) {
	if p.gpu = l.layers + 1; !a.offloads() {
		return p, false
	}
	onDevices := func(p plan) bool {
		_, ok := a.lay(l, p, true)
		return ok
	}
	inMain := func(p plan) bool { return a.m.main == 0 || l.inMain(p) <= a.m.main }
	most := min(val(cmp.Or(a.q.GPULayers, &p.gpu)), p.gpu)
	least := most
	if a.q.GPULayers == nil {
		least = 1
	}
	switch first := l.first + 1; {
	case a.q.CPUMoE != nil:
		p.moe = min(*a.q.CPUMoE, l.layers)
	case l.experts > 0 && a.q.GPULayers == nil:
		p.moe = first + int64(sort.Search(int(l.layers-first), func(n int) bool { return onDevices(plan{p.gpu, first + int64(n)}) }))
		if p.moe < l.layers && inMain(p) {
			return p, true
		}
	}
	p.gpu = most - int64(sort.Search(int(most-least), func(n int) bool { return onDevices(plan{most - int64(n), p.moe}) }))
	if onDevices(p) && inMain(p) {
		return p, true
	}
	return plan{least, p.moe}, false
}

// placement describes a plan of a size.
func (a *evaluation) placement(l *load, p plan) *Placement {
	on, _ := a.lay(l, p, true)
	out := &Placement{Split: a.q.Split, Devices: slices.Clone(on), Host: l.inMain(p), Flags: a.q.flags(l, p, on)}
	all := l.holds(0, l.layers+1, plan{}).read
	bytes := float64(l.weights) * a.t.body.share
	if l.experts > 0 || a.t.body.share == 1 {
		bytes = float64(all) // without the embedding, of which one token reads a row
	}
	rest := int64(bytes)
	for i := range out.Devices {
		d := &out.Devices[i]
		d.Usable = a.m.devices[i].usable
		if h := a.m.devices[i].hw; h != nil {
			d.Hardware = &h.Slug
		}
		if bytes > 0 {
			d.Read = new(int64(bytes * float64(d.read) / float64(max(all, 1))))
			rest -= *d.Read
		}
	}
	if bytes > 0 {
		if out.HostRead = new(max(rest, 0)); p.gpu > l.layers && p.moe <= l.first {
			*out.HostRead = 0
		}
	}
	if a.q.Rules != LlamaCpp {
		return out
	}
	if out.GPULayers, out.CPUMoE = &p.gpu, &p.moe; p.moe > l.first {
		layers := fmt.Sprint(l.first)
		for i := l.first + 1; i < p.moe; i++ {
			layers += fmt.Sprintf("|%d", i)
		}
		out.OverrideTensor = new(`-ot blk\.(` + layers + `)\.ffn_(up|down|gate)_exps=CPU`)
	}
	return out
}

// flags are the options of a program for a plan.
func (q *Query) flags(l *load, p plan, on []OnDevice) string {
	var out []string
	add := func(is bool, format string, args ...any) {
		if is {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	several := len(on) > 1
	switch q.Rules {
	case LlamaCpp:
		gpu, layers := p.gpu, []string{}
		if gpu > l.layers {
			gpu = 99
		}
		for i := range on {
			layers = append(layers, fmt.Sprint(on[i].Layers))
		}
		add(true, "-c %d -ngl %d", q.Context, gpu)
		add(p.moe > l.first, "--n-cpu-moe %d", p.moe)
		add(several && q.Split == SplitLayer, "-ts %s", strings.Join(layers, ","))
		add(several && q.Split == SplitTensor, "-sm row")
		add(q.KV != F16, "-ctk %s", q.KV)
		add(q.KVV != F16, "-ctv %s", q.KVV)
		add(!q.flashAttention(), "-fa off")
		add(q.Parallel > 1, "-np %d", q.Parallel)
		add(q.MicroBatch != DefaultMicroBatch, "-ub %d", q.MicroBatch)
	case VLLM:
		add(true, "--max-model-len %d --gpu-memory-utilization %v", q.Context, q.Utilization)
		add(several && q.Split == SplitTensor, "--tensor-parallel-size %d", len(on))
		add(several && q.Split == SplitLayer, "--pipeline-parallel-size %d", len(on))
		add(q.KV == FP8, "--kv-cache-dtype fp8")
		add(!q.usualBatch, "--max-num-batched-tokens %d", q.MicroBatch)
	}
	return strings.Join(out, " ")
}

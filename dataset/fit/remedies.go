package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"modeldex/dataset/record"
)

// Remedy is a change to a query that makes a quantization fit on the devices, or run partly in main memory.
type Remedy struct {
	// Parameter to change.
	Change string `json:"change" jsonschema:"enum=parallel,enum=kv,enum=context,enum=quantization,enum=gpu_layers,enum=n_cpu_moe,enum=system_memory_gb,enum=count,example=kv"`
	// Its new value.
	Value string `json:"value" jsonschema:"example=q8_0"`
	// Quantization it helps.
	Quantization string `json:"quantization" jsonschema:"example=Q4_K_M"`
	// Verdict with the change.
	Verdict Verdict `json:"verdict" jsonschema:"example=fits"`
	// Price of the additional hardware; null if there is none or its price is unknown.
	USD *float64 `json:"usd" jsonschema:"nullable,minimum=0,example=1600" jsonschema_extras:"unit=US dollars"`
	// The change in words.
	Text string `json:"text" jsonschema:"example=with a q8_0 cache"`
}

// leastUseful is the shortest context offered as a remedy.
const leastUseful = 1024

// remedies are the changes that each alone make a model run, the cheapest first: for the quantization of the query, or the
// smallest of at least four bits that lists may name.
func (a *evaluation) remedies() []Remedy {
	out, t, all, sizes := []Remedy{}, a.t, a.e.models[a.q.Model], a.t.listed
	if len(sizes) == 0 || a.q.Quantization != "" {
		sizes = t.named(a.q.Quantization)
	}
	if len(sizes) == 0 || a.m.memory == 0 {
		return out
	}
	size := slices.MinFunc(sizes, func(x, y int) int {
		return cmp.Or(oneIf(!t.hasLeastBits(x))-oneIf(!t.hasLeastBits(y)), cmp.Compare(t.Quantizations[x].SizeBytes, t.Quantizations[y].SizeBytes))
	})
	with := func(change func(q *Query)) (Verdict, plan) {
		q := *a.q
		change(&q)
		m, fault := a.e.machine(&q)
		if fault != nil {
			return No, plan{}
		}
		b := evaluation{e: a.e, q: &q, t: t, m: m}
		b.weigh()
		return b.verdict(size)
	}
	// try adds a change if its verdict is one of those.
	try := func(change string, value any, text string, verdicts []Verdict, apply func(q *Query)) bool {
		v, _ := with(apply)
		found := slices.Contains(verdicts, v)
		if found {
			out = append(out, Remedy{Change: change, Value: fmt.Sprint(value), Quantization: t.Quantizations[size].Name, Verdict: v, Text: text})
		}
		return found
	}
	now, _ := a.verdict(size)
	fits, better := []Verdict{Fits}, []Verdict{Fits}
	if now == No {
		better = []Verdict{Fits, Offload}
	}
	for n := a.q.Parallel - 1; n > 0; n-- {
		if try("parallel", n, "with "+record.Counted(n, "request")+" at once", fits, func(q *Query) { q.Parallel = n }) {
			break
		}
	}
	for _, kind := range []KVType{Q80, FP8, Q40} {
		has := slices.Contains(a.q.Rules.kvTypes(), string(kind)) && (a.q.flashAttention() || a.q.Rules != LlamaCpp)
		if has && kind.bytes(32) < a.q.KV.bytes(32) &&
			try("kv", kind, fmt.Sprintf("with a %s cache", kind), better, func(q *Query) { q.KV, q.KVV = kind, kind }) {
			break
		}
	}
	if most := a.maxContext(size, a.q.KV, a.q.KVV); most >= leastUseful && most < a.q.Context {
		try("context", most, fmt.Sprintf("with a context of %d tokens", most), Verdicts, func(q *Query) { q.Context = most })
	}
	base := size
	for _, size = range all.listed {
		text := ""
		if t = all; !t.hasLeastBits(size) {
			text = ", but gives noticeably worse answers"
		}
		name := t.Quantizations[size].Name
		if a.q.Quantization != "" && t.sizes[size].chosen &&
			try("quantization", name, "in "+name+text, fits, func(q *Query) { q.Quantization, q.WeightsGB = "", 0 }) {
			break
		}
	}
	switch t, size = a.t, base; {
	case a.q.CPUMoE != nil:
		_, p := with(func(q *Query) { q.GPULayers, q.CPUMoE = nil, nil })
		try("n_cpu_moe", p.moe, fmt.Sprintf("with the experts of %d layers in main memory", p.moe), better, func(q *Query) { q.CPUMoE = &p.moe })
	case a.q.GPULayers != nil:
		_, p := with(func(q *Query) { q.GPULayers = nil })
		try("gpu_layers", p.gpu, fmt.Sprintf("with %d layers on the devices", p.gpu), better, func(q *Query) { q.GPULayers = &p.gpu })
	case now == No && a.offloads() && a.m.main > 0:
		_, p := with(func(q *Query) { q.SystemMemoryGB, q.Host = MaxMainGB, "" })
		_, most := a.loads(size)
		gb := math.Ceil(float64(most.inMain(p)) / MainMemoryPart / gib)
		try("system_memory_gb", gb, fmt.Sprintf("with %v GB of main memory", gb), []Verdict{Offload}, func(q *Query) { q.SystemMemoryGB, q.Host = gb, "" })
	}
	for n := a.q.Count + 1; n <= MaxCount && len(a.q.Beside) == 0 && a.m.discrete; n++ {
		if !try("count", n, "on "+record.Counted(n, "device"), fits, func(q *Query) { q.Count = n }) {
			continue
		}
		if h := a.m.hw; h != nil && h.StreetPriceUSD != nil {
			out[len(out)-1].USD = new(*h.StreetPriceUSD * float64(n-a.q.Count))
		}
		break
	}
	return out
}

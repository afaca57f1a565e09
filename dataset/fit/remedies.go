package fit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"modeldex/dataset/record"
)

// A Remedy is a change of a query that makes a size fit on the devices, or run with part of it in main memory.
type Remedy struct {
	// Parameter to change.
	Change string `json:"change" jsonschema:"enum=kv,enum=context,enum=quantization,enum=gpu_layers,enum=n_cpu_moe,enum=system_memory_gb,enum=count,example=kv"`
	// Its new value.
	Value string `json:"value" jsonschema:"example=q8_0"`
	// Quantization it helps.
	Quantization string `json:"quantization" jsonschema:"example=Q4_K_M"`
	// Verdict with the change.
	Verdict Verdict `json:"verdict" jsonschema:"example=fits"`
	// Price of what has to be bought; null where that is nothing, or no price is known.
	USD *float64 `json:"usd" jsonschema:"nullable,minimum=0,example=1600" jsonschema_extras:"unit=US dollars"`
	// The change in words.
	Text string `json:"text" jsonschema:"example=with a q8_0 cache"`
}

// leastUseful is the shortest context that is offered as a remedy.
const leastUseful = 1024

// remedies are the changes that each alone make a model run that does not fit on the devices, the cheapest first: those
// that cost nothing, by what they take from the answers, then those that have to be bought. They are for the quantization
// of the query, or else for the smallest of at least four bits that lists may name.
func (a *ask) remedies() []Remedy {
	out := []Remedy{}
	sizes := slices.Clone(a.t.listed)
	if len(sizes) == 0 {
		sizes = slices.Clone(a.t.order)
	}
	if a.q.Quantization != "" {
		sizes = slices.DeleteFunc(slices.Clone(a.t.order), func(o ordered) bool { return !sameName(a.t.Quantizations[o.at].Name, a.q.Quantization) })
	}
	if len(sizes) == 0 || a.m.memory == 0 {
		return out
	}
	coarse := func(o ordered) int { return oneIf(!a.t.hasLeastBits(o.at)) }
	base := slices.MinFunc(sizes, func(x, y ordered) int {
		return cmp.Or(cmp.Compare(coarse(x), coarse(y)), cmp.Compare(x.bytes, y.bytes))
	})
	now, _ := a.verdict(base.at)
	add := func(change, value, text string, t *target, size int, verdict Verdict, usd *float64) {
		out = append(out, Remedy{change, value, t.Quantizations[size].Name, verdict, usd, text})
	}
	// with is the verdict of a size with another query; better reports whether that is a remedy.
	with := func(t *target, size int, change func(q *Query)) (Verdict, plan) {
		q := *a.q
		change(&q)
		m, fault := a.e.machine(&q)
		if fault != nil {
			return No, plan{}
		}
		b := ask{e: a.e, q: &q, t: t, m: m, need: a.e.need(t, &q)}
		return b.verdict(size)
	}
	better := func(v Verdict) bool { return v == Fits || now == No && v == Offload }
	for _, kind := range []KVType{Q80, FP8, Q40} {
		has := slices.Contains(a.q.Rules.kvTypes(), string(kind)) && !(a.q.NoFlashAttention && a.q.Rules == LlamaCpp)
		if !has || kind.storage().per32 >= a.q.KV.storage().per32 {
			continue
		}
		if v, _ := with(a.t, base.at, func(q *Query) { q.KV, q.KVV = kind, kind }); better(v) {
			add("kv", string(kind), fmt.Sprintf("with a %s cache", kind), a.t, base.at, v, nil)
			break
		}
	}
	if most := a.maxContext(base.at, a.q.KV, a.q.KVV); most >= leastUseful && most < a.q.Context {
		v, _ := with(a.t, base.at, func(q *Query) { q.Context = most })
		add("context", strconv.FormatInt(most, 10), fmt.Sprintf("with a context of %d tokens", most), a.t, base.at, v, nil)
	}
	if all := a.e.models[a.q.Model]; a.q.Quantization != "" {
		for _, o := range all.listed {
			if v, _ := with(all, o.at, func(q *Query) { q.Quantization, q.WeightsGB = "", 0 }); all.chosen[o.at] && v == Fits {
				name := all.Quantizations[o.at].Name
				text := "in " + name
				if !all.hasLeastBits(o.at) {
					text += ", whose answers are clearly worse"
				}
				add("quantization", name, text, all, o.at, v, nil)
				break
			}
		}
	}
	if a.q.given() {
		_, p := with(a.t, base.at, func(q *Query) { q.GPULayers, q.CPUMoE = nil, nil })
		change, n, words := "gpu_layers", &p.gpu, "with %d layers on the devices"
		if a.q.CPUMoE != nil {
			change, n, words = "n_cpu_moe", &p.moe, "with the experts of %d layers in main memory"
		}
		v, _ := with(a.t, base.at, func(q *Query) {
			if a.q.CPUMoE != nil {
				q.CPUMoE = n
			} else {
				q.GPULayers = n
			}
		})
		if better(v) {
			add(change, strconv.FormatInt(*n, 10), fmt.Sprintf(words, *n), a.t, base.at, v, nil)
		}
	} else if now == No && a.offloads() && a.m.main > 0 {
		if v, p := with(a.t, base.at, func(q *Query) { q.SystemMemoryGB, q.Host = MaxMainGB, "" }); v == Offload {
			_, most := a.loads(base.at)
			gb := math.Ceil(float64(most.inMain(p)) / MainMemoryPart / gib)
			add("system_memory_gb", strconv.FormatFloat(gb, 'f', -1, 64), fmt.Sprintf("with %v GB of main memory", gb), a.t, base.at, v, nil)
		}
	}
	for n := a.q.Count + 1; n*(1+len(a.q.Beside)) <= MaxCount && len(a.q.Beside) == 0 && a.m.discrete; n++ {
		v, _ := with(a.t, base.at, func(q *Query) { q.Count = n })
		if v != Fits {
			continue
		}
		var usd *float64
		if h := a.m.hw; h != nil && h.StreetPriceUSD != nil {
			price := *h.StreetPriceUSD * float64(n-a.q.Count)
			usd = &price
		}
		add("count", strconv.Itoa(n), "on "+record.Counted(n, "device"), a.t, base.at, v, usd)
		break
	}
	return out
}

package fit

import (
	"cmp"
	"slices"

	"modeldex/dataset"
)

// Fit answers a query. A *Fault says what is wrong with it. A query for all sizes gives no more
// than the model has, 40 or so.
func (e *Engine) Fit(q Query) (*Answer, *Fault) {
	q, t, m, fault := e.normal(q)
	if fault != nil {
		return nil, fault
	}
	a := &Answer{Model: t.Slug, Count: q.Count, Context: q.Context, KV: q.KV, Rules: q.Rules, Missing: m.missing, Verdict: Unknown, Sizes: []Size{}}
	if m.hw != nil {
		a.Hardware = &m.hw.Slug
	}
	if m.memory > 0 {
		a.Available = &Available{m.memory, m.available, m.share}
	}
	at := site{speeds: true}
	asked := e.ask(&q, t, m, &at)
	sizes := asked.bestFirst()
	if len(sizes) == 0 && q.Quantization != "" {
		return nil, &Fault{"quantization", "no size of " + string(t.Slug) + " has this name"}
	}
	if len(sizes) == 0 {
		a.Missing = append(a.Missing, "params_b")
	}
	if q.BestOnly {
		sizes = sizes[:min(len(sizes), 1)]
	}
	a.Sizes = make([]Size, len(sizes))
	for i, of := range sizes {
		s := &a.Sizes[i]
		*s = asked.judge(of.at)
		s.MaxContext = t.maxContexts(&q, m, s.Memory.Weights.Bytes)
		s.Speed = asked.speed(of.at, s.Verdict != No && s.Verdict != Offload)
		if q.Costs != nil {
			s.Cost = asked.cost(of.at, s.Speed)
		}
	}
	if len(a.Sizes) > 0 {
		a.Verdict = a.Sizes[0].Verdict
	}
	if a.Missing == nil {
		a.Missing = []string{}
	}
	return a, nil
}

// A judged size is what the order of sizes depends on.
type judged struct {
	at       int // number in the record
	unlisted int // 1 where lists may not name it
	verdict  int // number in Verdicts
	// With MeasuredFirst, else 0:
	unmeasured int // 1 unless it fits, was measured, and has at least LeastBits
	beyond     int // 1 with more than EnoughBits
}

// bestFirst are the sizes an ask is about: those that lists may name first, then the better verdict, then the more precise
// weights. More than 16 bits per weight are no more precise than what was trained.
func (a *ask) bestFirst() []judged {
	numbers := a.t.named(a.q.Quantization)
	out := make([]judged, len(numbers))
	for i, at := range numbers {
		verdict, _ := a.verdict(&a.t.Quantizations[at])
		out[i] = judged{at: at, unlisted: oneIf(!a.lists(at)), verdict: slices.Index(Verdicts, verdict)}
		if a.q.MeasuredFirst {
			out[i].beyond = a.t.beyondEnough(at)
			measured, _ := a.counted(at)
			out[i].unmeasured = oneIf(verdict != Fits || !a.t.hasLeastBits(at) || len(measured) == 0)
		}
	}
	slices.SortStableFunc(out, func(x, y judged) int {
		return cmp.Or(
			cmp.Compare(x.unlisted, y.unlisted), cmp.Compare(x.unmeasured, y.unmeasured), cmp.Compare(x.verdict, y.verdict),
			cmp.Compare(x.beyond, y.beyond), a.t.comparePrecision(x.at, y.at),
		)
	})
	return out
}

// A need is what a model takes beside its weights, which is the same for all its sizes.
type need struct {
	known   bool // whether there is a cache size
	cache   Cache
	buffer  int64
	more    int64 // what the buffer may take beyond that, where it is a lower bound
	reserve Bytes
}

func (t *target) need(q *Query, m *machine) need {
	n := need{known: len(t.shape.missing) == 0, reserve: q.Rules.reserve(m.memory, q.Count)}
	if n.known {
		n.cache = t.shape.cache(q.Rules, q.KV, q.Context, q.MicroBatch)
		n.buffer = t.shape.compute(q.Rules, q.KV, q.Context, q.MicroBatch) * int64(q.Count)
		most := t.shape.atMost()
		n.more = most.compute(q.Rules, q.KV, q.Context, q.MicroBatch)*int64(q.Count) - n.buffer
	}
	return n
}

// total is the memory taken with so many bytes of weights.
func (n *need) total(weights int64) int64 { return weights + n.cache.Bytes.Bytes + n.buffer }

// verdict compares what is needed with what there is. Where the cache is an upper bound, a model
// that fits fits, and one that does not may. Where the buffer is a lower bound it is the other way round.
func (n *need) verdict(weights int64, m *machine) Verdict {
	total := n.total(weights)
	switch {
	case m.memory == 0:
		return Unknown
	case weights > m.available && !n.known:
		return No // whatever the cache takes
	case !n.known:
		return Unknown
	case total+n.more+n.reserve.Bytes <= m.available:
		return Fits
	case n.cache.Basis == UpperBound && weights <= m.available, total+n.reserve.Bytes <= m.available:
		return Unknown
	case total+n.more <= m.available:
		return Tight
	case total <= m.available:
		return Unknown
	}
	return No
}

// host is how much of the weights llama.cpp must keep in main memory where not all fit: cache and
// buffer must be on the devices. 0 where that does not help.
func (n *need) host(weights int64, q *Query, m *machine) int64 {
	if !m.discrete || q.Rules != LlamaCpp || !n.known {
		return 0
	}
	host := n.total(weights) + n.reserve.Bytes - m.available
	if host > weights || q.SystemMemoryGB > 0 && host > bytesOf(q.SystemMemoryGB) {
		return 0
	}
	return host
}

// verdict is that of one size, and the bytes of it in main memory where the verdict is offload. A run that was
// resident outranks the formula.
func (a *ask) verdict(z *dataset.Quantization) (v Verdict, host int64) {
	if a.e.isProven(a.q, a.t, a.m, z) {
		return Fits, 0
	}
	if v = a.need.verdict(z.SizeBytes, a.m); v == No {
		switch host = a.need.host(z.SizeBytes, a.q, a.m); {
		case host > 0 && host+a.need.more > z.SizeBytes:
			return Unknown, 0
		case host > 0:
			return Offload, host
		}
	}
	return v, 0
}

// judge gives memory and verdict of one size.
func (a *ask) judge(at int) Size {
	t, n, z := a.t, &a.need, &a.t.Quantizations[at]
	s := Size{
		Quantization: z.Name, Format: z.Format, Listed: a.lists(at), BitsPerWeight: t.bits(z),
		Memory:   Memory{Weights: weightsOf(z), Reserve: n.reserve},
		Missing:  append(append([]string{}, t.shape.missing...), t.shape.loose...),
		Evidence: a.e.outranking(a.q, t, a.m, z),
	}
	if n.known {
		cache, buffer, total := n.cache, Bytes{n.buffer, Estimated, "compute.output"}, n.total(z.SizeBytes)
		if n.more > 0 {
			buffer.Basis = LowerBound
		}
		s.Memory.Cache, s.Memory.Compute, s.Memory.Total = &cache, &buffer, &total
		if a.m.memory > 0 {
			room := a.m.available - total
			s.Headroom = &room
		}
	}
	var host int64
	if s.Verdict, host = a.verdict(z); s.Verdict == Offload {
		s.Host = &host
		if a.q.SystemMemoryGB == 0 {
			s.Missing = append(s.Missing, "system_memory_gb")
		}
	}
	return s
}

func (t *target) maxContexts(q *Query, m *machine, weights int64) MaxContexts {
	if m.memory == 0 || len(t.shape.missing) > 0 {
		return MaxContexts{}
	}
	most := func(kv KVType) *int64 {
		n := t.maxContext(q, m, weights, kv)
		return &n
	}
	out := MaxContexts{F16: most(F16)}
	if q.Rules != VLLM {
		out.Q80, out.Q40 = most(Q80), most(Q40)
	}
	return out
}

// maxContext searches the longest context in steps of 256 tokens. Memory grows with the context,
// so halving finds it.
func (t *target) maxContext(q *Query, m *machine, weights int64, kv KVType) int64 {
	limit := t.shape.limit
	if limit == 0 {
		limit = MaxContext
	}
	room := m.available - weights - q.Rules.reserve(m.memory, q.Count).Bytes
	most := t.shape.atMost()
	fits := func(context int64) bool {
		return most.cache(q.Rules, kv, context, q.MicroBatch).Bytes.Bytes+most.compute(q.Rules, kv, context, q.MicroBatch)*int64(q.Count) <= room
	}
	if fits(limit) {
		return limit
	}
	low, high := int64(0), limit/LlamaPad // in steps; low fits or is 0, high does not
	for high-low > 1 {
		if mid := (low + high) / 2; fits(mid * LlamaPad) {
			low = mid
		} else {
			high = mid
		}
	}
	return low * LlamaPad
}

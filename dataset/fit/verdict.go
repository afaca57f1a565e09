package fit

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"modeldex/dataset"
)

// Fit answers a query. A *Fault says what is wrong with it.
func (e *Engine) Fit(q Query) (*Answer, *Fault) {
	t, fault := e.target(&q)
	if fault != nil {
		return nil, fault
	}
	m, fault := e.machine(&q)
	if fault != nil {
		return nil, fault
	}
	a := &Answer{
		Model: t.Slug, Count: q.Count, Context: q.Context, KV: q.KV, KVV: q.KVV, Rules: q.Rules, Parallel: q.Parallel, FlashAttention: q.flashAttention(),
		Missing: append([]string{}, m.missing...), Verdict: Unknown, Remedies: []Remedy{}, Beside: []dataset.Slug{},
	}
	if m.hw != nil {
		a.Hardware = &m.hw.Slug
	}
	for _, u := range q.Beside {
		a.Beside = append(a.Beside, u.Hardware)
	}
	if m.memory > 0 {
		a.Available = &Available{m.memory, m.available, m.share}
	}
	asked := e.evaluate(&q, t, m)
	sizes := asked.bestFirst()
	if len(sizes) == 0 {
		a.Missing = append(a.Missing, "params_b")
	}
	if q.BestOnly {
		sizes = sizes[:min(len(sizes), 1)]
	}
	a.Sizes = make([]Size, len(sizes))
	for i, size := range sizes {
		s := &a.Sizes[i]
		*s = asked.judge(size)
		if s.Speed = asked.speed(size, s.Verdict, s.Placement); q.wanted() {
			s.Cost = asked.cost(s.Speed)
		}
	}
	if len(a.Sizes) > 0 {
		if a.Verdict = a.Sizes[0].Verdict; a.Verdict == No || a.Verdict == Offload {
			a.Remedies = asked.remedies()
		}
	}
	return a, nil
}

// bestFirst are the sizes, best first: the one of the greatest Value and precision, those of lists, with PreferMeasured what
// fits, was measured and has LeastBits; then by verdict, by precision, and in main memory the smaller of LeastBits.
func (a *evaluation) bestFirst() []int {
	sizes, order, first, most := a.t.named(a.q.Quantization), map[int][7]int{}, -1, 0.0
	for _, at := range sizes {
		verdict, p := a.verdict(at)
		o := [7]int{1: oneIf(!a.lists(at)), 3: slices.Index(Verdicts, verdict)}
		if a.q.Prefer == PreferMeasured {
			measured, _ := a.tried(at, oneStream)
			o[2], o[4] = oneIf(verdict != Fits || !a.t.hasLeastBits(at) || !measured.answers()), a.t.beyondEnough(at)
		}
		if verdict == Offload {
			o[5], o[6] = oneIf(!a.t.hasLeastBits(at)), int(a.t.Quantizations[at].SizeBytes)
		}
		order[at] = o
		if a.q.Value != nil && a.lists(at) && (verdict == Fits || verdict == Tight) {
			value := a.q.Value(a.row(at, verdict, p, false))
			if first < 0 || value > most || value == most && a.t.comparePrecision(at, first) < 0 {
				first, most = at, value
			}
		}
	}
	slices.SortStableFunc(sizes, func(x, y int) int {
		of, with := order[x], order[y]
		of[0], with[0] = oneIf(x != first), oneIf(y != first)
		return cmp.Or(slices.Compare(of[:], with[:]), a.t.comparePrecision(x, y))
	})
	return sizes
}

// A burden is what all sizes need beside weights: the cache, the buffer of each device, companions on the first device.
type burden struct{ cache, buffer, extra int64 }

// weigh works out the least and the most that the burden of all sizes can be.
func (a *evaluation) weigh() {
	for i, s := range []*shape{&a.t.least, &a.t.most} {
		b := burden{cache: s.cache(a.q).Bytes.Bytes, buffer: s.compute(a.q)}
		for j := range a.q.beside {
			b.extra += a.q.beside[j].Bytes.Bytes
		}
		a.burdens[i] = b
	}
}

// exact is a figure that is known.
func exact(n int64, basis Basis, formula string) Bytes { return Bytes{n, n, n, basis, formula} }

// between sets the range of a figure, and its basis.
func (b *Bytes) between(low, high int64) {
	b.Low, b.High = low, high
	switch {
	case low == high:
		b.Basis = cmp.Or(b.Basis, Computed)
	case b.Bytes == high:
		b.Basis = UpperBound
	default:
		b.Basis = LowerBound
	}
}

// loads are the least and the most that a size can take.
func (a *evaluation) loads(size int) (least, most load) {
	s := a.t.sizes[size].storage
	for i, l := range []*load{&least, &most} {
		*l = a.t.layout.load(a.burdens[i], a.t.Quantizations[size].SizeBytes, s, a.offloads(), i == 0 && a.offloads())
		l.extra += a.drafts(l, s)
	}
	return least, most
}

// offloads reports whether part of the weights can be in main memory.
func (a *evaluation) offloads() bool { return a.m.discrete && a.q.Rules == LlamaCpp }

// verdict is that of one size, and where it lies. A run that was resident outranks the formula.
func (a *evaluation) verdict(size int) (Verdict, plan) {
	least, most := a.loads(size)
	p, given := plan{gpu: most.layers + 1}, a.q.given() && a.offloads()
	switch {
	case !a.q.given() && len(a.e.outranking(a.q, a.t, a.m, &a.t.Quantizations[size])) > 0:
		return Fits, p
	case a.m.memory == 0:
		return Unknown, p
	case given:
	case a.resident(&most, true):
		return Fits, p
	case a.resident(&most, false):
		return Tight, p
	}
	best, ok := a.arrange(&most)
	switch {
	case ok && best.gpu > most.layers && best.moe <= most.first:
		return Fits, best
	case ok:
		return Offload, best
	case !given && a.resident(&least, false):
		return Unknown, p
	}
	if best, ok = a.arrange(&least); ok {
		return Unknown, best
	} else if given {
		return No, best
	}
	return No, p
}

// judge gives all of one size but its speed.
func (a *evaluation) judge(at int) Size {
	t, q, z := a.t, a.q, &a.t.Quantizations[at]
	least, most := a.loads(at)
	s := Size{
		Quantization: z.Name, Format: z.Format, Listed: a.lists(at), BitsPerWeight: t.bits(z),
		Missing:  append([]string{}, t.missing...),
		Evidence: a.e.outranking(q, t, a.m, z),
	}
	var p plan
	s.Verdict, p = a.verdict(at)
	m, devices := &s.Memory, q.devices()
	m.Weights, m.Cache, m.Companions, m.Host = t.weightsOf(z), t.most.cache(q), append([]Companion{}, q.beside...), most.always
	m.Cache.between(least.cache, most.cache)
	for i := range m.Companions {
		if c := &m.Companions[i]; c.Kind == "mtp" {
			c.Bytes = exact(c.Bytes.Bytes+a.drafts(&most, t.sizes[at].storage), c.Basis, c.Formula)
		}
	}
	m.Compute = exact(least.buffer*devices, Estimated, "compute.output")
	if q.Rules == VLLM {
		if m.Compute.Formula = "compute.vllm"; t.least.forward < t.most.forward {
			s.Missing = append(s.Missing, "architecture.intermediate_size")
		}
	}
	m.Compute.between(least.buffer*devices, most.buffer*devices)
	m.Runtime = CUDAContext * devices * int64(oneIf(a.m.discrete))
	reserve := int64(0)
	for i := range a.m.devices {
		reserve += a.m.devices[i].reserve(q)
	}
	m.Reserve = exact(reserve, Computed, "reserve."+string(q.Rules))
	taken := func(l *load, buffer int64) int64 { return l.onDevices() + l.cache + buffer*devices + l.extra }
	m.Total, m.Low, m.High = taken(&most, least.buffer), taken(&least, least.buffer), taken(&most, most.buffer)
	if a.m.memory == 0 {
		return s
	}
	if s.Placement = a.placement(&most, p); q.Rules == LlamaCpp && z.Format != "gguf" {
		s.Placement.Flags = "" // of a program that does not read such files
	}
	if q.given() {
		m.Total, m.Host = most.extra+s.Placement.taken(), s.Placement.Host
		m.Low, m.High = m.Total, m.Total
	}
	s.Headroom = new(a.m.available - m.Total)
	if s.Verdict == Offload {
		if s.Host = &s.Placement.Host; a.m.main == 0 {
			s.Missing = append(s.Missing, "system_memory_gb")
		}
	}
	longest := func(k, v KVType) *int64 { return new(a.maxContext(at, k, v)) }
	s.MaxContext = MaxContexts{Asked: longest(q.KV, q.KVV), F16: longest(F16, F16)}
	if q.Rules == VLLM {
		tokens, requests := a.cacheTokens(&most)
		s.CacheTokens, s.Requests = &tokens, new(round3(requests))
	} else if q.flashAttention() {
		s.MaxContext.Q80, s.MaxContext.Q40 = longest(Q80, Q80), longest(Q40, Q40)
	}
	return s
}

// maxContext searches the longest context: memory grows with it.
func (a *evaluation) maxContext(size int, k, v KVType) int64 {
	q := *a.q
	q.KV, q.KVV = k, v
	b := evaluation{e: a.e, q: &q, t: a.t, m: a.m}
	fits := func(context int64) (ok bool) {
		q.Context = context
		b.weigh()
		_, most := b.loads(size)
		if !q.given() || !b.offloads() {
			return b.resident(&most, true)
		}
		_, ok = b.arrange(&most)
		return ok
	}
	limit := cmp.Or(a.t.limit, MaxContext)
	if fits(limit) {
		return limit
	}
	return LlamaPad * int64(sort.Search(int(limit/LlamaPad)-1, func(i int) bool { return !fits(int64(i+1) * LlamaPad) }))
}

// cacheTokens is the tokens of cache that vLLM has room for, counted as its log does, on the device with the least room.
func (a *evaluation) cacheTokens(l *load) (tokens int64, requests float64) {
	one := *a.q
	one.Parallel = 1
	each := float64(a.t.most.cache(&one).Bytes.Bytes)
	on, _ := a.lay(l, plan{gpu: l.layers + 1}, true)
	requests = math.Inf(1)
	for i := range on {
		d := &a.m.devices[i]
		room := d.usable - d.reserve(a.q) - on[i].Weights - on[i].Compute
		requests = min(requests, max(0, float64(room)/(each*float64(on[i].Cache)/float64(max(l.cache, 1)))))
	}
	if each == 0 || math.IsInf(requests, 1) {
		return 0, 0
	}
	return int64(requests*float64(a.q.Context)) / VLLMBlock * VLLMBlock, requests
}

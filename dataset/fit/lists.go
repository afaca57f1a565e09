package fit

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
)

// Best is the best quantization of a model that runs on a machine.
type Best struct {
	// Slug of the model.
	Model dataset.Slug `json:"model" jsonschema:"example=llama-3.1-8b-instruct"`
	// Slug of the hardware.
	Hardware dataset.Slug `json:"hardware" jsonschema:"example=nvidia-rtx-4090"`
	// Number of devices.
	Count int `json:"count" jsonschema:"minimum=1,example=1"`
	// Name of the quantization.
	Quantization string `json:"quantization" jsonschema:"example=Q8_0"`
	// Bits per weight of the quantization. Below 4, the answers of most models become noticeably worse.
	BitsPerWeight *float64 `json:"bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=8.5" jsonschema_extras:"unit=bits"`
	// fits; tight if no quantization fits better; or offload if part of the model is in main memory (if its size was
	// given).
	Verdict Verdict `json:"verdict" jsonschema:"example=fits"`
	// Weights, cache and buffer.
	Total int64 `json:"total_bytes" jsonschema:"minimum=0,example=9932111872" jsonschema_extras:"unit=bytes"`
	// Weights and cache in main memory; omitted if everything is on the devices.
	Host int64 `json:"host_bytes,omitzero" jsonschema:"minimum=0,example=2147483648" jsonschema_extras:"unit=bytes"`
	// Generation speed, with a cache filled to depth if depth is given; null if unknown.
	TPS *float64 `json:"tps" jsonschema:"nullable,exclusiveMinimum=0,example=80.7" jsonschema_extras:"unit=tokens/s"`
	// Whether the speed was measured, measured only on siblings of the hardware, or estimated; null without a speed.
	Use *string `json:"speed_basis" jsonschema:"nullable,enum=measured,enum=sibling,enum=estimate,example=estimate"`
	// Tokens in the cache for this speed.
	Depth int64 `json:"depth" jsonschema:"minimum=0,example=0" jsonschema_extras:"unit=tokens"`
	// Why it is listed, in a few words; omitted if the list is not sorted by best.
	Why string `json:"why,omitempty" jsonschema:"example=fits with 8k context\\, 51.0 tok/s measured"`
	// Latest street price of all devices together, in US dollars; hardware only, omitted if unknown.
	TotalPriceUSD *float64 `json:"total_price_usd,omitempty" jsonschema:"exclusiveMinimum=0,example=2686" jsonschema_extras:"unit=USD"`
	// Date of that price.
	PriceDate *dataset.Date `json:"price_date,omitempty" jsonschema:"example=2026-09"`
	// Points that determine the order; only with explain=true.
	Points *Points `json:"points,omitempty"`
}

// Points are the points behind a recommendation. Those that are 0 are left out.
type Points struct {
	// Capability of the model.
	Capability float64 `json:"capability,omitzero" jsonschema:"example=66.4"`
	// Deducted for uncertainty about the capability.
	Uncertain float64 `json:"uncertain,omitzero" jsonschema:"maximum=0,example=-1.3"`
	// Deducted for few bits per weight.
	Quantization float64 `json:"quantization,omitzero" jsonschema:"maximum=0,example=-1.5"`
	// Deducted for slow answers.
	Speed float64 `json:"speed,omitzero" jsonschema:"maximum=0,example=-1.4"`
	// Deducted for using the memory reserve.
	Memory float64 `json:"memory,omitzero" jsonschema:"maximum=0,example=-1.5"`
	// Added for models with many measurements.
	Use float64 `json:"use,omitzero" jsonschema:"minimum=0,example=3.1"`
	// Deducted from models without evaluations and with few measurements.
	Unknown float64 `json:"unknown,omitzero" jsonschema:"maximum=0,example=-4"`
	// For hardware: added or deducted for the price of all devices, relative to 1,000 US dollars.
	Price float64 `json:"price,omitzero" jsonschema:"example=-0.4"`
	// The sum of all.
	Total float64 `json:"total" jsonschema:"example=65.3"`
}

var partNames = strings.Fields("capability uncertain quantization speed memory use unknown price")

func (p *Points) parts() []*float64 {
	return []*float64{&p.Capability, &p.Uncertain, &p.Quantization, &p.Speed, &p.Memory, &p.Use, &p.Unknown, &p.Price}
}

// Sum rounds the parts to hundredths and sets their sum.
func (p *Points) Sum() {
	sum := 0.0
	for _, part := range p.parts() {
		*part = math.Round(100**part) / 100
		sum += *part
	}
	p.Total = math.Round(100*sum) / 100
}

// String is the sum with its parts: "65.3 = 66.4 capability - 1.1 uncertain".
func (p *Points) String() string {
	out := strconv.FormatFloat(p.Total, 'f', -1, 64) + " ="
	for i, part := range p.parts() {
		if *part != 0 {
			sign := map[bool]string{true: " - ", false: " + "}[*part < 0]
			out += sign + strconv.FormatFloat(math.Abs(*part), 'f', -1, 64) + " " + partNames[i]
		}
	}
	return strings.Replace(out, "= +", "=", 1)
}

// BelowLeastBits reports whether the size is known to have fewer than LeastBits.
func (b *Best) BelowLeastBits() bool { return b.BitsPerWeight != nil && *b.BitsPerWeight < LeastBits }

// Runs is what runs, and what a list leaves out because a fact is missing: unknown is not no. All are by slug.
type Runs struct {
	Found []Best
	// Undecided has no size that is known to run, and whether one does is unknown.
	Undecided []dataset.Slug
	// NoSpeed runs, but of no size that does is a speed known. Without a least speed it is in Found.
	NoSpeed []dataset.Slug
}

// Models finds the models that run on the machine of a query, by slug. Of each it gives the listed size (see Size.Listed)
// of the greatest value (see Query.Value) that fits, is tight, or is partly in main memory whose size is known, and reaches
// MinTPS tokens per second (0: any, known or not). With a context in the query the speed is that with a full cache. Models
// that are too short for it are in no list. The model of the query is not looked at.
func (e *Engine) Models(q Query) (out Runs, fault *Fault) {
	filled := q.Context > 0
	if fault := q.settle(); fault != nil {
		return out, fault
	}
	m, fault := e.machine(&q)
	if fault != nil {
		return out, fault
	}
	one := q
	for _, slug := range e.bySlug {
		if t := e.models[slug]; !t.tooLong(&q) {
			one.Model, one.Context = slug, t.context(q.Context)
			a := e.evaluate(&one, t, m)
			out.add(&a, slug, filled)
		}
	}
	return out, nil
}

// Hardware finds the hardware that runs the model of a query, by slug: the size as in Models, or the one the query names.
func (e *Engine) Hardware(q Query) (out Runs, fault *Fault) {
	filled := q.Context > 0
	t, fault := e.target(&q)
	if fault != nil {
		return out, fault
	}
	for _, slug := range e.hwBySlug {
		if q.Only != nil && !q.Only(slug) {
			continue
		}
		q.Hardware = slug
		m, fault := e.machine(&q)
		if fault != nil {
			return out, fault
		}
		a := e.evaluate(&q, t, m)
		out.add(&a, slug, filled)
	}
	return out, nil
}

// add adds the model, or the hardware, of an evaluation to what runs; it has the slug.
func (r *Runs) add(a *evaluation, slug dataset.Slug, filled bool) {
	var best *Best
	most, slow, noSpeed, unknown := 0.0, false, false, len(a.t.order) == 0
	for place, size := range a.listed() {
		v, p := a.verdict(size)
		unknown = unknown || v == Unknown
		if v != Fits && v != Tight && (v != Offload || a.m.main == 0) {
			continue
		}
		b := a.row(size, v, p, filled)
		switch {
		case b.TPS == nil && a.q.MinTPS > 0:
			noSpeed = true
		case b.TPS != nil && *b.TPS < a.q.MinTPS:
			slow = true
		default:
			if value := a.value(b, size, place); best == nil || value > most {
				best, most = b, value
			}
		}
	}
	switch {
	case best != nil:
		r.Found = append(r.Found, *best)
	case slow:
	case noSpeed:
		r.NoSpeed = append(r.NoSpeed, slug)
	case unknown:
		r.Undecided = append(r.Undecided, slug)
	}
}

// listed are the sizes that a list looks at, the most precise first: those it may name, or those of the name in the query.
func (a *evaluation) listed() (sizes []int) {
	if a.q.Quantization != "" {
		return a.t.inOrder(a.q.Quantization)
	}
	for _, size := range a.t.listed {
		if a.lists(size) {
			sizes = append(sizes, size)
		}
	}
	if a.q.Prefer == PreferMeasured {
		slices.SortStableFunc(sizes, func(x, y int) int { return cmp.Compare(a.t.beyondEnough(x), a.t.beyondEnough(y)) })
	}
	return sizes
}

// value is how good a row is, so many places behind the most precise size. Without Query.Value better verdicts come first,
// with PreferMeasured what fits, was measured and has LeastBits before them, and then the most precise.
func (a *evaluation) value(b *Best, size, place int) float64 {
	if a.q.Value != nil {
		return a.q.Value(b)
	}
	value := -float64(1000*slices.Index(Verdicts, b.Verdict) + place)
	if a.q.Prefer == PreferMeasured && b.Verdict == Fits && b.Use != nil && *b.Use != UseEstimate && a.t.hasLeastBits(size) {
		value += 1e4
	}
	return value
}

// row is what a list says of a size that runs.
func (a *evaluation) row(size int, v Verdict, p plan, filled bool) *Best {
	least, most := a.loads(size)
	z := &a.t.Quantizations[size]
	b := &Best{
		Model: a.t.Slug, Count: a.q.Count, Quantization: z.Name, BitsPerWeight: a.t.bits(z), Verdict: v,
		Total: most.onDevices() + most.cache + most.extra + least.buffer*int64(len(a.m.devices)),
	}
	if a.m.hw != nil {
		b.Hardware = a.m.hw.Slug
	}
	var placed *Placement
	if v == Offload {
		placed = a.placement(&most, p)
		b.Total, b.Host = most.extra+placed.taken(), placed.Host
	}
	s := a.listSpeed(size, a.lays(v, placed))
	if s.use == "" {
		return b
	}
	if b.TPS, b.Use = &s.tps, &s.use; filled {
		if factor, ok := a.slowdown(size, s.empty, a.q.Context); ok {
			s.tps, b.Depth = round3(s.tps*factor), a.q.Context
		}
	}
	return b
}

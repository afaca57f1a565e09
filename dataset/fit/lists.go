package fit

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
)

// Best is the best size of a model that runs on a machine.
type Best struct {
	// Slug of the model.
	Model dataset.Slug `json:"model" jsonschema:"example=llama-3.1-8b-instruct"`
	// Slug of the hardware.
	Hardware dataset.Slug `json:"hardware" jsonschema:"example=nvidia-rtx-4090"`
	// Number of devices.
	Count int `json:"count" jsonschema:"minimum=1,example=1"`
	// Name of the size: the most precise that runs and is fast enough, or that was measured as well.
	Quantization string `json:"quantization" jsonschema:"example=Q8_0"`
	// Bits per weight of the size. Below 4 the answers of most models become clearly worse.
	BitsPerWeight *float64 `json:"bits_per_weight" jsonschema:"nullable,exclusiveMinimum=0,example=8.5" jsonschema_extras:"unit=bits"`
	// fits, or tight where no size fits; offload where part of it is in main memory, whose size was given.
	Verdict Verdict `json:"verdict" jsonschema:"example=fits"`
	// Weights, cache and buffer.
	Total int64 `json:"total_bytes" jsonschema:"minimum=0,example=9932111872" jsonschema_extras:"unit=bytes"`
	// Weights and cache in main memory; left out where all is on the devices.
	Host int64 `json:"host_bytes,omitzero" jsonschema:"minimum=0,example=2147483648" jsonschema_extras:"unit=bytes"`
	// Weights that one token reads from main memory; with host_bytes, where known.
	HostRead int64 `json:"host_read_bytes,omitzero" jsonschema:"minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
	// Weights that one token reads from the devices; with host_bytes, where known.
	DeviceRead int64 `json:"device_read_bytes,omitzero" jsonschema:"minimum=0,example=1073741824" jsonschema_extras:"unit=bytes"`
	// Generation speed, with an empty cache or filled to depth; null where nothing is known.
	TPS *float64 `json:"tps" jsonschema:"nullable,exclusiveMinimum=0,example=80.7" jsonschema_extras:"unit=tokens/s"`
	// Whether the speed was measured, was measured on siblings of the hardware only, or is estimated; null without one.
	Use *string `json:"speed_basis" jsonschema:"nullable,enum=measured,enum=sibling,enum=estimate,example=estimate"`
	// Tokens in the cache the speed is for.
	Depth int64 `json:"depth" jsonschema:"minimum=0,example=0" jsonschema_extras:"unit=tokens"`
	// Why it is listed, in a few words; left out where the order is not by what is best.
	Why string `json:"why,omitempty" jsonschema:"example=fits with 8k\\, 51.0 tok/s measured"`
	// What all the devices cost, in US dollars, by the last street price seen; hardware only, left out where none was.
	TotalPriceUSD *float64 `json:"total_price_usd,omitempty" jsonschema:"exclusiveMinimum=0,example=2686" jsonschema_extras:"unit=USD"`
	// When that price was seen.
	PriceDate *dataset.Date `json:"price_date,omitempty" jsonschema:"example=2026-09"`
	// The points it is ordered by; with explain=true only.
	Points *Points `json:"points,omitempty"`
}

// Points are what a recommendation rests on. Those that are 0 are left out.
type Points struct {
	// What the model can do.
	Capability float64 `json:"capability,omitzero" jsonschema:"example=66.4"`
	// Taken off for doubt about that.
	Uncertain float64 `json:"uncertain,omitzero" jsonschema:"maximum=0,example=-1.3"`
	// Taken off for few bits per weight.
	Quantization float64 `json:"quantization,omitzero" jsonschema:"maximum=0,example=-1.5"`
	// Taken off for slow answers.
	Speed float64 `json:"speed,omitzero" jsonschema:"maximum=0,example=-1.4"`
	// Taken off for using memory that should stay free.
	Memory float64 `json:"memory,omitzero" jsonschema:"maximum=0,example=-1.5"`
	// Added for models that people measure.
	Use float64 `json:"use,omitzero" jsonschema:"minimum=0,example=3.1"`
	// Taken off models that nobody has evaluated and few have measured.
	Unknown float64 `json:"unknown,omitzero" jsonschema:"maximum=0,example=-4"`
	// Hardware: added or taken off for the price of all devices, by how far it is from 1,000 US dollars.
	Price float64 `json:"price,omitzero" jsonschema:"example=-0.4"`
	// The sum of all.
	Total float64 `json:"total" jsonschema:"example=65.3"`
}

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
	names := []string{"capability", "uncertain", "quantization", "speed", "memory", "use", "unknown", "price"}
	out := strconv.FormatFloat(p.Total, 'f', -1, 64) + " ="
	for i, part := range p.parts() {
		sign := "+"
		if *part < 0 {
			sign = "-"
		}
		if *part != 0 {
			out += " " + sign + " " + strconv.FormatFloat(math.Abs(*part), 'f', -1, 64) + " " + names[i]
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

// Models finds the models that run on the machine of a query, by slug. Of each it gives the most precise listed size
// (see Size.Listed) that fits, or is tight where none fits, and reaches at least minTPS tokens per second (0: any,
// known or not). With MeasuredFirst it prefers a size that was measured, and then one of at most EnoughBits. With a
// context in the query the speed is that with a full cache. Models that are too short for it are in no list. The model
// of the query is not looked at. The work is bounded by the models and their sizes: less than a microsecond for each
// size.
func (e *Engine) Models(q Query, minTPS float64) (Runs, *Fault) {
	var out Runs
	at := site{speeds: true}
	fault := e.eachModel(q, &at, func(a *ask) {
		a.wants(minTPS, q.Context > 0)
		out.add(a, a.t.Slug)
	})
	if fault != nil {
		return Runs{}, fault
	}
	return out, nil
}

// Count is how many models Models finds without a least speed, which needs no speed of any.
func (e *Engine) Count(q Query) (n int, fault *Fault) {
	fault = e.eachModel(q, &site{}, func(a *ask) {
		if a.any(nil, Fits, Tight) {
			n++
		}
	})
	if fault != nil {
		return 0, fault
	}
	return n, nil
}

// eachModel calls do for each model that can keep the context of a query in mind, by slug. They share a site: the
// machine is the same for all.
func (e *Engine) eachModel(q Query, at *site, do func(a *ask)) *Fault {
	if fault := q.settle(); fault != nil {
		return fault
	}
	m, fault := e.machine(&q)
	if fault != nil {
		return fault
	}
	one, a := q, ask{}
	for _, slug := range e.bySlug {
		if t := e.models[slug]; !t.tooLong(&q) {
			one.Model, one.Context = slug, t.context(q.Context)
			a = e.ask(&one, t, m, at)
			do(&a)
		}
	}
	return nil
}

// Hardware finds the hardware a model runs on, by slug: the most precise size as in Models, or the
// one the query names. The hardware of the query is not looked at.
func (e *Engine) Hardware(q Query, minTPS float64) (Runs, *Fault) {
	filled := q.Context > 0
	t, fault := e.target(&q)
	if fault != nil {
		return Runs{}, fault
	}
	var out Runs
	var at site
	var a ask
	for _, slug := range e.hwBySlug {
		if q.Only != nil && !q.Only(slug) {
			continue
		}
		q.Hardware = slug
		m, fault := e.machine(&q)
		if fault != nil {
			return Runs{}, fault
		}
		at = site{speeds: true}
		a = e.ask(&q, t, m, &at)
		a.wants(minTPS, filled)
		out.add(&a, slug)
	}
	return out, nil
}

// add adds the model, or the hardware, of an ask, which has the slug.
func (r *Runs) add(a *ask, slug dataset.Slug) {
	b, found := a.best()
	switch {
	case found:
		r.Found = append(r.Found, b)
	case a.least > 0 && a.any(a.hasSpeed, Fits, Tight): // it is too slow
	case a.least > 0 && a.any(nil, Fits, Tight):
		r.NoSpeed = append(r.NoSpeed, slug)
	case len(a.t.order) == 0 || a.any(nil, Unknown):
		r.Undecided = append(r.Undecided, slug)
	}
}

// any reports whether a size has one of the verdicts and is as it should be. A nil is takes all.
func (a *ask) any(is func(size int) bool, verdicts ...Verdict) bool {
	return a.search(verdicts, nil, func(size int, _ Verdict) bool { return is == nil || is(size) })
}

// hasSpeed reports whether the speed of a size that runs is known, fast enough or not.
func (a *ask) hasSpeed(size int) bool {
	return a.pace(size, true).use != ""
}

// best finds the size of a model that a list names.
func (a *ask) best() (Best, bool) {
	if a.q.Value != nil {
		return a.mostValued()
	}
	if a.q.MeasuredFirst && len(a.runs) > 0 {
		if b, ok := a.mostPrecise([]Verdict{Fits}, false, a.t.hasLeastBits); ok {
			return b, true
		}
	}
	return a.mostPrecise([]Verdict{Fits, Tight}, true, nil)
}

// mostValued finds the size that the query values most, of equal ones the most precise.
func (a *ask) mostValued() (best Best, ok bool) {
	most := math.Inf(-1)
	verdicts := []Verdict{Fits, Tight}
	if a.m.main > 0 {
		verdicts = append(verdicts, Offload)
	}
	a.search(verdicts, nil, func(size int, v Verdict) bool {
		var b Best
		if a.bestIs(&b, size, v, true) {
			if value := a.q.Value(&b); value > most {
				best, most, ok = b, value, true
			}
		}
		return false
	})
	return best, ok
}

// mostPrecise finds the most precise size that has one of the verdicts, the first of them that any size
// has, and is fast enough. Without estimates only sizes with a measured speed count. A nil allowed allows all
// sizes.
func (a *ask) mostPrecise(verdicts []Verdict, estimates bool, allowed func(size int) bool) (best Best, ok bool) {
	ok = a.search(verdicts, allowed, func(size int, v Verdict) bool { return a.bestIs(&best, size, v, estimates) })
	return best, ok
}

// search looks for a listed size, or one of the name in the query, that has one of the verdicts and is as it should be.
// It takes the most precise of the first verdict that such a size has.
func (a *ask) search(verdicts []Verdict, allowed func(size int) bool, is func(size int, v Verdict) bool) bool {
	q, t, m := a.q, a.t, a.m
	proven := len(a.e.proofs[t.Slug]) > 0
	sizes := t.listed
	switch {
	case q.Quantization != "":
		sizes = t.order
	case q.MeasuredFirst:
		sizes = t.moderate
	}
	for _, verdict := range verdicts {
		others := proven // whether a size has another verdict, or may get one
		for _, size := range sizes {
			z := &t.Quantizations[size.at]
			if q.Quantization != "" && !sameName(q.Quantization, z.Name) {
				continue
			}
			v := a.fits(size.at)
			if v == Unknown || v == No && a.m.main > 0 {
				v, _ = a.verdict(size.at)
			}
			if v != verdict && !proven {
				others = true
				continue
			}
			if q.Quantization == "" && !a.lists(size.at) || allowed != nil && !allowed(size.at) {
				continue
			}
			if v != Fits && proven && a.e.isProven(q, t, m, z) {
				v = Fits
			}
			if v == verdict && is(size.at, v) {
				return true
			}
		}
		if !others {
			return false
		}
	}
	return false
}

// bestIs makes a size the answer of a list, if it is fast enough.
func (a *ask) bestIs(b *Best, size int, v Verdict, estimates bool) bool {
	s := a.pace(size, estimates)
	if s.use == "" && (!estimates || a.least > 0) || s.tps < a.least {
		return false
	}
	z := &a.t.Quantizations[size]
	*b = Best{
		Model: a.t.Slug, Count: a.q.Count, Quantization: z.Name, BitsPerWeight: a.t.bits(z), Verdict: v, Total: a.total(size), Depth: s.depth,
	}
	if s.use != "" {
		tps, use := s.tps, s.use // s stays off the heap
		b.TPS, b.Use = &tps, &use
	}
	if a.m.hw != nil {
		b.Hardware = a.m.hw.Slug
	}
	if v == Offload {
		a.parted(b, size)
	}
	return true
}

// parted sets what a row says of a size that is partly in main memory.
func (a *ask) parted(b *Best, size int) {
	_, most := a.loads(size)
	_, p := a.verdict(size)
	placed := a.placement(&most, p)
	b.Total, b.Host = most.extra, placed.Host
	if b.TPS = nil; placed.HostRead != nil {
		b.HostRead = *placed.HostRead
	}
	b.Use = nil
	for i := range placed.Devices {
		b.Total += placed.Devices[i].taken()
		if n := placed.Devices[i].Read; n != nil {
			b.DeviceRead += *n
		}
	}
}

// total is what the devices must hold of a size.
func (a *ask) total(size int) int64 {
	_, most := a.loads(size)
	return most.onDevices() + most.cache + most.extra + a.need.least.buffer*int64(max(len(a.m.devices), 1))
}

// Verdicts works out the verdict of every size of every model on a piece of hardware and returns
// how many there are.
func (e *Engine) Verdicts(hardware dataset.Slug) (pairs int) {
	for _, slug := range e.bySlug {
		q, t, m, fault := e.normal(Query{Model: slug, Hardware: hardware})
		if fault != nil {
			return 0
		}
		a := ask{e: e, q: &q, t: t, m: m, need: e.need(t, &q)}
		for i := range t.Quantizations {
			a.fits(i)
			pairs++
		}
	}
	return pairs
}

// Pareto keeps the rows that no other beats: none is at least as good in both values and better
// in one. Values are to be large; a row without one of them is left out. Rows keep their order.
func Pareto[T any](rows []T, values func(row *T) (x, y float64, ok bool)) []T {
	type point struct {
		x, y float64
		at   int
	}
	var points []point
	for i := range rows {
		if x, y, ok := values(&rows[i]); ok {
			points = append(points, point{x, y, i})
		}
	}
	slices.SortFunc(points, func(a, b point) int {
		return cmp.Or(-cmp.Compare(a.x, b.x), -cmp.Compare(a.y, b.y), cmp.Compare(a.at, b.at))
	})
	var kept []int
	for i, p := range points {
		if last := len(kept) - 1; last >= 0 {
			best := points[kept[last]]
			if p.y < best.y || p.y == best.y && p.x < best.x {
				continue
			}
		}
		kept = append(kept, i)
	}
	at := make([]int, len(kept))
	for i, k := range kept {
		at[i] = points[k].at
	}
	slices.Sort(at)
	out := make([]T, len(at))
	for i, a := range at {
		out[i] = rows[a]
	}
	return out
}

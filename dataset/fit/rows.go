package fit

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// mostRead is the maximum number of measurements that an engine reads, newest first, and mostRows of those it learns
// from. They bound the time for very large tables. The shipped table has 6,000 rows to learn from.
const (
	mostRead = 250_000
	mostRows = 20_000
)

// A body is what speeds depend on of a model, the same for all models of one shape.
type body struct {
	modelPart
	of    *target            // whose cache counts
	dense bool               // taken as dense: its type is not published
	bytes map[string]float64 // by quantization in lower case: weights of a file
}

// bodies makes the bodies of all models. Of each shape the record with the most facts counts, and of its sizes of one
// quantization the middle one, of published files where there are any.
func (e *Engine) bodies() {
	type size struct {
		network, name string
		basis         dataset.Basis
	}
	of, sizes := map[string][]*target{}, map[size][]float64{}
	for _, slug := range e.bySlug {
		t := e.models[slug]
		of[t.network] = append(of[t.network], t)
		for i := range t.Quantizations {
			z := &t.Quantizations[i]
			key := size{t.network, folded(z.Name), z.Basis}
			sizes[key] = append(sizes[key], float64(z.SizeBytes))
		}
	}
	one := 1.0
	for network, targets := range of {
		a := &targets[0].Architecture
		b := &body{bytes: map[string]float64{}}
		b.shape, b.layers = e.numbers.of("shape "+network), float64(cmp.Or(val(a.NumLayers), usualLayers))
		b.logExperts = math.Log(float64(cmp.Or(val(a.NumExperts), 8)))
		for _, t := range targets {
			if b.of == nil || t.cacheKnown() && !b.of.cacheKnown() {
				b.of = t
			}
			share := e.line.BytesPerToken(&dataset.Benchmark{Model: t.Slug, ModelSizeGiB: &one}) / gib
			if b.share == 0 && share > 0 && t.ParamsB != nil {
				b.share, b.logWork = share, math.Log(2e9*share**t.ParamsB)
			}
			b.mixture = b.mixture || t.mixture()
			t.body = b
		}
		if m := b.of; b.share == 0 && !b.mixture && m.Architecture.Type == nil && m.ParamsB != nil && *m.ParamsB < mostDense {
			b.dense, b.share, b.logWork = true, 1, math.Log(2e9**m.ParamsB)
		}
		b.perToken, b.attention = b.of.layout.perToken, b.of.attention()
	}
	for key, bytes := range sizes {
		if b := of[key.network][0].body; key.basis == dataset.Published || len(sizes[size{key.network, key.name, dataset.Published}]) == 0 {
			b.bytes[key.name] = record.Median(bytes)
		}
	}
}

// attention counts a multiplication and an addition for each key and value width of each head in each layer.
func (t *target) attention() attention {
	s, kv := &t.most, &t.KVCache
	shared := func(own *int64) float64 { return float64(s.heads) / float64(max(val(cmp.Or(own, kv.NumKVHeads)), 1)) }
	global := shared(kv.GlobalNumKVHeads) * float64(s.global.keys+s.global.values)
	if s.latent {
		global = float64(s.heads * (s.global.keys + s.rank))
	}
	sliding := shared(kv.SlidingNumKVHeads) * float64(s.sliding.keys+s.sliding.values)
	return attention{2 * float64(s.globalLayers) * global, 2 * float64(s.slidingLayers) * sliding, float64(s.window)}
}

// A row is a measurement that estimates rest on.
type row struct {
	config
	at            uint32  // number in the set
	source        int32   // number of the repository or site
	weight        float64 // of its kind; see weigh for that of its source
	value         float64 // logarithm of the share of the bandwidth, or of the operations per second
	tool          dataset.Slug
	supplementary bool
	deep          bool
}

// A subject is what a regression explains.
type subject int

const (
	oneStream subject = iota // the speed of one stream
	prompts                  // the speed at which prompts are read
	atOnce                   // the speed of several requests at once
	subjects
)

func (s subject) features(c *config) vector {
	return [subjects]func() vector{c.generation, c.reading, c.loading}[s]()
}

type regressions [subjects]*regression

// learnt is what estimates rest on.
type learnt struct {
	regressions regressions
	rows        []row // of one stream
}

// A reader gathers what an engine keeps of the measurements.
type reader struct {
	*Engine
	rows          [subjects][]row
	supplementary map[string]bool
}

// read reads the measurements of a set once.
func (e *Engine) read(ctx context.Context, set *dataset.Set) *reader {
	e.benchmarks, e.runs = set.Benchmarks, map[pair][]timed{}
	r := &reader{Engine: e, supplementary: map[string]bool{}}
	for i := range set.Origins {
		if o := &set.Origins[i]; val(o.Supplementary) {
			r.supplementary[o.Key] = true
		}
	}
	for i, b := range set.Benchmarks[:min(len(set.Benchmarks), mostRead)] {
		if i%1024 == 0 && ctx.Err() != nil {
			break
		}
		if b.Withdrawn == nil {
			r.add(b, uint32(i))
		}
	}
	for s, rows := range r.rows {
		rows = notHeldBack(rows)
		r.rows[s] = rows
		n := map[int32]float64{}
		for i := range rows {
			n[rows[i].source]++
		}
		for i := range rows {
			rows[i].weight *= math.Pow(n[rows[i].source], sourcePower)
		}
	}
	return r
}

// notHeldBack drops runs that a setting held back which no field states, such as a slower library: the same source reached
// more than heldBack times their speed with a configuration that is otherwise the same.
func notHeldBack(rows []row) []row {
	type stated struct {
		source int32
		config config
	}
	fastest := map[stated]float64{}
	for i := range rows {
		key := stated{rows[i].source, rows[i].config}
		if was, known := fastest[key]; !known || rows[i].value > was {
			fastest[key] = rows[i].value
		}
	}
	return slices.DeleteFunc(rows, func(r row) bool { return r.value < fastest[stated{r.source, r.config}]-math.Log(heldBack) })
}

// learn keeps what speeds rest on.
func (e *Engine) learn(ctx context.Context, r *reader) {
	rows := r.rows[oneStream]
	if len(rows) > 0 { // later years than those of most measurements do not count
		years := make([]float64, len(rows))
		for i := range years {
			years[i] = rows[i].year
		}
		slices.Sort(years)
		e.year = min(e.year, record.Quantile(years, 0.9))
	}
	e.learnt = learnt{r.regressions(ctx, func(*row) bool { return true }), slices.Clip(rows)}
	for _, h := range e.hardware {
		for _, slug := range e.relations.Related(h.Slug) {
			if number := e.numbers.find("hardware " + string(slug)); number >= 0 {
				h.related = append(h.related, number)
			}
		}
	}
}

// regressions are fitted to the rows for which use is true.
func (r *reader) regressions(ctx context.Context, use func(*row) bool) (out regressions) {
	for s, rows := range r.rows {
		var of []observation
		for i := range rows {
			if row := &rows[i]; use(row) {
				names := row.names()
				names[ofSource] = name{int32(ofSource), row.source, row.silicon, row.shape}
				of = append(of, observation{row.value, row.weight, row.class, subject(s).features(&row.config), names})
			}
		}
		out[s] = regress(ctx, of)
	}
	return out
}

const (
	rowWeight           = 2    // of a row that is the only one of its source
	sourcePower         = -0.3 // the weights of n rows of a source add up to n^0.7, so that one long table does not decide
	supplementaryWeight = 0.3  // of rows that only place hardware without others
	wholeWeight         = 0.7  // of rates whose time includes a short prompt
	leastShare          = -4.5
	heldBack            = 1.5 // see notHeldBack
	mostShare           = 0.1 // more than the memory allows: something was drafted or is wrong
)

type pair struct{ shape, hardware int32 }

// timed is a measurement that answers may name: its number in the set, and that of its quantization, noQuant without one.
type timed struct {
	quant int32
	at    uint32
}

const noQuant = -2

// mostDense is the billions of parameters from which models of unknown type may well be mixtures.
const mostDense = 100

func (r *reader) add(b *dataset.Benchmark, at uint32) {
	t, extra := r.models[b.Model], r.supplementary[val(b.SourceKey)]
	is, field := b.SingleStream()
	if b.GenerationTPS != nil && t != nil {
		if r.outrank(b); !extra && (is == record.SingleYes || field == "hardware_count") {
			r.keep(b, at, t)
		}
	}
	c, ok := r.config(b)
	if !ok || max(len(r.rows[oneStream]), len(r.rows[prompts]), len(r.rows[atOnce])) > mostRows {
		return
	}
	row := row{config: c, at: at, source: r.numbers.of("source " + sourceOf(b)), weight: rowWeight, supplementary: extra, tool: b.Tool}
	if extra {
		row.weight *= supplementaryWeight
	}
	if r.addLoad(b, row); b.HardwareCount != 1 {
		return
	}
	r.addPrompt(b, row)
	deep := is == record.SingleNo && (field == "context_depth" || field == "n_prompt")
	kind := toolKindOf(b.Tool)
	row.whole = b.WholeRequest() && (kind == "gguf" || kind == "mlx") // of servers that is not what they are for
	if b.GenerationTPS == nil || is != record.SingleYes && !deep && !row.whole && (!extra || is == record.SingleNo) {
		return
	}
	if row.whole {
		row.weight *= wholeWeight
	}
	tokens := b.CacheTokens() + val(b.NGen)/2 // on the way
	row.cache, row.depth, row.deep = t.body.of.cacheBytes(tokens), float64(tokens), deep
	row.plainAttention = b.FlashAttention != nil && !*b.FlashAttention
	if row.value = math.Log(*b.GenerationTPS) + c.logTime(); row.value > leastShare && row.value < mostShare {
		r.rows[oneStream] = append(r.rows[oneStream], row)
	}
}

// keep keeps a measurement for answers.
func (r *reader) keep(b *dataset.Benchmark, at uint32, t *target) {
	quant := int32(noQuant)
	if b.Quantization != nil {
		quant = r.numbers.of("quantization " + folded(*b.Quantization))
	}
	if t.ran == nil {
		t.ran = map[int32]bool{}
	}
	t.ran[quant] = true
	p := pair{t.body.shape, r.numbers.of("hardware " + string(b.Hardware))}
	r.runs[p] = append(r.runs[p], timed{quant, at})
}

// timedOf is the measurements of a shape on some hardware, from the newest.
func (e *Engine) timedOf(shape int32, hardware []int32) (out []timed) {
	for _, number := range hardware {
		out = append(out, e.runs[pair{shape, number}]...)
	}
	slices.SortFunc(out, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	return out
}

// config is the configuration of a measurement; false if a fact is missing, or where it says nothing of the device:
// weights lay elsewhere, several units took part, or a processor was hardly used.
func (r *reader) config(b *dataset.Benchmark) (config, bool) {
	h, t := r.hardware[b.Hardware], r.models[b.Model]
	if h == nil || t == nil || h.bandwidth == 0 || b.Quantization == nil || r.line.Elsewhere(b) || idle(b, h.Hardware) {
		return config{}, false
	}
	bytes, unit := r.line.BytesPerToken(b), unitThat(b)
	if bytes == 0 || unit == "mixed" {
		return config{}, false
	}
	if unit == "" {
		unit = "gpu"
	}
	c := r.deviceConfig(h, b.Tool, val(b.Backend), unit, h.bandwidth, r.numbers.of)
	if n := float64(val(b.Threads)); c.class == CPU && n > 0 {
		c.runs(h.Hardware, n)
	}
	c.modelPart, c.logBytes, c.logBits = t.body.modelPart, math.Log(t.body.reads(bytes/t.body.share)), math.Log(r.bitsOf(*b.Quantization))
	c.format, c.year = r.numbers.of("format "+formatOf(*b.Quantization)), yearOf(b.RunDate)
	return c, true
}

// reads is what one token reads of a file of so many bytes. Files of a mixture that was trained in four bits have its
// experts in them, whatever their name, and the rest in up to 16.
func (b *body) reads(weights float64) float64 {
	l := &b.of.layout
	rest := min(weights-l.experts*val(b.of.TrainedBits)/8, 2*(l.params-l.experts))
	if !b.of.fourBits || l.experts == 0 || rest <= 0 {
		return weights * b.share
	}
	lookedUp := (l.matrices() - 1) * l.embedding / (l.params - l.experts)
	return rest*(1-lookedUp) + (weights-rest)*l.perToken
}

// idle reports whether a processor with more cores ran with fewer than four threads, which is not a run for speed.
func idle(b *dataset.Benchmark, h *dataset.Hardware) bool {
	const busy = 4
	return b.Threads != nil && *b.Threads < busy && classOf(h, unitThat(b)) == CPU && (h.CPUCores == nil || *b.Threads < *h.CPUCores)
}

// yearOf is a date in years since the middle of 2025. Most of those that are not known are of the beginning of that year.
func yearOf(d *dataset.Date) float64 {
	if d == nil || d.Number() == 0 {
		return -0.5
	}
	n := int(d.Number())
	return float64(n/10000) + float64(max(n/100%100, 1))/12 - 2025.5
}

// sourceOf is the repository or site of a measurement.
func sourceOf(b *dataset.Benchmark) string {
	if b.SourceKey != nil {
		return *b.SourceKey
	}
	return pageOf(b)
}

func pageOf(b *dataset.Benchmark) string {
	if b.SourceURL == nil {
		return "own"
	}
	return string(*b.SourceURL)
}

// networkOf is the id of a model's shape, which models with one base share, or its slug if the shape is not fully
// known.
func networkOf(m *dataset.Model) string {
	a, kv := &m.Architecture, &m.KVCache
	if a.NumLayers == nil || a.HiddenSize == nil || a.VocabSize == nil {
		return string(m.Slug)
	}
	return fmt.Sprint(*a.NumLayers, *a.HiddenSize, *a.VocabSize, val(a.IntermediateSize), val(a.NumExperts), val(a.NumExpertsPerToken), val(a.MoEIntermediateSize), val(kv.NumKVHeads), val(kv.HeadDim))
}

func (t *target) mixture() bool { return t.Architecture.NumExperts != nil || t.ActiveParamsB != nil }

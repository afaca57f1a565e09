package fit

import (
	"context"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"modeldex/dataset"
)

// mostRead is how many measurements an engine reads, the newest first, and mostRows how many of them it learns from, so
// that loading a very large table is not slower than reading it. The shipped table has 6,000 rows to learn from.
const (
	mostRead = 250_000
	mostRows = 20_000
)

// A body is what speeds depend on of a model, the same for all models of one shape.
type body struct {
	number     int32
	of         *target // whose cache counts
	mixture    bool
	share      float64            // of the weights, what one token reads; 0 where unknown
	work       float64            // operations of one token; 0 where unknown
	layers     float64            // 32 where unknown
	logExperts float64            // of 8 where unknown
	bytes      map[string]float64 // by quantization in lower case: weights of a file
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
		b := &body{number: e.numbers.of("shape " + network), layers: 32, logExperts: math.Log(8), bytes: map[string]float64{}}
		for _, t := range targets {
			if b.of == nil || t.cacheKnown() && !b.of.cacheKnown() {
				b.of = t
			}
			share := e.line.BytesPerToken(&dataset.Benchmark{Model: t.Slug, ModelSizeGiB: &one}) / gib
			if b.share == 0 && share > 0 && t.ParamsB != nil {
				b.share, b.work = share, 2e9*share**t.ParamsB
			}
			b.mixture = b.mixture || t.mixture()
			t.body = b
		}
		a := &targets[0].Architecture
		if n := val(a.NumLayers); n > 0 {
			b.layers = float64(n)
		}
		if n := val(a.NumExperts); n > 0 {
			b.logExperts = math.Log(float64(n))
		}
	}
	for key, bytes := range sizes {
		if b := of[key.network][0].body; key.basis == dataset.Published || len(sizes[size{key.network, key.name, dataset.Published}]) == 0 {
			b.bytes[key.name] = medianOf(bytes)
		}
	}
}

// A row is a measurement that estimates rest on.
type row struct {
	config
	at             uint32  // number in the pack
	hash           uint32  // of the id
	source         int32   // number of the repository or site
	weight         float64 // of its kind; see weigh for that of its source
	supplementary  bool
	value          float64 // logarithm of the share of the bandwidth, or of the operations per second
	tool, hardware dataset.Slug
	deep           bool
}

// A reader gathers what an engine keeps of the measurements.
type reader struct {
	*Engine
	generation, prompt []row
	runs               []runKey
	supplementary      map[string]bool
	backends           backendCounts
	thin               uint32 // rows whose hash has one of these bits are left out
}

// read reads the measurements of a set once.
func (e *Engine) read(ctx context.Context, set *dataset.Set) *reader {
	r := &reader{Engine: e, supplementary: map[string]bool{}, backends: backendCounts{}}
	for i := range set.Origins {
		if o := &set.Origins[i]; o.Supplementary != nil && *o.Supplementary {
			r.supplementary[o.Key] = true
		}
	}
	for i := range min(set.Benchmarks.Len(), mostRead) {
		if i%1024 == 0 && ctx.Err() != nil {
			break
		}
		if b := set.Benchmarks.At(i); b.Withdrawn == nil {
			r.add(b, uint32(i))
		}
	}
	weigh(r.generation)
	weigh(r.prompt)
	return r
}

// weigh gives the rows of a source a weight that falls with their number, so that one long table does not decide.
// Method: the sum of the weights of n rows grows as the 0.7th power of n.
func weigh(rows []row) {
	n := map[int32]int{}
	for i := range rows {
		n[rows[i].source]++
	}
	for i := range rows {
		rows[i].weight *= math.Pow(float64(n[rows[i].source]), -0.3)
	}
}

const (
	rowWeight           = 2   // of a row that is the only one of its source
	supplementaryWeight = 0.3 // of rows that only place hardware without others
	wholeWeight         = 0.7 // of rates whose time includes a short prompt
	leastShare          = -4.5
	mostShare           = 0.1 // more than the memory allows: something was drafted or is wrong
)

func (r *reader) add(b *dataset.Benchmark, at uint32) {
	t, extra := r.models[b.Model], b.SourceKey != nil && r.supplementary[*b.SourceKey]
	is, field := b.SingleStream()
	if b.GenerationTPS != nil && (is == dataset.SingleYes || field == "hardware_count") && t != nil && !extra {
		quant := int32(-2) // that of no name, known or not
		if b.Quantization != nil {
			quant = r.numbers.of("quantization " + folded(*b.Quantization))
		}
		if t.ran == nil {
			t.ran = map[int32]bool{}
		}
		t.ran[quant] = true
		r.runs = append(r.runs, runKey{pairKey(t.body.number, r.numbers.of("hardware "+string(b.Hardware))), quant, at})
	}
	if b.GenerationTPS != nil {
		r.outrank(b)
	}
	c, ok := r.config(b)
	if !ok || r.left(b) {
		return
	}
	row := row{config: c, at: at, hash: hashOf(b.ID), source: r.numbers.of("source " + sourceOf(b)), weight: rowWeight, supplementary: extra, tool: b.Tool, hardware: b.Hardware}
	if extra {
		row.weight *= supplementaryWeight
	}
	r.addPrompt(b, row)
	deep := is == dataset.SingleNo && (field == "context_depth" || field == "n_prompt")
	kind := toolKindOf(b.Tool)
	row.whole = b.WholeRequest() && (kind == "gguf" || kind == "mlx") // of servers that is not what they are for
	if b.GenerationTPS == nil || is != dataset.SingleYes && !deep && !row.whole && (!extra || is == dataset.SingleNo) {
		return
	}
	if row.whole {
		row.weight *= wholeWeight
	}
	tokens := b.CacheTokens() + val(b.NGen)/2 // on the way
	row.cache, row.depth, row.deep = t.body.of.cacheBytes(tokens), float64(tokens), deep
	row.plainAttention = b.FlashAttention != nil && !*b.FlashAttention
	if row.value = math.Log(*b.GenerationTPS) + c.logTime(); row.value > leastShare && row.value < mostShare {
		r.generation = append(r.generation, row)
		if is == dataset.SingleYes {
			r.backends.count(r.hardware[b.Hardware].Hardware, b.Tool, &c, val(b.Backend))
		}
	}
}

// config is the configuration of a measurement; false where a fact is missing, or where it says nothing of the device:
// weights lay elsewhere, several devices or units took part, or a processor was hardly used.
func (r *reader) config(b *dataset.Benchmark) (config, bool) {
	h, t := r.hardware[b.Hardware], r.models[b.Model]
	if h == nil || t == nil || h.bandwidth == 0 || b.Quantization == nil || b.HardwareCount != 1 || r.line.Elsewhere(b) || idle(b, h.Hardware) {
		return config{}, false
	}
	bytes, unit := r.line.BytesPerToken(b), unitThat(b)
	if bytes == 0 || unit == "mixed" {
		return config{}, false
	}
	if unit == "" {
		unit = "gpu"
	}
	c := r.deviceConfig(h.Hardware, b.Tool, val(b.Backend), unit, h.bandwidth, r.numbers.of)
	t.body.into(&c)
	c.logBytes, c.logBits = math.Log(r.reads(t.body, bytes/t.body.share)), math.Log(r.bitsOf(*b.Quantization))
	c.format, c.year = r.numbers.of("format "+formatOf(*b.Quantization)), yearOf(b.RunDate)
	return c, true
}

// into sets what a configuration has of a shape.
func (b *body) into(c *config) {
	c.shape, c.mixture, c.layers, c.logExperts = b.number, b.mixture, b.layers, b.logExperts
	if b.work > 0 {
		c.logWork = math.Log(b.work)
	}
}

// reads is what one token reads of a file of so many bytes. Files of a mixture that was trained in four bits have its
// experts in them, whatever their name, and the rest in up to 16.
func (e *Engine) reads(b *body, weights float64) float64 {
	l := &b.of.layout
	rest := min(weights-l.experts*e.line.BitsPerWeight(asTrained[0])/8, 2*(l.params-l.experts))
	if !b.of.fourBits || l.experts == 0 || rest <= 0 {
		return weights * b.share
	}
	lookedUp := (l.matrices() - 1) * l.embedding / (l.params - l.experts)
	return rest*(1-lookedUp) + (weights-rest)*l.perToken
}

// idle reports whether a processor of more cores ran with fewer than four threads, which nobody does for speed.
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

// left reports whether a row is one too many. The choice follows from the id alone, so that equal datasets give equal
// answers.
func (r *reader) left(b *dataset.Benchmark) bool {
	if len(r.generation) > mostRows || len(r.prompt) > mostRows {
		r.thin = r.thin<<1 | 1
		out := func(row row) bool { return row.hash&r.thin != 0 }
		r.generation, r.prompt = slices.DeleteFunc(r.generation, out), slices.DeleteFunc(r.prompt, out)
	}
	return hashOf(b.ID)&r.thin != 0
}

func hashOf(id dataset.Slug) uint32 { return crc32.ChecksumIEEE([]byte(id)) }

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

// networkOf names the shape of a model, the same for models that were trained from one base; its slug where a part of
// it is unknown.
func networkOf(m *dataset.Model) string {
	a, kv := &m.Architecture, &m.KVCache
	if a.NumLayers == nil || a.HiddenSize == nil || a.VocabSize == nil {
		return string(m.Slug)
	}
	return fmt.Sprint(*a.NumLayers, *a.HiddenSize, *a.VocabSize, val(a.IntermediateSize), val(a.NumExperts), val(a.NumExpertsPerToken), val(a.MoEIntermediateSize), val(kv.NumKVHeads), val(kv.HeadDim))
}

func (t *target) mixture() bool { return t.Architecture.NumExperts != nil || t.ActiveParamsB != nil }

package dataset

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// nearLimit and farBelow bound the ratios that need no look; a median of fewer than
// fewest measurements says nothing.
const (
	nearLimit = 0.9 // of the bandwidth
	farBelow  = 0.1 // of the median of the group
	fewest    = 5

	farAbove = 3 // times the next highest prompt speed of the group
)

// group is what must be equal for ratios to be near each other: a mistake of a decimal place
// is conspicuous among measurements of one machine with one tool. Runs that read far less for a
// token are a group of their own: what a step costs besides reading weighs more on them.
type group struct {
	hardware, tool Slug
	backend        string
	devices, users int64
	read           int // bytes read for a token, as a power of 4
}

func (r *Roofline) groupOf(b *Benchmark) group {
	g := group{hardware: b.Hardware, tool: b.Tool, devices: b.HardwareCount, users: 1, read: int(math.Log2(r.BytesPerToken(b)) / 2)}
	if b.Backend != nil {
		g.backend = *b.Backend
	}
	if b.Concurrency != nil {
		g.users = *b.Concurrency
	}
	return g
}

// A speedCheck holds decode speeds against memory bandwidth. A record whose model or hardware
// has faults gets no verdict, because it would rest on them. check may be called from all workers.
type speedCheck struct {
	*loader
	line             *Roofline
	models, hardware *registry
	work             []modelWork          // by model
	devices          []deviceSpeed        // by hardware
	groups           map[group][]judged   // filled where warnings are asked for
	prompts          map[readers][]judged // prompt speeds, filled where warnings are asked for
	blames           blames
}

// readers is a model on a machine: what reads a prompt that fast.
type readers struct {
	model, hardware Slug
	devices         int64
}

// modelWork is what the speeds of one model are judged by.
type modelWork struct {
	prompt promptWork
	idle   float64 // see idleShare
	token  *reading
}

// deviceSpeed is what the speeds on one piece of hardware are judged by.
type deviceSpeed struct {
	rate   float64 // see rateOf
	memory *device
}

func (l *loader) newSpeedCheck(models, hardware *registry) *speedCheck {
	line := newRoofline(l.models.recs, l.hardware.recs, l.quantizations.recs)
	s := &speedCheck{
		loader: l, line: line, models: models, hardware: hardware, work: make([]modelWork, len(l.models.recs)),
		devices: make([]deviceSpeed, len(l.hardware.recs)), groups: map[group][]judged{}, prompts: map[readers][]judged{},
	}
	for _, m := range l.models.recs {
		s.work[models.owner[m.Slug]] = modelWork{workOf(m), idleShare(m), line.models[m.Slug]}
	}
	for _, h := range l.hardware.recs {
		s.devices[hardware.owner[h.Slug]] = deviceSpeed{rateOf(h), line.hardware[h.Slug]}
	}
	return s
}

// check judges a benchmark of the model and the hardware with these numbers, -1 for unknown ones. It returns the
// ratio, NaN where it is unknown.
func (s *speedCheck) check(b *Benchmark, p place, model, hardware int32) float64 {
	var work modelWork
	var on deviceSpeed
	if model >= 0 {
		work = s.work[model]
	}
	if hardware >= 0 {
		on = s.devices[hardware]
	}
	ratio, known := s.line.ratio(b, work.token, on.memory)
	if !known {
		ratio = math.NaN()
	}
	if b.Withdrawn != nil || s.uncertain(b, p) {
		return ratio
	}
	s.checkSpeeds(b, p, work.prompt, on.rate)
	if s.warn && b.PromptTPS != nil {
		s.mu.Lock()
		r := readers{b.Model, b.Hardware, b.HardwareCount}
		s.prompts[r] = append(s.prompts[r], judged{p, *b.PromptTPS})
		s.mu.Unlock()
	}
	if !known {
		return ratio
	}
	s.judge(b, p, ratio, work.idle)
	if s.warn && b.FromEmpty() {
		s.mu.Lock()
		defer s.mu.Unlock()
		g := s.line.groupOf(b)
		s.groups[g] = append(s.groups[g], judged{p, ratio})
	}
	return ratio
}

// blame notes a fault of a measurement that may be one of a record.
func (s *speedCheck) blame(record place, by string, p place, field, text string) {
	if !s.doubtful(p, field) {
		s.blames.add(record, by, blame{p, field, text})
	}
}

// judgeBlames reports the faults of measurements, at them or at what they were judged by.
func (s *speedCheck) judgeBlames() {
	if len(s.blames.of) == 0 {
		return
	}
	named := map[place]int{}
	for _, b := range s.loader.benchmarks.recs {
		named[placeOf(&s.loader.hardware, s.hardware, b.Hardware)]++
		named[placeOf(&s.loader.models, s.models, b.Model)]++
	}
	s.blames.report(s.loader, named)
}

// uncertain reports whether the decoder found something in a record or in what it refers to.
func (s *speedCheck) uncertain(b *Benchmark, p place) bool {
	return len(s.faulty) > 0 && s.anyFaulty(p, placeOf(&s.loader.models, s.models, b.Model), placeOf(&s.loader.hardware, s.hardware, b.Hardware))
}

// anyFaulty reports whether the decoder found something in one of the records.
func (l *loader) anyFaulty(records ...place) bool {
	return slices.ContainsFunc(records, func(p place) bool { return l.faulty[member{at: p}] })
}

// judged is one measurement and its ratio, or its prompt speed.
type judged struct {
	at    place
	ratio float64
}

// placeOf is the place of the record of a slug.
func placeOf[T any](s *collector[T], r *registry, slug Slug) place {
	if i, ok := r.owner[slug]; ok && i >= 0 {
		return s.places[i]
	}
	return place{}
}

func (s *speedCheck) judge(b *Benchmark, p place, ratio, idle float64) {
	drafted := b.SpeculativeDecoding != nil && *b.SpeculativeDecoding
	switch {
	case drafted:
	case ratio > 1:
		s.blame(placeOf(&s.loader.hardware, s.hardware, b.Hardware), "memory_bandwidth_gbps", p, "generation_tps", fmt.Sprintf("must not pass what the memory bandwidth allows without speculative_decoding, got %s times as much", plainNumber(ratio)))
	case ratio*(1-idle) > nearLimit:
		s.warning(p, "generation_tps", fmt.Sprintf("is near what the memory bandwidth allows, got %s of it; compare model, quantization and speed with the source, or set speculative_decoding where there was a draft", plainNumber(ratio)))
	}
}

// idleShare is the share of a dense model's parameters that its files contain and decoding does
// not read. That is the table of input embeddings where the output has its own: a token needs
// one row of it. 0 where it is unknown or shared.
func idleShare(m *Model) float64 {
	a := &m.Architecture
	if m.ParamsB == nil || m.ActiveParamsB != nil || m.EffectiveParamsB != nil || a.VocabSize == nil || a.HiddenSize == nil || a.TieWordEmbeddings == nil || *a.TieWordEmbeddings {
		return 0
	}
	return float64(*a.VocabSize) * float64(*a.HiddenSize) / (*m.ParamsB * 1e9)
}

func (s *speedCheck) judgeGroups() {
	for _, members := range s.groups {
		if len(members) < fewest {
			continue
		}
		slices.SortFunc(members, func(a, b judged) int { return comparePlaces(a.at, b.at) })
		ratios := make([]float64, len(members))
		for i := range members {
			ratios[i] = members[i].ratio
		}
		slices.Sort(ratios)
		median := ratios[len(ratios)/2]
		for _, m := range members {
			if m.ratio < farBelow*median {
				s.warning(m.at, "generation_tps", fmt.Sprintf("is far below the same machine and tool, got %s of the memory bandwidth where half of %d measurements reach %s", plainNumber(m.ratio), len(members), plainNumber(median)))
			}
		}
	}
}

// judgePrompts warns of a prompt speed far above all others of its model and machine: a mistake of a decimal place, which
// what the hardware can compute seldom shows.
func (s *speedCheck) judgePrompts() {
	for of, members := range s.prompts {
		if len(members) < fewest {
			continue
		}
		slices.SortFunc(members, func(a, b judged) int { return cmp.Or(cmp.Compare(b.ratio, a.ratio), comparePlaces(a.at, b.at)) })
		if top, next := members[0], members[1]; top.ratio > farAbove*next.ratio {
			s.warning(top.at, "prompt_tps", fmt.Sprintf("is more than %d times the next highest of %d measurements of %s on %s, %s, got %s", farAbove, len(members), of.model, of.hardware, plainNumber(next.ratio), plainNumber(top.ratio)))
		}
	}
}

// promptWork is what is needed to judge a prompt speed: reading one token of a prompt takes at
// least two operations for each parameter in use.
type promptWork struct {
	params float64 // in use for a token; 0 where unknown
	file   float64 // all parameters; 0 where unknown
}

func workOf(m *Model) (w promptWork) {
	if m.ParamsB != nil {
		w.file = *m.ParamsB * 1e9
	}
	w.params = readingOf(m).params
	return w
}

// rateOf is how many operations a second a part can do at most, 0 where its rates are unknown.
func rateOf(h *Hardware) float64 {
	most := func(rates ...*float64) (n float64) {
		for _, r := range rates {
			if r != nil {
				n = max(n, *r*1e12)
			}
		}
		return n
	}
	if h.FP16Basis != nil && *h.FP16Basis != "shader" || h.FP16TensorFP32AccTFLOPS != nil || h.FP16TensorFP16AccTFLOPS != nil {
		return promptOverDense * most(h.FP16TFLOPS, h.FP16TensorFP32AccTFLOPS, h.FP16TensorFP16AccTFLOPS, h.FP32TFLOPS, h.INT8TOPS)
	}
	return promptOverOther * most(h.FP16TFLOPS, h.FP16VectorTFLOPS, h.FP16ShaderTFLOPS, h.FP32TFLOPS, h.INT8TOPS)
}

// checkSpeeds holds the speeds of a measurement to what its devices can compute.
func (s *speedCheck) checkSpeeds(b *Benchmark, p place, work promptWork, rate float64) {
	devices := float64(b.HardwareCount)
	if b.PromptTPS != nil && work.params > 0 {
		if allowed := rate * devices / (2 * work.params); allowed > 0 && *b.PromptTPS > allowed && *b.PromptTPS <= maxSpeedTPS*devices {
			s.blame(placeOf(&s.loader.hardware, s.hardware, b.Hardware), "fp16_tflops", p, "prompt_tps", fmt.Sprintf("must not pass what the hardware can compute, at most %.0f tokens per second, got %s", allowed, plainNumber(*b.PromptTPS)))
		}
	}
	if b.ModelSizeGiB != nil && work.file > 0 {
		if bits := *b.ModelSizeGiB * (1 << 30) * 8 / work.file; bits < minWeightBits || bits > maxWeightBits {
			s.blame(placeOf(&s.loader.models, s.models, b.Model), "params_b", p, "model_size_gib", fmt.Sprintf("must give %s to %s bits per weight of the model, not %.1f", plainNumber(minWeightBits), plainNumber(maxWeightBits), bits))
		}
	}
}

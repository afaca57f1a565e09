package fit

import (
	"cmp"
	"math"

	"modeldex/dataset"
)

const (
	leastPrompt = 32  // tokens of a prompt below which its speed is that of launching the work
	usualPrompt = 512 // tokens of a prompt where nothing is said, as in bench programs
)

// addPrompt keeps the prompt speed of a measurement. The row has its configuration.
func (r *reader) addPrompt(b *dataset.Benchmark, row row) {
	if b.PromptTPS == nil || row.logWork == 0 || b.Concurrency != nil && *b.Concurrency > 1 || b.NPrompt != nil && *b.NPrompt < leastPrompt {
		return
	}
	row.prompt = usualPrompt
	if b.NPrompt != nil {
		row.prompt = float64(*b.NPrompt)
	}
	row.deep = val(b.ContextDepth) > dataset.Shallow
	row.depth = float64(val(b.ContextDepth) + val(b.NPrompt)/2)
	if row.prompt = min(row.prompt, readAtOnce); val(b.BatchSize) >= leastPrompt {
		row.prompt = min(row.prompt, float64(*b.BatchSize))
	}
	row.value = math.Log(*b.PromptTPS) + row.logWork - math.Log(1e13)
	r.prompt = append(r.prompt, row)
}

// reading is what physics says of the operations per second that a prompt reaches: those of the device, of small prompts
// fewer, and fewer with a long cache.
func (c *config) reading() physics {
	known, compute := 0.0, 0.0
	if c.logCompute > 0 {
		known, compute = 1, c.logCompute-math.Log(1e13)
	}
	tokens := math.Log(max(c.prompt, 1) / usualPrompt)
	p := physics{class: c.class, base: [ofClass]float64{
		c.year, 1, known, compute, c.logBandwidth - math.Log(3e11), tokens, tokens * tokens, math.Log1p(c.depth / 8192), c.logWork - math.Log(1.6e10),
	}}
	p.all[0] = c.logBits - math.Log(4.85)
	if c.mixture {
		p.all[1], p.all[2], p.all[3], p.all[4] = 1, c.logExperts, compute, tokens
	}
	return p
}

// promptOf is the prompt speed of a measurement, of a prompt of middling length with an empty cache.
func promptOf(b *dataset.Benchmark) *float64 {
	if b.NPrompt != nil && (*b.NPrompt < 128 || *b.NPrompt > 4096) || b.ContextDepth != nil && *b.ContextDepth > dataset.Shallow {
		return nil
	}
	return b.PromptTPS
}

// promptGuess is the speed at which so many tokens are read behind others; false where a fact is missing.
func (a *ask) promptGuess(size int, tokens, depth float64) (g guess, ok bool) {
	c, ok := a.config(size, 0)
	if !ok || c.logWork == 0 {
		return g, false
	}
	c.prompt, c.depth = tokens, depth
	r, names := a.e.learnt.prompt, c.names()
	e := r.sum(&names, everyGroup...)
	return guess{r.physics(c.reading()) + e.value + math.Log(1e13) - c.logWork, validated.Prompt.spread(c.class, e.variance)}, true
}

// promptSpeed is what is known of the speed of reading a prompt; nil where that is nothing.
func (a *ask) promptSpeed(size int) *PromptSpeed {
	s := &PromptSpeed{Measured: a.measured(size, reading)}
	if g, ok := a.promptGuess(size, float64(min(cmp.Or(a.q.PromptTokens, usualPrompt), readAtOnce)), 0); ok {
		band := g.band(0)
		s.Estimate, s.Checked = &band, validated.Prompt.checked(a.place().config.class.String(), "")
	}
	switch of := s.Measured; {
	case of != nil && of.Note == nil:
		which := useOf(of.Relation == dataset.Sibling)
		s.Use, s.TPS = &which, &of.Median
	case s.Estimate != nil:
		which := UseEstimate
		s.Use, s.TPS = &which, &s.Estimate.Median
	case s.Measured == nil:
		return nil
	}
	return s
}

// readAtOnce is how many tokens of a prompt count as read at one depth: longer prompts are read in parts.
const readAtOnce = 2048

// times works out how long a request takes.
func (a *ask) times(size int, s *Speed) {
	q := a.q
	if q.PromptTokens == 0 || s.Prompt == nil || s.TPS == nil {
		return
	}
	var last guess
	seconds, at := 0.0, 0.0
	for part := max(readAtOnce, float64(q.PromptTokens)/16); at < float64(q.PromptTokens); at += part {
		tokens := min(part, float64(q.PromptTokens)-at)
		g, ok := a.promptGuess(size, min(tokens, readAtOnce), at+tokens/2)
		if !ok {
			return
		}
		seconds, last = seconds+tokens/math.Exp(g.log), g
	}
	if *s.Prompt.Use != UseEstimate { // measured: as much faster or slower for all of the prompt
		seconds *= s.Prompt.Estimate.Median / *s.Prompt.TPS
		last.spread = math.Log(s.Prompt.Measured.P90/s.Prompt.Measured.P10) / 2
	}
	first := Band{round3(seconds / math.Exp(last.spread)), round3(seconds), round3(seconds * math.Exp(last.spread))}
	s.TTFT = &first
	factor, ok := a.slowdown(size, q.PromptTokens+q.AnswerTokens/2)
	if q.AnswerTokens == 0 || !ok {
		return
	}
	answer, spread := float64(q.AnswerTokens)/(*s.TPS*factor), 0.0
	if *s.Use != UseEstimate {
		spread = math.Log(s.Measured.P90/s.Measured.P10) / 2
	} else if g, ok := a.guess(size, 0); ok {
		spread = g.spread
	}
	s.Total = &Band{round3(first.P05 + answer/math.Exp(spread)), round3(first.Median + answer), round3(first.P95 + answer*math.Exp(spread))}
}

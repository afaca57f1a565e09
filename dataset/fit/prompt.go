package fit

import (
	"cmp"
	"math"

	"modeldex/dataset"
	"modeldex/dataset/record"
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
	row.deep = val(b.ContextDepth) > record.Shallow
	row.depth = float64(val(b.ContextDepth) + val(b.NPrompt)/2)
	if row.prompt = min(row.prompt, readAtOnce); val(b.BatchSize) >= leastPrompt {
		row.prompt = min(row.prompt, float64(*b.BatchSize))
	}
	row.value = math.Log(*b.PromptTPS) + row.logWork - row.logPlain
	r.rows[prompts] = append(r.rows[prompts], row)
}

// reading is what physics says of the operations per second that a prompt reaches, over those of the device: matrix units
// help, attention takes its share, and a small batch waits for the weights.
func (c *config) reading() vector {
	matrix, work := 0.0, math.Exp(c.logWork)
	if c.logCompute > 0 {
		matrix = c.logCompute - c.logPlain
	}
	batch := min(c.prompt, DefaultMicroBatch)
	tokens := math.Log(max(c.prompt, 1) / usualPrompt)
	v := vector{
		1, c.logPlain - math.Log(1e13), matrix, c.logBandwidth - math.Log(3e11), math.Log1p(c.attention.work(c.depth) / work), tokens, c.year,
		c.logBits - math.Log(4.85), math.Log1p(c.reads(batch) / math.Exp(c.logBandwidth) / (batch * math.Exp(c.logWork-c.logPlain))),
	}
	if c.mixture {
		v[9], v[10], v[11] = 1, c.logExperts, tokens
	}
	return v
}

// speedOf is the speed of a measurement, nil without one: of prompts that of one of middling length with an empty cache.
func (s subject) speedOf(b *dataset.Benchmark) *float64 {
	if s != prompts {
		return b.GenerationTPS
	}
	if b.NPrompt != nil && (*b.NPrompt < 128 || *b.NPrompt > 4096) || b.ContextDepth != nil && *b.ContextDepth > record.Shallow {
		return nil
	}
	return b.PromptTPS
}

// promptGuess is the speed at which so many tokens are read behind others; false if a fact is missing.
func (a *evaluation) promptGuess(size int, tokens, depth float64) (g guess, ok bool) {
	c, ok := a.config(0, size, 0)
	if !ok || c.logWork == 0 {
		return g, false
	}
	c.prompt, c.depth = min(tokens, readAtOnce), depth
	e := a.e.learnt.regressions[prompts].predict(&c, c.reading())
	return guess{e.value + c.logPlain - c.logWork, validated.Prompt.spread(c.class, e.variance)}, true
}

// promptSpeed is what is known of the speed of reading a prompt; nil where that is nothing.
func (a *evaluation) promptSpeed(size int) *PromptSpeed {
	s := &PromptSpeed{Measured: a.measured(size, prompts)}
	if g, ok := a.promptGuess(size, float64(cmp.Or(a.q.PromptTokens, usualPrompt)), 0); ok {
		band, use := g.band(), UseEstimate
		s.Estimate, s.Use, s.TPS, s.Checked = &band, &use, &band.Median, validated.Prompt.checked(a.program(0).config.class.String())
	}
	if of := s.Measured; of.answers() {
		s.Use, s.TPS = new(of.use()), &of.Median
	}
	if s.Estimate == nil && s.Measured == nil {
		return nil
	}
	return s
}

// readAtOnce is how many tokens of a prompt count as read at one depth: longer prompts are read in parts.
const readAtOnce = 2048

// times works out how long a request takes.
func (a *evaluation) times(size int, s *Speed, empty guess) {
	prompt, answer := float64(a.q.PromptTokens), float64(a.q.AnswerTokens)
	if prompt == 0 || s.Prompt == nil || s.Prompt.Estimate == nil {
		return
	}
	seconds, spread := 0.0, 0.0
	for at, part := 0.0, max(readAtOnce, prompt/16); at < prompt; at += part {
		tokens := min(part, prompt-at)
		g, _ := a.promptGuess(size, tokens, at+tokens/2)
		seconds, spread = seconds+tokens/math.Exp(g.log), g.spread
	}
	if *s.Prompt.Use != UseEstimate { // measured: as much faster or slower for all of the prompt
		seconds, spread = seconds*s.Prompt.Estimate.Median / *s.Prompt.TPS, s.Prompt.Measured.spread()
	}
	s.TTFT = &Band{round3(seconds / math.Exp(spread)), round3(seconds), round3(seconds * math.Exp(spread))}
	factor, ok := a.slowdown(size, empty, a.q.PromptTokens+a.q.AnswerTokens/2)
	if answer == 0 || !ok {
		return
	}
	answer /= *s.TPS * factor
	if spread = empty.spread; *s.Use != UseEstimate {
		spread = s.Measured.spread()
	}
	s.Total = &Band{round3(s.TTFT.P05 + answer/math.Exp(spread)), round3(seconds + answer), round3(s.TTFT.P95 + answer*math.Exp(spread))}
}

// spread is how far the ends of the band of measurements are from its middle, in logarithms.
func (m *Measured) spread() float64 { return math.Log(m.P90/m.P10) / 2 }

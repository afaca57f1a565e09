package fit

import (
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
	row.depth = 0
	if b.ContextDepth != nil {
		row.depth = float64(*b.ContextDepth)
	}
	row.deep = row.depth > dataset.Shallow
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

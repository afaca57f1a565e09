package fit

import (
	"cmp"
	"math"

	"modeldex/dataset"
)

// Load is the speed of several requests at once.
type Load struct {
	// Requests at once.
	Requests int `json:"requests" jsonschema:"minimum=2,example=16"`
	// Tokens per second over all requests, with prompts of prompt_tokens (default 512) and answers of answer_tokens
	// (default 256).
	Total Band `json:"tps" jsonschema_extras:"unit=tokens/s"`
	// Tokens per second of each request.
	Each float64 `json:"tps_per_request" jsonschema:"exclusiveMinimum=0,example=48.2" jsonschema_extras:"unit=tokens/s"`
	// Accuracy of such estimates on measurements from hidden sources; null if not validated.
	Checked *Checked `json:"validated" jsonschema:"nullable"`
}

// A batch is requests that a server answers at once, on devices that share each layer.
type batch struct {
	requests, devices, answer float64
}

const (
	usualAnswer = 256 // tokens of an answer where nothing is said
	// Shares of bandwidth and compute that servers reach, and their seconds per layer launch, before the regression
	// corrects them.
	weightsShare, cacheShare, computeShare = 0.65, 0.5, 0.4
	loadLaunch                             = 3e-4
	loadGain                               = 0.7 // n devices do the work of n^loadGain
)

// addLoad keeps the speed of a server under load. The row has its configuration.
func (r *reader) addLoad(b *dataset.Benchmark, row row) {
	if b.GenerationTPS == nil || val(b.Concurrency) < 2 || toolKindOf(b.Tool) != "server" || val(b.SpeculativeDecoding) || row.logWork == 0 || row.logCompute == 0 {
		return
	}
	t := r.models[b.Model]
	row.loaded(t.body, float64(*b.Concurrency), float64(b.HardwareCount), val(b.NPrompt), val(b.NGen))
	nominal, _ := row.load()
	row.value = math.Log(*b.GenerationTPS) - nominal
	r.rows[atOnce] = append(r.rows[atOnce], row)
}

// loaded makes a configuration one of requests at once. Shape and quantization have no effects of their own.
func (c *config) loaded(of *body, requests, devices float64, prompt, answer int64) {
	prompt, answer = cmp.Or(prompt, usualPrompt), cmp.Or(answer, usualAnswer)
	c.batch = batch{requests, devices, float64(answer)}
	c.prompt, c.cache, c.shape, c.format = float64(prompt), of.of.cacheBytes(prompt+answer/2), 0, 0
}

// load is the logarithm of the tokens per second of all requests if physics were all, and the features that correct it.
// A step reads the weights once, of a mixture those of the experts that any request needs, and the cache of each.
func (c *config) load() (nominal float64, v vector) {
	gain := math.Pow(c.devices, loadGain)
	bandwidth, compute := math.Exp(c.logBandwidth)*gain, math.Exp(c.logCompute)*gain*computeShare
	work := math.Exp(c.logWork)
	step := c.reads(c.requests)/bandwidth/weightsShare + c.requests*(c.cache/bandwidth/cacheShare+work/compute) + loadLaunch*c.layers
	seconds := c.requests*c.prompt*work/compute + c.answer*step
	n := math.Log(c.requests / 16)
	v = vector{
		8: 1, n, n * n, math.Log(c.devices), math.Log(c.prompt / usualPrompt), math.Log(c.answer / usualAnswer), c.logBytes - math.Log(1e10),
	}
	if c.mixture {
		v[15] = 1
	}
	return math.Log(c.requests * c.answer / seconds), v
}

func (c *config) loading() vector {
	_, v := c.load()
	return v
}

// underLoad is the speed of the requests of a query; nil for one, with other programs, and where a fact is missing.
func (a *evaluation) underLoad(size int) *Load {
	c, ok := a.config(0, size, 0)
	if !ok || a.q.Parallel < 2 || a.q.Rules != VLLM || c.logWork == 0 || c.logCompute == 0 {
		return nil
	}
	c.loaded(a.t.body, float64(a.q.Parallel), float64(len(a.m.devices)), a.q.PromptTokens, a.q.AnswerTokens)
	nominal, v := c.load()
	e := a.e.learnt.regressions[atOnce].predict(&c, v)
	g := guess{nominal + e.value, validated.Load.spread(c.class, e.variance)}
	out := &Load{Requests: a.q.Parallel, Total: g.band(), Checked: validated.Load.checked(c.class.String(), "all")}
	out.Each = round3(out.Total.Median / float64(a.q.Parallel))
	return out
}

package dataset

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"reflect"
	"slices"

	"modeldex/dataset/record"
)

// The rules of this file hold speeds against memory bandwidth, arithmetic and each other.
const (
	nearLimit       = 0.9 // of the bandwidth: a ratio above needs a look
	farBelow        = 0.1 // of the median of the group
	farAbove        = 3   // times the next highest prompt speed of the group
	farFromPeers    = 8   // times the median of speeds on one machine, whatever the quantization
	wide            = 4   // times the median of equal runs, either way
	fewest          = 5   // a median of fewer says nothing
	promptOverDense = 8   // times a dense FP16 rate of tensor or matrix units; 4-bit units reach 4
	promptOverOther = 64  // times the rate of other units, where the faster ones are not known
)

func checkRunSpeed(c *checker, r *run, p place) {
	if r.Withdrawn != nil || r.uncertain {
		return
	}
	devices := float64(r.HardwareCount)
	if r.PromptTPS != nil && r.model != nil && r.hardware != nil {
		if params := c.line.models[r.Model].params; params > 0 {
			allowed := rateOf(r.hardware) * devices / (2 * params) // a token takes at least two operations for each parameter in use
			if allowed > 0 && *r.PromptTPS > allowed && *r.PromptTPS <= maxSpeedTPS*devices {
				c.blame(blamed{r.hardwareAt, "fp16_tflops", Fault}, p, "prompt_tps", fmt.Sprintf("must be at most %.0f tokens per second, the compute limit of the hardware, got %s", allowed, plainNumber(*r.PromptTPS)))
			}
		}
	}
	if r.ModelSizeGiB != nil && r.model != nil && r.model.ParamsB != nil {
		if bits := *r.ModelSizeGiB * (1 << 30) * 8 / (*r.model.ParamsB * 1e9); bits < minWeightBits || bits > maxWeightBits {
			c.blame(blamed{r.modelAt, "params_b", Fault}, p, "model_size_gib", fmt.Sprintf("gives %.1f bits per weight of the model; it must be %s to %s", bits, plainNumber(minWeightBits), plainNumber(maxWeightBits)))
		}
	}
	switch drafted := r.SpeculativeDecoding != nil && *r.SpeculativeDecoding; {
	case drafted || math.IsNaN(r.ratio):
	case r.ratio > 1:
		c.blame(blamed{r.hardwareAt, "memory_bandwidth_gbps", Fault}, p, "generation_tps", fmt.Sprintf("is %s times what the memory bandwidth allows without speculative_decoding", plainNumber(r.ratio)))
	case r.ratio*(1-idleShare(r.model)) > nearLimit:
		c.warning(p, "generation_tps", fmt.Sprintf("uses %s of the memory bandwidth, close to the limit; check model, quantization and speed against the source, or set speculative_decoding if a draft model was used", plainNumber(r.ratio)))
	}
}

// rateOf is how many operations a second a part can do at most, 0 if its rates are unknown.
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

// idleShare is the share of input embeddings in the parameters if the output has its own matrix, else 0. A token reads
// one row.
func idleShare(m *Model) float64 {
	a := &m.Architecture
	if m.ParamsB == nil || m.ActiveParamsB != nil || m.EffectiveParamsB != nil || a.VocabSize == nil || a.HiddenSize == nil || a.TieWordEmbeddings == nil || *a.TieWordEmbeddings {
		return 0
	}
	return float64(*a.VocabSize) * float64(*a.HiddenSize) / (*m.ParamsB * 1e9)
}

// blamed is a field of a record that runs are judged by: a bandwidth that lacks a zero makes hundreds impossible.
type blamed struct {
	at       place
	field    string
	severity Severity
}

// fewBlames is the share of the measurements judged by a record up to which the measurements are at fault.
const fewBlames = 0.1

// blame notes a finding of a run. It becomes one of the record if more than a few of the runs that name it have one.
func (c *checker) blame(by blamed, p place, field, text string) {
	c.because(by, pendingFinding{at: p, field: field, text: text, severity: by.severity}, nil, func(found []pendingFinding) (pendingFinding, bool) {
		if c.named == nil {
			c.named = map[place]int{}
			c.eachRun(func(r *run) {
				c.named[r.hardwareAt]++
				c.named[r.modelAt]++
			})
		}
		one, all := found[0], c.named[by.at]
		one.text = fmt.Sprintf("conflicts with %d of %d measurements, the first at %s: its %s %s", len(found), all, c.placeText(one.at), one.field, one.text)
		one.at, one.field = by.at, by.field
		return one, float64(len(found)) > fewBlames*float64(all)
	})
}

type judged struct {
	at    place
	value float64
}

func median(members []judged) float64 {
	values := make([]float64, len(members))
	for i := range members {
		values[i] = members[i].value
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// outliers warns where judge has something to say of a figure in a group with at least so many, and their median half.
func outliers[K comparable](c *checker, field string, groups map[K][]judged, least int, judge func(of K, v, half float64, n int) string, by ...string) {
	for of, members := range groups {
		if len(members) < least {
			continue
		}
		half := median(members)
		for _, m := range members {
			if text := judge(of, m.value, half, len(members)); text != "" {
				c.warning(m.at, field, text, by...)
			}
		}
	}
}

// farAhead warns of the highest figure of a group with at least fewest if it is more than so many times the next one.
func farAhead[K comparable](c *checker, field string, groups map[K][]judged, times float64, text func(of K, top, next float64, others int) string, by ...string) {
	for of, members := range groups {
		slices.SortFunc(members, func(a, b judged) int { return cmp.Compare(b.value, a.value) })
		if len(members) >= fewest && members[0].value > times*members[1].value {
			c.warning(members[0].at, field, text(of, members[0].value, members[1].value, len(members)-1), by...)
		}
	}
}

// checkFarBelow compares runs that read about as many bytes per token, because fixed costs weigh more on small models.
func checkFarBelow(c *checker, _ all, _ place) {
	type group struct {
		hardware, tool Slug
		backend        string
		devices, users int64
		read           int // bytes read for a token, as a power of 4
	}
	groups := map[group][]judged{}
	c.eachRun(func(r *run) {
		if r.Withdrawn == nil && !r.uncertain && !math.IsNaN(r.ratio) && r.FromEmpty() {
			read := int(math.Log2(c.line.BytesPerToken(r.Benchmark)) / 2)
			g := group{r.Hardware, r.Tool, textOf(r.Backend), r.HardwareCount, usersOf(r.Benchmark), read}
			groups[g] = append(groups[g], judged{r.at, r.ratio})
		}
	})
	outliers(c, "generation_tps", groups, fewest, func(_ group, v, half float64, n int) string {
		if v >= farBelow*half {
			return ""
		}
		return fmt.Sprintf("uses %s of the memory bandwidth; the median of %d measurements with the same machine and tool is %s", plainNumber(v), n, plainNumber(half))
	})
}

func usersOf(b *Benchmark) int64 {
	if b.Concurrency == nil {
		return 1
	}
	return *b.Concurrency
}

func checkPromptOutliers(c *checker, _ all, _ place) {
	type readers struct {
		model, hardware Slug
		devices         int64
	}
	prompts := map[readers][]judged{}
	c.eachRun(func(r *run) {
		if r.Withdrawn == nil && !r.uncertain && r.PromptTPS != nil {
			of := readers{r.Model, r.Hardware, r.HardwareCount}
			prompts[of] = append(prompts[of], judged{r.at, *r.PromptTPS})
		}
	})
	farAhead(c, "prompt_tps", prompts, farAbove, func(of readers, top, next float64, others int) string {
		return fmt.Sprintf("is %s, more than %d times the next highest of %d measurements of %s on %s (%s)", plainNumber(top), farAbove, others+1, of.model, of.hardware, plainNumber(next))
	})
}

func checkPeers(c *checker, _ all, _ place) {
	type peers struct {
		model, hardware, tool Slug // model is empty for all models
		devices, users        int64
		unit                  string
	}
	groups := map[peers][]judged{}
	c.eachRun(func(r *run) {
		if r.Withdrawn != nil || r.uncertain || r.model == nil || r.GenerationTPS == nil || !r.FromEmpty() || r.SpeculativeDecoding != nil && *r.SpeculativeDecoding {
			return
		}
		of := peers{r.Model, r.Hardware, r.Tool, r.HardwareCount, usersOf(r.Benchmark), textOf(r.ComputeUnit)}
		groups[of] = append(groups[of], judged{r.at, *r.GenerationTPS})
		if params := c.line.models[r.Model].params; params > 0 {
			of.model = ""
			groups[of] = append(groups[of], judged{r.at, *r.GenerationTPS * params / 1e9})
		}
	})
	outliers(c, "generation_tps", groups, fewest, func(of peers, v, half float64, n int) string {
		switch {
		case v <= farFromPeers*half:
			return ""
		case of.model != "":
			return fmt.Sprintf("is %s, more than %d times the median of %d measurements of %s with %s on %s (%s)", plainNumber(v), farFromPeers, n, of.model, of.tool, of.hardware, roughNumber(half))
		}
		return fmt.Sprintf("times the active parameters in billions is %s, more than %d times the median of %d measurements with %s on %s (%s)", roughNumber(v), farFromPeers, n, of.tool, of.hardware, roughNumber(half))
	})
}

// settingOf is what runs with the same configuration have in common.
func settingOf(b *Benchmark) [12]any {
	layers, threads, unit := int64(0), int64(0), textOf(b.ComputeUnit)
	if b.NGPULayers != nil && unit == string(record.OnMixed) {
		layers = *b.NGPULayers
	}
	if b.Threads != nil && unit != "" && unit != string(record.OnGPU) {
		threads = *b.Threads
	}
	return [...]any{
		b.Model, b.Hardware, b.Tool, b.HardwareCount, usersOf(b), b.SpeculativeDecoding != nil && *b.SpeculativeDecoding,
		textOf(b.Quantization), textOf(b.Backend), textOf(b.RateBasis), unit, layers, threads,
	}
}

func checkSpread(c *checker, _ all, _ place) {
	groups := map[[12]any][]judged{}
	c.benchmarks.all(func(b *Benchmark, p place) {
		if b.GenerationTPS != nil && b.Withdrawn == nil && b.Quantization != nil && b.FromEmpty() && b.RateBasis != nil && *b.RateBasis == record.RateDecode {
			of := settingOf(b)
			groups[of] = append(groups[of], judged{p, *b.GenerationTPS})
		}
	})
	outliers(c, "generation_tps", groups, 3, func(_ [12]any, v, half float64, n int) string {
		where := "below"
		if v > half*wide {
			where = "above"
		} else if v*wide >= half {
			return ""
		}
		return fmt.Sprintf("is %s, far %s the median of %d runs with the same configuration (%s)", plainNumber(v), where, n, plainNumber(math.Round(half*100)/100))
	})
}

// sameRun reports whether two benchmarks are one. With speeds of few digits, all else but their ids must be equal too.
func sameRun(a, b *Benchmark) bool {
	if measurementOf(a) != measurementOf(b) {
		return false
	}
	x, y := *a, *b
	x.ID, y.ID = "", ""
	return digits(twoDecimals(a.PromptTPS))+digits(twoDecimals(a.GenerationTPS)) >= speedDigits || reflect.DeepEqual(x, y)
}

// speedDigits is how many digits of speeds tell a measurement, where model, hardware and settings are the same.
const speedDigits = 6

// measurementOf is what makes two benchmarks one. The address does not count: some tables are on two pages.
func measurementOf(b *Benchmark) [20]any {
	return [...]any{
		b.Model, b.Hardware, b.Tool, b.HardwareCount, valueOf(b.Quantization), valueOf(b.ToolVersion), valueOf(b.Backend), valueOf(b.OS),
		numberOf(b.Concurrency), numberOf(b.NPrompt), numberOf(b.NGen), numberOf(b.ContextDepth), numberOf(b.BatchSize), numberOf(b.NGPULayers), numberOf(b.Threads),
		flagOf(b.FlashAttention), flagOf(b.SpeculativeDecoding), flagOf(b.PartialOffload),
		[2]float64{twoDecimals(b.PromptTPS), twoDecimals(b.GenerationTPS)},
		twoDecimals(b.TTFTMs),
	}
}

func valueOf[T ~string](s *T) T {
	if s == nil {
		return ""
	}
	return *s
}

func numberOf(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

func flagOf(b *bool) int8 {
	switch {
	case b == nil:
		return -1
	case *b:
		return 1
	default:
		return 0
	}
}

// twoDecimals is how llama-bench prints a speed; its machine-readable forms have all digits.
func twoDecimals(v *float64) float64 {
	if v == nil {
		return -1
	}
	return math.Round(*v*100) / 100
}

func digits(v float64) (n int) {
	if v < 0 {
		return 0
	}
	cents := int64(math.Round(v * 100))
	for cents > 0 && cents%10 == 0 {
		cents /= 10
	}
	for ; cents > 0; cents /= 10 {
		n++
	}
	return n
}

func checkIDs(c *checker, _ all, _ place) {
	first := make(map[Slug]place, len(c.benchmarks.recs))
	c.benchmarks.all(func(b *Benchmark, p place) {
		of, again := first[b.ID]
		switch {
		case b.ID == "":
		case again:
			c.copied(p, of, fmt.Sprintf("%q is a duplicate of %s", b.ID, c.placeText(of)))
		default:
			first[b.ID] = p
		}
	})
}

func checkRepeats(c *checker, _ all, _ place) {
	seed, first := maphash.MakeSeed(), make(map[uint64][]int32, len(c.benchmarks.recs)) // by hash, for a measurement is large
	c.eachRun(func(r *run) {
		if r.Withdrawn != nil || c.anyFaulty(r.at) {
			return
		}
		hash := maphash.Comparable(seed, measurementOf(r.Benchmark))
		for _, i := range first[hash] {
			if of := c.benchmarks.recs[i]; sameRun(r.Benchmark, of) {
				if of.ID != r.ID {
					at := c.benchmarks.places[i]
					c.copied(r.at, at, fmt.Sprintf("%q is the same measurement as %q at %s: remove or withdraw one", r.ID, of.ID, c.placeText(at)))
				}
				return
			}
		}
		first[hash] = append(first[hash], int32(r.number))
	})
}

type figures [7]float64

// copyDigits is how many digits two runs do not share by chance: shipped runs with nine in common are of one file of
// weights.
const copyDigits = 12

func figuresOf(b *Benchmark) (f figures, clear bool) {
	n := 0
	for i, v := range [...]*float64{b.PromptTPS, b.GenerationTPS, b.TotalTPS, b.TTFTMs, b.TTFTP99Ms, b.TPOTMs, b.TPOTP99Ms} {
		f[i] = twoDecimals(v)
		n += digits(f[i])
	}
	return f, n >= copyDigits
}

func checkCopied(c *checker, _ all, _ place) {
	first := map[figures]int{}
	c.eachRun(func(r *run) {
		f, clear := figuresOf(r.Benchmark)
		if !clear || r.Withdrawn != nil {
			return
		}
		i, again := first[f]
		if !again {
			first[f] = r.number
			return
		}
		if of := c.benchmarks.recs[i]; !sameRun(of, r.Benchmark) { // else it is a fault already
			c.warning(r.at, "id", fmt.Sprintf("%q has the same figures as %q at %s: check both pages and withdraw the copy", r.ID, of.ID, c.placeText(c.benchmarks.places[i])))
		}
	})
}

// copiedFrom identifies a copied file: it has as many copies as lines.
type copiedFrom struct {
	file, of int32
	rule     string
}

func (c *checker) copied(p, first place, text string) {
	from := copiedFrom{p.file, first.file, c.rule}
	c.because(from, pendingFinding{at: p, field: "id", text: text}, nil, func(found []pendingFinding) (pendingFinding, bool) {
		one := found[0]
		one.text += fmt.Sprintf("; %s in this file repeat lines of %s: remove the copies", record.Counted(len(found)-1, "more line"), c.files[from.of].name)
		return one, true
	})
}

package dataset

import (
	"fmt"
	"hash/maphash"
	"math"
	"reflect"

	"modeldex/dataset/record"
)

// measurement is what makes two benchmarks one: the same thing measured the same way with the
// same figures. The address does not count, for some tables are published on two pages.
type measurement struct {
	model, hardware, tool           Slug
	quantization, version, backend  string
	devices, users                  int64
	prompt, generated, depth, batch int64
	layers, threads                 int64
	flash, drafted, offload         int8
	os                              string
	promptTPS, generationTPS, ttft  float64
}

// sameRun reports whether two benchmarks are one measurement: of one key, and with speeds of few digits, equal but for
// their ids. Two machines of one kind may well both print 12 tokens per second.
func sameRun(a, b *Benchmark) bool {
	m := measurementOf(a)
	if m != measurementOf(b) {
		return false
	}
	x, y := *a, *b
	x.ID, y.ID = "", ""
	return digits(m.promptTPS)+digits(m.generationTPS) >= speedDigits || reflect.DeepEqual(x, y)
}

// speedDigits is how many digits of speeds tell a measurement, where model, hardware and settings are the same.
const speedDigits = 6

func measurementOf(b *Benchmark) measurement {
	return measurement{
		model: b.Model, hardware: b.Hardware, tool: b.Tool, devices: b.HardwareCount,
		quantization: valueOf(b.Quantization), version: valueOf(b.ToolVersion), backend: valueOf(b.Backend), os: valueOf(b.OS),
		users: numberOf(b.Concurrency), prompt: numberOf(b.NPrompt), generated: numberOf(b.NGen), depth: numberOf(b.ContextDepth),
		batch: numberOf(b.BatchSize), layers: numberOf(b.NGPULayers), threads: numberOf(b.Threads),
		flash: flagOf(b.FlashAttention), drafted: flagOf(b.SpeculativeDecoding), offload: flagOf(b.PartialOffload),
		promptTPS: twoDecimals(b.PromptTPS), generationTPS: twoDecimals(b.GenerationTPS), ttft: twoDecimals(b.TTFTMs),
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

// digits is how many digits a speed was printed with, 0 for an unknown one.
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

// checkRepeats checks that no measurement has two ids. Withdrawn ones do not count.
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
					c.copied(r.at, at, fmt.Sprintf("%q is the same measurement as %q of %s: keep one, or withdraw one", r.ID, of.ID, c.placeText(at)))
				}
				return
			}
		}
		first[hash] = append(first[hash], int32(r.number))
	})
}

type figures [7]float64

// copyDigits is how many digits of figures two runs do not have in common by chance. In the shipped dataset runs that
// share twelve are copies; those that share nine are of one file of weights under several names.
const copyDigits = 12

// figuresOf returns the figures of a benchmark. It is false for one that has too few digits to recognise it by.
func figuresOf(b *Benchmark) (f figures, clear bool) {
	n := 0
	for i, v := range [...]*float64{b.PromptTPS, b.GenerationTPS, b.TotalTPS, b.TTFTMs, b.TTFTP99Ms, b.TPOTMs, b.TPOTP99Ms} {
		f[i] = twoDecimals(v)
		n += digits(f[i])
	}
	return f, n >= copyDigits
}

// checkCopied warns of measurements that have all figures of one of another thing: a source that copied
// a page for the next card, and forgot a part.
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
			c.warning(r.at, "id", fmt.Sprintf("%q has all figures of %q of %s: look at both pages, and withdraw the one that is a copy", r.ID, of.ID, c.placeText(c.benchmarks.places[i])))
		}
	})
}

// copiedFrom is the file of a copy, that of what it repeats, and the rule that found it: a copied file has as many copies
// as lines.
type copiedFrom struct {
	file, of int32
	rule     string
}

func (c *checker) copied(p, first place, text string) {
	from := copiedFrom{p.file, first.file, c.rule}
	c.because(from, pendingFinding{at: p, field: "id", text: text}, nil, func(found []pendingFinding) (pendingFinding, bool) {
		one := found[0]
		one.text += fmt.Sprintf("; %s of this file repeat lines of %s: remove the copies", record.Counted(len(found)-1, "more line"), c.files[from.of].name)
		return one, true
	})
}

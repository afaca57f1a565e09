package measure

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/record"
)

// equal are the generation speeds of runs with the same model, hardware, quantization, tool and about the same context,
// slowest first.
func equal(set *dataset.Set, b *dataset.Benchmark) (speeds []float64) {
	for _, o := range set.Benchmarks {
		alike := o.Model == b.Model && o.Hardware == b.Hardware && o.HardwareCount == b.HardwareCount && o.Tool == b.Tool && held(o) == held(b)
		quantization := o.Quantization != nil && b.Quantization != nil && *o.Quantization == *b.Quantization
		single := !o.IsThroughput() && (o.Concurrency == nil || *o.Concurrency == 1)
		if alike && quantization && single && o.GenerationTPS != nil && o.Withdrawn == nil {
			speeds = append(speeds, *o.GenerationTPS)
		}
	}
	slices.Sort(speeds)
	return speeds
}

// held is how many tokens were in the cache before generation, in steps: 0 below 2,048, 1 below 8,192, 2 below 32,768.
func held(b *dataset.Benchmark) int {
	tokens := int64(0)
	for _, n := range []*int64{b.NPrompt, b.ContextDepth} {
		if n != nil {
			tokens += *n
		}
	}
	return max(0, bits.Len64(uint64(tokens))-10) / 2
}

// What is named at once.
const (
	slowdown    = 0.85 // the last repetition against the first: below it the machine throttles
	outlier     = 3.0  // times the median of equal runs, up or down
	lowShare    = 0.1  // of the memory bandwidth
	slowPerSec  = 100  // below this speed the fixed cost of a token, under 10 ms in every engine, explains no low share
	leastEquals = 2    // runs that an outlier is judged by
)

// Warnings names what may be wrong with a run, a sentence each.
func Warnings(set *dataset.Set, r *Run) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if n := len(r.Repetitions); n > 1 && r.Repetitions[n-1] < slowdown*r.Repetitions[0] {
		say("the last repetition (%.1f tokens/s) is more than 15 %% slower than the first (%.1f): the machine may be hot or busy", r.Repetitions[n-1], r.Repetitions[0])
	}
	if r.GenerationTPS == nil {
		return out
	}
	speed, others := *r.GenerationTPS, equal(set, &r.Benchmark)
	ratio, known := dataset.NewRoofline(set.Models, set.Hardware, set.Quantizations).Ratio(&r.Benchmark)
	cause := "part of the weights may be in main memory, or another program is using the hardware"
	if r.ComputeUnit != nil && *r.ComputeUnit == record.OnCPU {
		cause = "another program may be using the processor, or the run used only part of it"
	}
	switch enough := len(others) >= leastEquals; {
	case r.PartialOffload != nil && *r.PartialOffload:
		say("part of the weights is in main memory, so this is not the speed of the graphics alone")
	case enough && speed*outlier < record.Median(others):
		say("the median of runs with the same settings is %.1f tokens/s, this run has %.1f: %s", record.Median(others), speed, cause)
	case enough && speed > outlier*record.Median(others):
		say("the speed is more than three times the median of runs with the same settings (%.1f tokens/s): check the model, its quantization and drafted tokens", record.Median(others))
	case known && ratio < lowShare && speed < slowPerSec:
		say("the speed uses only %.2g %% of the memory bandwidth: %s", 100*ratio, cause)
	}
	return out
}

// Picture draws where the speed of b is among equal runs: the numbers of runs from the slowest to the fastest, and a
// mark.
func Picture(set *dataset.Set, b *dataset.Benchmark) string {
	others := equal(set, b)
	if b.GenerationTPS == nil || len(others) == 0 {
		return "the dataset has no comparable run\n"
	}
	const width = 50
	speed := *b.GenerationTPS
	low, high := min(speed, others[0]), max(speed, others[len(others)-1])
	at := func(v float64) int { return int(math.Round((v - low) / max(high-low, 1e-9) * (width - 1))) }
	line := []byte(strings.Repeat(".", width))
	for _, v := range others {
		line[at(v)] = "123456789"[min(strings.IndexByte(".123456789", line[at(v)]), 8)]
	}
	left := fmt.Sprintf("%8.1f ", low)
	return fmt.Sprintf("%s%s %.1f tokens/s\n%s^ %.1f, among %s with a median of %.1f\n",
		left, line, high, strings.Repeat(" ", len(left)+at(speed)), speed, record.Counted(len(others), "comparable run"), record.Median(others))
}

package dataset

import (
	"cmp"
	"slices"
)

// EqualWithin is how near two speeds of one configuration must be to count as the same result.
const EqualWithin = 0.1

// configurationOf is what equal measurements have in common. A run with an unknown field has none; the unit may be
// unknown, because the backend says it where it matters.
func configurationOf(b *Benchmark) (of [9]any, ok bool) {
	switch {
	case b.GenerationTPS == nil, b.Withdrawn != nil, b.Quantization == nil, b.Backend == nil, b.RateBasis == nil, b.SourceKey == nil, b.IsThroughput(),
		b.SpeculativeDecoding != nil && *b.SpeculativeDecoding, b.PartialOffload != nil && *b.PartialOffload, !b.FromEmpty():
		return of, false
	}
	return [...]any{b.Model, b.Hardware, b.Tool, *b.Quantization, *b.Backend, *b.RateBasis, textOf(b.ComputeUnit), b.HardwareCount, usersOf(b)}, true
}

// Reproduced counts, for each benchmark, the other sources (by source_key) that measured an equal configuration within
// 10 % of the faster one. Only runs from an empty cache count, without drafting or weights in main memory. The count is
// -1 if a row lacks a field of the configuration.
func Reproduced(benchmarks []*Benchmark) []int32 {
	groups := map[[9]any][]int32{}
	out := make([]int32, len(benchmarks))
	for i := range out {
		out[i] = -1
		if c, ok := configurationOf(benchmarks[i]); ok {
			groups[c] = append(groups[c], int32(i))
		}
	}
	for _, members := range groups {
		confirm(benchmarks, members, out)
	}
	return out
}

// confirm counts sources in a window of speeds that only moves upwards.
func confirm(benchmarks []*Benchmark, members []int32, out []int32) {
	speed := func(i int32) float64 { return *benchmarks[i].GenerationTPS }
	slices.SortFunc(members, func(a, b int32) int { return cmp.Compare(speed(a), speed(b)) })
	near := func(low, high int32) bool { return speed(high)-speed(low) <= EqualWithin*speed(high) }
	sources, from, to := map[string]int{}, 0, 0 // how many rows of the window each source has
	for _, i := range members {
		for ; to < len(members) && near(i, members[to]); to++ {
			sources[*benchmarks[members[to]].SourceKey]++
		}
		for ; !near(members[from], i); from++ {
			key := *benchmarks[members[from]].SourceKey
			if sources[key]--; sources[key] == 0 {
				delete(sources, key)
			}
		}
		out[i] = int32(len(sources) - 1) // its own is among them
	}
}

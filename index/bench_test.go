package index

// What a page costs by kind of question, of the shipped benchmarks and of a million made-up ones, and what a table costs to
// build and to keep:
//
//	go test ./index -run '^$' -bench . -benchmem

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"modeldex/dataset"
)

var (
	inf     = math.Inf(1)
	cuda    = Set{Field: Backend, Values: []string{"cuda"}}
	llama   = Set{Field: Family, Values: []string{"llama"}}
	fastest = Sort{GenerationTPS, true}
)

var benchQueries = map[string]Query{
	"filters=0":         {},
	"filters=1":         {Sets: []Set{cuda}},
	"filters=2":         {Sets: []Set{cuda, llama}},
	"fastest/filters=1": {Sets: []Set{cuda}, Sort: fastest},
	"slowest/filters=2": {Sets: []Set{cuda, llama}, Sort: Sort{Field: GenerationTPS}},
	"range":             {Ranges: []Range{{GenerationTPS, 50, inf}}},
	"range/filters=2":   {Sets: []Set{cuda, llama}, Ranges: []Range{{GenerationTPS, 50, 500}}, Sort: fastest},
	"words":             {Words: []string{"llama", "7"}},
}

func benchSet(n int) *dataset.Set { return newRandom(7, 400, 0.1).set(n, 800) }

func BenchmarkSelect(b *testing.B) {
	benchSelect(b, mustBuild(b, shippedSet(b)).Benchmarks)
	benchSelect(b, mustBuild(b, benchSet(1_000_000)).Benchmarks)
}

func benchSelect(b *testing.B, table *Table) {
	for name, q := range benchQueries {
		q.Limit = 100
		b.Run(fmt.Sprintf("%s/rows=%d", name, table.Len()), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Select(q)
			}
			b.ReportMetric(float64(table.Select(q).Total), "matches")
		})
	}
}

// BenchmarkBuild reports, beside time, the memory a generation holds: a row, and over the bytes it serves.
func BenchmarkBuild(b *testing.B) {
	const n = 100_000
	set := benchSet(n)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var gen *Generation
	before := heap()
	for b.Loop() {
		gen, _ = Build(context.Background(), set, renderers)
	}
	held := float64(heap() - before)
	b.ReportMetric(held/n, "bytes/row")
	b.ReportMetric(held/float64(gen.Benchmarks.Bytes()), "x-rendered")
	runtime.KeepAlive(set)
}

// BenchmarkAnswers asks the real benchmarks for what else a list answers.
func BenchmarkAnswers(b *testing.B) {
	_, gen := shippedGeneration(b)
	table := gen.Benchmarks
	var facets []Field
	for _, f := range BenchmarkFields {
		if f.Is(Facets) {
			facets = append(facets, f.Name)
		}
	}
	cudaOnly := Query{Sets: []Set{cuda}, Ranges: []Range{{GenerationTPS, 5, inf}}}
	b.Run("facets/all", func(b *testing.B) {
		for b.Loop() {
			table.Facets(Query{}, facets)
		}
	})
	b.Run("facets/filtered", func(b *testing.B) {
		for b.Loop() {
			table.Facets(cudaOnly, facets)
		}
	})
	for name, q := range map[string]StatsQuery{
		"all":      {By: []Field{Hardware}, Metric: GenerationTPS, MaxGroups: 10_000},
		"two":      {By: []Field{Hardware, Model}, Metric: GenerationTPS, MaxGroups: 10_000},
		"filtered": {Query: cudaOnly, By: []Field{Hardware}, Metric: GenerationTPS, MaxGroups: 10_000},
		"page":     {Query: cudaOnly, By: []Field{Hardware}, Metric: GenerationTPS, Weight: OncePerPage, MaxGroups: 10_000},
		"repeat":   {By: []Field{Hardware, Model}, Metric: GenerationTPS, Weight: OncePerRepeat, MaxGroups: 10_000},
	} {
		b.Run("stats/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := table.Stats(q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package index

// What a page costs by kind of question and size of table, and what a table costs to build and
// to keep. A page that is flat in the size of the table is the aim; the sets behind a filter
// may grow with it.
//
//	go test ./index -run '^$' -bench Select -benchmem
//	go test ./index -run '^$' -bench Build -benchtime 1x

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"modeldex/dataset"
)

var benchRows = []int{10_000, 100_000, 1_000_000}

// benchTables are built once a size: a million rows take seconds.
var benchTables = map[int]*Table{}

func benchSet(n int) *dataset.Set { return newRandom(7, 400, 0.1).set(n, 800) }

// leanRow is as long as a line of a benchmark without its unknown fields.
var leanRow = bytes.Repeat([]byte("x"), 330)

func benchTable(b *testing.B, n int) *Table {
	b.Helper()
	if benchTables[n] == nil {
		benchTables[n] = mustBuild(b, benchSet(n)).Benchmarks
	}
	return benchTables[n]
}

var inf = math.Inf(1)

// gpus are pieces of hardware by popularity; speed rises with the number, popularity falls.
func gpus(from, to int) Set {
	s := Set{Field: Hardware}
	for i := from; i < to; i++ {
		s.Values = append(s.Values, fmt.Sprintf("gpu-%d", i))
	}
	return s
}

var (
	cuda     = Set{Field: Backend, Values: []string{"cuda"}} // six of ten
	cpu      = Set{Field: Backend, Values: []string{"cpu"}}  // one of eight
	official = Set{Field: Source, Values: []string{string(dataset.Official)}}
	q8       = Set{Field: Quantization, Values: []string{"Q8_0"}}
	llama    = Set{Field: Family, Values: []string{"llama"}}
	fastest  = Sort{GenerationTPS, true}
)

var benchQueries = []struct {
	name string
	q    Query
}{
	{"filters=0", Query{}},
	{"filters=1", Query{Sets: []Set{cuda}}},
	{"filters=2", Query{Sets: []Set{cuda, q8}}},
	{"filters=3", Query{Sets: []Set{cuda, q8, llama}}},
	{"filters=3/rare", Query{Sets: []Set{gpus(700, 701), q8, llama}}},
	{"values=50", Query{Sets: []Set{gpus(100, 150)}}},
	{"fastest/filters=0", Query{Sort: fastest}},
	{"fastest/filters=1", Query{Sets: []Set{cuda}, Sort: fastest}},
	{"fastest/filters=2", Query{Sets: []Set{cpu, official}, Sort: fastest}},
	{"fastest/rare", Query{Sets: []Set{gpus(700, 701)}, Sort: fastest}},
	{"fastest/of-slow", Query{Sets: []Set{gpus(0, 40)}, Sort: fastest}}, // no match before many of the order
	{"slowest/of-fast", Query{Sets: []Set{gpus(400, 800)}, Sort: Sort{Field: GenerationTPS}}},
	{"range/wide", Query{Ranges: []Range{{GenerationTPS, 50, inf}}}},
	{"range/narrow", Query{Ranges: []Range{{GenerationTPS, 1000, 1010}}}},
	{"range/sorted", Query{Ranges: []Range{{GenerationTPS, 50, inf}}, Sort: Sort{Field: GenerationTPS}}},
	{"range/dates", Query{Ranges: []Range{{RunDate, 20240000, 20249999}}}},
	{"range/filters=2", Query{Sets: []Set{cuda, q8}, Ranges: []Range{{GenerationTPS, 50, 500}}, Sort: fastest}},
	{"words=1/many", Query{Words: []string{"llama"}}},
	{"words=1/one", Query{Words: []string{"gpu-701"}}},
	{"words=2", Query{Words: []string{"card", "llama-3"}}},
}

func BenchmarkSelect(b *testing.B) {
	for _, bq := range benchQueries {
		for _, n := range benchRows {
			q := bq.q
			q.Limit = 100
			b.Run(fmt.Sprintf("%s/rows=%d", bq.name, n), func(b *testing.B) { benchSelect(b, n, q) })
			q.After = middle(benchTable(b, n), q)
			b.Run(fmt.Sprintf("%s/deep/rows=%d", bq.name, n), func(b *testing.B) { benchSelect(b, n, q) })
		}
	}
}

// BenchmarkShipped asks the real benchmarks, whose ties and gaps no made-up ones have.
func BenchmarkShipped(b *testing.B) {
	table := mustBuild(b, shippedSet(b)).Benchmarks
	for _, bq := range []struct {
		name string
		q    Query
	}{
		{"filters=2", Query{Sets: []Set{{Field: Family, Values: []string{"qwen"}}, {Field: Backend, Values: []string{"cuda"}}}}},
		{"fastest/filters=1", Query{Sets: []Set{{Field: Family, Values: []string{"llama"}}}, Sort: fastest}},
		{"fastest/filters=1/range", Query{Sets: []Set{{Field: Backend, Values: []string{"cuda"}}}, Ranges: []Range{{GenerationTPS, 0.001, inf}}, Sort: fastest}},
		{"range", Query{Ranges: []Range{{GenerationTPS, 50, inf}}}},
		{"words", Query{Words: []string{"rtx", "llama"}}},
	} {
		bq.q.Limit = 100
		b.Run(fmt.Sprintf("%s/rows=%d", bq.name, table.Len()), func(b *testing.B) { benchTableSelect(b, table, bq.q) })
	}
}

func benchSelect(b *testing.B, n int, q Query) { benchTableSelect(b, benchTable(b, n), q) }

func benchTableSelect(b *testing.B, table *Table, q Query) {
	b.ReportAllocs()
	for b.Loop() {
		table.Select(q)
	}
	b.ReportMetric(float64(table.Select(q).Total), "matches")
}

// middle is a position halfway down an order.
func middle(t *Table, q Query) *Position {
	o := t.ordering(&Query{Sort: q.Sort})
	return o.position(o.ordinals()[t.n/2])
}

// BenchmarkBuild reports, beside time, the memory a generation holds: a row, and over the
// bytes it serves.
func BenchmarkBuild(b *testing.B) {
	r := renderers
	r.Benchmark = func(dst []byte, _ *dataset.Benchmark, _ Computed) ([]byte, error) {
		return append(dst, leanRow...), nil
	}
	for _, n := range benchRows {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			set := benchSet(n)
			var gen *Generation
			before := heap()
			for b.Loop() {
				gen, _ = Build(context.Background(), set, r)
			}
			held := float64(heap() - before)
			b.ReportMetric(held/float64(n), "bytes/row")
			b.ReportMetric(held/float64(gen.Benchmarks.Bytes()), "x-rendered")
			runtime.KeepAlive(set)
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
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
				s, err := table.Stats(q)
				if err != nil {
					b.Fatal(err)
				}
				for i := range s.Groups[:min(100, len(s.Groups))] {
					s.Groups[i].Differing()
				}
			}
		})
	}
}

package fit

import (
	"fmt"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/pack"
)

// Making an engine of a large table, as each load of it does. Run with
//
//	go test ./dataset/fit -run - -bench NewOfMany -benchtime 3x
func BenchmarkNewOfMany(b *testing.B) {
	set := *shippedSet(b)
	const rows = 1_000_000
	recs := set.Benchmarks.All()
	many := make([]dataset.Benchmark, rows)
	for i := range many {
		many[i] = recs[i%len(recs)]
		many[i].ID = dataset.Slug(fmt.Sprintf("bm-%012x", i*2654435761))
	}
	set.Benchmarks = pack.New(many)
	b.ReportAllocs()
	for b.Loop() {
		New(&set)
	}
}

package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"modeldex/dataset"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// TestDetailBound: the detail of a model has a bounded number of benchmarks, however many there are, and says how many.
func TestDetailBound(t *testing.T) {
	t.Parallel()
	set, _, err := generationOf(os.DirFS(mustSmallData(t)))
	if err != nil {
		t.Fatal(err)
	}
	one := *set.Benchmarks[0]
	many := make([]dataset.Benchmark, maxOwnBenchmarks+1)
	for i := range many {
		many[i] = one
		many[i].ID = dataset.Slug(fmt.Sprintf("bm-%012x", i))
	}
	large := *set
	large.Benchmarks = dataset.Pointers(many)
	gen, err := index.Build(context.Background(), &large, rows.Renderers)
	if err != nil {
		t.Fatal(err)
	}
	var live index.Live
	live.Publish(gen)
	s := newService(t, &live)
	for query, want := range map[string]int{"": maxOwnBenchmarks, "?benchmarks_limit=100000": maxOwnBenchmarks, "?benchmarks_limit=7": 7} {
		var got struct {
			Data struct {
				Benchmarks     []struct{ ID string }
				BenchmarkCount int `json:"benchmark_count"`
			}
		}
		a := s.ask(t, "GET", "/api/v1/models/"+string(one.Model)+query)
		if err := json.Unmarshal(a.body, &got); err != nil || a.status != 200 {
			t.Fatalf("%s: status %d, %v", query, a.status, err)
		}
		if n := len(got.Data.Benchmarks); n != want || got.Data.BenchmarkCount != len(many) {
			t.Errorf("%s: %d benchmarks of %d, want %d of %d", query, n, got.Data.BenchmarkCount, want, len(many))
		}
		if first := got.Data.Benchmarks[0].ID; first != string(many[0].ID) {
			t.Errorf("%s: begins with %s", query, first)
		}
	}
}

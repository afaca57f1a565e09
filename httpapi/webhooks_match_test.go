package httpapi

import (
	"encoding/json"
	"testing"
)

// TestMatchBenchmarks: a webhook without filters gets every benchmark, throughput results too; one with filters gets what
// the list of benchmarks has with them.
func TestMatchBenchmarks(t *testing.T) {
	t.Parallel()
	live := mustShipped(t).live
	s, gen := newService(t, live), live.Current()
	all := make([]uint32, gen.Benchmarks.Len())
	for i := range all {
		all[i] = uint32(i)
	}
	total := func(filters string) int {
		var list struct{ Meta struct{ Total int } }
		a := s.ask(t, "GET", "/api/v1/benchmarks?limit=1&"+filters)
		if err := json.Unmarshal(a.body, &list); err != nil || a.status != 200 {
			t.Fatalf("status %d, %v: %.300s", a.status, err, a.body)
		}
		return list.Meta.Total
	}
	if listed := total(""); listed >= len(all) {
		t.Fatalf("all %d benchmarks are listed without filters: nothing is left out", listed)
	}
	for _, tt := range []struct {
		filters string
		want    int
	}{
		{"", len(all)},
		{"hardware=nvidia-rtx-4090", total("hardware=nvidia-rtx-4090")},
		{"settings=single_stream", total("settings=single_stream")},
		{"scenario=offline", total("scenario=offline")},
	} {
		got, err := MatchBenchmarks(gen, tt.filters, all)
		if err != nil || len(got) != tt.want || tt.want == 0 {
			t.Errorf("filters %q match %d benchmarks, want %d: %v", tt.filters, len(got), tt.want, err)
		}
	}
}

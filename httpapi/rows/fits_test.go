package rows

import (
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/httpapi/rowjson"
)

// fits are what runs on some hardware, also where the memory alone is given.
func fits(tb testing.TB) (all []fit.Best) {
	tb.Helper()
	gen := shipped(tb)
	for _, q := range []fit.Query{{Hardware: "nvidia-rtx-4090"}, {MemoryGB: 16, BandwidthGBps: 300}, {Hardware: "nvidia-gb10", Count: 2, Context: 4096}} {
		runs, fault := gen.Fit.Models(q, 0)
		if fault != nil {
			tb.Fatal(fault)
		}
		all = append(all, runs.Found...)
	}
	return all
}

// TestAppendFit: what runs is written as its type is, with and without what may be unknown.
func TestAppendFit(t *testing.T) {
	t.Parallel()
	all := fits(t)
	odd, tiny, use := fit.Best{Model: "a", Quantization: `Q"4`, Hardware: dataset.Slug("<b>")}, 1e-9, "measured"
	odd.BitsPerWeight, odd.Use = &tiny, &use
	for i, f := range append(all, odd, fit.Best{}) {
		if got, want := string(AppendFit(nil, &f)), string(rowjson.Marshal(&f)); got != want {
			t.Fatalf("%d is written\n%s\nwant\n%s", i, got, want)
		}
	}
}

// BenchmarkAppendFit compares writing what runs with marshaling it.
func BenchmarkAppendFit(b *testing.B) {
	all, n := fits(b), 0
	next := func() *fit.Best { n = (n + 1) % len(all); return &all[n] }
	b.Run("written", func(b *testing.B) {
		var row []byte
		for b.Loop() {
			row = AppendFit(row[:0], next())
		}
	})
	b.Run("marshaled", func(b *testing.B) {
		for b.Loop() {
			rowjson.Marshal(next())
		}
	})
}

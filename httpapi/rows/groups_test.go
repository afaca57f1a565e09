package rows

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/httpapi/rowjson"
	"modeldex/index"
)

// TestGroupWriter: groups of every two fields are written as the type of their schema is.
func TestGroupWriter(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 6))
	gen := shipped(t)
	fields := fieldsFor(index.Groups)
	for i, by := range fields {
		other := fields[(i+1+rnd.IntN(len(fields)-1))%len(fields)]
		for _, metric := range fieldsFor(index.Metric) {
			stats, err := gen.Benchmarks.Stats(index.StatsQuery{By: []index.Field{index.Field(by), index.Field(other)}, Metric: index.Field(metric), MaxGroups: math.MaxInt})
			if err != nil {
				t.Fatal(err)
			}
			w := NewGroupWriter([]string{by, other})
			for k := 0; k < len(stats.Groups); k += 1 + rnd.IntN(50) {
				g := &stats.Groups[k]
				row := statsRow(g, []string{by, other})
				b := w.Append(nil, g)
				if got, want := string(b), string(rowjson.Marshal(row)); got != want {
					t.Fatalf("statistics of %s by %s and %s: group %d is written\n%s\nwant\n%s", metric, by, other, k, got, want)
				}
			}
		}
	}
}

// TestAppendNumbers: numbers of every size are written as marshal writes them.
func TestAppendNumbers(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 6))
	for range 20_000 {
		v := (rnd.Float64() - 0.5) * math.Pow(10, float64(rnd.IntN(60)-30))
		if rnd.IntN(2) == 0 {
			v = math.Round(v*1000) / 1000
		}
		if got, want := string(appendFloat(nil, v)), string(rowjson.Marshal(v)); got != want {
			t.Errorf("appendFloat(%g) = %s, want %s", v, got, want)
		}
		if got, want := string(appendQuantile(nil, v)), string(rowjson.Marshal(twelveDigits(v))); got != want {
			t.Errorf("appendQuantile(%g) = %s, want %s", v, got, want)
		}
	}
}

// BenchmarkGroupWriter compares writing groups with marshaling them.
func BenchmarkGroupWriter(b *testing.B) {
	stats, err := shipped(b).Benchmarks.Stats(index.StatsQuery{By: []index.Field{index.Model, index.Quantization}, Metric: index.GenerationTPS, MaxGroups: math.MaxInt})
	if err != nil {
		b.Fatal(err)
	}
	by, n := []string{"model", "quantization"}, 0
	next := func() *index.Group { n = (n + 1) % len(stats.Groups); return &stats.Groups[n] }
	b.Run("written", func(b *testing.B) {
		w, row := NewGroupWriter(by), []byte(nil)
		for b.Loop() {
			row = w.Append(row[:0], next())
		}
	})
	b.Run("marshaled", func(b *testing.B) {
		for b.Loop() {
			rowjson.Marshal(statsRow(next(), by))
		}
	})
}

// statsRow is a group as the type that its schema is made from.
func statsRow(g *index.Group, by []string) *Group {
	differ := g.Differing()
	row := &Group{
		Group: map[string]any{}, N: g.N, Sources: g.Pages, Min: twelveDigits(g.Min), P10: twelveDigits(g.P10), P25: twelveDigits(g.P25), Median: twelveDigits(g.Median), P75: twelveDigits(g.P75), P90: twelveDigits(g.P90), Max: twelveDigits(g.Max),
		NewestRunDate: DateText(g.Newest()), SharedSettings: map[string]any{}, DifferingSettings: make([]string, len(differ)), Comparable: g.Comparable,
	}
	for i, v := range g.Key() {
		row.Group[by[i]] = orNull(v)
	}
	for _, f := range index.BenchmarkFields {
		if !f.Is(index.Setting) {
			continue
		}
		if value, shared := g.Setting(f.Name); shared {
			row.SharedSettings[string(f.Name)] = settingValue(f.Kind, value)
		}
	}
	for i, f := range differ {
		row.DifferingSettings[i] = string(f)
	}
	return row
}

// settingValue is the value of a setting in the type of its field.
func settingValue(kind index.FieldKind, value string) any {
	if value == "" {
		return nil
	}
	switch kind {
	case index.Flag:
		return value == "true"
	case index.Count:
		n, _ := strconv.ParseInt(value, 10, 64) // made by the index from a whole number
		return n
	default:
		return value
	}
}

// fieldsFor are the names of the fields of benchmarks with a use.
func fieldsFor(use index.Uses) (out []string) {
	for _, f := range index.BenchmarkFields {
		if f.Is(use) {
			out = append(out, string(f.Name))
		}
	}
	return out
}

// shipped is the dataset of this repository.
func shipped(tb testing.TB) *index.Generation {
	tb.Helper()
	set, err := dataset.Load(context.Background(), datasettest.Shipped(tb), dataset.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	gen, err := index.Build(context.Background(), set, Renderers)
	if err != nil {
		tb.Fatal(err)
	}
	return gen
}

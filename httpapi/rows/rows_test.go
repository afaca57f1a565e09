package rows

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/index"

	jsonv2 "github.com/goccy/go-json/v2"
)

// TestBenchmark holds the rows of benchmarks to their Go type: those of the shipped data, and
// of records with any field unknown or odd.
func TestBenchmark(t *testing.T) {
	set, err := dataset.Load(context.Background(), datasettest.Shipped(t), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	step := datasettest.Rounds(8, 1)
	for i := 0; i < set.Benchmarks.Len(); i += step {
		b := *set.Benchmarks.At(i)
		checkBenchmarkRow(t, &b, math.NaN(), odd(r))
		for range 3 {
			disturb(r, reflect.ValueOf(&b).Elem())
		}
		checkBenchmarkRow(t, &b, odd(r), math.NaN())
		if t.Failed() {
			return
		}
	}
}

func checkBenchmarkRow(t *testing.T, b *dataset.Benchmark, ratio, perStream float64) {
	t.Helper()
	known := func(v float64) *float64 {
		if math.IsNaN(v) {
			return nil
		}
		return &v
	}
	computed := index.Computed{Roofline: ratio, PerStreamTPS: perStream, ReproducedBy: int32(len(b.Model))%4 - 1}
	row := Benchmark{*b, known(ratio), known(perStream), nil}
	if n := int64(computed.ReproducedBy); n >= 0 {
		row.ReproducedBy = &n
	}
	want, err := jsonv2.Marshal(&row)
	if err != nil {
		t.Fatal(err)
	}
	got, err := appendBenchmark([]byte("head"), b, computed)
	if err != nil || string(got) != "head"+string(want) {
		t.Errorf("row\n%s, %v, want\n%s", got, err, want)
	}
}

// disturb gives one field of a record another value.
func disturb(r *rand.Rand, b reflect.Value) {
	v := b.Field(r.IntN(b.NumField()))
	if v.Kind() == reflect.Pointer {
		if r.IntN(3) == 0 {
			v.SetZero()
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString([]string{"", `a "b" \c`, "ünï <&> \u2028", "\x00\n\t\x7f", "🚀"}[r.IntN(5)])
	case reflect.Int64:
		v.SetInt(int64(r.Uint64()))
	case reflect.Float64:
		v.SetFloat(odd(r))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Struct:
		v.Set(reflect.ValueOf(dataset.Withdrawal{Date: "2026-01-01", Reason: `"why"`}))
	}
}

// odd is a number in one of the forms numbers are written in.
func odd(r *rand.Rand) float64 {
	numbers := []float64{0, -1, 0.1, 1e-7, 1.5e300, 1e21, 123456789012345680, r.Float64(), r.NormFloat64() * 1e5}
	return numbers[r.IntN(len(numbers))]
}

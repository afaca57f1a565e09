package rows

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/httpapi/rowjson"
	"modeldex/index"
)

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
	}
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

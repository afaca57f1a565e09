package rows

import (
	"math"
	"math/rand/v2"
	"testing"

	"modeldex/httpapi/rowjson"
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

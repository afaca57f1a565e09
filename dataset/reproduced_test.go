package dataset

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"modeldex/dataset/pack"

	"github.com/google/go-cmp/cmp"
)

// naiveConfiguration names what is equal in rows that confirm each other; "" for a row that is not compared.
func naiveConfiguration(b *Benchmark) string {
	known := b.GenerationTPS != nil && b.Quantization != nil && b.Backend != nil && b.RateBasis != nil && b.SourceKey != nil
	yes := func(b *bool) bool { return b != nil && *b }
	if !known || b.Withdrawn != nil || b.Scenario != nil || yes(b.SpeculativeDecoding) || yes(b.PartialOffload) || b.ContextDepth != nil && *b.ContextDepth > 512 {
		return ""
	}
	users, unit := int64(1), ComputeUnit("")
	if b.Concurrency != nil {
		users = *b.Concurrency
	}
	if b.ComputeUnit != nil {
		unit = *b.ComputeUnit
	}
	return fmt.Sprint(b.Model, " ", b.Hardware, " ", b.Tool, " ", *b.Quantization, " ", *b.Backend, " ", *b.RateBasis, " ", unit, " ", b.HardwareCount, " ", users)
}

// naiveReproduced compares every row with every other.
func naiveReproduced(rows []Benchmark) []int32 {
	out := make([]int32, len(rows))
	for i := range rows {
		a := naiveConfiguration(&rows[i])
		if a == "" {
			out[i] = -1
			continue
		}
		seen := map[string]bool{}
		for j := range rows {
			x, y := rows[i].GenerationTPS, rows[j].GenerationTPS
			if a == naiveConfiguration(&rows[j]) && *rows[i].SourceKey != *rows[j].SourceKey && max(*x, *y)-min(*x, *y) <= EqualWithin*max(*x, *y) {
				seen[*rows[j].SourceKey] = true
			}
		}
		out[i] = int32(len(seen))
	}
	return out
}

func TestReproduced(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	decode, q := RateDecode, "Q4_0"
	for range 20 {
		rows := make([]Benchmark, 100)
		for i := range rows {
			key, speed := string(rune('a'+rng.IntN(4))), 50+10*rng.Float64()
			backend, unit := []string{"rocm", "vulkan"}[rng.IntN(2)], []ComputeUnit{OnGPU, OnCPU}[rng.IntN(2)]
			rows[i] = Benchmark{
				Model: "m", Hardware: Slug(rune('h' + rng.IntN(2))), Tool: "t", HardwareCount: 1, Quantization: &q, Backend: &backend, ComputeUnit: &unit,
				RateBasis: &decode, GenerationTPS: &speed, SourceKey: &key,
			}
			yes, n := rng.IntN(2) == 0, []int64{1, 512, 513}[rng.IntN(3)]
			switch rng.IntN(16) {
			case 4:
				rows[i].SourceKey = nil
			case 5:
				rows[i].SpeculativeDecoding = &yes
			case 6:
				rows[i].PartialOffload = &yes
			case 7:
				rows[i].ContextDepth = &n
			case 8:
				rows[i].Concurrency = &n
			case 9:
				rows[i].Scenario = ptr(Scenario("offline"))
			case 10:
				rows[i].HardwareCount = n
			case 2:
				rows[i].Backend = nil
			case 3:
				rows[i].ComputeUnit = nil
			case 0:
				rows[i].RateBasis = nil
			case 1:
				rows[i].Withdrawn = &Withdrawal{}
			}
		}
		pack := pack.New(rows)
		if diff := cmp.Diff(naiveReproduced(rows), Reproduced(&pack)); diff != "" {
			t.Fatalf("(-naive +got):\n%s", diff)
		}
	}
}

// TestReproducedByBackend: the same speed through another backend or on another unit confirms nothing.
func TestReproducedByBackend(t *testing.T) {
	row := func(source, backend string, unit ComputeUnit) Benchmark {
		decode, q, speed := RateDecode, "Q4_0", 50.0
		return Benchmark{
			Model: "m", Hardware: "h", Tool: "t", HardwareCount: 1, Quantization: &q, Backend: &backend, ComputeUnit: &unit,
			RateBasis: &decode, GenerationTPS: &speed, SourceKey: &source,
		}
	}
	pack := pack.New([]Benchmark{row("a", "rocm", OnGPU), row("b", "rocm", OnGPU), row("c", "vulkan", OnGPU), row("d", "rocm", OnMixed)})
	if diff := cmp.Diff([]int32{1, 1, 0, 0}, Reproduced(&pack)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

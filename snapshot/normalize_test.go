package snapshot

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestNormalizeApply(t *testing.T) {
	percent := Normalize{Kind: Linear, Zero: ptr(0.0), Full: ptr(100.0)}
	turned := Normalize{Kind: Linear, Zero: ptr(4.89), Full: ptr(1.0)}
	elo := Normalize{Kind: WinRate, Points: ptr(400.0)}
	tests := []struct {
		name string
		rule Normalize
		v    float64
		want float64
	}{
		{"percent", percent, 42.5, 42.5},
		{"percent at the ends", percent, 100, 100},
		{"below chance", percent, -2.84, 0},
		{"above the top", percent, 120, 100},
		{"half", Normalize{Kind: Linear, Zero: ptr(20.0), Full: ptr(60.0)}, 40, 50},
		{"lower is better, best", turned, 1, 100},
		{"lower is better, worst", turned, 4.89, 0},
		{"lower is better, worse than worst", turned, 6, 0},
		{"lower is better, between", turned, 1.28, 92.8021},
		{"equal to the reference", elo, 1300, 50},
		{"400 points above: ten to one", elo, 1700, 90.9091},
		{"400 points below: one to ten", elo, 900, 9.0909},
		{"as captured", Normalize{Kind: WinRate, Points: ptr(400.0), Reference: ptr(1315.1834079085115)}, 1492.0464937622653, 73.4603},
		{"endlessly above", elo, 1e6, 100},
		{"endlessly below", elo, -1e6, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := round4(*tt.rule.apply(tt.v, 1300)); got != tt.want {
				t.Errorf("apply(%v) = %v, want %v", tt.v, got, tt.want)
			}
		})
	}
	if got := (Normalize{Kind: None}).apply(5, 0); got != nil {
		t.Errorf("apply of kind none = %v, want null", *got)
	}
	if got := *percent.apply(math.Copysign(0, -1), 0); math.Signbit(got) {
		t.Error("apply(-0) = -0, want 0")
	}
}

// TestWinRateAgainstMath: the exact power agrees with math.Pow as far as that one is exact.
func TestWinRateAgainstMath(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	for range 5000 {
		rating, reference := 400+1400*rnd.Float64(), 1000+600*rnd.Float64()
		want := 100 / (1 + math.Pow(10, (reference-rating)/400))
		if got := winRate(rating, reference, 400); math.Abs(got-want) > 1e-11 {
			t.Fatalf("winRate(%v, %v) = %v, want %v", rating, reference, got, want)
		}
	}
}

func TestWinRateRises(t *testing.T) {
	last := -1.0
	for rating := -8000.0; rating <= 12000; rating += 50 {
		got := winRate(rating, 1300, 400)
		if got < last || got < 0 || got > 100 {
			t.Fatalf("winRate(%v) = %v after %v, want rising inside 0..100", rating, got, last)
		}
		last = got
	}
}

func TestMedian(t *testing.T) {
	tests := []struct {
		name   string
		values []float64
		want   float64
	}{
		{"none", nil, 0},
		{"one", []float64{3}, 3},
		{"odd", []float64{9, 1, 5}, 5},
		{"even", []float64{4, 1, 2, 9}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := median(tt.values); got != tt.want {
				t.Errorf("median = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestWeightedMean(t *testing.T) {
	tests := []struct {
		name  string
		parts []Component
		want  float64 // -1: null
	}{
		{"nothing", nil, -1},
		{"no weight", []Component{{Normalized: 50}}, -1},
		{"equal", []Component{{Normalized: 50, Weight: 1}, {Normalized: 60, Weight: 1}}, 55},
		{"three to one", []Component{{Normalized: 50, Weight: 3}, {Normalized: 60, Weight: 1}}, 52.5},
		{"weights too large", []Component{{Normalized: 50, Weight: math.MaxFloat64}, {Normalized: 60, Weight: math.MaxFloat64}}, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := -1.0
			if x := weightedMean(tt.parts); x != nil {
				got = *x
			}
			if got != tt.want {
				t.Errorf("weightedMean = %v, want %v", got, tt.want)
			}
		})
	}
}

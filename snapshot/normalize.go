package snapshot

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// The kinds of normalization; see the package page for reasons and sources.
const (
	Linear  = "linear"
	WinRate = "win_rate"
	None    = "none"
)

// The directions of a metric.
const (
	Higher  = "higher"
	Lower   = "lower"
	Neither = "none"
)

// Normalize tells how a metric is brought to 0..100.
type Normalize struct {
	Kind      string   `json:"kind"`                // linear, win_rate or none
	Zero      *float64 `json:"zero,omitempty"`      // linear: the value that becomes 0
	Full      *float64 `json:"full,omitempty"`      // linear: the value that becomes 100
	Points    *float64 `json:"points,omitempty"`    // win_rate: rating points for odds of ten to one, 400 by Elo
	Reference *float64 `json:"reference,omitempty"` // win_rate: the rating of the opponent; nil is the median of the board
	Reason    string   `json:"reason"`              // why this kind
	Evidence  string   `json:"evidence"`            // where the scale is defined
}

// check says what is wrong with the rule, given the direction of its metric.
func (n Normalize) check(direction string) error {
	switch n.Kind {
	case Linear:
		return n.checkLinear(direction)
	case WinRate:
		if n.Points == nil || !(*n.Points > 0) || direction != Higher {
			return fmt.Errorf("normalize: win_rate needs points greater than 0 and direction higher")
		}
	case None:
		if direction != Neither {
			return fmt.Errorf("normalize: none is for direction none, got %q", direction)
		}
	default:
		return fmt.Errorf("normalize: kind must be linear, win_rate or none, got %q", n.Kind)
	}
	return nil
}

func (n Normalize) checkLinear(direction string) error {
	if n.Zero == nil || n.Full == nil || *n.Zero == *n.Full {
		return fmt.Errorf("normalize: linear needs two different ends zero and full")
	}
	turned := *n.Zero > *n.Full
	if (direction == Lower) != turned || direction == Neither {
		return fmt.Errorf("normalize: zero %v and full %v do not go with direction %q", *n.Zero, *n.Full, direction)
	}
	return nil
}

// apply brings v to 0..100, unrounded; nil for kind none. board is the median rating of the
// board and is used by win_rate where the rule names no reference.
func (n Normalize) apply(v, board float64) *float64 {
	var x float64
	switch n.Kind {
	case Linear:
		// the conversions forbid fused multiply-add, which would differ between processors
		x = float64(float64(maxScore*float64(v-*n.Zero)) / float64(*n.Full-*n.Zero))
	case WinRate:
		x = winRate(v, n.reference(board), *n.Points)
	default:
		return nil
	}
	x = min(max(x, 0), maxScore) + 0 // adding 0 turns -0 into 0
	return &x
}

func (n Normalize) reference(board float64) float64 {
	if n.Reference != nil {
		return *n.Reference
	}
	return board
}

// precision in bits of the power below: double the 53 of a float64, so that the one
// rounding at the end is the only one that counts.
const precision = 120

var ln10 = mustFloat("2.30258509299404568401799145468436420760110148862877")

func mustFloat(s string) *big.Float {
	f, _, err := big.ParseFloat(s, 10, precision, big.ToNearestEven)
	if err != nil {
		panic(err) // a wrong literal above
	}
	return f
}

// winRate is 100 / (1 + 10^((reference - rating) / points)), the expected share of wins of a
// model rated rating against one rated reference. Ratings 8,000 points apart and more give 0
// or 100, closer to the true value than a double near 100 can tell.
func winRate(rating, reference, points float64) float64 {
	x := float64(reference-rating) / points
	if x > 20 {
		return 0
	}
	if x < -20 {
		return maxScore
	}
	odds := pow10(x)
	odds.Add(odds, big.NewFloat(1))
	share, _ := odds.Quo(new(big.Float).SetPrec(precision).SetInt64(100), odds).Float64()
	return share
}

// pow10 is 10^x for |x| <= 20 by the exponential series. Each step rounds the same way on
// every machine, which math.Pow does not promise.
func pow10(x float64) *big.Float {
	// halving six times keeps the series short: |y| < 0.72
	y := new(big.Float).SetPrec(precision).SetFloat64(x)
	y.Mul(y, ln10)
	y.SetMantExp(y, -6)
	sum, term := mustFloat("1"), mustFloat("1")
	for k := int64(1); k <= 40; k++ { // 0.72^40 / 40! is below 2^-170
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetInt64(k))
		sum.Add(sum, term)
	}
	for range 6 {
		sum.Mul(sum, sum)
	}
	return sum
}

// round4 rounds to four decimals, half away from zero.
func round4(x float64) float64 { return math.Round(float64(x*1e4)) / 1e4 }

// median returns the middle of values, which it sorts; the mean of the two middle ones when
// their number is even. Without values it is 0.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	half := len(values) / 2
	if len(values)%2 == 1 {
		return values[half]
	}
	return float64(values[half-1]+values[half]) / 2
}

// mean adds in the order given, so callers sort first.
func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// weightedMean is the composite of components, rounded; nil without any weight, or with
// weights too large to add.
func weightedMean(parts []Component) *float64 {
	var sum, weights float64
	for _, p := range parts {
		sum += float64(p.Weight * p.Normalized)
		weights += p.Weight
	}
	if !(weights > 0) || math.IsInf(weights, 0) || math.IsInf(sum, 0) {
		return nil
	}
	x := round4(sum / weights)
	return &x
}

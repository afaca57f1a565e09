package svg

import "math"

// Scale maps values to places in a drawing. A logarithmic one takes values above 0 only.
type Scale struct {
	Log       bool
	Low, High float64 // values at the ends
	From, To  float64 // places of the ends
}

// NewScale makes a scale over values, with some room at both ends.
func NewScale(log bool, low, high, from, to float64) Scale {
	switch {
	case log && high/low < 1.5:
		middle := math.Sqrt(low * high)
		low, high = middle/1.4, middle*1.4
	case log:
		room := math.Pow(high/low, 0.06)
		low, high = low/room, high*room
	case high-low < 1e-9:
		low, high = low-1, high+1
	default:
		room := (high - low) * 0.06
		low, high = low-room, high+room
	}
	return Scale{log, low, high, from, to}
}

// At is the place of a value.
func (s Scale) At(v float64) float64 {
	part := (v - s.Low) / (s.High - s.Low)
	if s.Log {
		part = math.Log(v/s.Low) / math.Log(s.High/s.Low)
	}
	return s.From + part*(s.To-s.From)
}

// Has reports whether a value is between the ends.
func (s Scale) Has(v float64) bool { return v >= s.Low && v <= s.High }

// Ticks are round values, at least gap units of the drawing apart.
func (s Scale) Ticks(gap float64) (out []float64) {
	if s.Log {
		return s.logTicks(gap)
	}
	most := max(2, math.Abs(s.To-s.From)/gap)
	step := roundStep((s.High - s.Low) / most)
	for v := math.Ceil(s.Low/step) * step; v <= s.High+step*1e-9; v += step {
		out = append(out, math.Round(v/step)*step)
	}
	return out
}

func roundStep(raw float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*p {
			return m * p
		}
	}
	return 10 * p
}

// logTicks takes as many values of each power of ten as have room, else every second or third power.
func (s Scale) logTicks(gap float64) (out []float64) {
	first, last := math.Floor(math.Log10(s.Low)), math.Floor(math.Log10(s.High))
	for _, of := range [][]float64{{1, 1.5, 2, 3, 4, 5, 6, 8}, {1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}} {
		out = out[:0]
		fits := true
		for e := first; e <= last; e++ {
			for _, m := range of {
				v := m * math.Pow(10, e)
				if !s.Has(v) {
					continue
				}
				fits = fits && (len(out) == 0 || math.Abs(s.At(v)-s.At(out[len(out)-1])) >= gap)
				out = append(out, v)
			}
		}
		if fits && len(out) > 0 {
			return out
		}
	}
	out = out[:0]
	per := math.Abs(s.To-s.From) / math.Log10(s.High/s.Low)
	for e := math.Ceil(math.Log10(s.Low)); e <= last; e += max(1, math.Ceil(gap/per)) {
		out = append(out, math.Pow(10, e))
	}
	return out
}

package charts

import (
	"math"
	"strconv"
	"strings"

	"modeldex/snapshot/svg"
)

// scale maps values to places.
type scale struct {
	log      bool
	low, top float64 // values at the ends
	from, to float64 // places of the ends
}

// newScale makes a scale over values, with some room at both ends. Values of a logarithmic one
// must be above 0.
func newScale(log bool, low, high, from, to float64) scale {
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
	return scale{log, low, high, from, to}
}

func (s scale) at(v float64) float64 {
	part := (v - s.low) / (s.top - s.low)
	if s.log {
		part = math.Log(v/s.low) / math.Log(s.top/s.low)
	}
	return s.from + part*(s.to-s.from)
}

func (s scale) has(v float64) bool { return v >= s.low && v <= s.top }

// ticks are round values, at least gap units of the drawing apart.
func (s scale) ticks(gap float64) []float64 {
	if s.log {
		return s.logTicks(gap)
	}
	most := max(2, math.Abs(s.to-s.from)/gap)
	step := roundStep((s.top - s.low) / most)
	var out []float64
	for v := math.Ceil(s.low/step) * step; v <= s.top+step*1e-9; v += step {
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

func (s scale) logTicks(gap float64) []float64 {
	for _, of := range [][]float64{{1, 1.5, 2, 3, 4, 5, 6, 8}, {1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}} {
		var out []float64
		fits := true
		for p := math.Pow(10, math.Floor(math.Log10(s.low))); p <= s.top; p *= 10 {
			for _, m := range of {
				v := m * p
				if !s.has(v) {
					continue
				}
				if n := len(out); n > 0 && math.Abs(s.at(v)-s.at(out[n-1])) < gap {
					fits = false
				}
				out = append(out, v)
			}
		}
		if fits {
			return out
		}
	}
	return s.decades(gap)
}

// decades are powers of ten, every second or third of them where they are near each other.
func (s scale) decades(gap float64) []float64 {
	first, last := int(math.Ceil(math.Log10(s.low))), int(math.Floor(math.Log10(s.top)))
	per := math.Abs(s.to-s.from) / math.Log10(s.top/s.low)
	step := max(1, int(math.Ceil(gap/per)))
	var out []float64
	for e := first; e <= last; e += step {
		out = append(out, math.Pow(10, float64(e)))
	}
	return out
}

// short writes a number with three significant digits and thousands separated by commas.
func short(v float64) string {
	if !finite(v) {
		return "unknown"
	}
	abs := math.Abs(v)
	switch {
	case abs >= 100:
		return thousands(strconv.FormatFloat(math.Round(v), 'f', -1, 64))
	case abs >= 10:
		return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
	case abs >= 1:
		return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// compact is short for places with little room: 2M for two million.
func compact(v float64) string {
	switch abs := math.Abs(v); {
	case abs >= 1e12:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case abs >= 1e9:
		return short(v/1e9) + "B"
	case abs >= 1e6:
		return short(v/1e6) + "M"
	}
	return short(v)
}

// tenths is a number with one decimal, so that those of a column are in line; below 1 it is short.
func tenths(v float64) string {
	if !finite(v) || math.Abs(v) < 0.95 {
		return short(v)
	}
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', 1, 64), ".")
	return thousands(whole) + "." + fraction
}

// money is a number of dollars: with cents below 20.
func money(v float64) string {
	switch {
	case finite(v) && v >= 1 && v < 20:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case finite(v) && v >= 20 && v < 1e6:
		return thousands(strconv.FormatFloat(math.Round(v), 'f', 0, 64))
	}
	return compact(v)
}

// whole is a number of things.
func whole(n int) string { return thousands(strconv.Itoa(n)) }

func thousands(digits string) string {
	sign := ""
	if digits != "" && digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// tokens writes a number of tokens as contexts are called: 32k for 32,768.
func tokens(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + "M"
	case n >= 1024 && n%1024 == 0:
		return strconv.FormatInt(n/1024, 10) + "k"
	}
	return thousands(strconv.FormatInt(n, 10))
}

const gib = 1 << 30

// area is the part of a canvas that has the values, between the axes.
type area struct {
	*canvas
	left, top, right, bottom float64
	x, y                     scale
}

// axes draws the lines of both axes, with labels. Names have units.
func (a *area) axes(xName, yName string, format func(float64) string) {
	a.yAxis(yName, a.y.ticks(34), format)
	a.xAxis(xName, a.x.ticks(58), format)
}

func (a *area) yAxis(name string, ticks []float64, format func(float64) string) {
	for _, v := range ticks {
		y := a.y.at(v)
		a.Line(a.left, y, a.right, y, svg.Style{Class: "grid"})
		a.text(a.left-6, y+4, format(v), svg.Style{Class: "soft small", Anchor: "end"})
	}
	a.text(0, a.top-10, name, svg.Style{Class: "soft small"})
}

func (a *area) xAxis(name string, ticks []float64, format func(float64) string) {
	for _, v := range ticks {
		x := a.x.at(v)
		a.Line(x, a.top, x, a.bottom, svg.Style{Class: "grid"})
		a.text(x, a.bottom+16, format(v), svg.Style{Class: "soft small", Anchor: "middle"})
	}
	a.Line(a.left, a.bottom, a.right, a.bottom, svg.Style{Class: "axis"})
	a.text(a.right, a.bottom+33, name, svg.Style{Class: "soft small", Anchor: "end"})
}

// dot reports a place inside the area for a point, and whether it has one.
func (a *area) dot(x, y float64) (float64, float64, bool) {
	if !finite(x) || !finite(y) || a.x.log && x <= 0 || a.y.log && y <= 0 {
		return 0, 0, false
	}
	return a.x.at(x), a.y.at(y), true
}

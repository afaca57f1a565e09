package charts

import (
	"math"
	"strings"

	"modeldex/dataset/record"
	"modeldex/snapshot/svg"
)

type canvas struct {
	*svg.Drawing
	width  float64
	tips   bool // marks have tooltips
	framed bool // title and source are part of the drawing
}

const (
	fontSize  = 13.0
	smallSize = 11.0
)

// narrow reports whether labels go above what they name, for want of room beside it.
func (c *canvas) narrow() bool { return c.width < 480 }

// text writes s, cut to what is left of the width on the side it grows to.
func (c *canvas) text(x, y float64, s string, style svg.Style) {
	room := c.width - x
	switch style.Anchor {
	case "end":
		room = x
	case "middle":
		room = 2 * min(x, c.width-x)
	}
	c.Text(x, y, svg.Clip(s, sizeOf(style), room), style)
}

func sizeOf(style svg.Style) float64 {
	if strings.Contains(style.Class, "small") {
		return smallSize
	}
	return fontSize
}

func (c *canvas) mark(x, y, r float64, series int, class, tip string) {
	style := svg.Style{Class: class}
	if c.tips {
		style.Tip = svg.Plain(record.Clip(tip, 400))
	}
	switch series % MostCompared {
	case 1:
		c.Rect(x-r*0.9, y-r*0.9, r*1.8, r*1.8, style)
	case 2:
		c.Polygon([][2]float64{{x, y - r*1.25}, {x + r*1.25, y}, {x, y + r*1.25}, {x - r*1.25, y}}, style)
	case 3:
		c.Polygon([][2]float64{{x, y - r*1.15}, {x + r*1.15, y + r*0.95}, {x - r*1.15, y + r*0.95}}, style)
	default:
		c.Circle(x, y, r, style)
	}
}

func markClass(series int) string { return "d" + string(rune('0'+series%MostCompared)) }
func lineClass(series int) string { return "l" + string(rune('0'+series%MostCompared)) }

// makers are the words names of hardware begin with, which tell neighbours apart the least.
var makers = []string{"NVIDIA ", "AMD ", "Intel ", "Apple ", "Qualcomm ", "GeForce ", "Radeon "}

// clipName cuts the name of a record to a width. The words of the maker go first: what tells a card from its
// neighbours is at the end.
func clipName(s string, size, width float64) string {
	for _, maker := range makers {
		if svg.TextWidth(svg.Plain(s), size) <= width {
			break
		}
		s = strings.TrimPrefix(s, maker)
	}
	return svg.Clip(s, size, width)
}

type area struct {
	*canvas
	left, top, right, bottom float64
	x, y                     svg.Scale
}

func (a *area) yAxis(name string, ticks []float64, format func(float64) string) {
	for _, v := range ticks {
		y := a.y.At(v)
		a.Line(a.left, y, a.right, y, svg.Style{Class: "grid"})
		a.text(a.left-6, y+4, format(v+0), svg.Style{Class: "soft small", Anchor: "end"})
	}
	a.text(0, a.top-10, name, svg.Style{Class: "soft small"})
}

func (a *area) xAxis(name string, ticks []float64, format func(float64) string) {
	for _, v := range ticks {
		x := a.x.At(v)
		a.Line(x, a.top, x, a.bottom, svg.Style{Class: "grid"})
		a.text(x, a.bottom+16, format(v), svg.Style{Class: "soft small", Anchor: "middle"})
	}
	a.Line(a.left, a.bottom, a.right, a.bottom, svg.Style{Class: "axis"})
	a.text(a.right, a.bottom+33, name, svg.Style{Class: "soft small", Anchor: "end"})
}

type box struct{ left, top, right, bottom float64 }

func (b box) meets(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// labels places texts where none covers another or a mark.
type labels struct {
	*canvas
	bounds box
	taken  []box
}

func (l *labels) block(x, y, r float64) { l.taken = append(l.taken, box{x - r, y - r, x + r, y + r}) }

// place writes a label beside a point, if there is room, else none.
func (l *labels) place(x, y, r float64, s string, style svg.Style) {
	size := sizeOf(style)
	w := svg.TextWidth(s, size)
	if strings.Contains(style.Class, "strong") {
		w *= 1.125
	}
	gap := r + 4
	for _, at := range []struct {
		dx, dy float64
		anchor string
	}{
		{gap, size * 0.35, "start"},
		{-gap, size * 0.35, "end"},
		{0, -gap, "middle"},
		{0, gap + size*0.8, "middle"},
	} {
		left := x + at.dx
		switch at.anchor {
		case "middle":
			left -= w / 2
		case "end":
			left -= w
		}
		b := box{left, y + at.dy - size*0.85, left + w, y + at.dy + size*0.2}
		if b.left < l.bounds.left || b.right > l.bounds.right || b.top < l.bounds.top || b.bottom > l.bounds.bottom || l.covered(b) {
			continue
		}
		l.taken = append(l.taken, b)
		style.Anchor = at.anchor
		l.Text(x+at.dx, y+at.dy, s, style)
		return
	}
}

func (l *labels) covered(b box) bool {
	for _, t := range l.taken {
		if b.meets(t) {
			return true
		}
	}
	return false
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

package charts

import (
	"math"
	"slices"

	"modeldex/dataset/text"
	"modeldex/snapshot/svg"
)

// A form is how values are drawn: as a scatter or as rows.
type form interface {
	// draw draws the values below y = 0 of a canvas and returns the height. There is at least one.
	draw(c *canvas) float64
	// tidy leaves out values that have no place in the drawing, and reports whether others are left.
	tidy() bool
}

// axis is an axis of a scatter. Its name has the unit.
type axis struct {
	name string
	log  bool
}

// takes reports whether a value has a place on the axis.
func (a axis) takes(v float64) bool { return finite(v) && (!a.log || v > 0) }

type point struct {
	x, y  float64
	class string // of the mark
	label string // beside the mark where there is room; empty: none
	tip   string
}

// scatter is points between two axes. The first point is on top, and its label is placed first.
type scatter struct {
	x, y   axis
	points []point
	line   [][2]float64 // values that are joined
}

func (s *scatter) tidy() bool {
	s.points = slices.DeleteFunc(s.points, func(p point) bool { return !s.x.takes(p.x) || !s.y.takes(p.y) })
	return len(s.points) > 0
}

func (s *scatter) draw(c *canvas) float64 {
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range s.points {
		lowX, highX, lowY, highY = min(lowX, p.x), max(highX, p.x), min(lowY, p.y), max(highY, p.y)
	}
	for _, v := range s.line {
		lowX, highX, lowY, highY = min(lowX, v[0]), max(highX, v[0]), min(lowY, v[1]), max(highY, v[1])
	}
	a := &area{canvas: c, left: 46, top: 24, right: c.width - 12, bottom: 320}
	a.x = svg.NewScale(s.x.log, lowX, highX, a.left, a.right)
	a.y = svg.NewScale(s.y.log, lowY, highY, a.bottom, a.top)
	a.yAxis(s.y.name, a.y.Ticks(34), text.Short)
	a.xAxis(s.x.name, a.x.Ticks(58), text.Short)
	l := &labels{canvas: c, bounds: box{a.left, a.top, c.width, a.bottom}}
	through := make([][2]float64, len(s.line))
	for i, v := range s.line {
		through[i] = [2]float64{a.x.At(v[0]), a.y.At(v[1])}
	}
	if len(through) > 1 {
		a.Polyline(through, svg.Style{Class: "l1"})
	}
	for _, p := range slices.Backward(s.points) {
		x, y := a.x.At(p.x), a.y.At(p.y)
		l.block(x, y, 3.5)
		a.mark(x, y, 4, 0, p.class, p.tip)
	}
	for _, p := range s.points {
		if p.label != "" {
			l.place(a.x.At(p.x), a.y.At(p.y), 5, clipName(p.label, smallSize, 160), svg.Style{Class: "small strong halo"})
		}
	}
	return a.bottom + 40
}

type rows struct {
	axis   string
	series []string // names, for a legend; empty for marks of one kind
	rows   []row
}

type row struct {
	name  string
	marks []rowMark
}

type rowMark struct {
	at, low, high float64
	series        int
	class         string
	tip           string
}

func (r *rows) tidy() bool {
	for i := range r.rows {
		r.rows[i].marks = slices.DeleteFunc(r.rows[i].marks, func(m rowMark) bool { return !(m.low > 0) || !finite(m.high) })
	}
	r.rows = slices.DeleteFunc(r.rows, func(r row) bool { return len(r.marks) == 0 })
	return len(r.rows) > 0
}

func (r *rows) draw(c *canvas) float64 {
	height, labelWidth := 24.0, 0.0
	if c.narrow() { // labels go above the marks
		height = 36
	} else {
		for i := range r.rows {
			labelWidth = min(c.width*0.36, max(labelWidth, svg.TextWidth(svg.Plain(r.rows[i].name), fontSize)+8))
		}
	}
	low, high := math.Inf(1), 0.0
	for i := range r.rows {
		for _, m := range r.rows[i].marks {
			low, high = min(low, m.low), max(high, m.high)
		}
	}
	a := &area{canvas: c, left: labelWidth + 8, top: c.legend(r.series), right: c.width - 10}
	a.bottom = a.top + height*float64(len(r.rows)) + 4
	a.x = svg.NewScale(true, low, high, a.left, a.right)
	a.xAxis(r.axis, a.x.Ticks(40), text.Short)
	for i := range r.rows {
		y := a.top + height*float64(i) + 13
		if c.narrow() {
			a.Text(2, y-1, clipName(r.rows[i].name, smallSize, c.width-4), svg.Style{Class: "small halo"})
			y += 13
		} else {
			a.Text(labelWidth, y+4, clipName(r.rows[i].name, fontSize, labelWidth), svg.Style{Anchor: "end"})
		}
		a.Line(a.left, y, a.right, y, svg.Style{Class: "grid"})
		for _, m := range slices.Backward(r.rows[i].marks) {
			at := y + (float64(m.series)-float64(max(1, len(r.series))-1)/2)*3.2 // equal marks do not hide each other
			if m.high > m.low {
				a.Line(a.x.At(m.low), at, a.x.At(m.high), at, svg.Style{Class: lineClass(m.series)})
			}
			a.mark(a.x.At(m.at), at, 4.3, m.series, m.class, m.tip)
		}
	}
	return a.bottom + 40
}

func (c *canvas) legend(series []string) float64 {
	if len(series) == 0 {
		return 6
	}
	x, y := 6.0, 12.0
	for i, s := range series {
		name := clipName(s, smallSize, c.width-30)
		w := svg.TextWidth(name, smallSize) + 30
		if x > 6 && x+w > c.width {
			x, y = 6, y+17
		}
		c.mark(x, y-4, 4.5, i, markClass(i), "")
		c.Text(x+10, y, name, svg.Style{Class: "small"})
		x += w
	}
	return y + 12
}

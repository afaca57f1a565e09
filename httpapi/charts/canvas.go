package charts

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"modeldex/snapshot/svg"
)

// canvas is where a plot is drawn: from 0 to width, and as far down as it needs.
type canvas struct {
	*svg.Drawing
	width  float64
	tips   bool // marks have tooltips
	framed bool // title and source are part of the drawing
}

// narrow reports whether labels go above what they name, for want of room beside it.
func (c *canvas) narrow() bool { return c.width < 480 }

const (
	fontSize  = 13.0
	smallSize = 11.0
)

// text writes s, cut to what is left of the width on the side it grows to.
func (c *canvas) text(x, y float64, s string, style svg.Style) {
	room := c.width - x
	switch style.Anchor {
	case "end":
		room = x
	case "middle":
		room = 2 * min(x, c.width-x)
	}
	c.Text(x, y, clip(s, sizeOf(style), room), style)
}

func sizeOf(style svg.Style) float64 {
	if strings.Contains(style.Class, "small") {
		return smallSize
	}
	return fontSize
}

// noTip is for marks without a tooltip.
func noTip() string { return "" }

// tip is the tooltip of a mark; none in forms without, which do not ask for its text.
func (c *canvas) tip(text func() string) string {
	if !c.tips {
		return ""
	}
	return clip(text(), fontSize, 4000)
}

// mark draws the mark of a series: shapes differ as well as colours. Style.Class comes after the
// class of the series.
func (c *canvas) mark(x, y, r float64, series int, class string, tip func() string) {
	style := svg.Style{Class: class, Tip: c.tip(tip)}
	switch series % 4 {
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

// seriesClass is the class of the marks of a series.
func seriesClass(series int) string { return [...]string{"d0", "d1", "d2", "d3"}[series%4] }

// labelled sets up n rows with a label each. Labels are before the marks, as wide as the longest needs
// but at most 0.36 of the canvas. On a narrow canvas they are above them in higher rows, and labelWidth
// is 0.
func (c *canvas) labelled(height, narrowHeight, gap float64, n int, label func(i int) string) (rowHeight, labelWidth float64) {
	if c.narrow() {
		return narrowHeight, 0
	}
	for i := range n {
		labelWidth = max(labelWidth, textWidth(label(i), fontSize)+gap)
	}
	return height, min(labelWidth, c.width*0.36)
}

// textWidth is about how wide a text is. The reader's font is not known: the figures are upper
// bounds for common sans-serif fonts.
func textWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w * size
}

// boldWidth is textWidth of bold letters, which are up to an eighth wider.
func boldWidth(s string, size float64) float64 { return textWidth(s, size) * 1.125 }

func runeWidth(r rune) float64 {
	if r < utf8.RuneSelf {
		return asciiWidths[r]
	}
	return widthOf(r)
}

// asciiWidths are the widths of the characters that most texts consist of.
var asciiWidths = func() (widths [utf8.RuneSelf]float64) {
	for r := range widths {
		widths[r] = widthOf(rune(r))
	}
	return widths
}()

func widthOf(r rune) float64 {
	switch {
	case unicode.Is(unicode.Mn, r):
		return 0
	case strings.ContainsRune("iljtfI.,:;'|!()[] -·", r):
		return 0.36
	case strings.ContainsRune("mwMW@%", r):
		return 0.92
	case r < 0x250 && unicode.IsUpper(r):
		return 0.7
	case r < 0x1100:
		return 0.59
	default:
		return 1.1 // East Asian letters and pictures
	}
}

// clip cuts a text to a width and makes it one line without characters that change the direction
// of what follows.
func clip(s string, size, width float64) string {
	s = plain(s)
	if textWidth(s, size) <= width {
		return s
	}
	left := width - runeWidth('…')*size
	for i, r := range s {
		if left -= runeWidth(r) * size; left < 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// makers are the words names of hardware begin with, which tell neighbours apart the least.
var makers = []string{"NVIDIA ", "AMD ", "Intel ", "Apple ", "Qualcomm ", "GeForce ", "Radeon "}

// clipName is clip for names of records. Words of the maker go first: what tells a card from its neighbours is at the end.
func clipName(s string, size, width float64) string {
	for _, maker := range makers {
		if textWidth(plain(s), size) <= width {
			break
		}
		s = strings.TrimPrefix(s, maker)
	}
	return clip(s, size, width)
}

// withoutMaker is a name without the words of the maker, for a plot where many names have little room.
func withoutMaker(s string) string {
	for _, maker := range makers {
		s = strings.TrimPrefix(s, maker)
	}
	return s
}

// plain replaces white space and control characters by spaces, and drops marks of direction.
func plain(s string) string {
	if isPlain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return ' '
		case r == 0xFFFE || r == 0xFFFF:
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// isPlain reports whether a text is of visible ASCII characters and spaces.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// wrap breaks a text into lines of a width, at most so many; the last one is cut.
func wrap(s string, size, width float64, most int) []string {
	var lines []string
	words := strings.Fields(plain(s))
	for len(words) > 0 {
		if len(lines) == most-1 {
			return append(lines, clip(strings.Join(words, " "), size, width))
		}
		n := 1
		for n < len(words) && textWidth(strings.Join(words[:n+1], " "), size) <= width {
			n++
		}
		lines = append(lines, clip(strings.Join(words[:n], " "), size, width))
		words = words[n:]
	}
	return lines
}

// box is a rectangle that is taken.
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

// block keeps a place free.
func (l *labels) block(x, y, r float64) { l.taken = append(l.taken, box{x - r, y - r, x + r, y + r}) }

// blockLine keeps the place of a level or upright line free.
func (l *labels) blockLine(from, to [2]float64) {
	l.taken = append(l.taken, box{min(from[0], to[0]) - 1, min(from[1], to[1]) - 1, max(from[0], to[0]) + 1, max(from[1], to[1]) + 1})
}

// place writes a label beside a point, if there is room, else none.
func (l *labels) place(x, y, r float64, s string, style svg.Style) {
	size := sizeOf(style)
	w, h := textWidth(s, size), size
	if strings.Contains(style.Class, "strong") {
		w = boldWidth(s, size)
	}
	gap := r + 4
	for _, at := range []struct {
		dx, dy float64
		anchor string
	}{{gap, size * 0.35, "start"}, {-gap, size * 0.35, "end"}, {0, -gap, "middle"}, {0, gap + size*0.8, "middle"}, {gap, -gap + 2, "start"}, {gap, gap + size*0.6, "start"}, {-gap, -gap + 2, "end"}, {-gap, gap + size*0.6, "end"}} {
		left := x + at.dx
		switch at.anchor {
		case "middle":
			left -= w / 2
		case "end":
			left -= w
		}
		b := box{left, y + at.dy - h*0.85, left + w, y + at.dy + h*0.2}
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

// spread moves the places of a column of labels apart, so that they are at least gap from each other and
// between low and high. Each stays as near as possible to where it was. The places must be sorted.
func spread(at []float64, gap, low, high float64) []float64 {
	out := make([]float64, len(at))
	for i, v := range at {
		out[i] = max(v, low)
		if i > 0 {
			out[i] = max(out[i], out[i-1]+gap)
		}
	}
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = min(out[i], high-gap*float64(len(out)-1-i))
	}
	return out
}

// finite reports whether a value can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

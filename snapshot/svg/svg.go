// Package svg writes simple drawings: text, lines, circles, rectangles and paths. It escapes text,
// follows the colour scheme of the reader, and writes the same bytes for the same calls. A plotting
// library was the alternative: it brings fonts and rasters for charts that need neither.
//
// A drawing is a file of its own with a style of its own, or a part of an HTML page, which has the
// style. A page whose content security policy allows no inline styles shows it too, as long as its
// shapes have classes and no colours.
//
// A Drawing belongs to one goroutine.
package svg

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Drawing is an SVG document being written. Coordinates are in units of the drawing.
type Drawing struct {
	Width, Height int
	Title         string // what a screen reader says; empty: nothing
	Desc          string // what it says after the title; empty: nothing
	Class         string // of the whole drawing
	// ID makes the drawing a part of an HTML page, without style and size; ids in it begin with ID.
	ID string
	// CSS is the style of a drawing that is a file; empty is a plain one. The drawing then has a
	// size, so that pages can show it as it is.
	CSS  string
	body []byte
}

// Reset makes a drawing an empty one that keeps its memory.
func (d *Drawing) Reset() { *d = Drawing{body: d.body[:0]} }

// Style names what a shape or a text looks like.
type Style struct {
	Class   string  // of the style sheet; the plain one knows soft (grey) and strong (bold)
	Anchor  string  // of a text: start, middle or end; empty is start
	Colour  string  // as CSS writes it; empty follows the reader's colour scheme
	Stroke  float64 // width of a line or path; 0 is 1
	Opacity float64 // 0 is 1
	Tip     string  // shown when pointed at
}

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12" role="img">
<style>text{fill:#222}line,path{stroke:#888}.soft{fill:#666}.strong{font-weight:bold}@media(prefers-color-scheme:dark){text{fill:#ddd}.soft{fill:#aaa}}</style>
`

// Text writes s with its baseline at y.
func (d *Drawing) Text(x, y float64, s string, style Style) {
	d.write("<text")
	d.numbers(` x="`, x, ` y="`, y)
	if style.Anchor != "" && style.Anchor != "start" {
		d.write(` text-anchor="`, style.Anchor, `"`)
	}
	d.class(style)
	d.write(">")
	d.escaped(s)
	d.write("</text>\n")
}

func (d *Drawing) write(texts ...string) {
	for _, s := range texts {
		d.body = append(d.body, s...)
	}
}

// numbers writes two attributes, each with a coordinate. Their names are given with what is before the value.
func (d *Drawing) numbers(name1 string, v1 float64, name2 string, v2 float64) {
	d.body = append(appendNumber(append(d.body, name1...), v1), '"')
	d.body = append(appendNumber(append(d.body, name2...), v2), '"')
}

// appendNumber appends a coordinate with at most one decimal.
func appendNumber(b []byte, v float64) []byte {
	tenths := math.Round(v * 10)
	if !(math.Abs(tenths) < 1e15) { // its last digit is not a decimal any more, or it is not a number
		return strconv.AppendFloat(b, tenths/10, 'f', -1, 64)
	}
	if math.Signbit(tenths) {
		b, tenths = append(b, '-'), -tenths
	}
	n := int64(tenths)
	b = strconv.AppendInt(b, n/10, 10)
	if n %= 10; n != 0 {
		b = append(b, '.', byte('0'+n))
	}
	return b
}

// escaped writes text: markup is shown, and characters XML does not know are replaced.
func (d *Drawing) escaped(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '<' || c == '>' || c == '&' || c == '"' || c == '\'' {
			d.write(escape(s))
			return
		}
	}
	d.write(s)
}

// escape makes text of a string that is not plain.
func escape(s string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r < ' ' || r == 0xFFFE || r == 0xFFFF:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError))))
}

// Append draws what another drawing has, moved by x and y.
func (d *Drawing) Append(x, y float64, other *Drawing) {
	if x == 0 && y == 0 {
		d.body = append(d.body, other.body...)
		return
	}
	d.body = append(appendNumber(append(d.body, `<g transform="translate(`...), x), ' ')
	d.body = append(append(appendNumber(d.body, y), ")\">\n"...), other.body...)
	d.write("</g>\n")
}

// Line draws a straight line.
func (d *Drawing) Line(x1, y1, x2, y2 float64, style Style) {
	d.write("<line")
	d.numbers(` x1="`, x1, ` y1="`, y1)
	d.numbers(` x2="`, x2, ` y2="`, y2)
	d.stroke(style)
	d.end("line", style.Tip)
}

// Circle draws a filled circle.
func (d *Drawing) Circle(x, y, r float64, style Style) {
	d.write("<circle")
	d.numbers(` cx="`, x, ` cy="`, y)
	d.body = append(appendNumber(append(d.body, ` r="`...), r), '"')
	d.fill(style)
	d.end("circle", style.Tip)
}

// Rect draws a filled rectangle.
func (d *Drawing) Rect(x, y, width, height float64, style Style) {
	d.write("<rect")
	d.numbers(` x="`, x, ` y="`, y)
	d.numbers(` width="`, width, ` height="`, height)
	d.fill(style)
	d.end("rect", style.Tip)
}

// Polygon draws a filled area with the given corners.
func (d *Drawing) Polygon(corners [][2]float64, style Style) {
	d.write(`<polygon points="`)
	d.points(corners, " ")
	d.write(`"`)
	d.fill(style)
	d.end("polygon", style.Tip)
}

// Polyline joins points by straight lines.
func (d *Drawing) Polyline(through [][2]float64, style Style) {
	d.write(`<path d="M`)
	d.points(through, " L")
	d.write(`" fill="none"`)
	d.stroke(style)
	d.end("path", style.Tip)
}

func (d *Drawing) points(ps [][2]float64, between string) {
	for i, p := range ps {
		if i > 0 {
			d.write(between)
		}
		d.body = append(appendNumber(d.body, p[0]), ',')
		d.body = appendNumber(d.body, p[1])
	}
}

// end closes an element, with a tooltip inside where there is one.
func (d *Drawing) end(name, tip string) {
	if tip == "" {
		d.write("/>\n")
		return
	}
	d.write("><title>")
	d.escaped(tip)
	d.write("</title></", name, ">\n")
}

func (d *Drawing) stroke(s Style) {
	var css []string
	if s.Colour != "" {
		css = append(css, "stroke:"+s.Colour)
	}
	if s.Stroke > 0 {
		css = append(css, fmt.Sprintf("stroke-width:%g", s.Stroke))
	}
	d.css(s, css)
}

func (d *Drawing) fill(s Style) {
	var css []string
	if s.Colour != "" {
		css = append(css, "fill:"+s.Colour)
	}
	d.css(s, css)
}

func (d *Drawing) css(s Style, css []string) {
	d.class(s)
	if s.Opacity > 0 {
		css = append(css, fmt.Sprintf("opacity:%g", s.Opacity))
	}
	if len(css) > 0 {
		d.write(` style="`, html.EscapeString(strings.Join(css, ";")), `"`)
	}
}

func (d *Drawing) class(s Style) {
	if s.Class != "" {
		d.write(` class="`, html.EscapeString(s.Class), `"`)
	}
}

// WriteTo writes the finished drawing.
func (d *Drawing) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(d.AppendTo(nil))
	return int64(n), err
}

// String is the finished drawing.
func (d *Drawing) String() string { return string(d.AppendTo(nil)) }

// AppendTo appends the finished drawing.
func (d *Drawing) AppendTo(b []byte) []byte {
	if d.ID != "" {
		b = fmt.Appendf(b, `<svg viewBox="0 0 %d %d" class="%s" role="img" aria-labelledby="%[4]s-t %[4]s-d">`+"\n", d.Width, d.Height, d.Class, d.ID)
		b = fmt.Appendf(b, "<title id=\"%[1]s-t\">%[2]s</title>\n<desc id=\"%[1]s-d\">%[3]s</desc>\n", d.ID, escape(d.Title), escape(d.Desc))
		return append(append(b, d.body...), "</svg>\n"...)
	}
	if d.CSS != "" {
		b = fmt.Appendf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" class="%[3]s" role="img">`+"\n<style>%[4]s</style>\n", d.Width, d.Height, d.Class, d.CSS)
	} else {
		b = fmt.Appendf(b, head, d.Width, d.Height)
	}
	if d.Title != "" {
		b = append(b, "<title>"+escape(d.Title)+"</title>\n"...)
	}
	if d.Desc != "" {
		b = append(b, "<desc>"+escape(d.Desc)+"</desc>\n"...)
	}
	return append(append(b, d.body...), "</svg>\n"...)
}

// Package svg writes simple drawings: text, lines, circles, rectangles and paths. It escapes text,
// follows the colour scheme of the reader, and writes the same bytes for the same calls. A plotting
// library was the alternative: it brings fonts and rasters for charts that need neither.
//
// A drawing is a file of its own with a style of its own, or a part of an HTML page, which has the
// style: a page whose content security policy allows no inline styles shows it too, as long as its
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
	body strings.Builder
}

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
	fmt.Fprintf(&d.body, `<text x="%s" y="%s"`, num(x), num(y))
	if style.Anchor != "" && style.Anchor != "start" {
		fmt.Fprintf(&d.body, ` text-anchor="%s"`, style.Anchor)
	}
	d.body.WriteString(style.class() + ">" + escape(s) + "</text>\n")
}

// num writes a coordinate with at most one decimal.
func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// escape makes text of a string: markup is shown, and characters XML does not know are replaced.
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
		d.body.WriteString(other.body.String())
		return
	}
	fmt.Fprintf(&d.body, `<g transform="translate(%s %s)">`+"\n%s</g>\n", num(x), num(y), other.body.String())
}

// Line draws a straight line.
func (d *Drawing) Line(x1, y1, x2, y2 float64, style Style) {
	d.shape(fmt.Sprintf(`<line x1="%s" y1="%s" x2="%s" y2="%s"`, num(x1), num(y1), num(x2), num(y2)), "line", style.stroke(), style.Tip)
}

// Circle draws a filled circle.
func (d *Drawing) Circle(x, y, r float64, style Style) {
	d.shape(fmt.Sprintf(`<circle cx="%s" cy="%s" r="%s"`, num(x), num(y), num(r)), "circle", style.fill(), style.Tip)
}

// Rect draws a filled rectangle.
func (d *Drawing) Rect(x, y, width, height float64, style Style) {
	d.shape(fmt.Sprintf(`<rect x="%s" y="%s" width="%s" height="%s"`, num(x), num(y), num(width), num(height)), "rect", style.fill(), style.Tip)
}

// Polygon draws a filled area with the given corners.
func (d *Drawing) Polygon(corners [][2]float64, style Style) {
	d.shape(fmt.Sprintf(`<polygon points="%s"`, points(corners)), "polygon", style.fill(), style.Tip)
}

// Polyline joins points by straight lines.
func (d *Drawing) Polyline(through [][2]float64, style Style) {
	d.shape(fmt.Sprintf(`<path d="M%s" fill="none"`, strings.ReplaceAll(points(through), " ", " L")), "path", style.stroke(), style.Tip)
}

func points(ps [][2]float64) string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = num(p[0]) + "," + num(p[1])
	}
	return strings.Join(out, " ")
}

// shape closes an element, with a tooltip inside where there is one.
func (d *Drawing) shape(open, name, style, tip string) {
	d.body.WriteString(open + style)
	if tip == "" {
		d.body.WriteString("/>\n")
		return
	}
	fmt.Fprintf(&d.body, "><title>%s</title></%s>\n", escape(tip), name)
}

func (s Style) stroke() string {
	var css []string
	if s.Colour != "" {
		css = append(css, "stroke:"+s.Colour)
	}
	if s.Stroke > 0 {
		css = append(css, fmt.Sprintf("stroke-width:%g", s.Stroke))
	}
	return s.css(css)
}

func (s Style) fill() string {
	var css []string
	if s.Colour != "" {
		css = append(css, "fill:"+s.Colour)
	}
	return s.css(css)
}

func (s Style) css(css []string) string {
	if s.Opacity > 0 {
		css = append(css, fmt.Sprintf("opacity:%g", s.Opacity))
	}
	if len(css) == 0 {
		return s.class()
	}
	return s.class() + ` style="` + html.EscapeString(strings.Join(css, ";")) + `"`
}

func (s Style) class() string {
	if s.Class == "" {
		return ""
	}
	return ` class="` + html.EscapeString(s.Class) + `"`
}

// WriteTo writes the finished drawing.
func (d *Drawing) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, d.String())
	return int64(n), err
}

// String is the finished drawing.
func (d *Drawing) String() string {
	var b strings.Builder
	if d.ID != "" {
		fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" class="%s" role="img" aria-labelledby="%[4]s-t %[4]s-d">`+"\n", d.Width, d.Height, d.Class, d.ID)
		fmt.Fprintf(&b, "<title id=\"%[1]s-t\">%[2]s</title>\n<desc id=\"%[1]s-d\">%[3]s</desc>\n", d.ID, escape(d.Title), escape(d.Desc))
		return b.String() + d.body.String() + "</svg>\n"
	}
	if d.CSS != "" {
		fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" class="%[3]s" role="img">`+"\n<style>%[4]s</style>\n", d.Width, d.Height, d.Class, d.CSS)
	} else {
		fmt.Fprintf(&b, head, d.Width, d.Height)
	}
	if d.Title != "" {
		b.WriteString("<title>" + escape(d.Title) + "</title>\n")
	}
	if d.Desc != "" {
		b.WriteString("<desc>" + escape(d.Desc) + "</desc>\n")
	}
	return b.String() + d.body.String() + "</svg>\n"
}

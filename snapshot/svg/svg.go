// Package svg writes simple drawings: text, lines, circles, rectangles and paths, the same bytes for the same calls. It
// escapes text and follows the colour scheme of the reader.
//
// A drawing is a file with a style of its own, or a part of an HTML page, which has the style: its shapes then have
// classes and no colours, for pages that allow no inline styles. A Drawing belongs to one goroutine.
package svg

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode"
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
	// CSS is the style of a drawing in a file. Such a drawing has a size, so pages can embed it.
	CSS  string
	body strings.Builder
}

// Style names what a shape or a text looks like.
type Style struct {
	Class  string  // of the style sheet
	Anchor string  // of a text: start, middle or end; empty is start
	Colour string  // as CSS writes it; empty follows the reader's colour scheme
	Stroke float64 // width of a line or path; 0 is 1
	Tip    string  // shown when pointed at
}

// Text writes s with its baseline at y.
func (d *Drawing) Text(x, y float64, s string, style Style) {
	d.write(`<text x="%s" y="%s"`, number(x), number(y))
	if style.Anchor != "" && style.Anchor != "start" {
		d.write(` text-anchor="%s"`, style.Anchor)
	}
	d.write("%s>%s</text>\n", class(style), escape(s))
}

func (d *Drawing) write(format string, args ...any) { fmt.Fprintf(&d.body, format, args...) }

func number(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

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
	d.write("<g transform=\"translate(%s %s)\">\n%s</g>\n", number(x), number(y), other.body.String())
}

// Line draws a straight line.
func (d *Drawing) Line(x1, y1, x2, y2 float64, style Style) {
	d.write(`<line x1="%s" y1="%s" x2="%s" y2="%s"`, number(x1), number(y1), number(x2), number(y2))
	d.end("line", style, true)
}

// Circle draws a filled circle.
func (d *Drawing) Circle(x, y, r float64, style Style) {
	d.write(`<circle cx="%s" cy="%s" r="%s"`, number(x), number(y), number(r))
	d.end("circle", style, false)
}

// Rect draws a filled rectangle.
func (d *Drawing) Rect(x, y, width, height float64, style Style) {
	d.write(`<rect x="%s" y="%s" width="%s" height="%s"`, number(x), number(y), number(width), number(height))
	d.end("rect", style, false)
}

// Polygon draws a filled area with the given corners.
func (d *Drawing) Polygon(corners [][2]float64, style Style) {
	d.write(`<polygon points="%s"`, points(corners, " "))
	d.end("polygon", style, false)
}

// Polyline joins points by straight lines.
func (d *Drawing) Polyline(through [][2]float64, style Style) {
	d.write(`<path d="M%s" fill="none"`, points(through, " L"))
	d.end("path", style, true)
}

func points(ps [][2]float64, between string) string {
	texts := make([]string, len(ps))
	for i, p := range ps {
		texts[i] = number(p[0]) + "," + number(p[1])
	}
	return strings.Join(texts, between)
}

func (d *Drawing) end(name string, s Style, line bool) {
	var css []string
	switch {
	case s.Colour != "" && line:
		css = append(css, "stroke:"+s.Colour)
	case s.Colour != "":
		css = append(css, "fill:"+s.Colour)
	}
	if s.Stroke > 0 && line {
		css = append(css, fmt.Sprintf("stroke-width:%g", s.Stroke))
	}
	d.write("%s", class(s))
	if len(css) > 0 {
		d.write(` style="%s"`, html.EscapeString(strings.Join(css, ";")))
	}
	if s.Tip == "" {
		d.write("/>\n")
		return
	}
	d.write("><title>%s</title></%s>\n", escape(s.Tip), name)
}

func class(s Style) string {
	if s.Class == "" {
		return ""
	}
	return ` class="` + html.EscapeString(s.Class) + `"`
}

// String is the finished drawing.
func (d *Drawing) String() string {
	var b strings.Builder
	if d.ID != "" {
		fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" class="%s" role="img" aria-labelledby="%[4]s-t %[4]s-d">`+"\n", d.Width, d.Height, d.Class, d.ID)
		fmt.Fprintf(&b, "<title id=\"%[1]s-t\">%[2]s</title>\n<desc id=\"%[1]s-d\">%[3]s</desc>\n", d.ID, escape(d.Title), escape(d.Desc))
		return b.String() + d.body.String() + "</svg>\n"
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" class="%[3]s" role="img">`+
		"\n<style>%[4]s</style>\n", d.Width, d.Height, d.Class, d.CSS)
	if d.Title != "" {
		b.WriteString("<title>" + escape(d.Title) + "</title>\n")
	}
	if d.Desc != "" {
		b.WriteString("<desc>" + escape(d.Desc) + "</desc>\n")
	}
	return b.String() + d.body.String() + "</svg>\n"
}

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

// TextWidth is about how wide a text is, an upper bound for common sans-serif fonts. Bold is up to an eighth wider.
func TextWidth(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		w += runeWidth(r)
	}
	return w * size
}

func runeWidth(r rune) float64 {
	switch {
	case strings.ContainsRune("iljtfI.,:;'|!()[] -·", r):
		return 0.36
	case strings.ContainsRune("mwMW@%", r):
		return 0.92
	case r < 0x250 && unicode.IsUpper(r):
		return 0.7
	case r < 0x250:
		return 0.59
	case unicode.Is(unicode.Mn, r):
		return 0
	case r < 0x1100:
		return 0.59
	}
	return 1.1 // East Asian letters and pictures
}

// Clip cuts a text to a width, with an ellipsis, and makes it Plain.
func Clip(s string, size, width float64) string {
	s = Plain(s)
	if TextWidth(s, size) <= width {
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

// Wrap breaks a text into lines of a width, at most so many; the last one is cut.
func Wrap(s string, size, width float64, most int) (lines []string) {
	words := strings.Fields(Plain(s))
	for len(words) > 0 {
		n := len(words)
		if len(lines) < most-1 {
			for n = 1; n < len(words) && TextWidth(strings.Join(words[:n+1], " "), size) <= width; n++ {
			}
		}
		lines = append(lines, Clip(strings.Join(words[:n], " "), size, width))
		words = words[n:]
	}
	return lines
}

// Plain makes a text one line: white space and control characters are spaces; marks of direction are dropped.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case ' ' <= r && r <= '~':
			return r
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

package charts

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"modeldex/snapshot/svg"
)

//go:embed plot.css
var plotCSS string

//go:embed dark.css
var darkCSS string

//go:embed page.css
var pageCSS string

// Stylesheet is the style of figures in HTML pages. Pages load it as a file of their own, so that
// a content security policy without inline styles is enough.
var Stylesheet = pageCSS + plotCSS + "@media screen and (prefers-color-scheme:dark){" + strings.TrimSpace(darkCSS) + "}\n"

// Scheme is the colour scheme of a figure that is a file.
type Scheme string

// The schemes. Auto follows the reader's setting.
const (
	Auto  Scheme = "auto"
	Light Scheme = "light"
	Dark  Scheme = "dark"
)

// Values lists the schemes as texts.
func (Scheme) Values() []string { return []string{string(Auto), string(Light), string(Dark)} }

func (s Scheme) css() string {
	switch s {
	case Light:
		return plotCSS
	case Dark:
		return plotCSS + darkCSS
	}
	return plotCSS + "@media screen and (prefers-color-scheme:dark){" + strings.TrimSpace(darkCSS) + "}"
}

// The widths of figures, in CSS pixels.
const (
	MinWidth     = 320
	MaxWidth     = 1200
	DefaultWidth = 680 // of a file
	wideWidth    = 640 // in a page
	narrowWidth  = 360 // in a page whose column has less than 500 pixels
)

// Figure is a plot that can be written in several forms, and the table of its values.
type Figure struct {
	// Title says what the plot shows; it is the accessible name.
	Title string
	// Summary is what the plot shows in words.
	Summary string
	// Source is where the values come from.
	Source string
	// Note says what is left out or how to read the marks; may be empty.
	Note string
	// Address is that of the figure as a file, such as "/charts/model-memory.svg?model=gpt-oss-20b".
	Address string
	// Missing says why there is nothing to draw, where that is so.
	Missing string
	// Rows are the values under Columns, of comparisons only: pages have tables of their own beside the other figures.
	// All but the first column have numbers.
	Columns []string
	Rows    [][]Cell

	form form // nil: there is nothing to draw
}

func (f *Figure) drawn(as form) *Figure {
	if as.tidy() {
		f.form = as
	}
	return f
}

// Empty reports whether there is nothing to draw.
func (f *Figure) Empty() bool { return f.form == nil }

// Cell is one value.
type Cell struct {
	Text string
	// Note is what to know about the value, behind it; may be empty.
	Note string
	// Href is an address the text leads to: a path of this service, or a source; may be empty.
	Href string
}

// Inline is the drawing as HTML, in a wide and a narrow form; Stylesheet shows the one that fits. id must be unique in
// the page and contain only letters, digits and hyphens. Empty for a figure without a drawing.
func (f *Figure) Inline(id string) template.HTML {
	if f.Empty() {
		return ""
	}
	wide := &svg.Drawing{ID: id + "-w", Class: "plot wide"}
	f.drawInto(wide, wideWidth, canvas{tips: true})
	narrow := &svg.Drawing{ID: id + "-n", Class: "plot narrow"}
	f.drawInto(narrow, narrowWidth, canvas{})
	return template.HTML(`<div class="drawing">` + wide.String() + narrow.String() + "</div>\n") //nolint:gosec // svg escapes texts
}

// SVG is the figure as a file of the given width in CSS pixels, with title and source line.
func (f *Figure) SVG(scheme Scheme, width int) []byte {
	d := &svg.Drawing{CSS: scheme.css(), Class: "plot"}
	f.drawInto(d, width, canvas{tips: true, framed: true})
	return []byte(d.String())
}

const framePad = 14.0

// drawInto draws the figure at a width. c says in which form.
func (f *Figure) drawInto(d *svg.Drawing, width int, c canvas) {
	d.Width, d.Title, d.Desc = width, f.Title, f.Summary
	if !c.framed {
		d.Height = int(f.drawBody(d, float64(width), c) + 0.999)
		return
	}
	inner := float64(width) - 2*framePad
	head := svg.Wrap(f.Title, 15, inner, 3)
	foot := append(svg.Wrap(f.Note, smallSize, inner, 9), svg.Wrap(f.Source, smallSize, inner, 4)...)
	body := &svg.Drawing{}
	height := f.drawBody(body, inner, c)
	top := framePad + float64(len(head))*20 + 4
	d.Height = int(top + height + float64(len(foot))*14 + 2*framePad)
	d.Rect(0.5, 0.5, float64(width)-1, float64(d.Height)-1, svg.Style{Class: "frame"})
	for i, line := range head {
		d.Text(framePad, framePad+14+20*float64(i), line, svg.Style{Class: "strong title"})
	}
	d.Append(framePad, top, body)
	for i, line := range foot {
		d.Text(framePad, top+height+framePad+4+14*float64(i), line, svg.Style{Class: "soft small"})
	}
}

// drawBody draws the plot alone, or why there is none, and returns its height.
func (f *Figure) drawBody(d *svg.Drawing, width float64, c canvas) (height float64) {
	c.Drawing, c.width = d, width
	if f.form != nil {
		return f.form.draw(&c)
	}
	c.text(0, 24, f.Missing, svg.Style{Class: "soft"})
	return 40
}

// Embed is the lines with which another page shows a figure.
type Embed struct{ Markdown, HTML string }

// Embed returns the lines that show the figure elsewhere; nil without an address. base is scheme
// and host of this service, such as "https://modeldex.example".
func (f *Figure) Embed(base string) *Embed {
	if f.Address == "" || f.Empty() {
		return nil
	}
	alt := strings.NewReplacer("[", "(", "]", ")", "\\", "", "\n", " ", "\r", " ", "`", "'").Replace(f.Title)
	address := strings.NewReplacer("(", "%28", ")", "%29", " ", "%20", "<", "%3C", ">", "%3E").Replace(base + f.Address)
	return &Embed{
		Markdown: fmt.Sprintf("![%s](%s)", alt, address),
		HTML:     fmt.Sprintf(`<img src="%s" alt="%s" loading="lazy">`, template.HTMLEscapeString(address), template.HTMLEscapeString(f.Title)),
	}
}

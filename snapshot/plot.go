package snapshot

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"modeldex/dataset/record"
	"modeldex/snapshot/svg"
)

// PlotOptions says what a plot shows. The zero value shows the 30 best models of any number of
// components.
type PlotOptions struct {
	Top        int // rows; 0 is 30
	MinSources int // components a model must have; 0 is 1
}

// The layout, in units of the drawing.
const (
	plotWidth  = 980
	plotLeft   = 330.0 // x of score 0
	plotRight  = 880.0 // x of score 100
	plotTop    = 132.0
	plotRow    = 24.0
	plotBottom = 110
	nameRunes  = 44 // what fits left of the bars
)

// markStyles are colour and shape of the mark of each source, which differ without colour too.
var markStyles = map[SourceID]struct {
	colour string
	shape  string
	offset float64 // from the middle of the bar, so that equal marks do not hide each other
}{
	SourceA: {"#b45309", "circle", -3.5},
	SourceB: {"#1d4ed8", "square", 0},
	SourceC: {"#047857", "diamond", 3.5},
}

var barColours = map[Confidence]string{High: "#475569", Moderate: "#94a3b8", Low: "#cbd5e1"}

// Plot draws the best models of a verified document as SVG. Each has a bar for the composite, shaded by its
// confidence, a line for its 95 percent interval, and a mark for each component. The same document gives the
// same bytes.
func Plot(w io.Writer, doc *Document, opt PlotOptions) error {
	opt.Top, opt.MinSources = cmp.Or(opt.Top, 30), max(opt.MinSources, 1)
	best := ranking(doc, opt)
	p := &plot{doc: doc, foot: plotTop + plotRow*float64(len(best))}
	p.rules, _ = statedRules(doc.Normalization.Composite) // nil for the first rules, which state none
	p.Drawing = svg.Drawing{
		Width: plotWidth, Height: int(p.foot) + plotBottom,
		Title: fmt.Sprintf("Model-intelligence priors: the %d best models by composite", len(best)),
	}
	p.frame(len(best), opt)
	for i := range best {
		p.row(&best[i], plotTop+plotRow*float64(i))
	}
	p.Line(plotLeft, plotTop, plotLeft, p.foot, svg.Style{})
	p.captions()
	if _, err := p.WriteTo(w); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// plot is one drawing of a document.
type plot struct {
	svg.Drawing
	doc   *Document
	rules *Rules
	foot  float64 // y below the last row
}

// ranking returns the best models by composite, then by key.
func ranking(doc *Document, opt PlotOptions) []Model {
	ms := slices.DeleteFunc(slices.Clone(doc.Models), func(m Model) bool {
		return m.Composite.Score == nil || len(m.Composite.Components) < opt.MinSources
	})
	slices.SortFunc(ms, func(a, b Model) int {
		return cmp.Or(cmp.Compare(*b.Composite.Score, *a.Composite.Score), strings.Compare(a.ModelKey, b.ModelKey))
	})
	return ms[:min(len(ms), opt.Top)]
}

func plotX(score float64) float64 { return plotLeft + score/maxScore*(plotRight-plotLeft) }

// frame draws the heading, the legend and the ticks.
func (p *plot) frame(count int, opt PlotOptions) {
	p.Text(24, 30, fmt.Sprintf("Model-intelligence priors, best %d by composite", count), svg.Style{Class: "strong"})
	p.Text(24, 54, fmt.Sprintf("0 to 100, more is better. Bar: weighted mean of the marks. Line: 95 percent interval. Models with at least %d components; none of it was measured by the publisher.", opt.MinSources), svg.Style{Class: "soft"})
	for i, s := range p.doc.Sources {
		label, _, _ := strings.Cut(s.Label, " (")
		x := 24 + 250*float64(i)
		p.mark(x+6, 77, s.SourceID, "")
		p.Text(x+18, 81, label, svg.Style{})
	}
	for i, c := range Confidences {
		x := 24 + 250*float64(i)
		p.Rect(x, 94, 18, 11, svg.Style{Colour: barColours[c]})
		p.Text(x+25, 104, string(c)+" confidence", svg.Style{})
	}
	for score := 0.0; score <= maxScore; score += 20 {
		p.Line(plotX(score), plotTop, plotX(score), p.foot, svg.Style{Stroke: 0.3})
		p.Text(plotX(score), plotTop-6, fmt.Sprintf("%.0f", score), svg.Style{Class: "soft", Anchor: "middle"})
	}
}

// row draws one model.
func (p *plot) row(m *Model, y float64) {
	c := &m.Composite
	label := fmt.Sprintf("%s: %.1f, %s confidence", m.ModelKey, *c.Score, c.Confidence)
	p.Text(plotLeft-10, y+16, shorten(m.ModelKey), svg.Style{Anchor: "end"})
	p.Rect(plotLeft, y+5, plotX(*c.Score)-plotLeft, 14, svg.Style{Colour: barColours[c.Confidence], Opacity: 0.75, Tip: label})
	if p.rules != nil {
		lower, upper := p.rules.interval(c)
		tip := fmt.Sprintf("%s: %.1f to %.1f", m.ModelKey, *lower, *upper)
		p.Line(plotX(*lower), y+12, plotX(*upper), y+12, svg.Style{Colour: "#0f172a", Stroke: 1.5, Tip: tip})
		for _, end := range []float64{*lower, *upper} {
			p.Line(plotX(end), y+7, plotX(end), y+17, svg.Style{Colour: "#0f172a", Stroke: 1.5})
		}
	}
	for _, part := range c.Components {
		p.mark(plotX(part.Normalized), y+plotRow/2+markStyles[part.SourceID].offset, part.SourceID,
			fmt.Sprintf("%s, %s: %.1f", part.SourceID, part.Metric, part.Normalized))
	}
	p.Text(plotRight+14, y+16, fmt.Sprintf("%.1f", *c.Score), svg.Style{Class: "strong"})
}

// mark draws the mark of a source.
func (p *plot) mark(x, y float64, id SourceID, tip string) {
	m := markStyles[id]
	style := svg.Style{Colour: m.colour, Tip: tip}
	switch m.shape {
	case "circle":
		p.Circle(x, y, 4.5, style)
	case "square":
		p.Rect(x-4, y-4, 8, 8, style)
	default:
		p.Polygon([][2]float64{{x, y - 5.5}, {x + 5.5, y}, {x, y + 5.5}, {x - 5.5, y}}, style)
	}
}

// captions names the document and its sources below the rows.
func (p *plot) captions() {
	note := "Scores whose intervals overlap do not differ reliably; see normalization and limitations."
	if p.rules == nil {
		note = "Made by the first rules: composites of different sources are not on one scale."
	}
	p.Text(24, p.foot+26, fmt.Sprintf("Snapshot %.16s… of %s. %s", p.doc.OutputHash, p.doc.GeneratedAt, note), svg.Style{Class: "soft"})
	for i, s := range p.doc.Sources {
		p.Text(24, p.foot+43+17*float64(i), fmt.Sprintf("%s: %s, captured %s", s.SourceID, s.Dataset, s.CapturedAt), svg.Style{Class: "soft"})
	}
}

// shorten cuts a key that does not fit. The key, not the display name, is shown: two settings of
// one model share the latter.
func shorten(key string) string { return record.Clip(key, nameRunes-1) }

package snapshot

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	_ "embed"
)

//go:embed plot.svg.tmpl
var plotSVG string

// A drawing library was the road not taken: the picture is one bar, three marks and three
// texts a row, and as text it diffs and embeds without fonts or rasters.
var plotTemplate = template.Must(template.New("plot").Funcs(template.FuncMap{
	"add": func(a, b float64) float64 { return a + b },
}).Parse(plotSVG))

// PlotOptions says what a plot shows. The zero value shows the 30 best models with two or
// more components: one source alone is on its own scale and would head the list by it.
type PlotOptions struct {
	Top        int // rows; 0 is 30
	MinSources int // components a model must have; 0 is 2
}

// The layout, in SVG units.
const (
	plotWidth  = 980.0
	plotLeft   = 330.0 // where 0 stands
	plotRight  = 880.0 // where 100 stands
	plotTop    = 132.0
	plotRow    = 24.0
	plotBottom = 110.0
	nameRunes  = 44 // what fits left of the bars
)

// markStyles are colour and shape of the marks of each source, told apart without colour too.
var markStyles = map[SourceID]struct {
	Colour, Shape string
	Offset        float64 // from the middle of the bar, so that equal marks do not hide each other
}{
	SourceA: {"#b45309", "circle", -3.5},
	SourceB: {"#1d4ed8", "square", 0},
	SourceC: {"#047857", "diamond", 3.5},
}

var barColours = map[Confidence]string{High: "#475569", Moderate: "#94a3b8", Low: "#dbe2ea"}

type plotView struct {
	Width, Height, Left, Right, Top, Foot float64
	Count                                 int
	Doc                                   *Document
	Hash                                  string
	Ticks                                 []plotTick
	Legend                                []plotLegend
	Bars                                  []plotBar
	Rows                                  []plotLine
	Captions                              []plotCaption
	MinSources                            int
}

type plotTick struct {
	X     float64
	Label int
}

type plotLegend struct {
	X             float64
	Colour, Shape string
	Label         string
}

type plotBar struct {
	X      float64
	Colour string
	Label  string
}

type plotLine struct {
	Y, Width           float64
	Name, Score, Label string
	Colour             string
	Marks              []plotMark
}

type plotCaption struct {
	Y    float64 // below the bars
	Text string
}

type plotMark struct {
	X, Y          float64
	Colour, Shape string
	Title         string
}

// Plot draws the best models of a verified document as SVG: a bar for the composite, its
// shade for the confidence, a mark for each component. The same document gives the same bytes.
func Plot(w io.Writer, doc *Document, opt PlotOptions) error {
	opt.Top, opt.MinSources = cmp.Or(opt.Top, 30), cmp.Or(opt.MinSources, 2)
	best := ranking(doc, opt)
	v := plotView{
		Width: plotWidth, Left: plotLeft, Right: plotRight, Top: plotTop, Doc: doc, Count: len(best),
		Foot: plotTop + plotRow*float64(len(best)), Hash: doc.OutputHash[:min(16, len(doc.OutputHash))],
		MinSources: opt.MinSources,
	}
	v.Height = v.Foot + plotBottom
	for x := 0; x <= 100; x += 20 {
		v.Ticks = append(v.Ticks, plotTick{plotX(float64(x)), x})
	}
	v.legends(doc)
	for i, m := range best {
		v.Rows = append(v.Rows, plotLineOf(m, plotTop+plotRow*float64(i)))
	}
	if err := plotTemplate.Execute(w, v); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
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

func plotX(score float64) float64 {
	return plotLeft + score/maxScore*(plotRight-plotLeft)
}

// legends explains marks, bars and sources.
func (v *plotView) legends(doc *Document) {
	for i, s := range doc.Sources {
		style := markStyles[s.SourceID]
		label, _, _ := strings.Cut(s.Label, " (")
		caption := fmt.Sprintf("%s: %s, captured %s", s.SourceID, s.Dataset, s.CapturedAt)
		v.Captions = append(v.Captions, plotCaption{43 + 17*float64(i), caption})
		v.Legend = append(v.Legend, plotLegend{24 + 250*float64(i), style.Colour, style.Shape, label})
	}
	for i, c := range Confidences {
		v.Bars = append(v.Bars, plotBar{24 + 250*float64(i), barColours[c], string(c) + " confidence"})
	}
}

func plotLineOf(m Model, y float64) plotLine {
	l := plotLine{
		Y: y, Width: plotX(*m.Composite.Score) - plotLeft, Colour: barColours[m.Composite.Confidence],
		Name: shorten(m.ModelKey), Score: fmt.Sprintf("%.1f", *m.Composite.Score),
		Label: fmt.Sprintf("%s: %.1f, %s confidence", m.ModelKey, *m.Composite.Score, m.Composite.Confidence),
	}
	for _, c := range m.Composite.Components {
		style := markStyles[c.SourceID]
		l.Marks = append(l.Marks, plotMark{
			plotX(c.Normalized), y + plotRow/2 + style.Offset, style.Colour, style.Shape,
			fmt.Sprintf("%s, %s: %.1f", c.SourceID, c.Metric, c.Normalized),
		})
	}
	return l
}

// shorten cuts a key that does not fit. The key, not the display name, is shown: two
// settings of one model share the latter.
func shorten(key string) string {
	if r := []rune(key); len(r) > nameRunes {
		return string(r[:nameRunes-1]) + "…"
	}
	return key
}

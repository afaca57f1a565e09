//go:build linux

package main

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// drawing is an SVG being written. Text follows the reader's colour scheme.
type drawing struct {
	strings.Builder
	width, height int
}

const drawingHead = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="system-ui, sans-serif" font-size="12" role="img">
<style>text{fill:#222}line,path{stroke:#888}.soft{fill:#666}@media(prefers-color-scheme:dark){text{fill:#ddd}.soft{fill:#aaa}}</style>
`

var colours = []string{"#1f77b4", "#d95f02", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#17becf"}

func (d *drawing) text(x, y float64, anchor, class, s string) {
	fmt.Fprintf(d, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`+"\n", x, y, anchor, class, html.EscapeString(s))
}

func (d *drawing) line(x1, y1, x2, y2 float64, more string) {
	fmt.Fprintf(d, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" %s/>`+"\n", x1, y1, x2, y2, more)
}

func (d *drawing) String() string {
	return fmt.Sprintf(drawingHead, d.width, d.height) + d.Builder.String() + "</svg>\n"
}

// ratioPlot draws, on a logarithmic axis, what share of each rival's throughput we give: the
// median as a dot, least and most as a line.
func (r *Report) ratioPlot() string {
	const left, right, top, row = 330.0, 20.0, 46.0, 16.0
	d := &drawing{width: 900}
	lines := 0
	for _, c := range r.Cases {
		lines += max(1, len(c.Rates)-1)
	}
	d.height = int(top + row*float64(lines) + 6*float64(len(r.Cases)) + 60)
	const least, most = 0.1, 10_000.0
	x := func(v float64) float64 {
		return left + math.Log10(v/least)/math.Log10(most/least)*(900-left-right)
	}
	bottom := float64(d.height) - 40
	d.text(left, 18, "start", "", "Throughput of modeldex as a multiple of each rival's, same client, same connections")
	for _, v := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 500, 1000, 5000} {
		d.line(x(v), top-10, x(v), bottom, map[bool]string{true: `stroke-width="1.5"`, false: `stroke-width="0.3"`}[v == 1])
		d.text(x(v), top-14, "middle", "soft", fmt.Sprint(v))
	}
	rivals := []string{"nginx", "fasthttp", "sqlite", "pocketbase", "json-server"}
	y := top
	for _, c := range r.Cases {
		d.text(left-10, y+12, "end", "", c.Data+": "+c.Name)
		for _, them := range c.Rates[1:] {
			colour := colours[slices.Index(rivals, them.Target)]
			d.line(x(slices.Min(them.Ratios)), y+8, x(slices.Max(them.Ratios)), y+8, fmt.Sprintf(`style="stroke:%s;stroke-width:2"`, colour))
			fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", x(median(them.Ratios)), y+8, colour)
			y += row
		}
		y += 6
	}
	for i, name := range rivals {
		fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", left+float64(i)*100, bottom+16, colours[i])
		d.text(left+float64(i)*100+8, bottom+20, "start", "", name)
	}
	d.text(left, bottom+36, "start", "soft", r.Machine.CPU+", "+r.Machine.Go+", commit "+r.Machine.Commit+", "+r.Machine.Date.Format("2006-01-02"))
	return d.String()
}

// growthPlot draws processor time an answer by the size of the dataset, both logarithmic.
func (r *Report) growthPlot() string {
	const left, right, top, bottom = 60.0, 230.0, 40.0, 340.0
	d := &drawing{width: 760, height: 400}
	if len(r.Growth) == 0 {
		return d.String()
	}
	x := func(rows int) float64 { return left + (math.Log10(float64(rows))-3.5)/3*(760-left-right) }
	y := func(us float64) float64 { return bottom - (math.Log10(us)-1)/2*(bottom-top) }
	d.text(left, 18, "start", "", "Processor time of an answer by size of the dataset, cache useless")
	for _, us := range []float64{10, 20, 50, 100, 200, 500, 1000} {
		d.line(left, y(us), 760-right, y(us), `stroke-width="0.3"`)
		d.text(left-6, y(us)+4, "end", "soft", fmt.Sprintf("%.0f us", us))
	}
	for _, g := range r.Growth {
		d.line(x(g.Rows), top, x(g.Rows), bottom, `stroke-width="0.3"`)
		d.text(x(g.Rows), bottom+16, "middle", "soft", g.Data)
	}
	for i, name := range slices.Sorted(keysOf(r.Growth[0].CPU)) {
		var points []string
		for _, g := range r.Growth {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(g.Rows), y(min(max(g.CPU[name], 10), 1000))))
		}
		colour := colours[i%len(colours)]
		fmt.Fprintf(d, `<path d="M%s" fill="none" style="stroke:%s;stroke-width:2"/>`+"\n", strings.Join(points, " L"), colour)
		fmt.Fprintf(d, `<circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", 760-right+16, top+10+float64(i)*20, colour)
		d.text(760-right+26, top+14+float64(i)*20, "start", "", name)
	}
	d.text(left, bottom+36, "start", "soft", r.Machine.CPU+", "+r.Machine.Go+", commit "+r.Machine.Commit+", "+r.Machine.Date.Format("2006-01-02"))
	return d.String()
}

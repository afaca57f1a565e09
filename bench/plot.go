//go:build linux

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"modeldex/snapshot/svg"
)

var colours = []string{"#1f77b4", "#d95f02", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#17becf"}

// ratioPlot draws, on a logarithmic axis, what share of each rival's throughput we give: the
// median as a dot, least and most as a line.
func (r *Report) ratioPlot() string {
	const left, right, top, row = 330.0, 20.0, 46.0, 16.0
	d := &svg.Drawing{Width: 900}
	lines := 0
	for _, c := range r.Cases {
		lines += max(1, len(c.Rates)-1)
	}
	d.Height = int(top + row*float64(lines) + 6*float64(len(r.Cases)) + 60)
	const least, most = 0.1, 10_000.0
	x := func(v float64) float64 {
		return left + math.Log10(v/least)/math.Log10(most/least)*(900-left-right)
	}
	bottom := float64(d.Height) - 40
	d.Text(left, 18, "Throughput of modeldex as a multiple of each rival's, same client, same connections", svg.Style{})
	for _, v := range []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 500, 1000, 5000} {
		stroke := 0.3
		if v == 1 { // as fast as the rival
			stroke = 1.5
		}
		d.Line(x(v), top-10, x(v), bottom, svg.Style{Stroke: stroke})
		d.Text(x(v), top-14, fmt.Sprint(v), svg.Style{Anchor: "middle", Class: "soft"})
	}
	y := top
	for _, c := range r.Cases {
		d.Text(left-10, y+12, c.Data+": "+c.Name, svg.Style{Anchor: "end"})
		for _, them := range c.Rates[1:] {
			colour := colours[slices.Index(rivalNames, them.Target)]
			d.Line(x(slices.Min(them.Ratios)), y+8, x(slices.Max(them.Ratios)), y+8, svg.Style{Colour: colour, Stroke: 2})
			d.Circle(x(median(them.Ratios)), y+8, 4, svg.Style{Colour: colour})
			y += row
		}
		y += 6
	}
	for i, name := range rivalNames {
		d.Circle(left+float64(i)*100, bottom+16, 4, svg.Style{Colour: colours[i]})
		d.Text(left+float64(i)*100+8, bottom+20, name, svg.Style{})
	}
	d.Text(left, bottom+36, r.Machine.CPU+", "+r.Machine.Go+", commit "+r.Machine.Commit+", "+r.Machine.Date.Format("2006-01-02"), svg.Style{Class: "soft"})
	return d.String()
}

// growthPlot draws processor time per response by the size of the dataset, both logarithmic.
func (r *Report) growthPlot() string {
	const left, right, top, bottom = 60.0, 230.0, 40.0, 340.0
	d := &svg.Drawing{Width: 760, Height: 400}
	if len(r.Growth) == 0 {
		return d.String()
	}
	x := func(rows int) float64 { return left + (math.Log10(float64(rows))-3.5)/3*(760-left-right) }
	y := func(us float64) float64 { return bottom - (math.Log10(us)-1)/2*(bottom-top) }
	d.Text(left, 18, "Processor time per response by size of the dataset, with a cache too small to help", svg.Style{})
	for _, us := range []float64{10, 20, 50, 100, 200, 500, 1000} {
		d.Line(left, y(us), 760-right, y(us), svg.Style{Stroke: 0.3})
		d.Text(left-6, y(us)+4, fmt.Sprintf("%.0f us", us), svg.Style{Anchor: "end", Class: "soft"})
	}
	for _, g := range r.Growth {
		d.Line(x(g.Rows), top, x(g.Rows), bottom, svg.Style{Stroke: 0.3})
		d.Text(x(g.Rows), bottom+16, g.Data, svg.Style{Anchor: "middle", Class: "soft"})
	}
	for i, name := range slices.Sorted(maps.Keys(r.Growth[0].CPU)) {
		var points [][2]float64
		for _, g := range r.Growth {
			points = append(points, [2]float64{x(g.Rows), y(min(max(g.CPU[name], 10), 1000))})
		}
		colour := colours[i%len(colours)]
		d.Polyline(points, svg.Style{Colour: colour, Stroke: 2})
		d.Circle(760-right+16, top+10+float64(i)*20, 4, svg.Style{Colour: colour})
		d.Text(760-right+26, top+14+float64(i)*20, name, svg.Style{})
	}
	d.Text(left, bottom+36, r.Machine.CPU+", "+r.Machine.Go+", commit "+r.Machine.Commit+", "+r.Machine.Date.Format("2006-01-02"), svg.Style{Class: "soft"})
	return d.String()
}

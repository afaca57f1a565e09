package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"modeldex/snapshot/svg"
)

// RoofData is the runs on a piece of hardware and its memory bandwidth.
type RoofData struct {
	Hardware      string
	BandwidthGBps float64 // of one device
	Runs          []RoofRun
	Total         int // runs there are, those that are left out included
	Source        string
}

// RoofRun is one run and how much of the memory one token reads.
type RoofRun struct {
	Run
	Model          string
	GBytesPerToken float64 // 10^9 bytes
	BandwidthShare float64 // of the memory bandwidth
}

// Roof draws the speed of runs against the bytes one token reads, below the line no run of one
// stream can cross without drafting: bandwidth divided by bytes.
func Roof(d RoofData) *Figure {
	f := &Figure{
		Title: d.Hardware + ": its runs under the bandwidth roof", Source: d.Source,
		columns: []Column{{"Model", false}, {"Quantization", false}, {"Tok/s", true}, {"GB per token", true}, {"Share of bandwidth", true}, {"Settings", false}, {"Benchmark", false}, {"Source", false}},
	}
	runs := slices.DeleteFunc(slices.Clone(d.Runs), func(r RoofRun) bool {
		return !finite(r.TPS) || r.TPS <= 0 || !finite(r.GBytesPerToken) || r.GBytesPerToken <= 0
	})
	slices.SortStableFunc(runs, func(a, b RoofRun) int {
		return cmp.Or(-cmp.Compare(a.TPS, b.TPS), strings.Compare(a.ID, b.ID))
	})
	f.rows = func() (rows [][]Cell) {
		for _, r := range runs {
			rows = append(rows, []Cell{{Text: r.Model}, {Text: r.Quantization}, {Text: tenths(r.TPS)}, {Text: short(r.GBytesPerToken)}, {Text: percent(r.BandwidthShare)}, {Text: r.Settings}, {Text: r.ID, Href: benchmarkHref(r.ID)}, {Text: host(r.Source), Href: r.Source}})
		}
		return rows
	}
	switch {
	case d.BandwidthGBps <= 0 || !finite(d.BandwidthGBps):
		f.Missing = "The memory bandwidth of this hardware is not published."
		return f
	case len(runs) == 0:
		f.Missing = "No run of one stream is known whose weights per token are."
		return f
	}
	shares := make([]float64, len(runs))
	for i, r := range runs {
		shares[i] = r.BandwidthShare
	}
	slices.Sort(shares)
	f.Note = "One dot for each run of a single stream on one device. A token reads its weights once, so the bandwidth divided by them is a roof; dots above it used drafts, or something in their record is wrong. Both axes are logarithmic."
	if len(runs) < d.Total {
		f.Note += fmt.Sprintf(" %s of %s runs are shown: the newest whose weights are known.", whole(len(runs)), whole(d.Total))
	}
	f.Summary = fmt.Sprintf("%s under a roof of %s GB/s; the median run uses %s of it.", count(len(runs), "run"), short(d.BandwidthGBps), percent(shares[len(shares)/2]))
	f.draw = func(c *canvas) float64 { return drawRoof(c, d.BandwidthGBps, runs) }
	return f
}

func percent(v float64) string {
	if !finite(v) {
		return "unknown"
	}
	return short(math.Round(v*1000)/10) + " %"
}

func drawRoof(c *canvas, bandwidth float64, runs []RoofRun) float64 {
	lowX, highX, lowY, highY := math.Inf(1), 0.0, math.Inf(1), 0.0
	for _, r := range runs {
		lowX, highX = min(lowX, r.GBytesPerToken), max(highX, r.GBytesPerToken)
		lowY, highY = min(lowY, r.TPS), max(highY, r.TPS)
	}
	highY = max(highY, min(bandwidth/lowX, highY*3)) // some of the roof shows
	a := &area{canvas: c, left: 44, top: 24, right: c.width - 10, bottom: 300}
	a.x, a.y = newScale(true, lowX, highX, a.left, a.right), newScale(true, lowY, highY, a.bottom, a.top)
	a.axes("Weights read per token (GB)", "Generation speed (tok/s)", compact)
	for _, share := range []struct {
		of          float64
		class, name string
	}{{1, "l1", short(bandwidth) + " GB/s"}, {0.5, "mark-line", "half of it"}} {
		x1, x2 := a.x.low, a.x.top
		x1, x2 = max(x1, bandwidth*share.of/a.y.top), min(x2, bandwidth*share.of/a.y.low)
		if x1 >= x2 {
			continue
		}
		a.Polyline([][2]float64{{a.x.at(x1), a.y.at(bandwidth * share.of / x1)}, {a.x.at(x2), a.y.at(bandwidth * share.of / x2)}}, svg.Style{Class: share.class})
	}
	for _, d := range roofDots(a, runs) {
		a.mark(d.x, d.y, 3.6, 0, "d0", func() string {
			tip := d.run.Model + ": " + d.run.tip(c) + ", " + percent(d.run.BandwidthShare) + " of the bandwidth"
			if d.covered > 0 {
				tip += "; " + count(d.covered, "more run") + " here"
			}
			return tip
		})
	}
	// The name of the roof is written where the roof leaves the drawing, to the right of it.
	x, end := max(a.x.low, bandwidth/a.y.top), min(a.x.top, bandwidth/a.y.low)
	if x < end {
		px, py := a.x.at(x), a.y.at(bandwidth/x)
		const down = 12 // from where it begins
		behind := (down + 3) * (a.x.at(end) - px) / (a.y.at(bandwidth/end) - py)
		a.text(px+behind+4, py+down, "roof: "+short(bandwidth)+" GB/s", svg.Style{Class: "small strong halo t1"})
	}
	return a.bottom + 40
}

// roofDot is a run where it is drawn, and how many others are in the same place below it.
type roofDot struct {
	x, y    float64
	run     *RoofRun
	covered int
}

// roofDots places the runs, the last one drawn first. In a page, dots less than a pixel apart are one: the
// pointer cannot reach those below, and 400 runs with a text each were 160 KB of a page.
func roofDots(a *area, runs []RoofRun) (dots []roofDot) {
	for i := range runs {
		r := &runs[i]
		x, y, ok := a.dot(r.GBytesPerToken, r.TPS)
		if !ok {
			continue
		}
		same := slices.IndexFunc(dots, func(d roofDot) bool { return math.Hypot(d.x-x, d.y-y) < 1 })
		if a.framed || same < 0 {
			dots = append(dots, roofDot{x, y, r, 0})
		} else {
			dots[same].covered++
		}
	}
	slices.Reverse(dots)
	return dots
}

// FitsData is the models that run on a piece of hardware.
type FitsData struct {
	Hardware string
	Models   []FitModel // any order
	Total    int        // models that run, those without a score included
	Source   string
}

// sizeRule says at which of its sizes a model is drawn: see fit.Query.MeasuredFirst.
const sizeRule = "the most precise size of four to nine bits that was measured on this hardware, else one of more bits that was, else the most precise of up to nine that fits with 8k of context"

// FitModel is a model that runs, at its best size.
type FitModel struct {
	Name, Href   string
	Score        float64 // intelligence, 0 to 100
	Quantization string
	MemoryGB     float64 // weights, cache and buffer, in 2^30 bytes
	TPS          float64 // NaN if unknown
	Measured     bool    // the speed is measured, not estimated
	Tight        bool    // it fits by using the reserve
}

func (m *FitModel) speed() string { return speedText(m.TPS, m.Measured) }

// speedText says a speed and whether it was measured.
func speedText(tps float64, measured bool) string {
	switch {
	case !finite(tps):
		return "speed unknown"
	case measured:
		return short(tps) + " tok/s measured"
	}
	return "~" + short(tps) + " tok/s estimated"
}

const mostFits = 20

// Fits draws the most intelligent models that run on a piece of hardware.
func Fits(d FitsData) *Figure {
	f := &Figure{
		Title: d.Hardware + ": what fits, by intelligence", Source: d.Source,
		columns: []Column{{"Model", false}, {"Intelligence (0 to 100)", true}, {"Size", false}, {"Memory (GB)", true}, {"Tok/s", true}, {"Speed is", false}},
	}
	models := slices.DeleteFunc(slices.Clone(d.Models), func(m FitModel) bool { return !finite(m.Score) })
	slices.SortStableFunc(models, func(a, b FitModel) int {
		return cmp.Or(-cmp.Compare(a.Score, b.Score), strings.Compare(a.Name, b.Name))
	})
	all := len(models)
	models = models[:min(all, mostFits)]
	f.rows = func() (rows [][]Cell) {
		for i := range models {
			m := &models[i]
			rows = append(rows, []Cell{{Text: m.Name, Href: m.Href}, {Text: tenths(m.Score)}, {Text: m.Quantization}, {Text: short(m.MemoryGB)}, {Text: tenths(m.TPS)}, {Text: basisWord(m.TPS, m.Measured)}})
		}
		return rows
	}
	if len(models) == 0 {
		f.Missing = "No model with an intelligence score is known to run on this hardware with four bits per weight or more."
		return f
	}
	f.Note = fmt.Sprintf("The %d of %d models with the highest scores, each at "+sizeRule+". %s run in all; those without a score, or that fit only with fewer than four bits per weight, are not drawn. Green bars: speed measured. Grey bars: estimated or unknown.", len(models), all, count(max(d.Total, all), "model"))
	f.Summary = fmt.Sprintf("First is %s with %s of 100, at %s, %s.", models[0].Name, tenths(models[0].Score), models[0].Quantization, models[0].speed())
	f.draw = func(c *canvas) float64 { return drawFits(c, models) }
	return f
}

func basisWord(tps float64, measured bool) string {
	switch {
	case !finite(tps):
		return "unknown"
	case measured:
		return "measured"
	}
	return "estimated"
}

func drawFits(c *canvas, models []FitModel) float64 {
	row, labelWidth := c.labelled(24, 38, 4, len(models), func(i int) string { return models[i].Name })
	a := &area{canvas: c, left: labelWidth + 8, top: 4, right: c.width - 6}
	if c.narrow() {
		a.left = 2
	}
	a.bottom = a.top + row*float64(len(models)) + 4
	a.x = scale{false, 0, max(1, models[0].Score), a.left, a.right}
	for _, v := range a.x.ticks(60) {
		a.Line(a.x.at(v), a.top, a.x.at(v), a.bottom, svg.Style{Class: "grid"})
		a.text(min(max(a.x.at(v), 6), a.right-6), a.bottom+15, short(v), svg.Style{Class: "soft small", Anchor: "middle"})
	}
	for i := range models {
		m := &models[i]
		y := a.top + row*float64(i)
		label := m.Quantization + ", " + m.speed()
		if c.narrow() {
			a.Text(2, y+13, clip(m.Name, smallSize, c.width-40), svg.Style{Class: "small strong"})
			y += 15
		} else {
			a.Text(labelWidth, y+16, clip(m.Name, fontSize, labelWidth), svg.Style{Anchor: "end"})
		}
		class := "bar-alt"
		if m.Measured && finite(m.TPS) {
			class = "bar"
		}
		end := max(a.x.at(m.Score), a.left+1)
		a.Rect(a.left, y+3, end-a.left, 18, svg.Style{Class: class, Tip: c.tip(func() string {
			return fmt.Sprintf("%s: %s of 100, %s GB, %s", m.Name, tenths(m.Score), short(m.MemoryGB), label)
		})})
		if room := end - a.left - 46; room > 30 {
			a.Text(a.left+6, y+16, clip(label, smallSize, room), svg.Style{Class: "small"})
		}
		if end-a.left < 40 {
			a.text(end+5, y+16, tenths(m.Score), svg.Style{Class: "small strong"})
		} else {
			a.Text(end-5, y+16, tenths(m.Score), svg.Style{Class: "small strong", Anchor: "end"})
		}
	}
	a.Line(a.left, a.top, a.left, a.bottom, svg.Style{Class: "axis"})
	a.text(a.right, a.bottom+32, "Intelligence (composite, 0 to 100)", svg.Style{Class: "soft small", Anchor: "end"})
	return a.bottom + 38
}

// NeighboursData is the price and bandwidth of a piece of hardware and of others near it.
type NeighboursData struct {
	Hardware string
	Of       Priced
	Others   []Priced
	Source   string
}

// Priced is hardware with a price.
type Priced struct {
	Name, Href    string
	PriceUSD      float64
	PriceKind     string // such as "street, 2026-05" or "launch"
	Street        bool   // a price seen, not that of the launch
	PriceHref     string // its source, may be empty
	BandwidthGBps float64
	MemoryGB      float64
}

func (p *Priced) known() bool {
	return finite(p.PriceUSD) && p.PriceUSD > 0 && finite(p.BandwidthGBps) && p.BandwidthGBps > 0
}

// Neighbours draws price and bandwidth of a piece of hardware among its neighbours.
func Neighbours(d NeighboursData) *Figure {
	f := &Figure{
		Title: d.Hardware + ": price and bandwidth among its neighbours", Source: d.Source,
		columns: []Column{{"Hardware", false}, {"Price (US dollars)", true}, {"Price is", false}, {"Bandwidth (GB/s)", true}, {"Memory (GB)", true}, {"GB/s per dollar", true}},
	}
	others := slices.DeleteFunc(slices.Clone(d.Others), func(p Priced) bool { return !p.known() })
	slices.SortStableFunc(others, func(a, b Priced) int {
		return cmp.Or(cmp.Compare(a.PriceUSD, b.PriceUSD), strings.Compare(a.Name, b.Name))
	})
	f.rows = func() (rows [][]Cell) {
		for _, p := range append([]Priced{d.Of}, others...) {
			rows = append(rows, []Cell{{Text: p.Name, Href: p.Href}, {Text: money(p.PriceUSD)}, {Text: p.PriceKind, Href: p.PriceHref}, {Text: short(p.BandwidthGBps)}, {Text: short(p.MemoryGB)}, {Text: short(p.BandwidthGBps / p.PriceUSD)}})
		}
		return rows
	}
	if !d.Of.known() {
		f.Missing = "No price in US dollars or no memory bandwidth is known of this hardware."
		return f
	}
	if len(others) == 0 {
		f.Missing = "No price and bandwidth of hardware like it are known."
		return f
	}
	f.Note = "Beside it is what is most like it and nearest in price, bandwidth and memory. Filled: a price seen in the street. Hollow: the price at launch. Both axes are logarithmic; up and to the left is more bandwidth for the money."
	f.Summary = fmt.Sprintf("%s: $%s (%s) and %s GB/s, among %s near it.", d.Of.Name, money(d.Of.PriceUSD), d.Of.PriceKind, short(d.Of.BandwidthGBps), count(len(others), "piece")+" of hardware")
	f.draw = func(c *canvas) float64 { return drawNeighbours(c, d.Of, others) }
	return f
}

func drawNeighbours(c *canvas, of Priced, others []Priced) float64 {
	a := &area{canvas: c, left: 46, top: 24, right: c.width - 12, bottom: 310}
	lowX, highX, lowY, highY := of.PriceUSD, of.PriceUSD, of.BandwidthGBps, of.BandwidthGBps
	for _, p := range others {
		lowX, highX = min(lowX, p.PriceUSD), max(highX, p.PriceUSD)
		lowY, highY = min(lowY, p.BandwidthGBps), max(highY, p.BandwidthGBps)
	}
	a.x, a.y = newScale(true, lowX, highX, a.left, a.right), newScale(true, lowY, highY, a.bottom, a.top)
	a.axes("Price (US dollars)", "Memory bandwidth (GB/s)", compact)
	l := &labels{canvas: c, bounds: box{a.left, a.top, c.width, a.bottom}}
	for _, p := range others {
		l.block(a.x.at(p.PriceUSD), a.y.at(p.BandwidthGBps), 4)
	}
	x, y := a.x.at(of.PriceUSD), a.y.at(of.BandwidthGBps)
	l.block(x, y, 8)
	for _, p := range others {
		class := "d0"
		if !p.Street {
			class = "open"
		}
		a.mark(a.x.at(p.PriceUSD), a.y.at(p.BandwidthGBps), 4.5, 0, class, func() string {
			return fmt.Sprintf("%s: $%s (%s), %s GB/s, %s GB", p.Name, money(p.PriceUSD), p.PriceKind, short(p.BandwidthGBps), short(p.MemoryGB))
		})
	}
	class := "d1"
	if !of.Street {
		class = "open"
	}
	a.Circle(x, y, 8, svg.Style{Class: "ring"})
	a.mark(x, y, 4.5, 0, class, func() string {
		return fmt.Sprintf("%s: $%s (%s), %s GB/s", of.Name, money(of.PriceUSD), of.PriceKind, short(of.BandwidthGBps))
	})
	l.place(x, y, 8, clipName(of.Name, fontSize, 220), svg.Style{Class: "strong halo"})
	for _, p := range others {
		l.place(a.x.at(p.PriceUSD), a.y.at(p.BandwidthGBps), 4.5, clip(withoutMaker(p.Name), smallSize, 150), svg.Style{Class: "small soft halo"})
	}
	return a.bottom + 40
}

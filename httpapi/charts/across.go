package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/snapshot/svg"
)

// FrontierData is intelligence and speed of the models that run on one piece of hardware.
type FrontierData struct {
	Hardware string
	Models   []FitModel
	Source   string
}

// Frontier draws intelligence against speed, with a line through the models that no other beats in
// both.
func Frontier(d FrontierData) *Figure {
	f := &Figure{
		Title: d.Hardware + ": intelligence against speed", Source: d.Source,
		Note:    "Each model at " + sizeRule + "; those that fit only with fewer than four bits per weight are not drawn, for a score is of the full model. Filled: speed measured. Hollow: estimated. The line joins the models that no other beats in both. The axis of speed is logarithmic.",
		columns: []Column{{"Model", false}, {"Tok/s", true}, {"Speed is", false}, {"Intelligence (0 to 100)", true}, {"Size", false}, {"On the line", false}},
	}
	models := slices.DeleteFunc(slices.Clone(d.Models), func(m FitModel) bool { return !finite(m.Score) || !finite(m.TPS) || m.TPS <= 0 })
	slices.SortStableFunc(models, func(a, b FitModel) int {
		return cmp.Or(cmp.Compare(a.TPS, b.TPS), strings.Compare(a.Name, b.Name))
	})
	best := fit.Pareto(models, func(m *FitModel) (x, y float64, ok bool) { return m.TPS, m.Score, true })
	on := map[string]bool{}
	for i := range best {
		on[best[i].Href+"\x00"+best[i].Name] = true
	}
	f.rows = func() (rows [][]Cell) {
		for i := len(models) - 1; i >= 0; i-- {
			m := &models[i]
			yes := ""
			if on[m.Href+"\x00"+m.Name] {
				yes = "yes"
			}
			rows = append(rows, []Cell{{Text: m.Name, Href: m.Href}, {Text: tenths(m.TPS)}, {Text: basisWord(m.TPS, m.Measured)}, {Text: tenths(m.Score)}, {Text: m.Quantization}, {Text: yes}})
		}
		return rows
	}
	if len(models) == 0 {
		f.Missing = "No model that runs on this hardware with four bits per weight or more has both an intelligence score and a known speed."
		return f
	}
	slices.SortStableFunc(best, func(a, b FitModel) int { return cmp.Compare(a.TPS, b.TPS) })
	f.Summary = fmt.Sprintf("%s; %d are on the line, from %s (%s tok/s, %s of 100) to %s (%s tok/s, %s of 100).", count(len(models), "model"), len(best),
		best[0].Name, short(best[0].TPS), tenths(best[0].Score), best[len(best)-1].Name, short(best[len(best)-1].TPS), tenths(best[len(best)-1].Score))
	f.draw = func(c *canvas) float64 { return drawFrontier(c, models, best) }
	return f
}

func drawFrontier(c *canvas, models, best []FitModel) float64 {
	lowX, highX, lowY, highY := math.Inf(1), 0.0, math.Inf(1), 0.0
	for i := range models {
		m := &models[i]
		lowX, highX = min(lowX, m.TPS), max(highX, m.TPS)
		lowY, highY = min(lowY, m.Score), max(highY, m.Score)
	}
	a := &area{canvas: c, left: 34, top: 24, right: c.width - 10, bottom: 350}
	a.x, a.y = newScale(true, lowX, highX, a.left, a.right), newScale(false, lowY, highY, a.bottom, a.top)
	a.axes("Generation speed (tok/s)", "Intelligence (composite, 0 to 100)", compact)
	var through [][2]float64
	for i := range best {
		x, y := a.x.at(best[i].TPS), a.y.at(best[i].Score)
		if i > 0 { // a step: between two models only the slower one's speed is reached with its score
			through = append(through, [2]float64{through[len(through)-1][0], y})
		}
		through = append(through, [2]float64{x, y})
	}
	a.Polyline(through, svg.Style{Class: "l1"})
	l := &labels{canvas: c, bounds: box{a.left, a.top, c.width, a.bottom}}
	for i := range models {
		m := &models[i]
		x, y := a.x.at(m.TPS), a.y.at(m.Score)
		class := "open"
		if m.Measured {
			class = "d0"
		}
		a.mark(x, y, 3.6, 0, class, func() string {
			return fmt.Sprintf("%s: %s of 100, %s, %s", m.Name, tenths(m.Score), m.Quantization, m.speed())
		})
	}
	for i := range models {
		l.block(a.x.at(models[i].TPS), a.y.at(models[i].Score), 3)
	}
	for i := 1; i < len(through); i++ {
		l.blockLine(through[i-1], through[i])
	}
	for i := range best {
		l.place(a.x.at(best[i].TPS), a.y.at(best[i].Score), 5, clip(best[i].Name, smallSize, 150), svg.Style{Class: "small strong halo"})
	}
	return a.bottom + 40
}

// CompareData is the same measurements of several things side by side.
type CompareData struct {
	Title  string
	Row    string   // what a row is, such as "Model and quantization"
	Series []Series // the things, at most MostCompared
	Rows   []CompareRow
	Total  int // rows there are, those that are left out included
	Source string
}

// MostCompared is how many things a comparison has at most: there are four marks that differ
// without colour.
const MostCompared = 4

// Series is one thing that is compared.
type Series struct{ Name, Href string }

// CompareRow is one configuration, measured on several things.
type CompareRow struct {
	Name   string
	Values []Spread // by place in CompareData.Series; N 0 if there is none
}

// Spread is measurements of the same configuration.
type Spread struct {
	N              int
	Low, Mid, High float64 // smallest, median and largest, in tok/s
	Href           string  // of the benchmark, or of the list of them; may be empty
}

// Compare draws the median of each thing in each row, with a line from the smallest to the largest.
func Compare(d CompareData) *Figure {
	f := &Figure{Title: d.Title, Source: d.Source, columns: []Column{{d.Row, false}}}
	series := d.Series[:min(len(d.Series), MostCompared)]
	for _, s := range series {
		f.columns = append(f.columns, Column{s.Name + " (tok/s)", true})
	}
	rows := slices.DeleteFunc(slices.Clone(d.Rows), func(r CompareRow) bool {
		return !slices.ContainsFunc(r.Values, func(v Spread) bool { return v.N > 0 && v.Low > 0 && finite(v.High) })
	})
	f.rows = func() (out [][]Cell) {
		for _, r := range rows {
			cells := []Cell{{Text: r.Name}}
			for i := range series {
				cells = append(cells, spreadCell(r.Values, i))
			}
			out = append(out, cells)
		}
		return out
	}
	if len(rows) == 0 {
		f.Missing = "No configuration was measured with one stream on at least two of them."
		return f
	}
	f.Note = "Marks: medians of runs of a single stream on one device. Lines: from the slowest run to the fastest. The axis is logarithmic."
	if len(rows) < d.Total {
		f.Note += fmt.Sprintf(" %s of %s configurations are shown: those with the most in common.", whole(len(rows)), whole(d.Total))
	}
	f.Summary = fmt.Sprintf("%s measured on at least two of %s.", count(len(rows), "configuration"), names(series))
	f.draw = func(c *canvas) float64 { return drawCompare(c, series, rows) }
	return f
}

func names(series []Series) string {
	var out []string
	for _, s := range series {
		out = append(out, s.Name)
	}
	return strings.Join(out, ", ")
}

func spreadCell(values []Spread, i int) Cell {
	if i >= len(values) || values[i].N == 0 {
		return Cell{Text: "–"}
	}
	v := values[i]
	c := Cell{Text: tenths(v.Mid), Note: "(1 run)", Href: v.Href}
	if v.N > 1 {
		c.Note = fmt.Sprintf("(%s, %s to %s)", record.Counted(v.N, "run"), short(v.Low), short(v.High))
	}
	return c
}

// legend writes the marks of the series and returns how high it is.
func (c *canvas) legend(series []Series) float64 {
	x, y := 6.0, 12.0
	for i, s := range series {
		name := clipName(s.Name, smallSize, c.width-30)
		w := textWidth(name, smallSize) + 30
		if x > 6 && x+w > c.width {
			x, y = 6, y+17
		}
		c.mark(x, y-4, 4.5, i, seriesClass(i), noTip)
		c.Text(x+10, y, name, svg.Style{Class: "small"})
		x += w
	}
	return y + 12
}

func drawCompare(c *canvas, series []Series, rows []CompareRow) float64 {
	row, labelWidth := c.labelled(24, 38, 8, len(rows), func(i int) string { return rows[i].Name })
	low, high := math.Inf(1), 0.0
	for _, r := range rows {
		for _, v := range r.Values {
			if v.N > 0 {
				low, high = min(low, v.Low), max(high, v.High)
			}
		}
	}
	a := &area{canvas: c, left: labelWidth + 8, right: c.width - 10}
	a.top = c.legend(series)
	a.bottom = a.top + row*float64(len(rows)) + 4
	a.x = newScale(true, low, high, a.left, a.right)
	a.xAxis("Generation speed (tok/s)", a.x.ticks(40), compact)
	for n, r := range rows {
		y := a.top + row*float64(n) + 14
		if c.narrow() {
			a.Text(2, y-1, clipName(r.Name, smallSize, c.width-4), svg.Style{Class: "small halo"})
			y += 14
		} else {
			a.Text(labelWidth, y+4, clipName(r.Name, fontSize, labelWidth), svg.Style{Anchor: "end"})
		}
		a.Line(a.left, y, a.right, y, svg.Style{Class: "grid"})
		for i := range series {
			if i >= len(r.Values) || r.Values[i].N == 0 {
				continue
			}
			v := r.Values[i]
			at := y + (float64(i)-float64(len(series)-1)/2)*3.2 // equal marks do not hide each other
			if v.High > v.Low {
				a.Line(a.x.at(v.Low), at, a.x.at(v.High), at, svg.Style{Class: lineClass(i)})
			}
			a.mark(a.x.at(v.Mid), at, 4.6, i, seriesClass(i), func() string {
				cell := spreadCell(r.Values, i)
				return fmt.Sprintf("%s, %s: %s %s", series[i].Name, r.Name, cell.Text, cell.Note)
			})
		}
	}
	return a.bottom + 40
}

// PricesData is what several pieces of hardware cost for what they give.
type PricesData struct {
	Title string
	// Work is the model and quantization the speeds are of; empty: no speeds are compared.
	Work   string
	Items  []PriceItem
	Source string
}

// PriceItem is one piece of hardware.
type PriceItem struct {
	Priced
	TPS      float64 // of the work; NaN if unknown
	Measured bool
	Rests    string // page of the runs it rests on, may be empty
}

// Prices draws price per GB of memory and per token per second.
func Prices(d PricesData) *Figure {
	f := &Figure{
		Title: d.Title, Source: d.Source,
		columns: []Column{{"Hardware", false}, {"Price (US dollars)", true}, {"Price is", false}, {"Memory (GB)", true}, {"Dollars per GB", true}, {"Tok/s", true}, {"Speed is", false}, {"Dollars per tok/s", true}},
	}
	f.rows = func() (rows [][]Cell) {
		for i := range d.Items {
			p := &d.Items[i]
			rows = append(rows, []Cell{{Text: p.Name, Href: p.Href}, {Text: money(p.PriceUSD)}, {Text: p.PriceKind, Href: p.PriceHref}, {Text: short(p.MemoryGB)}, {Text: money(p.perGB())}, {Text: tenths(p.TPS), Href: p.Rests}, {Text: basisWord(p.TPS, p.Measured)}, {Text: money(p.perSpeed())}})
		}
		return rows
	}
	drawn := false
	for i := range d.Items {
		p := &d.Items[i]
		drawn = drawn || finite(p.perGB()) || finite(p.perSpeed())
	}
	if !drawn {
		f.Missing = "No price in US dollars is known of them."
		return f
	}
	f.Note = "Faint bars: the price at launch, or a speed that is estimated. Shorter is better."
	if d.Work != "" {
		f.Note += " Speeds are of " + d.Work + "."
	}
	f.Summary = summaryOfPrices(d.Items)
	f.draw = func(c *canvas) float64 { return drawPrices(c, d.Items) }
	return f
}

func (p *PriceItem) perGB() float64 { return ratio(p.PriceUSD, p.MemoryGB) }

func (p *PriceItem) perSpeed() float64 { return ratio(p.PriceUSD, p.TPS) }

// ratio is NaN where either is unknown or zero.
func ratio(a, b float64) float64 {
	if !finite(a) || !finite(b) || a <= 0 || b <= 0 {
		return math.NaN()
	}
	return a / b
}

func summaryOfPrices(items []PriceItem) string {
	var parts []string
	for i := range items {
		p := &items[i]
		if v := p.perGB(); finite(v) {
			text := fmt.Sprintf("%s: %s dollars per GB", p.Name, money(v))
			if v := p.perSpeed(); finite(v) {
				text += ", " + money(v) + " dollars per tok/s"
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ") + "."
}

func drawPrices(c *canvas, items []PriceItem) float64 {
	y := pricePanel(c, 0, "Dollars per GB of memory", items, (*PriceItem).perGB, func(p *PriceItem) bool { return p.Street })
	return pricePanel(c, y+10, "Dollars per tok/s", items, (*PriceItem).perSpeed, func(p *PriceItem) bool { return p.Street && p.Measured })
}

// pricePanel draws the bars of one ratio below y and returns where it ends.
func pricePanel(c *canvas, y float64, title string, items []PriceItem, value func(*PriceItem) float64, solid func(*PriceItem) bool) float64 {
	most := 0.0
	for i := range items {
		if v := value(&items[i]); finite(v) {
			most = max(most, v)
		}
	}
	c.text(0, y+14, title, svg.Style{Class: "strong"})
	y += 22
	row, labelWidth := c.labelled(24, 38, 4, len(items), func(i int) string { return items[i].Name })
	left := 0.0
	if !c.narrow() {
		left = labelWidth + 8
	}
	s := scale{false, 0, max(most, 1e-9), left, c.width - 60}
	for i := range items {
		p := &items[i]
		at := y
		if c.narrow() {
			c.Text(0, at+12, clipName(p.Name, smallSize, c.width), svg.Style{Class: "small"})
			at += 14
		} else {
			c.Text(labelWidth, at+16, clipName(p.Name, fontSize, labelWidth), svg.Style{Anchor: "end"})
		}
		y += row
		v := value(p)
		if !finite(v) {
			c.Text(left+2, at+16, "unknown", svg.Style{Class: "small soft"})
			continue
		}
		class := "bar"
		if solid(p) {
			class = "bar-main"
		}
		c.Rect(left, at+4, max(1, s.at(v)-left), 16, svg.Style{Class: class, Tip: c.tip(func() string {
			return fmt.Sprintf("%s: %s; $%s (%s)", p.Name, money(v), money(p.PriceUSD), p.PriceKind)
		})})
		c.Text(s.at(v)+6, at+16, "$"+money(v), svg.Style{Class: "small strong"})
	}
	c.Line(left, y-row*float64(len(items)), left, y, svg.Style{Class: "axis"})
	return y + 6
}

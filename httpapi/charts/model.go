package charts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"modeldex/dataset/record"
	"modeldex/snapshot/svg"
)

// commonMemory are memory sizes of cards and machines on sale, in GB of 2^30 bytes.
var commonMemory = []float64{1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 80, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192}

// MemoryData is what a model takes in memory, by size and context.
type MemoryData struct {
	Model  string // name
	Lines  []MemoryLine
	Source string
}

// MemoryLine is one size of a model.
type MemoryLine struct {
	Name   string
	Points []MemoryPoint // in order of context
}

// MemoryPoint is what a size takes at a context, in bytes.
type MemoryPoint struct {
	Context                int64 // tokens
	Weights, Cache, Buffer int64
	UpperBound             bool // a fact that would make it smaller is missing
}

func (p *MemoryPoint) gib() float64 { return float64(p.Weights+p.Cache+p.Buffer) / gib }

// Memory draws memory against context, with lines at common memory sizes.
func Memory(d MemoryData) *Figure {
	f := &Figure{
		Title: d.Model + ": memory against context", Source: d.Source,
		Note:    "Weights, key-value cache (f16) and compute buffer of one request under llama.cpp's rules, without the reserve. 1 GB is 2^30 bytes here. Both axes are logarithmic.",
		columns: []Column{{"Size", false}, {"Context (tokens)", true}, {"Weights (GB)", true}, {"KV cache (GB)", true}, {"Buffer (GB)", true}, {"Total (GB)", true}},
	}
	lines := slices.DeleteFunc(slices.Clone(d.Lines), func(l MemoryLine) bool { return len(l.Points) == 0 })
	low, high := math.Inf(1), 0.0
	var first, last int64 = math.MaxInt64, 0
	for _, l := range lines {
		for i := range l.Points {
			p := &l.Points[i]
			low, high = min(low, p.gib()), max(high, p.gib())
			first, last = min(first, p.Context), max(last, p.Context)
		}
	}
	f.rows = func() [][]Cell { return memoryRows(lines) }
	if len(lines) == 0 || low <= 0 || first <= 0 {
		f.Missing = "The facts about the model's layers that the size of the cache depends on are not published."
		return f
	}
	f.Summary = fmt.Sprintf("From %s GB to %s GB between %s and %s tokens of context.", short(low), short(high), tokens(first), tokens(last))
	f.draw = func(c *canvas) float64 { return drawMemory(c, lines, low, high, float64(first), float64(last)) }
	return f
}

// memoryRows are the values of a plot of memory.
func memoryRows(lines []MemoryLine) (rows [][]Cell) {
	for _, l := range lines {
		for i := range l.Points {
			p := &l.Points[i]
			bound := ""
			if p.UpperBound {
				bound = "at most "
			}
			rows = append(rows, []Cell{{Text: l.Name}, {Text: thousands(fmt.Sprint(p.Context))}, {Text: gb(p.Weights)}, {Text: bound + gb(p.Cache)}, {Text: gb(p.Buffer)}, {Text: bound + short(p.gib())}})
		}
	}
	return rows
}

func gb(bytes int64) string { return short(float64(bytes) / gib) }

func drawMemory(c *canvas, lines []MemoryLine, low, high, first, last float64) float64 {
	labelWidth := 0.0
	for _, l := range lines {
		labelWidth = max(labelWidth, min(90, boldWidth(l.Name, smallSize)))
	}
	a := &area{canvas: c, left: 52, top: 24, right: c.width - labelWidth - 12, bottom: 290}
	a.x = scale{true, first, max(last, first*2), a.left, a.right}
	a.y = newScale(true, memoryBelow(low), memoryAbove(high), a.bottom, a.top)
	var sizes []float64
	for _, v := range commonMemory {
		if !a.y.has(v) || len(sizes) > 0 && a.y.at(sizes[len(sizes)-1])-a.y.at(v) < 15 {
			continue
		}
		sizes = append(sizes, v)
	}
	a.yAxis("Memory (GB)", sizes, func(v float64) string { return short(v) + " GB" })
	a.xAxis("Context (tokens)", contextTicks(a.x), func(v float64) string { return tokens(int64(v)) })
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	endOf := func(i int) float64 { return a.y.at(lines[i].Points[len(lines[i].Points)-1].gib()) }
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(endOf(i), endOf(j)) })
	ends := make([]float64, len(order))
	for n, i := range order {
		ends[n] = endOf(i)
	}
	ends = spread(ends, 14, a.top, a.bottom)
	for n, i := range order {
		var through [][2]float64
		for p := range lines[i].Points {
			point := &lines[i].Points[p]
			through = append(through, [2]float64{a.x.at(float64(point.Context)), a.y.at(point.gib())})
		}
		a.Polyline(through, svg.Style{Class: lineClass(i)})
		for p := range lines[i].Points {
			point := &lines[i].Points[p]
			a.mark(through[p][0], through[p][1], 2.6, i, seriesClass(i), func() string {
				return fmt.Sprintf("%s at %s tokens: %s GB = %s weights + %s cache + %s buffer", lines[i].Name, tokens(point.Context), short(point.gib()), gb(point.Weights), gb(point.Cache), gb(point.Buffer))
			})
		}
		a.Text(a.right+8, ends[n]+4, clip(lines[i].Name, smallSize, labelWidth+2), svg.Style{Class: "small strong t" + string(rune('0'+i%4))})
	}
	return a.bottom + 40
}

// memoryBelow and memoryAbove are the next common memory sizes.
func memoryBelow(v float64) float64 {
	i, _ := slices.BinarySearch(commonMemory, v)
	return min(v, commonMemory[max(i-1, 0)])
}

func memoryAbove(v float64) float64 {
	i, _ := slices.BinarySearch(commonMemory, v)
	return max(v, commonMemory[min(i, len(commonMemory)-1)])
}

func lineClass(i int) string { return [...]string{"l0", "l1", "l2", "l3"}[i%4] }

// contextTicks are powers of two with room for their names.
func contextTicks(s scale) []float64 {
	var out []float64
	for v := 1024.0; v <= s.top*1.0001; v *= 2 {
		if v >= s.low && (len(out) == 0 || s.at(v)-s.at(out[len(out)-1]) > 34) {
			out = append(out, v)
		}
	}
	return out
}

// SizesData is the quantized sizes of a model.
type SizesData struct {
	Model  string
	Sizes  []Size
	Source string
}

// Size is one quantized size.
type Size struct {
	Name          string
	Bytes         int64
	BitsPerWeight float64 // NaN if unknown
	Published     bool    // the size of a real file, not worked out from bits and parameters
	Href          string  // where it was read, may be empty
}

const mostSizes = 28

// Sizes draws the sizes of the quantizations of a model.
func Sizes(d SizesData) *Figure {
	f := &Figure{
		Title: d.Model + ": sizes of its quantizations", Source: d.Source,
		columns: []Column{{"Quantization", false}, {"Size (GB)", true}, {"Bits per weight", true}, {"Basis", false}},
	}
	all := slices.DeleteFunc(slices.Clone(d.Sizes), func(s Size) bool { return s.Bytes <= 0 })
	slices.SortStableFunc(all, func(a, b Size) int {
		return cmp.Or(cmp.Compare(a.Bytes, b.Bytes), strings.Compare(a.Name, b.Name))
	})
	f.rows = func() (rows [][]Cell) {
		for _, s := range all {
			basis := "computed"
			if s.Published {
				basis = "published file"
			}
			rows = append(rows, []Cell{{Text: s.Name}, {Text: gb(s.Bytes)}, {Text: short(s.BitsPerWeight)}, {Text: basis, Href: s.Href}})
		}
		return rows
	}
	if len(all) == 0 {
		f.Missing = "No sizes are published, and the number of parameters to work them out from is not known."
		return f
	}
	shown := every(all, mostSizes)
	f.Note = "Bold bars: published files. Faint bars: computed from parameters and bits per weight. 1 GB is 2^30 bytes here."
	if len(shown) < len(all) {
		f.Note += fmt.Sprintf(" %d of %d sizes are drawn; the table has all.", len(shown), len(all))
	}
	f.Summary = fmt.Sprintf("%s from %s GB (%s) to %s GB (%s).", record.Counted(len(all), "size"), gb(all[0].Bytes), all[0].Name, gb(all[len(all)-1].Bytes), all[len(all)-1].Name)
	f.draw = func(c *canvas) float64 { return drawSizes(c, shown) }
	return f
}

// every keeps the first and the last of a list and, evenly spaced, as many between them as may be.
func every[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	out := make([]T, most)
	for i := range out {
		out[i] = all[i*(len(all)-1)/(most-1)]
	}
	return out
}

func drawSizes(c *canvas, sizes []Size) float64 {
	const row = 18.0
	nameWidth := 0.0
	for _, s := range sizes {
		nameWidth = max(nameWidth, textWidth(s.Name, smallSize))
	}
	nameWidth = min(nameWidth, c.width*0.34)
	a := &area{canvas: c, left: nameWidth + 8, top: 24, right: c.width - 46}
	a.bottom = a.top + row*float64(len(sizes)) + 4
	a.x = scale{false, 0, float64(sizes[len(sizes)-1].Bytes) / gib * 1.02, a.left, a.right}
	last := math.Inf(-1)
	for _, v := range commonMemory {
		if x := a.x.at(v); v >= 4 && x <= a.right && x-last > 44 {
			a.Line(x, a.top-4, x, a.bottom, svg.Style{Class: "mark-line"})
			a.text(x, a.top-9, short(v)+" GB", svg.Style{Class: "soft small", Anchor: "middle"})
			last = x
		}
	}
	for i, s := range sizes {
		y := a.top + row*float64(i)
		class := "bar"
		if s.Published {
			class = "bar-main"
		}
		size := float64(s.Bytes) / gib
		a.Text(nameWidth, y+13, clip(s.Name, smallSize, nameWidth), svg.Style{Class: "small", Anchor: "end"})
		a.Rect(a.left, y+3, max(1, a.x.at(size)-a.left), row-5, svg.Style{Class: class, Tip: c.tip(func() string {
			return fmt.Sprintf("%s: %s GB, %s bits per weight", s.Name, short(size), short(s.BitsPerWeight))
		})})
		a.text(a.x.at(size)+5, y+13, tenths(size), svg.Style{Class: "small halo"})
	}
	a.Line(a.left, a.top-2, a.left, a.bottom, svg.Style{Class: "axis"})
	a.text(a.right, a.bottom+15, "Size of the weights (GB)", svg.Style{Class: "soft small", Anchor: "end"})
	return a.bottom + 22
}

// SpeedsData is measured speeds by what they are grouped by: of a model by hardware.
type SpeedsData struct {
	Title  string // such as "gpt-oss 20b: measured speed by hardware"
	Group  string // what a row is, such as "Hardware"
	Rows   []SpeedRow
	Total  int    // rows there are, those that are left out included
	Runs   int    // runs there are, those that are left out included
	Main   string // quantization whose marks are filled
	Source string
}

// SpeedRow is the runs of one group.
type SpeedRow struct {
	Name, Href string
	Runs       []Run
}

// Run is one measurement.
type Run struct {
	ID           string // of the benchmark
	TPS          float64
	Quantization string
	Settings     string // in words
	Source       string // address of its source
}

// tip is the run in words. In a page, which has the addresses of sources as links, a host is enough.
func (r *Run) tip(c *canvas) string {
	source := r.Source
	if !c.framed {
		source = host(source)
	}
	return strings.Join(slices.DeleteFunc([]string{short(r.TPS) + " tok/s", r.Quantization, r.Settings, source}, func(s string) bool { return s == "" }), ", ")
}

// Speeds draws one dot for each run, in a row for each group, on a logarithmic axis.
func Speeds(d SpeedsData) *Figure {
	f := &Figure{
		Title: d.Title, Source: d.Source,
		columns: []Column{{d.Group, false}, {"Tok/s", true}, {"Quantization", false}, {"Settings", false}, {"Benchmark", false}, {"Source", false}},
	}
	rows := slices.DeleteFunc(slices.Clone(d.Rows), func(r SpeedRow) bool { return len(r.Runs) == 0 })
	low, high := math.Inf(1), 0.0
	runs := 0
	for i := range rows {
		r := &rows[i]
		r.Runs = slices.Clone(r.Runs)
		slices.SortStableFunc(r.Runs, func(a, b Run) int { return cmp.Or(-cmp.Compare(a.TPS, b.TPS), strings.Compare(a.ID, b.ID)) })
		r.Runs = slices.DeleteFunc(r.Runs, func(r Run) bool { return !finite(r.TPS) || r.TPS <= 0 })
	}
	rows = slices.DeleteFunc(rows, func(r SpeedRow) bool { return len(r.Runs) == 0 })
	slices.SortStableFunc(rows, func(a, b SpeedRow) int { return -cmp.Compare(middle(a.Runs), middle(b.Runs)) })
	for _, r := range rows {
		runs += len(r.Runs)
		low, high = min(low, r.Runs[len(r.Runs)-1].TPS), max(high, r.Runs[0].TPS)
	}
	f.rows = func() [][]Cell { return speedRows(rows) }
	if len(rows) == 0 {
		f.Missing = "No run of one stream is known."
		return f
	}
	f.Note = "One dot for each run of a single stream on one device; logarithmic axis, rows in order of their medians."
	if d.Main != "" {
		f.Note += " Filled: " + d.Main + ". Hollow: other quantizations."
	}
	if len(rows) < d.Total || runs < d.Runs {
		f.Note += fmt.Sprintf(" %s of %s rows and %s of %s runs are shown.", whole(len(rows)), whole(max(d.Total, len(rows))), whole(runs), whole(max(d.Runs, runs)))
	}
	f.Summary = fmt.Sprintf("%s, from %s to %s tok/s. Fastest by median: %s, %s.", count(runs, "run"), short(low), short(high), rows[0].Name, short(middle(rows[0].Runs)))
	f.draw = func(c *canvas) float64 { return drawSpeeds(c, rows, d.Main, low, high) }
	return f
}

// speedRows are the values of a plot of speeds.
func speedRows(shown []SpeedRow) (rows [][]Cell) {
	for _, r := range shown {
		for _, run := range r.Runs {
			rows = append(rows, []Cell{{Text: r.Name, Href: r.Href}, {Text: short(run.TPS)}, {Text: run.Quantization}, {Text: run.Settings}, {Text: run.ID, Href: benchmarkHref(run.ID)}, {Text: host(run.Source), Href: run.Source}})
		}
	}
	return rows
}

// middle is the median speed of sorted runs.
func middle(runs []Run) float64 {
	n := len(runs)
	return (runs[(n-1)/2].TPS + runs[n/2].TPS) / 2
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return thousands(fmt.Sprint(n)) + " " + noun + "s"
}

// host is the host of an address, for a short text.
func host(address string) string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	rest, _, _ = strings.Cut(rest, "/")
	return strings.TrimPrefix(rest, "www.")
}

func benchmarkHref(id string) string {
	if id == "" {
		return ""
	}
	return "/benchmarks/" + id
}

func drawSpeeds(c *canvas, rows []SpeedRow, main string, low, high float64) float64 {
	row, labelWidth := c.labelled(22, 34, 10, len(rows), func(i int) string { return rows[i].Name })
	a := &area{canvas: c, left: labelWidth + 8, top: 6, right: c.width - 8}
	a.bottom = a.top + row*float64(len(rows)) + 4
	a.x = newScale(true, low, high, a.left, a.right)
	a.xAxis("Generation speed (tok/s)", a.x.ticks(40), compact)
	for i, r := range rows {
		y := a.top + row*float64(i) + 13
		if c.narrow() {
			a.text(0, y, r.Name, svg.Style{Class: "small halo"})
			y += 13
		} else {
			a.Text(labelWidth, y+4, clipName(r.Name, fontSize, labelWidth), svg.Style{Anchor: "end"})
		}
		a.Line(a.left, y, a.right, y, svg.Style{Class: "grid"})
		for n := len(r.Runs) - 1; n >= 0; n-- {
			run := &r.Runs[n]
			class := "d0"
			if main != "" && run.Quantization != main {
				class = "open"
			}
			a.mark(a.x.at(run.TPS), y, 4, 0, class, func() string {
				return r.Name + ": " + run.tip(c)
			})
		}
	}
	return a.bottom + 40
}

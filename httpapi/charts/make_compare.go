package charts

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/index"
)

// hardwareComparison compares pieces of hardware.
func (m Maker) hardwareComparison() *comparison {
	return &comparison{
		preset: "compare", table: "hardware", field: index.Hardware, title: "The same measurements on ", row: "Model and quantization",
		name: m.hardwareName, other: index.Model, otherName: m.modelName,
	}
}

// CompareHardware draws the same measurements of several pieces of hardware side by side.
func (m Maker) CompareHardware(slugs []string) *Figure {
	c := m.hardwareComparison()
	return m.compare(c, slugs, m.groups(c, slugs))
}

// CompareHardwareAndPrices are the figures CompareHardware and HardwarePrices, whose runs are read once.
func (m Maker) CompareHardwareAndPrices(slugs []string) (speeds, prices *Figure) {
	c := m.hardwareComparison()
	groups := m.groups(c, slugs)
	return m.compare(c, slugs, groups), m.prices(slugs, groups)
}

// CompareModels draws the speed of several models on the same hardware side by side.
func (m Maker) CompareModels(slugs []string) *Figure {
	c := &comparison{
		preset: "compare-models", table: "models", field: index.Model, title: "The same measurements of ", row: "Hardware and quantization",
		name: m.modelName, other: index.Hardware, otherName: m.hardwareName,
	}
	return m.compare(c, slugs, m.groups(c, slugs))
}

// comparison is what is compared, and by what the measurements are the same.
type comparison struct {
	preset, table string // of the address of the figure, and of a page of what is compared
	field         index.Field
	title, row    string
	name          func(slug string) string
	other         index.Field
	otherName     func(slug string) string
}

func (m Maker) compare(c *comparison, slugs []string, groups []*group) *Figure {
	d := CompareData{Row: c.row}
	for _, slug := range slugs[:min(len(slugs), MostCompared)] {
		d.Series = append(d.Series, Series{c.name(slug), "/" + c.table + "/" + slug})
	}
	d.Rows, d.Total = m.sharedRows(c, slugs, groups)
	d.Title, d.Source = c.title+names(d.Series), m.source("; the table has every median")
	f := Compare(d)
	f.Address = address(c.preset, c.table, strings.Join(slugs, ","))
	return f
}

// group is the runs of one configuration on several things.
type group struct {
	name, quantization string
	runs               [][]measured // by place of the thing
	shared, total      int          // things with runs, runs
}

// groups gathers the runs of a comparison by its other field and the quantization, the most shared first.
func (m Maker) groups(c *comparison, slugs []string) []*group {
	byName := map[[2]string]*group{}
	slugs = slugs[:min(len(slugs), MostCompared)]
	for i, slug := range slugs {
		runs, _ := m.runs(c.field, slug)
		for _, r := range runs {
			key := [2]string{m.of(c.other, r), m.of(index.Quantization, r)}
			if key[1] == "" {
				continue
			}
			g := byName[key]
			if g == nil {
				g = &group{name: key[0], quantization: key[1], runs: make([][]measured, len(slugs))}
				byName[key] = g
			}
			if len(g.runs[i]) == 0 {
				g.shared++
			}
			g.runs[i] = append(g.runs[i], r)
			g.total++
		}
	}
	var out []*group
	for _, g := range byName {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *group) int {
		return cmp.Or(-cmp.Compare(a.shared, b.shared), -cmp.Compare(a.total, b.total), cmp.Compare(a.name, b.name), cmp.Compare(a.quantization, b.quantization))
	})
	return out
}

// sharedRows are the rows of the groups that at least two things share, and how many those are.
func (m Maker) sharedRows(c *comparison, slugs []string, groups []*group) (rows []CompareRow, total int) {
	for _, g := range groups {
		if g.shared < 2 {
			break
		}
		if total++; total > mostSame {
			continue
		}
		row := CompareRow{Name: c.otherName(g.name) + " " + g.quantization}
		for i, runs := range g.runs {
			row.Values = append(row.Values, m.spreadOf(c, slugs[i], g, runs))
		}
		rows = append(rows, row)
	}
	return rows, total
}

// spreadOf is the runs of the thing with the slug in one group. Several lead to the list of them.
func (m Maker) spreadOf(c *comparison, slug string, g *group, runs []measured) Spread {
	if len(runs) == 0 {
		return Spread{}
	}
	speeds := make([]Run, len(runs))
	for i, r := range runs {
		speeds[i] = Run{TPS: r.tps}
	}
	s := Spread{N: len(runs), Href: benchmarkHref(m.gen.Benchmarks.Slug(runs[0].ord))}
	if len(runs) > 1 {
		s.Href = m.ListOf(c.field, slug, c.other, g.name, g.quantization)
	}
	slices.SortFunc(speeds, func(a, b Run) int { return cmp.Compare(a.TPS, b.TPS) })
	s.Low, s.Mid, s.High = speeds[0].TPS, middle(speeds), speeds[len(speeds)-1].TPS
	return s
}

// HardwarePrices draws price per GB and per token per second of several pieces of hardware. The
// speed is that of the configuration most of them were measured with.
func (m Maker) HardwarePrices(slugs []string) *Figure {
	return m.prices(slugs, m.groups(m.hardwareComparison(), slugs))
}

func (m Maker) prices(slugs []string, groups []*group) *Figure {
	slugs = slugs[:min(len(slugs), MostCompared)]
	d := PricesData{Title: "What memory and speed cost", Source: m.source("; the table says which price")}
	model, quantization := "llama-3.1-8b-instruct", "Q4_K_M"
	if len(groups) > 0 && groups[0].shared > 1 {
		model, quantization = groups[0].name, groups[0].quantization
	}
	d.Work = m.modelName(model) + " " + quantization
	for _, slug := range slugs {
		h, _ := m.hardware(slug)
		item := PriceItem{Priced: h.priced(), TPS: math.NaN()}
		answer, fault := m.gen.Fit.Fit(fit.Query{Model: dataset.Slug(model), Quantization: quantization, Hardware: dataset.Slug(slug), BestOnly: true})
		if fault == nil && len(answer.Sizes) > 0 && answer.Sizes[0].Speed != nil && answer.Sizes[0].Speed.TPS != nil {
			item.TPS, item.Measured = *answer.Sizes[0].Speed.TPS, *answer.Sizes[0].Speed.Use == fit.UseMeasured
			item.Rests = "/fit?" + url.Values{"hardware": {slug}, "model": {model}, "quantization": {quantization}}.Encode() + "#rests"
		}
		d.Items = append(d.Items, item)
	}
	f := Prices(d)
	f.Address = address("prices", "hardware", strings.Join(slugs, ","))
	return f
}

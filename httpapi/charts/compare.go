package charts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"modeldex/dataset/text"
	"modeldex/httpapi/rowjson"
	"modeldex/index"
)

// MostCompared is how many things a comparison has at most: there are four marks that differ without colour.
const MostCompared = 4

// comparison is what is compared, and by what the measurements are the same.
type comparison struct {
	preset, table   string // of the address of the figure, and of a page of what is compared
	title, row      string
	field, other    index.Field
	name, otherName func(slug string) string
}

// CompareHardware draws the same measurements of several pieces of hardware side by side.
func (m Maker) CompareHardware(slugs []string) *Figure {
	return m.compare(comparison{
		"compare", "hardware", "Matching benchmarks: ", "Model and quantization", index.Hardware, index.Model, m.hardwareName, m.modelName,
	}, slugs)
}

// CompareModels draws the speed of several models on the same hardware side by side.
func (m Maker) CompareModels(slugs []string) *Figure {
	return m.compare(comparison{
		"compare-models", "models", "Matching benchmarks: ", "Hardware and quantization", index.Model, index.Hardware, m.modelName, m.hardwareName,
	}, slugs)
}

type group struct {
	name, quantization string
	runs               [][]run // by place of the thing
	shared, total      int     // things with runs, runs
	released           string  // day of the model or hardware
}

// MostShared is the model and quantization measured on the most of the given hardware; empty if no two have one in
// common.
func (m Maker) MostShared(slugs []string) (model, quantization string) {
	groups := m.groups(index.Hardware, index.Model, slugs)
	if len(groups) == 0 || groups[0].shared < 2 {
		return "", ""
	}
	return groups[0].name, groups[0].quantization
}

// groups gathers the runs of records, which field has, by another field and the quantization: the most shared first, then
// the newest.
func (m Maker) groups(field, other index.Field, slugs []string) (out []*group) {
	byName := map[[2]string]*group{}
	for i, slug := range slugs {
		runs, _ := m.runsOf(is(field, slug))
		for _, r := range runs {
			key := [2]string{m.of(other, r), m.of(index.Quantization, r)}
			if key[1] == "" {
				continue
			}
			g := byName[key]
			if g == nil {
				g = &group{name: key[0], quantization: key[1], runs: make([][]run, len(slugs)), released: m.released(other, key[0])}
				byName[key] = g
				out = append(out, g)
			}
			if len(g.runs[i]) == 0 {
				g.shared++
			}
			g.runs[i] = append(g.runs[i], r)
			g.total++
		}
	}
	slices.SortFunc(out, func(a, b *group) int {
		return cmp.Or(-cmp.Compare(a.shared, b.shared), -cmp.Compare(a.released, b.released), -cmp.Compare(a.total, b.total), cmp.Compare(a.name, b.name), cmp.Compare(a.quantization, b.quantization))
	})
	return out
}

// released is the day of release of what a run is of, empty if it is not known.
func (m Maker) released(field index.Field, slug string) string {
	t := m.gen.Models
	if field == index.Hardware {
		t = m.gen.Hardware
	}
	if ord, ok := t.Find(slug); ok {
		return rowjson.Text(t.Row(ord), "release_date")
	}
	return ""
}

// compare draws the median of each item in each shared configuration, with a line from the slowest run to the fastest.
func (m Maker) compare(c comparison, slugs []string) *Figure {
	slugs = slugs[:min(len(slugs), MostCompared)]
	f := &Figure{
		Source: m.source(), Address: address(c.preset, c.table, strings.Join(slugs, ",")),
		Note:    "Marks show the median of the benchmarks with one request on one device, lines the range from slowest to fastest. The axis is logarithmic.",
		Missing: "No benchmarks with the same settings.",
		Columns: []string{c.row},
	}
	out := &rows{axis: "Generation speed (tok/s)"}
	for _, slug := range slugs {
		out.series = append(out.series, c.name(slug))
	}
	f.Columns = append(f.Columns, out.series...)
	f.Title = c.title + strings.Join(out.series, ", ")
	groups := m.groups(c.field, c.other, slugs)
	if first := slices.IndexFunc(groups, func(g *group) bool { return g.shared < 2 }); first >= 0 {
		groups = groups[:first]
	}
	shown := groups[:min(len(groups), mostSame)]
	for _, g := range shown {
		r := row{name: c.otherName(g.name) + " " + g.quantization}
		cells := []Cell{{Text: r.name}}
		for i, runs := range g.runs {
			if len(runs) == 0 {
				cells = append(cells, Cell{Text: text.Unknown})
				continue
			}
			m.fastestFirst(runs)
			mark := rowMark{at: middle(runs), low: runs[len(runs)-1].tps, high: runs[0].tps, series: i, class: markClass(i)}
			cell := Cell{Text: text.Tenths(mark.at), Note: "(1 benchmark)", Href: "/benchmarks/" + m.gen.Benchmarks.Slug(runs[0].ord)}
			if len(runs) > 1 {
				cell.Note = fmt.Sprintf("(%s, %s to %s)", text.Count(len(runs), "benchmark", "benchmarks"), text.Rounded(mark.low), text.Rounded(mark.high))
				cell.Href = m.ListOf(c.field, slugs[i], c.other, g.name, g.quantization)
			}
			mark.tip = fmt.Sprintf("%s, %s: %s %s", out.series[i], r.name, cell.Text, cell.Note)
			r.marks, cells = append(r.marks, mark), append(cells, cell)
		}
		out.rows, f.Rows = append(out.rows, r), append(f.Rows, cells)
	}
	if f.drawn(out); f.Empty() {
		f.Note = ""
		return f
	}
	if len(shown) < len(groups) {
		f.Note += fmt.Sprintf(" Showing %s of %s configurations.", text.Whole(len(shown)), text.Whole(len(groups)))
	}
	f.Summary = fmt.Sprintf("%s with benchmarks of at least two of %s.", text.Count(len(shown), "configuration", "configurations"), strings.Join(out.series, ", "))
	return f
}

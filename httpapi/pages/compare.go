package pages

import (
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// MostCompared is how many records a comparison has at most.
const MostCompared = charts.MostCompared

// CompareQuery is what a comparison is of: hardware or models, by slug, all of them known.
type CompareQuery struct {
	Hardware, Models []string
	Notes            []string // how names were read
}

// Compare is records side by side.
type Compare struct {
	Sheet
	Kind    string   // hardware or models
	Names   []string // of what is compared
	Chosen  []string // names to be changed in the form
	Choices Choices
	Other   Link // the comparison of the other kind
}

// Compare is the page of a comparison.
func (s *Site) Compare(gen *index.Generation, q *CompareQuery, at Place) *Compare {
	v := &Compare{Kind: "hardware", Choices: mostMeasured(gen.Hardware), Other: Link{Text: "Compare models instead", Href: "/compare?models=llama-3.1-8b-instruct,qwen3-8b"}}
	v.Sheet = Sheet{Heading: "Compare", Notes: q.Notes, Lead: "Compare up to four models, or up to four graphics cards, Macs or other hardware."}
	v.Frame = s.frame(gen, at, "/compare", "Compare", "Hardware or models side by side: specs, matching benchmarks, and price per GB and per token per second.")
	v.Styles = []string{"charts.css"}
	draw, slugs := charts.For(gen), q.Hardware
	if len(q.Hardware) > 0 {
		v.Tables = []Table{sameTable(draw.CompareHardware(slugs), index.Hardware, slugs, at.Base), costTable(gen, slugs), factsBeside(gen, v.Kind, hardwareFields, slugs)}
	} else if slugs = q.Models; len(slugs) > 0 {
		v.Kind, v.Choices = "models", mostMeasured(gen.Models)
		v.Other = Link{Text: "Compare hardware instead", Href: "/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090"}
		v.Tables = []Table{sameTable(draw.CompareModels(slugs), index.Model, slugs, at.Base), factsBeside(gen, v.Kind, modelFields, slugs)}
	}
	if len(slugs) > 0 {
		n := newNames(gen)
		for _, slug := range slugs {
			v.Names = append(v.Names, n.of(v.Kind, dataset.Slug(slug)))
		}
		v.Heading, v.Lead = strings.Join(v.Names, "\u00a0· "), ""
		v.Title, v.Forms = "Compare: "+v.Heading, forms(at, "json", "csv", "md")
	}
	v.Chosen = append(slices.Clone(v.Names), make([]string, MostCompared-len(v.Names))...)
	return v
}

// HTML is the page.
func (v *Compare) HTML() []byte { return v.site.render("compare.html", v) }

// sameTable is the same measurements of what is compared, which field has: the drawing above its values.
func sameTable(f *charts.Figure, field index.Field, slugs []string, base string) Table {
	prompts := url.Values{string(field): {strings.Join(slugs, ",")}, "settings": {index.SingleStream}, "sort": {"-" + string(index.PromptTPS)}}
	t := Table{
		ID: "speed", Title: "Benchmarks with the same settings (tok/s)", Empty: f.Missing, Plot: plot(f, "plot-speed", base),
		More: &Link{Text: "Benchmarks sorted by prompt speed", Href: "/explore/benchmarks?" + prompts.Encode()},
	}
	for i, name := range f.Columns {
		t.Columns = append(t.Columns, Column{Text: name, Number: i > 0})
	}
	for _, row := range f.Rows {
		cells := make([]Cell, len(row))
		for i, c := range row {
			cells[i] = Cell{Text: c.Text, Note: c.Note, Href: c.Href}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// costTable is what memory and speed of several machines cost. The speed is that of the configuration most of them were
// measured with.
func costTable(gen *index.Generation, slugs []string) Table {
	model, quantization := charts.For(gen).MostShared(slugs)
	if model == "" {
		model, quantization = "llama-3.1-8b-instruct", "Q4_K_M"
	}
	t := Table{
		ID: "prices", Title: "Price per GB and per token per second",
		Intro:   "Lower is better. Speed is for " + newNames(gen).of("models", dataset.Slug(model)) + " " + quantization + ".",
		Columns: columns("Hardware", "#Price", "Condition", "#Memory (GB)", "#Per GB", "#Tok/s", "Basis", "#Per tok/s"),
	}
	per := func(price, of *float64) Cell {
		if price == nil || of == nil || *of <= 0 {
			return cell("")
		}
		return Cell{Text: text.Dollars(*price / *of)}
	}
	for _, slug := range slugs {
		ord, _ := gen.Hardware.Find(slug)
		h := decode[rows.Hardware](gen.Hardware.Row(ord))
		price, kind := priceOf(h)
		row := []Cell{{Text: h.Name, Href: "/hardware/" + slug}, known(price, text.Dollars), kind, known(h.VRAMGB, text.Exact), per(price, h.VRAMGB), cell(""), cell(""), cell("")}
		answer, fault := gen.Fit.Fit(fit.Query{Model: dataset.Slug(model), Quantization: quantization, Hardware: h.Slug, BestOnly: true})
		if fault == nil && len(answer.Sizes) > 0 && answer.Sizes[0].Speed != nil && answer.Sizes[0].Speed.TPS != nil {
			speed := answer.Sizes[0].Speed
			row[5] = Cell{Text: text.Tenths(*speed.TPS)}
			row[6] = basisCell(speed.Use, speedOf(model, fit.Query{Hardware: h.Slug}, quantization))
			row[7] = per(price, speed.TPS)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// factsBeside is a table with a row for each fact and a column for each record. A fact that no record has is left out.
func factsBeside(gen *index.Generation, kind string, groups []fieldGroup, slugs []string) Table {
	t, table, n := Table{ID: "facts", Title: "Details", Columns: columns("Detail")}, tableOf(gen, kind), newNames(gen)
	records := make([]map[string]any, len(slugs))
	for i, slug := range slugs {
		ord, _ := table.Find(slug)
		records[i] = *decode[map[string]any](table.Row(ord))
		t.Columns = append(t.Columns, Column{Text: n.of(kind, dataset.Slug(slug)), Href: "/" + kind + "/" + slug})
	}
	for _, g := range groups {
		for i := range g.fields {
			if g.fields[i].alone {
				continue
			}
			row, some := []Cell{{Text: g.fields[i].label}}, false
			for _, r := range records {
				c := cell("")
				for _, fact := range g.fields[i].facts(n, r) {
					c, some = fact.Value, true
					c.Note = fact.Note
				}
				row = append(row, c)
			}
			if some {
				t.Rows = append(t.Rows, row)
			}
		}
	}
	return t
}

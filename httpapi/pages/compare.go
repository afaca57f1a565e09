package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/httpapi/charts"
	"modeldex/index"
)

// MostCompared is how many records a comparison has at most.
const MostCompared = charts.MostCompared

// CompareQuery is what a comparison is of: hardware or models, by slug, all of them known.
type CompareQuery struct {
	Hardware, Models []string
	Notes            []string
}

// Compare is records side by side.
type Compare struct {
	Sheet
	Kind    string   // hardware or models
	Names   []string // of what is compared, for the heading
	Chosen  []string
	Choices Choices
	Other   Link // the comparison of the other kind
}

// between separates names in a heading; no line begins with the dot.
const between = "\u00a0· "

// Compare is the page of a comparison.
func (s *Site) Compare(gen *index.Generation, q *CompareQuery, at Place) *Compare {
	v := &Compare{Kind: "hardware", Chosen: q.Hardware, Choices: mostMeasured(gen.Hardware), Other: Link{Text: "Compare models instead", Href: "/compare?models=llama-3.1-8b-instruct,qwen3-8b"}}
	v.Sheet = Sheet{Frame: Frame{
		site: s, Place: at, Title: "Compare", Section: "/compare", Canonical: "/compare", Dataset: stampOf(gen), Unlisted: at.Query != "",
		Description: "Hardware or models side by side: facts, the same measurements, price per GB and per token per second.",
		Scripts:     []string{"app.js"}, Styles: []string{"charts.css"},
	}, Heading: "Compare", Notes: q.Notes, Lead: "Up to four pieces of hardware, or models, side by side: their facts, and the same measurements on each."}
	draw := charts.For(gen)
	if len(q.Hardware) > 0 {
		v.Tables = []Table{sameTable(draw.CompareHardware(q.Hardware), index.Hardware, q.Hardware, at.Base), costTable(gen, q.Hardware), hardwareFacts(gen, q.Hardware)}
	} else if len(q.Models) > 0 {
		v.Kind, v.Chosen, v.Choices = "models", q.Models, mostMeasured(gen.Models)
		v.Other = Link{Text: "Compare hardware instead", Href: "/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090"}
		v.Tables = []Table{sameTable(draw.CompareModels(q.Models), index.Model, q.Models, at.Base), modelFacts(gen, q.Models)}
	}
	if len(v.Tables) > 0 {
		n := newNames(gen)
		for _, slug := range v.Chosen {
			v.Names = append(v.Names, n.of(v.Kind, dataset.Slug(slug)))
		}
		v.Heading = strings.Join(v.Names, between)
		v.Title, v.Lead = "Compare: "+v.Heading, ""
		v.Forms = forms(at, "json", "csv", "md")
	}
	v.Chosen = append(slices.Clone(v.Chosen), make([]string, MostCompared-len(v.Chosen))...)
	return v
}

// HTML is the page.
func (v *Compare) HTML() []byte { return v.site.render("compare.html", v) }

// sameTable is the same measurements of what is compared, which field has: the drawing above its values.
func sameTable(f *charts.Figure, field index.Field, slugs []string, base string) Table {
	prompts := url.Values{string(field): {strings.Join(slugs, ",")}, "settings": {index.SingleStream}, "sort": {"-" + string(index.PromptTPS)}}
	t := Table{
		ID: "speed", Title: "The same measurements", Empty: f.Missing, Plot: plot(f, "plot-speed", base),
		More: &Link{Text: "How fast they read prompts", Href: "/explore/benchmarks?" + prompts.Encode()},
	}
	if t.Plot != nil {
		t.Plot.Said = true
	}
	for _, c := range f.Table.Columns {
		t.Columns = append(t.Columns, Column{Text: c.Name, Number: c.Number})
	}
	for _, row := range f.Table.Rows {
		cells := make([]Cell, len(row))
		for i, c := range row {
			cells[i] = Cell{Text: c.Text, Note: c.Note, Href: c.Href}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// costTable is what memory and speed of several pieces of hardware cost. The speed is that of the configuration most
// of them were measured with.
func costTable(gen *index.Generation, slugs []string) Table {
	model, quantization := charts.For(gen).MostShared(slugs)
	if model == "" {
		model, quantization = "llama-3.1-8b-instruct", "Q4_K_M"
	}
	t := Table{
		ID: "prices", Title: "What memory and speed cost",
		Intro:   "Less is better. Speeds are of " + newNames(gen).of("models", dataset.Slug(model)) + " " + quantization + ".",
		Columns: columns("Hardware", "#Price", "Price is", "#Memory, GB", "#Dollars per GB", "#Tok/s", "Speed is", "#Dollars per tok/s"),
	}
	per := func(price, of *float64) Cell {
		if price == nil || of == nil || *of <= 0 {
			return cell("")
		}
		return Cell{Text: text.Dollars(*price / *of)}
	}
	for _, h := range records[hardwareRecord](gen.Hardware, slugs) {
		price, kind := h.StreetPriceUSD, Cell{Text: "street", Note: joined(str(h.StreetPriceCondition), str(h.StreetPriceDate)), Href: webAddress(str(h.StreetPriceSource))}
		if price == nil {
			price, kind = h.LaunchPriceUSD, Cell{Text: "launch", Note: str(h.ReleaseDate)}
		}
		if price == nil {
			kind = cell("")
		}
		answer, fault := gen.Fit.Fit(fit.Query{Model: dataset.Slug(model), Quantization: quantization, Hardware: h.Slug, BestOnly: true})
		var tps *float64
		speed, basis := cell(""), cell("")
		if fault == nil && len(answer.Sizes) > 0 && answer.Sizes[0].Speed != nil && answer.Sizes[0].Speed.TPS != nil {
			tps = answer.Sizes[0].Speed.TPS
			speed = Cell{Text: text.Tenths(*tps), Href: speedOf(model, string(h.Slug), quantization, nil)}
			switch basis.Text = "estimated"; *answer.Sizes[0].Speed.Use {
			case fit.UseMeasured:
				basis.Text = "measured"
			case fit.UseSibling:
				basis.Text = "measured" + onSibling
			}
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: h.Name, Href: "/hardware/" + string(h.Slug)}, known(price, text.Dollars), kind, known(h.VRAMGB, text.Exact), per(price, h.VRAMGB), speed, basis, per(price, tps),
		})
	}
	return t
}

// factsBeside is a table with a row for each fact and a column for each record. A fact that no record has is left out.
func factsBeside[T any](gen *index.Generation, kind string, slugs []string, facts []beside[T]) Table {
	t := Table{ID: "facts", Title: "Facts", Columns: columns("Fact")}
	n := newNames(gen)
	for _, slug := range slugs {
		t.Columns = append(t.Columns, Column{Text: n.of(kind, dataset.Slug(slug)), Href: "/" + kind + "/" + slug})
	}
	of := records[T](tableOf(gen, kind), slugs)
	for _, fact := range facts {
		row, some := []Cell{{Text: fact.label}}, false
		for _, r := range of {
			c := fact.cell(r)
			if !c.Known() {
				c = cell("")
			}
			some = some || c.Known()
			row = append(row, c)
		}
		if some {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// beside is a fact of a comparison.
type beside[T any] struct {
	label string
	cell  func(r *T) Cell
}

// inUnit prints numbers with their unit.
func inUnit(unit string) func(float64) string {
	return func(v float64) string { return text.Exact(v) + " " + unit }
}

func (c Cell) noted(note string) Cell { c.Note = note; return c }

func releasedCell(h *hardwareRecord) Cell {
	return cell(cmp.Or(str(h.ReleaseDate), str(h.ReleaseQuarter)))
}

func hardwareFacts(gen *index.Generation, slugs []string) Table {
	type hardware = hardwareRecord
	return factsBeside(gen, "hardware", slugs, []beside[hardware]{
		{"Kind", func(h *hardware) Cell { return cell(vendorName(string(h.Vendor)) + " " + typeName(string(h.Type))) }},
		{"Released", releasedCell},
		{"Architecture", func(h *hardware) Cell { return cell(str(h.Architecture)) }},
		{"Memory", func(h *hardware) Cell { return known(h.VRAMGB, inUnit("GB")).noted(str(h.MemoryType)) }},
		{"Unified memory", func(h *hardware) Cell { return cell(yesNo(h.UnifiedMemory)) }},
		{"Bandwidth", func(h *hardware) Cell { return known(h.MemoryBandwidthGBps, inUnit("GB/s")) }},
		{"FP16", func(h *hardware) Cell { return known(h.FP16TFLOPS, inUnit("TFLOPS")).noted(str(h.FP16Basis)) }},
		{"Power", func(h *hardware) Cell { return known(h.TDPWatts, inUnit("W")) }},
		{"Price at launch", func(h *hardware) Cell { return known(h.LaunchPriceUSD, text.Dollars) }},
		{"Street price", func(h *hardware) Cell {
			c := known(h.StreetPriceUSD, text.Dollars).noted(joined(str(h.StreetPriceCondition), str(h.StreetPriceDate)))
			c.Href = webAddress(str(h.StreetPriceSource))
			return c
		}},
		{"Backends seen", func(h *hardware) Cell { return cell(strings.Join(h.Backends, ", ")) }},
		{"Models that fit", func(h *hardware) Cell {
			n, fault := gen.Fit.Count(fit.Query{Hardware: h.Slug})
			if fault != nil || n == 0 && len(gen.Fit.Unpublished(h.Slug)) > 0 {
				return cell("") // unknown, not none
			}
			return Cell{Text: text.Whole(n), Href: address("/fit", "hardware", string(h.Slug))}
		}},
		{"Runs", func(h *hardware) Cell {
			return Cell{Text: text.Whole(h.BenchmarkCountWithVariants), Href: address("/explore/benchmarks", "hardware", string(h.Slug))}
		}},
	})
}

func modelFacts(gen *index.Generation, slugs []string) Table {
	type model = modelRecord
	facts := []beside[model]{
		{"Maker", func(m *model) Cell { return cell(m.Organization) }},
		{"Released", func(m *model) Cell { return cell(str(m.ReleaseDate)) }},
		{"Licence", func(m *model) Cell { return cell(str(m.License)) }},
		{"Parameters", func(m *model) Cell { return billions(m.ParamsB) }},
		{"Active per token", func(m *model) Cell {
			if str(m.Architecture.Type) == "dense" && m.ActiveParamsB == nil {
				return cell("all")
			}
			return billions(m.ActiveParamsB)
		}},
		{"Blocks", func(m *model) Cell { return cell(blocks(str(m.Architecture.Type))) }},
		{"Context", func(m *model) Cell { return known(m.Architecture.ContextLength, text.Tokens) }},
		{"Input and output", func(m *model) Cell { return cell(join(m.Modalities)) }},
		{"Intelligence", func(m *model) Cell {
			if m.Intelligence == nil || m.Intelligence.Score == nil {
				return cell("")
			}
			return Cell{Text: text.Tenths(*m.Intelligence.Score), Note: string(m.Intelligence.Confidence) + " confidence", Href: "/snapshots"}
		}},
	}
	for _, name := range []string{"Q4_K_M", "Q8_0"} {
		for _, context := range []int64{8192, 32768} {
			facts = append(facts, beside[model]{name + " with " + text.Tokens(context) + " context", func(m *model) Cell {
				answer, fault := gen.Fit.Fit(fit.Query{Model: m.Slug, MemoryGB: 1e6, Context: context})
				if fault != nil || sizeNamed(answer, name) == nil {
					return cell("")
				}
				return known(sizeNamed(answer, name).Memory.Total, text.GiB)
			}})
		}
	}
	facts = append(facts, beside[model]{"Runs", func(m *model) Cell {
		return Cell{Text: text.Whole(m.BenchmarkCountWithVariants), Href: address("/explore/benchmarks", "model", string(m.Slug))}
	}})
	return factsBeside(gen, "models", slugs, facts)
}

// records decodes the records with the slugs, which are all there.
func records[T any](t *index.Table, slugs []string) []*T {
	out := make([]*T, len(slugs))
	for i, slug := range slugs {
		ord, _ := t.Find(slug)
		out[i] = decode[T](t.Row(ord))
	}
	return out
}

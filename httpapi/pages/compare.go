package pages

import (
	"cmp"
	"net/url"
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
		Place: at, Title: "Compare", Section: "/compare", Canonical: "/compare", Dataset: stampOf(gen), Unlisted: at.Query != "",
		Description: "Hardware or models side by side: facts, the same measurements, price per GB and per token per second.",
		Scripts:     []string{"app.js"}, Styles: []string{"charts.css"},
	}, Heading: "Compare", Notes: q.Notes, Lead: "Up to four pieces of hardware, or models, side by side: their facts, and the same measurements on each."}
	draw := charts.For(gen)
	switch {
	case len(q.Hardware) > 0:
		v.Names = namesOf(gen, "hardware", q.Hardware)
		same := figureTable("speed", "The same measurements", draw.CompareHardware(q.Hardware), at.Base)
		same.More = byPrompt("hardware", q.Hardware)
		v.Tables = append(v.Tables, same, costTable(gen, q.Hardware), hardwareFacts(gen, q.Hardware))
	case len(q.Models) > 0:
		v.Names = namesOf(gen, "models", q.Models)
		same := figureTable("speed", "The same measurements", draw.CompareModels(q.Models), at.Base)
		same.More = byPrompt("model", q.Models)
		v.Tables = append(v.Tables, same, modelFacts(gen, q.Models))
	}
	if len(q.Models) > 0 {
		v.Kind, v.Chosen, v.Choices = "models", q.Models, mostMeasured(gen.Models)
		v.Other = Link{Text: "Compare hardware instead", Href: "/compare?hardware=nvidia-rtx-3090,nvidia-rtx-4090"}
	}
	if len(v.Tables) > 0 {
		v.Heading = strings.Join(v.Names, between)
		v.Title, v.Lead = "Compare: "+v.Heading, ""
		v.Forms = forms(at, "json", "csv", "md")
	}
	for len(v.Chosen) < MostCompared {
		v.Chosen = append(v.Chosen[:len(v.Chosen):len(v.Chosen)], "")
	}
	return v
}

// byPrompt leads to the runs of what is compared by how fast prompts were read, which the comparison does not have.
func byPrompt(field string, slugs []string) *Link {
	q := url.Values{field: {strings.Join(slugs, ",")}, "settings": {index.SingleStream}, "sort": {"-" + string(index.PromptTPS)}}
	return &Link{Text: "How fast they read prompts", Href: "/explore/benchmarks?" + q.Encode(), NoFollow: true}
}

// CompareHTML is the page.
func (s *Site) CompareHTML(v *Compare) []byte { return s.render("compare.html", v) }

func namesOf(gen *index.Generation, kind string, slugs []string) []string {
	n := newNames(gen)
	out := make([]string, len(slugs))
	for i, slug := range slugs {
		out[i] = n.of(kind, dataset.Slug(slug))
	}
	return out
}

// figureTable is the drawing of a figure above its values.
func figureTable(id, title string, f *charts.Figure, base string) Table {
	t := Table{ID: id, Title: title, Empty: f.Missing, Plot: plot(f, "plot-"+id, base)}
	if t.Plot != nil && strings.HasPrefix(t.Plot.Title, title) {
		t.Plot.Said = true
	}
	values := f.Table
	for _, c := range values.Columns {
		t.Columns = append(t.Columns, Column{Text: c.Name, Number: c.Number})
	}
	for _, row := range values.Rows {
		cells := make([]Cell, len(row))
		for i, c := range row {
			cells[i] = Cell{Text: c.Text, Note: c.Note, NoFollow: strings.Contains(c.Href, "?")}
			if strings.HasPrefix(c.Href, "/") || webAddress(c.Href) != "" {
				cells[i].Href = c.Href
			}
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
		Columns: []Column{{Text: "Hardware"}, {Text: "Price", Number: true}, {Text: "Price is"}, {Text: "Memory, GB", Number: true}, {Text: "Dollars per GB", Number: true}, {Text: "Tok/s", Number: true}, {Text: "Speed is"}, {Text: "Dollars per tok/s", Number: true}},
	}
	per := func(price, of *float64) Cell {
		if price == nil || of == nil || *of <= 0 {
			return textCell("")
		}
		return Cell{Text: text.Dollars(*price / *of)}
	}
	for _, h := range records[hardwareRecord](gen.Hardware, slugs) {
		price, kind := h.StreetPriceUSD, Cell{Text: "street", Note: strings.TrimSpace(str(h.StreetPriceCondition) + " " + str(h.StreetPriceDate)), Href: webAddress(str(h.StreetPriceSource))}
		if price == nil {
			price, kind = h.LaunchPriceUSD, Cell{Text: "launch", Note: str(h.ReleaseDate)}
		}
		if price == nil {
			kind = textCell("")
		}
		answer, fault := gen.Fit.Fit(fit.Query{Model: dataset.Slug(model), Quantization: quantization, Hardware: h.Slug, BestOnly: true})
		var tps *float64
		speed, basis := textCell(""), textCell("")
		if fault == nil && len(answer.Sizes) > 0 && answer.Sizes[0].Speed != nil && answer.Sizes[0].Speed.TPS != nil {
			tps = answer.Sizes[0].Speed.TPS
			speed = Cell{Text: text.Tenths(*tps), Href: speedOf(model, string(h.Slug), quantization, nil), NoFollow: true}
			if basis.Text = "estimated"; *answer.Sizes[0].Speed.Use == fit.UseMeasured {
				basis.Text = "measured"
			}
		}
		t.Rows = append(t.Rows, []Cell{{Text: h.Name, Href: "/hardware/" + string(h.Slug)}, priceCell(price), kind, numberCell(h.VRAMGB), per(price, h.VRAMGB), speed, basis, per(price, tps)})
	}
	return t
}

// sideBySide is a table with a row for each fact and a column for each record. A fact no record has is
// left out.
type sideBySide struct {
	Table
	columns int
}

func newSideBySide(names *names, kind string, slugs []string) *sideBySide {
	t := &sideBySide{Table{ID: "facts", Title: "Facts", Columns: []Column{{Text: "Fact"}}}, len(slugs)}
	for _, slug := range slugs {
		t.Columns = append(t.Columns, Column{Text: names.of(kind, dataset.Slug(slug)), Href: "/" + kind + "/" + slug})
	}
	return t
}

func (t *sideBySide) add(label string, cell func(i int) Cell) {
	row, known := []Cell{{Text: label}}, false
	for i := range t.columns {
		c := cell(i)
		known = known || c.Known()
		if !c.Known() {
			c = textCell("")
		}
		row = append(row, c)
	}
	if known {
		t.Rows = append(t.Rows, row)
	}
}

func unitCell(v *float64, unit string) Cell {
	if v == nil {
		return Cell{}
	}
	return Cell{Text: withUnit(text.Exact(*v), unit)}
}

func hardwareFacts(gen *index.Generation, slugs []string) Table {
	t := newSideBySide(newNames(gen), "hardware", slugs)
	recs := records[hardwareRecord](gen.Hardware, slugs)
	t.add("Kind", func(i int) Cell {
		return Cell{Text: vendorName(recs[i].Vendor) + " " + cmp.Or(typeNames[recs[i].Type], string(recs[i].Type))}
	})
	t.add("Released", func(i int) Cell {
		return Cell{Text: cmp.Or(dateText(recs[i].ReleaseDate), str(recs[i].ReleaseQuarter))}
	})
	t.add("Architecture", func(i int) Cell { return Cell{Text: str(recs[i].Architecture)} })
	t.add("Memory", func(i int) Cell {
		c := unitCell(recs[i].VRAMGB, "GB")
		c.Note = str(recs[i].MemoryType)
		return c
	})
	t.add("Unified memory", func(i int) Cell { return Cell{Text: yesNo(recs[i].UnifiedMemory)} })
	t.add("Bandwidth", func(i int) Cell { return unitCell(recs[i].MemoryBandwidthGBps, "GB/s") })
	t.add("FP16", func(i int) Cell {
		c := unitCell(recs[i].FP16TFLOPS, "TFLOPS")
		c.Note = str(recs[i].FP16Basis)
		return c
	})
	t.add("Power", func(i int) Cell { return unitCell(recs[i].TDPWatts, "W") })
	t.add("Price at launch", func(i int) Cell { return priceOrNone(recs[i].LaunchPriceUSD) })
	t.add("Street price", func(i int) Cell {
		c := priceOrNone(recs[i].StreetPriceUSD)
		c.Href = webAddress(str(recs[i].StreetPriceSource))
		c.Note = strings.TrimSpace(str(recs[i].StreetPriceCondition) + " " + dateText(recs[i].StreetPriceDate))
		return c
	})
	t.add("Backends seen", func(i int) Cell { return Cell{Text: strings.Join(recs[i].Backends, ", ")} })
	t.add("Models that fit", func(i int) Cell {
		n, fault := gen.Fit.Count(fit.Query{Hardware: recs[i].Slug})
		if fault != nil || n == 0 && len(gen.Fit.Unpublished(recs[i].Slug)) > 0 {
			return Cell{} // unknown, not none
		}
		return Cell{Text: text.Whole(n), Href: "/fit?hardware=" + url.QueryEscape(slugs[i]), NoFollow: true}
	})
	t.add("Runs", func(i int) Cell {
		return Cell{Text: text.Whole(recs[i].BenchmarkCountWithVariants), Href: "/explore/benchmarks?hardware=" + url.QueryEscape(slugs[i]), NoFollow: true}
	})
	return t.Table
}

// billions is a number of parameters.
func billions(v *float64) Cell {
	if v == nil {
		return Cell{}
	}
	return Cell{Text: text.Rounded(*v) + "B", Title: text.Exact(*v) + " billion"}
}

func priceOrNone(v *float64) Cell {
	if v == nil {
		return Cell{}
	}
	return priceCell(v)
}

func modelFacts(gen *index.Generation, slugs []string) Table {
	t := newSideBySide(newNames(gen), "models", slugs)
	recs := records[modelRecord](gen.Models, slugs)
	t.add("Maker", func(i int) Cell { return Cell{Text: recs[i].Organization} })
	t.add("Released", func(i int) Cell { return Cell{Text: dateText(recs[i].ReleaseDate)} })
	t.add("Licence", func(i int) Cell { return Cell{Text: str(recs[i].License)} })
	t.add("Parameters", func(i int) Cell { return billions(recs[i].ParamsB) })
	t.add("Active per token", func(i int) Cell {
		if str(recs[i].Architecture.Type) == "dense" && recs[i].ActiveParamsB == nil {
			return Cell{Text: "all"}
		}
		return billions(recs[i].ActiveParamsB)
	})
	t.add("Blocks", func(i int) Cell { return Cell{Text: blocks(recs[i])} })
	t.add("Context", func(i int) Cell {
		if c := recs[i].Architecture.ContextLength; c != nil {
			return Cell{Text: text.Tokens(*c)}
		}
		return Cell{}
	})
	t.add("Input and output", func(i int) Cell { return Cell{Text: join(recs[i].Modalities)} })
	t.add("Intelligence", func(i int) Cell {
		in := recs[i].Intelligence
		if in == nil || in.Score == nil {
			return Cell{}
		}
		return Cell{Text: text.Tenths(*in.Score), Note: string(in.Confidence) + " confidence", Href: "/snapshots"}
	})
	for _, name := range []string{"Q4_K_M", "Q8_0"} {
		for _, context := range []int64{8192, 32768} {
			t.add(name+" with "+text.Tokens(context)+" context", func(i int) Cell {
				answer, fault := gen.Fit.Fit(fit.Query{Model: recs[i].Slug, MemoryGB: 1e6, Context: context})
				if fault != nil {
					return Cell{}
				}
				if size := sizeNamed(answer, name); size != nil && size.Memory.Total != nil {
					return Cell{Text: text.GiB(*size.Memory.Total)}
				}
				return Cell{}
			})
		}
	}
	t.add("Runs", func(i int) Cell {
		return Cell{Text: text.Whole(recs[i].BenchmarkCountWithVariants), Href: "/explore/benchmarks?model=" + url.QueryEscape(slugs[i]), NoFollow: true}
	})
	return t.Table
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

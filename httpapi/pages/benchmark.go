package pages

import (
	"strings"

	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/index"
)

// benchmark is the page of one measurement.
func (s *Site) benchmark(gen *index.Generation, ord uint32, at Place) *Sheet {
	row := gen.Benchmarks.Detail(ord)
	b, n := decode[benchmarkRecord](row), newNames(gen)
	model, hardware, id := string(b.Model), string(b.Hardware), string(b.ID)
	heading := n.of("models", b.Model) + " on " + n.of("hardware", b.Hardware)
	how := n.of("tools", b.Tool)
	if b.Quantization != nil {
		how = *b.Quantization + " with " + how
	}
	figures := benchmarkFigures(b)
	description := heading + ", " + how // with the figures, which tell it from others of the same pair
	for _, f := range figures {
		description += ", " + strings.ToLower(f.Label) + " " + f.Value.Text
	}
	v := &Sheet{
		Frame:   s.recordFrame(gen, at, "/explore/benchmarks", heading+" · "+id, description+". Published measurement "+id+", with settings and source."),
		Heading: heading, Lead: how + benchmarkLead(b), Words: true,
		Crumbs:  []Link{{Text: "Benchmarks", Href: "/explore/benchmarks"}, {Text: n.of("models", b.Model), Href: "/models/" + model}},
		Figures: figures, Groups: groupsOf(n, benchmarkFields, row, nil),
		Invite: &Link{Text: "Contribute a run of the same pair", Href: address("/contribute", "hardware", hardware, "model", model)},
	}
	if b.SourceURL != nil {
		v.Actions = append(v.Actions, Link{Text: "Open the source", Href: webAddress(str(b.SourceURL))})
	}
	v.Actions = append(v.Actions, Link{Text: "Runs of the same pair", Href: address("/explore/benchmarks", "hardware", hardware, "model", model)})
	if b.Withdrawn != nil {
		v.Notes = append(v.Notes, "Withdrawn on "+string(b.Withdrawn.Date)+": "+b.Withdrawn.Reason)
	}
	if b.Notes != nil {
		v.Notes = append(v.Notes, *b.Notes)
	}
	if t := sameMeasurements(gen, b); len(t.Rows) > 0 {
		v.Tables = append(v.Tables, t)
	}
	v.finishRecord("benchmarks", id, heading)
	return v
}

func benchmarkLead(b *benchmarkRecord) string {
	out := ", measured by " + map[string]string{"owner": "this directory", "community": "a member of the public", "official": "the maker"}[string(b.Source)]
	if b.RunDate != nil {
		out += ", " + str(b.RunDate)
	}
	if b.SourceURL != nil {
		out += ", published at " + host(str(b.SourceURL))
	}
	return out + "."
}

func benchmarkFigures(b *benchmarkRecord) (out []Fact) {
	for _, f := range []struct {
		label string
		v     *float64
		unit  string
		note  string
	}{
		{"Generation", b.GenerationTPS, "tok/s", map[string]string{"decode": "decoding of one stream", "end_to_end": "prompt time included", "total": "sum over streams"}[str(b.RateBasis)]},
		{"Whole system", b.TotalTPS, "tok/s", ""},
		{"Prompt", b.PromptTPS, "tok/s", ""},
		{"First token", b.TTFTMs, "ms", ""},
		{"Power", b.PowerWatts, "W", ""},
	} {
		if f.v != nil {
			out = append(out, Fact{Label: f.label, Value: Cell{Text: text.Exact(*f.v) + " " + f.unit}, Note: f.note})
		}
	}
	if b.RooflineRatio != nil {
		share := Cell{Text: text.Percent(*b.RooflineRatio), Title: "Share of the memory bandwidth the speed accounts for, computed"}
		out = append(out, Fact{Label: "Of the bandwidth", Value: share, Note: "computed"})
	}
	return out
}

// sameMeasurements is what is known of the same model, hardware and quantization.
func sameMeasurements(gen *index.Generation, b *benchmarkRecord) Table {
	t := Table{
		ID: "same", Title: "Beside other measurements", Intro: "Speed of one stream with this model, hardware and quantization.",
		Columns: columns("Basis", "#Tok/s", "#Range", "Rests on"),
	}
	if b.Quantization == nil || b.IsThroughput() {
		return t
	}
	answer, fault := gen.Fit.Fit(fit.Query{Model: b.Model, Hardware: b.Hardware, Quantization: *b.Quantization})
	if fault != nil || len(answer.Sizes) == 0 || answer.Sizes[0].Speed == nil {
		return t
	}
	if m := answer.Sizes[0].Speed.Measured; m != nil {
		spread := cell("") // one run has none
		if m.N > 1 {
			spread.Text = text.Tenths(m.P10) + " to " + text.Tenths(m.P90)
		}
		rests := Cell{Text: text.Count(m.N, "run", "runs") + " from " + text.Count(m.Pages, "page", "pages"), Href: benchmarksOf(string(b.Model), string(b.Hardware), *b.Quantization)}
		t.Rows = append(t.Rows, []Cell{{Text: "Measured", Class: "measured"}, {Text: text.Tenths(m.Median)}, spread, rests})
	}
	if e := answer.Sizes[0].Speed.Estimate; e != nil {
		rests := Cell{Text: e.Method, Href: speedOf(string(b.Model), string(b.Hardware), *b.Quantization, nil)}
		t.Rows = append(t.Rows, []Cell{{Text: "Estimate", Class: "estimate"}, {Text: text.Tenths(e.Median)}, {Text: text.Tenths(e.P05) + " to " + text.Tenths(e.P95)}, rests})
	}
	return t
}

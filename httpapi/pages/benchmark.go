package pages

import (
	"strings"

	"modeldex/dataset/fit"
	"modeldex/dataset/text"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

func (s *Site) benchmark(gen *index.Generation, ord uint32, at Place) *Sheet {
	row := gen.Benchmarks.Detail(ord)
	b, n := decode[rows.Benchmark](row), newNames(gen)
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
	v := s.recordSheet(gen, at, "benchmarks", heading, description+". Benchmark "+id+", with settings and source.")
	v.Title, v.Lead, v.Figures = heading+" · "+id, how+benchmarkLead(b), figures
	v.Crumbs = append(v.Crumbs, Link{Text: n.of("models", b.Model), Href: "/models/" + model})
	_, v.Groups = v.groupsOf(n, benchmarkFields, row, nil)
	v.Invite = &Link{Text: "Contribute a benchmark of this model and hardware", Href: address("/contribute", "hardware", hardware, "model", model)}
	if b.SourceURL != nil {
		v.Actions = append(v.Actions, Link{Text: "View the source", Href: webAddress(str(b.SourceURL))})
	}
	v.Actions = append(v.Actions, Link{Text: "Other benchmarks of this model and hardware", Href: address("/explore/benchmarks", "hardware", hardware, "model", model)})
	if b.Withdrawn != nil {
		v.Notes = append(v.Notes, "Withdrawn on "+string(b.Withdrawn.Date)+": "+b.Withdrawn.Reason)
	}
	if b.Notes != nil {
		v.Notes = append(v.Notes, plainNote(*b.Notes))
	}
	if b.Quantization != nil && !b.IsThroughput() {
		v.offer("Speed of this configuration, measured and estimated", speedOf(model, fit.Query{Hardware: b.Hardware}, *b.Quantization))
	}
	return v
}

func benchmarkLead(b *rows.Benchmark) string {
	out := ", measured by " + map[string]string{"owner": "modeldex", "community": "the community", "official": "the vendor"}[string(b.Source)]
	if b.RunDate != nil {
		out += ", " + str(b.RunDate)
	}
	if b.SourceURL != nil {
		out += ", published on " + host(str(b.SourceURL))
	}
	return out + "."
}

func benchmarkFigures(b *rows.Benchmark) (out []Fact) {
	for _, f := range []struct {
		label string
		v     *float64
		unit  string
		note  string
	}{
		{"Generation", b.GenerationTPS, "tok/s", map[string]string{"decode": "one request", "end_to_end": "prompt time included", "total": "all requests"}[str(b.RateBasis)]},
		{"Total under load", b.TotalTPS, "tok/s", ""},
		{"Prompt", b.PromptTPS, "tok/s", ""},
		{"Time to first token", b.TTFTMs, "ms", ""},
		{"Power", b.PowerWatts, "W", ""},
	} {
		if f.v != nil {
			out = append(out, Fact{Label: f.label, Value: Cell{Text: text.Exact(*f.v) + " " + f.unit}, Note: f.note})
		}
	}
	if b.RooflineRatio != nil {
		share := Cell{Text: text.Percent(*b.RooflineRatio), Title: "The generation speed as a share of what the memory bandwidth allows"}
		out = append(out, Fact{Label: "Bandwidth used", Value: share, Note: "computed"})
	}
	return out
}

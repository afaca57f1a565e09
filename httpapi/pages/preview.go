package pages

import (
	"cmp"
	"slices"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/text"
	"modeldex/httpapi/preview"
	"modeldex/index"
)

// Preview is the picture that other sites show beside a link to a record, as PNG. kind is models,
// hardware, tools or benchmarks, ord the ordinal of the record.
func (s *Site) Preview(gen *index.Generation, kind string, ord uint32) []byte {
	stamp := stampOf(gen)
	c := &preview.Card{Foot: strings.TrimSuffix(stamp.line(), ".") + " · every figure has a source"}
	n := newNames(gen)
	var figures []Fact
	switch kind {
	case "models":
		m := decode[modelRecord](gen.Models.Row(ord))
		c.Kind, c.Title, c.Lead, figures = "Model", m.Name, modelLead(m), modelFigures(m, nil)
		addSpeeds(c, gen, index.Model, string(m.Slug), index.Hardware, func(other string) string { return n.of("hardware", dataset.Slug(other)) })
	case "hardware":
		h := decode[hardwareRecord](gen.Hardware.Row(ord))
		c.Kind, c.Title, c.Lead, figures = "Hardware", h.Name, hardwareLead(h), hardwareFigures(gen, h, nil)
		addSpeeds(c, gen, index.Hardware, string(h.Slug), index.Model, func(other string) string { return n.of("models", dataset.Slug(other)) })
	case "tools":
		t := decode[toolRecord](gen.Tools.Row(ord))
		c.Kind, c.Title, c.Lead = "Tool", t.Name, t.Description
		figures = []Fact{{Label: "Mainly a", Value: Cell{Text: string(t.Category)}}, {Label: "Benchmarks", Value: Cell{Text: text.Whole(t.BenchmarkCount)}, Note: "measured runs"}}
	default:
		b := decode[benchmarkRecord](gen.Benchmarks.Row(ord))
		c.Kind, c.Title, c.Lead, figures = "Benchmark", n.of("models", b.Model)+" on "+n.of("hardware", b.Hardware), benchmarkLead(n, b), benchmarkFigures(b)
		if b.Quantization != nil {
			figures = append(figures, Fact{Label: "Quantization", Value: Cell{Text: *b.Quantization}})
		}
	}
	c.Lead = firstSentence(c.Lead)
	for _, f := range figures {
		c.Figures = append(c.Figures, preview.Figure{Label: f.Label, Value: f.Value.Text, Note: f.Note})
	}
	return preview.Draw(c)
}

// shownBars is how many speeds a picture has.
const shownBars = 4

// addSpeeds adds the medians of single-stream speeds on the hardware, or of the models, that were
// measured most often: those people know and look for. All are of one quantization, that of most
// pairs, so that the bars compare. The fastest is first.
func addSpeeds(c *preview.Card, gen *index.Generation, field index.Field, slug string, by index.Field, name func(string) string) {
	t := gen.Hardware
	if by == index.Model {
		t = gen.Models
	}
	groups := mostRun(singleStream(gen, field, slug, by, index.Quantization))
	pairs, best := map[string]int{}, ""
	for i := range groups {
		q := groups[i].Key()[1]
		if pairs[q]++; q != "" && (pairs[q] > pairs[best] || best == "") {
			best = q
		}
	}
	groups = slices.DeleteFunc(groups, func(g index.Group) bool { return g.Key()[1] != best || best == "" || !(g.Median > 0) })
	known := func(g *index.Group) float64 {
		if ord, ok := t.Find(g.Key()[0]); ok {
			return t.Number(index.BenchmarkCount, ord)
		}
		return 0
	}
	slices.SortStableFunc(groups, func(a, b index.Group) int { return cmp.Compare(known(&b), known(&a)) })
	groups = groups[:min(len(groups), shownBars)]
	slices.SortStableFunc(groups, func(a, b index.Group) int { return cmp.Compare(b.Median, a.Median) })
	c.BarsTitle = "Measured with " + best + ", one stream, tokens per second"
	for i := range groups {
		g := &groups[i]
		c.Bars = append(c.Bars, preview.Bar{Label: name(g.Key()[0]), Value: g.Median, Text: text.Rounded(g.Median)})
	}
}

// firstSentence is the start of a text up to its first full stop.
func firstSentence(s string) string {
	first, _, _ := strings.Cut(s, ". ")
	return strings.TrimSuffix(first, ".")
}

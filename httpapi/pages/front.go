package pages

import (
	"modeldex/index"
)

// Counts is how many records of each kind there are.
type Counts struct{ Models, Hardware, Tools, Benchmarks int }

// front is the front page.
type front struct {
	Frame
	Counts Counts
	Cards  []Choice
}

// Front is the front page. gen is nil before the first dataset is loaded.
func (s *Site) Front(gen *index.Generation, at Place) []byte {
	v := front{Frame: Frame{
		Place: at, Title: "modeldex · which model runs on what, and how fast?", Canonical: "/", Dataset: stampOf(gen), Scripts: []string{"app.js", "front.js"},
		Description: "Open-weight language models, the hardware they run on, the tools that run them, and published tokens-per-second measurements, each with its source.",
	}}
	if gen != nil {
		v.Counts = Counts{gen.Models.Len(), gen.Hardware.Len(), gen.Tools.Len(), gen.Benchmarks.Len()}
		v.Cards = mostMeasured(gen)
		v.Data = map[string]any{
			"@context": "https://schema.org", "@type": "DataCatalog", "name": "modeldex", "description": v.Description, "url": v.Absolute("/"),
			"license": licenseAddress(v.Dataset.License), "version": v.Dataset.Version, "dateModified": v.Dataset.Released,
		}
	}
	return s.render("front.html", &v)
}

// shownCards is how many pieces of hardware the front page offers.
const shownCards = 24

// mostMeasured is the hardware with the most benchmarks.
func mostMeasured(gen *index.Generation) []Choice {
	page := gen.Hardware.Select(index.Query{Sort: index.Sort{Field: index.BenchmarkCount, Desc: true}, Limit: shownCards})
	out := make([]Choice, 0, len(page.Ords))
	for _, ord := range page.Ords {
		slug := gen.Hardware.Slug(ord)
		out = append(out, Choice{Value: slug, Label: nameOf(gen.Hardware, slug)})
	}
	return out
}

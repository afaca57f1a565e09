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
	Quick  []Link // hardware people look at most
}

// Front is the front page. gen is nil before the first dataset is loaded.
func (s *Site) Front(gen *index.Generation, at Place) []byte {
	v := front{Frame: Frame{
		Place: at, Title: "modeldex · which model runs on what, and how fast?", Canonical: "/", Dataset: stampOf(gen), Scripts: []string{"app.js", "front.js"},
		Description: "Open-weight language models, the hardware they run on, the tools that run them, and published tokens-per-second measurements, each with its source.",
	}}
	if gen != nil {
		v.Counts = Counts{gen.Models.Len(), gen.Hardware.Len(), gen.Tools.Len(), gen.Benchmarks.Len()}
		v.Cards = mostMeasured(gen.Hardware)
		v.Quick = quick(gen)
		v.Data = map[string]any{
			"@context": "https://schema.org", "@type": "DataCatalog", "name": "modeldex", "description": v.Description, "url": v.Absolute("/"),
			"license": licenseAddress(v.Dataset.License), "version": v.Dataset.Version, "dateModified": v.Dataset.Released,
		}
	}
	return s.render("front.html", &v)
}

// quick is the most measured hardware people buy for themselves.
func quick(gen *index.Generation) (out []Link) {
	page := gen.Hardware.Select(index.Query{
		Ranges: []index.Range{{Field: "street_price_usd", Min: 100, Max: 3000}},
		Sort:   index.Sort{Field: index.BenchmarkCount, Desc: true}, Limit: 6,
	})
	for _, ord := range page.Ords {
		slug := gen.Hardware.Slug(ord)
		out = append(out, Link{Text: nameOf(gen.Hardware, slug), Href: "/hardware/" + slug})
	}
	return out
}

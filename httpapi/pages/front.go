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
	Cards  Choices
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

// quick is hardware people have at home: of each of its makers the two most measured, without records that stand for
// several variants.
func quick(gen *index.Generation) (out []Link) {
	for _, of := range []struct {
		vendor, kind string
		prices       []index.Range // such as no company buys
	}{
		{"nvidia", "gpu", []index.Range{{Field: "street_price_usd", Min: 100, Max: 3000}}},
		{"amd", "gpu", []index.Range{{Field: "street_price_usd", Min: 100, Max: 3000}}},
		{"apple", "soc", nil}, // sold in machines alone
		{"intel", "gpu", []index.Range{{Field: "street_price_usd", Min: 100, Max: 3000}}},
	} {
		page := gen.Hardware.Select(index.Query{
			Sets:   []index.Set{{Field: "vendor", Values: []string{of.vendor}}, {Field: "type", Values: []string{of.kind}}},
			Ranges: of.prices, Sort: index.Sort{Field: index.BenchmarkCount, Desc: true}, Limit: 10,
		})
		most := len(out) + 2
		for _, ord := range page.Ords {
			h := decode[hardwareRecord](gen.Hardware.Row(ord))
			if len(deref(h.Variants)) == 0 && len(out) < most {
				out = append(out, Link{Text: h.Name, Href: "/hardware/" + string(h.Slug)})
			}
		}
	}
	return out
}

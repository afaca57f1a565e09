package pages

import (
	"modeldex/dataset/text"
	"modeldex/index"
)

// About is the page on method, licence, sources and limits.
type About struct {
	Frame
	Counts  Counts
	Sources []FacetValue // who measured
	// UnderLoad is how many benchmarks are results of servers under load, which have no entry in Sources; empty for none.
	UnderLoad string
	Cite      *Citation
	Support   string
	Repo      string
}

// About is the page on method, licence, sources and limits.
func (s *Site) About(gen *index.Generation, at Place) []byte {
	v := &About{Frame: Frame{
		Place: at, Title: "About", Section: "/about", Canonical: "/about", Dataset: stampOf(gen), Scripts: []string{"app.js"},
		Description: "What modeldex is, how its figures are made, under which licence, and what it cannot say.",
	}, Support: s.cfg.SupportEmail, Repo: s.cfg.RepositoryURL}
	v.Counts = Counts{gen.Models.Len(), gen.Hardware.Len(), gen.Tools.Len(), gen.Benchmarks.Len()}
	listed := 0
	for _, c := range gen.Benchmarks.Facets(index.Query{}, []index.Field{index.Source})[0].Values {
		listed += c.Count
		v.Sources = append(v.Sources, FacetValue{Value: c.Value, Count: text.Whole(c.Count)})
	}
	if n := v.Counts.Benchmarks - listed; n > 0 {
		v.UnderLoad = text.Whole(n)
	}
	v.Cite = cite(&Frame{Place: Place{Base: at.Base, Path: "/"}, Dataset: v.Dataset}, "A directory of open-weight models, hardware and measured speed")
	return s.render("about.html", v)
}

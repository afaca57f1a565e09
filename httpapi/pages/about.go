package pages

import (
	"modeldex/dataset"
	"modeldex/index"
)

// About is the page on method, licence, sources and limits.
type About struct {
	Frame
	Counts struct{ Models, Hardware, Tools, Benchmarks int }
	dataset.Freshness
	Cite    string
	Support string
	Repo    string
}

// About is the page on method, licence, sources and limits.
func (s *Site) About(gen *index.Generation, at Place) []byte {
	v := &About{Support: s.cfg.SupportEmail, Repo: s.cfg.RepositoryURL, Freshness: gen.Freshness}
	v.Frame = s.frame(gen, at, "/about", "About", "What modeldex covers, how its numbers are calculated, its limits and its licence.")
	v.Counts.Models, v.Counts.Hardware, v.Counts.Tools, v.Counts.Benchmarks = gen.Models.Len(), gen.Hardware.Len(), gen.Tools.Len(), gen.Benchmarks.Len()
	v.Cite = cite(&Frame{Place: Place{Base: at.Base, Path: "/"}, Dataset: v.Dataset}, "Open-weight models, hardware and benchmarks")
	return s.render("about.html", v)
}

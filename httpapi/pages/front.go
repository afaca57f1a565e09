package pages

import (
	"math"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/httpapi/charts"
	"modeldex/index"
)

type front struct {
	Frame
	Names  Choices // what the box suggests
	Answer *Answer // nil without a machine to show
}

// An Answer is the answer of a machine in short, as an example.
type Answer struct {
	Machine Cell
	Picks   []Pick
	Chart   *Plot
}

// Front is the front page. gen is nil before the first dataset is loaded.
func (s *Site) Front(gen *index.Generation, at Place) []byte {
	v := front{Frame: s.frame(gen, at, "/", "modeldex · which models run on your hardware, and how fast?",
		"Open-weight language models, the hardware and tools that run them, and published tokens-per-second benchmarks, each with its source.")}
	v.Styles = []string{"charts.css"}
	if gen != nil {
		v.Names = append(mostMeasured(gen.Hardware), mostMeasured(gen.Models)...)
		v.Data = v.schemaDataset("modeldex")
		if slug := newestPopular(gen); slug != "" {
			ask := fit.Query{Hardware: dataset.Slug(slug)}
			best, _ := gen.Best.Models(ask)
			v.Answer = &Answer{newNames(gen).cell("hardware", ask.Hardware), machinePicks(gen, ask, best.Found), plot(charts.For(gen).FrontierOf(slug, best.Found), "plot", at.Base)}
		}
	}
	return s.render("front.html", &v)
}

// popularRuns is how many runs a card has that many people use.
const popularRuns = 150

// newestPopular is the newest graphics card that many people have measured; empty for none.
func newestPopular(gen *index.Generation) string {
	page := gen.Hardware.Select(index.Query{
		Sets:   []index.Set{{Field: "type", Values: []string{"gpu"}}},
		Ranges: []index.Range{{Field: index.BenchmarkCount, Min: popularRuns, Max: math.Inf(1)}, {Field: "street_price_usd", Min: 0, Max: mostHome}},
		Sort:   index.Sort{Field: "release_date", Desc: true}, Limit: 1,
	})
	if len(page.Ords) == 0 {
		return ""
	}
	return gen.Hardware.Slug(page.Ords[0])
}

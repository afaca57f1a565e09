package httpapi

import (
	"math"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/index"
)

// readRuns reads the parameters of fitParams and finds what runs. The result is a filter by slug,
// and what rows say of it. The work is bounded by the records and the sizes of models.
func (p *parser) readRuns() []string {
	main := map[string]string{"models": "fits", "hardware": "runs"}[p.r.name]
	if main == "" || p.r.byName[main] == nil {
		return nil
	}
	r := fitReader{parser: p}
	q := fit.Query{
		Count: int(r.number("count")), Context: int64(r.number("context")), KV: fit.KVType(r.choice("kv")),
		Rules: fit.Rules(r.choice("engine")), AllowExtended: r.flag("allow_extended"), Quantization: r.quantization(),
		MeasuredFirst: r.choice("prefer") == preferMeasured,
	}
	least, pareto := r.number("min_tps"), r.flag("pareto")
	if p.values[main] == nil {
		if len(r.canonical) > 0 {
			p.fault(&invalidParameter, main, "", "is required with these parameters")
		}
		return nil
	}
	slug := r.name(main)
	if p.faults.code != nil {
		return r.canonical
	}
	if least > 0 {
		p.searches = searchCalls
	}
	var found []fit.Best
	var fault *fit.Fault
	if p.r.name == "models" {
		q.Hardware = dataset.Slug(slug)
		found, fault = p.gen.Fit.Models(q, least)
	} else {
		q.Model = dataset.Slug(slug)
		found, fault = p.gen.Fit.Hardware(q, least)
	}
	if fault != nil {
		p.fitFault(fault)
		return r.canonical
	}
	if pareto {
		found = p.pareto(found)
	}
	p.keepRuns(p.r.byName[main], found)
	return r.canonical
}

// pareto keeps what nothing beats in speed and in intelligence, or in price.
func (p *parser) pareto(found []fit.Best) []fit.Best {
	t, field, sign := p.r.table(p.gen), index.Field("intelligence"), 1.0
	if p.r.name == "hardware" {
		field, sign = index.Field("street_price_usd"), -1
	}
	return fit.Pareto(found, func(b *fit.Best) (x, y float64, ok bool) {
		ord, known := t.Find(p.runSlug(b))
		if !known || b.TPS == nil {
			return 0, 0, false
		}
		x = sign * t.Number(field, ord)
		return x, *b.TPS, !math.IsNaN(x)
	})
}

// runSlug is the slug of the row that says what runs.
func (p *parser) runSlug(b *fit.Best) string {
	if p.r.name == "models" {
		return string(b.Model)
	}
	return string(b.Hardware)
}

func (p *parser) keepRuns(pm *param, found []fit.Best) {
	p.out.runs = make(map[string]*fit.Best, len(found))
	slugs := make([]string, len(found))
	for i := range found {
		slugs[i] = p.runSlug(&found[i])
		p.out.runs[slugs[i]] = &found[i]
	}
	p.out.Sets, p.out.setOf = append(p.out.Sets, index.Set{Field: index.Slug, Values: slugs}), append(p.out.setOf, pm)
}

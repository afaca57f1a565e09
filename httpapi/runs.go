package httpapi

import (
	"math"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/index"
)

// fitParams are the parameters with which a list keeps what runs: models on a piece of hardware,
// hardware for a model.
func fitParams(list string) []param {
	var out []param
	switch list {
	case "models":
		out = append(out, param{name: "fits", kind: oneName, table: hardwareOf, doc: "Hardware, by slug or alias: only models that run on it. Each row names its best size, verdict and speed in the member fit."})
	case "hardware":
		out = append(out,
			param{name: "runs", kind: oneName, table: modelsOf, doc: "Model, by slug or alias: only hardware that runs it. Each row names the best size, verdict and speed in the member fit."},
			param{name: "quantization", kind: oneText, doc: "With runs: the size of the model, such as Q4_K_M, instead of the best."})
	default:
		return nil
	}
	other := "With " + out[0].name + ": "
	out = append(out, param{name: "min_tps", kind: plainNumber, most: 1e6, doc: other + "least generation speed, measured or estimated, in tokens per second; with a full cache where context is given."})
	for _, name := range []string{"count", "context", "kv", "engine", "allow_extended"} {
		pm := *fitQuery.byName[name]
		pm.doc = other + lowerFirst(pm.doc)
		out = append(out, pm)
	}
	return append(out, param{name: "pareto", kind: flagValue, doc: other + "true: only rows that nothing beats in both dimensions: speed, and intelligence of a model or street price of hardware."})
}

// readRuns reads the parameters of fitParams and finds what runs. The result is a filter by slug,
// and what rows say of it. The work is bounded by the records and the sizes of models.
func (p *parser) readRuns() []string {
	main := map[string]string{"models": "fits", "hardware": "runs"}[p.r.path]
	if main == "" || p.r.byName[main] == nil {
		return nil
	}
	r := fitReader{parser: p}
	q := fit.Query{
		Count: int(r.number("count")), Context: int64(r.number("context")), KV: fit.KVType(r.choice("kv")),
		Rules: fit.Rules(r.choice("engine")), AllowExtended: r.flag("allow_extended"), Quantization: r.text("quantization"),
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

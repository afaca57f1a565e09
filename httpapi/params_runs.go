package httpapi

import (
	"math"
	"strings"

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
	slug, answer := r.lookUp(main)
	r.noticeReadByRules(main, slug, &answer)
	if main == "fits" {
		r.useStated(&answer)
	}
	q := fit.Query{
		MemoryGB: r.number("memory_gb"),
		Count:    int(r.number("count")), Context: int64(r.number("context")), KV: fit.KVType(r.choice("kv")),
		Rules: fit.Rules(r.choice("engine")), AllowExtended: r.flag("allow_extended"), Quantization: r.quantization(),
		MeasuredFirst: r.choice("prefer") == preferMeasured,
	}
	least, pareto := r.number("min_tps"), r.flag("pareto")
	if p.values[main] == nil {
		p.checkAlone(main, r.canonical)
		p.checkSort(main)
		return nil
	}
	r.nameFound(main, slug, &answer)
	if p.faults.code != nil {
		return r.canonical
	}
	runs, why, fault := p.findRuns(q, dataset.Slug(slug), least)
	if fault != nil {
		p.fitFault(fault)
		return r.canonical
	}
	p.noticeLeftOut(main, runs.Undecided, why)
	p.noticeLeftOut("min_tps", runs.NoSpeed, noSpeed)
	found := runs.Found
	if pareto {
		found = p.pareto(found)
	}
	switch {
	case p.r.name == "hardware":
		p.noticeMemories(found)
	case q.MemoryGB == 0:
		p.noticeMemory(dataset.Slug(slug))
	}
	p.keepRuns(p.r.byName[main], found)
	return r.canonical
}

// checkAlone rejects parameters, given as they are spelled, that say nothing without main.
func (p *parser) checkAlone(main string, spelled []string) {
	if len(spelled) == 0 {
		return
	}
	names := make([]string, len(spelled))
	for i, pair := range spelled {
		names[i], _, _ = strings.Cut(pair, "=")
	}
	p.fault(invalidParameter, main, "", "is required with "+strings.Join(names, ", "))
}

// findRuns finds what runs on a piece of hardware, or what runs a model. why ends the notice about those of which that is
// not known.
func (p *parser) findRuns(q fit.Query, of dataset.Slug, least float64) (runs fit.Runs, why string, fault *fit.Fault) {
	if least > 0 {
		p.searches = searchCalls
	}
	why = undecided
	if p.r.name == "hardware" {
		q.Model = of
		if runs, fault = p.gen.Fit.Hardware(q, least); len(runs.Ran) > 0 {
			why += measuredAt(index.Model, of)
		}
		return runs, why, fault
	}
	q.Hardware = of
	if q.MemoryGB == 0 && len(p.gen.Fit.Unpublished(of)) > 0 {
		why = ": the memory of " + string(of) + " is not published"
	}
	if runs, fault = p.gen.Fit.Models(q, least); len(runs.Ran) > 0 {
		why += measuredAt(index.Hardware, of)
	}
	return runs, why, fault
}

// Why records are left out of what runs, as the end of a notice.
const (
	undecided = ": a fact is not published that decides what runs; /api/v1/fit names it"
	noSpeed   = ": the speed was not measured, and no measurements are near enough and agree enough for an estimate"
)

// measuredAt leads to the measurements of some of what is left out.
func measuredAt(field index.Field, slug dataset.Slug) string {
	return "; some were measured all the same, see /api/v1/benchmarks?" + string(field) + "=" + string(slug)
}

// pareto keeps what nothing beats in speed and in intelligence, or in price.
func (p *parser) pareto(found []fit.Best) []fit.Best {
	t, field, sign, keep := p.r.table(p.gen), index.Field("intelligence"), 1.0, fit.Pareto[fit.Best]
	if p.r.name == "hardware" {
		field, sign, keep = index.Field("street_price_usd"), -1, paretoBySize
	}
	var unknown []dataset.Slug
	best := keep(found, func(b *fit.Best) (x, y float64, ok bool) {
		slug := p.runSlug(b)
		if ord, known := t.Find(slug); known && b.TPS != nil {
			x = sign * t.Number(field, ord)
			y, ok = *b.TPS, !math.IsNaN(x)
		}
		if !ok {
			unknown = append(unknown, dataset.Slug(slug))
		}
		return x, y, ok
	})
	p.noticeLeftOut("pareto", unknown, ": speed or "+string(field)+" is unknown")
	return best
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
	if p.out.Sort.Field == bySpeed {
		p.out.Computed = p.out.speeds(p.r.table(p.gen))
	}
	p.out.runsSet = len(p.out.Sets)
	p.out.Sets, p.out.setOf = append(p.out.Sets, index.Set{Field: index.Slug, Values: slugs}), append(p.out.setOf, pm)
}

package httpapi

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/fit"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
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
	r.readByRules(main, slug, &answer)
	q := fit.Query{
		Count: int(r.number("count")), Context: int64(r.number("context")), KV: fit.KVType(r.choice("kv")),
		Rules: fit.Rules(r.choice("engine")), AllowExtended: r.flag("allow_extended"), Quantization: r.quantization(),
		MeasuredFirst: r.choice("prefer") == preferMeasured,
	}
	least, pareto := r.number("min_tps"), r.flag("pareto")
	if p.values[main] == nil {
		if len(r.canonical) > 0 {
			names := make([]string, len(r.canonical))
			for i, pair := range r.canonical {
				names[i], _, _ = strings.Cut(pair, "=")
			}
			p.fault(&invalidParameter, main, "", "is required with "+strings.Join(names, ", "))
		}
		return nil
	}
	r.take(main, slug, &answer)
	if p.faults.code != nil {
		return r.canonical
	}
	if least > 0 {
		p.searches = searchCalls
	}
	var runs fit.Runs
	var fault *fit.Fault
	why := ": a fact is not published that decides what runs; /api/v1/fit names it"
	if p.r.name == "models" {
		q.Hardware = dataset.Slug(slug)
		p.sayMemory(q.Hardware)
		runs, fault = p.gen.Fit.Models(q, least)
		if len(p.gen.Fit.Unpublished(q.Hardware)) > 0 {
			why = ": the memory of " + slug + " is not published"
		}
	} else {
		q.Model = dataset.Slug(slug)
		runs, fault = p.gen.Fit.Hardware(q, least)
	}
	if fault != nil {
		p.fitFault(fault)
		return r.canonical
	}
	found := runs.Found
	p.leaveOut(main, runs.Undecided, why)
	p.leaveOut("min_tps", runs.NoSpeed, ": the speed was not measured, and no measurement is near enough for an estimate")
	if pareto {
		found = p.pareto(found)
	}
	if p.r.name == "hardware" {
		p.sayMemories(found)
	}
	p.keepRuns(p.r.byName[main], found)
	return r.canonical
}

// sayMemory says with which size of memory fits counts, where there are several.
func (p *parser) sayMemory(hardware dataset.Slug) {
	sizes, counted := p.gen.Fit.MemorySizes(hardware)
	if sizes == nil {
		return
	}
	texts := make([]string, len(sizes))
	for i, gb := range sizes {
		texts[i] = strconv.FormatFloat(gb, 'f', -1, 64)
	}
	p.out.notices = append(p.out.notices, Notice{
		Code: memoryAssumed, Parameter: "fits",
		Detail: fmt.Sprintf("%s is sold with %s GB of memory; the list counts with %v GB. /api/v1/fit takes memory_gb, for one model", hardware, strings.Join(texts, " or "), counted),
	})
}

// sayMemories is sayMemory for the rows of runs.
func (p *parser) sayMemories(found []fit.Best) {
	var several []dataset.Slug
	for i := range found {
		if sizes, _ := p.gen.Fit.MemorySizes(found[i].Hardware); sizes != nil {
			several = append(several, found[i].Hardware)
		}
	}
	p.sayHowMany(memoryAssumed, "runs", several, "")
}

// readByRules says how fits or runs was read where it is not a name of a record. The number of devices in it counts where no
// parameter says it; a memory in it does not, because lists have no parameter for it.
func (r *fitReader) readByRules(main, slug string, a *resolve.Answer) {
	if a.Confidence != resolve.Parsed {
		return
	}
	reason := a.Reason
	if main == "fits" {
		r.statedCount(a)
		if r.otherMemory(a) {
			reason += fmt.Sprintf(". The list counts with the memory of the record; /api/v1/fit takes memory_gb=%v", a.MemoryGB)
		}
	}
	r.nameResolved(r.r.byName[main], r.value(main), slug, reason)
}

// A leftOut is records that a filter by what runs leaves out because a fact is missing, or of which it counts with a value
// that may be another.
type leftOut struct {
	code, parameter, why string
	slugs                []string
}

func (p *parser) leaveOut(parameter string, slugs []dataset.Slug, why string) {
	p.sayHowMany(nullExcluded, parameter, slugs, why)
}

// sayHowMany has a notice say how many of the records match all other filters.
func (p *parser) sayHowMany(code, parameter string, slugs []dataset.Slug, why string) {
	if len(slugs) == 0 {
		return
	}
	left := leftOut{code: code, parameter: parameter, why: why, slugs: make([]string, len(slugs))}
	for i, slug := range slugs {
		left.slugs[i] = string(slug)
	}
	p.out.left = append(p.out.left, left)
}

// leftOutNotices says how many records that match all other filters are left out because a fact is missing.
func (q *listQuery) leftOutNotices(t *index.Table) (out []Notice) {
	for _, left := range q.left {
		others := q.Query
		others.Limit, others.Sets = 0, slices.Clone(q.Sets)
		others.Sets[q.runsSet].Values = left.slugs
		switch n := t.Select(others).Total; {
		case n == 0:
		case left.code == memoryAssumed:
			out = append(out, memoriesNotice(left.parameter, n))
		default:
			out = append(out, excludedNotice(left.parameter, n, left.why))
		}
	}
	return out
}

// memoriesNotice says how many of the rows count with one of several sizes of memory.
func memoriesNotice(parameter string, n int) Notice {
	return Notice{
		Code: memoryAssumed, Parameter: parameter, Count: &n,
		Detail: strconv.Itoa(n) + record.Noun(n, " record is", " records are") + " sold with several sizes of memory, in memory_options_gb; vram_gb is the one that counts here, and a price may be that of a smaller one",
	}
}

// pareto keeps what nothing beats in speed and in intelligence, or in price.
func (p *parser) pareto(found []fit.Best) []fit.Best {
	t, field, sign := p.r.table(p.gen), index.Field("intelligence"), 1.0
	if p.r.name == "hardware" {
		field, sign = index.Field("street_price_usd"), -1
	}
	var unknown []dataset.Slug
	best := fit.Pareto(found, func(b *fit.Best) (x, y float64, ok bool) {
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
	p.leaveOut("pareto", unknown, ": speed or "+string(field)+" is unknown")
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
	p.out.runsSet = len(p.out.Sets)
	p.out.Sets, p.out.setOf = append(p.out.Sets, index.Set{Field: index.Slug, Values: slugs}), append(p.out.setOf, pm)
}

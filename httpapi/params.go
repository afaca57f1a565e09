package httpapi

import (
	"modeldex/index"

	"github.com/valyala/fasthttp"
)

// parse reads the parameters of a list. All faults are returned together.
func (r *resource) parse(args *fasthttp.Args, gen *index.Generation) (*listQuery, *failure) {
	return (&parser{r: r, gen: gen, values: map[string][]string{}}).parse(args)
}

// parseFor is parse for a request, whose Accept header may ask for a file.
func (r *resource) parseFor(req *request) (*listQuery, *failure) {
	p := &parser{r: r, gen: req.gen, values: map[string][]string{}, accepts: req.accepts.Best}
	q, f := p.parse(req.ctx.QueryArgs())
	req.call.SpendBurst(p.searches)
	return q, f
}

func (p *parser) parse(args *fasthttp.Args) (*listQuery, *failure) {
	r := p.r
	p.collect(args)
	if p.view {
		p.useViewDefaults()
	}
	p.joinOwnerOnly()
	p.out.Limit = defaultLimit
	if p.r.filed() {
		p.out.format = p.accepts
	}
	var canonical []string
	given := p.inOrder()
	for i := range r.params {
		pm := &r.params[i]
		if pm.kind >= oneName {
			continue // read together, see readRuns
		}
		if values := given[i]; values != nil && pm.kind != cursorToken {
			if text := p.read(pm, values); text != "" {
				canonical = append(canonical, pm.name+"="+text)
			}
		} else if pm.kind == oneWord && pm.field.Name == index.Settings {
			p.readSettings(pm)
		}
	}
	p.checkRequired()
	p.checkRanges()
	canonical = append(canonical, p.readRuns()...)
	p.finish(canonical)
	if f := p.faults.failure(); f != nil {
		return nil, f
	}
	return &p.out, nil
}

// checkRequired rejects a query without the parameters it must have. One that was sent empty has a fault already.
func (p *parser) checkRequired() {
	for i := range p.r.params {
		pm := &p.r.params[i]
		if pm.required == "" || pm.kind >= oneName || p.values[pm.name] != nil || p.faults.of(pm.name) {
			continue
		}
		if f := p.fault(invalidParameter, pm.name, "", pm.required); f != nil {
			f.Allowed, f.Value = pm.values, nil
		}
	}
}

// read adds the values of one parameter to the query and returns their canonical spelling, empty if
// the parameter changes nothing or has a fault.
func (p *parser) read(pm *param, values []string) string {
	switch v := values[0]; pm.kind {
	case closedSet:
		return p.readSet(pm, values, p.closedValue)
	case openSet:
		return p.readSet(pm, values, p.openValue)
	case slugSet, keySet:
		return p.readSet(pm, values, p.slugValue)
	case wholeNumbers:
		return p.readSet(pm, values, p.wholeNumber)
	case atLeast, atMost:
		return p.readNumber(pm, v)
	case since, until:
		return p.readDate(pm, v)
	case ownerOnly, includeVariants:
		return p.readFlag(pm, v)
	case searchText:
		return p.readWords(pm, v)
	case sortKey:
		return p.readSort(pm, v)
	case versionRef:
		return p.readVersionRef(pm, v)
	case keptRef:
		return p.readKeptRef(pm, v)
	case fileFormat:
		return p.readFormat(pm, v)
	case fieldNames:
		return p.readFields(pm, values)
	case oneWord, wordList:
		return p.readSelected(pm, values)
	case textList:
		return p.readTexts(pm, values)
	default:
		return p.readLimit(pm, v)
	}
}

// useViewDefaults has pages name the sizes that were measured, and list records by name, where nothing else is asked for.
// The canonical address says so: the API answers the same there.
func (p *parser) useViewDefaults() {
	if main := map[string]string{"models": "fits", "hardware": "runs"}[p.r.name]; p.values[main] != nil && p.values["prefer"] == nil {
		p.values["prefer"] = []string{preferMeasured}
	}
	if p.r.normal == slugOrder && p.values["sort"] == nil {
		p.values["sort"] = []string{"name"} // a slug may begin with the maker, a name rarely does
	}
}

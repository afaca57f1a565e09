package httpapi

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"modeldex/httpapi/cursor"
	"modeldex/httpapi/export"
	"modeldex/index"
)

func (p *parser) readSort(pm *param, v string) string {
	name, desc := strings.CutPrefix(v, "-")
	switch {
	case name == string(bySpeed) && slices.Contains(p.r.sortNames(), v): // needs what runs, see checkSort
	case !slices.Contains(p.r.sorts, name):
		p.notOneOf(pm.name, v, p.r.sortNames())
		return ""
	case v == p.r.normal:
		return ""
	}
	p.out.Sort = index.Sort{Field: index.Field(name), Desc: desc}
	return v
}

// bySpeed is an order of what runs, by the speed that rows have in the member fit.
const bySpeed index.Field = "tps"

// checkSort rejects the order by speed of a list that is not of what runs.
func (p *parser) checkSort(main string) {
	if p.out.Sort.Field == bySpeed {
		p.fault(invalidParameter, "sort", p.values["sort"][0], "needs "+main+": it is the order of the speeds in the member fit")
	}
}

// speeds are the speeds of what runs by the ordinals of a table, which lists are sorted by.
func (q *listQuery) speeds(t *index.Table) []float64 {
	out := make([]float64, t.Len())
	for i := range out {
		out[i] = math.NaN()
	}
	for slug, b := range q.runs {
		if ord, ok := t.Find(slug); ok && b.TPS != nil {
			out[ord] = *b.TPS
		}
	}
	return out
}

// readFields reads the names of fields of the rows.
func (p *parser) readFields(pm *param, values []string) string {
	given := p.listed(pm, values)
	for _, name := range given {
		if !p.r.row.Has(name) {
			if f := p.fault(invalidParameter, pm.name, name, strconv.Quote(name)+" is not a field of "+p.r.name); f != nil {
				f.Suggestion = p.faults.Field(name, p.r.row.Names())
			}
		}
	}
	p.out.fields = given
	return strings.Join(given, ",")
}

func (p *parser) readLimit(pm *param, v string) string {
	n, err := strconv.Atoi(v)
	bulk := pm.name == "limit" && p.r.filed()
	switch {
	case bulk && v == allRows:
		p.out.all = true
		return "" // written by finish, as every limit
	case (err != nil || !digits(v) || n < 1 || n > p.r.maxLimit) && bulk:
		p.fault(invalidParameter, pm.name, v, fmt.Sprintf("must be a whole number from 1 to %d, or %s with a file format", p.r.maxLimit, allRows))
		return ""
	case err != nil || !digits(v) || n < 1 || n > p.r.maxLimit:
		p.fault(invalidParameter, pm.name, v, fmt.Sprintf("must be a whole number from 1 to %d", p.r.maxLimit))
		return ""
	}
	p.out.Limit, p.out.limited = n, true
	if pm.name != "limit" {
		return v
	}
	return "" // written by finish, after what a cursor is bound to
}

// readFormat reads the form of rows. It is written by finish: a cursor goes on in any form.
func (p *parser) readFormat(pm *param, v string) string {
	f, ok := export.FormatOf(v)
	if !ok || !slices.Contains(pm.values, f.String()) {
		p.notOneOf(pm.name, v, pm.values)
		return ""
	}
	p.out.format, p.out.formatGiven = f, true
	return ""
}

// checkAll rejects what does not go together with limit=all.
func (p *parser) checkAll() {
	switch {
	case !p.out.all:
	case p.values["cursor"] != nil:
		p.fault(invalidParameter, "cursor", p.values["cursor"][0], "must not be given with limit="+allRows+", which has no pages")
	case p.out.format == export.JSON:
		p.fault(invalidParameter, "limit", allRows, "needs format=csv, ndjson or parquet; JSON comes in pages")
	}
}

// finish puts the canonical address together and reads the cursor, which is bound to it.
func (p *parser) finish(canonical []string) {
	p.out.filters = "/api/v1/" + p.r.path + "?" + strings.Join(canonical, "&")
	p.checkAll()
	canonical = append(canonical, p.out.pageParams(p.r.byName["limit"] != nil)...)
	if tokens := p.values["cursor"]; tokens != nil {
		after, err := cursor.Decode(tokens[0], p.out.filters)
		p.cursorFault(tokens[0], err)
		p.out.After = after
		canonical = append(canonical, "cursor="+tokens[0])
	}
	p.out.canonical = address(p.r, canonical)
}

// pageParams are the parameters that a cursor is not bound to: the form of a page and its size.
func (q *listQuery) pageParams(limited bool) (out []string) {
	if q.format != export.JSON {
		out = append(out, "format="+q.format.String())
	}
	if q.all {
		out = append(out, "limit="+allRows)
	} else if limited && q.Limit != defaultLimit {
		out = append(out, "limit="+strconv.Itoa(q.Limit))
	}
	return out
}

// cursorFault reports a cursor that could not be read. Where other parameters are at fault too, the
// filters the cursor is bound to are not known, and a mismatch says nothing.
func (p *parser) cursorFault(token string, err error) {
	switch {
	case errors.Is(err, cursor.ErrInvalid):
		p.fault(invalidCursor, "cursor", token, "is damaged or was not made by this service; start again without it")
	case err != nil && p.faults.code == nil:
		p.fault(cursorMismatch, "cursor", token, "belongs to other filters or another sort; keep both as they were, or start again without it")
	}
}

func address(r *resource, params []string) string {
	if len(params) == 0 {
		return "/api/v1/" + r.path
	}
	return "/api/v1/" + r.path + "?" + strings.Join(params, "&")
}

// next is the address of the page behind a position.
func (q *listQuery) next(p *index.Position) string {
	params := append(q.pageParams(true), "cursor="+cursor.Encode(p, q.filters))
	if !strings.HasSuffix(q.filters, "?") {
		return q.filters + "&" + strings.Join(params, "&")
	}
	return q.filters + strings.Join(params, "&")
}

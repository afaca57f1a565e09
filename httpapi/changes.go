package httpapi

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/dataset/resolve"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/rowjson"
	"modeldex/httpapi/suggest"
	"modeldex/index"
)

// changeTables are the values of table.
var changeTables = record.Texts(record.ChangeTables)

var (
	changesSince   = param{name: "since", kind: versionRef, doc: "Dataset the caller has: its version, as every answer names it, its digest (the first 12 digits are enough), the git commit of a release (the first 7 digits are enough), or a day as YYYY-MM-DD, which means the dataset before the releases of that day. Changes that made later ones are listed. A version of several editions means the first of them, so that nothing is missed; the digest is exact. Without it every change known is listed."}
	changesTable   = param{name: "table", kind: wordList, values: changeTables, doc: "Changes of records of these kinds."}
	changesSlug    = param{name: "slug", kind: textList, meant: (*parser).changedSlugs, doc: "Changes of the records of these slugs, ids of benchmarks included. Another name of a record that is served, by the rules of GET /api/v1/resolve, means that record; a slug that has changes is always that slug, for the record may be gone."}
	changesField   = param{name: "field", kind: textList, doc: "Records in which one of these fields, or a field in it, has another value. Dotted names, such as architecture.context_length. Added and removed records are left out."}
	changesRecords = param{name: "records", kind: oneWord, values: []string{"false", "true"}, doc: "true: added records are shown as their files have them, so that the changes can be applied to a copy of the dataset. That is bulk data, so the rule of the dumps holds for it: open to all, for keys above the free tier, or off."}
	changesFormat  = param{name: "format", kind: oneWord, values: []string{"json", "ndjson"}, doc: "ndjson: one change per line, without the envelope; the Link header leads to the next page."}
	changesLimit   = param{name: "limit", kind: pageLimit, doc: "Most changes per page."}
	changesCursor  = param{name: "cursor", kind: cursorToken, doc: "Place to go on from, taken from links.next of the page before. The other parameters must stay as they were."}
)

// changesList is the list of what happened to records. It takes its parameters as the lists of
// records do, and has no sorts.
var changesList = withNames(resource{
	name: "changes", singular: "change", maxLimit: 500,
	params: []param{changesSince, changesTable, changesSlug, changesField, changesRecords, changesFormat, changesLimit, changesCursor},
})

// recordChanges is the list of what happened to one record.
var recordChanges = withNames(resource{
	name: "changes", singular: "change", maxLimit: 500,
	params: []param{changesSince, changesField, changesRecords, changesFormat, changesLimit, changesCursor},
})

// listChanges answers a page of changes.
func listChanges(s *Server, req *request) (*response, *failure) {
	if req.gen == nil {
		return nil, &failure{code: notReady, retryAfter: 1}
	}
	return s.changes(req, changesList)
}

// changesOf answers a page of the changes of one record: of one that is served or was once.
func (r *resource) changesOf(s *Server, req *request) (*response, *failure) {
	if req.gen == nil {
		return nil, &failure{code: notReady, retryAfter: 1}
	}
	slug := req.param("+") // of several segments, as "openai/gpt-oss-20b"
	if t := r.table(req.gen); !s.cfg.History.Now().Mentions(r.name, slug) {
		if _, ok := t.Find(slug); !ok {
			if known, ok := t.Resolve(slug); ok {
				resp := req.moved("/api/v1/" + r.name + "/" + url.PathEscape(known) + "/changes")
				resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
				return resp, nil
			}
			return r.elsewhere(req, t, slug)
		}
	}
	list := *recordChanges
	list.path = r.name + "/" + url.PathEscape(slug) + "/changes"
	list.fixed = map[string][]string{"table": {r.name}, "slug": {slug}}
	return s.changes(req, &list)
}

// changes answers a page of a list of changes.
func (s *Server) changes(req *request, list *resource) (*response, *failure) {
	args := req.ctx.QueryArgs()
	p := &parser{r: list, gen: req.gen, values: map[string][]string{}, past: s.cfg.History.Now()}
	q, f := p.parse(args)
	if f != nil {
		return nil, f
	}
	for name, values := range list.fixed {
		if q.selected == nil {
			q.selected = map[string][]string{}
		}
		q.selected[name] = values
	}
	if q.word(&changesRecords) == "true" {
		if f := s.admitBulk(req); f != nil {
			return nil, f
		}
	}
	since := string(args.Peek("since"))
	t, f := s.trailOf(req, q, since)
	if f != nil {
		if bad := checkSince(req.gen, since); f.faults[0].Name == changesSince.name && bad != nil {
			return nil, bad
		}
		return nil, f
	}
	lines := q.word(&changesFormat) == "ndjson"
	contentType := jsonType
	if lines {
		contentType = "application/x-ndjson"
	}
	// The way to a generation can become known after it is served, so its address alone does not
	// name a body.
	name := q.cacheName() + "\x00" + t.State()
	return s.cache.Render(req.content[:], req.coding, name, func() *response {
		body, link := changesBody(t, req.gen, q, lines)
		resp := newDocument(body, contentType, req.coding)
		resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
		if q.word(&changesRecords) == "true" {
			s.keepDump(resp, "max-age=300")
		}
		if link != "" {
			resp.set("Link", link)
		}
		resp.route = req.route
		return resp
	}), nil
}

// trailOf is the way from an edition to what is being served.
func (s *Server) trailOf(req *request, q *listQuery, since string) (changes.Trail, *failure) {
	past := s.cfg.History.Now()
	t, ok := past.Trail(req.gen, since)
	if !ok {
		return t, sinceUnknown(past, req.gen, since)
	}
	if q.After != nil && !t.Leads(q.After.Text) {
		cursor := string(req.ctx.QueryArgs().Peek("cursor"))
		return t, fail(versionGone, Fault{In: "query", Name: "cursor", Value: clip(cursor), Detail: "was made before the changes it leads to were recorded as another release", Suggestion: past.Nearest(req.gen)})
	}
	return t, nil
}

// sinceUnknown is the response to an edition that no way leads from.
func sinceUnknown(past *changes.Past, gen *index.Generation, since string) *failure {
	f := Fault{In: "query", Name: changesSince.name, Value: clip(since), Detail: "must be a version whose later changes are known", Suggestion: past.Nearest(gen)}
	if first := past.FirstDay(gen); first != "" && isDay(since) {
		f.Detail = "must be " + first + " or a later day: changes before that day are not known"
	}
	return fail(versionGone, f)
}

// checkSince rejects what can be no edition of this dataset, such as 7d: to say that it is gone would send the caller to read the
// lists anew.
func checkSince(gen *index.Generation, since string) *failure {
	if isDay(since) || isHex(since) || strings.Contains(since, ".") || !strings.Contains(gen.Info.Version, ".") {
		return nil
	}
	return badParameter(changesSince.name, since, noVersion+"; versions are such as "+gen.Info.Version)
}

func isDay(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// admitBulk lets a caller have whole records of the list of changes: those who may have the dumps.
func (s *Server) admitBulk(req *request) *failure {
	if f := s.admitDumps(req); f == nil || f.code != unknownRoute {
		return f
	}
	return badParameter(changesRecords.name, "true", "must be false: this server gives no records in bulk. The lists have the same records.")
}

// ofChanges is a query of the list of changes as the trail reads it.
func (q *listQuery) ofChanges() *changes.Query {
	return &changes.Query{Tables: q.selected["table"], Slugs: q.selected["slug"], Fields: q.selected["field"], Limit: q.Limit, After: q.After}
}

// changesBody makes the body of a page, and its Link header.
func changesBody(t changes.Trail, gen *index.Generation, q *listQuery, lines bool) (body []byte, link string) {
	found, total, last := t.Page(q.ofChanges())
	rows := t.Rows(found, q.word(&changesRecords) == "true")
	end, link := q.envelope(gen, total, len(rows), slices.Concat(q.notices, q.unknownFields(t), trailNotices(t)), last)
	if !lines {
		return slices.Concat(pageStart, bytes.Join(rows, []byte{','}), end), link
	}
	for _, row := range rows {
		body = append(append(body, row...), '\n')
	}
	return body, link
}

// trailNotices says what the changes of a trail leave out.
func trailNotices(t changes.Trail) (out []Notice) {
	if t.Gap {
		out = append(out, Notice{
			Code: "changes_unrecorded", Parameter: "since",
			Detail: "the dataset being served differs from the last recorded release, and not all of those differences are listed; compare dataset_digest, and read the lists anew if you need them",
		})
	}
	for _, s := range t.Steps {
		if n := s.LeftOut; n > 0 {
			out = append(out, Notice{
				Code: "changes_left_out", Parameter: "since", Count: &n,
				Detail: fmt.Sprintf("the load with digest %.12s changed %s more than are listed; read the lists anew", s.Digest, record.Counted(n, "record")),
			})
		}
	}
	return out
}

// changedFields are the fields of the files of each of changeTables.
var changedFields = map[string]*rowjson.FieldTree{
	"dataset": rowjson.TreeOf[dataset.Info](), "quantizations": rowjson.TreeOf[record.QuantizationType](),
	"models": rowjson.TreeOf[dataset.Model](), "hardware": rowjson.TreeOf[dataset.Hardware](), "tools": rowjson.TreeOf[dataset.Tool](),
	"benchmarks": rowjson.TreeOf[dataset.Benchmark](),
}

// unknownFields reports the fields that neither a file of the tables asked for nor a change has.
func (q *listQuery) unknownFields(t changes.Trail) (out []Notice) {
	tables := q.selected[changesTable.name]
	if tables == nil {
		tables = changeTables
	}
	unknown := slices.DeleteFunc(slices.Clone(q.selected[changesField.name]), func(name string) bool {
		return slices.ContainsFunc(tables, func(table string) bool { return changedFields[table].Has(name) })
	})
	if len(unknown) == 0 {
		return nil
	}
	var names []string
	for _, table := range tables {
		names = append(names, changedFields[table].Names()...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var near suggest.Suggester
	for _, name := range t.Unchanged(tables, unknown) { // others are fields of another time
		n := Notice{Code: unknownValue, Parameter: changesField.name, Value: clip(name), Detail: fmt.Sprintf("no record of %s has a field %q", strings.Join(tables, ", "), *clip(name))}
		for _, meant := range append([]string{near.Field(name, names)}, near.Near(name, names, mostSuggested)...) {
			if meant != "" && !slices.Contains(n.Suggestions, meant) && len(n.Suggestions) < mostSuggested {
				n.Suggestions = append(n.Suggestions, meant)
			}
		}
		out = append(out, n)
	}
	return out
}

// changedSlugs are the records whose changes are asked for. What is neither a slug of now nor of a change is read as a name.
func (p *parser) changedSlugs(pm *param, given []string) (slugs []string) {
	kind := resolve.Kind("")
	if tables := p.values[changesTable.name]; len(tables) == 1 {
		kind = map[string]resolve.Kind{"models": resolve.Model, "hardware": resolve.Hardware, "tools": resolve.Tool}[tables[0]]
	}
	for _, v := range given {
		if v == "" || p.isChangedSlug(v) {
			slugs = append(slugs, v)
			continue
		}
		a := p.gen.Names.Resolve(kind, v)
		switch {
		case a.Slug != "":
			if a.Confidence == resolve.Parsed {
				p.noticeResolved(pm, v, string(a.Slug), a.Reason)
			}
			slugs = append(slugs, string(a.Slug))
			continue
		case a.Explained() && len(a.Candidates) > 0:
			p.noticeExplained(pm, v, &a)
		default:
			near := candidateSlugs(&a)
			p.out.notices = append(p.out.notices, Notice{
				Code: unknownValue, Parameter: pm.name, Value: clip(v), Detail: fmt.Sprintf("no record and no change has %s %q", pm.name, *clip(v)),
				Suggestions: near[:min(mostSuggested, len(near))],
			})
		}
		slugs = append(slugs, v)
	}
	return slugs
}

// isChangedSlug reports whether a record that is served has a slug, or one that a change is of.
func (p *parser) isChangedSlug(slug string) bool {
	for _, r := range resources {
		if _, ok := r.table(p.gen).Find(slug); ok {
			return true
		}
	}
	return slug == "dataset" || slices.Contains(p.gen.Benchmarks.Values(index.Quantization), slug) ||
		slices.ContainsFunc(changeTables, func(table string) bool { return p.past.Mentions(table, slug) })
}

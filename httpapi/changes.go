package httpapi

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"

	"modeldex/dataset/record"
	"modeldex/httpapi/changes"
	"modeldex/index"
)

// changeTables are the values of table.
var changeTables = record.Texts(record.ChangeTables)

var (
	changesSince   = param{name: "since", kind: versionRef, doc: "Dataset the caller has: its version, as every answer names it, its digest (the first 12 digits are enough), the git commit of a release (the first 7 digits are enough), or a day as YYYY-MM-DD, which means the dataset before the releases of that day. Changes that made later ones are listed. A version of several editions means the first of them, so that nothing is missed; the digest is exact. Without it every change known is listed."}
	changesTable   = param{name: "table", kind: wordList, values: changeTables, doc: "Changes of records of these kinds."}
	changesSlug    = param{name: "slug", kind: textList, doc: "Changes of the records of these slugs, ids of benchmarks included. Aliases are not looked up, for the record may be gone."}
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
	q, f := list.parse(args, req.gen)
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
	t, f := s.trailOf(req, q, string(args.Peek("since")))
	if f != nil {
		return nil, f
	}
	lines := q.word(&changesFormat) == "ndjson"
	contentType := jsonType
	if lines {
		contentType = "application/x-ndjson"
	}
	// The way to a generation can become known after it is served, so its address alone does not
	// name a body.
	name := q.canonical + "\x00" + t.State()
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
		return t, fail(versionGone, Fault{In: "query", Name: "since", Value: clip(since), Detail: "must be a version whose later changes are known", Suggestion: past.Nearest(req.gen)})
	}
	if q.After != nil && !t.Leads(q.After.Text) {
		cursor := string(req.ctx.QueryArgs().Peek("cursor"))
		return t, fail(versionGone, Fault{In: "query", Name: "cursor", Value: clip(cursor), Detail: "was made before the changes it leads to were recorded as another release", Suggestion: past.Nearest(req.gen)})
	}
	return t, nil
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
	end, link := q.envelope(gen, total, len(rows), trailNotices(t), last)
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

package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"modeldex/dataset"
	"modeldex/dataset/history"
	"modeldex/dataset/record"
	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// ChangeRow is what one release, or one load of the dataset that is not released yet, did to one
// record.
type ChangeRow struct {
	// Version of the dataset with the change.
	DatasetVersion string `json:"dataset_version" jsonschema:"example=2026.11.21"`
	// SHA-256 over the record files of that dataset, in hex.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Day that dataset was released.
	Released dataset.Date `json:"released" jsonschema:"example=2026-11-21"`
	// Whether the change is part of a recorded release. Others were seen by this process only.
	Recorded bool `json:"recorded" jsonschema:"example=true"`
	// Kind of record: dataset is dataset.json itself, quantizations the known ways of storing weights.
	Table string `json:"table" jsonschema:"enum=dataset,enum=quantizations,enum=models,enum=hardware,enum=tools,enum=benchmarks,example=benchmarks"`
	// Slug of the record, id of a benchmark, name of a way of storing weights.
	Slug string `json:"slug" jsonschema:"example=bm-d20987d408c6"`
	// What happened to it. A withdrawn benchmark is still there and says why.
	Change record.Act `json:"change" jsonschema:"example=changed"`
	// Fields that have other values; empty where the record was added or removed.
	Fields []FieldChange `json:"fields"`
	// The record as its file has it: of a removed record before the change, with records=true of an added one after it; null otherwise.
	Record any `json:"record"`
}

// FieldChange is one field of a record that has another value.
type FieldChange struct {
	// Dotted name of the field.
	Field string `json:"field" jsonschema:"example=generation_tps"`
	// Where entries of a list of objects were added or removed: place of the first of them in the list, from 0; old and new then are the stretch of the list that differs. Null otherwise.
	At *int64 `json:"at" jsonschema:"nullable,minimum=0,example=2"`
	// Value before, null where it was unknown.
	Old any `json:"old"`
	// Value after, null where it is unknown.
	New any `json:"new"`
}

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
	if t := r.table(req.gen); !s.cfg.History.now().mentions(r.name, slug) {
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

// mentions says whether something is known to have happened to a record.
func (p *past) mentions(table, slug string) bool {
	has := func(s *step) bool { _, ok := s.entry(table, slug); return ok }
	return slices.ContainsFunc(p.recorded, has) || slices.ContainsFunc(p.loads, has)
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
	t, past, f := s.trailOf(req, q, string(args.Peek("since")))
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
	name := q.canonical + "\x00" + strconv.FormatUint(past.number, 10) + "\x00" + strconv.FormatUint(req.gen.Number, 10)
	return s.cache.getOrRender(req.content[:], req.coding, name, func() *response {
		body, link := t.render(past, req.gen, q, lines)
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

// trailOf is the way from an edition to what is being served, and the state of the history it was
// found in.
func (s *Server) trailOf(req *request, q *listQuery, since string) (trail, *past, *failure) {
	past := s.cfg.History.now()
	t, ok := past.trail(req.gen, since)
	if !ok {
		return t, nil, fail(versionGone, Fault{In: "query", Name: "since", Value: clip(since), Detail: "must be a version whose later changes are known", Suggestion: past.nearest(req.gen)})
	}
	if q.After != nil && indexOf(t.steps, q.After.Text) < 0 {
		cursor := string(req.ctx.QueryArgs().Peek("cursor"))
		return t, nil, fail(versionGone, Fault{In: "query", Name: "cursor", Value: clip(cursor), Detail: "was made before the changes it leads to were recorded as another release", Suggestion: past.nearest(req.gen)})
	}
	return t, past, nil
}

// admitBulk lets a caller have whole records of the list of changes: those who may have the dumps.
func (s *Server) admitBulk(req *request) *failure {
	if f := s.admitDumps(req); f == nil || f.code != unknownRoute {
		return f
	}
	return badParameter(changesRecords.name, "true", "must be false: this server gives no records in bulk. The lists have the same records.")
}

// found is one change of a trail.
type found struct {
	step int // of the trail
	history.Entry
}

// page selects the changes of a page; last is the place of the last of them, nil where no page
// follows.
func (t *trail) page(q *listQuery) (rows []found, total int, last *index.Position) {
	wanted := selection(q)
	started := q.After == nil
	more := false
	for i, s := range t.steps {
		for _, e := range s.Entries {
			if !wanted(e) {
				continue
			}
			total++
			switch {
			case !started && (s.Digest != q.After.Text || compareKeys(e, q.After.Slug) <= 0):
			case len(rows) < q.Limit:
				rows = append(rows, found{i, e})
			default:
				more = true
			}
		}
		started = started || s.Digest == q.After.Text
	}
	if more {
		end := rows[len(rows)-1]
		last = &index.Position{Known: true, Text: t.steps[end.step].Digest, Slug: string(end.Table) + "/" + end.Slug}
	}
	return rows, total, last
}

// compareKeys compares the place of a change within its step with that of a cursor.
func compareKeys(e history.Entry, key string) int {
	table, slug, _ := strings.Cut(key, "/")
	order := func(table string) int { return slices.Index(changeTables, table) }
	return cmp.Or(cmp.Compare(order(string(e.Table)), order(table)), strings.Compare(e.Slug, slug))
}

// selection is the filter of a query.
func selection(q *listQuery) func(e history.Entry) bool {
	tables, slugs, fields := lookUp(q.selected["table"]), lookUp(q.selected["slug"]), lookUp(q.selected["field"])
	changed := func(f record.FieldChange) bool { // the field, or one it is in
		for i, c := range []byte(f.Field) {
			if c == '.' && fields[f.Field[:i]] {
				return true
			}
		}
		return fields[f.Field]
	}
	return func(e history.Entry) bool {
		return (tables == nil || tables[string(e.Table)]) && (slugs == nil || slugs[e.Slug]) &&
			(fields == nil || slices.ContainsFunc(e.Fields, changed))
	}
}

// lookUp is texts to look up; nil where there are none.
func lookUp(texts []string) map[string]bool {
	if texts == nil {
		return nil
	}
	set := make(map[string]bool, len(texts))
	for _, text := range texts {
		set[text] = true
	}
	return set
}

// rows are changes as the list has them, with the records before and after if they are asked for.
func (t *trail) rows(p *past, gen *index.Generation, changes []found, records bool) [][]byte {
	rows := make([][]byte, len(changes))
	for i, f := range changes {
		row, err := jsonv2.Marshal(t.row(p, gen, f, records))
		if err != nil {
			panic(err) // made of texts and of values that were read from JSON
		}
		rows[i] = row
	}
	return rows
}

// render makes the body of a page, and its Link header.
func (t *trail) render(p *past, gen *index.Generation, q *listQuery, lines bool) (body []byte, link string) {
	found, total, last := t.page(q)
	rows := t.rows(p, gen, found, q.word(&changesRecords) == "true")
	end, link := q.envelope(gen, total, len(rows), t.notices(), last)
	if !lines {
		return slices.Concat(pageStart, bytes.Join(rows, []byte{','}), end), link
	}
	for _, row := range rows {
		body = append(append(body, row...), '\n')
	}
	return body, link
}

func (t *trail) row(p *past, gen *index.Generation, f found, records bool) *ChangeRow {
	s := t.steps[f.step]
	row := &ChangeRow{
		DatasetVersion: s.Version, Digest: s.Digest, Released: s.Released, Recorded: s.recorded,
		Table: string(f.Table), Slug: f.Slug, Change: f.Act, Fields: make([]FieldChange, len(f.Fields)),
	}
	for i, c := range f.Fields {
		row.Fields[i] = FieldChange{c.Field, c.At, c.Old, c.New}
	}
	switch {
	case f.Act == record.Removed:
		row.Record = f.Record
	case f.Act == record.Added && records:
		if line := t.after(p, gen, f); line != nil {
			row.Record = line
		}
	}
	return row
}

// after is a record as it was after a step: as it is served, with what happened since taken back.
// It is nil where that is not known any more.
func (t *trail) after(p *past, gen *index.Generation, f found) (line jsontext.Value) {
	_, loads := p.upTo(gen)
	if len(loads) == 0 || loads[len(loads)-1].records == nil {
		return nil
	}
	line, _ = loads[len(loads)-1].records().Line(string(f.Table), f.Slug)
	for i := len(t.steps) - 1; i > f.step; i-- {
		e, ok := t.steps[i].entry(string(f.Table), f.Slug)
		switch {
		case !ok:
		case e.Act == record.Removed:
			line = e.Record
		case e.Act == record.Added:
			line = nil
		case line != nil:
			before, err := history.Undo(line, e.Fields)
			if err != nil {
				return nil // the files were edited by hand
			}
			line = before
		}
	}
	return line
}

// entry is what a step did to a record.
func (s *step) entry(table, slug string) (history.Entry, bool) {
	at, ok := slices.BinarySearchFunc(s.Entries, table+"/"+slug, compareKeys)
	if !ok {
		return history.Entry{}, false
	}
	return s.Entries[at], true
}

// notices says what the changes of a trail leave out.
func (t *trail) notices() (out []Notice) {
	if t.gap {
		out = append(out, Notice{
			Code: "changes_unrecorded", Parameter: "since",
			Detail: "the dataset being served differs from the last recorded release, and not all of those differences are listed; compare dataset_digest, and read the lists anew if you need them",
		})
	}
	for _, s := range t.steps {
		if n := s.leftOut; n > 0 {
			out = append(out, Notice{
				Code: "changes_left_out", Parameter: "since", Count: &n,
				Detail: fmt.Sprintf("the load with digest %.12s changed %s more than are listed; read the lists anew", s.Digest, record.Counted(n, "record")),
			})
		}
	}
	return out
}

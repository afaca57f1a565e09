package httpapi

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"modeldex/httpapi/export"
	"modeldex/httpapi/rowjson"
	"modeldex/httpapi/suggest"
	"modeldex/index"
)

func (r *resource) one(s *Server, req *request) (*response, *failure) {
	name := req.param("*")
	if name == "" { // the list with a slash after it
		return req.moved("/api/v1/" + r.name), nil
	}
	if owner, ok := strings.CutSuffix(name, "/benchmarks"); ok && r != benchmarks {
		return r.benchmarksOf(req, owner)
	}
	q, bad := r.detail.parseFor(req)
	if bad == nil {
		bad = req.acceptsFormat(q)
	}
	if bad != nil {
		return nil, bad
	}
	t := r.table(req.gen)
	ord, ok := t.Find(name)
	if !ok {
		return r.elsewhere(req, t, name)
	}
	address := "/api/v1/" + r.name + "/" + name + strings.TrimPrefix(q.canonical, "/api/v1/"+r.name)
	if q.format != export.JSON {
		q.canonical = address
		return s.filed(req, q, func() ([]byte, string) { return r.fileOfOne(req, q, t, ord), "" }), nil
	}
	return s.cached(req, address, func() ([]byte, string) { return r.renderOne(req, q, t, ord), "" }), nil
}

// benchmarksOf answers the benchmarks of a record: a list with a filter.
func (r *resource) benchmarksOf(req *request, name string) (*response, *failure) {
	t := r.table(req.gen)
	slug := only(req.gen, t, name)
	if slug == "" {
		return nil, r.noRecord(t, name)
	}
	address := "/api/v1/benchmarks?" + r.singular + "=" + url.QueryEscape(slug)
	if query := req.ctx.URI().QueryString(); len(query) > 0 {
		address += "&" + string(query)
	}
	return req.moved(address), nil
}

func (r *resource) fileOfOne(req *request, q *listQuery, t *index.Table, ord uint32) []byte {
	columns := r.detail.schema(q)
	if q.noDetails {
		columns = columns.Without("benchmarks")
	}
	row := bytes.Join(r.record(req.gen, q, t, ord), nil)
	return fileOf(req.gen, q.format, columns, func() []byte {
		one := row
		row = nil
		return one
	})
}

// record is the pieces of a record at its own address; that of a model has its benchmarks.
func (r *resource) record(gen *index.Generation, q *listQuery, t *index.Table, ord uint32) [][]byte {
	row := t.Detail(ord)
	parts := [][]byte{row}
	if r == models && !q.noDetails && (q.fields == nil || slices.ContainsFunc(q.fields, func(f string) bool { return strings.HasPrefix(f, "benchmarks") })) {
		mine := gen.Benchmarks.Select(index.Query{
			Sets:  []index.Set{{Field: index.Model, Values: []string{t.Slug(ord)}, OnlySelf: true}},
			Limit: min(q.limitOr(maxOwnBenchmarks), maxOwnBenchmarks),
		})
		parts = append(gen.Benchmarks.AppendRows([][]byte{row[:len(row)-1], []byte(`,"benchmarks":[`)}, mine.Ords), []byte("]}"))
	}
	if kept := r.projectionTo(q.fields); kept != nil {
		parts = [][]byte{kept.Append(nil, bytes.Join(parts, nil))}
	}
	return parts
}

// elsewhere answers a name that is not a slug: an alias, other letter case or a slash at the end
// moves on, all else is not found.
func (r *resource) elsewhere(req *request, t *index.Table, name string) (*response, *failure) {
	for _, spelling := range []string{name, strings.ToLower(name), strings.TrimRight(name, "/")} {
		if slug := only(req.gen, t, spelling); slug != "" {
			return req.moved("/api/v1/" + r.name + "/" + url.PathEscape(slug)), nil
		}
	}
	return nil, r.noRecord(t, name)
}

func (r *resource) noRecord(t *index.Table, name string) *failure {
	fault := Fault{In: "path", Name: "slug", Value: clip(name), Detail: "no such " + r.singular}
	if r.key() == "id" {
		fault.Name = "id"
	}
	f := fail(notFound)
	for _, slug := range nearSlugs(t, name) {
		fault.Suggestion = slug
		f.faults = append(f.faults, fault)
	}
	if f.faults == nil {
		f.faults = []Fault{fault}
	}
	return f
}

// nearSlugs are the records the caller may have meant, by slug also where an alias was near.
func nearSlugs(t *index.Table, name string) []string {
	near := new(suggest.Suggester).Near(name, t.Names(), 3)
	for i := range near {
		near[i], _ = t.Resolve(near[i])
	}
	var slugs []string // a record may have several near names
	for _, slug := range near {
		if !slices.Contains(slugs, slug) {
			slugs = append(slugs, slug)
		}
	}
	return slugs
}

func (r *resource) renderOne(req *request, q *listQuery, t *index.Table, ord uint32) []byte {
	meta := rowjson.Marshal(recordMeta(req.gen, nil))
	parts := append([][]byte{[]byte(`{"data":`)}, r.record(req.gen, q, t, ord)...)
	return bytes.Join(append(parts, []byte(`,"meta":`), meta, []byte("}")), nil)
}

// maxOwnBenchmarks is how many benchmarks the detail of a model has at most; they take 7 MB. A response is made in
// memory, and of a million benchmarks one model has 39,000. No shipped model has a third of the bound.
const maxOwnBenchmarks = 5000

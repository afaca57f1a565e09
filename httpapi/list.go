package httpapi

import (
	"bytes"
	"slices"

	"modeldex/httpapi/export"
	"modeldex/index"

	"github.com/cespare/xxhash/v2"
	jsonv2 "github.com/goccy/go-json/v2"
	"github.com/gofiber/fiber/v2"
)

// page answers a list: parameters, then the page from the cache, or rendered.
func (r *resource) page(s *Server, req *request) (*response, *failure) {
	q, f := r.parseFor(req)
	if f != nil {
		return nil, f
	}
	if f := req.acceptsFormat(q); f != nil {
		return nil, f
	}
	t := r.table(req.gen)
	switch {
	case q.all:
		q.Limit = t.Len()
		ords := t.Select(q.Query).Ords
		return s.complete(req, q, r.schema(q), len(ords), func() export.Rows { return r.rowsOf(t, ords, q) })
	case q.format != export.JSON:
		return s.filed(req, q, func() ([]byte, string) {
			page := t.Select(q.Query)
			return fileOf(req.gen, q.format, r.schema(q), r.rowsOf(t, page.Ords, q)), q.link(page.Next)
		}), nil
	}
	return s.cached(req, q.cacheName(), func() ([]byte, string) { return r.render(req.gen, q) }), nil
}

// cacheName is the name of the page in the cache: its canonical address, and the names that were
// taken for other values, for the notices quote them.
func (q *listQuery) cacheName() string {
	name := q.canonical
	for _, n := range q.notices {
		if n.Code == "name_resolved" {
			name += "\x00" + n.Parameter + "=" + *n.Value
		}
	}
	return name
}

// cached returns the response of a canonical address from the cache, or renders it, and has the
// cache know it under the address as it was sent as well. link is the Link header, empty where
// there is none.
func (s *Server) cached(req *request, canonical string, render func() (body []byte, link string)) *response {
	return s.kept(req, canonical, func() *response {
		body, link := render()
		resp := newEntity(body, req.coding, jsonType, func(c coding) string { return etag(req.content[:], c, canonical) })
		resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
		if link != "" {
			resp.set("Link", link)
		}
		resp.private()
		if req.route.filed() {
			resp.set(fiber.HeaderVary, filedVary)
		}
		return resp
	})
}

// kept is cached for any response.
func (s *Server) kept(req *request, canonical string, render func() *response) *response {
	resp := s.cache.getOrRender(req.content[:], req.coding, canonical, func() *response {
		resp := render()
		resp.route = req.route
		resp.tag, resp.paging = xxhash.Sum64String(resp.etag), pagingOf(req.route.list, canonical)
		return resp
	})
	if req.accepts.any {
		s.cache.alias(resp, req.content[:], req.coding, req.accepts.best, canonical, req.ctx.RequestURI())
	}
	return resp
}

// render makes the body of a page: the rows as the index holds them, between the bytes of the
// envelope.
func (r *resource) render(gen *index.Generation, q *listQuery) (body []byte, link string) {
	t := r.table(gen)
	page := t.Select(q.Query)
	notices := slices.Concat(q.notices, q.excludedNotices(page.Excluded, page.ExcludedBySets), q.mixedNotice(t))
	end, link := q.envelope(gen, page.Total, len(page.Ords), notices, page.Next)
	if q.runs != nil || q.fields != nil {
		return append(r.appendRows(append([]byte{}, pageStart...), t, page.Ords, q), end...), link
	}
	return bytes.Join(append(t.AppendRows([][]byte{pageStart}, page.Ords), end), nil), link
}

// kept is the projection to some fields and the key of the records.
func (r *resource) kept(fields []string) *projection {
	if fields == nil {
		return nil
	}
	return newProjection(append([]string{r.key()}, fields...))
}

// key is the field that names a record.
func (r *resource) key() string {
	if r.byDate() {
		return "id"
	}
	return "slug"
}

// appendRows appends rows with what a query keeps of them, and what runs.
func (r *resource) appendRows(dst []byte, t *index.Table, ords []uint32, q *listQuery) []byte {
	kept := r.kept(q.fields)
	for i, ord := range ords {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendRow(dst, t, ord, kept, q)
	}
	return dst
}

// appendRow appends a row: what is kept of it, nil for all, and what runs as its last member.
func appendRow(dst []byte, t *index.Table, ord uint32, kept *projection, q *listQuery) []byte {
	if kept != nil {
		dst = kept.append(dst, t.Row(ord))
	} else {
		dst = append(dst, t.Row(ord)...)
	}
	if q.runs == nil {
		return dst
	}
	return append(append(append(dst[:len(dst)-1], `,"fit":`...), marshal(q.runs[t.Slug(ord)])...), '}')
}

var pageStart = []byte(`{"data":[`)

// envelope writes what follows the rows of a page; last is the place of the last row, nil where
// no page follows. link is the Link header.
func (q *listQuery) envelope(gen *index.Generation, total, count int, notices []Notice, last *index.Position) (end []byte, link string) {
	const typical = 512
	b := append(make([]byte, 0, typical), `],"meta":{"total":`...)
	b = appendInt(b, int64(total))
	b = append(b, `,"count":`...)
	b = appendInt(b, int64(count))
	b = append(b, `,"limit":`...)
	b = appendInt(b, int64(q.Limit))
	b = append(b, ',')
	b = append(b, q.meta...)
	b = append(b, `"dataset_version":`...)
	b = appendString(b, gen.Info.Version)
	b = append(b, `,"dataset_digest":"`...)
	b = append(b, gen.Digest.String()...)
	b = append(b, `","notices":`...)
	b = appendNotices(b, notices)
	b = append(b, `},"links":{"self":`...)
	b = appendString(b, q.canonical)
	b = append(b, `,"next":`...)
	if last == nil {
		return append(b, `null}}`...), ""
	}
	return append(appendString(b, q.next(last)), `}}`...), q.link(last)
}

// link is the Link header of a page, empty where no other follows.
func (q *listQuery) link(last *index.Position) string {
	if last == nil {
		return ""
	}
	return "<" + q.next(last) + `>; rel="next"`
}

func appendNotices(b []byte, notices []Notice) []byte {
	if len(notices) == 0 {
		return append(b, "[]"...)
	}
	text, err := jsonv2.Marshal(notices)
	if err != nil {
		panic(err) // notices hold clipped texts, which are valid UTF-8
	}
	return append(b, text...)
}

// parseFor is parse for a request, whose Accept header may ask for a file.
func (r *resource) parseFor(req *request) (*listQuery, *failure) {
	return (&parser{r: r, gen: req.gen, values: map[string][]string{}, accepts: req.accepts.best}).parse(req.ctx.QueryArgs())
}

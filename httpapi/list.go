package httpapi

import (
	"bytes"
	"slices"

	"modeldex/httpapi/encoding"
	"modeldex/httpapi/export"
	"modeldex/httpapi/rowjson"
	"modeldex/index"
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
		ords, _ := t.First(q.Query)
		return s.complete(req, q, r.schema(q), len(ords), func() export.Rows { return r.rowsOf(t, ords, q) })
	case q.format != export.JSON:
		return s.filed(req, q, func() ([]byte, string) {
			page := t.Select(q.Query)
			return fileOf(req.gen, q.format, r.schema(q), r.rowsOf(t, page.Ords, q)), q.link(page.Next)
		}), nil
	}
	name := q.cacheName()
	if q.runs == nil && q.fields == nil && req.coding == encoding.Identity && s.cache.FirstRequest(req.content[:], req.coding, name) {
		// The rows are sent from where the index has them: most pages are asked for once, and need no body of their own.
		parts, link := r.parts(req.gen, q)
		resp := dataResponse(req, name, nil, link)
		resp.parts, resp.route = parts, req.route
		return resp, nil
	}
	return s.cached(req, name, func() ([]byte, string) { return r.body(req.gen, q) }), nil
}

func (r *resource) body(gen *index.Generation, q *listQuery) (body []byte, link string) {
	parts, link := r.parts(gen, q)
	return bytes.Join(parts, nil), link
}

// parts are a page: the rows, between the bytes of the envelope, and its Link header.
func (r *resource) parts(gen *index.Generation, q *listQuery) (parts [][]byte, link string) {
	t := r.table(gen)
	page := t.Select(q.Query)
	notices := slices.Concat(q.notices, q.excludedNotices(page.Excluded, page.ExcludedBySets), throughputNotice(page.Unlisted), q.leftOutNotices(t), q.unknownWords(t, page.Total), mixedNotice(page.Mixed))
	end, link := q.envelope(page.Total, len(page.Ords), notices, page.Next)
	parts = append(make([][]byte, 0, 2+len(page.Ords)), pageStart)
	if q.runs != nil || q.fields != nil { // the rows are not as the index has them
		parts = append(parts, r.appendRows(nil, t, page.Ords, q))
	} else {
		parts = t.AppendRows(parts, page.Ords)
	}
	return append(parts, end), link
}

// projectionTo is the projection to some fields and the key of the records.
func (r *resource) projectionTo(fields []string) *rowjson.Projection {
	if fields == nil {
		return nil
	}
	return rowjson.NewProjection(append([]string{r.key()}, fields...))
}

// key is the field that names a record.
func (r *resource) key() string {
	if r.name == "benchmarks" || r.name == "quality" {
		return string(index.ID)
	}
	return string(index.Slug)
}

func (r *resource) appendRows(dst []byte, t *index.Table, ords []uint32, q *listQuery) []byte {
	kept := r.projectionTo(q.fields)
	if kept == nil {
		const fit = 400 // bytes of the member fit, about
		size := len(ords) * fit
		for _, ord := range ords {
			size += len(t.Row(ord))
		}
		dst = slices.Grow(dst, size)
	}
	for i, ord := range ords {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendRow(dst, t, ord, kept, q)
	}
	return dst
}

// appendRow appends a row with the kept fields (nil: all), and with what runs as its last member.
func appendRow(dst []byte, t *index.Table, ord uint32, kept *rowjson.Projection, q *listQuery) []byte {
	if kept != nil {
		dst = kept.Append(dst, t.Row(ord))
	} else {
		dst = append(dst, t.Row(ord)...)
	}
	if q.runs == nil {
		return dst
	}
	return append(append(append(dst[:len(dst)-1], `,"fit":`...), rowjson.Marshal(q.runs[t.Slug(ord)])...), '}')
}

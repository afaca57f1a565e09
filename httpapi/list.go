package httpapi

import (
	"bytes"
	"slices"
	"sync"

	"modeldex/index"

	"github.com/goccy/go-json/jsontext"
	jsonv2 "github.com/goccy/go-json/v2"
)

// scratch is memory for cache keys, reused between requests.
var scratch = sync.Pool{New: func() any { b := make([]byte, 0, 1024); return &b }}

// page answers a list.
func (r *resource) page(s *Server, x *exchange) reply {
	if e := s.foundLate(x); e != nil {
		return reply{entry: e}
	}
	q, f := r.parse(x.ctx.QueryArgs(), x.gen)
	if f != nil {
		return reply{failure: f}
	}
	if x.coding() == identity && takesWhole(x.ctx) && !s.kept(x, q.canonical) && !s.cache.worthKeeping(x.content[:], q.canonical) {
		return r.unkept(x, q)
	}
	return s.made(x, q.canonical, func() ([]byte, string) { return r.render(x.gen, q) })
}

// kept says whether the cache has the identity form of an address.
func (s *Server) kept(x *exchange, canonical string) bool {
	return s.cache.get(appendKey(nil, x.content[:], identity, canonical)) != nil
}

// found is the finished answer of the address as it was sent, nil where there is none. Nothing
// of the request has to be understood for it: only answers with 200 are kept.
func (s *Server) found(x *exchange) *entry {
	buf := scratch.Get().(*[]byte)
	*buf = appendKey((*buf)[:0], x.content[:], x.coding(), x.ctx.RequestURI())
	e := s.cache.get(*buf)
	scratch.Put(buf)
	return e
}

// foundLate is found for a request that hit has not asked for already.
func (s *Server) foundLate(x *exchange) *entry {
	if mayHit(x.ctx) {
		return nil
	}
	return s.found(x)
}

// made finds or makes the answer of a canonical address, and has it found by the address as it
// was sent from now on.
func (s *Server) made(x *exchange, canonical string, render func() (body []byte, link string)) reply {
	e := s.cache.make(x.content[:], x.coding(), canonical, x.rt, func(e *entry) {
		e.body, e.link = render()
		e.version = x.gen.Info.Version
	})
	s.cache.alias(e, x.content[:], x.coding(), x.ctx.RequestURI())
	return reply{entry: e}
}

// unkept answers a page from where the index holds its rows. No body is made of them: most
// pages of a query nobody asked lately are not asked for again, and a body is a hundred
// kilobytes to fill and to collect.
func (r *resource) unkept(x *exchange, q *listQuery) reply {
	e := &entry{etag: etag(x.content[:], identity, q.canonical), version: x.gen.Info.Version}
	x.parts, e.link = r.pieces(x.parts, x.gen, q)
	return reply{entry: e, parts: x.parts}
}

// render makes the body of a page in one piece.
func (r *resource) render(gen *index.Generation, q *listQuery) (body []byte, link string) {
	parts, link := r.pieces(nil, gen, q)
	return bytes.Join(parts, nil), link
}

var pageStart = []byte(`{"data":[`)

// pieces selects a page and appends the pieces of its body: the rows as the index holds them,
// between those of the envelope.
func (r *resource) pieces(dst [][]byte, gen *index.Generation, q *listQuery) (parts [][]byte, link string) {
	t := r.table(gen)
	page := t.Select(q.Query)
	notices := slices.Concat(q.notices, q.excludedNotices(page.Excluded))
	end, link := q.envelope(gen, page.Total, len(page.Ords), notices, page.Next)
	return append(t.AppendRows(append(dst, pageStart), page.Ords), end), link
}

// envelope writes what stands behind the rows of a page; last is the place of the last row, nil
// where no page follows. link is the Link header.
func (q *listQuery) envelope(gen *index.Generation, total, count int, notices []Notice, last *index.Position) (end []byte, link string) {
	const typical = 512
	b := append(make([]byte, 0, typical), `],"meta":{"total":`...)
	b = appendInt(b, int64(total))
	b = append(b, `,"count":`...)
	b = appendInt(b, int64(count))
	b = append(b, `,"limit":`...)
	b = appendInt(b, int64(q.Limit))
	b = append(b, `,"dataset_version":`...)
	b = appendString(b, gen.Info.Version)
	b = append(b, `,"notices":`...)
	b = appendNotices(b, notices)
	b = append(b, `},"links":{"self":`...)
	b = appendString(b, q.canonical)
	b = append(b, `,"next":`...)
	if last == nil {
		return append(b, `null}}`...), ""
	}
	next := q.next(last)
	return append(appendString(b, next), `}}`...), "<" + next + `>; rel="next"`
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

func appendString(b []byte, s string) []byte {
	out, err := jsontext.AppendQuote(b, s)
	if err != nil {
		panic(err) // addresses are escaped and versions checked
	}
	return out
}

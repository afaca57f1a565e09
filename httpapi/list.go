package httpapi

import (
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
	if e := s.found(x); e != nil {
		return reply{entry: e}
	}
	q, f := r.parse(x.ctx.QueryArgs(), x.gen)
	if f != nil {
		return reply{failure: f}
	}
	return s.made(x, q.canonical, func() ([]byte, string) { return r.render(x.gen, q) })
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

// render selects a page and writes its body: rows are copied between the envelope's parts.
func (r *resource) render(gen *index.Generation, q *listQuery) (body []byte, link string) {
	t := r.table(gen)
	page := t.Select(q.Query)
	notices := slices.Concat(q.notices, q.excludedNotices(page.Excluded))
	size := 1 << 10
	for _, ord := range page.Ords {
		size += len(t.Row(ord)) + 1
	}
	b := append(make([]byte, 0, size), `{"data":[`...)
	b = appendRows(b, t, page.Ords)
	b = append(b, `],"meta":{"total":`...)
	b = appendInt(b, int64(page.Total))
	b = append(b, `,"count":`...)
	b = appendInt(b, int64(len(page.Ords)))
	b = append(b, `,"limit":`...)
	b = appendInt(b, int64(q.Limit))
	b = append(b, `,"dataset_version":`...)
	b = appendString(b, gen.Info.Version)
	b = append(b, `,"notices":`...)
	b = appendNotices(b, notices)
	b = append(b, `},"links":{"self":`...)
	b = appendString(b, q.canonical)
	b = append(b, `,"next":`...)
	if page.Next == nil {
		return append(b, `null}}`...), ""
	}
	next := q.next(page.Next)
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

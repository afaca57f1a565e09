package httpapi

import (
	"modeldex/httpapi/rowjson"
	"modeldex/index"
)

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
	b = rowjson.AppendString(b, gen.Info.Version)
	b = append(b, `,"dataset_digest":"`...)
	b = append(b, gen.Digest.String()...)
	b = append(b, `","notices":`...)
	b = appendNotices(b, notices)
	b = append(b, `},"links":{"self":`...)
	b = rowjson.AppendString(b, q.canonical)
	b = append(b, `,"next":`...)
	if last == nil {
		return append(b, `null}}`...), ""
	}
	next := q.next(last)
	return append(rowjson.AppendString(b, next), `}}`...), nextLink(next)
}

// link is the Link header of a page, empty where no other follows.
func (q *listQuery) link(last *index.Position) string {
	if last == nil {
		return ""
	}
	return nextLink(q.next(last))
}

// nextLink is the Link header of a page that the page of an address follows.
func nextLink(address string) string { return "<" + address + `>; rel="next"` }

func appendNotices(b []byte, notices []Notice) []byte {
	if len(notices) == 0 {
		return append(b, "[]"...)
	}
	b = append(b, '[')
	for i := range notices {
		if i > 0 {
			b = append(b, ',')
		}
		b = notices[i].append(b)
	}
	return append(b, ']')
}

package httpapi

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"

	"modeldex/dataset/record"
	"modeldex/httpapi/connections"
	"modeldex/httpapi/encoding"
	"modeldex/httpapi/export"
	"modeldex/httpapi/rowjson"
	"modeldex/index"
	"modeldex/quota"
)

// fileOf makes a file of some rows, at its exact size: it may be kept in the cache.
func fileOf(gen *index.Generation, f export.Format, s *export.Schema, rows export.Rows) []byte {
	file := rowjson.Sure(export.NewReader(f, s, aboutOf(gen), rows, nil))
	return bytes.Clone(rowjson.Sure(io.ReadAll(file))) // rows are made by this program
}

func (r *resource) schema(q *listQuery) *export.Schema {
	s := r.columns()
	if q.runs == nil {
		s = s.Without("fit")
	}
	if q.fields != nil {
		s = s.Select(append([]string{r.key(), "fit"}, q.fields...))
	}
	return s
}

func rowsFile[Row any](gen *index.Generation, columns *export.Schema, rows []Row) []byte {
	return fileOf(gen, export.CSV, columns, eachOf(rows, func(row *Row) []byte { return rowjson.Marshal(row) }))
}

func eachOf[T any](values []T, row func(*T) []byte) export.Rows {
	return func() []byte {
		if len(values) == 0 {
			return nil
		}
		made := row(&values[0])
		values = values[1:]
		return made
	}
}

// rowsOf gives rows one after the other, as the JSON list has them. The formats with columns leave out by their
// schema what a query does not keep.
func (r *resource) rowsOf(t *index.Table, ords []uint32, q *listQuery) export.Rows {
	var space []byte
	var kept *rowjson.Projection
	if q.format == export.NDJSON {
		kept = r.projectionTo(q.fields)
	}
	return eachOf(ords, func(ord *uint32) []byte {
		if kept == nil && q.runs == nil {
			return t.Row(*ord)
		}
		space = appendRow(space[:0], t, *ord, kept, q)
		return space
	})
}

// complete answers with every row of a query, streamed. The call is extended before the first byte:
// the key pays for all rows or gets none.
func (s *Server) complete(req *request, q *listQuery, schema *export.Schema, count int, rows func() export.Rows) (*response, *failure) {
	tier := req.call.Standing().Tier
	if tier == quota.FreeTier {
		return nil, &failure{code: tierRequired, detail: fmt.Sprintf(
			"limit=%s (all rows in one response) needs a key in the tier %s; this key is in the tier %s. Without it, the same rows come in pages.",
			allRows, paidTiers(s.cfg.Keeper.Tiers()), tier)}
	}
	c := req.coding
	if q.format == export.Parquet {
		c = encoding.Identity // it is compressed inside
	}
	tag := contentTag(req.content[:], c, q.cacheName())
	resp := req.fileResponse(nil, c, q.format, tag)
	if req.has(tag) || req.refuses(tag) {
		return resp, nil // 304 or 412, free of charge
	}
	if f := req.extend(count); f != nil {
		return nil, f
	}
	end, why, ok := s.streams.Begin(req.call.ID())
	if !ok {
		return nil, s.noPlace(why)
	}
	gen := req.gen
	resp.stream = &connections.Stream{Size: -1, Done: end, Open: func() (io.Reader, error) {
		return export.NewReader(q.format, schema, aboutOf(gen), rows(), encoding.Compressor(c))
	}}
	return resp, nil
}

func (s *Server) noPlace(why connections.Refusal) *failure {
	const retry = 5 // seconds: a result of 100,000 rows takes about as long
	if why == connections.ManyOfOne {
		return &failure{code: burstExceeded, retryAfter: retry, detail: fmt.Sprintf("This key is already receiving %d complete results, the maximum. Wait until one has finished.", s.streams.PerKey)}
	}
	return &failure{code: serverBusy, retryAfter: retry, detail: "The server is sending the maximum number of complete results. Try again after Retry-After seconds."}
}

func (req *request) extend(rows int) *failure {
	cost := max(1, (rows+rowsPerCall-1)/rowsPerCall)
	switch req.call.Extend(uint64(cost)) {
	case quota.Admitted:
		return nil
	case quota.QuotaExhausted:
		st := req.call.Standing()
		return &failure{code: quotaExhausted, retryAfter: st.RetrySeconds(), detail: fmt.Sprintf(
			"This result has %s and costs %s; %d %s left this month. You were not charged.",
			record.Counted(rows, "row"), record.Counted(cost, "call"), st.Remaining, record.Noun(st.Remaining, "is", "are"))}
	default:
		return &failure{code: ledgerUnavailable, retryAfter: req.call.Standing().RetrySeconds()}
	}
}

func paidTiers(tiers quota.Tiers) string {
	var out []byte
	names := slices.DeleteFunc(tiers.Names(), func(name string) bool { return name == quota.FreeTier })
	for i, name := range names {
		if i > 0 {
			out = append(out, " or "...)
		}
		out = append(out, name...)
	}
	return string(out)
}

func (r *responseCache) filed(req *request, q *listQuery, render func() (file []byte, link string)) *response {
	name := q.cacheName()
	c := req.coding
	if q.format == export.Parquet {
		c = encoding.Identity
	}
	return r.cachedResponse(req, name, func() *response {
		file, link := render()
		if len(file) <= encoding.CompressFrom {
			c = encoding.Identity
		}
		resp := req.fileResponse(encoding.Compress(file, c), c, q.format, contentTag(req.content[:], c, name))
		if link != "" {
			resp.set("Link", link)
		}
		return resp
	})
}

func (req *request) fileResponse(body []byte, c encoding.Coding, f export.Format, tag string) *response {
	resp := encodedEntity(body, c, f.ContentType(), tag)
	resp.madeOf(req.gen.Info.Version, req.gen.Digest.String())
	resp.keep(privateCache, filedVary)
	resp.set("Content-Disposition", `attachment; filename="`+req.route.fileName()+"."+f.String()+`"`)
	return resp
}

func (rt *route) fileName() string {
	if rt.list != nil {
		return cmp.Or(rt.list.file, rt.list.name)
	}
	return rt.record.singular
}

// acceptsFormat rejects a response in a form that the caller neither asked for nor accepts.
func (req *request) acceptsFormat(q *listQuery) *failure {
	if !q.formatGiven && !req.accepts.Any {
		return fail(notAcceptable)
	}
	return nil
}

func (rt *route) filed() bool {
	return rt.list.filed() || rt.record != nil && rt.record.detail.filed()
}

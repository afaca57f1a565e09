package httpapi

import (
	"slices"

	"modeldex/httpapi/rowjson"
	"modeldex/index"
)

// A response of data has an envelope: rows, which are bytes that were made when the dataset was loaded, and around
// them what the types below say.

// Extent is the total number of items and the number on a page.
type Extent struct {
	// Number of matching records or groups on all pages.
	Total int `json:"total" jsonschema:"minimum=0,example=507"`
	// Number of records or groups on this page.
	Count int `json:"count" jsonschema:"minimum=0,example=100"`
	// Maximum number of records or groups per page.
	Limit int `json:"limit" jsonschema:"minimum=1,example=100"`
}

// Edition is the dataset an answer was made from.
type Edition struct {
	// Version of the dataset behind the response.
	DatasetVersion string `json:"dataset_version" jsonschema:"example=2026.11.21"`
	// SHA-256 of the files of that dataset, in hex. Responses with the same digest come from the same data.
	DatasetDigest string `json:"dataset_digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
}

// ListMeta is the metadata of a list.
type ListMeta struct {
	Extent
	Edition
	// Why the list may have fewer records than expected; often empty.
	Notices []Notice `json:"notices"`
}

// StatsMeta is the metadata of statistics.
type StatsMeta struct {
	Extent
	// Fields of the groups.
	GroupBy []string `json:"group_by" jsonschema:"example=hardware"`
	// Field of the statistics.
	Metric string `json:"metric" jsonschema:"example=generation_tps"`
	// Unit of the metric; empty for ratios.
	Unit string `json:"unit" jsonschema:"example=tokens/s"`
	// What counts once: a record, a source or a page.
	Weight string `json:"weight" jsonschema:"example=row"`
	// Settings that records must have, or all.
	Settings string `json:"settings" jsonschema:"example=single_stream"`
	// Definition of the quantiles, in the numbering of Hyndman and Fan.
	QuantileType int `json:"quantile_type" jsonschema:"example=7"`
	// Statistic in the cells of a pivot.
	Value string `json:"value,omitempty" jsonschema:"example=median"`
	Edition
	// Why there may be fewer groups than expected; often empty.
	Notices []Notice `json:"notices"`
}

// Links are URLs relative to this origin.
type Links struct {
	// Canonical URL of this list.
	Self string `json:"self" jsonschema:"format=uri-reference,example=/api/v1/models?family=llama"`
	// The next page; null on the last.
	Next *string `json:"next" jsonschema:"nullable,format=uri-reference,example=/api/v1/models?family=llama&cursor=AXm3"`
}

// RecordMeta is the metadata of a single record.
type RecordMeta struct {
	Edition
	// Notices about the answer; omitted if there are none.
	Notices []Notice `json:"notices,omitempty"`
}

func withMeta(gen *index.Generation, v any, notices ...Notice) []byte {
	return rowjson.Marshal(struct {
		Data any        `json:"data"`
		Meta RecordMeta `json:"meta"`
	}{v, recordMeta(gen, notices)})
}

func recordMeta(gen *index.Generation, notices []Notice) RecordMeta {
	return RecordMeta{editionOf(gen), notices}
}

func editionOf(gen *index.Generation) Edition { return Edition{gen.Info.Version, gen.Digest.String()} }

var pageStart = []byte(`{"data":[`)

// envelope is what follows the rows of a page, and its Link header; last is the place of the last row, nil where no
// page follows.
func (q *listQuery) envelope(total, count int, notices []Notice, last *index.Position) (end []byte, link string) {
	return q.envelopeOf(q.listMeta(total, count, notices), last)
}

func (q *listQuery) listMeta(total, count int, notices []Notice) ListMeta {
	return ListMeta{Extent{total, count, q.Limit}, editionOf(q.gen), notices}
}

// envelopeOf is envelope with another meta than that of lists.
func (q *listQuery) envelopeOf(meta any, last *index.Position) (end []byte, link string) {
	links := Links{Self: q.canonical}
	if last != nil {
		next := q.next(last)
		links.Next, link = &next, nextLink(next)
	}
	end = rowjson.Marshal(struct {
		Meta  any   `json:"meta"`
		Links Links `json:"links"`
	}{meta, links})
	return slices.Concat([]byte("],"), end[1:]), link
}

// dataWith is a body whose data is one value, in place of rows; end is an envelope.
func dataWith(v any, end []byte) []byte {
	return append(append([]byte(`{"data":`), rowjson.Marshal(v)...), end[1:]...) // without the bracket that ends a list
}

func (q *listQuery) link(last *index.Position) string {
	if last == nil {
		return ""
	}
	return nextLink(q.next(last))
}

// nextLink is the Link header of a page that the page of an address follows.
func nextLink(address string) string { return "<" + address + `>; rel="next"` }

package httpapi

import (
	"crypto/sha256"
	_ "embed"
	"sync"

	"modeldex/httpapi/encoding"
)

// openapiText is in the part of the program that nothing writes to, so that its megabyte is in memory
// only while it is read.
//
//go:embed openapi.json
var openapiText string

// openapiJSON is the OpenAPI document. The bytes are the caller's.
func openapiJSON() []byte { return []byte(openapiText) }

// document is a response that stays the same while the program runs: a page, a file of the
// pages, the OpenAPI document. Each coding is made when it is first asked for, so that a start
// does not compress what is never fetched. Safe for concurrent use.
type document struct {
	forms [encoding.Count]func() *response
}

// form is what a document is sent as.
type form struct {
	contentType string
	forever     bool // the address holds a hash of the content
	passing     bool // no cache keeps it: the address is that of other content
}

// newDocumentForms prepares a document of bytes that are as they are sent.
func newDocumentForms(body []byte, like form) *document {
	d := &document{}
	d.prepare(like, func() []byte { return body }, func(c encoding.Coding) []byte { return encoding.Compress(body, c) }, len(body) <= encoding.CompressFrom)
	return d
}

// prepare sets how each form is made. A form is made, and the plain content hashed, at the first request that needs it.
func (d *document) prepare(like form, plain func() []byte, body func(encoding.Coding) []byte, short bool) {
	sum := sync.OnceValue(func() [sha256.Size]byte { return sha256.Sum256(plain()) })
	for c := range encoding.Count {
		if short && c != encoding.Identity {
			d.forms[c] = d.forms[encoding.Identity]
			continue
		}
		d.forms[c] = sync.OnceValue(func() *response {
			hash := sum()
			resp := encodedEntity(body(c), c, like.contentType, etag(hash[:], c, ""))
			switch {
			case like.forever:
				resp.forever()
			case like.passing:
				resp.keep("no-store", openVary)
			default:
				resp.public()
			}
			return resp
		})
	}
}

// response is the form for an Accept-Encoding header.
func (d *document) response(acceptEncoding []byte) *response {
	return d.forms[encoding.Accepted(acceptEncoding)]()
}

// newOpenAPI is the OpenAPI document, whose forms are made when they are asked for.
func newOpenAPI() *document {
	d := &document{}
	d.prepare(form{contentType: jsonType}, openapiJSON, func(c encoding.Coding) []byte { return encoding.Compress(openapiJSON(), c) }, false)
	return d
}

// newDocument is an entity that is not a function of a query; its tag is of its content.
func newDocument(body []byte, contentType string, c encoding.Coding) *response {
	resp := newEntity(body, c, contentType, func(c encoding.Coding) string { return etag(body, c, "") })
	resp.public()
	return resp
}

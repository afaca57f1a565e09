package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
)

//go:embed openapi.json
var openapiJSON []byte

// document is a response that stays the same while the program runs: a page, a file of the
// pages, the OpenAPI document. Each coding is made when it is first asked for, so that a start
// does not compress what is never fetched. Safe for concurrent use.
type document struct {
	packed bool // its brotli form is embedded
	forms  [codingCount]func() *response
}

// form is what a document is sent as.
type form struct {
	contentType string
	policy      string // Content-Security-Policy, empty for none
	forever     bool   // the address holds a hash of the content
}

// newDocumentForms prepares a document of bytes that are as they are sent.
func newDocumentForms(body []byte, like form) *document {
	d := &document{}
	d.prepare(like, sumOfBytes(body), func(c coding) []byte { return compress(body, c) }, len(body) <= compressFrom)
	return d
}

// newPackedDocument prepares a document whose brotli form, made with more patience than a
// running server has, is embedded instead of itself.
func newPackedDocument(packed []byte, like form) *document {
	plain := sync.OnceValue(func() []byte { return unpack(packed) })
	d := &document{packed: true}
	d.prepare(like, sumOfBytes(packed), func(c coding) []byte {
		if c == brotliCoding {
			return packed
		}
		return compress(plain(), c)
	}, false)
	return d
}

func (d *document) prepare(like form, sum []byte, body func(coding) []byte, short bool) {
	for c := range codingCount {
		if short && c != identity {
			d.forms[c] = d.forms[identity]
			continue
		}
		d.forms[c] = sync.OnceValue(func() *response {
			resp := encodedEntity(body(c), c, like.contentType, etag(sum, c, ""))
			resp.shared = true
			if like.policy != "" {
				resp.set("Content-Security-Policy", like.policy)
			}
			if like.forever {
				resp.forever()
			} else {
				resp.public()
			}
			return resp
		})
	}
}

// response is the form for an Accept-Encoding header. What is packed is sent as it is packed
// where the caller can read it at all: the coding the caller's order would pick is larger.
func (d *document) response(acceptEncoding []byte) *response {
	if d.packed && takes(acceptEncoding, brotliCoding) {
		return d.forms[brotliCoding]()
	}
	return d.forms[accepted(acceptEncoding)]()
}

// takes says whether an Accept-Encoding header names a coding and does not refuse it.
func takes(header []byte, c coding) bool {
	for item := range bytes.SplitSeq(header, []byte{','}) {
		if name, weight := splitWeight(item); weight > 0 && equalFold(name, codingNames[c]) {
			return true
		}
	}
	return false
}

// unpack undoes brotli.
func unpack(packed []byte) []byte {
	b, err := io.ReadAll(brotli.NewReader(bytes.NewReader(packed)))
	if err != nil {
		panic(err) // embedded, and checked by a test
	}
	return b
}

func sumOfBytes(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// newDocument is an entity that is not a function of a query; its tag is of its content.
func newDocument(body []byte, contentType string, c coding) *response {
	resp := newEntity(body, c, contentType, func(c coding) string { return etag(body, c, "") })
	resp.public()
	return resp
}

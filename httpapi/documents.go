package httpapi

import (
	"crypto/sha256"
	_ "embed"
	"sync"

	"modeldex/httpapi/encoding"
	"modeldex/httpapi/rowjson"
)

// openapiText is in the part of the program that nothing writes to, so that its megabyte is in memory
// only while it is read.
//
//go:embed openapi.json
var openapiText string

// openapiJSON is the OpenAPI document. The bytes are the caller's.
func openapiJSON() []byte { return []byte(openapiText) }

// document is a response that stays the same while the program runs: a file of the pages, the OpenAPI document. Its
// content is hashed at the first request.
type document struct {
	contentType string
	forever     bool // the address holds a hash of the content
	body        func() []byte
	sum         func() [sha256.Size]byte
}

func newStatic(contentType string, forever bool, body func() []byte) *document {
	return &document{contentType, forever, body, sync.OnceValue(func() [sha256.Size]byte { return sha256.Sum256(body()) })}
}

func (s *Server) document(req *request, address string) (*response, *failure) {
	d := s.pages.documents[address]
	if d == nil {
		return nil, fail(unknownRoute)
	}
	sum := d.sum()
	resp := s.open.Render(sum[:16], req.coding, address, func() *response {
		resp := newEntity(d.body(), req.coding, d.contentType, sum[:], "")
		if resp.public(); d.forever {
			resp.forever()
		}
		resp.route = req.route
		return resp
	})
	s.open.Alias(resp, req.content[:], req.coding, req.accepts.Best, address, s.spelling(req))
	return resp, nil
}

func static(address string) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) { return s.document(req, address) }
}

// bare is an answer that takes no parameters.
func bare(answer func(*Server, *request) (*response, *failure)) func(*Server, *request) (*response, *failure) {
	return func(s *Server, req *request) (*response, *failure) {
		if f := req.noParameters(); f != nil {
			return nil, f
		}
		return answer(s, req)
	}
}

// newData is a document with a value as its data.
func newData(req *request, v any) *response {
	return newDocument(rowjson.Marshal(map[string]any{"data": v}), jsonType, req.coding)
}

// newDocument is an entity that is not a function of a query; its tag is of its content.
func newDocument(body []byte, contentType string, c encoding.Coding) *response {
	sum := sha256.Sum256(body)
	resp := newEntity(body, c, contentType, sum[:], "")
	resp.public()
	return resp
}

package httpapi

import (
	"strings"

	"modeldex/snapshot"
)

func listSnapshots(_ *Server, req *request) (*response, *failure) {
	return newData(req, req.catalog.List()), nil
}

func latestSnapshot(s *Server, req *request) (*response, *failure) {
	published, ok := req.catalog.Latest()
	if !ok {
		return nil, &failure{code: notFound, detail: "No snapshot document is published."}
	}
	return s.sendPublished(req, published, "/api/v1/snapshots/latest", (*response).public)
}

func snapshotByHash(s *Server, req *request) (*response, *failure) {
	published, ok := req.catalog.Lookup(strings.ToLower(req.param("hash")))
	if !ok {
		return nil, &failure{code: notFound, detail: "No published snapshot document has this hash. GET /api/v1/snapshots lists all documents."}
	}
	return s.sendPublished(req, published, "/api/v1/snapshots/"+published.Hash, (*response).forever)
}

// sendPublished sends a document's own bytes, compressed where the caller likes. The tag is of
// the document, whatever the address; keep says how long that address may be kept.
func (s *Server) sendPublished(req *request, published *snapshot.Published, address string, keep func(*response)) (*response, *failure) {
	content := []byte(published.Hash[:16])
	return s.open.Render(content, req.coding, address, func() *response {
		resp := newEntity(published.Body(), req.coding, jsonType, content, "")
		keep(resp)
		return resp
	}), nil
}

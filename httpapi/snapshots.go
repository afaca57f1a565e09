package httpapi

import (
	"strings"
	"time"

	"modeldex/httpapi/encoding"
	"modeldex/snapshot"
)

// SnapshotInfo is one published snapshot document in the list of them.
type SnapshotInfo struct {
	// Hash of the document, its immutable address.
	Hash string `json:"output_hash_sha256" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Address of the document.
	URL string `json:"url" jsonschema:"example=/api/v1/snapshots/e554ef47"`
	// Version of its schema.
	SchemaVersion string `json:"schema_version" jsonschema:"example=service-model-intelligence-snapshot-v1"`
	// Address of its schema.
	SchemaURL string `json:"schema_url"`
	// When it was made.
	GeneratedAt time.Time `json:"generated_at"`
	// Licence of the document.
	License string `json:"license"`
	// Whom it owes its numbers to.
	Attribution string `json:"attribution"`
	// Models in it.
	ModelCount int64 `json:"model_count"`
	// Scores in it.
	ScoreCount int64 `json:"score_count"`
	// Evaluation sources it draws on.
	SourceCount int64 `json:"source_count"`
	// Models by confidence of their composite.
	ConfidenceCounts snapshot.ConfidenceCounts `json:"confidence_counts"`
	// Size of the document, in bytes.
	Bytes int `json:"bytes"`
}

func listSnapshots(_ *Server, req *request) (*response, *failure) {
	return newData(req, snapshotInfos(req.catalog)), nil
}

func snapshotInfos(catalog *snapshot.Catalog) []SnapshotInfo {
	list := catalog.List()
	infos := make([]SnapshotInfo, len(list))
	for i, d := range list {
		infos[i] = SnapshotInfo{
			Hash: d.Hash, URL: "/api/v1/snapshots/" + d.Hash, SchemaVersion: d.SchemaVersion, SchemaURL: d.SchemaURL,
			GeneratedAt: d.GeneratedAt, License: d.License, Attribution: d.Attribution, ModelCount: d.ModelCount,
			ScoreCount: d.ScoreCount, SourceCount: d.SourceCount, ConfidenceCounts: d.ConfidenceCounts, Bytes: d.Bytes,
		}
	}
	return infos
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
		return nil, &failure{code: notFound, detail: "No published snapshot document has this hash. GET /api/v1/snapshots lists them."}
	}
	return s.sendPublished(req, published, "/api/v1/snapshots/"+published.Hash, (*response).forever)
}

// sendPublished sends a document's own bytes, compressed where the caller likes. The tag is of
// the document, whatever the address; keep says how long that address may be kept.
func (s *Server) sendPublished(req *request, published *snapshot.Published, address string, keep func(*response)) (*response, *failure) {
	content := []byte(published.Hash[:16])
	return s.open.Render(content, req.coding, address, func() *response {
		resp := newEntity(published.Body(), req.coding, jsonType, func(c encoding.Coding) string { return etag(content, c, "snapshot") })
		keep(resp)
		return resp
	}), nil
}

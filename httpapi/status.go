package httpapi

import (
	"context"
	"errors"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/record"
	"modeldex/httpapi/changes"
	"modeldex/httpapi/rowjson"
	"modeldex/quota"
	"modeldex/snapshot"

	"github.com/gofiber/fiber/v2"
)

// DatasetView is the dataset in use.
type DatasetView struct {
	// Version of the dataset, as in every response.
	Version string `json:"version" jsonschema:"example=2026.11.21"`
	// SHA-256 of the files, in hex.
	Digest string `json:"digest" jsonschema:"pattern=^[0-9a-f]{64}$"`
	// Version of the file format.
	SchemaVersion int64 `json:"schema_version" jsonschema:"example=1"`
	// Name of the dataset.
	Title string `json:"title" jsonschema:"example=modeldex"`
	// Licence of the dataset.
	License string `json:"licence" jsonschema:"example=CC-BY-SA-4.0"`
	// Release day of the dataset.
	Released dataset.Date `json:"released" jsonschema:"example=2026-11-21"`
	// When this process loaded it.
	Loaded time.Time `json:"loaded"`
	// Number of loads in this process so far, from 1.
	Generation uint64 `json:"generation" jsonschema:"minimum=1,example=1"`
	// Number of records.
	Counts Counts `json:"counts"`
	// How recent the data is.
	Freshness dataset.Freshness `json:"freshness"`
	// The most recent load if it was rejected, otherwise null.
	Refused *changes.Refused `json:"refused" jsonschema:"nullable"`
	// Faults of snapshot documents that are therefore not published: at most 20.
	SnapshotsRefused []string `json:"snapshots_refused" jsonschema:"example=snapshot-2026-11-22.json: output_hash_sha256: must be the SHA-256 of the document"`
}

// Counts is the number of records by kind.
type Counts struct {
	// Number of models.
	Models int `json:"models" jsonschema:"example=507"`
	// Number of hardware records.
	Hardware int `json:"hardware" jsonschema:"example=614"`
	// Number of tools.
	Tools int `json:"tools" jsonschema:"example=213"`
	// Number of benchmarks.
	Benchmarks int `json:"benchmarks" jsonschema:"example=5496"`
	// Number of quality measurements of quantizations.
	Quality int `json:"quality" jsonschema:"example=310"`
}

// Health is the answer of /healthz and /readyz.
type Health struct {
	// ok, or what is missing.
	Status string `json:"status" jsonschema:"example=ok"`
	// Version of the dataset being served, null before the first.
	DatasetVersion *string `json:"dataset_version,omitempty" jsonschema:"nullable,example=2026.11.21"`
	// The most recent load, if it was rejected; left out otherwise.
	Refused *changes.Refused `json:"refused,omitempty"`
	// Findings of snapshot documents that are not published, at most 20; left out if there are none.
	SnapshotsRefused []string `json:"snapshots_refused,omitempty" jsonschema:"example=snapshot-2026-11-22.json: output_hash_sha256: must be the SHA-256 of the document"`
	// Repairs made when the ledger was opened, and failed key changes; omitted if there are none.
	LedgerWarnings []string `json:"ledger_warnings,omitempty" jsonschema:"example=one of the two head pages is damaged: the last change may be missing"`
}

// showDataset answers what is being served. It is made again each time: a rejected load shows at once.
func showDataset(s *Server, req *request) (*response, *failure) {
	if req.gen == nil {
		return nil, &failure{code: notReady, retryAfter: 1}
	}
	g := req.gen
	resp := newData(req, DatasetView{
		Version: g.Info.Version, Digest: g.Digest.String(), SchemaVersion: g.Info.SchemaVersion, Title: g.Info.Title,
		License: g.Info.License, Released: g.Info.Released, Loaded: g.Loaded, Generation: g.Number,
		Counts:    Counts{g.Models.Len(), g.Hardware.Len(), g.Tools.Len(), g.Benchmarks.Len(), g.Quality.Len()},
		Freshness: g.Freshness, Refused: s.cfg.History.Refused(g), SnapshotsRefused: refusedSnapshots(req.catalog),
	})
	resp.madeOf(g.Info.Version, g.Digest.String())
	return resp, nil
}

func refusedSnapshots(catalog *snapshot.Catalog) []string {
	out := []string{}
	findings := catalog.Rejected()
	for _, f := range findings[:min(len(findings), changes.ShownFindings)] {
		out = append(out, record.Clip(f.String(), 1000))
	}
	return out
}

func alive(*Server, *request) (*response, *failure) {
	return health(fiber.StatusOK, Health{Status: "ok"})
}

func ready(s *Server, req *request) (*response, *failure) {
	h := Health{Status: "ok", Refused: s.cfg.History.Refused(req.gen), SnapshotsRefused: refusedSnapshots(req.catalog), LedgerWarnings: s.cfg.Keeper.Warnings()}
	if s.stopping.Load() {
		h.Status = "the server is stopping"
		return health(fiber.StatusServiceUnavailable, h)
	}
	if req.gen == nil {
		h.Status = "no dataset is loaded"
		return health(fiber.StatusServiceUnavailable, h)
	}
	h.DatasetVersion = &req.gen.Info.Version
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := s.cfg.Keeper.Ready(ctx); err != nil {
		if !s.unready.Swap(true) { // once: a balancer asks every second or two
			s.cfg.Log.Warn("not ready", "cause", err)
		}
		h.Status = "the ledger does not answer"
		if errors.Is(err, quota.ErrDiskFull) {
			h.Status = "cannot write the ledger: the disk is full"
		}
		return health(fiber.StatusServiceUnavailable, h)
	}
	if s.unready.Load() && s.unready.Swap(false) {
		s.cfg.Log.Info("ready again")
	}
	return health(fiber.StatusOK, h)
}

func health(status int, h Health) (*response, *failure) {
	return uncached(status, rowjson.Marshal(h)), nil
}

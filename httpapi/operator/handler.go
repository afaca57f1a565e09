package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"path/filepath"
	"strings"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Bodies of the admin listener, as both its sides write and read them.
type (
	issuedBody struct {
		Secret  string         `json:"secret"`
		Account *quota.Account `json:"account"` // nil when nothing was issued
		Reason  quota.Reason   `json:"reason"`  // with Faults, why
		Faults  []quota.Fault  `json:"faults"`
	}
	listBody struct {
		quota.Filter
		Limit int `json:"limit"`
	}
	tierBody struct {
		Tier  string `json:"tier"`
		Limit uint64 `json:"limit"`
	}
)

// statusVerbs say what was done to a key that has a status now.
var statusVerbs = map[quota.Status]string{quota.StatusActive: "resumed", quota.StatusSuspended: "suspended", quota.StatusRevoked: "revoked"}

const jsonType = "application/json"

// Admin is what an admin listener serves: metrics, keys and the ledger.
type Admin struct {
	Keys    Keys
	Ledger  Ledger
	Address string // Place.Address of the ledger
	Metrics http.Handler
	// BackupDir is the one directory that copies are written into: the path of a copy is a file name then. Empty means
	// that an operator names any path that the server may write, as through a socket that only its user can open.
	BackupDir string
	// Log gets a line for each change of a key and each copy of the ledger, with ids and tiers, and never a name, an
	// e-mail address or a secret. By says how they were asked for, such as "admin socket".
	Log *slog.Logger
	By  string
}

// Handler checks no credentials: it belongs on a socket that only its owner can open, or behind a Guard.
func (a *Admin) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.Metrics)
	route(mux, "POST /keys", func(ctx context.Context, _ quota.ID, req quota.IssueRequest) (issuedBody, error) {
		req.Operator = true
		issued, refusal, err := a.Keys.Issue(ctx, req)
		if err != nil || refusal.Reason != 0 {
			return issuedBody{Reason: refusal.Reason, Faults: refusal.Faults}, err
		}
		a.log(nil, "key issued", "id", issued.Account.ID.String(), "tier", issued.Account.Tier, "limit", issued.Account.Limit)
		return issuedBody{Secret: issued.Secret.Reveal(), Account: &issued.Account}, nil
	})
	route(mux, "POST /keys/list", func(ctx context.Context, _ quota.ID, in listBody) ([]quota.Account, error) {
		return a.Keys.List(ctx, in.Filter, in.Limit)
	})
	route(mux, "POST /keys/find", func(ctx context.Context, _ quota.ID, text string) ([]quota.Account, error) {
		return a.Keys.Find(ctx, text)
	})
	route(mux, "POST /keys/{id}/usage", func(ctx context.Context, id quota.ID, _ struct{}) ([]quota.MonthCalls, error) {
		return a.Keys.Usage(ctx, id)
	})
	route(mux, "POST /keys/{id}/status", func(ctx context.Context, id quota.ID, to quota.Status) (quota.Account, error) {
		account, err := a.Keys.SetStatus(ctx, id, to)
		a.log(err, "key "+statusVerbs[to], "id", id.String())
		return account, err
	})
	route(mux, "POST /keys/{id}/erase", func(ctx context.Context, id quota.ID, _ struct{}) (quota.Account, error) {
		account, err := a.Keys.Erase(ctx, id)
		a.log(err, "key erased", "id", id.String())
		return account, err
	})
	route(mux, "POST /keys/{id}/tier", func(ctx context.Context, id quota.ID, in tierBody) (quota.Account, error) {
		var before quota.Account
		if found, err := a.Keys.Find(ctx, id.String()); err == nil && len(found) == 1 {
			before = found[0]
		}
		account, err := a.Keys.SetTier(ctx, id, in.Tier, in.Limit)
		a.log(err, "tier of key set", "id", id.String(), "old_tier", before.Tier, "old_limit", before.Limit, "tier", account.Tier, "limit", account.Limit)
		return account, err
	})
	route(mux, "POST /ledger/address", func(context.Context, quota.ID, struct{}) (string, error) { return a.Address, nil })
	route(mux, "POST /ledger/check", func(ctx context.Context, _ quota.ID, _ struct{}) (quota.Report, error) {
		return a.Ledger.Check(ctx)
	})
	route(mux, "POST /ledger/backup", func(ctx context.Context, _ quota.ID, path string) (int64, error) {
		if a.BackupDir != "" {
			if path != filepath.Base(path) || !filepath.IsLocal(path) || strings.HasPrefix(path, ".") || strings.ContainsAny(path, `/\`) {
				return 0, fmt.Errorf("over TCP a copy is named by a plain file name, and written beside the ledger, got %q", path)
			}
			path = filepath.Join(a.BackupDir, path)
		}
		n, err := a.Ledger.BackupFile(ctx, path)
		a.log(err, "ledger backed up", "path", path, "bytes", n)
		return n, err
	})
	return mux
}

// log writes a line about a change, unless it failed.
func (a *Admin) log(err error, what string, args ...any) {
	if err == nil {
		a.Log.Info(what, append(args, "by", a.By)...)
	}
}

// route serves one verb: a JSON value in, a JSON value out, an error as its text.
func route[In, Out any](mux *http.ServeMux, pattern string, do func(context.Context, quota.ID, In) (Out, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		var in In
		id, known := quota.ParseID(r.PathValue("id"))
		if strings.Contains(pattern, "{id}") && !known {
			http.Error(w, "no such key", http.StatusBadRequest)
			return
		}
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != jsonType {
			// A form of a web page can post text to any address, but not this type.
			http.Error(w, "send the body as "+jsonType, http.StatusUnsupportedMediaType)
			return
		}
		if err := jsonv2.UnmarshalRead(io.LimitReader(r.Body, 1<<16), &in, jsonv2.RejectUnknownMembers(true)); err != nil {
			http.Error(w, "reading the request: "+err.Error(), http.StatusBadRequest)
			return
		}
		out, err := do(r.Context(), id, in)
		if tier, ok := errors.AsType[*quota.UnknownTierError](err); ok {
			http.Error(w, tier.Error(), http.StatusUnprocessableEntity) // which the client tells from other errors
			return
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", jsonType)
		_ = jsonv2.MarshalWrite(w, out) // the reader went away
	})
}

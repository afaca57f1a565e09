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

// statusVerbs say what was done to a key that has a status now.
var statusVerbs = map[quota.Status]string{quota.StatusActive: "resumed", quota.StatusSuspended: "suspended", quota.StatusRevoked: "revoked"}

// Handler checks no credentials: it belongs on a socket that only its owner can open, or behind a Guard.
func (a *Admin) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.Metrics)
	issueKey.handle(mux, func(ctx context.Context, req quota.IssueRequest) (issued, error) {
		req.Unlimited = true
		key, refusal, err := a.Keys.Issue(ctx, req)
		if err != nil || refusal.Reason != 0 {
			return issued{Reason: refusal.Reason, Faults: refusal.Faults}, err
		}
		a.log(nil, "key issued", "id", key.Account.ID.String(), "tier", key.Account.Tier, "limit", key.Account.Limit)
		return issued{Secret: key.Secret.Reveal(), Account: &key.Account}, nil
	})
	listKeys.handle(mux, func(ctx context.Context, in listing) ([]quota.Account, error) {
		return a.Keys.List(ctx, in.Filter, in.Limit)
	})
	findKeys.handle(mux, a.Keys.Find)
	keyUsage.handle(mux, a.Keys.Usage)
	setStatus.handle(mux, func(ctx context.Context, in changed) (quota.Account, error) {
		account, err := a.Keys.SetStatus(ctx, in.ID, in.Status)
		a.log(err, "key "+statusVerbs[in.Status], "id", in.ID.String())
		return account, err
	})
	eraseKey.handle(mux, func(ctx context.Context, in changed) (quota.Account, error) {
		account, err := a.Keys.Erase(ctx, in.ID)
		a.log(err, "key erased", "id", in.ID.String())
		return account, err
	})
	setTier.handle(mux, func(ctx context.Context, in changed) (quota.Account, error) {
		var before quota.Account
		if found, err := a.Keys.Find(ctx, in.ID.String()); err == nil && len(found) == 1 {
			before = found[0]
		}
		account, err := a.Keys.SetTier(ctx, in.ID, in.Tier, in.Limit)
		a.log(err, "tier of key set", "id", in.ID.String(), "old_tier", before.Tier, "old_limit", before.Limit, "tier", account.Tier, "limit", account.Limit)
		return account, err
	})
	address.handle(mux, func(context.Context, struct{}) (string, error) { return a.Address, nil })
	check.handle(mux, func(ctx context.Context, _ struct{}) (quota.Report, error) { return a.Ledger.Check(ctx) })
	backup.handle(mux, func(ctx context.Context, path string) (int64, error) {
		if a.BackupDir != "" {
			if path != filepath.Base(path) || !filepath.IsLocal(path) || strings.HasPrefix(path, ".") || strings.ContainsAny(path, `/\`) {
				return 0, fmt.Errorf("over TCP, name the copy by a plain file name; it is written next to the ledger; got %q", path)
			}
			path = filepath.Join(a.BackupDir, path)
		}
		n, err := a.Ledger.BackupFile(ctx, path)
		a.log(err, "ledger backed up", "path", path, "bytes", n)
		return n, err
	})
	return mux
}

func (a *Admin) log(err error, what string, args ...any) {
	if err == nil {
		a.Log.Info(what, append(args, "by", a.By)...)
	}
}

// handle answers a verb with what do returns.
func (v verb[In, Out]) handle(mux *http.ServeMux, do func(context.Context, In) (Out, error)) {
	mux.HandleFunc("POST "+string(v), func(w http.ResponseWriter, r *http.Request) {
		var in In
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != jsonType {
			// A form of a web page can post text to any address, but not this type.
			http.Error(w, "send the body as "+jsonType, http.StatusUnsupportedMediaType)
			return
		}
		if err := jsonv2.UnmarshalRead(io.LimitReader(r.Body, 1<<16), &in, jsonv2.RejectUnknownMembers(true)); err != nil {
			http.Error(w, "reading the request: "+err.Error(), http.StatusBadRequest)
			return
		}
		out, err := do(r.Context(), in)
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

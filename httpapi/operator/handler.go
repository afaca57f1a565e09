package operator

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
)

// The bodies of the admin listener, as both its sides write and read them.
type (
	issueBody struct {
		Name    string `json:"name"`
		Email   string `json:"email"`
		UseCase string `json:"use_case"`
		Tier    string `json:"tier"`
		Limit   uint64 `json:"limit"`
	}
	issuedBody struct {
		Secret  string         `json:"secret"`
		Account *quota.Account `json:"account"` // nil when nothing was issued
		Reason  quota.Reason   `json:"reason"`  // with Faults, why
		Faults  []quota.Fault  `json:"faults"`
	}
	listBody struct {
		Email  string   `json:"email"`
		Status string   `json:"status"`
		Tier   string   `json:"tier"`
		After  quota.ID `json:"after,omitzero"` // of the last account of the page before
		Limit  int      `json:"limit"`
	}
	tierBody struct {
		Tier  string `json:"tier"`
		Limit uint64 `json:"limit"`
	}
)

func (l listBody) filter() (f quota.Filter, err error) {
	f = quota.Filter{Email: l.Email, Tier: l.Tier, After: l.After}
	if l.Status != "" {
		err = f.Status.UnmarshalText([]byte(l.Status))
	}
	return f, err
}

const jsonType = "application/json"

// Handler serves the admin listener: metrics, keys and the ledger. It checks no credentials: it
// belongs on a socket that only its owner can open, or behind a Guard. address is Place.Address of the ledger.
func Handler(keys Keys, ledger Ledger, address string, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	route(mux, "POST /keys", func(ctx context.Context, _ quota.ID, in issueBody) (issuedBody, error) {
		issued, refusal, err := keys.Issue(ctx, quota.IssueRequest{Name: in.Name, Email: in.Email, UseCase: in.UseCase, Tier: in.Tier, Limit: in.Limit, Operator: true})
		if err != nil || refusal.Reason != 0 {
			return issuedBody{Reason: refusal.Reason, Faults: refusal.Faults}, err
		}
		return issuedBody{Secret: issued.Secret.Reveal(), Account: &issued.Account}, nil
	})
	route(mux, "POST /keys/list", func(ctx context.Context, _ quota.ID, in listBody) ([]quota.Account, error) {
		f, err := in.filter()
		if err != nil {
			return nil, err
		}
		return keys.List(ctx, f, in.Limit)
	})
	route(mux, "POST /keys/find", func(ctx context.Context, _ quota.ID, text string) ([]quota.Account, error) {
		return keys.Find(ctx, text)
	})
	route(mux, "POST /keys/{id}/usage", func(ctx context.Context, id quota.ID, _ struct{}) ([]quota.MonthCalls, error) {
		return keys.Usage(ctx, id)
	})
	for verb, change := range changes(keys) {
		route(mux, "POST /keys/{id}/"+verb, func(ctx context.Context, id quota.ID, _ struct{}) (quota.Account, error) {
			return change(ctx, id)
		})
	}
	route(mux, "POST /keys/{id}/tier", func(ctx context.Context, id quota.ID, in tierBody) (quota.Account, error) {
		return keys.SetTier(ctx, id, in.Tier, in.Limit)
	})
	route(mux, "POST /ledger/address", func(context.Context, quota.ID, struct{}) (string, error) {
		return address, nil
	})
	route(mux, "POST /ledger/check", func(ctx context.Context, _ quota.ID, _ struct{}) (quota.Report, error) {
		return ledger.Check(ctx)
	})
	route(mux, "POST /ledger/backup", func(ctx context.Context, _ quota.ID, path string) (int64, error) {
		return ledger.BackupFile(ctx, path)
	})
	return mux
}

// changes are the verbs that take a key and nothing else.
func changes(keys Keys) map[string]func(context.Context, quota.ID) (quota.Account, error) {
	return map[string]func(context.Context, quota.ID) (quota.Account, error){
		"suspend": keys.Suspend, "resume": keys.Resume, "revoke": keys.Revoke, "erase": keys.Erase,
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

package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"

	"modeldex/quota"

	jsonv2 "github.com/goccy/go-json/v2"
)

// Operator is what an operator does to keys: a *quota.Keeper where the ledger is at hand, a
// client of the admin socket where a server holds it.
type Operator interface {
	Issue(ctx context.Context, req quota.IssueRequest) (quota.IssuedKey, quota.Refusal, error)
	List(ctx context.Context, f quota.Filter, limit int) ([]quota.Account, error)
	Find(ctx context.Context, text string) ([]quota.Account, error)
	Usage(ctx context.Context, id quota.ID) ([]quota.MonthCalls, error)
	Suspend(ctx context.Context, id quota.ID) (quota.Account, error)
	Resume(ctx context.Context, id quota.ID) (quota.Account, error)
	Revoke(ctx context.Context, id quota.ID) (quota.Account, error)
	Erase(ctx context.Context, id quota.ID) (quota.Account, error)
	SetTier(ctx context.Context, id quota.ID, tier string, limit uint64) (quota.Account, error)
}

// Vault is what an operator does to the ledger file: a *quota.Ledger, or a client as above.
type Vault interface {
	Check(ctx context.Context) (quota.Report, error)
	BackupFile(ctx context.Context, path string) (int64, error)
}

// The bodies of the admin listener, as both its sides write and read them.
type (
	adminRequest struct {
		Name    string `json:"name"`
		Email   string `json:"email"`
		UseCase string `json:"use_case"`
		Tier    string `json:"tier"`
		Limit   uint64 `json:"limit"`
	}
	adminIssued struct {
		Secret  string         `json:"secret"`
		Account *quota.Account `json:"account"` // nil when nothing was issued
		Reason  quota.Reason   `json:"reason"`  // with Faults, why
		Faults  []quota.Fault  `json:"faults"`
	}
	adminList struct {
		Email  string `json:"email"`
		Status string `json:"status"`
		Tier   string `json:"tier"`
		Limit  int    `json:"limit"`
	}
	adminTier struct {
		Tier  string `json:"tier"`
		Limit uint64 `json:"limit"`
	}
)

func (l adminList) filter() (f quota.Filter, err error) {
	f = quota.Filter{Email: l.Email, Tier: l.Tier}
	if l.Status != "" {
		err = f.Status.UnmarshalText([]byte(l.Status))
	}
	return f, err
}

// Admin is the handler of the admin listener: metrics, keys and the ledger. Whoever reaches it
// may do everything, so it belongs on a socket only its owner can open.
func (s *Server) Admin(op Operator, vault Vault) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.Metrics())
	adminRoute(mux, "POST /keys", func(ctx context.Context, _ quota.ID, in adminRequest) (adminIssued, error) {
		issued, refusal, err := op.Issue(ctx, quota.IssueRequest{Name: in.Name, Email: in.Email, UseCase: in.UseCase, Tier: in.Tier, Limit: in.Limit, Operator: true})
		if err != nil || refusal.Reason != 0 {
			return adminIssued{Reason: refusal.Reason, Faults: refusal.Faults}, err
		}
		return adminIssued{Secret: issued.Secret.Reveal(), Account: &issued.Account}, nil
	})
	adminRoute(mux, "POST /keys/list", func(ctx context.Context, _ quota.ID, in adminList) ([]quota.Account, error) {
		f, err := in.filter()
		if err != nil {
			return nil, err
		}
		return op.List(ctx, f, in.Limit)
	})
	adminRoute(mux, "POST /keys/find", func(ctx context.Context, _ quota.ID, text string) ([]quota.Account, error) {
		return op.Find(ctx, text)
	})
	adminRoute(mux, "POST /keys/{id}/usage", func(ctx context.Context, id quota.ID, _ struct{}) ([]quota.MonthCalls, error) {
		return op.Usage(ctx, id)
	})
	for verb, change := range changes(op) {
		adminRoute(mux, "POST /keys/{id}/"+verb, func(ctx context.Context, id quota.ID, _ struct{}) (quota.Account, error) {
			return change(ctx, id)
		})
	}
	adminRoute(mux, "POST /keys/{id}/tier", func(ctx context.Context, id quota.ID, in adminTier) (quota.Account, error) {
		return op.SetTier(ctx, id, in.Tier, in.Limit)
	})
	adminRoute(mux, "POST /ledger/check", func(ctx context.Context, _ quota.ID, _ struct{}) (quota.Report, error) {
		return vault.Check(ctx)
	})
	adminRoute(mux, "POST /ledger/backup", func(ctx context.Context, _ quota.ID, path string) (int64, error) {
		return vault.BackupFile(ctx, path)
	})
	return mux
}

// changes are the verbs that take a key and nothing else.
func changes(op Operator) map[string]func(context.Context, quota.ID) (quota.Account, error) {
	return map[string]func(context.Context, quota.ID) (quota.Account, error){
		"suspend": op.Suspend, "resume": op.Resume, "revoke": op.Revoke, "erase": op.Erase,
	}
}

// adminRoute answers one verb: a JSON value in, a JSON value out, an error as its text.
func adminRoute[In, Out any](mux *http.ServeMux, pattern string, do func(context.Context, quota.ID, In) (Out, error)) {
	mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		var in In
		id, known := quota.ParseID(r.PathValue("id"))
		if strings.Contains(pattern, "{id}") && !known {
			http.Error(w, "no such key", http.StatusBadRequest)
			return
		}
		if err := jsonv2.UnmarshalRead(io.LimitReader(r.Body, 1<<16), &in, jsonv2.RejectUnknownMembers(true)); err != nil {
			http.Error(w, "reading the request: "+err.Error(), http.StatusBadRequest)
			return
		}
		out, err := do(r.Context(), id, in)
		if err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
			return
		}
		w.Header().Set("Content-Type", jsonType)
		_ = jsonv2.MarshalWrite(w, out) // the reader went away
	})
}

// AdminClient speaks to the admin socket of a running server.
type AdminClient struct{ http http.Client }

// DialAdmin reaches the server behind a Unix socket. It fails at once where none listens.
func DialAdmin(socket string) (*AdminClient, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	conn, err := dial(context.Background(), "", "")
	if err != nil {
		return nil, err
	}
	return &AdminClient{http.Client{Transport: &http.Transport{DialContext: dial}}}, conn.Close()
}

// ask sends a verb and reads its answer.
func ask[Out any](ctx context.Context, c *AdminClient, path string, in any) (out Out, err error) {
	body, err := jsonv2.Marshal(in)
	if err != nil {
		return out, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://admin"+path, bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return out, fmt.Errorf("asking the running server: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<12)) // what was read of the reason must do
		return out, errors.New(strings.TrimSpace(string(text)))
	}
	return out, jsonv2.UnmarshalRead(resp.Body, &out)
}

// Issue implements Operator.
func (c *AdminClient) Issue(ctx context.Context, req quota.IssueRequest) (quota.IssuedKey, quota.Refusal, error) {
	out, err := ask[adminIssued](ctx, c, "/keys", adminRequest{req.Name, req.Email, req.UseCase, req.Tier, req.Limit})
	if err != nil || out.Account == nil {
		return quota.IssuedKey{}, quota.Refusal{Reason: out.Reason, Faults: out.Faults}, err
	}
	return quota.IssuedKey{Secret: quota.Secret(out.Secret), Account: *out.Account}, quota.Refusal{}, nil
}

// List implements Operator.
func (c *AdminClient) List(ctx context.Context, f quota.Filter, limit int) ([]quota.Account, error) {
	l := adminList{Email: f.Email, Tier: f.Tier, Limit: limit}
	if f.Status != 0 {
		l.Status = f.Status.String()
	}
	return ask[[]quota.Account](ctx, c, "/keys/list", l)
}

// Find implements Operator.
func (c *AdminClient) Find(ctx context.Context, text string) ([]quota.Account, error) {
	return ask[[]quota.Account](ctx, c, "/keys/find", text)
}

// Usage implements Operator.
func (c *AdminClient) Usage(ctx context.Context, id quota.ID) ([]quota.MonthCalls, error) {
	return ask[[]quota.MonthCalls](ctx, c, c.path(id, "usage"), struct{}{})
}

// Suspend implements Operator.
func (c *AdminClient) Suspend(ctx context.Context, id quota.ID) (quota.Account, error) {
	return ask[quota.Account](ctx, c, c.path(id, "suspend"), struct{}{})
}

// Resume implements Operator.
func (c *AdminClient) Resume(ctx context.Context, id quota.ID) (quota.Account, error) {
	return ask[quota.Account](ctx, c, c.path(id, "resume"), struct{}{})
}

// Revoke implements Operator.
func (c *AdminClient) Revoke(ctx context.Context, id quota.ID) (quota.Account, error) {
	return ask[quota.Account](ctx, c, c.path(id, "revoke"), struct{}{})
}

// Erase implements Operator.
func (c *AdminClient) Erase(ctx context.Context, id quota.ID) (quota.Account, error) {
	return ask[quota.Account](ctx, c, c.path(id, "erase"), struct{}{})
}

// SetTier implements Operator.
func (c *AdminClient) SetTier(ctx context.Context, id quota.ID, tier string, limit uint64) (quota.Account, error) {
	return ask[quota.Account](ctx, c, c.path(id, "tier"), adminTier{tier, limit})
}

// Check implements Vault.
func (c *AdminClient) Check(ctx context.Context) (quota.Report, error) {
	return ask[quota.Report](ctx, c, "/ledger/check", struct{}{})
}

// BackupFile implements Vault. The server writes the file, so path must be absolute.
func (c *AdminClient) BackupFile(ctx context.Context, path string) (int64, error) {
	return ask[int64](ctx, c, "/ledger/backup", path)
}

func (c *AdminClient) path(id quota.ID, verb string) string {
	return "/keys/" + url.PathEscape(id.String()) + "/" + verb
}

// LongestSocket is how long a path the systems we run on take for a Unix socket: 104 bytes with
// the closing zero on macOS, 108 on Linux.
const LongestSocket = 103

// ListenAdmin listens on a Unix socket of mode 0600 and on a TCP address; an empty one is left
// out. A socket that a killed server left behind is replaced; that of another server, which
// serves another ledger, is left alone and an error.
func ListenAdmin(socket, addr string) (listeners []net.Listener, err error) {
	if socket != "" {
		ln, err := listenSocket(socket)
		if err != nil {
			return nil, err
		}
		listeners = append(listeners, ln)
	}
	if addr != "" {
		ln, err := net.Listen("tcp", addr)
		if err != nil {
			return nil, err
		}
		listeners = append(listeners, ln)
	}
	return listeners, nil
}

func listenSocket(path string) (net.Listener, error) {
	if len(path) > LongestSocket {
		return nil, fmt.Errorf("%s: must be at most %d bytes for a Unix socket, got %d", path, LongestSocket, len(path))
	}
	if st, err := os.Lstat(path); err == nil && st.Mode().Type() == fs.ModeSocket {
		if _, err := DialAdmin(path); err == nil {
			return nil, fmt.Errorf("%s: another server listens there", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	old := syscall.Umask(0o177) // before it exists, not after
	defer syscall.Umask(old)
	return net.Listen("unix", path)
}

package operator_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"modeldex/httpapi/operator"
	"modeldex/quota"
)

const token = "a-token-of-some-length"

// open opens a new ledger until the test ends.
func open(t *testing.T) (operator.Place, *operator.Opened) {
	t.Helper()
	place := operator.Place{Ledger: filepath.Join(t.TempDir(), "m.db")}
	opened, err := place.Open(t.Context(), quota.Config{}, quota.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.Close(); err != nil {
			t.Error(err)
		}
	})
	return place, opened
}

// TestAudit: each change is one line with what an operator needs, and nothing of a person.
func TestAudit(t *testing.T) {
	place, opened := open(t)
	var log strings.Builder
	admin := operator.Admin{Keys: opened.Keeper, Ledger: opened.Ledger, Metrics: metrics, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})), By: "admin address"}
	ctx, keys := t.Context(), serveAdmin(t, &admin, place.SocketPath())
	issued, _, err := keys.Issue(ctx, quota.IssueRequest{Name: "a name", Email: "a@example.com", UseCase: "a use", Unlimited: true})
	if err != nil {
		t.Fatal(err)
	}
	id := issued.Account.ID
	if _, refusal, err := keys.Issue(ctx, quota.IssueRequest{}); err != nil || refusal.Reason == 0 {
		t.Errorf("Issue() = %+v, %v, want it refused", refusal, err)
	}
	_, err1 := keys.SetTier(ctx, id, "enterprise", 7)
	_, err2 := keys.SetStatus(ctx, id, quota.StatusSuspended)
	_, err3 := keys.SetStatus(ctx, id, quota.StatusActive)
	_, err4 := keys.SetStatus(ctx, id, quota.StatusRevoked)
	_, err5 := keys.Erase(ctx, id)
	copied := filepath.Join(t.TempDir(), "copy.db")
	n, err6 := keys.BackupFile(ctx, copied)
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	if _, err := keys.SetStatus(ctx, id, quota.StatusActive); err == nil {
		t.Error("a revoked key was resumed")
	}
	want := strings.ReplaceAll(`level=INFO msg="key issued" id=ID tier=free limit=1000 by="admin address"
level=INFO msg="tier of key set" id=ID old_tier=free old_limit=1000 tier=enterprise limit=7 by="admin address"
level=INFO msg="key suspended" id=ID by="admin address"
level=INFO msg="key resumed" id=ID by="admin address"
level=INFO msg="key revoked" id=ID by="admin address"
level=INFO msg="key erased" id=ID by="admin address"
`, "ID", id.String()) + fmt.Sprintf("level=INFO msg=\"ledger backed up\" path=%s bytes=%d by=\"admin address\"\n", copied, n)
	if got := log.String(); got != want {
		t.Errorf("the log is\n%swant\n%s", got, want)
	}
}

// serveAdmin serves on a socket until the test ends.
func serveAdmin(t *testing.T, admin *operator.Admin, path string) *operator.Client {
	t.Helper()
	ln, err := operator.ListenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: admin.Handler()}
	go func() { _ = server.Serve(ln) }()
	t.Cleanup(func() { _ = server.Close() })
	client, err := operator.Dial(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// quiet is a log that nobody reads.
var quiet = slog.New(slog.DiscardHandler)

// metrics is in place of the server's metrics.
var metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "modeldex_up 1\n") })

// TestGuard: over TCP, administration is for programs that have the token, and not for web pages.
func TestGuard(t *testing.T) {
	place, opened := open(t)
	admin := operator.Admin{Keys: opened.Keeper, Ledger: opened.Ledger, Metrics: metrics, BackupDir: filepath.Dir(place.Ledger), Log: quiet}
	guard := &operator.Guard{Next: admin.Handler(), Token: token, Addr: "admin.example:0"}
	server := httptest.NewServer(guard)
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	jsonType := map[string]string{"Content-Type": "application/json", "Authorization": "Bearer " + token}
	with := func(name, value string) map[string]string {
		h := map[string]string{name: value}
		for k, v := range jsonType {
			if _, ok := h[k]; !ok {
				h[k] = v
			}
		}
		return h
	}
	elsewhere := filepath.Join(t.TempDir(), "copy.db")
	tests := []struct {
		name, method, path, body string
		header                   map[string]string
		want                     int
	}{
		{"as it should be", "POST", "/keys/list", "{}", jsonType, 200},
		{"a character set beside the type", "POST", "/keys/list", "{}", with("Content-Type", "Application/JSON; charset=utf-8"), 200},
		{"under the configured name", "POST", "/keys/list", "{}", with("Host", "ADMIN.example:"+port), 200},
		{"as localhost", "POST", "/keys/list", "{}", with("Host", "localhost:"+port), 200},
		{"no token", "POST", "/keys/list", "{}", with("Authorization", ""), 401},
		{"another token", "POST", "/keys/list", "{}", with("Authorization", "Bearer "+token+"x"), 401},
		{"an empty token", "POST", "/keys/list", "{}", with("Authorization", "Bearer "), 401},
		{"metrics without a token", "GET", "/metrics", "", with("Authorization", ""), 401},
		{"metrics", "GET", "/metrics", "", jsonType, 200},
		{"from a web page", "POST", "/keys/list", "{}", with("Origin", "https://evil.example"), 403},
		{"from an opaque page", "POST", "/keys/list", "{}", with("Origin", "null"), 403},
		{"under a name of the caller's", "POST", "/keys/list", "{}", with("Host", "evil.example:"+port), 421},
		{"under another address", "POST", "/keys/list", "{}", with("Host", "192.0.2.1:"+port), 421},
		{"under another port", "POST", "/keys/list", "{}", with("Host", "127.0.0.1:1"), 421},
		{"without a port", "POST", "/keys/list", "{}", with("Host", "127.0.0.1"), 421},
		{"what a form can send", "POST", "/keys/list", "{}", with("Content-Type", "text/plain"), 415},
		{"no type", "POST", "/keys/list", "{}", with("Content-Type", ""), 415},
		{"a copy anywhere", "POST", "/ledger/backup", `"` + elsewhere + `"`, jsonType, 409},
		{"a copy outside", "POST", "/ledger/backup", `"../copy.db"`, jsonType, 409},
		{"a hidden copy", "POST", "/ledger/backup", `".bashrc"`, jsonType, 409},
		{"a copy over the ledger", "POST", "/ledger/backup", `"m.db"`, jsonType, 409},
		{"a copy beside the ledger", "POST", "/ledger/backup", `"copy.db"`, jsonType, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(tt.method, server.URL+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range tt.header {
				if name == "Host" {
					req.Host = value
				} else if value != "" {
					req.Header.Set(name, value)
				}
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if text, _ := io.ReadAll(resp.Body); resp.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %s", resp.StatusCode, tt.want, text)
			}
		})
	}
	if _, err := os.Stat(elsewhere); err == nil {
		t.Error("a copy was written outside the directory of the ledger")
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(place.Ledger), "copy.db")); err != nil {
		t.Error(err)
	}
	guard.Token = ""
	resp, err := http.Get(server.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a guard without a token answers %d, want 401", resp.StatusCode)
	}
}

// TestToken: a token is made once and only its owner can read it.
func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	made, created, err := operator.MakeToken(file)
	if err != nil || !created || operator.CheckToken(made) != nil {
		t.Fatalf("MakeToken = %q, %v, %v", made, created, err)
	}
	again, created, err := operator.MakeToken(file)
	if err != nil || created || again != made {
		t.Errorf("MakeToken again = %q, %v, %v, want %q", again, created, err, made)
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v, want 0600", st.Mode(), err)
	}
	if err := os.WriteFile(file, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := operator.MakeToken(file); err == nil {
		t.Error("a short token is taken")
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := operator.MakeToken(pipe); err == nil || !strings.Contains(err.Error(), pipe+": must be a regular file") {
		t.Errorf("MakeToken of a named pipe = %v, want an error that names it", err)
	}
}

// TestSocketClient drives a ledger through the socket and without it, by the same calls.
func TestSocketClient(t *testing.T) {
	dir, err := os.MkdirTemp("", "op") // short: addresses of sockets are
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	place := operator.Place{Ledger: filepath.Join(dir, "m.db")}
	ctx := context.Background()
	issue := func(ctx context.Context, keys operator.Keys) error {
		_, refusal, err := keys.Issue(ctx, quota.IssueRequest{Name: "n", Email: "a@example.com", UseCase: "x", Unlimited: true})
		if refusal.Reason != 0 {
			err = operator.RefusalError(refusal)
		}
		return err
	}
	count := func(want int) {
		t.Helper()
		if err := place.With(ctx, quota.Options{MustExist: true}, func(ctx context.Context, keys operator.Keys) error {
			accounts, err := operator.Find(ctx, keys, "A@example.com")
			if len(accounts) != want {
				t.Errorf("%d accounts, want %d", len(accounts), want)
			}
			return err
		}); err != nil {
			t.Error(err)
		}
	}
	if err := place.With(ctx, quota.Options{MustExist: true}, issue); err == nil {
		t.Error("a ledger that does not exist was opened")
	}
	if err := place.With(ctx, quota.Options{}, issue); err != nil {
		t.Fatal(err)
	}
	count(1)

	opened, err := place.Open(t.Context(), quota.Config{}, quota.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := place.With(ctx, quota.Options{}, issue); !errors.Is(err, quota.ErrLocked) || !strings.Contains(err.Error(), "--admin-socket") {
		t.Errorf("without a socket: %v, want ErrLocked and what to do", err)
	}
	if err := os.Mkdir(place.SocketPath(), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := operator.ListenSocket(place.SocketPath()); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("with a directory of the socket's name: %v, want that it is not a socket", err)
	}
	if err := os.Remove(place.SocketPath()); err != nil {
		t.Fatal(err)
	}
	ln, err := operator.ListenSocket(place.SocketPath())
	if err != nil {
		t.Fatal(err)
	}
	admin := operator.Admin{Keys: opened.Keeper, Ledger: opened.Ledger, Address: place.Address(), Metrics: metrics, Log: quiet}
	server := &http.Server{Handler: admin.Handler()}
	go server.Serve(ln)
	if _, err := operator.ListenSocket(place.SocketPath()); err == nil {
		t.Error("a second server listens on the socket of the first")
	}
	if st, err := os.Stat(place.SocketPath()); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("socket mode %v, %v, want 0600", st.Mode(), err)
	}
	if err := place.With(ctx, quota.Options{}, issue); err != nil {
		t.Fatal(err)
	}
	count(2)
	if err := place.WithLedger(ctx, func(ledger operator.Ledger, address string) error {
		report, err := ledger.Check(ctx)
		if report.Accounts != 2 || address != place.Ledger {
			t.Errorf("Check of %s = %+v, want 2 accounts", address, report)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
	server.Close()
	if err := opened.Close(); err != nil {
		t.Fatal(err)
	}
	count(2)
	if err := place.WithLedger(ctx, func(ledger operator.Ledger, _ string) error {
		_, err := ledger.BackupFile(ctx, filepath.Join(dir, "copy.db"))
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestWriteTable: the text of the account's owner makes no row and no column.
func TestWriteTable(t *testing.T) {
	var b strings.Builder
	if err := operator.WriteTable(&b, []quota.Account{
		{Name: "ok\nkey_2IOsjUfAAAA  active  enterprise", Email: "a@example.com"},
		{Name: "over\rwritten", Email: "b@example.com"},
		{Name: "dire\u202ection", Email: "\"c d\"@example.com"},
		{Name: "Ren\u00e9's board", Email: "d@example.com"},
	}); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if strings.Count(got, "\n") != 5 || strings.ContainsAny(got, "\r\u202e") {
		t.Errorf("the table has other rows than accounts, or a character that moves text:\n%q", got)
	}
	for _, want := range []string{`"ok\nkey_`, `"over\rwritten"`, `"dire\u202ection"`, `"Ren\u00e9's board"`, "a@example.com"} {
		if want = strings.ReplaceAll(want, `\u00e9`, "\u00e9"); !strings.Contains(got, want) {
			t.Errorf("the table lacks %s:\n%s", want, got)
		}
	}
}

// manyKeys lists accounts with the ids from 1, and notes the longest list it made.
type manyKeys struct {
	operator.Keys
	n, longest int
}

func (k *manyKeys) List(_ context.Context, f quota.Filter, limit int) (out []quota.Account, _ error) {
	for id := f.After + 1; int(id) <= k.n && (limit <= 0 || len(out) < limit); id++ {
		out = append(out, quota.Account{ID: id, Status: quota.StatusActive})
	}
	k.longest = max(k.longest, len(out))
	return out, nil
}

// TestListInPages: a list of all keys comes in pages, so that a server with very many of them does not make it one
// response in memory.
func TestListInPages(t *testing.T) {
	keys := &manyKeys{n: 2000}
	client := serveAdmin(t, &operator.Admin{Keys: keys, Metrics: metrics, Log: quiet}, filepath.Join(t.TempDir(), "s"))
	for _, tt := range []struct{ limit, want int }{{0, 2000}, {5000, 2000}, {1500, 1500}, {1000, 1000}, {7, 7}} {
		got, err := client.List(t.Context(), quota.Filter{}, tt.limit)
		if err != nil || len(got) != tt.want {
			t.Fatalf("List(limit %d) = %d accounts, %v, want %d", tt.limit, len(got), err, tt.want)
		}
		for i, a := range got {
			if a.ID != quota.ID(i+1) {
				t.Fatalf("List(limit %d)[%d] = %s, want accounts in order, once each", tt.limit, i, a.ID)
			}
		}
	}
	if keys.longest > 1000 {
		t.Errorf("the server made a list of %d accounts", keys.longest)
	}
}

// TestSocketOfAnotherUser: a socket that this user may not open is not taken for one that is missing.
func TestSocketOfAnotherUser(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may open any socket")
	}
	dir, err := os.MkdirTemp("", "op") // short: addresses of sockets are
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	place := operator.Place{Ledger: filepath.Join(dir, "m.db")}
	ln, err := operator.ListenSocket(place.SocketPath())
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	if err := os.Chmod(place.SocketPath(), 0); err != nil {
		t.Fatal(err)
	}
	readErr := place.WithLedger(t.Context(), func(operator.Ledger, string) error { return nil })
	withErr := place.With(t.Context(), quota.Options{}, func(context.Context, operator.Keys) error { return nil })
	want := "admin socket " + place.SocketPath() + ": permission denied; run this as the user of the server"
	for _, err := range []error{readErr, withErr} {
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

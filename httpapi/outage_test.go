package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"modeldex/index"
	"modeldex/quota"

	"github.com/valyala/fasthttp"
)

// direct asks a server's handler without a connection; a body is JSON.
func direct(t *testing.T, s *Server, method, path, secret string, body ...string) *answer {
	t.Helper()
	var req fasthttp.Request
	if len(body) > 0 {
		req.Header.SetContentType("application/json")
		req.SetBodyString(body[0])
	}
	req.Header.SetMethod(method)
	req.SetRequestURI(path)
	req.Header.SetHost("localhost")
	q := asked{method: method, path: path, header: http.Header{}}
	if secret != "" {
		q.header.Set("Authorization", "Bearer "+secret)
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	var ctx fasthttp.RequestCtx
	ctx.Init(&req, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, nil)
	s.app.Server().Handler(&ctx)
	var wire bytes.Buffer
	out := bufio.NewWriter(&wire)
	if err := ctx.Response.Write(out); err != nil {
		t.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(&wire), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	a, err := readAnswer(q, resp)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// breaking is a keeper whose decisions panic, as a defect would make them.
type breaking struct{ *quota.Keeper }

func (breaking) Admit(quota.Digest) quota.Call { panic("cause-of-the-panic") }

// unwritable is a keeper whose ledger takes no changes.
type unwritable struct{ *quota.Keeper }

func (unwritable) RevokeSelf(context.Context, quota.Digest) (quota.Account, quota.Verdict, error) {
	return quota.Account{}, quota.Admitted, errors.New("cause-on-the-disk")
}

func (unwritable) Issue(context.Context, quota.IssueRequest) (quota.IssuedKey, quota.Refusal, error) {
	return quota.IssuedKey{}, quota.Refusal{}, errors.New("cause-on-the-disk")
}

func (unwritable) Warnings() []string {
	return []string{"the last change of a key could not be written: x"}
}

func (unwritable) Stats() quota.Stats { return quota.Stats{Unkept: true} }

// TestOutages tells what callers see when something of ours is broken: an honest status, where
// to turn to, and nothing of the inside.
func TestOutages(t *testing.T) {
	s := smallService(t)
	var log bytes.Buffer
	config := func(change func(*Config)) *Server {
		cfg := s.cfg
		cfg.Log, cfg.SupportEmail = slog.New(slog.NewJSONHandler(&log, nil)), "help@example.com"
		change(&cfg)
		server, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.cache.Close)
		return server
	}
	empty := config(func(c *Config) { c.Live = &index.Live{} })
	broken := config(func(c *Config) { c.Keeper = breaking{s.keeper} })

	t.Run("before a dataset is loaded", func(t *testing.T) {
		for path, want := range map[string]int{
			"/api/v1/models": 503, "/api/v1/models/llama-2-7b": 503, "/api/v1/dataset": 503,
			"/readyz": 503, "/healthz": 200, "/docs": 200, "/api/v1/keys/self": 200,
		} {
			a := direct(t, empty, "GET", path, s.secret)
			if path != "/readyz" { // whose 503 is its documented form, for balancers
				reportComplaints(t, a)
			}
			if a.status != want {
				t.Errorf("GET %s: status %d, want %d: %s", path, a.status, want, a.body)
			}
		}
		if a := direct(t, empty, "GET", "/api/v1/models", s.secret); a.code() != "not_ready" {
			t.Errorf("code %q, want not_ready", a.code())
		}
		names := strings.NewReplacer(":name.json", "model.schema.json", "+", "llama-2-7b", "*", "llama-2-7b", ":file", "changes.atom")
		for i := range routes {
			if rt := &routes[i]; rt.method == http.MethodGet {
				if a := direct(t, empty, "GET", names.Replace(rt.path), s.secret); a.status == http.StatusInternalServerError {
					t.Errorf("GET %s: status 500: %s", names.Replace(rt.path), a.body)
				}
			}
		}
	})

	t.Run("a panic", func(t *testing.T) {
		a := direct(t, broken, "GET", "/api/v1/models", s.secret)
		var p Problem
		if err := json.Unmarshal(a.body, &p); err != nil || a.status != 500 || p.Code != "internal" || p.Support != "help@example.com" {
			t.Fatalf("status %d: %s", a.status, a.body)
		}
		if bytes.Contains(a.body, []byte("cause-of-the-panic")) || a.header.Get("Cache-Control") != "no-store" {
			t.Errorf("the answer tells of the inside, or may be kept: %v %s", a.header, a.body)
		}
		if text := log.String(); !strings.Contains(text, "cause-of-the-panic") || !strings.Contains(text, p.RequestID) || strings.Contains(text, s.secret) {
			t.Errorf("the log is %s", text)
		}
		if b := direct(t, broken, "GET", "/healthz", ""); b.status != http.StatusOK {
			t.Errorf("after a panic: status %d", b.status)
		}
	})

	t.Run("a ledger that cannot be written", func(t *testing.T) {
		unwritable := config(func(c *Config) { c.Keeper = unwritable{s.keeper} })
		a := direct(t, unwritable, "DELETE", "/api/v1/keys/self", s.secret)
		reportComplaints(t, a)
		if a.status != http.StatusServiceUnavailable || a.code() != "ledger_unavailable" || a.header.Get("Retry-After") != "1" || bytes.Contains(a.body, []byte("cause-on-the-disk")) {
			t.Errorf("status %d, %v: %s", a.status, a.header, a.body)
		}
		if !strings.Contains(log.String(), "cause-on-the-disk") {
			t.Errorf("the log does not say why: %s", &log)
		}
	})

	t.Run("sign-ups that cannot be written", func(t *testing.T) {
		unwritable := config(func(c *Config) { c.Keeper = unwritable{s.keeper} })
		a := direct(t, unwritable, "POST", "/api/v1/keys", "", `{"name":"n","email":"a@example.com","use_case":"u"}`)
		reportComplaints(t, a)
		var p Problem
		if err := json.Unmarshal(a.body, &p); err != nil || p.Code != "ledger_unavailable" || p.Detail != "The key could not be stored, so no key was issued. Try again after Retry-After seconds." || a.header.Get("Retry-After") != "1" {
			t.Errorf("status %d, %v: %s", a.status, a.header, a.body)
		}
		a = direct(t, unwritable, "GET", "/readyz", "")
		if a.status != http.StatusOK || !strings.Contains(string(a.body), `"ledger_warnings":["the last change of a key could not be written: x"]`) {
			t.Errorf("/readyz: status %d: %s", a.status, a.body)
		}
		page := httptest.NewRecorder()
		unwritable.Metrics().ServeHTTP(page, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
		if !strings.Contains(page.Body.String(), "modeldex_ledger_key_changes_failing 1\n") {
			t.Error("/metrics does not say that changes of keys fail")
		}
	})

	t.Run("without a ledger", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		other := newService(t, mustSmallLive(t))
		other.closed = true
		if err := other.keeper.Close(ctx); err != nil {
			t.Fatal(err)
		}
		log.Reset()
		away := config(func(c *Config) { c.Keeper = other.keeper })
		a := direct(t, away, "GET", "/api/v1/models", other.secret)
		reportComplaints(t, a)
		if a.status != http.StatusServiceUnavailable || a.code() != "ledger_unavailable" {
			t.Errorf("status %d: %s", a.status, a.body)
		}
		if log.Len() > 0 {
			t.Errorf("each call that is turned away is logged: %s", &log)
		}
		for range 3 { // a balancer asks all the time
			if a := direct(t, away, "GET", "/readyz", ""); a.status != http.StatusServiceUnavailable {
				t.Errorf("/readyz: status %d: %s", a.status, a.body)
			}
		}
		away.cfg.Keeper = s.keeper
		for range 3 {
			if a := direct(t, away, "GET", "/readyz", ""); a.status != http.StatusOK {
				t.Errorf("/readyz with a ledger again: status %d: %s", a.status, a.body)
			}
		}
		if down, up := strings.Count(log.String(), `"not ready"`), strings.Count(log.String(), `"ready again"`); down != 1 || up != 1 {
			t.Errorf("three probes without a ledger and three with one are logged %d and %d times: %s", down, up, &log)
		}
	})
}

// TestShutdownFirst: a server that is shut down before it came to serve does not serve.
func TestShutdownFirst(t *testing.T) {
	s := smallService(t)
	server, err := New(s.cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Serve(ln); err != nil {
		t.Errorf("serving: %v", err)
	}
	if _, err := ln.Accept(); err == nil {
		t.Error("the listener is open")
	}
}

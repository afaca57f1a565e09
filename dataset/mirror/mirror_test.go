package mirror

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"modeldex/dataset"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/txtar"
)

// origin serves one dump. Its fields may be changed between requests.
type origin struct {
	t        *testing.T
	list     list
	archive  []byte
	etag     string
	key      string
	cut      bool // the connection breaks within the archive
	busy     bool
	requests []string
}

func (o *origin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.requests = append(o.requests, r.URL.Path)
	switch {
	case o.key != "" && r.Header.Get("Authorization") != "Bearer "+o.key:
		w.WriteHeader(http.StatusUnauthorized)
	case o.busy:
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
	case r.URL.Path == "/api/v1/dumps" && o.etag != "" && r.Header.Get("If-None-Match") == o.etag:
		w.WriteHeader(http.StatusNotModified)
	case r.URL.Path == "/api/v1/dumps":
		w.Header().Set("ETag", o.etag)
		if err := json.NewEncoder(w).Encode(o.list); err != nil {
			o.t.Error(err)
		}
	case o.cut:
		w.Header().Set("Content-Length", fmt.Sprint(len(o.archive)))
		_, _ = w.Write(o.archive[:len(o.archive)/2])
	default:
		_, _ = w.Write(o.archive)
	}
}

// publish makes the dump of some entries; digest is that of the records.
func (o *origin) publish(entries []tar.Header, bodies map[string]string, digest string) {
	o.t.Helper()
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b)
	if err != nil {
		o.t.Fatal(err)
	}
	w := tar.NewWriter(z)
	for _, h := range entries {
		h.Size, h.Mode = int64(len(bodies[h.Name])), 0o644
		if err := w.WriteHeader(&h); err != nil {
			o.t.Fatal(err)
		}
		if _, err := w.Write([]byte(bodies[h.Name])); err != nil {
			o.t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		o.t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	o.archive, o.list.Data.Digest = b.Bytes(), digest
	o.list.Data.Files = []file{{archiveName, "/api/v1/dumps/" + hex.EncodeToString(sum[:]) + "/" + archiveName, int64(b.Len()), hex.EncodeToString(sum[:])}}
	o.etag = `"` + hex.EncodeToString(sum[:4]) + `"`
}

// reopen is the next process that mirrors to a directory.
func reopen(t *testing.T, m *Mirror) *Mirror {
	t.Helper()
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := New(m.cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { again.Close() })
	return again
}

func regular(files map[string]string) (out []tar.Header) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		out = append(out, tar.Header{Name: name, Typeflag: tar.TypeReg})
	}
	return out
}

// base is the smallest dataset, with a version.
func base(t *testing.T, version string) map[string]string {
	t.Helper()
	a, err := txtar.ParseFile("../datasettest/base.txtar")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range a.Files {
		out[f.Name] = strings.Replace(string(f.Data), `"version": "1"`, `"version": "`+version+`"`, 1)
	}
	return out
}

func digestOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	set, err := dataset.Load(context.Background(), dataset.Dir(dir), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set.Digest.String()
}

// contents reads a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	to, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, os.ErrNotExist) {
		return out
	}
	err = errors.Join(err, filepath.WalkDir(to, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		rel, _ := filepath.Rel(to, name)
		out[filepath.ToSlash(rel)] = string(b)
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// follow starts an origin and a mirror of it.
func follow(t *testing.T, key string) (*origin, *Mirror, string) {
	t.Helper()
	o := &origin{t: t, key: key}
	server := httptest.NewServer(o)
	t.Cleanup(server.Close)
	dir := filepath.Join(t.TempDir(), "data")
	m, err := New(Config{Origin: server.URL + "/", Dir: dir, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return o, m, dir
}

// TestMirror: the directory has the files of the origin, asks no archive twice, and follows a
// release across a broken connection; a second mirror goes on where the first ended.
func TestMirror(t *testing.T) {
	o, m, dir := follow(t, "mdx_secret")
	one, two := base(t, "1"), base(t, "2")
	o.publish(regular(one), one, digestOf(t, one))
	once := func(m *Mirror, changed bool, want map[string]string) {
		t.Helper()
		got, err := m.Once(context.Background())
		if err != nil || got != changed {
			t.Errorf("Once = %t, %v; want %t", got, err, changed)
		}
		if !maps.Equal(contents(t, dir), want) {
			t.Errorf("files %v, want %v", contents(t, dir), want)
		}
	}
	if m.Has() {
		t.Error("Has before the first dataset")
	}
	once(m, true, one)
	o.requests = nil
	once(m, false, one)
	if !slices.Equal(o.requests, []string{"/api/v1/dumps"}) || !m.Has() {
		t.Errorf("an origin without news was asked %q", o.requests)
	}
	o.publish(regular(two), two, digestOf(t, two))
	o.cut = true
	if changed, err := m.Once(context.Background()); changed || err == nil || !maps.Equal(contents(t, dir), one) {
		t.Errorf("across a broken connection Once = %t, %v", changed, err)
	}
	contact := m.State().Contact
	if st := m.State(); !st.Stale() || contact.IsZero() || st.Cause != "the origin cannot be reached, or the connection broke" {
		t.Errorf("state %+v after a failure", st)
	}
	o.cut = false
	once(m, true, two)
	if st := m.State(); st.Stale() || st.Cause != "" || !st.Contact.After(contact) {
		t.Errorf("state %+v after success", st)
	}
	if _, err := New(m.cfg); err == nil || !strings.Contains(err.Error(), "another process mirrors to it") {
		t.Errorf("a second mirror of the directory: %v", err)
	}
	contact = m.State().Contact
	again := reopen(t, m)
	if st := again.State(); st.Stale() || st.Contact.Sub(contact).Abs() > time.Second {
		t.Errorf("state %+v after a restart, want contact at %s", st, contact)
	}
	once(again, false, two)
	if kept, _ := filepath.Glob(filepath.Join(m.place.store, "????????????????????????????????*")); len(kept) != 2 {
		t.Errorf("kept %q, want the dataset and the one before", kept)
	}
	again.Refetch()
	once(again, true, two)
}

// TestForgedDumps: whatever an origin sends, the directory stays as it is, and nothing appears
// outside it.
func TestForgedDumps(t *testing.T) {
	good := base(t, "1")
	digest := digestOf(t, good)
	with := func(h tar.Header, text string) func(o *origin) {
		return func(o *origin) {
			files := maps.Clone(good)
			files[h.Name] = text
			o.publish(append(regular(good), h), files, digest)
		}
	}
	tests := map[string]func(o *origin){
		"another SHA-256":          func(o *origin) { o.list.Data.Files[0].SHA256 = strings.Repeat("a", 64) },
		"a path as a SHA-256":      func(o *origin) { o.list.Data.Files[0].SHA256 = "../" + strings.Repeat("a", 61) },
		"another digest":           func(o *origin) { o.list.Data.Digest = strings.Repeat("b", 64) },
		"more bytes":               func(o *origin) { o.archive = append(bytes.Clone(o.archive), 0) },
		"a changed byte":           func(o *origin) { o.archive = bytes.Clone(o.archive); o.archive[len(o.archive)/2] ^= 1 },
		"too large":                func(o *origin) { o.list.Data.Files[0].Bytes = maxArchive + 1 },
		"no archive":               func(o *origin) { o.list.Data.Files[0].Name = "models.csv" },
		"another host":             func(o *origin) { o.list.Data.Files[0].URL = "http://127.0.0.1:1/x" },
		"another scheme":           func(o *origin) { o.list.Data.Files[0].URL = "file:///etc/passwd" },
		"no list":                  func(o *origin) { o.list.Data.Files = nil },
		"outside":                  with(tar.Header{Name: "../evil.json", Typeflag: tar.TypeReg}, "{}"),
		"outside, deeper":          with(tar.Header{Name: "models/../../evil.json", Typeflag: tar.TypeReg}, "{}"),
		"absolute":                 with(tar.Header{Name: "/tmp/evil.json", Typeflag: tar.TypeReg}, "{}"),
		"a link":                   with(tar.Header{Name: "models/l.json", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""),
		"a hard link":              with(tar.Header{Name: "models/l.json", Typeflag: tar.TypeLink, Linkname: "dataset.json"}, ""),
		"a device":                 with(tar.Header{Name: "models/l.json", Typeflag: tar.TypeChar}, ""),
		"a program":                with(tar.Header{Name: "models/run.sh", Typeflag: tar.TypeReg}, "#!/bin/sh"),
		"another folder":           with(tar.Header{Name: "elsewhere/a.json", Typeflag: tar.TypeReg}, "{}"),
		"a file twice":             with(tar.Header{Name: "dataset.json", Typeflag: tar.TypeReg}, good["dataset.json"]),
		"a rejected dataset":       with(tar.Header{Name: "models/broken.json", Typeflag: tar.TypeReg}, "{"),
		"records without a digest": with(tar.Header{Name: "models/more.ndjson", Typeflag: tar.TypeReg}, ""),
	}
	for name, forge := range tests {
		t.Run(name, func(t *testing.T) {
			o, m, dir := follow(t, "")
			o.publish(regular(good), good, digest)
			if _, err := m.Once(context.Background()); err != nil {
				t.Fatal(err)
			}
			two := base(t, "2")
			o.publish(regular(two), two, digestOf(t, two))
			forge(o)
			o.etag = `"forged"`
			if changed, err := m.Once(context.Background()); changed || err == nil {
				t.Errorf("Once = %t, %v; want an error", changed, err)
			}
			if !maps.Equal(contents(t, dir), good) {
				t.Errorf("the directory changed: %v", contents(t, dir))
			}
			if around, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*evil*")); around != nil {
				t.Errorf("files outside: %q", around)
			}
		})
	}
}

// TestWaits: an origin that asks to wait is waited for, and a directory of someone else is kept.
func TestWaits(t *testing.T) {
	o, m, dir := follow(t, "")
	o.busy = true
	var later *RetryError
	if _, err := m.Once(context.Background()); !errors.As(err, &later) || later.After != 7*time.Second {
		t.Errorf("Once = %v, want a RetryError of 7 s", err)
	}
	if st := m.State(); st.Cause != "the origin answered 503 and asks to wait" {
		t.Errorf("cause %q", st.Cause)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := New(m.cfg); err == nil || !strings.Contains(err.Error(), "was not made by a mirror") {
		t.Errorf("New on a directory of someone else = %v", err)
	}
	for _, bad := range []string{"", "example.org", "ftp://example.org", "https://user:pass@example.org", "https://example.org?x=1"} {
		if _, err := New(Config{Origin: bad, Dir: filepath.Join(t.TempDir(), "data")}); err == nil {
			t.Errorf("New(%q) = nil, want an error", bad)
		}
	}
}

// TestOrigins: what else answers instead of an origin, or does not end: no wait without an end, and a cause that says what
// to look at.
func TestOrigins(t *testing.T) {
	good := base(t, "1")
	drip := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil { // in time, but never done
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond)
		}
	}
	for name, test := range map[string]struct {
		list, archive http.HandlerFunc // nil: that of the origin
		text, cause   string
	}{
		"a list without an end":     {list: drip, text: "less than", cause: "the origin sends nothing, or too slowly"},
		"an archive without an end": {archive: drip, text: "less than", cause: "the origin sends nothing, or too slowly"},
		"a page": {list: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<html>Log in"))
		}, text: "no list of dumps, but text/html (is it the address of a modeldex service?)", cause: "what the origin sent was rejected"},
		"a login": {list: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://sso.example.com/login?token=secret", http.StatusFound)
		}, text: "redirect to https://sso.example.com/login is not followed: it leaves the origin", cause: "the origin redirects, and that is not followed"},
		"a circle": {list: func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, text: "there were five before it", cause: "the origin redirects, and that is not followed"},
		"an old key": {list: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, text: "--origin-key-file", cause: "the origin answered 403 Forbidden"},
		"a wait for ages": {list: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT")
			w.WriteHeader(http.StatusTooManyRequests)
		}, text: "try again in 1h0m0s", cause: "the origin answered 429 and asks to wait"},
	} {
		t.Run(name, func(t *testing.T) {
			o := &origin{t: t}
			o.publish(regular(good), good, digestOf(t, good))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := test.archive
				if r.URL.Path == "/api/v1/dumps" {
					answer = test.list
				}
				if answer == nil {
					answer = o.ServeHTTP
				}
				answer(w, r)
			}))
			defer server.Close()
			m, err := New(Config{Origin: server.URL, Dir: filepath.Join(t.TempDir(), "data")})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			m.paceTime = 300 * time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = m.Once(ctx)
			if err == nil || !strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), "secret") || m.State().Cause != test.cause {
				t.Errorf("Once = %v, cause %q; want %q and %q", err, m.State().Cause, test.text, test.cause)
			}
		})
	}
}

// serveEvery serves the list of the next origin each time, and the archives of all.
func serveEvery(lists *atomic.Uint64, origins []*origin) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/dumps" {
			o := origins[lists.Add(1)%uint64(len(origins))]
			w.Header().Set("ETag", o.etag)
			if err := json.NewEncoder(w).Encode(o.list); err != nil {
				return // the mirror was killed
			}
			return
		}
		for _, o := range origins {
			if strings.Contains(r.URL.Path, o.list.Data.Files[0].SHA256) {
				_, _ = w.Write(o.archive)
			}
		}
	}
}

// TestNothingLeft: a mirror that never got a dataset leaves nothing behind, and makes no directory above its own.
func TestNothingLeft(t *testing.T) {
	service := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(service.Close)
	dir := t.TempDir()
	m, err := New(Config{Origin: service.URL, Dir: filepath.Join(dir, "new")})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Once(t.Context())
	if want := service.URL + "/api/v1/dumps: answered 404 Not Found; the address is wrong, or that service offers no dumps (--dumps=off)"; err == nil || err.Error() != want {
		t.Errorf("Once = %v, want %s", err, want)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
	if _, err := New(Config{Origin: service.URL, Dir: filepath.Join(dir, "none", "new")}); err == nil || err.Error() != filepath.Join(dir, "none")+": does not exist" {
		t.Errorf("New below a directory that does not exist = %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

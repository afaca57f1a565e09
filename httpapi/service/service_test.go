package service

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/dataset/watch"
	"modeldex/httpapi"
	"modeldex/httpapi/operator"
	"modeldex/quota"
)

// patience is how long a test waits for what must come; it bounds a failing test only.
const patience = 2 * time.Minute

// smallData writes a dataset of one tool and returns its directory.
func smallData(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, folder := range []string{"models", "hardware", "benchmarks"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"dataset.json", "quantizations.json", "tools/ollama.json"} {
		b, err := os.ReadFile(filepath.Join("../../data", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func load(t *testing.T, dir string) *dataset.Set {
	t.Helper()
	set, err := dataset.Load(context.Background(), os.DirFS(dir), dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func rename(t *testing.T, dir, name string) {
	t.Helper()
	file := filepath.Join(dir, "tools/ollama.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if i := strings.Index(text, `"name": "`); i >= 0 {
		end := strings.Index(text[i+9:], `"`)
		text = text[:i+9] + name + text[i+9+end:]
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fakeWatcher is a watcher whose events a test makes itself.
type fakeWatcher struct {
	take    func(*dataset.Set, error)
	looking func()
	kicks   chan struct{}
	closed  bool
	onClose func() // may be nil
}

func (w *fakeWatcher) Rescan() { w.kicks <- struct{}{} }
func (w *fakeWatcher) Close() {
	w.closed = true
	if w.onClose != nil {
		w.onClose()
	}
}

func (w *fakeWatcher) watch(_ context.Context, _ string, _ *dataset.Set, opt watch.Options, take func(*dataset.Set, error)) watcher {
	w.take, w.looking, w.kicks = take, opt.BeforeLoad, make(chan struct{}, 1)
	return w
}

// buffer is a log that a test reads while it is written.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func config(t *testing.T) (Config, *buffer) {
	t.Helper()
	dir := smallData(t)
	keys, err := os.MkdirTemp("", "svc") // short: addresses of sockets are
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(keys) })
	log := &buffer{}
	return Config{
		Config: httpapi.Config{Files: os.DirFS(dir), CacheBytes: 1 << 20, Log: slog.New(slog.NewTextHandler(log, nil))},
		Dir:    dir, Where: dir, Place: operator.Place{Ledger: filepath.Join(keys, "m.db")}, Options: Options{Addr: "127.0.0.1:0"}, Stdout: io.Discard,
	}, log
}

// TestRejectedSnapshots: the files are looked at every few seconds while something is wrong with them; what is wrong
// is logged once.
func TestRejectedSnapshots(t *testing.T) {
	cfg, log := config(t)
	folder := filepath.Join(cfg.Dir, "snapshots")
	lines := func(text string, want int) {
		t.Helper()
		if got := strings.Count(log.String(), text); got != want {
			t.Errorf("%q is logged %d times, want %d:\n%s", text, got, want, log)
		}
	}
	r := newReloader(&cfg)
	datasettest.Must(t, os.RemoveAll(folder))
	datasettest.PutFile(t, filepath.Join(folder, "snapshot-2026-01-01.json"), "{}")
	for range 3 {
		r.loadSnapshots(t.Context())
	}
	first := strings.Count(log.String(), "snapshot rejected")
	lines("snapshot rejected", len(r.catalog.Load().Rejected()))
	datasettest.PutFile(t, filepath.Join(folder, "snapshot-2026-01-01.json"), "[")
	for range 3 {
		r.loadSnapshots(t.Context())
	}
	lines("snapshot rejected", first+len(r.catalog.Load().Rejected()))
	r.cfg.Files = unreadable{}
	for range 3 {
		r.loadSnapshots(t.Context())
	}
	lines("snapshots not read", 1)
}

// unreadable is a directory on a disk that fails.
type unreadable struct{}

func (unreadable) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.EIO}
}

// TestReload: what the watcher hands over goes through index and history to the one who serves;
// numbers are of one owner and rise by one per change; what is rejected changes nothing.
func TestReload(t *testing.T) {
	cfg, log := config(t)
	r := newReloader(&cfg)
	if err := r.first(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := &fakeWatcher{}
	r.start(t.Context(), w.watch)
	first := r.live.Current()
	if first == nil || first.Number != 1 || r.history.Refused(r.live.Current()) != nil {
		t.Fatalf("after the first load: %+v, refused %v", first, r.history.Refused(r.live.Current()))
	}

	w.looking()
	w.take(load(t, cfg.Dir), nil)
	if r.live.Current() != first {
		t.Error("the same content was published again")
	}
	rename(t, cfg.Dir, "Second")
	w.looking()
	w.take(load(t, cfg.Dir), nil)
	second := r.live.Current()
	if second.Number != 2 || second.Digest == first.Digest {
		t.Errorf("after a change: number %d, want 2", second.Number)
	}
	w.take(nil, errors.New("the files keep changing"))
	if refused := r.history.Refused(r.live.Current()); r.live.Current() != second || refused == nil || !strings.Contains(refused.Text, "keep changing") {
		t.Errorf("after a rejected load: generation %d, refused %+v", r.live.Current().Number, refused)
	}
	w.take(load(t, cfg.Dir), nil)
	if r.live.Current() != second || r.history.Refused(r.live.Current()) != nil {
		t.Error("when the files are as before, the rejection does not end")
	}
	w.take(nil, errors.New("the files keep changing again"))
	rename(t, cfg.Dir, "Third")
	set := load(t, cfg.Dir)
	if err := r.publish(t.Context(), set, time.Now()); err != nil {
		t.Fatal(err)
	}
	if third := r.live.Current(); r.history.Refused(third) != nil || r.history.Refused(second) == nil {
		t.Errorf("as soon as %d is served: refused %+v beside it, %+v beside the one before", third.Number, r.history.Refused(third), r.history.Refused(second))
	}
	w.take(set, nil)
	if got := r.live.Current().Number; got != 3 {
		t.Errorf("number %d, want 3: rejected loads have none", got)
	}
	for _, want := range []string{"generation=1", "generation=2", "generation=3", "dataset rejected", "dataset accepted again"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
}

// serving starts Run and waits until it serves; stop ends it and returns what Run returned.
func serving(t *testing.T, cfg Config) (addr string, stop func() error) {
	t.Helper()
	out, in := io.Pipe()
	cfg.Stdout = in
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := Run(ctx, cfg)
		in.CloseWithError(io.EOF)
		ended <- err
	}()
	line := make([]byte, 256)
	n, err := out.Read(line)
	if err != nil {
		cancel()
		t.Fatalf("did not come to serve: %v", <-ended)
	}
	_, rest, _ := strings.Cut(string(line[:n]), "http://")
	addr, _, _ = strings.Cut(rest, " ")
	return addr, sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(patience):
			return errors.New("Run does not return")
		}
	})
}

func TestRun(t *testing.T) {
	cfg, log := config(t)
	// A load under way when the signal comes ends later, and logs.
	w := &fakeWatcher{onClose: func() { cfg.Log.Info("the last load ended") }}
	cfg.watch = w.watch
	addr, stop := serving(t, cfg)
	defer stop()
	resp, err := http.Get("http://" + addr + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("/readyz: %d", resp.StatusCode)
	}
	client, err := operator.Dial(cfg.Place.SocketPath())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.List(context.Background(), quota.Filter{}, 0); err != nil {
		t.Error(err)
	}
	if err := stop(); err != nil {
		t.Errorf("Run = %v", err)
	}
	if !w.closed {
		t.Error("the watcher was not closed")
	}
	if !strings.HasSuffix(log.String(), "msg=stopped\n") {
		t.Errorf("the log does not end with stopped:\n%s", log)
	}
	if _, err := os.Lstat(cfg.Place.SocketPath()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the admin socket stays behind: %v", err)
	}
}

// TestFailedStart: a start that fails leaves nothing behind.
func TestFailedStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, change := range map[string]func(*Config){
		"the address is taken":       func(c *Config) { c.Addr = taken.Addr().String() },
		"the admin address is taken": func(c *Config) { c.AdminAddr = taken.Addr().String() },
		"the admin address is none":  func(c *Config) { c.AdminAddr = "foo" },
		"the token is too short":     func(c *Config) { c.AdminAddr, c.AdminToken = "127.0.0.1:0", "short" },
		"the socket cannot be made":  func(c *Config) { c.Place.Socket = filepath.Join(c.Dir, "none", "s") },
		"the tiers cannot be read":   func(c *Config) { c.Place.Tiers = filepath.Join(c.Dir, "none") },
		"the dataset has findings":   func(c *Config) { c.Files = os.DirFS(filepath.Dir(c.Place.Ledger)) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg, _ := config(t)
			cfg.watch = (&fakeWatcher{}).watch
			change(&cfg)
			if err := Run(context.Background(), cfg); err == nil {
				t.Fatal("it started")
			}
			left, err := os.ReadDir(filepath.Dir(cfg.Place.Ledger))
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
	// A ledger that was there before stays.
	cfg, _ := config(t)
	cfg.watch = (&fakeWatcher{}).watch
	_, stop := serving(t, cfg)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	cfg.Addr = taken.Addr().String()
	if err := Run(context.Background(), cfg); err == nil {
		t.Fatal("it started")
	}
	if _, err := os.Stat(cfg.Place.Ledger); err != nil {
		t.Error(err)
	}
}

// TestStoppedStart: a signal ends a start whose ledger does not answer, at once and without an error.
func TestStoppedStart(t *testing.T) {
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		if conn, err := deaf.Accept(); err == nil {
			defer conn.Close()
			stop() // the ledger is being opened
		}
		<-ctx.Done()
	}()
	cfg, log := config(t)
	cfg.Place.Ledger, cfg.watch = "etcd://"+deaf.Addr().String()+"/modeldex", (&fakeWatcher{}).watch
	cfg.Place.Socket = filepath.Join(t.TempDir(), "s")
	if err := Run(ctx, cfg); err != nil {
		t.Errorf("Run() = %v, want no error", err)
	}
	if !strings.Contains(log.String(), "stopped while opening the ledger") {
		t.Errorf("the log does not say why it stopped:\n%s", log)
	}
}

// TestLedgerRemoved: without its file the server ends with an error, because what it would acknowledge would be lost.
func TestLedgerRemoved(t *testing.T) {
	cfg, log := config(t)
	cfg.watch = (&fakeWatcher{}).watch
	_, stop := serving(t, cfg)
	if err := os.Remove(cfg.Place.Ledger); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); !strings.Contains(log.String(), "removed or replaced"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the removed ledger is not noticed")
		}
	}
	if err := stop(); !errors.Is(err, quota.ErrRemoved) {
		t.Errorf("Run = %v, want ErrRemoved", err)
	}
}

// TestAdminTCP: the token is created once, is not in the log, and lets in.
func TestAdminTCP(t *testing.T) {
	cfg, log := config(t)
	cfg.watch, cfg.AdminAddr = (&fakeWatcher{}).watch, "127.0.0.1:0"
	_, stop := serving(t, cfg)
	token, err := operator.ReadToken(cfg.Place.Ledger + ".token")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(log.String(), token) || !strings.Contains(log.String(), ".token") {
		t.Errorf("the log has the token, or not its file:\n%s", log)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// busy is a listener whose first connection cannot be accepted, because there are no open files left.
type busy struct {
	net.Listener
	failed atomic.Bool
}

func (b *busy) Accept() (net.Conn, error) {
	if !b.failed.Swap(true) {
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return b.Listener.Accept()
}

// TestAdminLog: what goes wrong on an admin listener is in the log of the service, in its format.
func TestAdminLog(t *testing.T) {
	cfg, log := config(t)
	opened, err := cfg.Place.Open(t.Context(), quota.Config{}, quota.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	admin := &adminListeners{cfg: &cfg, tcp: &busy{Listener: ln}, token: "a-token-of-some-length"}
	stop := admin.serve(opened.Keeper, opened.Ledger, http.NotFoundHandler())
	resp, err := http.Get("http://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	stop()
	if text := log.String(); !strings.Contains(text, "level=WARN") || !strings.Contains(text, "too many open files") {
		t.Errorf("the log does not say why a connection was not accepted:\n%s", text)
	}
}

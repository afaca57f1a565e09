package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
	"modeldex/httpapi/operator"
	"modeldex/quota"

	"github.com/google/go-cmp/cmp"
)

// freeBurst is a burst no test can exceed.
const freeBurst = `"burst": {"rate": 1000000, "per_seconds": 1, "depth": 1000000}`

// site is the real program on a ledger of its own: its server, and the verbs beside it.
type site struct {
	t         *testing.T
	dir       string
	tiers     string   // file of tiers
	flags     []string // of the server, beside those every test needs
	variables []string // of the environment, beside those of ledger and tiers
	server    *process
	startup   time.Duration // how long the server took to serve
	reset     int64         // when the month ends, once seen
}

// newSite makes a directory with the tiers; nothing is started.
func newSite(t *testing.T, tiers string) *site {
	t.Helper()
	dir, err := os.MkdirTemp(workDir, "") // short, for the socket
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, dir: dir, tiers: filepath.Join(dir, "tiers.json")}
	if err := os.WriteFile(s.tiers, []byte(tiers), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) ledger() string { return filepath.Join(s.dir, "modeldex.db") }

// env tells both the server and the verbs of ledger and tiers.
func (s *site) env() []string {
	return append([]string{"MODELDEX_LEDGER=" + s.ledger(), "MODELDEX_TIERS=" + s.tiers}, s.variables...)
}

func (s *site) serveArgs() []string {
	return append([]string{"serve", "--addr=127.0.0.1:0", "--data=" + mustSmallData(s.t), "--log-format=json", "--log-level=debug", "--dumps=off"}, s.flags...)
}

func (s *site) launch() { s.server = launch(s.t, s.dir, s.env(), s.serveArgs()...) }

func (s *site) start() {
	s.t.Helper()
	begun := time.Now()
	s.launch()
	if err := s.server.awaitServing(); err != nil {
		s.t.Fatal(err)
	}
	s.startup = time.Since(begun)
}

func (s *site) stop() {
	s.t.Helper()
	if code, err := s.server.stop(); err != nil || code != 0 {
		s.t.Errorf("SIGTERM: ended with %d: %v\n%s", code, err, s.server.stderr)
	}
}

// ran is how a run of the program ended.
type ran struct {
	stdout, stderr string
	code           int
}

// run runs another verb of the program.
func (s *site) run(args ...string) ran {
	s.t.Helper()
	stdout, stderr, code := runProgram(s.t, s.dir, s.env(), args...)
	return ran{stdout, stderr, code}
}

// mustRun is run of a verb that has to end with 0.
func (s *site) mustRun(args ...string) ran {
	s.t.Helper()
	r := s.run(args...)
	if r.code != 0 {
		s.t.Fatalf("modeldex %s: exit code %d\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	return r
}

// accounts runs a verb that prints accounts as JSON.
func (s *site) accounts(args ...string) []quota.Account {
	s.t.Helper()
	var out []quota.Account
	r := s.mustRun(args...)
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		s.t.Fatalf("modeldex %s: %v\n%s", strings.Join(args, " "), err, r.stdout)
	}
	return out
}

// admin is a connection to the running server's admin socket.
func (s *site) admin() *operator.Client {
	s.t.Helper()
	client, err := operator.Dial(s.ledger() + ".sock")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(client.Close)
	return client
}

// issue makes a key in a tier of the running server.
func (s *site) issue(name, tier string) (secret string, account quota.Account) {
	s.t.Helper()
	issued, refusal, err := s.admin().Issue(context.Background(), quota.IssueRequest{
		Name: name, Email: name + "@example.com", UseCase: "tests", Tier: tier,
	})
	if err != nil || refusal.Reason != 0 {
		s.t.Fatalf("issuing a key in tier %s: %v, %+v", tier, err, refusal)
	}
	return issued.Secret.Reveal(), issued.Account
}

func (s *site) caller() *caller {
	c := &caller{addr: s.server.addr}
	s.t.Cleanup(c.hangUp)
	return c
}

// must is a call that has to be answered with a status.
func (s *site) must(c *caller, status int, path, secret string) *heard {
	s.t.Helper()
	h, err := c.call("GET", path, secret)
	if err != nil {
		s.t.Fatal(err)
	}
	if h.status != status {
		s.t.Fatalf("GET %s is answered %d, want %d: %s", path, h.status, status, h.body)
	}
	return h
}

// used is what GET /api/v1/keys/self says of an active key. Counts begin again with a month, so
// a test during which it turns proves nothing and is skipped.
func (s *site) used(c *caller, secret string) int64 {
	s.t.Helper()
	h, err := c.call("GET", "/api/v1/keys/self", secret)
	for err == nil && h.code == "burst_exceeded" {
		time.Sleep(10 * time.Millisecond)
		h, err = c.call("GET", "/api/v1/keys/self", secret)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	var out struct{ Data KeyUsage }
	if err := json.Unmarshal(h.body, &out); err != nil || h.status != http.StatusOK {
		s.t.Fatalf("keys/self is answered %d: %s", h.status, h.body)
	}
	if s.reset == 0 {
		s.reset = h.reset
	}
	if h.reset != s.reset {
		s.t.Skip("the month turned while the test ran")
	}
	return int64(out.Data.Used)
}

// TestParallelCalls has 64 clients call with one key: every charged answer has a number of its
// own, together all numbers from the limit down, and free answers between them change nothing.
func TestParallelCalls(t *testing.T) {
	t.Parallel()
	s := newSite(t, `{"tiers": [{"name": "free", "calls_per_month": 100, `+freeBurst+`}, {"name": "wide", "calls_per_month": 1000000, `+freeBurst+`}]}`)
	s.start()
	seed, each := seedOf(t), datasettest.Rounds(10, 20)
	for _, tc := range []struct {
		name, tier string
		each       int // charged calls a client makes; 0: until the quota is used up
		want       int64
		keys       int // one after the other: the end of a quota is met once a key
	}{
		{"within the quota", "wide", each, 64 * int64(each), 1},
		{"to the end of the quota", "free", 0, 100, datasettest.Rounds(3, 10)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for key := range uint64(tc.keys) {
				secret, account := s.issue("parallel", tc.tier)
				checkCrowd(t, crowd(t, s, secret, int64(account.Limit), tc.each, seed+key), int64(account.Limit), tc.want)
				if used := s.used(s.caller(), secret); used != tc.want {
					t.Errorf("used = %d, want %d", used, tc.want)
				}
			}
		})
	}
}

// checkCrowd holds all charged answers together to the numbers from the limit down.
func checkCrowd(t *testing.T, journals []*journal, limit, calls int64) {
	t.Helper()
	var got []int64
	for _, j := range journals {
		got = append(got, j.charged...)
		for _, fault := range j.faults {
			t.Error(fault)
		}
	}
	want := make([]int64, calls)
	for i := range want {
		want[i] = limit - 1 - int64(i)
	}
	slices.SortFunc(got, func(a, b int64) int { return int(b - a) })
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("X-RateLimit-Remaining of charged answers (-want +got):\n%s", d)
	}
}

// crowd is 64 clients calling at once; calls that are free come between the charged ones.
func crowd(t *testing.T, s *site, secret string, limit int64, each int, seed uint64) []*journal {
	var callers sync.WaitGroup
	journals := make([]*journal, 64)
	for i := range journals {
		j, rng := &journal{last: limit}, rand.New(rand.NewPCG(seed, uint64(i)))
		journals[i] = j
		callers.Go(func() {
			c := &caller{addr: s.server.addr}
			defer c.hangUp()
			tag := `"none"`
			for over := 0; over < 3 && (each == 0 || len(j.charged) < each); { // a few calls too many
				path, more, want := randomCall(rng, tag)
				h, err := c.call("GET", path, secret, more...)
				if err != nil {
					t.Error(err)
					return
				}
				if path == tortureList && h.header.Get("ETag") != "" {
					tag = h.header.Get("ETag")
				}
				j.hear(h, time.Time{}, want, limit)
				if h.remaining == 0 {
					over++
				}
			}
		})
	}
	callers.Wait()
	return journals
}

// mustRefuse runs a verb that has to end with 1 and to say the texts on stderr.
func (s *site) mustRefuse(args []string, texts ...string) {
	s.t.Helper()
	r := s.run(args...)
	if r.code != 1 || strings.Contains(r.stdout, "modeldex serves") {
		s.t.Errorf("modeldex %s: exit code %d, want 1\n%s%s", strings.Join(args, " "), r.code, r.stdout, r.stderr)
	}
	for _, text := range texts {
		if !strings.Contains(r.stderr, text) {
			s.t.Errorf("modeldex %s: stderr lacks %q:\n%s", strings.Join(args, " "), text, r.stderr)
		}
	}
}

// TestAdminSocketElsewhere covers sockets that are not beside the ledger, and those that cannot be.
func TestAdminSocketElsewhere(t *testing.T) {
	t.Parallel()
	tiers := `{"tiers": [{"name": "free", "calls_per_month": 1000}]}`
	deep := newSite(t, tiers)
	deep.dir = filepath.Join(deep.dir, strings.Repeat("d", 110))
	if err := os.Mkdir(deep.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	deep.start()
	deep.awaitLog("too long for a Unix socket; choose a shorter one with --admin-socket")
	deep.mustRefuse([]string{"keys", "list"}, "locked by another process", "--admin-socket")
	deep.stop()
	deep.mustRun("keys", "list")

	socket := filepath.Join(filepath.Dir(deep.dir), "a.sock")
	deep.flags = []string{"--admin-socket=" + socket}
	deep.start()
	if info, err := os.Stat(socket); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("the admin socket: %v, %v; want mode 0600", info, err)
	}
	deep.mustRun("keys", "list", "--admin-socket="+socket)
	other := newSite(t, tiers)
	other.flags = deep.flags
	other.mustRefuse(other.serveArgs(), socket, "another server is listening")
	deep.mustRun("keys", "list", "--admin-socket="+socket)
	other.flags = []string{"--admin-socket=" + filepath.Join(deep.dir, "a.sock")}
	other.mustRefuse(other.serveArgs(), "at most 103 bytes")
	deep.stop()
	if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after a clean stop the socket is there: %v", err)
	}
}

// awaitLog waits for a text in what the server logs, which may come after what it has answered.
func (s *site) awaitLog(text string) {
	s.t.Helper()
	if err := s.server.stderr.await(s.server.ended, func(log string) bool { return strings.Contains(log, text) }); err != nil {
		s.t.Errorf("waiting for %q in the log: %v\n%.2000s", text, err, s.server.stderr)
	}
}

// TestLedgerFaults starts the program on ledgers it cannot work with: it ends with 1 and names
// the file and what to do. No fault may be repaired by writing to the file.
func TestLedgerFaults(t *testing.T) {
	t.Parallel()
	for i, tc := range []struct {
		name  string
		spoil func(t *testing.T, s *site)
		want  []string
		reads bool // and ledger check is content
	}{
		{"locked", func(t *testing.T, s *site) {
			l, err := quota.Open(s.ledger(), quota.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() }) // its errors are not under test
		}, []string{"locked by another process", "stop that process"}, false},
		{"corrupt", func(t *testing.T, s *site) {
			s.rewrite(func(b []byte) []byte {
				for i := 2 * os.Getpagesize(); i < len(b); i++ {
					b[i] ^= 0x55
				}
				return b
			})
		}, []string{"corrupt", "restore a backup"}, false},
		{"truncated", func(t *testing.T, s *site) {
			s.rewrite(func(b []byte) []byte { return b[:3*os.Getpagesize()] })
		}, []string{"truncated", "restore a backup"}, false},
		{"something else", func(t *testing.T, s *site) {
			s.rewrite(func([]byte) []byte { return []byte("a letter\n") })
		}, []string{"not a ledger", "choose another path"}, false},
		{
			"directory", func(t *testing.T, s *site) { s.replaceBy(func() error { return os.Mkdir(s.ledger(), 0o700) }) },
			[]string{"not a ledger", "choose another path"},
			false,
		},
		{
			"no directory", func(t *testing.T, s *site) { s.dir = filepath.Join(s.dir, "missing") },
			[]string{"directory does not exist", "create it"},
			false,
		},
		{"read-only file", readOnly, []string{"read-only", "make file and directory writable"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, `{"tiers": [{"name": "free", "calls_per_month": 1000}]}`)
			here := s.dir
			s.seed(20)
			tc.spoil(t, s)
			before, _ := os.ReadFile(s.ledger()) // nothing where it cannot be read
			path := s.ledger()
			verbs := [][]string{s.serveArgs(), {"keys", "list"}, {"keys", "issue", "--name=n", "--email=n@example.com", "--use-case=u"}, {"ledger", "compact"}}
			if tc.name == "locked" { // each waits a second for the lock
				verbs = verbs[:2]
			}
			if !tc.reads {
				verbs = append(verbs, []string{"ledger", "check"}, []string{"ledger", "backup", filepath.Join(here, "copy.db")})
			}
			if others := verbs[1:]; !datasettest.Long() { // the server, and each time another verb
				verbs = [][]string{verbs[0], others[i%len(others)]}
			}
			for _, args := range verbs {
				stdout, stderr, code := runProgram(t, here, s.env(), args...)
				if code != 1 || !strings.Contains(stderr, path) {
					t.Errorf("%s: exit code %d, want 1 and the path %s:\n%s%s", args, code, path, stdout, stderr)
				}
				for _, text := range tc.want {
					if !strings.Contains(stderr, text) {
						t.Errorf("%s: stderr lacks %q:\n%s", args, text, stderr)
					}
				}
			}
			if after, _ := os.ReadFile(s.ledger()); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			if tc.reads {
				s.mustRun("ledger", "check")
				s.mustRun("ledger", "backup", filepath.Join(filepath.Dir(s.tiers), "copy.db"))
			}
		})
	}
}

// TestLedgerWarnings starts the program on ledgers with a damage it can serve with: the log and /readyz say
// so, without a name or an address, and the key that is affected goes on working.
func TestLedgerWarnings(t *testing.T) {
	t.Parallel()
	const tiers = `{"tiers": [{"name": "free", "calls_per_month": 1000}]}`
	first := newSite(t, tiers)
	var issued struct {
		Key string
		quota.Account
	}
	r := first.mustRun("keys", "issue", "--json", "--name=Ann", "--email=ann@example.com", "--use-case=u")
	if err := json.Unmarshal([]byte(r.stdout), &issued); err != nil {
		t.Fatal(err)
	}
	first.mustRun("keys", "issue", "--name=Bob", "--email=bob@example.com", "--use-case=u") // an older head lacks the last change
	whole, err := os.ReadFile(first.ledger())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, want string // no warning where want is empty
		at         int    // of the byte that is damaged
	}{
		{"no damage", "", -1},
		{"first head page", "one of the two copies of the file header is damaged", 40},
		{"second head page", "one of the two copies of the file header is damaged", os.Getpagesize() + 40},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, tiers)
			damaged := bytes.Clone(whole)
			if tc.at >= 0 {
				damaged[tc.at]++
			}
			if err := os.WriteFile(s.ledger(), damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			s.start()
			c := s.caller()
			var ready Health
			if err := json.Unmarshal(s.must(c, 200, "/readyz", "").body, &ready); err != nil || ready.Status != "ok" {
				t.Errorf("/readyz: %+v, %v", ready, err)
			}
			s.must(c, 200, tortureList, issued.Key)
			if used := s.used(c, issued.Key); used != 1 {
				t.Errorf("used = %d, want 1", used)
			}
			s.stop()
			log := s.server.stderr.String()
			if tc.want == "" {
				if len(ready.LedgerWarnings) != 0 || strings.Contains(log, `"warning"`) {
					t.Errorf("warnings of a sound ledger: %q\n%s", ready.LedgerWarnings, log)
				}
				return
			}
			if len(ready.LedgerWarnings) != 1 || !strings.HasPrefix(ready.LedgerWarnings[0], tc.want) || strings.Contains(ready.LedgerWarnings[0], "@") {
				t.Errorf("/readyz warns of %q, want one that begins with %q", ready.LedgerWarnings, tc.want)
			}
			if !strings.Contains(log, `"level":"WARN","msg":"ledger","warning":"`+tc.want) || strings.Contains(log, "@example.com") {
				t.Errorf("the log lacks a warning that begins with %q, or has an address:\n%s", tc.want, log)
			}
		})
	}
}

// rewrite changes the bytes of a ledger nobody holds.
func (s *site) rewrite(change func([]byte) []byte) {
	s.t.Helper()
	b, err := os.ReadFile(s.ledger())
	if err == nil {
		err = os.WriteFile(s.ledger(), change(b), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) replaceBy(make func() error) {
	s.t.Helper()
	if err := errors.Join(os.Remove(s.ledger()), make()); err != nil {
		s.t.Fatal(err)
	}
}

// readOnly moves the ledger where it cannot be written. Root may write whatever its mode is,
// so for root that is a filesystem mounted read-only.
func readOnly(t *testing.T, s *site) {
	t.Helper()
	if os.Getuid() != 0 {
		if err := errors.Join(os.Chmod(s.ledger(), 0o400), os.Chmod(s.dir, 0o500)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(s.dir, 0o700) }) // so that it can be removed
		return
	}
	b, err := os.ReadFile(s.ledger())
	if err != nil {
		t.Fatal(err)
	}
	s.dir = mountSmall(t, "32m")
	if err := os.WriteFile(s.ledger(), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "remount,ro", s.dir).CombinedOutput(); err != nil {
		t.Skipf("cannot remount read-only: %v: %s", err, out)
	}
}

// mountSmall mounts a filesystem of its own, which can be filled, or skips the test.
func mountSmall(t *testing.T, size string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can mount the small filesystem this test fills")
	}
	dir, err := os.MkdirTemp(workDir, "")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("cannot mount a small filesystem: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return dir
}

// ballast fills a filesystem to its last block, by one file.
func ballast(t *testing.T, dir string) (path string) {
	t.Helper()
	path = filepath.Join(dir, "ballast")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 1024)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return path
}

// coldKeys are more than the pages of a compacted ledger can take new counts of.
const coldKeys = 700

// TestDiskFull fills the disk under a serving program: keys whose lease is used up are told
// 503 and when to come again, all else goes on, and so does everything once there is room.
// Neither the full disk nor a crash on it loses anything acknowledged.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	s := newSite(t, `{"tiers": [{"name": "free", "calls_per_month": 1000000, `+freeBurst+`}]}`)
	s.dir = mountSmall(t, "8m")
	cold := s.seed(coldKeys)
	s.mustRun("ledger", "compact") // without free pages in it, every write needs the disk
	s.start()
	hot, _ := s.issue("hot", "free")
	c, answered := s.caller(), map[string]int64{}
	// The disk is filled except for what the calls need, so that little is left to do behind them: the lease they
	// end with is given back when the key was silent for a second.
	full := ballast(t, s.dir)
	info, err := os.Stat(full)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(full, info.Size()-512<<10); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		s.must(c, 200, tortureList, hot)
		answered[hot]++
	}
	ballast(t, s.dir)
	refused := s.callEach(cold, answered)
	if refused == 0 {
		t.Fatal("no call was refused on the full disk")
	}
	t.Logf("%d of %d first calls were refused", refused, coldKeys)
	s.outage(c, hot, answered)

	s.server.kill()
	s.start() // on the full disk
	c = s.caller()
	s.compare(c, answered, func(used, answered int64) bool { return used >= answered })
	s.callEach(cold, answered)

	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	s.awaitReady(c)
	if again := s.callEach(append(cold, hot), answered); again != 0 {
		t.Errorf("%d calls were refused after there was room again", again)
	}
	for secret := range answered { // what the crash cost is told apart no more
		answered[secret] = s.used(c, secret)
	}
	s.stop()
	s.start()
	s.compare(s.caller(), answered, func(used, answered int64) bool { return used == answered })
	s.stop()
	if r := s.mustRun("ledger", "check"); r.stderr != "" {
		t.Errorf("ledger check: %s", r.stderr)
	}
}

// seed writes keys into the ledger of a server that does not run yet.
func (s *site) seed(n int) []string {
	s.t.Helper()
	ledger, err := quota.Open(s.ledger(), quota.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	keeper, err := quota.NewKeeper(context.Background(), ledger, quota.Config{})
	if err != nil {
		s.t.Fatal(err)
	}
	secrets := make([]string, n)
	for i := range secrets {
		issued, refusal, err := keeper.Issue(context.Background(), quota.IssueRequest{Name: "n", Email: "cold@example.com", UseCase: "u"})
		if err != nil || refusal.Reason != 0 {
			s.t.Fatal(err, refusal)
		}
		secrets[i] = issued.Secret.Reveal()
	}
	if err := errors.Join(keeper.Close(context.Background()), ledger.Close()); err != nil {
		s.t.Fatal(err)
	}
	return secrets
}

// callEach calls once with every key, from several clients, counts what was answered, and
// returns how many calls were rejected because of the ledger.
func (s *site) callEach(secrets []string, answered map[string]int64) (refused int) {
	s.t.Helper()
	var callers sync.WaitGroup
	var mu sync.Mutex
	for part := range slices.Chunk(secrets, (len(secrets)+15)/16) {
		callers.Go(func() {
			c := &caller{addr: s.server.addr}
			defer c.hangUp()
			for _, secret := range part {
				h, err := c.call("GET", tortureList, secret)
				if err != nil {
					s.t.Error(err)
					return
				}
				mu.Lock()
				if h.status == http.StatusOK {
					answered[secret]++
				} else {
					s.checkUnavailable(h)
					refused++
				}
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	return refused
}

func (s *site) checkUnavailable(h *heard) {
	s.t.Helper()
	if h.status != http.StatusServiceUnavailable || h.code != "ledger_unavailable" || h.number("Retry-After") < 1 || h.limit <= 0 {
		s.t.Errorf("on the full disk a call is answered %d %s, Retry-After %q, limit %d", h.status, h.code, h.header.Get("Retry-After"), h.limit)
	}
}

// outage looks at a server whose disk is full.
func (s *site) outage(c *caller, hot string, answered map[string]int64) {
	s.t.Helper()
	for n := 0; ; n++ { // the lease the hot key has is spent first
		h, err := c.call("GET", tortureList, hot)
		if err != nil {
			s.t.Fatal(err)
		}
		if h.status != http.StatusOK {
			s.checkUnavailable(h)
			if n == 0 {
				s.t.Error("a key with a lease was refused at once")
			}
			break
		}
		answered[hot]++
	}
	s.must(c, 200, "/healthz", "")
	s.must(c, 503, "/readyz", "")
	s.must(c, 200, "/api/v1/dataset", "")
	if used := s.used(c, hot); used != answered[hot] {
		s.t.Errorf("on the full disk the hot key has used %d, want %d", used, answered[hot])
	}
	s.awaitLog(s.ledger() + ": disk is full")
}

// compare holds what the ledger says of each key to what was answered.
func (s *site) compare(c *caller, answered map[string]int64, ok func(used, answered int64) bool) {
	s.t.Helper()
	faults := 0
	for secret, n := range answered {
		if used := s.used(c, secret); !ok(used, n) {
			s.t.Errorf("%d calls were answered, the ledger holds %d", n, used)
			if faults++; faults == 5 {
				s.t.Fatal("and so on")
			}
		}
	}
}

// awaitReady waits until leases can be written again, which the server finds out by itself.
func (s *site) awaitReady(c *caller) {
	s.t.Helper()
	for limit := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		h, err := c.call("GET", "/readyz", "")
		if err != nil {
			s.t.Fatal(err)
		}
		if h.status == http.StatusOK {
			return
		}
		if time.Now().After(limit) {
			s.t.Fatalf("%s after there was room it is not ready: %s", patience, h.body)
		}
	}
}

// TestBackupUnderLoad copies the ledger of a server that is being called, and serves what is restored from the copy: it
// holds every key, every call that was answered before it was begun, and no call that was not asked for, except for the
// lease that the ledger is ahead of the calls, which is a hundredth of the quota or one call (see package quota).
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	const most = 40_000 // calls of the busy key: its lease is small beside the calls that are made before the copy
	s := newSite(t, `{"tiers": [{"name": "free", "calls_per_month": `+fmt.Sprint(most)+`, `+freeBurst+`}, {"name": "small", "calls_per_month": 150, `+freeBurst+`}]}`)
	s.start()
	busy, _ := s.issue("busy", "free")
	quiet, _ := s.issue("quiet", "small") // its lease is one call
	const quietCalls = 20
	c := s.caller()
	for range quietCalls {
		s.must(c, 200, tortureList, quiet)
	}
	s.used(c, quiet)
	load := keepCalling{site: s, secret: busy, most: most - most/10, enough: make(chan struct{}), stop: make(chan struct{})}
	for range 3 {
		load.Go(load.call)
	}
	<-load.enough
	s.mustRun("ledger", "check")
	late, _ := s.issue("late", "free")
	before := load.answered.Load()
	copied := filepath.Join(s.dir, "copy.db")
	s.mustRun("ledger", "backup", copied)
	asked := load.asked.Load()
	s.mustRefuse([]string{"ledger", "backup", copied}, copied, "file already exists")
	s.mustRefuse([]string{"ledger", "compact"}, s.ledger(), "locked by another process")
	close(load.stop)
	load.Wait()
	s.stop()

	if info, err := os.Stat(copied); err != nil || info.Mode() != 0o600 {
		t.Errorf("the copy: %v, %v; want mode 0600", info, err)
	}
	s.mustRun("ledger", "check", "--ledger="+copied)
	held := map[string]int64{}
	for _, account := range s.accounts("keys", "list", "--json", "--ledger="+copied) {
		held[account.Name] = int64(account.Used)
	}
	if used := held["busy"]; used < before || used > asked+most/100 {
		t.Errorf("the copy holds %d calls of the busy key; %d were answered before it, and %d were asked for until it was made, of which a lease of at most %d is ahead", used, before, asked, most/100)
	}
	if used := held["quiet"]; used < quietCalls || used > quietCalls+1 {
		t.Errorf("the copy holds %d calls of a key that made %d before it, and one more as its lease", used, quietCalls)
	}
	if used, ok := held["late"]; used != 0 || !ok {
		t.Errorf("the copy holds %d calls of a key that made none, %v", used, held)
	}

	restored := filepath.Join(s.dir, "restored.db")
	s.mustRun("ledger", "restore", "--ledger="+restored, copied)
	s.flags = []string{"--ledger=" + restored}
	s.start()
	c = s.caller()
	for name, secret := range map[string]string{"busy": busy, "quiet": quiet, "late": late} {
		if used := s.used(c, secret); used != held[name] {
			t.Errorf("restored, %d calls of the key %s are counted, %d in the copy", used, name, held[name])
		}
	}
	was := s.used(c, busy)
	s.must(c, 200, tortureList, busy)
	if used := s.used(c, busy); used != was+1 {
		t.Errorf("after one more call %d calls are counted, want %d", used, was+1)
	}
}

// keepCalling calls with one key from several goroutines.
type keepCalling struct {
	*site
	sync.WaitGroup
	secret          string
	most            int64         // calls at which it ends by itself
	enough, stop    chan struct{} // closed by it after some calls; by the test
	asked, answered atomic.Int64
}

// call calls until stop is closed.
func (k *keepCalling) call() {
	const enough = 1000
	c := &caller{addr: k.server.addr}
	defer c.hangUp()
	for k.asked.Add(1) <= k.most {
		select {
		case <-k.stop:
			return
		default:
		}
		h, err := c.call("GET", tortureList, k.secret)
		switch {
		case err == nil && h.code == "ledger_unavailable": // the disk of the machine is slow
		case err != nil || h.status != http.StatusOK:
			k.t.Errorf("while the ledger is copied a call is answered %+v, %v", h, err)
			return
		case k.answered.Add(1) == enough:
			close(k.enough)
		}
		time.Sleep(time.Millisecond) // some hundred calls come while the ledger is copied, and the copy has a processor
	}
}

// TestErasedBytes looks into the file: a key is never in it, and the person behind it no more
// once the key is erased and the ledger compacted. The counts stay.
func TestErasedBytes(t *testing.T) {
	t.Parallel()
	s := newSite(t, `{"tiers": [{"name": "free", "calls_per_month": 1000}]}`)
	s.start()
	secret, account := s.issue("somebody", "free")
	_, other := s.issue("other", "free")
	s.must(s.caller(), 200, tortureList, secret)
	s.mustRun("keys", "erase", "somebody@example.com")
	s.stop()
	if !s.holds("other@example.com") || s.holds(secret) {
		t.Error("the ledger lacks a person it should have, or holds a key")
	}
	s.mustRun("ledger", "compact")
	if s.holds("somebody") || !s.holds("other@example.com") {
		t.Error("after erasing and compacting the ledger holds the erased person, or lacks the other")
	}
	if got := s.accounts("keys", "show", "--json", account.ID.String()); got[0].Used != 1 || got[0].Status != quota.StatusRevoked {
		t.Errorf("after erasing and compacting the key is %+v, want one call and revoked", got[0])
	}
	s.accounts("keys", "show", "--json", other.ID.String())
	s.mustRun("ledger", "check")
	s.start()
	if h := s.must(s.caller(), 403, tortureList, secret); h.code != "key_revoked" {
		t.Errorf("an erased key is answered %s", h.code)
	}
}

func (s *site) holds(text string) bool {
	s.t.Helper()
	b, err := os.ReadFile(s.ledger())
	if err != nil {
		s.t.Fatal(err)
	}
	return bytes.Contains(b, []byte(text))
}

// newKey makes a request whose answer holds a key.
func newKey(t *testing.T, c *caller, method, path, secret, body string) string {
	t.Helper()
	h, err := c.send(method, path, secret, body)
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Data KeyView }
	if err := json.Unmarshal(h.body, &out); err != nil || out.Data.Key == "" {
		t.Fatalf("%s %s is answered %d: %s", method, path, h.status, h.body)
	}
	return out.Data.Key
}

func (s *site) metrics() string {
	s.t.Helper()
	text, err := s.admin().Metrics(context.Background())
	if err != nil || !bytes.Contains(text, []byte("modeldex_")) {
		s.t.Fatalf("metrics: %v\n%s", err, text)
	}
	return string(text)
}

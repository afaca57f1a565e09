// Package fleet tests a fleet as an operator runs it: three members of etcd, three servers and
// HAProxy, all real processes on this machine. A load of calls on many keys goes on while
// processes are killed, stopped and cut off. Everything is counted from outside.
//
// The tests need the programs etcd and haproxy; without them they are skipped, unless
// MODELDEX_REQUIRE_ETCD=1 and MODELDEX_REQUIRE_PROXIES=1. The long form, with 1,000 keys and every
// fault several times:
//
//	go test ./quota/etcd/fleet -count=1 -v -timeout 30m -fleet.keys 1000 -fleet.rounds 3 -fleet.outage 10s
package fleet

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"modeldex/quota/etcd/etcdtest"
)

var (
	keysFlag   = flag.Int("fleet.keys", 40, "keys that call")
	roundsFlag = flag.Int("fleet.rounds", 1, "how often every fault happens")
	outageFlag = flag.Duration("fleet.outage", 3*time.Second, "how long etcd is without quorum")
)

// limit is the monthly quota of every key: low enough that keys reach it during the test.
const limit = 200

// lease is the largest lease of a key with that quota, and the call that is being answered.
const lease = limit/100 + 1

// server is one process of the fleet.
type server struct {
	addr string // host:port of the API
	args []string
	log  string
	cmd  *exec.Cmd
}

// fleet is everything that runs.
type fleet struct {
	t       *testing.T
	dir     string
	program string
	etcd    *etcdtest.Cluster
	ledger  string
	servers []*server
	front   string // address of HAProxy
	client  *http.Client
	kills   int // servers killed so far
}

// key is one API key and what its callers have seen.
type key struct {
	secret   string
	answered atomic.Int64 // responses 200
	unclear  atomic.Int64 // requests without a response, which may have been charged
	revoked  atomic.Int64 // Unix milliseconds from which no response may be 200; 0: never
}

func TestFleetUnderFaults(t *testing.T) {
	if os.Getenv("MODELDEX_LONG_TESTS") != "1" {
		t.Skip("half a minute of faults; MODELDEX_LONG_TESTS=1 runs it")
	}
	f := start(t)
	keys := f.signUp(*keysFlag)
	stop := make(chan struct{})
	var load sync.WaitGroup
	for range 8 {
		load.Go(func() { f.call(keys, stop) })
	}
	for range *roundsFlag {
		f.faults()
		f.revokeSome(keys, 2)
	}
	time.Sleep(1500 * time.Millisecond) // calls go on after the last revocation
	close(stop)
	load.Wait()
	f.checkKeys(keys)
	for _, s := range f.servers {
		f.stop(s)
	}
	f.compare(keys)
}

// faults lets each fault happen once and prints how long the fleet needed to recover.
func (f *fleet) faults() {
	pick := func() int { return rand.IntN(len(f.servers)) }
	f.during("a server killed", func() {
		s := f.servers[pick()]
		f.kill(s)
		f.run(s)
	})
	f.during("a server stopped for a second", func() {
		p := f.servers[pick()].cmd.Process
		_ = p.Signal(syscall.SIGSTOP)
		time.Sleep(time.Second)
		_ = p.Signal(syscall.SIGCONT)
	})
	f.during("the leader of etcd killed", func() {
		i := f.etcd.Leader()
		f.etcd.Kill(i)
		time.Sleep(2 * time.Second)
		f.etcd.Restart(i)
	})
	f.during("a member of etcd stopped for two seconds", func() {
		i := rand.IntN(3)
		f.etcd.Signal(i, syscall.SIGSTOP)
		time.Sleep(2 * time.Second)
		f.etcd.Signal(i, syscall.SIGCONT)
	})
	f.during(fmt.Sprintf("%v without quorum", *outageFlag), func() {
		i := rand.IntN(3)
		f.etcd.Kill(i)
		f.etcd.Kill((i + 1) % 3)
		time.Sleep(*outageFlag)
		f.etcd.Restart(i)
		f.etcd.Restart((i + 1) % 3)
	})
}

func (f *fleet) during(what string, fault func()) {
	fault()
	healed := time.Now()
	for _, s := range f.servers {
		f.waitReady(s.addr)
	}
	f.waitReady(f.front) // which looks at the servers now and then
	f.t.Logf("%s: all servers ready %.1f s later", what, time.Since(healed).Seconds())
}

// call calls with random keys until stop is closed.
func (f *fleet) call(keys []*key, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		k := keys[rand.IntN(len(keys))]
		began := time.Now()
		status, _, err := f.do(http.MethodGet, "/api/v1/tools?limit=1", k.secret, "")
		switch {
		case err != nil || status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
			k.unclear.Add(1) // the server may have charged it before it was killed
		case status == http.StatusOK:
			k.answered.Add(1)
			if at := k.revoked.Load(); at != 0 && began.UnixMilli() > at {
				f.t.Errorf("a key was answered %d ms after its revocation was in effect", began.UnixMilli()-at)
			}
		}
	}
}

// do makes one request through HAProxy.
func (f *fleet) do(method, path, secret, body string) (status int, answer []byte, err error) {
	return f.ask(f.front, method, path, secret, body)
}

func (f *fleet) ask(addr, method, path, secret, body string) (status int, answer []byte, err error) {
	req, err := http.NewRequest(method, "http://"+addr+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if secret != "" {
		req.Header.Set("Authorization", "Bearer "+secret)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

func (f *fleet) signUp(n int) []*key {
	keys := make([]*key, n)
	for i := range keys {
		body := fmt.Sprintf(`{"name":"fleet","email":"fleet-%d@example.com","use_case":"testing"}`, i)
		status, answer, err := f.do(http.MethodPost, "/api/v1/keys", "", body)
		var got struct{ Data struct{ Key string } }
		if err == nil {
			err = json.Unmarshal(answer, &got)
		}
		if status != http.StatusCreated || err != nil {
			f.t.Fatalf("sign-up %d: %d %s %v", i, status, answer, err)
		}
		keys[i] = &key{secret: got.Data.Key}
	}
	return keys
}

// revocationLimit is how long after its response a revocation must be in effect on every server.
const revocationLimit = time.Second

func (f *fleet) revokeSome(keys []*key, n int) {
	for range n {
		k := keys[rand.IntN(len(keys))]
		if k.revoked.Load() != 0 {
			continue
		}
		status, answer, err := f.do(http.MethodDelete, "/api/v1/keys/self", k.secret, "")
		if status == http.StatusTooManyRequests {
			continue
		}
		if err != nil || status != http.StatusOK {
			f.t.Errorf("revoking a key: %d %s %v", status, answer, err)
			continue
		}
		k.revoked.Store(time.Now().Add(revocationLimit).UnixMilli())
	}
}

// checkKeys checks that no acknowledged key is lost and no revoked one works, on any server.
func (f *fleet) checkKeys(keys []*key) {
	for _, s := range f.servers {
		for i, k := range keys {
			status, _, err := f.ask(s.addr, http.MethodGet, "/api/v1/keys/self", k.secret, "")
			want := http.StatusOK
			if k.revoked.Load() != 0 {
				want = http.StatusForbidden
			}
			if status != want || err != nil {
				f.t.Errorf("%s: key %d: %d, %v, want %d", s.addr, i, status, err, want)
			}
		}
	}
}

// compare holds what was answered against what the ledger counts after all servers have stopped.
func (f *fleet) compare(keys []*key) {
	out, err := exec.Command(f.program, "keys", "list", "--json", "--ledger", f.ledger, "--tiers", f.file("tiers.json"), "--admin-socket", f.file("none.sock")).Output()
	if err != nil {
		f.t.Fatalf("keys list: %v", err)
	}
	var accounts []struct {
		Email string
		Used  int64
	}
	if err := json.Unmarshal(out, &accounts); err != nil {
		f.t.Fatal(err)
	}
	used := map[string]int64{}
	for _, a := range accounts {
		used[a.Email] = a.Used
	}
	var answered, counted, unclear, exhausted int64
	for i, k := range keys {
		email := fmt.Sprintf("fleet-%d@example.com", i)
		got, ok := used[email]
		a, u := k.answered.Load(), k.unclear.Load()
		switch {
		case !ok:
			f.t.Errorf("key %d is lost", i)
		case a > limit:
			f.t.Errorf("key %d: %d calls answered, the quota is %d", i, a, limit)
		case got < a:
			f.t.Errorf("key %d: %d calls answered, only %d counted", i, a, got)
		case got > a+u+int64(f.kills)*lease:
			f.t.Errorf("key %d: %d calls counted, %d answered and %d unclear, with %d kills", i, got, a, u, f.kills)
		}
		if a == limit {
			exhausted++
		}
		answered, counted, unclear = answered+a, counted+got, unclear+u
	}
	if answered == 0 {
		f.t.Error("no call was answered")
	}
	f.t.Logf("%d keys: %d calls answered, %d without a response, %d counted; %d kills of servers; %d keys used up", len(keys), answered, unclear, counted, f.kills, exhausted)
}

func (f *fleet) file(name string) string { return filepath.Join(f.dir, name) }

// start builds the program and starts etcd, the servers and HAProxy.
func start(t *testing.T) *fleet {
	if _, err := exec.LookPath("haproxy"); err != nil {
		if os.Getenv("MODELDEX_REQUIRE_PROXIES") == "1" {
			t.Fatal("MODELDEX_REQUIRE_PROXIES=1, but there is no haproxy program on this machine")
		}
		t.Skip("this test needs the haproxy program, which is not on this machine")
	}
	f := &fleet{t: t, dir: t.TempDir(), etcd: etcdtest.Start(t, 3), client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	t.Cleanup(f.client.CloseIdleConnections)
	f.program = f.file("modeldex")
	f.must("go", "build", "-o", f.program, filepath.Join("..", "..", ".."))
	f.ledger = "etcd://" + strings.Join(f.etcd.Endpoints, ",") + "/modeldex"
	f.write("tiers.json", fmt.Sprintf(`{"tiers":[{"name":"free","calls_per_month":%d,"burst":{"rate":1000000,"per_seconds":1,"depth":1000000}}]}`, limit))
	f.dataset()
	for i := range 3 {
		s := &server{addr: etcdtest.FreeAddr(t), log: f.file(fmt.Sprintf("server%d.log", i))}
		s.args = []string{
			"serve", "--ledger", f.ledger, "--addr", s.addr, "--admin-socket", f.file(fmt.Sprintf("admin%d.sock", i)),
			"--tiers", f.file("tiers.json"), "--data", f.file("data"), "--keys-per-email", "0", "--signups-per-hour", "0", "--cache-mb", "8",
		}
		f.servers = append(f.servers, s)
		t.Cleanup(func() { f.end(s) })
		f.run(s)
	}
	for _, s := range f.servers {
		f.waitReady(s.addr)
	}
	f.haproxy()
	return f
}

func (f *fleet) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(f.file(name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// dataset is the smallest one with something to list: the tools of the shipped dataset.
func (f *fleet) dataset() {
	f.t.Helper()
	if err := os.CopyFS(f.file("data/tools"), os.DirFS("../../../data/tools")); err != nil {
		f.t.Fatal(err)
	}
	for _, dir := range []string{"models", "hardware", "benchmarks"} {
		if err := os.Mkdir(f.file("data/"+dir), 0o700); err != nil {
			f.t.Fatal(err)
		}
	}
	for _, name := range []string{"dataset.json", "quantizations.json"} {
		b, err := os.ReadFile("../../../data/" + name)
		if err != nil {
			f.t.Fatal(err)
		}
		f.write("data/"+name, string(b))
	}
}

func (f *fleet) must(command ...string) {
	f.t.Helper()
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		f.t.Fatalf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
}

func (f *fleet) haproxy() {
	f.t.Helper()
	f.front = etcdtest.FreeAddr(f.t)
	var b strings.Builder
	fmt.Fprintf(&b, "defaults\n  mode http\n  timeout connect 2s\n  timeout client 30s\n  timeout server 30s\n  retries 0\nfrontend api\n  bind %s\n  default_backend servers\nbackend servers\n  balance roundrobin\n  option httpchk GET /readyz\n", f.front)
	for i, s := range f.servers {
		fmt.Fprintf(&b, "  server s%d %s check inter 250ms fall 2 rise 1\n", i, s.addr)
	}
	f.write("haproxy.cfg", b.String())
	cmd := exec.Command("haproxy", "-db", "-f", f.file("haproxy.cfg"))
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 100 {
		if status, _, err := f.do(http.MethodGet, "/healthz", "", ""); err == nil && status == http.StatusOK {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	f.t.Fatal("HAProxy does not reach the servers")
}

// run starts a server; its output is appended to its log.
func (f *fleet) run(s *server) {
	f.t.Helper()
	s.cmd = exec.Command(f.program, s.args...)
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		f.t.Fatal(err)
	}
	defer log.Close() // the process has its own copy
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) kill(s *server) {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	s.cmd = nil
	f.kills++
}

// stop ends a server as an operator does.
func (f *fleet) stop(s *server) {
	f.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if err := s.cmd.Wait(); err != nil {
		f.t.Errorf("%s did not stop cleanly: %v", s.addr, err)
	}
	s.cmd = nil
}

// end ends a server that still runs when the test is over, and shows its log after a failure.
func (f *fleet) end(s *server) {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
	if f.t.Failed() {
		b, _ := os.ReadFile(s.log)
		f.t.Logf("%s:\n%s", s.log, b[max(0, len(b)-3000):])
	}
}

// waitReady waits until a server is ready.
func (f *fleet) waitReady(addr string) {
	f.t.Helper()
	for range 1200 {
		if status, _, err := f.ask(addr, http.MethodGet, "/readyz", "", ""); err == nil && status == http.StatusOK {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.t.Fatalf("%s is not ready after a minute", addr) // its log follows
}

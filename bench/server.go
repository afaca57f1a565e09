//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"time"

	"modeldex/bench/generate"
	"modeldex/quota"
)

// process is a started server, ours or a rival's.
type process struct {
	cmd    *exec.Cmd
	addr   string
	output lockedBuffer
	ended  chan struct{}
}

// lockedBuffer may be read while a program writes into it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// startProcess runs a program that will listen at addr.
func startProcess(dir, addr, name string, args ...string) (*process, error) {
	p := &process{cmd: exec.Command(name, args...), addr: addr, ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.output, &p.output
	// No server outlives the bench, however that ends.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // what it printed says more than its exit code
		close(p.ended)
	}()
	return p, nil
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *process) pids() []int {
	pid := p.cmd.Process.Pid
	return append([]int{pid}, children(pid)...)
}

// stop ends the program and waits for its end.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // gone already is as good
	kill := time.AfterFunc(20*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	<-p.ended
}

// awaitListening waits until something listens at the address.
func (p *process) awaitListening(limit time.Duration) error {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", p.addr)
		if err == nil {
			return conn.Close()
		}
		if p.hasEnded() {
			break
		}
	}
	return fmt.Errorf("%s does not listen at %s: %s", filepath.Base(p.cmd.Path), p.addr, p.output.String())
}

// freeAddr is a free address on loopback.
func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// server is the real program on one dataset, with keys that may call without end.
type server struct {
	*process
	keys   []string
	loaded time.Duration // from its start to its serving
}

// buildProgram builds the program of the repository in root.
func buildProgram(root, dir string) (string, error) {
	name := filepath.Join(dir, "modeldex")
	cmd := exec.Command("go", "build", "-o", name, ".")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return name, nil
}

// programAndData builds the program of this folder into dir, and makes the path of a dataset absolute.
func programAndData(dir, data string) (program, absolute string, err error) {
	if program, err = buildProgram(".", dir); err != nil {
		return "", "", err
	}
	absolute, err = filepath.Abs(data)
	return program, absolute, err
}

// makeLean makes a dataset of lean rows, equal for an equal number of them.
func makeLean(dir string, rows int) error {
	_, err := generate.Write(dir, os.DirFS("data"), generate.Options{Rows: rows, Seed: 1, Lean: true})
	return err
}

const endlessTiers = `{"tiers":[{"name":"free","calls_per_month":1000000000000,"burst":{"rate":1000000,"per_seconds":1,"depth":1000000}},
	{"name":"paid","calls_per_month":1000000000000,"burst":{"rate":1000000,"per_seconds":1,"depth":1000000}}]}`

var announced = regexp.MustCompile(`modeldex serves http://(\S+) `)

// startServer issues keys into a new ledger and serves a dataset, with a directory of dumps of its own.
func startServer(program, dir, data string, keys int, more ...string) (*server, error) {
	return startEarlier(program, dir, data, keys, append([]string{"--dumps-dir", filepath.Join(dir, "dumps")}, more...)...)
}

// startEarlier is startServer for any version of the program: it gives no flag that an earlier one does not have.
func startEarlier(program, dir, data string, keys int, more ...string) (*server, error) {
	dir, err := os.MkdirTemp(dir, "server")
	if err != nil {
		return nil, err
	}
	ledger := filepath.Join(dir, "modeldex.db")
	secrets, err := issueKeys(ledger, keys, quota.FreeTier)
	if err != nil {
		return nil, err
	}
	return serve(program, dir, data, ledger, secrets, more...)
}

// serve starts the program on a dataset and a ledger that has keys.
func serve(program, dir, data, ledger string, keys []string, more ...string) (*server, error) {
	tiers := filepath.Join(dir, "tiers.json")
	if err := os.WriteFile(tiers, []byte(endlessTiers), 0o600); err != nil {
		return nil, err
	}
	s := &server{keys: keys}
	began := time.Now()
	var err error
	args := append([]string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--ledger", ledger, "--tiers", tiers}, more...)
	if s.process, err = startProcess(dir, "", program, args...); err != nil {
		return nil, err
	}
	for s.addr == "" {
		if m := announced.FindStringSubmatch(s.output.String()); m != nil {
			s.addr, s.loaded = m[1], time.Since(began)
		} else if time.Since(began) > 10*time.Minute || s.hasEnded() {
			s.stop()
			return nil, fmt.Errorf("the server does not serve: %s", s.output.String())
		}
		time.Sleep(time.Millisecond)
	}
	return s, nil
}

// issueKeys makes keys of a tier while no server has the ledger open; many at once share commits.
func issueKeys(file string, n int, tier string) (keys []string, err error) {
	ledger, err := quota.Open(file, quota.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	tiers, err := quota.ParseTiers([]byte(endlessTiers))
	if err != nil {
		return nil, err
	}
	keeper, err := quota.NewKeeper(ledger, quota.Config{Tiers: tiers})
	if err != nil {
		return nil, err
	}
	keys, errs := make([]string, n), make([]error, n)
	var issuing sync.WaitGroup
	turns := make(chan struct{}, 512)
	for i := range keys {
		turns <- struct{}{}
		issuing.Go(func() {
			issued, _, err := keeper.Issue(context.Background(), quota.IssueRequest{
				Name: "bench " + strconv.Itoa(i), Email: "bench@example.org", UseCase: "measuring", Operator: true, Tier: tier,
			})
			keys[i], errs[i] = issued.Secret.Reveal(), err
			<-turns
		})
	}
	issuing.Wait()
	return keys, errors.Join(append(errs, keeper.Close(context.Background()))...)
}

// answered is a whole answer.
type answered struct {
	status int
	header http.Header
	body   []byte
}

// get asks once.
func (s *server) get(path string) (*answered, error) {
	return fetch(s.addr, requestBytes(nil, s.addr, path, s.keys[0], ""))
}

// fetch sends a request as it is and reads the whole answer.
func fetch(addr string, request []byte) (*answered, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close() // nothing is under way
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	return &answered{resp.StatusCode, resp.Header, body}, errors.Join(err, resp.Body.Close())
}

// awaitDump waits until the server has made the dump of its dataset, which it does after each load when it is idle,
// and returns the list of its files. It calls meanwhile before each look.
func (s *server) awaitDump(limit, pause time.Duration, meanwhile func()) (list []byte, err error) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(pause) {
		meanwhile()
		resp, err := s.get("/api/v1/dumps")
		if err != nil {
			return nil, err
		}
		switch resp.status {
		case http.StatusOK:
			return resp.body, nil
		case http.StatusServiceUnavailable:
		default:
			return nil, fmt.Errorf("the list of dumps: status %d: %.200s", resp.status, resp.body)
		}
	}
	return nil, fmt.Errorf("the server made no dump within %s", limit)
}

// requestBytes appends a request; header holds whole lines. The key is sent to rivals too: they get the same bytes.
func requestBytes(dst []byte, host, path, key, header string) []byte {
	dst = append(append(append(dst, "GET "...), path...), " HTTP/1.1\r\nHost: "...)
	dst = append(append(append(dst, host...), "\r\nAuthorization: Bearer "...), key...)
	return append(append(append(dst, "\r\n"...), header...), "\r\n"...)
}

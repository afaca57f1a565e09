//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

type process struct {
	cmd    *exec.Cmd
	addr   string
	output string // file
	ended  chan struct{}
}

func startProcess(dir, name string, args ...string) (*process, error) {
	out, err := os.CreateTemp(dir, "output")
	if err != nil {
		return nil, err
	}
	defer out.Close() // the program has it too
	p := &process{cmd: exec.Command(name, args...), output: out.Name(), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} // no server outlives the bench
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // what it printed says more than its exit code
		close(p.ended)
	}()
	return p, nil
}

func (p *process) printed() string {
	b, _ := os.ReadFile(p.output) // of a file that was just made
	return string(b)
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // gone already is as good
	kill := time.AfterFunc(20*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	<-p.ended
}

func (p *process) awaitListening(addr string) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			p.addr = addr
			return conn.Close()
		}
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended: %s", p.cmd.Path, p.printed())
		default:
		}
	}
	return fmt.Errorf("%s does not listen at %s: %s", p.cmd.Path, addr, p.printed())
}

// processorTime is what the process and its children have used on all cores, with the kernel's work for them.
func (p *process) processorTime() (time.Duration, error) {
	const tick = time.Second / 100 // USER_HZ, the same on all Linux machines Go runs on
	pid := strconv.Itoa(p.cmd.Process.Pid)
	children, err := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children"))
	if err != nil {
		return 0, err
	}
	var total time.Duration
	for _, id := range append(strings.Fields(string(children)), pid) {
		b, err := os.ReadFile(filepath.Join("/proc", id, "stat"))
		if err != nil {
			return 0, err
		}
		// The name, in parentheses, may contain anything; utime and stime are fields 14 and 15.
		_, rest, _ := strings.Cut(string(b), ") ")
		for _, f := range strings.Fields(rest)[11:13] {
			n, err := strconv.Atoi(f)
			if err != nil {
				return 0, err
			}
			total += time.Duration(n) * tick
		}
	}
	return total, nil
}

func (p *process) resident() (int, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	return kb >> 10, err
}

func freeAddr() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

func build(dir, program, pkg string) error {
	cmd := exec.Command("go", "build", "-o", program, pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return nil
}

type server struct {
	*process
	key    string
	loaded start
}

type start struct {
	Wall, Processor time.Duration
	Resident        int // MiB
}

const endlessTiers = `{"tiers":[{"name":"free","calls_per_month":1000000000000,
	"burst":{"rate":1000000,"per_seconds":1,"depth":1000000}}]}`

var (
	announced = regexp.MustCompile(`modeldex serves http://(\S+) `)
	issuedKey = regexp.MustCompile(`mdx_\S+`)
)

func startServer(program, dir, data string) (*server, error) {
	dir, err := os.MkdirTemp(dir, "server")
	if err != nil {
		return nil, err
	}
	tiers, ledger := filepath.Join(dir, "tiers.json"), filepath.Join(dir, "modeldex.db")
	if err := os.WriteFile(tiers, []byte(endlessTiers), 0o600); err != nil {
		return nil, err
	}
	began := time.Now()
	p, err := startProcess(dir, program, "serve", "--addr", "127.0.0.1:0", "--data", data, "--ledger", ledger, "--tiers", tiers)
	if err != nil {
		return nil, err
	}
	s := &server{process: p}
	for s.addr == "" {
		if m := announced.FindStringSubmatch(p.printed()); m != nil {
			s.addr = m[1]
			break
		}
		select {
		case <-p.ended:
			return nil, fmt.Errorf("the server ended: %s", p.printed())
		case <-time.After(time.Millisecond):
		}
	}
	s.loaded.Wall = time.Since(began)
	if s.loaded.Processor, err = p.processorTime(); err != nil {
		return s, err
	}
	out, err := exec.Command(program, "keys", "issue", "--name", "bench", "--email", "bench@example.org",
		"--use-case", "measuring", "--tier", "free", "--ledger", ledger).CombinedOutput()
	if s.key = issuedKey.FindString(string(out)); s.key == "" {
		return s, fmt.Errorf("issuing a key: %w: %s", err, out)
	}
	return s, nil
}

type response struct {
	status int
	etag   string
	body   []byte
}

func get(addr, path, key, header string) (response, error) {
	req, err := http.NewRequest(http.MethodGet, "http://"+addr+path, http.NoBody)
	if err != nil {
		return response{}, err
	}
	req.Header.Set("Accept-Encoding", "identity")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if name, value, ok := strings.Cut(header, ": "); ok {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return response{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s: status %d: %.300s", path, resp.StatusCode, body)
	}
	return response{resp.StatusCode, resp.Header.Get("ETag"), body}, err
}

package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
)

// patience is how long a test waits for something that will come unless there is a defect.
const patience = 2 * time.Minute

// process is one run of the real program.
type process struct {
	cmd            *exec.Cmd
	addr           string // of the public listener, once serving
	stdout, stderr *watched
	ended          chan struct{}
	code           int // once ended
}

// watched keeps what a program prints and wakes those who wait for it.
type watched struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	more chan struct{} // closed and replaced at each write
}

func newWatched() *watched { return &watched{more: make(chan struct{})} }

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.more)
	w.more = make(chan struct{})
	return w.buf.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// await waits until ok holds for what was printed.
func (w *watched) await(ended <-chan struct{}, ok func(text string) bool) error {
	limit := time.After(patience)
	for {
		w.mu.Lock()
		text, more := w.buf.String(), w.more
		w.mu.Unlock()
		if ok(text) {
			return nil
		}
		select {
		case <-more:
		case <-ended:
			if ok(w.String()) {
				return nil
			}
			return errors.New("the program ended before it")
		case <-limit:
			return fmt.Errorf("not within %s", patience)
		}
	}
}

// environment is that of the test without the program's own variables. In the short form garbage is collected as rarely as in
// the tests.
func environment(more ...string) []string {
	var env []string
	if !datasettest.Long() {
		env = append(env, "GOGC=400")
	}
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "MODELDEX_") {
			env = append(env, v)
		}
	}
	return append(env, more...)
}

// launch starts the program in a directory. It is killed when the test ends, unless it has ended by itself.
func launch(tb testing.TB, dir string, env []string, args ...string) *process {
	tb.Helper()
	p := &process{cmd: exec.Command(mustProgram(tb), args...), stdout: newWatched(), stderr: newWatched(), ended: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, environment(env...), p.stdout, p.stderr
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait() // its error is the exit code again
		p.code = p.cmd.ProcessState.ExitCode()
		if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			p.code = 128 + int(status.Signal()) // as shells show it
		}
		close(p.ended)
	}()
	tb.Cleanup(p.kill)
	return p
}

var announced = regexp.MustCompile(`modeldex serves http://(\S+) `)

// awaitServing waits for the line that says where the server listens.
func (p *process) awaitServing() error {
	err := p.stdout.await(p.ended, func(text string) bool {
		m := announced.FindStringSubmatch(text)
		if m != nil {
			p.addr = m[1]
		}
		return m != nil
	})
	if err != nil {
		return fmt.Errorf("waiting for the server: %w\n%s", err, p.stderr)
	}
	return nil
}

func (p *process) signal(sig os.Signal) error { return p.cmd.Process.Signal(sig) }

// wait returns the exit code.
func (p *process) wait() (int, error) {
	select {
	case <-p.ended:
		return p.code, nil
	case <-time.After(patience):
		return 0, fmt.Errorf("still running after %s\n%s", patience, p.stderr)
	}
}

func (p *process) stop() (int, error) {
	_ = p.signal(syscall.SIGTERM) // it may have ended by itself
	return p.wait()
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// runProgram runs the program to its end.
func runProgram(tb testing.TB, dir string, env []string, args ...string) (stdout, stderr string, code int) {
	tb.Helper()
	p := launch(tb, dir, env, args...)
	if _, err := p.wait(); err != nil {
		tb.Fatalf("modeldex %s: %v", strings.Join(args, " "), err)
	}
	return p.stdout.String(), p.stderr.String(), p.code
}

// newTransport makes connections of its own: no redirects followed, nothing decompressed, no
// header added but User-Agent.
func newTransport(tb testing.TB) *http.Transport {
	t := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16}
	tb.Cleanup(t.CloseIdleConnections)
	return t
}

package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// mostStop is how long a program may go on after SIGTERM.
const mostStop = 5 * time.Second

// stopWithin sends SIGTERM and returns the exit code.
func (p *process) stopWithin(t *testing.T) int {
	t.Helper()
	begun := time.Now()
	code, err := p.stop()
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > mostStop {
		t.Errorf("the program went on for %s after SIGTERM\n%s", took, p.stderr)
	}
	return code
}

// serveIn starts a server of a dataset.
func serveIn(t *testing.T, data string, more ...string) *process {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"serve", "--addr", "127.0.0.1:0", "--data", data, "--ledger", filepath.Join(dir, "l.db")}, more...)
	return launch(t, dir, nil, args...)
}

// asker asks over connections that it keeps until a response ends one.
type asker struct {
	addr   string
	conn   net.Conn
	r      *bufio.Reader
	served int // on conn
}

// ask asks for an address. lost says that a connection which was to be kept ended without a response.
func (a *asker) ask(path string) (resp *http.Response, lost bool, err error) {
	if a.conn == nil {
		if a.conn, err = net.Dial("tcp", a.addr); err != nil {
			return nil, false, err
		}
		a.r, a.served = bufio.NewReader(a.conn), 0
	}
	_, err = fmt.Fprintf(a.conn, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	if err == nil {
		resp, err = http.ReadResponse(a.r, nil)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	if a.served++; err != nil || resp.Close {
		lost = err != nil && a.served > 1
		_ = a.conn.Close()
		a.conn = nil
	}
	return resp, lost, err
}

// TestStopUnderLoad: after SIGTERM requests are answered for a while, each response says that its connection ends, and
// /readyz sends balancers elsewhere. No request on a kept connection is lost.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	p := serveIn(t, mustSmallData(t))
	if err := p.awaitServing(); err != nil {
		t.Fatal(err)
	}
	var stopping atomic.Bool
	var closed, unready, lost atomic.Int64
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			a := asker{addr: p.addr}
			for path := []string{"/healthz", "/readyz"}[i%2]; ; {
				was := stopping.Load()
				resp, gone, err := a.ask(path)
				switch {
				case gone:
					lost.Add(1)
				case err != nil && stopping.Load():
					return // the server is gone
				case err != nil:
					t.Error(err)
					return
				case was && resp.Close:
					closed.Add(1)
				}
				if err == nil && resp.StatusCode == http.StatusServiceUnavailable {
					unready.Add(1)
				}
			}
		})
	}
	time.Sleep(300 * time.Millisecond)
	stopping.Store(true)
	if code := p.stopWithin(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	clients.Wait()
	if closed.Load() == 0 || unready.Load() == 0 || lost.Load() > 0 {
		t.Errorf("%d responses ended their connection, %d of /readyz were 503, %d kept connections were lost", closed.Load(), unready.Load(), lost.Load())
	}
}

// TestStopAnyTime: SIGTERM ends every long task within five seconds, whatever it is doing.
func TestStopAnyTime(t *testing.T) {
	t.Parallel()
	data, err := filepath.Abs("../data")
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{
		"check":             {"check", data},
		"fit evaluate":      {"fit", "evaluate", "--data", data},
		"snapshot evaluate": {"snapshot", "evaluate", "--from", filepath.Join(data, "snapshots")},
		"serve":             {"serve", "--addr", "127.0.0.1:0", "--data", data},
	} {
		for _, after := range []time.Duration{30 * time.Millisecond, time.Second} {
			p := launch(t, t.TempDir(), []string{"MODELDEX_DUMPS=open"}, args...)
			time.Sleep(after)
			if code := p.stopWithin(t); code == 2 {
				t.Errorf("%s does not know its arguments: %s", name, p.stderr)
			}
		}
	}
}

// TestStopSlowReader: a caller that does not read its response does not hold up a stop.
func TestStopSlowReader(t *testing.T) {
	t.Parallel()
	data, err := filepath.Abs("../data")
	if err != nil {
		t.Fatal(err)
	}
	p := serveIn(t, data)
	if err := p.awaitServing(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		conn, err := net.Dial("tcp", p.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.(*net.TCPConn).SetReadBuffer(1 << 10) // a hint
		for range 50 {
			if _, err := conn.Write([]byte("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	time.Sleep(200 * time.Millisecond)
	if code := p.stopWithin(t); code != 0 {
		t.Errorf("exit code %d, want 0 after %s\n%s", code, syscall.SIGTERM, p.stderr)
	}
}

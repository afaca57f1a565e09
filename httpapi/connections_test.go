package httpapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"modeldex/httpapi/cache"
)

// hold opens connections and sends nothing on them.
func hold(t *testing.T, addr string, n int) (conns []net.Conn) {
	t.Helper()
	for range n {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		conns = append(conns, c)
	}
	return conns
}

// askAlive asks for /healthz on a new connection.
func askAlive(t *testing.T, addr string) (*http.Response, *Problem) {
	t.Helper()
	resp, p, err := tryAlive(t, addr)
	if err != nil {
		t.Fatal(err)
	}
	return resp, p
}

// awaitAlive asks until a new connection is served.
func awaitAlive(t *testing.T, addr string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		resp, _, err := tryAlive(t, addr) // a connection too many may be closed without a response
		if err == nil && resp.StatusCode == http.StatusOK {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("with idle connections a new one is not served within %s: %+v, %v", patience, resp, err)
		}
	}
}

func tryAlive(t *testing.T, addr string) (*http.Response, *Problem, error) {
	t.Helper()
	c := hold(t, addr, 1)[0]
	_ = c.SetDeadline(time.Now().Add(patience))
	_, _ = c.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")) // a rejected connection may be closed
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	var p Problem
	if resp.StatusCode < 400 {
		return resp, &p, nil
	}
	return resp, &p, json.NewDecoder(resp.Body).Decode(&p)
}

// TestConnectionsOfOneAddress: an address beyond its limit is told so; others are served.
func TestConnectionsOfOneAddress(t *testing.T) {
	s := smallService(t)
	server, addr := s.limitedTCP(t, 100, 5)
	held := hold(t, addr, 5)
	resp, p := askAlive(t, addr)
	if resp.StatusCode != http.StatusTooManyRequests || p.Code != "too_many_connections" || resp.Header.Get("Content-Type") != "application/problem+json" ||
		resp.Header.Get("Retry-After") == "" || p.RequestID == "" || p.RequestID != resp.Header.Get("X-Request-Id") || !resp.Close {
		t.Errorf("connection 6 of 5: status %d, %+v, %v", resp.StatusCode, p, resp.Header)
	}
	if n := server.limit.Counts().RejectedAddress; n != 1 {
		t.Errorf("%d connections were counted as rejected, want 1", n)
	}
	for _, c := range held {
		_ = c.Close()
	}
	awaitAlive(t, addr) // those that are closed no longer count
}

// TestConnectionsFull: with all connections in use a new one is told that the server is busy, until one is closed.
func TestConnectionsFull(t *testing.T) {
	s := smallService(t)
	_, addr := s.limitedTCP(t, 6, 100)
	held := hold(t, addr, 6)
	resp, p := askAlive(t, addr)
	if resp.StatusCode != http.StatusServiceUnavailable || p.Code != "server_busy" {
		t.Errorf("with all connections in use: status %d, %+v", resp.StatusCode, p)
	}
	_ = held[0].Close()
	awaitAlive(t, addr)
}

// TestSlowReaders: what callers do not read is bounded, by closing who reads slowest.
func TestSlowReaders(t *testing.T) {
	s := shippedService(t)
	server, addr := s.limitedTCP(t, 0, 0)
	server.limit.MaxUnread = 1 << 20
	server.cache.Close() // nothing is shared
	kept, err := cache.New[*response](1)
	if err != nil {
		t.Fatal(err)
	}
	server.cache = kept
	for i, c := range hold(t, addr, 30) {
		_ = c.(*net.TCPConn).SetReadBuffer(1 << 10) // a hint; several pages are more than any buffer
		for j := range 16 {
			if _, err := c.Write(s.raw(fmt.Sprintf("/api/v1/benchmarks?limit=500&min_tps=0.%03d%d", i+1, j/2+1))); err != nil {
				break // closed for reading too slowly
			}
		}
	}
	for end := time.Now().Add(patience); server.limit.Counts().ClosedSlow == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nobody was disconnected, %d bytes are unread", server.limit.Counts().UnreadBytes)
		}
	}
}

// TestFileLimit: the real program survives more connections than it may have files open.
func TestFileLimit(t *testing.T) {
	t.Parallel()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell to lower the limit of open files with")
	}
	const files = 128
	dir := t.TempDir()
	p := &process{stdout: newWatched(), stderr: newWatched(), ended: make(chan struct{})}
	p.cmd = exec.Command(sh, "-c", fmt.Sprintf("ulimit -n %d && exec %s serve --addr 127.0.0.1:0 --data %s --ledger %s --max-connections-per-address 10000",
		files, mustProgram(t), mustSmallData(t), filepath.Join(dir, "modeldex.db")))
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, environment(), p.stdout, p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		p.code = p.cmd.ProcessState.ExitCode()
		close(p.ended)
	}()
	t.Cleanup(p.kill)
	if err := p.awaitServing(); err != nil {
		t.Fatal(err)
	}
	for _, c := range hold(t, p.addr, 3*files) {
		_ = c.Close()
	}
	awaitAlive(t, p.addr)
	if code, err := p.stop(); err != nil || code != 0 {
		t.Errorf("exit code %d, %v", code, err)
	}
}

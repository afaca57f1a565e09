//go:build linux

package load

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// answering serves on loopback and counts what is asked, by path.
type answering struct {
	addr string
	mu   sync.Mutex
	asks map[string]int
}

// serve answers every request with the bytes answer gives; each piece is its own packet.
func serve(t *testing.T, answer func(path string) []string) *answering {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	a := &answering{addr: ln.Addr().String(), asks: map[string]int{}}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go a.converse(conn, answer)
		}
	}()
	return a
}

func (a *answering) converse(conn net.Conn, answer func(path string) []string) {
	defer conn.Close()
	for r := bufio.NewReader(conn); ; {
		request, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		a.mu.Lock()
		a.asks[request.URL.Path]++
		a.mu.Unlock()
		for i, piece := range answer(request.URL.Path) {
			if i > 0 {
				time.Sleep(time.Millisecond) // so that it is read on its own
			}
			if _, err := conn.Write([]byte(piece)); err != nil {
				return
			}
		}
	}
}

// asked is how often a path was asked for, or all of them.
func (a *answering) asked(path string) (times int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p, n := range a.asks {
		if path == "" || p == path {
			times += n
		}
	}
	return times
}

func numbered(dst []byte, n int) []byte {
	return fmt.Appendf(dst, "GET /%d HTTP/1.1\r\nHost: x\r\n\r\n", n)
}

const plain = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"

func TestRunAnswers(t *testing.T) {
	tests := []struct {
		name   string
		answer []string
		status int
		want   string // part of the error; empty: none
	}{
		{"whole", []string{plain}, 200, ""},
		{"body in pieces", []string{"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab", "cd", "ef"}, 200, ""},
		{"chunked", []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"}, 200, ""},
		{"chunked in pieces", []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0", "\r\n", "\r\n"}, 200, ""},
		{"no body", []string{"HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n"}, 304, ""},
		{"empty body", []string{"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"}, 200, ""},
		{"another status", []string{"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"}, 200, "another status"},
		{"too long", []string{plain + "more"}, 200, "more bytes than announced"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := serve(t, func(string) []string { return tt.answer })
			got, err := Run(Config{Addr: a.addr, Conns: 4, Request: numbered, Status: tt.status, Rate: 1000, For: 20 * time.Millisecond})
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("Run: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("Run = %v, want an error with %q", err, tt.want)
			case tt.want == "" && got.Bytes != int64(20*len(strings.Join(tt.answer, ""))):
				t.Errorf("%d bytes in %d answers, want %d in 20", got.Bytes, got.Requests, 20*len(strings.Join(tt.answer, "")))
			}
		})
	}
}

// TestRunOpen: an open loop asks as often as its rate says however slow the server is, each
// number once, and waiting counts as latency.
func TestRunOpen(t *testing.T) {
	const wait = 20 * time.Millisecond
	a := serve(t, func(string) []string { time.Sleep(wait); return []string{plain} })
	got, err := Run(Config{Addr: a.addr, Conns: 2, Request: numbered, First: 100, Status: 200, Rate: 1000, For: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if got.Requests != 30 || len(got.Latencies) != 30 {
		t.Errorf("%d answers, %d latencies, want 30", got.Requests, len(got.Latencies))
	}
	for n := 100; n < 130; n++ {
		if times := a.asked(fmt.Sprint("/", n)); times != 1 {
			t.Errorf("request %d was sent %d times, want once", n, times)
		}
	}
	// Two connections answer thirty requests in fifteen turns; the last was due within the time.
	if least := 15*wait - 30*time.Millisecond; got.Quantile(1) < least {
		t.Errorf("longest latency %v, want at least %v: waiting for a connection was left out", got.Quantile(1), least)
	}
}

// TestRunClosed: every connection has one request under way, and all answers are counted.
func TestRunClosed(t *testing.T) {
	a := serve(t, func(string) []string { return []string{plain} })
	got, err := Run(Config{Addr: a.addr, Conns: 3, Threads: 3, Request: numbered, Status: 200, For: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	asked := a.asked("")
	if asked == 0 || got.Requests != asked || got.Bytes != int64(asked*len(plain)) {
		t.Errorf("%d answers of %d bytes in all, want %d of %d", got.Requests, got.Bytes, asked, asked*len(plain))
	}
}

// TestTakeTorn: a head that comes in pieces is told apart from a wrong one.
func TestTakeTorn(t *testing.T) {
	var a answer
	if _, err := a.take([]byte("HTTP/1.1 200 OK\r\nContent-"), 200); !errors.Is(err, errTorn) {
		t.Errorf("take = %v, want %v", err, errTorn)
	}
}

func TestRunNobody(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := ln.Addr().String()
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(Config{Addr: addr, Conns: 1, Request: numbered, Status: 200, For: time.Millisecond}); err == nil {
		t.Error("Run against nobody = nil, want an error")
	}
}

func TestQuantile(t *testing.T) {
	r := Result{Latencies: []time.Duration{1, 2, 3, 4}}
	for share, want := range map[float64]time.Duration{0: 1, 0.5: 3, 0.99: 4, 1: 4} {
		if got := r.Quantile(share); got != want {
			t.Errorf("Quantile(%v) = %v, want %v", share, got, want)
		}
	}
	if got := (Result{}).Quantile(0.5); got != 0 {
		t.Errorf("Quantile of nothing = %v, want 0", got)
	}
}

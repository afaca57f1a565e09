package connections

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/valyala/fasthttp"
)

// patience is how long a test waits for what should happen at once.
const patience = 20 * time.Second

func newTestLimit(most, perAddress int) *Limit {
	l := NewLimit(most, perAddress)
	l.Log, l.Exempt = slog.New(slog.DiscardHandler), func(netip.Addr) bool { return false }
	l.Reject = func(Refusal) []byte {
		return []byte("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}
	return l
}

// TestTurnAwayAtOnce: beyond the most rejections at a time a connection is closed without one, and does not count as one.
func TestTurnAwayAtOnce(t *testing.T) {
	l := &Limit{Reject: func(Refusal) []byte { return []byte("rejected") }}
	for sending, want := range map[int64]string{maxRejecting - 1: "rejected", maxRejecting: ""} {
		l.rejecting.Store(sending)
		caller, server := net.Pipe()
		l.turnAway(server, AllInUse)
		got, err := io.ReadAll(caller)
		if err != nil || string(got) != want {
			t.Errorf("with %d under way: %q, %v, want %q", sending, got, err, want)
		}
		_ = caller.Close()
		for end := time.Now().Add(patience); l.rejecting.Load() != sending && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if n := l.rejecting.Load(); n != sending {
			t.Errorf("%d rejections are under way after one more, want %d", n, sending)
		}
	}
}

// TestNewLimit: the limits leave file descriptors for everything else.
func TestNewLimit(t *testing.T) {
	for _, tt := range []struct{ most, perAddress, files, want, wantPer int }{
		{0, 0, 0, maxConnections, maxConnections / 4},
		{0, 0, 1 << 20, maxConnections, maxConnections / 4},
		{0, 0, 1024, 1024 - 128, 224},
		{100, 7, 1024, 100, 7},
		{10, 0, 100, 10, 2}, // as asked for
		{5000, 0, 256, 256 - descriptorReserve, 48},
		{0, 0, 10, 1, 1},
	} {
		if l := newLimit(tt.most, tt.perAddress, tt.files); l.Max != tt.want || l.PerAddress != tt.wantPer {
			t.Errorf("newLimit(%d, %d, %d) = %d and %d per address, want %d and %d", tt.most, tt.perAddress, tt.files, l.Max, l.PerAddress, tt.want, tt.wantPer)
		} else if few := tt.files == 10; (l.Few() != "") != few {
			t.Errorf("newLimit(%d, %d, %d) says %q of few connections", tt.most, tt.perAddress, tt.files, l.Few())
		}
	}
}

// TestFull: with all connections in use the one that waited longest is closed for a new one.
func TestFull(t *testing.T) {
	t.Parallel()
	l := newTestLimit(6, 100)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := fasthttp.Server{Handler: func(*fasthttp.RequestCtx) {}, ConnState: OnState}
	go func() { _ = server.Serve(l.Listen(ln)) }() // until the listener is closed
	t.Cleanup(func() { _ = ln.Close() })
	dial := func() net.Conn {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(patience))
		return c
	}
	status := func() int {
		c := dial()
		_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")) // a rejected connection may be closed
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return 0
		}
		_ = resp.Body.Close()
		return resp.StatusCode
	}
	idleBefore := func(d time.Duration) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.IdleBefore = d
	}
	idleBefore(time.Hour)
	var first []net.Conn
	for range 6 {
		first = append(first, dial())
	}
	if got := status(); got != http.StatusServiceUnavailable { // none has waited long enough
		t.Errorf("with all connections in use: status %d", got)
	}
	waitedLongest := first[3]
	l.mu.Lock()
	for k := range l.open {
		if k.RemoteAddr().String() == waitedLongest.LocalAddr().String() {
			k.waiting.Store(1)
		}
	}
	l.mu.Unlock()
	idleBefore(0)
	for end := time.Now().Add(patience); status() != http.StatusOK; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("with idle connections a new one is not served within %s", patience)
		}
	}
	if c := l.Counts(); c.ClosedIdle == 0 || c.Open > 6 || c.RejectedFull == 0 {
		t.Errorf("%+v; want connections closed and rejected, and at most 6 open", c)
	}
	if n, err := waitedLongest.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the connection that waited longest was not closed: %d bytes, %v", n, err)
	}
}

// failing is a listener that fails before it gives a connection.
type failing struct {
	net.Listener
	errs []error
	conn net.Conn
}

func (l *failing) Accept() (net.Conn, error) {
	if len(l.errs) > 0 {
		err := l.errs[0]
		l.errs = l.errs[1:]
		return nil, &net.OpError{Op: "accept", Err: err}
	}
	return l.conn, nil
}

// TestAcceptErrors: errors of the system that pass do not end the server.
func TestAcceptErrors(t *testing.T) {
	t.Parallel()
	limit := newTestLimit(0, 0)
	conn, _ := net.Pipe()
	l := listener{&failing{errs: []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM}, conn: conn}, limit}
	c, err := l.Accept()
	if err != nil {
		t.Fatalf("Accept after errors that pass: %v", err)
	}
	_ = c.Close()
	if n := limit.Counts().AcceptErrors; n != 4 {
		t.Errorf("%d errors were counted, want 4", n)
	}
	l.Listener = &failing{errs: []error{net.ErrClosed}}
	if _, err := l.Accept(); err == nil {
		t.Error("Accept on a closed listener gave a connection")
	}
}

package connections

import (
	"io"
	"log/slog"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"
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

package etcdtest

import (
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// FreeAddr is an address on loopback at which no program listens. A system does not give out the port by
// itself, for a connection or for port 0 (Linux: 32768 and above, others 49152). So no other program is
// given it before the one of the test listens there. No address is given twice by one process: the program that has it may
// be down, to be started again.
func FreeAddr(tb testing.TB) string {
	tb.Helper()
	const first, ports, tries = 10_000, 22_000, 100
	for range tries {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(ports)))
		if _, known := given.LoadOrStore(addr, true); known {
			continue
		}
		if l, err := net.Listen("tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	tb.Fatal("no free port on loopback")
	return ""
}

// given are the addresses that FreeAddr gave, or found to be in use.
var given sync.Map

// A Link carries connections to an address. Its methods may be called from many goroutines.
type Link struct {
	ln net.Listener
	to string

	mu    sync.Mutex
	cut   bool
	left  int64 // bytes from the address until the link cuts itself; 0: no end
	conns []net.Conn
}

// NewLink makes a link to an address that listens at a free port of loopback, until the end of the test.
func NewLink(tb testing.TB, to string) *Link {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	l := &Link{ln: ln, to: to}
	tb.Cleanup(func() { _ = ln.Close(); l.SetCut(true) })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go l.carry(c)
		}
	}()
	return l
}

// Addr is where the link listens.
func (l *Link) Addr() string { return l.ln.Addr().String() }

// SetCut breaks all connections and closes new ones at once, or lets new ones through again.
func (l *Link) SetCut(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut, l.left = cut, 0
	if cut {
		for _, c := range l.conns {
			_ = c.Close()
		}
		l.conns = nil
	}
}

// IsCut reports whether the link is cut.
func (l *Link) IsCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// CutAfter cuts the link when it has carried n more bytes back from the address, so that a response
// ends within its body. SetCut ends the wait for it.
func (l *Link) CutAfter(n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = n
}

// metered is what comes back through a link.
type metered struct {
	net.Conn
	link *Link
}

// Read implements io.Reader.
func (m metered) Read(p []byte) (int, error) {
	n, err := m.Conn.Read(p[:min(len(p), 4<<10)])
	m.link.mu.Lock()
	last := m.link.left > 0 && m.link.left <= int64(n)
	m.link.left = max(0, m.link.left-int64(n))
	m.link.mu.Unlock()
	if last {
		m.link.SetCut(true)
	}
	return n, err
}

// carry carries a connection, unless the link is cut.
func (l *Link) carry(down net.Conn) {
	defer down.Close()
	up, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer up.Close()
	l.mu.Lock()
	cut := l.cut
	if !cut {
		l.conns = append(l.conns, down, up)
	}
	l.mu.Unlock()
	if cut {
		return
	}
	go func() { _, _ = io.Copy(up, down); _ = up.Close() }()
	_, _ = io.Copy(down, metered{up, l})
}

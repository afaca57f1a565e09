// Package linktest is the test kit for connections: free addresses, and links that forward
// TCP connections and can be cut.
package linktest

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
	var err error
	for range tries {
		addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(first+rand.IntN(ports)))
		if _, known := given.LoadOrStore(addr, true); known {
			continue
		}
		var l net.Listener
		if l, err = net.Listen("tcp", addr); err == nil {
			_ = l.Close()
			return addr
		}
	}
	tb.Fatalf("no free port on loopback: %v", err)
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
	conns map[net.Conn]struct{}
}

// New makes a link to an address that listens at a free port of loopback, until the end of the test.
func New(tb testing.TB, to string) *Link {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	l := &Link{ln: ln, to: to, conns: map[net.Conn]struct{}{}}
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
		for c := range l.conns {
			_ = c.Close()
		}
	}
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

// IsCut reports whether the link is cut.
func (l *Link) IsCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// add notes a connection, unless the link is cut.
func (l *Link) add(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut {
		l.conns[c] = struct{}{}
	}
	return !l.cut
}

func (l *Link) remove(c net.Conn) {
	_ = c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

func (l *Link) carry(c net.Conn) {
	defer l.remove(c)
	if !l.add(c) {
		return
	}
	up, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	defer l.remove(up)
	if !l.add(up) {
		return
	}
	go func() { _, _ = io.Copy(up, c); _ = up.Close() }()
	_, _ = io.Copy(c, metered{up, l})
}

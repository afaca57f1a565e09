package linktest

import (
	"io"
	"net"
	"testing"
)

// TestLink: bytes go both ways, a cut ends connections and lets none through, and healing it does; CutAfter
// cuts by itself.
func TestLink(t *testing.T) {
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	l := New(t, "127.0.0.1", echo.Addr().String())
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", l.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	carries := func(c net.Conn) error {
		if _, err := c.Write([]byte("hello")); err != nil {
			return err
		}
		_, err := io.ReadFull(c, make([]byte, 5))
		return err
	}
	open := dial()
	if err := carries(open); err != nil {
		t.Fatalf("through an open link: %v", err)
	}
	l.SetCut(true)
	if err := carries(open); err == nil {
		t.Error("a connection outlived the cut")
	}
	if err := carries(dial()); err == nil {
		t.Error("a new connection passed the cut")
	}
	l.SetCut(false)
	if err := carries(dial()); err != nil {
		t.Errorf("through a healed link: %v", err)
	}
	l.CutAfter(7)
	open = dial()
	if err := carries(open); err != nil {
		t.Errorf("before the last byte: %v", err)
	}
	if err := carries(open); err == nil || !l.IsCut() {
		t.Errorf("beyond the last byte: %v", err)
	}
}

// TestStall: after the bytes it may carry a link is silent, with its connections open, until it is set.
func TestStall(t *testing.T) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	go func() {
		c, err := at.Accept()
		if err == nil {
			_, _ = c.Write(make([]byte, 64<<10))
			_ = c.Close()
		}
	}()
	l := New(t, "127.0.0.1", at.Addr().String())
	stalled := l.StallAfter(10_000)
	c, err := net.Dial("tcp", l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	<-stalled
	go l.SetCut(false)
	if n, err := io.Copy(io.Discard, c); n != 64<<10 || err != nil {
		t.Errorf("%d bytes came after the stall, %v", n, err)
	}
}

// No address is given twice: of 700 that are drawn from 22,000 ports, some ten would be.
func TestFreeAddr(t *testing.T) {
	seen := map[string]bool{}
	for range 700 {
		addr := FreeAddr(t)
		if seen[addr] {
			t.Fatalf("%s is given twice", addr)
		}
		seen[addr] = true
	}
}

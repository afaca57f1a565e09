package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pair is both ends of a connection over loopback.
func pair(t *testing.T) (server, caller *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close() // the connection stays
	dialled, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dialled.Close(); _ = accepted.Close() })
	return accepted.(*net.TCPConn), dialled.(*net.TCPConn)
}

// TestVector: what does not fit into the socket's buffer at once arrives whole and in order.
func TestVector(t *testing.T) {
	tests := []struct {
		name       string
		head, body int
	}{
		{"small", 100, 3000},
		{"page", 900, 105_000},
		{"larger than any buffer", 900, 4 << 20},
		{"head larger than the buffer", 1 << 20, 1 << 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server, caller := pair(t)
			if err := server.SetWriteBuffer(64 << 10); err != nil {
				t.Fatal(err)
			}
			want := make([]byte, tt.head+tt.body)
			for i := range want {
				want[i] = byte(i * 7 >> 3)
			}
			sent := make(chan error, 1)
			go func() {
				var v vector
				v.of(server)
				n, err := v.send(want[:tt.head], want[tt.head:])
				if err == nil && n != len(want) {
					err = io.ErrShortWrite
				}
				sent <- err
			}()
			got := make([]byte, len(want))
			if _, err := io.ReadFull(caller, got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, and what came is what was sent: %v", err, bytes.Equal(got, want))
			}
			if err := <-sent; err != nil {
				t.Errorf("send: %v", err)
			}
		})
	}
}

// TestVectorEnds: a caller who is gone, or who does not read until the deadline, is an error.
func TestVectorEnds(t *testing.T) {
	body := make([]byte, 32<<20) // more than the buffers of both ends hold
	t.Run("gone", func(t *testing.T) {
		server, caller := pair(t)
		if err := caller.Close(); err != nil {
			t.Fatal(err)
		}
		var v vector
		v.of(server)
		if _, err := v.send([]byte("head"), body); err == nil {
			t.Error("send to a caller who is gone = nil, want an error")
		}
	})
	t.Run("deadline", func(t *testing.T) {
		server, _ := pair(t)
		if err := server.SetWriteDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		var v vector
		v.of(server)
		n, err := v.send([]byte("head"), body)
		if !errors.Is(err, os.ErrDeadlineExceeded) || n >= len(body) {
			t.Errorf("send = %d, %v; want a timeout before the end", n, err)
		}
	})
}

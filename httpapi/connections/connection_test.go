package connections

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/dataset/datasettest"
	"modeldex/httpapi/rows"
	"modeldex/index"
)

// pair is both ends of a connection over loopback.
func pair(t testing.TB) (server, caller *net.TCPConn) {
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

// TestReadDeadline: a deadline is kept, though it is handed on late and not with every call.
func TestReadDeadline(t *testing.T) {
	server, caller := pair(t)
	k := newConnection(server)
	read := func(after time.Duration) error {
		t.Helper()
		if err := k.SetReadDeadline(time.Now().Add(after)); err != nil {
			t.Fatal(err)
		}
		_, err := k.Read(make([]byte, 8))
		return err
	}
	send := func() {
		t.Helper()
		if _, err := caller.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		after time.Duration
		sent  bool
		want  error
	}{
		{time.Hour, true, nil},
		{time.Hour, true, nil},
		{-time.Hour, true, os.ErrDeadlineExceeded}, // sooner than what is held
		{time.Hour, false, nil},                    // what was sent is still to be read
		{-deadlineSlack, false, os.ErrDeadlineExceeded},
	} {
		if step.sent {
			send()
		}
		if err := read(step.after); !errors.Is(err, step.want) {
			t.Errorf("read within %v: %v, want %v", step.after, err, step.want)
		}
	}
	send()
	if err := k.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Read(make([]byte, 8)); err != nil {
		t.Errorf("read without a deadline: %v", err)
	}
}

// BenchmarkSendPage sends pages of 100 rows that are scattered over the table to a caller on loopback: from where
// the rows are, and copied into one piece of memory that is used again.
func BenchmarkSendPage(b *testing.B) {
	set, err := dataset.Load(context.Background(), datasettest.Shipped(b), dataset.Options{})
	if err != nil {
		b.Fatal(err)
	}
	gen, err := index.Build(context.Background(), set, rows.Renderers)
	if err != nil {
		b.Fatal(err)
	}
	t := gen.Benchmarks
	for _, way := range []string{"parts", "copied"} {
		b.Run(way, func(b *testing.B) {
			server, caller := pair(b)
			go func() { _, _ = io.Copy(io.Discard, caller) }() // until the connection is closed
			k, head := newConnection(server), bytes.Repeat([]byte("h"), 900)
			w := bufio.NewWriterSize(k, 4096)
			var copied []byte
			ords := make([]uint32, 100)
			b.ReportAllocs()
			for n := uint32(0); b.Loop(); n++ {
				for i := range ords {
					ords[i] = (n*100 + uint32(i)*7919) % uint32(t.Len())
				}
				body := NewParts()
				body.List = t.AppendRows(body.List, ords)
				_, _ = w.Write(head) // into the buffer
				var err error
				if way == "parts" {
					direct := directBody{conn: k, vector: body.List, size: body.size(), parts: body}
					_, err = direct.WriteTo(w)
					_ = direct.Close() // never fails
				} else {
					copied = copied[:0]
					for _, part := range body.List[1:] {
						copied = append(copied, part...)
					}
					body.free()
					if _, err = w.Write(copied); err == nil {
						err = w.Flush()
					}
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

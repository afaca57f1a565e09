package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"modeldex/quota"

	"github.com/google/go-cmp/cmp"
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

// TestHeads: a response has the same headers alone and pipelined, rendered and cached.
func TestHeads(t *testing.T) {
	t.Parallel()
	s := newService(t, mustShipped(t).live)
	tag := s.ask(t, "GET", "/api/v1/benchmarks?limit=3").header.Get("ETag")
	for _, request := range [][]byte{
		s.raw("/api/v1/benchmarks?limit=3"),
		s.raw("/api/v1/benchmarks?limit=3", "If-None-Match: "+tag),
		s.raw("/api/v1/benchmarks?limit=3", "Accept-Encoding: zstd"),
		s.raw("/api/v1/models/llama-3.1-8b-instruct", "Accept: application/json"),
		s.raw("/api/v1/models/no-such-model"),
		s.raw("/api/v1/tools?limit=none"),
		s.raw("/api/v1/dataset"),
		s.raw("/openapi.json"),
		s.raw("/"),
		s.raw("/nowhere"),
		s.raw("/api/v1/tools", "Authorization: Bearer none"),
	} {
		for range 3 { // asked for the first time, made for the cache, found in it
			alone := s.heads(t, request)[0]
			both := s.heads(t, append(bytes.Clone(request), request...))
			for _, h := range both {
				if diff := cmp.Diff(alone, h); diff != "" {
					t.Errorf("%.60q alone, and pipelined: -want +got\n%s", request, diff)
				}
			}
			s.cache.cache.Wait()
		}
	}
}

// heads are the headers of the answers to requests that come in one read, without what differs
// from answer to answer.
func (s *service) heads(t *testing.T, requests []byte) (out []http.Header) {
	t.Helper()
	c := &played{reads: [][]byte{requests}}
	if err := s.ServeConn(c); err != nil {
		t.Fatal(err)
	}
	for r := bufio.NewReader(&c.out); ; {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return out
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Header.Set("Status", resp.Status)
		for _, name := range []string{"X-Request-Id", "X-RateLimit-Remaining", "RateLimit", "Date"} {
			for key := range resp.Header {
				if strings.EqualFold(key, name) {
					resp.Header[key] = []string{"some"}
				}
			}
		}
		out = append(out, resp.Header)
	}
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

// shut is a connection that a shutdown closes just when the second request has come.
type shut struct {
	played
	reads int
	conn  *connection
}

func (c *shut) Read(p []byte) (int, error) {
	if c.reads++; c.reads == 2 {
		_ = c.conn.Close()
	}
	return c.played.Read(p)
}

// TestClosedConnection: a request whose answer cannot be sent any more is not taken, and not charged.
// A shutdown closes connections that are idle, and one may read its next request just then.
func TestClosedConnection(t *testing.T) {
	t.Parallel()
	s := newService(t, mustShipped(t).live)
	digest, _ := quota.ParseKey(s.secret, s.keeper.KeyPrefix())
	remaining := func() uint64 {
		call := s.keeper.Admit(digest)
		return call.Release().Remaining
	}
	before := remaining()
	request := s.raw("/api/v1/benchmarks")
	c := &shut{played: played{reads: [][]byte{request, request}}}
	c.conn = newConnection(c)
	_ = s.app.Server().ServeConn(c.conn) // whether a closed connection is an error is not the matter
	if got := before - remaining(); got != 1 {
		t.Errorf("%d calls were charged, want 1: the second came on a closed connection", got)
	}
}

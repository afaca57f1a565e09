package httpapi

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"modeldex/quota"

	"github.com/google/go-cmp/cmp"
)

// TestHeads: a response has the same headers alone and pipelined, rendered and cached.
func TestHeads(t *testing.T) {
	s := shippedService(t)
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
			s.cache.Wait()
		}
	}
}

// heads are the headers of the answers to requests that come in one read, without what differs from answer to answer.
func (s *service) heads(t *testing.T, requests []byte) (out []http.Header) {
	t.Helper()
	c := &played{reads: [][]byte{requests}}
	if err := s.app.Server().ServeConn(c); err != nil {
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

// shut is a connection that a shutdown closes just when the second request has come.
type shut struct {
	played
	reads int
}

func (c *shut) SetReadDeadline(time.Time) error {
	if c.reads >= 2 {
		return net.ErrClosed
	}
	return nil
}

func (c *shut) Read(p []byte) (int, error) {
	c.reads++
	return c.played.Read(p)
}

// TestClosedConnection: a request whose answer cannot be sent any more is not taken, and not charged.
// A shutdown closes connections that are idle, and one may read its next request just then.
func TestClosedConnection(t *testing.T) {
	s := shippedService(t)
	digest, _ := quota.ParseKey(s.secret, s.keeper.KeyPrefix())
	remaining := func() uint64 {
		call := s.keeper.Admit(digest)
		return call.Release().Remaining
	}
	before := remaining()
	request := s.raw("/api/v1/benchmarks")
	c := &shut{played: played{reads: [][]byte{request, request}}}
	_ = s.app.Server().ServeConn(c) // whether a closed connection is an error is not the matter
	if got := before - remaining(); got != 1 {
		t.Errorf("%d calls were charged, want 1: the second came on a closed connection", got)
	}
}

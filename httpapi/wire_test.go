package httpapi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
)

// wireRequest is one request of an attack, and what answers it alone.
type wireRequest struct {
	method string
	raw    []byte
	last   bool // the server closes the connection behind its response
	want   string
}

// readWire reads the next response without what differs from one to another, and its request id.
func readWire(r *bufio.Reader, method string) (text, id string, err error) {
	resp, err := http.ReadResponse(r, &http.Request{Method: method})
	if err != nil {
		return "", "", err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", "", err
	}
	id = resp.Header.Get("X-Request-Id")
	for _, name := range []string{"X-Request-Id", "Date", "X-Ratelimit-Remaining", "Ratelimit", "Connection", "Keep-Alive", "Server"} {
		resp.Header.Del(name) // a proxy adds the last ones
	}
	var lines bytes.Buffer
	if err := resp.Header.Write(&lines); err != nil { // in sorted order
		return "", "", err
	}
	return fmt.Sprintf("%d\n%s\n%s", resp.StatusCode, &lines, bytes.ReplaceAll(body, []byte(id), nil)), id, nil
}

// wireRequests are requests of every kind, each asked for alone three times: rendered, for the cache, from it. Proxies
// answer some themselves, and are not sent these.
func (s *service) wireRequests(t *testing.T, addr string, proxied bool) (out []wireRequest) {
	t.Helper()
	add := func(last bool, method, path, body string, lines ...string) {
		raw := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: wire.test\r\n", method, path)
		if body != "" {
			lines = append(lines, fmt.Sprint("Content-Length: ", len(body)))
		}
		for _, l := range lines {
			raw += l + "\r\n"
		}
		q := wireRequest{method: method, raw: []byte(raw + "\r\n" + body), last: last}
		for range 3 {
			conn := hold(t, addr, 1)[0]
			_, err := conn.Write(q.raw)
			if err == nil {
				q.want, _, err = readWire(bufio.NewReader(conn), method)
			}
			if err != nil {
				t.Fatalf("%.80q alone: %v", q.raw, err)
			}
		}
		out = append(out, q)
	}
	key, smuggled := "Authorization: Bearer "+s.secret, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, path := range []string{
		"/api/v1/tools/ollama", "/api/v1/tools?limit=1", "/api/v1/models?limit=3", "/api/v1/benchmarks", "/api/v1/benchmarks?limit=500",
		"/api/v1/models/llama-2-7b", "/api/v1/tools?limit=all&format=ndjson", "/api/v1/tools?limit=all&format=parquet",
		"/api/v1/tools?limit=none", "/api/v1/models/no-such-model", "/api/v1/models/llama3.2:1b", "/nowhere", "/docs", "/healthz",
	} {
		add(false, "GET", path, "", key)
		add(false, "HEAD", path, "", key)
		add(false, "GET", path, "", key, "Accept-Encoding: zstd")
		add(false, "GET", path, "", key, "If-None-Match: *")
	}
	add(false, "GET", "/api/v1/tools", "")
	add(false, "DELETE", "/api/v1/models", "", key)
	add(false, "OPTIONS", "/api/v1/models", "")
	add(false, "POST", "/api/v1/keys", `{"name":`+smuggled, "Content-Type: application/json")
	if !proxied {
		add(false, "GET", "/api/v1/tools?limit=1", smuggled, key)
		add(true, "GET", "/api/v1/tools?limit=1", "", key, "Connection: close")
		add(true, "POST", "/api/v1/keys", "", "Transfer-Encoding: chunked")
	}
	return out
}

// attack sends requests in a row over many connections, cut into segments anywhere, and checks that each has its own
// response, whole and in turn, and a request id that no other has.
func (s *service) attack(t *testing.T, addr string, proxied bool, responses int) {
	t.Helper()
	requests, seed := s.wireRequests(t, addr, proxied), seedOf(t)
	var ids sync.Map
	var left atomic.Int64
	left.Store(int64(responses))
	converse := func(rnd *rand.Rand) error {
		var row []wireRequest
		var all []byte
		for len(row) == 0 || rnd.IntN(8) > 0 && !row[len(row)-1].last {
			row = append(row, requests[rnd.IntN(len(requests))])
			all = append(all, row[len(row)-1].raw...)
		}
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return err
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(patience))
		go func() {
			for pause := time.Duration(rnd.IntN(3)) * 300 * time.Microsecond; len(all) > 0; time.Sleep(pause) {
				n := 1 + rnd.IntN(len(all))
				if _, err := conn.Write(all[:n]); err != nil {
					return // what is missing is reported
				}
				all = all[n:]
			}
		}()
		broken, r := !proxied && rnd.IntN(20) == 0, bufio.NewReader(conn)
		for i, q := range row {
			if broken && i > 0 {
				return nil // the caller goes away
			}
			got, id, err := readWire(r, q.method)
			if _, twice := ids.LoadOrStore(id, true); err == nil && twice {
				err = fmt.Errorf("the request id %q was given before", id)
			}
			if err != nil || got != q.want {
				return fmt.Errorf("response %d of %d, to %.80q: %w\n%.500s\nwant\n%.500s", i+1, len(row), q.raw, err, got, q.want)
			}
			left.Add(-1)
		}
		if !row[len(row)-1].last {
			return nil
		}
		if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
			return fmt.Errorf("the connection goes on behind %.80q: %w", row[len(row)-1].raw, err)
		}
		return nil
	}
	var work sync.WaitGroup
	for i := range 8 {
		work.Go(func() {
			for rnd := rand.New(rand.NewPCG(seed, uint64(i))); left.Load() > 0; {
				if err := converse(rnd); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
}

// TestWire attacks the connections of the server.
func TestWire(t *testing.T) {
	s := shippedService(t)
	s.pay(t) // so that there are streams among the responses
	s.attack(t, s.listenTCP(t), false, datasettest.Rounds(300, 2500))
}

// listenTCP serves on a real port as well, until the test ends.
func (s *service) listenTCP(t *testing.T) string {
	t.Helper()
	_, addr := s.limitedTCP(t, 0, 0)
	return addr
}

// limitedTCP is listenTCP with limits of connections.
func (s *service) limitedTCP(t *testing.T, most, perAddress int) (server *Server, addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := s.cfg
	cfg.Connections, cfg.ConnectionsPerAddress, cfg.TrustedProxies = most, perAddress, nil
	other, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	other.streams.Max, other.streams.PerKey = s.streams.Max, s.streams.PerKey
	served := make(chan error, 1)
	go func() { served <- other.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := other.Shutdown(ctx); err != nil {
			t.Errorf("shutting down: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serving: %v", err)
		}
	})
	return other, ln.Addr().String()
}

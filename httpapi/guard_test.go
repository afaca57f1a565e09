package httpapi

// What an answer may cost, in counts that do not depend on the machine or on what else runs on it: allocations, copies
// of bodies, system calls. A change that raises one of them has to say so here.

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scripted is a connection in memory that hands the server one request at a time and keeps
// what it writes where it lies.
type scripted struct {
	requests chan []byte
	answered chan struct{} // one for every answer, before the next request is read
	started  bool
	writes   [][]byte // of the last answer, not copied
}

func newScripted() *scripted {
	return &scripted{requests: make(chan []byte), answered: make(chan struct{}), writes: make([][]byte, 0, 8)}
}

// Read gives the next request; that it is called means that the answer before it is complete.
func (c *scripted) Read(p []byte) (int, error) {
	if c.started {
		c.answered <- struct{}{}
	}
	c.started = true
	request, ok := <-c.requests
	if !ok {
		return 0, io.EOF
	}
	return copy(p, request), nil
}

func (c *scripted) Write(p []byte) (int, error) {
	c.writes = append(c.writes, p)
	return len(p), nil
}

func (c *scripted) Close() error        { return nil }
func (c *scripted) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (c *scripted) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 81} }
func (c *scripted) SetDeadline(time.Time) error      { return nil }
func (c *scripted) SetReadDeadline(time.Time) error  { return nil }
func (c *scripted) SetWriteDeadline(time.Time) error { return nil }

// ask has one request answered.
func (c *scripted) ask(request []byte) {
	c.writes = c.writes[:0]
	c.requests <- request
	<-c.answered
}

// script serves a scripted connection until the test ends.
func (s *service) script(tb testing.TB) *scripted {
	tb.Helper()
	c := newScripted()
	served := make(chan error, 1)
	go func() { served <- s.app.Server().ServeConn(c) }()
	tb.Cleanup(func() {
		close(c.requests)
		if err := <-served; err != nil {
			tb.Errorf("serving a connection: %v", err)
		}
	})
	return c
}

// raw is a request as it goes over the line.
func (s *service) raw(path string, header ...string) []byte {
	lines := append([]string{"GET " + path + " HTTP/1.1", "Host: x", "Authorization: Bearer " + s.secret}, header...)
	return []byte(strings.Join(lines, "\r\n") + "\r\n\r\n")
}

// awaitCached asks until the answer comes from the cache, which takes a new one a moment after it is offered.
func (s *service) awaitCached(c *scripted, request []byte) {
	for range 3 {
		c.ask(request)
		s.cache.Wait()
	}
}

// TestGuardWarm: an answer that is in the cache allocates nothing.
func TestGuardWarm(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := newService(t, mustShipped(t).live)
	tag := s.ask(t, "GET", "/api/v1/benchmarks").header.Get("ETag")
	tests := []struct {
		name    string
		request []byte
		status  int
	}{
		{"list", s.raw("/api/v1/benchmarks"), 200},
		{"filtered", s.raw("/api/v1/benchmarks?backend=cuda&quantization=Q4_K_M"), 200},
		{"zstd", s.raw("/api/v1/benchmarks", "Accept-Encoding: zstd"), 200},
		{"model", s.raw("/api/v1/models/llama-3.1-8b-instruct"), 200},
		{"small", s.raw("/api/v1/tools?q=nothing-is-called-so"), 200},
		{"not modified", s.raw("/api/v1/benchmarks", "If-None-Match: "+tag), 304},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := s.script(t)
			s.awaitCached(c, tt.request)
			if got := statusLine(c.writes[0]); got != tt.status {
				t.Fatalf("status %d, want %d", got, tt.status)
			}
			if got := s.allocations(c, tt.request); got != 0 {
				t.Errorf("%v allocations, want 0", got)
			}
		})
	}
}

// allocations is the least of a few tries: meanwhile the ledger writes leases.
func (s *service) allocations(c *scripted, request []byte) float64 {
	least := math.Inf(1)
	for range 10 {
		least = min(least, testing.AllocsPerRun(100, func() { c.ask(request) }))
	}
	return least
}

func statusLine(head []byte) int {
	n, _ := strconv.Atoi(string(head[len("HTTP/1.1 "):][:3]))
	return n
}

// TestGuardCold: a page that was never asked for costs a number of allocations that depends on
// the question, not on the dataset or the rows of the page.
func TestGuardCold(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	s := newService(t, mustShipped(t).live)
	tests := []struct {
		name, path string
		most       float64
	}{
		{"two filters and a range", "/api/v1/benchmarks?backend=cuda&quantization=Q4_K_M&min_tps=0.00%d", 120},
		{"fastest of one filter", "/api/v1/benchmarks?backend=cuda&sort=-generation_tps&min_tps=0.00%d", 120},
		{"range of models", "/api/v1/models?min_params_b=0.00%d", 60},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := s.script(t)
			const pages, tries = 100, 4
			requests, n := make([][]byte, tries*(pages+1)), 0 // a try begins with one more
			for i := range requests {
				requests[i] = s.raw(fmt.Sprintf(tt.path, 100+i))
			}
			got := math.Inf(1) // the least of a few tries: meanwhile the ledger writes leases
			for range tries {
				got = min(got, testing.AllocsPerRun(pages, func() { c.ask(requests[n]); n++ }))
			}
			if t.Logf("%v allocations", got); got > tt.most {
				t.Errorf("%v allocations, want at most %v", got, tt.most)
			}
			if got := statusLine(c.writes[0]); got != http.StatusOK {
				t.Errorf("status %d, want 200", got)
			}
		})
	}
}

// TestOrder: whatever way requests come in, each is answered once, whole and in turn.
func TestOrder(t *testing.T) {
	s := shippedService(t)
	big, small := s.raw("/api/v1/benchmarks"), s.raw("/api/v1/tools?q=nothing-is-called-so")
	zstd, head := s.raw("/api/v1/benchmarks", "Accept-Encoding: zstd"), bytes.Replace(big, []byte("GET"), []byte("HEAD"), 1)
	withBody := bytes.Replace(big, []byte("\r\n\r\n"), []byte("\r\nContent-Length: 6\r\n\r\nab\r\n\r\n"), 1)
	long := s.raw("/api/v1/benchmarks?family=" + strings.Repeat("x,", 2500) + "llama&limit=20")
	all := bytes.Join([][]byte{big, small, big, head, zstd, big, small}, nil)
	// Answers by the letters of their requests.
	bodies := map[rune][]byte{'b': s.bodyOf(t, big), 's': s.bodyOf(t, small), 'z': s.bodyOf(t, zstd), 'h': {}}
	tests := []struct {
		name  string
		reads [][]byte
		want  string
	}{
		{"one by one", [][]byte{big, small, head, zstd, big}, "bshzb"},
		{"all at once", [][]byte{all}, "bsbhzbs"},
		{"one and a half", [][]byte{append(bytes.Clone(big), big[:20]...), big[20:], big}, "bbb"},
		{"cut in the end of a head", [][]byte{big[:len(big)-2], big[len(big)-2:], small}, "bs"},
		{"cut before the end of a head", [][]byte{append(bytes.Clone(big), big[:len(big)-4]...), big[len(big)-4:], big}, "bbb"},
		{"a body that looks like the end of a head", [][]byte{withBody, big}, "bb"},
		{"a body that comes later", [][]byte{withBody[:len(withBody)-6], withBody[len(withBody)-6:], big}, "bb"},
		{"a head longer than the buffer", [][]byte{long, big}, "?b"},
		{"small before big in one", [][]byte{append(bytes.Clone(small), big...), big}, "sbb"},
	}
	for cut := 1; cut < len(all); cut += 37 {
		tests = append(tests, struct {
			name  string
			reads [][]byte
			want  string
		}{fmt.Sprintf("cut at %d", cut), [][]byte{all[:cut], all[cut:]}, "bsbhzbs"})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &played{reads: slices.Clone(tt.reads)}
			if err := s.app.Server().ServeConn(c); err != nil {
				t.Fatal(err)
			}
			c.check(t, tt.want, bodies)
		})
	}
}

// bodyOf asks once and returns the body as it was sent.
func (s *service) bodyOf(tb testing.TB, request []byte) []byte {
	tb.Helper()
	c := s.script(tb)
	c.ask(request)
	_, body, _ := bytes.Cut(bytes.Join(c.writes, nil), []byte("\r\n\r\n"))
	return body
}

// played is a connection that gives what was recorded, read by read, and then ends.
type played struct {
	scripted
	reads [][]byte
	out   bytes.Buffer
}

func (c *played) Read(p []byte) (int, error) {
	if len(c.reads) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.reads[0])
	if c.reads[0] = c.reads[0][n:]; len(c.reads[0]) == 0 {
		c.reads = c.reads[1:]
	}
	return n, nil
}

func (c *played) Write(p []byte) (int, error) { return c.out.Write(p) }

// check reads the answers back: none is missing, torn or of another request. A question mark stands for any body.
func (c *played) check(t *testing.T, want string, bodies map[rune][]byte) {
	t.Helper()
	r := bufio.NewReader(&c.out)
	for i, kind := range want {
		method := http.MethodGet
		if kind == 'h' {
			method = http.MethodHead
		}
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			t.Fatalf("answer %d of %s: %v", i+1, want, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("answer %d of %s: status %d, %v: %.200s", i+1, want, resp.StatusCode, err, body)
		}
		if kind != '?' && !bytes.Equal(body, bodies[kind]) {
			t.Fatalf("answer %d of %s has %d bytes of another body, want %d", i+1, want, len(body), len(bodies[kind]))
		}
	}
	if rest, _ := io.ReadAll(r); len(rest) > 0 {
		t.Errorf("%d bytes behind the last answer: %.100q", len(rest), rest)
	}
}

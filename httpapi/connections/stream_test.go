package connections

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"modeldex/quota"

	"github.com/valyala/fasthttp"
	"github.com/valyala/fasthttp/fasthttputil"
)

// streamServer answers every request with one stream and returns how to reach it.
func streamServer(t *testing.T, s *Stream) (dial func() (net.Conn, error), ends *atomic.Int64) {
	t.Helper()
	ends = &atomic.Int64{}
	s.Size = -1
	s.Done = func() { ends.Add(1) }
	ln := fasthttputil.NewInmemoryListener()
	server := fasthttp.Server{Handler: func(ctx *fasthttp.RequestCtx) {
		one := *s
		SendStream(ctx, &one, func(error) {})
	}}
	served := make(chan error, 1)
	go func() { served <- server.Serve(ln) }()
	t.Cleanup(func() {
		if err := errors.Join(ln.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return ln.Dial, ends
}

// lines is a body of so many lines, that fails behind them where err is set.
func lines(n int, err error) func() (io.Reader, error) {
	return func() (io.Reader, error) {
		body := strings.Repeat("a line of the body\n", n)
		if err == nil {
			return strings.NewReader(body), nil
		}
		return io.MultiReader(strings.NewReader(body), errorReader{err}), nil
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

type panicReader struct{}

func (panicReader) Read([]byte) (int, error) { panic("a defect") }

// say sends bytes on a connection of its own and returns the responses to requests with methods.
func say(t *testing.T, dial func() (net.Conn, error), text string, methods ...string) (bodies []string, last error) {
	t.Helper()
	conn, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = conn.Write([]byte(text)) }()
	in := bufio.NewReader(conn)
	for _, method := range methods {
		resp, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return bodies, err
		}
		body, err := io.ReadAll(resp.Body)
		bodies = append(bodies, string(body))
		if err != nil {
			return bodies, err
		}
	}
	return bodies, nil
}

// awaitEnds waits until so many streams gave their places back, which they do once the caller has the last byte.
func awaitEnds(t *testing.T, ends *atomic.Int64, want int64) {
	t.Helper()
	for end := time.Now().Add(patience); ends.Load() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d streams were ended, want %d", ends.Load(), want)
		}
	}
}

// TestStream: a stream comes whole, also between other responses of one connection, HEAD has no body
// and no rest of one, and each gives its place back.
func TestStream(t *testing.T) {
	t.Parallel()
	dial, ends := streamServer(t, &Stream{Open: lines(5000, nil)})
	get, head := "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"
	whole := strings.Repeat("a line of the body\n", 5000)
	got, err := say(t, dial, get+head+get+head+head+get, "GET", "HEAD", "GET", "HEAD", "HEAD", "GET")
	if err != nil || fmt.Sprint(got) != fmt.Sprint([]string{whole, "", whole, "", "", whole}) {
		t.Errorf("%d responses, the last with %v", len(got), err)
	}
	awaitEnds(t, ends, 6)
}

// TestStreamCut: a stream that fails, in whatever way, is seen to be cut.
func TestStreamCut(t *testing.T) {
	t.Parallel()
	failures := map[string]func() (io.Reader, error){
		"error": lines(5000, errors.New("no more")),
		"panic": func() (io.Reader, error) {
			return io.MultiReader(strings.NewReader(strings.Repeat("x", 100_000)), panicReader{}), nil
		},
		"at once": func() (io.Reader, error) { return nil, errors.New("not opened") },
	}
	for name, open := range failures {
		t.Run(name, func(t *testing.T) {
			dial, ends := streamServer(t, &Stream{Open: open})
			got, err := say(t, dial, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET")
			if err == nil {
				t.Errorf("%d bytes came and nothing shows that more was to come", len(got[0]))
			}
			awaitEnds(t, ends, 1)
			// HTTP/1.0 has no chunks: the failure is known before the first byte, and the length says that bytes are missing.
			if got, err := say(t, dial, "GET / HTTP/1.0\r\n\r\n", "GET"); err == nil || strings.Join(got, "") != "" {
				t.Errorf("HTTP/1.0: %d bytes came, then %v, want none and that they are missing", len(strings.Join(got, "")), err)
			}
		})
	}
}

// TestStreamHTTP10: callers that know no chunks get none.
func TestStreamHTTP10(t *testing.T) {
	t.Parallel()
	dial, _ := streamServer(t, &Stream{Open: lines(3000, nil)})
	conn, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { _, _ = conn.Write([]byte("GET / HTTP/1.0\r\n\r\n")) }()
	raw, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
	if string(body) != strings.Repeat("a line of the body\n", 3000) || bytes.Contains(head, []byte("chunked")) || !bytes.Contains(head, []byte("Content-Length: 57000")) {
		t.Errorf("a body of %d bytes behind\n%s", len(body), head)
	}
}

// TestStreamPlaces: streams are limited, all of them and those of a key.
func TestStreamPlaces(t *testing.T) {
	l := Streams{Max: 3, PerKey: 2}
	begin := func(id quota.ID) string {
		_, why, ok := l.Begin(id)
		return map[bool]string{true: "ok", false: []string{"all", "key"}[why]}[ok]
	}
	end, _, _ := l.Begin(1)
	if got := []string{begin(1), begin(1), begin(2), begin(3)}; !slices.Equal(got, []string{"ok", "key", "ok", "all"}) {
		t.Errorf("streams begin as %v", got)
	}
	end()
	if got := begin(1); got != "ok" {
		t.Errorf("after the end of one: %s", got)
	}
}

package wiretest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"time"
)

// request is one request and what its response must be.
type request struct {
	method string
	raw    []byte // as sent
	last   bool   // the server closes the connection behind its response
	status int
	// want is the response that came for the request alone; nil for a request that is sent for
	// the first time, whose body must contain holds.
	want  *response
	holds string
}

// response is what is compared: everything but the request id, the date and the standing of the key.
type response struct {
	status  int
	headers string // sorted lines
	body    string
}

// String names a request in a report.
func (r *request) String() string {
	line, _, _ := bytes.Cut(r.raw, []byte("\r\n"))
	return fmt.Sprintf("%.120q", line)
}

// changing are the headers that differ from response to response. A proxy adds the last ones.
var changing = map[string]bool{
	"X-Request-Id": true, "Date": true, "X-Ratelimit-Remaining": true, "Ratelimit": true,
	"Connection": true, "Keep-Alive": true, "Server": true,
}

var requestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// read reads the next final response and its request id.
func read(r *bufio.Reader, method string) (*response, string, error) {
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return nil, "", err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close() // the connection goes on
		if err != nil {
			return nil, "", fmt.Errorf("reading the body of a %d: %w", resp.StatusCode, err)
		}
		if resp.StatusCode == http.StatusContinue {
			continue
		}
		var lines bytes.Buffer
		for name := range changing {
			if name != "X-Request-Id" {
				resp.Header.Del(name)
			}
		}
		id := resp.Header.Get("X-Request-Id")
		resp.Header.Del("X-Request-Id")
		if err := resp.Header.Write(&lines); err != nil { // writes in sorted order
			return nil, "", err
		}
		return &response{resp.StatusCode, lines.String(), requestID.ReplaceAllString(string(body), `"request_id":""`)}, id, nil
	}
}

// alone sends a request on a connection of its own.
func alone(addr string, q *request) (*response, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(q.raw); err != nil {
		return nil, err
	}
	resp, _, err := read(bufio.NewReader(conn), q.method)
	return resp, err
}

// newRequest spells a request; lines are headers.
func (a *attack) newRequest(method, path, body string, lines ...string) *request {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: wire.test\r\n", method, path)
	for _, l := range lines {
		if l = strings.ReplaceAll(l, "$key", a.opt.Secret); l != "" {
			b.WriteString(l + "\r\n")
		}
	}
	if body != "" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n" + body)
	return &request{method: method, raw: b.Bytes()}
}

const withKey = "Authorization: Bearer $key"

// catalog makes the requests of an attack and asks each alone, three times: rendered, from the
// cache, and again.
func (a *attack) catalog() error {
	add := func(method, path, body string, lines ...string) {
		a.requests = append(a.requests, a.newRequest(method, path, body, lines...))
	}
	// Data of every size: a record, some kilobytes, a page of 100, a page of 500.
	pages := []string{
		"/api/v1/tools/ollama", "/api/v1/tools?limit=1", "/api/v1/hardware?limit=2", "/api/v1/models?limit=3",
		"/api/v1/hardware?limit=10", "/api/v1/benchmarks", "/api/v1/benchmarks?limit=500", "/api/v1/models/llama-2-7b",
	}
	for _, path := range pages {
		add("GET", path, "", withKey)
		add("HEAD", path, "", withKey)
		add("GET", path, "", withKey, "Accept-Encoding: gzip")
		add("GET", path, "", withKey, "Accept-Encoding: zstd")
	}
	// Streams in chunks; a key of the free tier gets 403.
	for _, path := range []string{"/api/v1/tools?limit=all&format=ndjson", "/api/v1/tools?limit=all&format=parquet"} {
		add("GET", path, "", withKey)
		add("HEAD", path, "", withKey)
		add("GET", path, "", withKey, "Accept-Encoding: zstd")
	}
	smuggled := "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	add("GET", "/healthz", "")
	add("HEAD", "/healthz", "")
	add("GET", "/api/v1/tools?limit=none", "", withKey)
	add("GET", "/api/v1/models/no-such-model", "", withKey)
	add("GET", "/api/v1/models/llama3.2:1b", "", withKey) // 301
	add("GET", "/api/v1/tools", "")
	add("GET", "/api/v1/tools", "", withKey, "Accept: image/png")
	add("GET", "/nowhere", "")
	add("GET", "/docs", "", "Accept-Encoding: br")
	add("GET", "/", "")
	add("DELETE", "/api/v1/models", "", withKey)
	add("OPTIONS", "/api/v1/models", "")
	add("POST", "/api/v1/keys", `{"name":`+smuggled, "Content-Type: application/json")
	add("POST", "/api/v1/keys", smuggled+smuggled, "Content-Type: text/plain")
	if !a.opt.Proxied {
		add("GET", "/api/v1/tools?limit=1", smuggled, withKey) // a GET with a body
	}
	for _, q := range a.requests {
		for range 3 {
			want, err := alone(a.opt.Addr, q)
			if err != nil {
				return fmt.Errorf("%v alone: %w", q, err)
			}
			q.want, q.status = want, want.status
		}
	}
	return a.conditional(pages)
}

var tagLine = regexp.MustCompile(`(?m)^Etag: (.*?)\r?$`)

// conditional adds requests for what the caller has already.
func (a *attack) conditional(pages []string) error {
	for _, path := range pages {
		first, err := alone(a.opt.Addr, a.newRequest("GET", path, "", withKey))
		if err != nil {
			return err
		}
		tag := tagLine.FindStringSubmatch(first.headers)
		if tag == nil {
			return fmt.Errorf("GET %s: status %d without an ETag", path, first.status)
		}
		q := a.newRequest("GET", path, "", withKey, "If-None-Match: "+tag[1])
		if q.want, err = alone(a.opt.Addr, q); err != nil {
			return err
		}
		if q.status = q.want.status; q.status != http.StatusNotModified {
			return fmt.Errorf("%v with its own ETag: status %d, want 304", q, q.status)
		}
		a.requests = append(a.requests, q)
	}
	return nil
}

// fresh is a request for a page that was never asked for.
func (a *attack) fresh() *request {
	n := a.serial.Add(1)
	path := fmt.Sprintf("/api/v1/benchmarks?min_tps=0.%d&limit=%d", 1_000_000+n, 1+n%40)
	q := a.newRequest("GET", path, "", withKey)
	q.status, q.holds = http.StatusOK, fmt.Sprintf("min_tps=0.%s", strings.TrimRight(fmt.Sprint(1_000_000+n), "0"))
	return q
}

// ends are requests behind which the server closes the connection.
func (a *attack) ends() ([]*request, error) {
	close11 := a.newRequest("GET", "/api/v1/tools?limit=1", "", withKey, "Connection: close")
	chunked := a.newRequest("POST", "/api/v1/keys", "", "Content-Type: application/json", "Transfer-Encoding: chunked")
	chunked.raw = append(chunked.raw, "0\r\n\r\n"...)
	garbage := &request{method: "GET", raw: []byte("GET garbage\r\n\r\n")}
	old := &request{method: "GET", raw: []byte("GET /healthz HTTP/1.0\r\n\r\n")}
	out := []*request{close11, chunked, garbage, old}
	for _, q := range out {
		want, err := alone(a.opt.Addr, q)
		if err != nil {
			return nil, fmt.Errorf("%v alone: %w", q, err)
		}
		q.want, q.status, q.last = want, want.status, true
	}
	return out, nil
}

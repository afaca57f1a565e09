package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestEarlyRejections: a request that is rejected before its route is found gets headers with the values of any other
// response: a caller who waits until X-RateLimit-Reset waits at most a month.
func TestEarlyRejections(t *testing.T) {
	s := smallService(t)
	key := "Authorization: Bearer " + s.secret + "\r\n"
	for _, tt := range []struct {
		name, line, headers string
		status              int
	}{
		{"large body", "POST /api/v1/resolve HTTP/1.1", "Content-Type: application/json\r\nContent-Length: 70000\r\n", 413},
		{"large body with a key", "POST /api/v1/resolve HTTP/1.1", key + "Content-Type: application/json\r\nContent-Length: 70000\r\n", 413},
		{"large body of a route without a key", "POST /api/v1/keys HTTP/1.1", "Content-Type: application/json\r\nContent-Length: 70000\r\n", 413},
		{"large headers", "GET /api/v1/models HTTP/1.1", "X-Large: " + strings.Repeat("x", 20_000) + "\r\n", 431},
		{"long address", "GET /api/v1/models?q=" + strings.Repeat("x", 9000) + " HTTP/1.1", "", 414},
		{"long address with a key", "GET /api/v1/models?q=" + strings.Repeat("x", 9000) + " HTTP/1.1", key, 414},
		{"chunked body", "POST /api/v1/resolve HTTP/1.1", "Transfer-Encoding: chunked\r\n\r\n0\r\n", 411},
		{"two keys", "GET /api/v1/models HTTP/1.1", key + key, 400},
		{"folded header", "GET /api/v1/models HTTP/1.1", "X-Folded: a\r\n b\r\n", 400},
		{"other method", "DELETE /api/v1/models HTTP/1.1", "", 405},
		{"other version", "GET /api/v1/models HTTP/2.0", "", 505},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, server := net.Pipe()
			go func() { _ = s.ServeConn(server) }()
			defer func() { _ = client.Close() }()
			go func() { _, _ = fmt.Fprintf(client, "%s\r\nHost: x\r\n%s\r\n", tt.line, tt.headers) }()
			words := strings.Fields(tt.line)
			resp, err := http.ReadResponse(bufio.NewReader(client), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != tt.status {
				t.Fatalf("status %d, %v, want %d: %s", resp.StatusCode, err, tt.status, body)
			}
			if err := validateAnswer(words[0], words[1], resp.StatusCode, resp.Header, body); err != nil {
				t.Error(err)
			}
			if sent := resp.Header.Get("X-RateLimit-Reset"); sent != "" {
				reset, err := strconv.ParseInt(sent, 10, 64)
				if wait := time.Until(time.Unix(reset, 0)); err != nil || wait < 0 || wait > 32*24*time.Hour {
					t.Errorf("X-RateLimit-Reset is %s, %v from now, want the end of this month", sent, wait)
				}
			}
		})
	}
}

package browsertest

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// The weights a page may have, in bytes as they are sent to a browser: the whole page with all it
// loads, and what is needed before anything is seen: the document and its style sheets.
const (
	mostBytes = 300 << 10
	mostFirst = 60 << 10
)

// checkWeight holds that a page is no heavier than it may be.
func checkWeight(t *testing.T, p *tab) {
	t.Helper()
	p.mu.Lock()
	requests := slices.Clone(p.requests)
	p.mu.Unlock()
	total, first := 0, 0
	seen := map[string]bool{}
	for i, address := range requests {
		if address, _, _ = strings.Cut(address, "#"); seen[address] || !strings.HasPrefix(address, origin) {
			continue
		}
		seen[address] = true
		n, kind := sent(t, address)
		total += n
		if i == 0 || strings.HasPrefix(kind, "text/css") {
			first += n
		}
	}
	t.Logf("%.1f KB in %d files, %.1f KB at first", float64(total)/1024, len(seen), float64(first)/1024)
	if total > mostBytes || first > mostFirst || first == 0 {
		t.Errorf("the page sends %d bytes, %d of them before anything is seen; want at most %d and %d", total, first, mostBytes, mostFirst)
	}
}

// sent is how many bytes the body of an answer has as a browser is sent it, and its type.
func sent(t *testing.T, address string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", address, resp.Status, err)
	}
	return len(b), resp.Header.Get("Content-Type")
}

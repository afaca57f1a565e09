package headers

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"
)

// sent is a response as a caller reads it, made of header lines and a last header.
func (l Lines) sent(t *testing.T, last string) *http.Response {
	t.Helper()
	var out fasthttp.Response
	l.SendTo(&out.Header, "X-Last", []byte(last))
	out.SetBodyRaw([]byte("body"))
	var b bytes.Buffer
	if _, err := out.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(&b)
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	body := make([]byte, 4)
	if _, err := resp.Body.Read(body); err != nil && string(body) != "body" || resp.ContentLength != 4 || r.Buffered() != 0 {
		t.Fatalf("read %q of %d bytes, %d behind them; %v", body, resp.ContentLength, r.Buffered(), err)
	}
	return resp
}

// TestHeaderLines sets random headers, some of them again, with values that would like to begin another header or end the
// head, and compares what a caller reads with a map.
func TestHeaderLines(t *testing.T) {
	const seed = 20261122
	r := rand.New(rand.NewPCG(seed, 0))
	names := []string{"A", "Ab", "ETag", "Vary", "X-Request", "X-RateLimit-Limit", "Link"}
	values := []string{"", "1", "a, b", `"x:y"`, "x\r\nX-Evil: 1", "x\n\nbody", "\r", "\r\n\r\nHTTP/1.1 200 OK", "Vary: x", strings.Repeat("long ", 500)}
	for round := range 2000 {
		lines, want := Lines{}, map[string]string{}
		for range r.IntN(12) {
			name, value := names[r.IntN(len(names))], values[r.IntN(len(values))]
			if _, again := want[name]; !again && r.IntN(2) == 0 {
				lines = lines.Add(name, value)
			} else {
				lines = lines.Set(name, value)
			}
			want[name] = strings.TrimSpace(strings.Map(func(c rune) rune {
				if c == '\r' || c == '\n' {
					return ' '
				}
				return c
			}, value))
		}
		if r.IntN(2) == 0 {
			lines, want["Number"] = lines.AddInt("Number", int64(round)), fmt.Sprint(round)
		}
		last := values[r.IntN(len(values))]
		got := map[string]string{}
		for name, all := range lines.sent(t, last).Header {
			if len(all) != 1 {
				t.Fatalf("seed %d, round %d: %d headers %s: %q", seed, round, len(all), name, all)
			}
			got[name] = all[0]
		}
		for name := range want {
			if value, ok := got[http.CanonicalHeaderKey(name)]; !ok || value != want[name] {
				t.Fatalf("seed %d, round %d: %s is %q, want %q", seed, round, name, value, want[name])
			}
		}
		extra := slices.Sorted(maps.Keys(got))
		extra = slices.DeleteFunc(extra, func(name string) bool {
			_, set := want[name]
			return set || slices.Contains([]string{"Etag", "X-Ratelimit-Limit", "Date", "Server", "Content-Type", "Content-Length", "X-Last"}, name)
		})
		if len(extra) > 0 {
			t.Fatalf("seed %d, round %d: headers %q were not set", seed, round, extra)
		}
	}
}

// TestHeaderLinesReplace: a header that is set again moves to the end, and its name is not that of a longer one.
func TestHeaderLinesReplace(t *testing.T) {
	lines := Lines{}.Set("Vary", "a").Set("Va", "b").Set("Vary-Not", "c").Set("Vary", "d")
	if want := "Va: b\r\nVary-Not: c\r\nVary: d\r\n"; string(lines) != want {
		t.Errorf("lines are %q, want %q", lines, want)
	}
}

package httpapi

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"modeldex/dataset/datasettest"
	"modeldex/httpapi/connections"
)

// toldEnd is a caller that keeps the connection open when everything was sent: waited counts the Reads that would then wait.
type toldEnd struct {
	played
	waited int
}

func (c *toldEnd) Read(p []byte) (int, error) {
	if len(c.reads) == 0 {
		c.waited++
	}
	return c.played.Read(p)
}

// statuses serves the parts, each in a Read of its own, and returns the statuses of the responses and how many Reads waited. With follow
// heads are followed.
func statuses(t *testing.T, s *Server, parts [][]byte, follow bool) (out []int, waited int) {
	t.Helper()
	c := &toldEnd{played: played{reads: slices.DeleteFunc(slices.Clone(parts), func(b []byte) bool { return len(b) == 0 })}}
	conn := net.Conn(c)
	if follow {
		conn = connections.New(c)
	}
	_ = s.app.Server().ServeConn(conn) // an error where the caller sent one
	for r := bufio.NewReader(&c.out); ; {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			return out, c.waited
		}
		if resp.StatusCode == http.StatusBadRequest && (resp.Header.Get("Content-Type") != "application/problem+json" || !resp.Close) {
			t.Errorf("%q: a 400 of %s, closing: %v", parts, resp.Header.Get("Content-Type"), resp.Close)
		}
		if _, err := bytes.NewBuffer(nil).ReadFrom(resp.Body); err != nil {
			t.Fatal(err)
		}
		out = append(out, resp.StatusCode)
	}
}

// splits are the ways to send a text in one or two parts, and byte by byte.
func splits(text string) (all [][][]byte) {
	var single [][]byte
	for i := range len(text) {
		all = append(all, [][]byte{[]byte(text[:i]), []byte(text[i:])})
		single = append(single, []byte(text[i:i+1]))
	}
	return append(all, single)
}

// TestLineFeed: a head whose empty line ends in a lone LF is answered at once with 400, however it comes, also on a
// connection that has been used; what follows a head, or is before the first line of one, is not looked at.
func TestLineFeed(t *testing.T) {
	t.Parallel()
	s := newService(t, mustShipped(t).live).Server
	const get, post = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 16\r\n\r\nGET /x y\n\n\r\n\nx\n\n"
	for _, tt := range []struct {
		text   string
		want   []int
		waited int
	}{
		{"GET /healthz HTTP/1.1\nHost: x\n\n", []int{400}, 0},
		{"GET /healthz HTTP/1.1\r\nHost: x\r\n\n", []int{400}, 0},
		{"GET /healthz HTTP/1.1\r\nHost: x\n\r\n", []int{400}, 0},
		{"GET /healthz HTTP/1.0\r\n\n", []int{400}, 0},
		{"\r\n\nGET /healthz HTTP/1.1\nHost: x\n\n", []int{400}, 0},
		{"POST /healthz HTTP/1.1\nHost: x\nContent-Length: 3\n\nabc", []int{400}, 0},
		{"GET /healthz HTTP/1.0\n\r\n", []int{200}, 0}, // HTTP/1.0 closes
		{"GET /healthz HTTP/1.1\nHost: x\r\n\r\n", []int{200}, 1},
		{get + "\r\n\n\n" + get + post + get, []int{200, 200, 405, 200}, 1},
	} {
		for _, parts := range splits(tt.text) {
			if got, waited := statuses(t, s, parts, true); !slices.Equal(got, tt.want) || waited != tt.waited {
				t.Errorf("%q: %v and %d Reads at the end, want %v and %d", parts, got, waited, tt.want, tt.waited)
			}
		}
		if tt.waited == 0 && tt.want[0] == 400 { // on a connection that has been used
			for _, parts := range splits(tt.text) {
				if got, waited := statuses(t, s, append([][]byte{[]byte(get)}, parts...), true); !slices.Equal(got, []int{200, 400}) || waited != 0 {
					t.Errorf("behind a request %q: %v and %d Reads at the end, want 200, 400 and none", parts, got, waited)
				}
			}
		}
	}
}

// TestLineFeedRandom sends random lines in random parts to the server and to one that does not follow heads: each answers the
// same, or ends with a 400 sooner: no bytes are taken for a request that were none before. The short form sends a tenth.
func TestLineFeedRandom(t *testing.T) {
	t.Parallel()
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 0))
	s, without := newService(t, mustShipped(t).live).Server, newService(t, mustShipped(t).live).Server
	without.app.Server().ConnState = nil
	pieces := []string{
		"GET /healthz HTTP/1.1", "GET /nowhere HTTP/1.1", "POST /healthz HTTP/1.1", "GET /healthz HTTP/1.0", "Host: x", "Host: x", "Content-Length: 9", "A: b", "\r\n\r\n", "\n\n",
		"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\na\n\n\r\n", "GET /nowhere HTTP/1.1\nHost: x\n\n",
	}
	sooner, rounds := 0, datasettest.Rounds(2_000, 20_000)
	for round := range rounds {
		var text strings.Builder
		for range 1 + r.IntN(9) {
			text.WriteString(pieces[r.IntN(len(pieces))] + []string{"\r\n", "\r\n", "\n", "\r\n\r\n", "\n\n", ""}[r.IntN(6)])
		}
		var parts [][]byte
		for rest := text.String(); rest != ""; {
			n := 1 + r.IntN(len(rest))
			parts, rest = append(parts, []byte(rest[:n])), rest[n:]
		}
		got, _ := statuses(t, s, parts, true)
		want, _ := statuses(t, without, parts, false)
		if slices.Equal(got, want) {
			continue
		}
		sooner++
		if last := len(got) - 1; last < 0 || got[last] != 400 || last > len(want) || !slices.Equal(got[:last], want[:last]) {
			t.Fatalf("seed %d, round %d: %q: %v, want %v or a 400 sooner", seed, round, parts, got, want)
		}
	}
	t.Logf("%d of %d ended sooner", sooner, rounds)
}

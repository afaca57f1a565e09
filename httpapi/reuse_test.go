package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"modeldex/dataset/datasettest"
	"modeldex/index"
)

// TestBuffersAreNotKept has many keep-alive clients ask at once for things only they ask for.
// The server reads every request into buffers it uses again, so a text kept past its request
// would turn up in another's answer, or in the cache.
func TestBuffersAreNotKept(t *testing.T) {
	t.Parallel()
	s := newService(t, mustSmallLive(t))
	const clients, rounds = 8, 60
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			for round := range rounds {
				askOwn(t, s, fmt.Sprintf("own-%d-%d", client, round))
			}
		})
	}
	wg.Wait()
	s.cache.Wait()
	for client := range clients { // what was kept in the cache is still each one's own
		askOwn(t, s, fmt.Sprintf("own-%d-%d", client, 0))
	}
}

// askOwn asks with a word of its own and looks for it in every place an answer repeats it.
func askOwn(t *testing.T, s *service, word string) {
	var l listEnvelope
	a := s.ask(t, "GET", "/api/v1/models?family="+word+"&limit=7")
	if err := json.Unmarshal(a.body, &l); err != nil || len(l.Meta.Notices) != 1 {
		t.Errorf("%s: status %d: %s", word, a.status, a.body)
		return
	}
	if got := *l.Meta.Notices[0].Value; got != word || l.Links.Self != "/api/v1/models?family="+word+"&limit=7" {
		t.Errorf("%s: the notice is about %q, links.self is %s", word, got, l.Links.Self)
	}
	for _, tt := range []struct {
		path string
		want int
	}{
		{"/api/v1/hardware?vendor=" + word, http.StatusBadRequest},
		{"/api/v1/tools/" + word, http.StatusNotFound},
		{"/api/v1/models?cursor=" + word, http.StatusBadRequest},
	} {
		var p Problem
		a := s.ask(t, "GET", tt.path)
		if err := json.Unmarshal(a.body, &p); err != nil || a.status != tt.want || len(p.Errors) == 0 {
			t.Errorf("GET %s: status %d: %s", tt.path, a.status, a.body)
			return
		}
		if got := *p.Errors[0].Value; got != word || p.RequestID != a.header.Get("X-Request-Id") {
			t.Errorf("GET %s: the fault is about %q, the id is %s and %s", tt.path, got, p.RequestID, a.header.Get("X-Request-Id"))
		}
	}
}

// TestRepeatedReads asks for the same pages from many clients while nothing is in the cache
// yet: all get the same bytes, and the same tag.
func TestRepeatedReads(t *testing.T) {
	t.Parallel()
	s := newService(t, mustSmallLive(t))
	paths := []string{"/api/v1/models", "/api/v1/benchmarks?limit=5", "/api/v1/models/llama-2-7b", "/api/v1/hardware?vendor=nvidia,amd"}
	codings := []string{"identity", "zstd", "br", "gzip"}
	w, mu := newWatch(), sync.Mutex{}
	var wg sync.WaitGroup
	for client := range 8 {
		wg.Go(func() {
			for round := range datasettest.Rounds(16, 40) {
				a := s.ask(t, "GET", paths[round%len(paths)], "Accept-Encoding", codings[(client+round/len(paths))%len(codings)])
				mu.Lock()
				a.asked.header.Del("Authorization") // calls in parallel are not counted one by one
				for _, fault := range append(checkAnswer(a), w.see(a)...) {
					t.Errorf("GET %s: %s", a.path, fault)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
}

// TestMemoryIsUsedAgain has slow connections ask at once, several requests in one write. The first response to an address
// is made in memory that is used again once it is sent; responses to a third of the addresses are asked for by
// all, and kept. Whichever a caller is given, its bytes are those of the page.
func TestMemoryIsUsedAgain(t *testing.T) {
	t.Parallel()
	s := newService(t, mustShipped(t).live)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.app.Server().Serve(s.limit.Listen(ln)) }() // until the server is shut down
	const clients, rounds, batch = 6, 12, 5
	gen := s.cfg.Live.Current()
	var rows [batch][]byte // of the pages, by their place in a batch
	limit := func(i int) int { return 60 + 110*i }
	for i := range rows {
		q := index.Query{Ranges: []index.Range{{Field: index.GenerationTPS, Min: 0, Max: 1e18}}, Limit: limit(i)}
		rows[i] = bytes.Join(gen.Benchmarks.AppendRows(nil, gen.Benchmarks.Select(q).Ords), nil)
	}
	ask := func(client, round int, conn *net.TCPConn, r *bufio.Reader) error {
		var requests []byte
		var selves [batch]string
		for i := range batch {
			number := 1_000_000 + 1000*round + 10*i
			if i%3 > 0 {
				number += client + 1
			}
			selves[i] = fmt.Sprintf("min_tps=0.00%d1&limit=%d", number, limit(i))
			requests = append(requests, s.raw("/api/v1/benchmarks?"+selves[i])...)
		}
		if _, err := conn.Write(requests); err != nil {
			return err
		}
		for i, self := range selves {
			time.Sleep(time.Millisecond) // the others are answered while this response waits to be read
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				return err
			}
			body, err := io.ReadAll(resp.Body)
			if err != nil || !bytes.Contains(body, rows[i]) || !bytes.Contains(body, []byte(self[:len("min_tps=0.0010000001")])) {
				return fmt.Errorf("%s: status %d, %d bytes without its rows (%d bytes) or its address: %w", self, resp.StatusCode, len(body), len(rows[i]), err)
			}
		}
		return nil
	}
	var wg sync.WaitGroup
	for client := range clients {
		wg.Go(func() {
			conn, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if err := conn.(*net.TCPConn).SetReadBuffer(64 << 10); err != nil {
				t.Error(err)
			}
			r := bufio.NewReader(conn)
			for round := range rounds {
				if err := ask(client, round, conn.(*net.TCPConn), r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestKeptFromTheSecondTime: an address that is asked for once puts nothing into the cache.
func TestKeptFromTheSecondTime(t *testing.T) {
	t.Parallel()
	s := newService(t, mustSmallLive(t))
	added := func() uint64 { s.cache.Wait(); return s.cache.Metrics().KeysAdded() }
	const path = "/api/v1/benchmarks?limit=3"
	for n, want := range []bool{false, true, false} {
		before := added()
		if a := s.ask(t, "GET", path); a.status != http.StatusOK {
			t.Fatalf("status %d: %s", a.status, a.body)
		}
		if got := added() > before; got != want {
			t.Errorf("time %d: a response was added to the cache: %v, want %v", n+1, got, want)
		}
	}
}

package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"modeldex/dataset/datasettest"
)

// TestBuffersAreNotKept has many keep-alive clients ask at once for things only they ask for.
// The server reads every request into buffers it uses again, so a text kept past its request
// would turn up in another's answer, or in the cache.
func TestBuffersAreNotKept(t *testing.T) {
	s := smallService(t)
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
	s := smallService(t)
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

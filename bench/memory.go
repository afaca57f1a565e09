//go:build linux

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// memoryCmd shows what the program needs after its start, and at most under traffic.
type memoryCmd struct {
	Data     string        `default:"data" placeholder:"DIR" help:"Dataset to serve."`
	CacheMB  []int64       `name:"cache-mb" default:"16,64,128,256" help:"Sizes of the response cache to measure."`
	Requests int           `default:"40000" help:"Requests per size; nearly all are new to the cache."`
	Clients  int           `default:"32" help:"Connections."`
	Rest     time.Duration `default:"12s" help:"How long to wait after the first dump before the memory after the start is read."`
	Seed     uint64        `default:"1" help:"Seed of the requests."`
}

// The goals, in MiB and as a share of the cache. Caches of less than leastCacheMiB are measured too, but
// garbage needs about 60 MiB whatever the size of the cache.
const (
	maxStartMiB   = 100
	maxShare      = 1.25
	leastCacheMiB = 64
)

// Run prints a table; it ends with 1 if a goal is missed.
func (c *memoryCmd) Run() error {
	dir, err := os.MkdirTemp("", "bench-memory")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, data, err := programAndData(dir, c.Data)
	if err != nil {
		return err
	}
	fmt.Println("| cache MiB | start MiB | its own | pages of files | highest under traffic MiB | its own | growth / cache | requests | of them 200 |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	missed := 0
	for _, size := range c.CacheMB {
		m, err := c.measure(program, dir, data, size)
		if err != nil {
			return err
		}
		share := float64(m.highest-min(m.highest, m.start)) / float64(size<<20)
		fmt.Printf("| %d | %.1f | %.1f | %.1f | %.1f | %.1f | %.2f | %d | %d |\n", size, mib(m.start), mib(m.own), mib(m.start-m.own), mib(m.highest), mib(m.highestOwn), share, c.Requests, m.ok)
		if m.start > maxStartMiB<<20 || share > maxShare && size >= leastCacheMiB {
			missed++
		}
	}
	if missed > 0 {
		return fmt.Errorf("%d of %d sizes miss the goal: %d MiB after the start, and %.2f of a cache of %d MiB or more on top", missed, len(c.CacheMB), maxStartMiB, maxShare, leastCacheMiB)
	}
	return nil
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// used is resident memory in bytes, and how many requests were answered 200. own is what of start no file
// backs: the rest is pages of the program and of the ledger, which the system drops when it needs them. How
// many of those one use maps depends on how the system's cache of files holds them: 7 to 17 MiB were seen.
// highestOwn is own when highest was seen.
type used struct {
	start, own, highest, highestOwn int64
	ok                              int64
}

func (c *memoryCmd) measure(program, dir, data string, size int64) (m used, err error) {
	s, err := startServer(program, dir, data, 1, "--cache-mb", fmt.Sprint(size), "--log-level", "error")
	if err != nil {
		return m, err
	}
	defer s.stop()
	if _, err := s.awaitDump(2*time.Minute, time.Second, func() {}); err != nil {
		return m, err
	}
	time.Sleep(c.Rest)
	pid := s.cmd.Process.Pid
	m.start, m.own = memory(pid, "VmRSS"), memory(pid, "RssAnon")
	var next, ok atomic.Int64
	var clients sync.WaitGroup
	done := make(chan struct{})
	for i := range c.Clients {
		clients.Go(func() { c.client(s, rand.New(rand.NewPCG(c.Seed, uint64(i))), &next, &ok) })
	}
	go func() { clients.Wait(); close(done) }()
	for running := true; running; {
		select {
		case <-done:
			running = false
		case <-time.After(50 * time.Millisecond):
		}
		if now := memory(pid, "VmRSS"); now > m.highest {
			m.highest, m.highestOwn = now, memory(pid, "RssAnon")
		}
	}
	m.ok = ok.Load()
	return m, nil
}

// client asks for large pages that are nearly all new, of data and for people, in every coding, until
// enough were asked.
func (c *memoryCmd) client(s *server, random *rand.Rand, next, ok *atomic.Int64) {
	transport := &http.Transport{DisableCompression: true}
	defer transport.CloseIdleConnections()
	for next.Add(1) <= int64(c.Requests) {
		path := fmt.Sprintf("/api/v1/benchmarks?limit=%d&min_tps=%.3f", 100+random.IntN(401), random.Float64()*100)
		switch random.IntN(8) {
		case 0, 1:
			path = fmt.Sprintf("/api/v1/models?limit=%d&min_params_b=%.3f", 50+random.IntN(151), random.Float64()*40)
		case 2:
			path = fmt.Sprintf("/explore/benchmarks?min_tps=%.3f", random.Float64()*100)
		case 3:
			path = fmt.Sprintf("/explore/models?min_params_b=%.3f&sort=-intelligence", random.Float64()*40)
		}
		req, err := http.NewRequest(http.MethodGet, "http://"+s.addr+path, http.NoBody)
		if err != nil {
			return
		}
		req.Header.Set("Authorization", "Bearer "+s.keys[0])
		if coding := [...]string{"", "zstd", "gzip", "br"}[random.IntN(4)]; coding != "" {
			req.Header.Set("Accept-Encoding", coding)
		}
		resp, err := transport.RoundTrip(req)
		if err != nil {
			continue
		}
		if _, err := io.Copy(io.Discard, resp.Body); err == nil && resp.StatusCode == http.StatusOK {
			ok.Add(1)
		}
		_ = resp.Body.Close()
	}
}

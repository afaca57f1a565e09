//go:build linux

package load

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Config says whom to ask, what, and how hard.
type Config struct {
	Addr    string // host:port
	Conns   int    // connections, shared evenly by the threads
	Threads int    // 0: 2
	// Request gives the n-th request, counted over all threads. It is called from several
	// goroutines; what it returns is only read, and may use dst, which is one connection's own.
	Request func(dst []byte, n int) []byte
	First   int           // n of the first request
	Status  int           // what every answer must have
	For     time.Duration // how long to send; answers under way are awaited
	Rate    float64       // requests a second of an open loop; 0 is a closed loop
}

// Result is what a round gave. Latencies are sorted; in an open loop they count from the time
// a request was due.
type Result struct {
	Requests  int
	Bytes     int64 // of answers, heads included
	Elapsed   time.Duration
	Latencies []time.Duration
}

// Rate is answers per second.
func (r Result) Rate() float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// Quantile is the latency that a share of the answers, 0 to 1, did not exceed.
func (r Result) Quantile(share float64) time.Duration {
	if len(r.Latencies) == 0 {
		return 0
	}
	return r.Latencies[min(int(share*float64(len(r.Latencies))), len(r.Latencies)-1)]
}

// drain is how long answers under way are awaited when the time is over.
const drain = 30 * time.Second

// Run connects, asks and waits for the last answer. Any answer that is not as it must be ends
// the round with an error.
func Run(cfg Config) (Result, error) {
	if cfg.Threads == 0 {
		cfg.Threads = 2
	}
	threads := make([]*thread, cfg.Threads)
	for i := range threads {
		t, err := newThread(cfg, i)
		if err != nil {
			return Result{}, err
		}
		defer t.close()
		threads[i] = t
	}
	var running sync.WaitGroup
	var end atomic.Int64 // of the last answer
	errs := make([]error, len(threads))
	began := time.Now()
	for i, t := range threads {
		running.Go(func() {
			errs[i] = t.run(began)
			for took := int64(time.Since(began)); ; {
				if old := end.Load(); took <= old || end.CompareAndSwap(old, took) {
					return
				}
			}
		})
	}
	running.Wait()
	out := Result{Elapsed: time.Duration(end.Load())}
	for _, t := range threads {
		out.Requests += len(t.latencies)
		out.Bytes += t.bytes
		out.Latencies = append(out.Latencies, t.latencies...)
	}
	slices.Sort(out.Latencies)
	return out, errors.Join(errs...)
}

//go:build linux

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"modeldex/bench/load"
)

// Rates is what one target gave in the rounds of one case.
type Rates struct {
	Target string    `json:"target"`
	Bytes  int64     `json:"bytes"`          // of a response, head included
	PerSec []float64 `json:"per_sec"`        // responses per second, by round
	CPU    []float64 `json:"cpu_us"`         // processor time of the server per response, in microseconds, by round
	P50    []float64 `json:"p50_us"`         // latency in a closed loop, by round
	P99    []float64 `json:"p99_us"`         //
	Ratios []float64 `json:"ratio,omitzero"` // ours / theirs, by round; none for ours
}

// Case is one question, asked of all who can answer it.
type Case struct {
	Data  string   `json:"data"`
	Rows  int      `json:"rows"`
	Name  string   `json:"name"`
	Title string   `json:"title"`
	Rates []*Rates `json:"rates"` // ours first
}

// target is a server and how it is asked one question.
type target struct {
	name string
	*process
	ask    asker
	status int
	conns  int // 0: as many as options say
	asked  int // requests so far: questions that must differ go on from here
}

// targets are all who can answer a question, ours first.
func targets(q question, s *server, rivals []*rival) []*target {
	out := []*target{{name: ours, process: s.process, ask: s.ask(q), status: q.wants()}}
	for _, r := range rivals {
		path, paths, ok := r.path(q)
		if !ok {
			continue
		}
		header := q.header
		if r.same {
			header = "" // its path says which bytes
		}
		out = append(out, &target{name: r.name, process: r.process, ask: asking(r.addr, s.keys[:1], header, path, paths), status: q.wants(), conns: r.conns})
	}
	return out
}

const ours = "modeldex"

// check asks every target once and holds those that send our bytes to them.
func check(q question, ts []*target, rivals []*rival) error {
	var want []byte
	for i, t := range ts {
		resp, err := fetch(t.addr, t.ask(nil, 0))
		if err != nil {
			return fmt.Errorf("%s: %s: %w", q.name, t.name, err)
		}
		body := resp.body
		if resp.status != t.status {
			return fmt.Errorf("%s: %s answered %d: %.300s", q.name, t.name, resp.status, body)
		}
		if i == 0 {
			want = body
		}
		same := slices.ContainsFunc(rivals, func(r *rival) bool { return r.name == t.name && r.same })
		if same && q.paths == nil && !bytes.Equal(body, want) {
			return fmt.Errorf("%s: %s answered %d bytes that are not our %d", q.name, t.name, len(body), len(want))
		}
	}
	return nil
}

// measure asks all targets in turn, round after round; every other round goes backwards, so
// that none is always the one after another.
func (o *options) measure(q question, ts []*target) ([]*Rates, error) {
	out := make([]*Rates, len(ts))
	for i, t := range ts {
		out[i] = &Rates{Target: t.name}
		if err := o.warmUp(q, t); err != nil {
			return nil, fmt.Errorf("%s: %w", q.name, err)
		}
	}
	for round := range o.Rounds {
		for i := range ts {
			if round%2 == 1 {
				i = len(ts) - 1 - i
			}
			if err := o.once(ts[i], out[i]); err != nil {
				return nil, fmt.Errorf("%s: %w", q.name, err)
			}
		}
		for _, r := range out[1:] {
			r.Ratios = append(r.Ratios, out[0].PerSec[round]/r.PerSec[round])
		}
	}
	return out, nil
}

// warmUp fills caches. The first call of a key waits for its lease, about 25 ms: so many keys
// are asked over so many connections that all have one before the clock runs.
func (o *options) warmUp(q question, t *target) error {
	if q.keys == 0 || t.name != ours {
		_, err := o.round(t, o.Round/4, 0)
		return err
	}
	_, err := load.Run(load.Config{Addr: t.addr, Conns: 512, Request: t.ask, Status: t.status, For: 3 * time.Second})
	return err
}

// once makes one round and notes what it gave.
func (o *options) once(t *target, r *Rates) error {
	before, err := processorTime(t.pids())
	if err != nil {
		return err
	}
	got, err := o.round(t, o.Round, 0)
	if err != nil {
		return err
	}
	after, err := processorTime(t.pids())
	if err != nil {
		return err
	}
	n := float64(max(1, got.Requests))
	r.Bytes = got.Bytes / int64(max(1, got.Requests))
	r.PerSec = append(r.PerSec, got.Rate())
	r.CPU = append(r.CPU, float64((after-before).Microseconds())/n)
	r.P50 = append(r.P50, micros(got.Quantile(0.5)))
	r.P99 = append(r.P99, micros(got.Quantile(0.99)))
	return nil
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// round is one run of the client against one target.
func (o *options) round(t *target, d time.Duration, rate float64) (load.Result, error) {
	got, err := load.Run(load.Config{
		Addr: t.addr, Conns: cmp.Or(t.conns, o.Conns), Request: t.ask, First: t.asked, Status: t.status, For: d, Rate: rate,
	})
	// The threads may be some requests apart: leave more room than they can differ by.
	t.asked += 2*got.Requests + 2*o.Conns
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", t.name, err, tail(t.output.String()))
	}
	return got, err
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

// keepAnswers writes the body of every question into a file of its name, for rivals that send
// bytes. An answer without a body becomes an empty file.
func keepAnswers(s *server, qs []question, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, q := range qs {
		resp, err := fetch(s.addr, s.ask(q)(nil, 0))
		if err != nil {
			return fmt.Errorf("%s: %w", q.name, err)
		}
		body := resp.body
		if resp.status != q.wants() {
			return fmt.Errorf("%s: answered %d: %.300s", q.name, resp.status, body)
		}
		if q.status == http.StatusNotModified {
			body = nil
		}
		if err := os.WriteFile(filepath.Join(dir, q.name), body, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// median is the middle of a few figures, 0 of none.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	if len(s)%2 == 0 {
		return (s[len(s)/2-1] + s[len(s)/2]) / 2
	}
	return s[len(s)/2]
}

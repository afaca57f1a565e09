//go:build linux

package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

type target struct {
	name string
	*process
	key   string
	path  func(q *question) string
	same  bool                                 // sends the bytes of our response
	check func(q *question, body []byte) error // of its first response; nil: none
	asked int                                  // numbers used so far
}

type result struct {
	Target    string
	Bytes     int     // of a response, with its head
	PerSecond float64 // responses
	P99       time.Duration
	Processor time.Duration // of the server, per response
}

type measured struct {
	*question
	Results []result
}

// String is one line to follow a run by.
func (m *measured) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s", m.name)
	for _, r := range m.Results {
		fmt.Fprintf(&b, "  %s %.0f/s %v", r.Target, r.PerSecond, r.Processor)
	}
	return b.String()
}

func (o *options) measure(q *question, all []*target) (*measured, error) {
	targets := slices.DeleteFunc(slices.Clone(all), func(t *target) bool { return t.path(q) == "" })
	rounds := make([][]result, len(targets))
	for _, t := range targets {
		if err := t.checkFirst(q); err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
		_, _ = o.wrk(t, q, time.Second) // fills caches; the rounds report what fails
	}
	for round := range o.rounds {
		for i := range targets {
			if round%2 == 1 {
				i = len(targets) - 1 - i
			}
			got, err := o.wrk(targets[i], q, o.round)
			if err != nil {
				return nil, err
			}
			rounds[i] = append(rounds[i], got)
		}
	}
	m := &measured{question: q}
	for i, t := range targets {
		m.Results = append(m.Results, result{
			Target: t.name, Bytes: rounds[i][0].Bytes,
			PerSecond: median(rounds[i], func(r result) float64 { return r.PerSecond }),
			P99:       time.Duration(median(rounds[i], func(r result) float64 { return float64(r.P99) })),
			Processor: time.Duration(median(rounds[i], func(r result) float64 { return float64(r.Processor) })),
		})
	}
	return m, nil
}

func median(rounds []result, of func(r result) float64) float64 {
	var v []float64
	for _, r := range rounds {
		v = append(v, of(r))
	}
	slices.Sort(v)
	return v[len(v)/2]
}

func (t *target) checkFirst(q *question) error {
	header := q.header
	if t.same {
		header = ""
	}
	resp, err := get(t.addr, withNumber(t.path(q), 0), t.key, header)
	switch {
	case err != nil:
		return err
	case t.check != nil:
		return t.check(q, resp.body)
	case t.same && !bytes.Equal(resp.body, q.body):
		return fmt.Errorf("sent %d bytes that are not our %d", len(resp.body), len(q.body))
	}
	return nil
}

//go:embed wrk.lua
var script []byte

var resultLine = regexp.MustCompile(`(?m)^result (\d+) (\d+) (\d+) (\d+) (\d+)$`)

func (o *options) wrk(t *target, q *question, duration time.Duration) (result, error) {
	file := filepath.Join(o.dir, "wrk.lua")
	if err := os.WriteFile(file, script, 0o644); err != nil {
		return result{}, err
	}
	header := q.header
	if t.same {
		header = "" // the path says which bytes
	}
	before, err := t.processorTime()
	if err != nil {
		return result{}, err
	}
	out, err := exec.Command("wrk", "--threads", "2", "--connections", strconv.Itoa(o.conns), "--duration",
		fmt.Sprintf("%.0fs", max(duration.Seconds(), 1)), "--script", file, "http://"+t.addr, "--",
		t.path(q), t.key, header, strconv.Itoa(firstNumber+t.asked)).CombinedOutput()
	if err != nil {
		return result{}, fmt.Errorf("wrk (Debian: wrk): %w: %s", err, out)
	}
	after, err := t.processorTime()
	if err != nil {
		return result{}, err
	}
	line := resultLine.FindSubmatch(out)
	if line == nil {
		return result{}, fmt.Errorf("wrk printed no result: %s", out)
	}
	var v [5]int
	for i := range v {
		if v[i], err = strconv.Atoi(string(line[i+1])); err != nil {
			return result{}, err
		}
	}
	requests, micros, size, p99, failed := v[0], v[1], v[2], v[3], v[4]
	if requests == 0 { // too slow for a round on a busy machine
		return result{}, nil
	}
	if failed > 0 {
		return result{}, fmt.Errorf("%s: %d of %d requests failed", t.name, failed, requests)
	}
	t.asked += requests + o.conns
	return result{
		Bytes: size / requests, PerSecond: float64(requests) / (float64(micros) / 1e6),
		P99: time.Duration(p99) * time.Microsecond, Processor: (after - before) / time.Duration(requests),
	}, nil
}

// A question is what one case asks. In a path, # becomes a number that no request had before: no cache helps.
type question struct {
	name, title  string
	path         string
	header       string // "Name: value"
	sqlite, duck string // the same question to SQLite or DuckDB; empty: not asked
	status       int    // 0: 200
	body         []byte // our response to the first request
}

const (
	firstPage  = "/api/v1/benchmarks"
	twoFilters = "/benchmarks?backend=cuda&quantization=Q4_K_M"
	// No row is below this threshold: the rows stay the same, and no response made before fits.
	threshold = "&min_tps=0.00#"
)

func (s *server) questions() ([]*question, error) {
	first, err := get(s.addr, firstPage, s.key, "")
	if err != nil {
		return nil, err
	}
	all := []*question{
		{name: "first-page", title: "list, first page of 100 rows", path: firstPage},
		{name: "two-filters", title: "list, two filters", path: "/api/v1" + twoFilters, sqlite: twoFilters},
		{name: "model", title: "model with many benchmarks", path: "/api/v1/models/llama-3.1-8b-instruct"},
		{name: "zstd", title: "first page, zstd", path: firstPage, header: "Accept-Encoding: zstd"},
		{
			name: "not-modified", title: "304 for an ETag", path: firstPage,
			header: "If-None-Match: " + first.etag, status: http.StatusNotModified,
		},
		{
			name: "new-two-filters", title: "list, two filters, every page new", path: "/api/v1" + twoFilters + threshold,
			sqlite: twoFilters + threshold,
		},
		{name: "new-fastest", title: "list, fastest of a filter, every page new", path: firstPage + "?backend=cuda&sort=-generation_tps" + threshold},
		{
			name: "new-stats", title: "statistics by hardware, every response new",
			path: firstPage + "/stats?group_by=hardware&settings=all&limit=500" + threshold, duck: "/stats?by=hardware" + threshold,
		},
		{
			name: "new-fits", title: "models that run fast on a card, every question new",
			path: "/api/v1/models?fits=nvidia-rtx-4090&min_tps=10.0#",
		},
		{name: "resolve", title: "resolve a name", path: "/api/v1/resolve?q=unsloth%2FQwen3-8B-GGUF"},
	}
	for _, q := range all {
		resp, err := get(s.addr, withNumber(q.path, 0), s.key, q.header)
		if err != nil {
			return nil, err
		}
		if q.status == 0 {
			q.status = http.StatusOK
		}
		if resp.status != q.status {
			return nil, fmt.Errorf("%s: status %d, want %d", q.path, resp.status, q.status)
		}
		q.body = resp.body
	}
	return all, nil
}

func withNumber(path string, n int) string {
	return strings.ReplaceAll(path, "#", strconv.Itoa(firstNumber+n))
}

const firstNumber = 100_000_000

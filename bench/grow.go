//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"modeldex/bench/generate"
)

// Growth is what one size of dataset costs.
type Growth struct {
	Data     string             `json:"data"`
	Rows     int                `json:"rows"`
	CPU      map[string]float64 `json:"cpu_us"`     // by case: median processor time of an answer, in microseconds
	PerSec   map[string]float64 `json:"per_sec"`    // by case: median answers per second
	Hits     float64            `json:"hits"`       // share of the answers below the cases that the cache had
	Load     float64            `json:"load_s"`     // from the program's start to its serving, in seconds
	LoadCPU  float64            `json:"load_cpu_s"` // processor time up to then, on all cores
	Rendered int64              `json:"rendered"`   // bytes of the finished records
	Swap     float64            `json:"swap_s"`     // from SIGHUP to the new version being served
	Settled  int64              `json:"settled"`    // resident bytes once loaded and left alone
	Peak     int64              `json:"peak"`       // most resident bytes while loading
	Swapped  int64              `json:"swapped"`    // most resident bytes while swapping
}

// coldCases ask every page in a way that no answer before it fits: of plain lists, the cache
// is made too small and the limit changed from call to call.
func coldCases(s *server) ([]question, error) {
	const list = "/api/v1/benchmarks?backend=cuda"
	deep, err := s.deepCursor("/api/v1/benchmarks", 0.5)
	if err != nil {
		return nil, err
	}
	byTwo, err := s.deepCursor("/api/v1/benchmarks?backend=cuda&quantization=Q4_K_M", 0.5)
	if err != nil {
		return nil, err
	}
	limited := func(path string) func(dst []byte, n int) []byte {
		return func(dst []byte, n int) []byte {
			return strconv.AppendInt(append(append(dst, path...), "limit="...), int64(60+n%81), 10) // 100 on average
		}
	}
	return []question{
		{name: "first page", paths: limited("/api/v1/benchmarks?")},
		{name: "deep cursor", paths: limited(deep + "&")},
		{name: "deep cursor, two filters", paths: limited(byTwo + "&")},
		{name: "one filter, threshold", paths: below(list)},
		{name: "two filters, threshold", paths: below(twoFilters)},
		{name: "fastest, one filter, threshold", paths: below(fastest)},
	}, nil
}

// grow measures one size.
func (o *options) grow(program, dir, name, data string, rows int) (*Growth, error) {
	// One MiB keeps a few pages, so that a requested page is no longer in the cache. With so small a cache the
	// server also chooses a small memory limit, and most of the cost of a page would be garbage collection.
	// GOMEMLIMIT replaces that limit.
	restore := setEnv("GOMEMLIMIT", "64GiB")
	s, err := startServer(program, dir, data, 1, "--cache-mb", "1")
	restore()
	if err != nil {
		return nil, err
	}
	defer s.stop()
	g := &Growth{Data: name, Rows: rows, CPU: map[string]float64{}, PerSec: map[string]float64{}}
	if err := g.begin(s); err != nil {
		return nil, err
	}
	qs, err := coldCases(s)
	if err != nil {
		return nil, err
	}
	before := s.metrics(cacheCounts...)
	for _, q := range qs {
		ts := targets(q, s, nil)
		rates, err := o.measure(q, ts)
		if err != nil {
			return nil, err
		}
		g.CPU[q.name], g.PerSec[q.name] = median(rates[0].CPU), median(rates[0].PerSec)
	}
	after := s.metrics(cacheCounts...)
	g.Hits = (after[0] - before[0]) / max(1, after[0]-before[0]+after[1]-before[1])
	return g, s.swap(data, g)
}

// setEnv sets a variable for the programs that are started until restore is called.
func setEnv(name, value string) (restore func()) {
	before, was := os.LookupEnv(name)
	_ = os.Setenv(name, value) // fails for names that are not names only
	return func() {
		if was {
			_ = os.Setenv(name, before)
		} else {
			_ = os.Unsetenv(name)
		}
	}
}

// begin notes what the start of a server took.
func (g *Growth) begin(s *server) error {
	pid := s.cmd.Process.Pid
	cpu, err := processorTime(s.pids())
	if err != nil {
		return err
	}
	g.Load, g.LoadCPU, g.Peak = s.loaded.Seconds(), cpu.Seconds(), memory(pid, "VmHWM")
	g.Settled, g.Rendered = settle(pid), int64(s.metrics("modeldex_row_bytes")[0])
	return nil
}

// settle waits until resident memory has not fallen for three seconds. A server returns the memory of its start
// to the system once it serves, a few pages at a time.
func settle(pid int) int64 {
	rss, quiet := memory(pid, "VmRSS"), 0
	for range 80 {
		time.Sleep(250 * time.Millisecond)
		now := memory(pid, "VmRSS")
		if quiet++; now < rss-rss/200 {
			quiet = 0
		}
		if rss = now; quiet == 12 {
			break
		}
	}
	return rss
}

// cacheCounts are hits and misses so far.
var cacheCounts = []string{"modeldex_cache_hits_total", "modeldex_cache_misses_total"}

// metrics reads metrics without labels; 0 for one that is missing.
func (s *server) metrics(names ...string) []float64 {
	values := make([]float64, len(names))
	text := output(s.cmd.Dir, "curl", "-s", "--unix-socket", "modeldex.db.sock", "http://admin/metrics")
	for line := range strings.Lines(text) {
		for i, name := range names {
			if rest, ok := strings.CutPrefix(line, name+" "); ok {
				values[i], _ = strconv.ParseFloat(strings.TrimSpace(rest), 64)
			}
		}
	}
	return values
}

// swap takes away one benchmark, gives the dataset another version and waits for it.
func (s *server) swap(data string, g *Growth) error {
	version, restore, err := changeData(data)
	defer restore()
	if err != nil {
		return err
	}
	pid := s.cmd.Process.Pid
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil { // forget the most so far
		return err
	}
	began := time.Now()
	if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		return err
	}
	for time.Since(began) < 2*time.Minute {
		resp, err := s.get("/api/v1/tools?limit=1")
		if err != nil {
			return err
		}
		if resp.header.Get("Dataset-Version") == version {
			g.Swap, g.Swapped = time.Since(began).Seconds(), memory(pid, "VmHWM")
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("the server has not taken the new version within two minutes: %s", tail(s.output.String()))
}

// changeData takes the last line off the last file of benchmarks and changes the version.
func changeData(data string) (version string, restore func(), err error) {
	var undo []func()
	restore = func() {
		for _, f := range undo {
			f()
		}
	}
	change := func(name string, to func(b []byte) []byte) error {
		old, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		undo = append(undo, func() { _ = os.WriteFile(name, old, 0o644) })
		return os.WriteFile(name, to(bytes.Clone(old)), 0o644)
	}
	shards, err := filepath.Glob(filepath.Join(data, "benchmarks", "*.ndjson"))
	if err != nil || len(shards) == 0 {
		return "", restore, fmt.Errorf("%s: has no benchmarks: %w", data, err)
	}
	err = change(shards[len(shards)-1], func(b []byte) []byte {
		return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1]
	})
	if err != nil {
		return "", restore, err
	}
	return version, restore, change(filepath.Join(data, "dataset.json"), func(b []byte) []byte {
		old := fileVersion(b)
		version = old + "0"
		return bytes.Replace(b, []byte(old), []byte(version), 1)
	})
}

// fileVersion is the version in the text of a dataset.json.
func fileVersion(b []byte) string {
	_, rest, _ := strings.Cut(string(b), `"version": "`)
	version, _, _ := strings.Cut(rest, `"`)
	return version
}

// made gives a made-up dataset of a size, which is kept for the next run. It is made anew when the generator or the
// dataset it takes names from has changed.
func made(cache, source string, rows int, lean bool) (string, error) {
	dir := filepath.Join(cache, fmt.Sprintf("rows-%d", rows))
	if lean {
		dir += "-lean"
	}
	of, err := madeOf(source)
	if err != nil {
		return "", err
	}
	complete := filepath.Join(dir, "complete")
	if was, err := os.ReadFile(complete); err == nil && string(was) == of {
		return filepath.Join(dir, "data"), nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if _, err := generate.Write(filepath.Join(dir, "data"), os.DirFS(source), generate.Options{Rows: rows, Seed: 1, Lean: lean}); err != nil {
		return "", err
	}
	return filepath.Join(dir, "data"), os.WriteFile(complete, []byte(of), 0o644)
}

// madeOf names what a made-up dataset follows from: the version of its source, and a hash of the generator.
func madeOf(source string) (string, error) {
	about, err := os.ReadFile(filepath.Join(source, "dataset.json"))
	if err != nil {
		return "", err
	}
	files, err := filepath.Glob("bench/generate/*.go")
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", errors.New("run it in the folder of the repository: bench/generate has no source here")
	}
	hash := sha256.New()
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		hash.Write(b)
	}
	return fmt.Sprintf("%s %x\n", fileVersion(about), hash.Sum(nil)), nil
}

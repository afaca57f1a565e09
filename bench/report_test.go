//go:build linux

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() *Report {
	return &Report{
		Machine: Machine{CPU: "a <processor>", Commit: "abc", Go: "go1"}, Nginx: "nginx/1", Rounds: 3, Round: 1, Conns: 32,
		Skipped: map[string]string{"pocketbase": "it cannot be built"},
		Cases: []*Case{{Data: "shipped", Rows: 10, Name: "first-page", Title: "first page", Rates: []*Rates{
			{Target: ours, Bytes: 1000, PerSec: []float64{90, 100, 95}, CPU: []float64{30, 31, 32}, P99: []float64{1000, 2000, 3000}},
			{Target: "nginx", PerSec: []float64{100, 100, 100}, CPU: []float64{20, 21, 25}, Ratios: []float64{0.9, 1, 0.95}},
		}}},
		Open: []*Open{{Target: ours, Share: 0.5, Rate: 50, P50: []float64{100}, P99: []float64{200}, P999: []float64{300}}},
		Growth: []*Growth{
			{Data: "1e4", Rows: 10_000, CPU: map[string]float64{"first page": 50}, Load: 1, Settled: 20 << 20},
			{Data: "1e5", Rows: 100_000, CPU: map[string]float64{"first page": 60}, Load: 2, Settled: 200 << 20},
		},
		Lean: []*Growth{{Data: "1e6", Rows: 1_000_000, Load: 3, LoadCPU: 5, Settled: 450 << 20, Rendered: 300 << 20}},
	}
}

func TestTables(t *testing.T) {
	got := sample().tables()
	for _, want := range []string{
		"Not measured: pocketbase: it cannot be built.",
		"| first page | 1000 | 95 | 2.00 | 31.0 | 0.95 (0.90-1.00) | - | 21.0 |",
		"| 50 | 50% | 0.10 / 0.20 / 0.30 | - | - |",
		"| first page | 50.0 | 60.0 |",
		"| bytes per benchmark | 2097 | 2097 |",
		"| start to serving (processor) | 3.00 s (5.00 s) |",
		"| resident after the start (of those) | 450 MB (1.50) |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("tables lack %q:\n%s", want, got)
		}
	}
}

// TestPlots: what is drawn is well-formed, with a mark for every figure.
func TestPlots(t *testing.T) {
	for name, text := range map[string]string{"ratios": sample().ratioPlot(), "growth": sample().growthPlot(), "nothing": (&Report{}).growthPlot()} {
		marks := 0
		for dec := xml.NewDecoder(strings.NewReader(text)); ; {
			tok, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if start, ok := tok.(xml.StartElement); ok && (start.Name.Local == "circle" || start.Name.Local == "path") {
				marks++
			}
		}
		if want := map[string]int{"ratios": 6, "growth": 2, "nothing": 0}[name]; marks != want {
			t.Errorf("%s: %d marks, want %d", name, marks, want)
		}
	}
}

// TestRedraw: what is kept says all that is shown.
func TestRedraw(t *testing.T) {
	dir := t.TempDir()
	if err := sample().write(dir); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"speed.json": "", "speed.md": "", "speed.svg": "", "growth.svg": ""}
	before := readAll(t, dir, names)
	if err := (&redrawCmd{Out: dir}).Run(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, readAll(t, dir, names)); diff != "" {
		t.Errorf("redrawn (-want +got):\n%s", diff)
	}
}

func TestDoubleDashes(t *testing.T) {
	got := doubleDashes([]string{"start", "-data", "x", "--rows", "-5", "-h"})
	if diff := cmp.Diff([]string{"start", "--data", "x", "--rows", "-5", "-h"}, got); diff != "" {
		t.Errorf("doubleDashes (-want +got):\n%s", diff)
	}
}

// TestFiltered: rivals are asked the same two filters, and the same threshold for the same n.
func TestFiltered(t *testing.T) {
	q := question{filter: true}
	cold := question{filter: true, paths: below(twoFilters)}
	if got, want := string(cold.paths(nil, 7)), twoFilters+"&min_tps=0.00100000007"; got != want {
		t.Errorf("ours = %q, want %q", got, want)
	}
	for name, of := range map[string]func(q question) (string, func([]byte, int) []byte, bool){"sqlite": sqlitePath, "pocketbase": pocketbasePath, "json-server": jsonServerPath} {
		plain, paths, ok := of(q)
		if !ok || paths != nil || !strings.Contains(plain, "cuda") || !strings.Contains(plain, "Q4_K_M") {
			t.Errorf("%s: path %q, %v", name, plain, ok)
		}
		if _, paths, ok = of(cold); !ok || !strings.HasSuffix(string(paths(nil, 7)), "=0.00100000007") {
			t.Errorf("%s: cold path %q", name, paths(nil, 7))
		}
		if _, _, ok = of(question{}); ok {
			t.Errorf("%s takes a question it has no answer to", name)
		}
	}
}

// TestChangeData: a swap changes two files, and all is as before when it is over.
func TestChangeData(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"dataset.json": "{\n  \"version\": \"1.2\"\n}\n", "benchmarks/1.ndjson": "a\n", "benchmarks/2.ndjson": "b\nc\n",
	}
	if err := os.Mkdir(filepath.Join(dir, "benchmarks"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	version, restore, err := changeData(dir)
	if err != nil || version != "1.20" {
		t.Fatalf("changeData = %q, %v", version, err)
	}
	changed := map[string]string{"dataset.json": "{\n  \"version\": \"1.20\"\n}\n", "benchmarks/1.ndjson": "a\n", "benchmarks/2.ndjson": "b\n"}
	if diff := cmp.Diff(changed, readAll(t, dir, files)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	if restore(); !cmp.Equal(files, readAll(t, dir, files)) {
		t.Errorf("restored: %v", readAll(t, dir, files))
	}
}

func readAll(t *testing.T, dir string, names map[string]string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name := range names {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(b)
	}
	return out
}

func TestMedian(t *testing.T) {
	for _, tt := range []struct {
		v    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 2, 3}, 2.5}} {
		kept := slices.Clone(tt.v)
		if got := median(tt.v); got != tt.want || !slices.Equal(kept, tt.v) {
			t.Errorf("median(%v) = %v, want %v; left %v", kept, got, tt.want, tt.v)
		}
	}
}

func TestProcessorTime(t *testing.T) {
	if _, err := processorTime([]int{os.Getpid()}); err != nil {
		t.Errorf("processorTime of this process: %v", err)
	}
	if _, err := processorTime([]int{1 << 30}); err == nil {
		t.Error("processorTime of a process that does not exist = nil, want an error")
	}
}

// TestMemory: a running process has resident memory; an unknown figure is 0.
func TestMemory(t *testing.T) {
	if got := memory(os.Getpid(), "VmRSS"); got < 1<<20 {
		t.Errorf("memory(VmRSS) = %d, want at least 1 MiB", got)
	}
	if got := memory(os.Getpid(), "VmNone"); got != 0 {
		t.Errorf("memory(VmNone) = %d, want 0", got)
	}
}

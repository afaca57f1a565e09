//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"modeldex/dataset/datasettest"
)

// TestStopDuringReload: the real program, told to stop at different moments of a reload of changed files, ends
// with little more work and does not publish what it was loading. Work is measured in processor time, and against
// what the start took, so that a busy machine changes nothing; a signal that came too late is not judged.
func TestStopDuringReload(t *testing.T) {
	const published = `"generation":2,`
	rows := datasettest.Rounds(10_000, 20_000)
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	program, err := datasettest.Program("..", dir)
	must(err)
	one, other := writeRows(t, rows, 0), writeRows(t, rows, rows)
	link := filepath.Join(dir, "data")
	shares := []float64{0.4} // of what a start uses, which a reload uses too: when the signal comes
	if datasettest.Long() {
		shares = []float64{0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4}
	}
	for _, share := range shares {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			turn := func(to string) {
				must(os.Symlink(to, link+".new"))
				must(os.Rename(link+".new", link))
			}
			turn(one)
			s, err := startServer(program, dir, link)
			must(err)
			t.Cleanup(s.stop)
			used := func() time.Duration {
				t.Helper()
				n, err := s.processorTime()
				must(err)
				return n
			}
			start := used()
			turn(other) // every benchmark differs
			for used() < start+time.Duration(share*float64(start)) && !strings.Contains(s.printed(), published) {
				time.Sleep(time.Millisecond)
			}
			must(s.cmd.Process.Signal(syscall.SIGTERM))
			before := used()
			if before > start+start/2 {
				t.Skip("this test was not given the processor in time: the reload may have been over before the signal")
			}
			<-s.ended
			after := s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime() - before
			t.Logf("the start used %v, the stop %v", start, after)
			if after > start/3 {
				t.Errorf("after the signal the program used %v of processor, the start %v", after, start)
			}
			if strings.Contains(s.printed(), published) {
				t.Error("a load that the signal met was published")
			}
			if !strings.Contains(s.printed(), `"msg":"stopped"`) || strings.Contains(s.printed(), "dataset rejected") {
				t.Errorf("the program did not stop in order: %s", s.printed())
			}
		})
	}
}

var length = regexp.MustCompile(`"n_gen": ?\w+,`)

// writeRows writes a dataset with n benchmarks that repeat those of a sample under ids from first on.
func writeRows(t *testing.T, n, first int) string {
	t.Helper()
	files, dir := datasettest.Sample(t), t.TempDir()
	var lines []string
	for name, file := range files {
		if strings.HasPrefix(name, "benchmarks/2025") {
			lines = strings.Split(strings.TrimSpace(string(file.Data)), "\n")
		}
		// The recorded changes know of other benchmarks.
		if strings.HasPrefix(name, "benchmarks/") || strings.HasPrefix(name, "changes/") {
			delete(files, name)
		}
	}
	var out strings.Builder
	for i := range n {
		_, rest, _ := strings.Cut(lines[i%len(lines)], ",") // the id is the first member
		// Equal measurements are a finding.
		rest = length.ReplaceAllString(rest, fmt.Sprintf(`"n_gen": %d,`, 1+i))
		fmt.Fprintf(&out, "{\"id\": \"bm-%012x\",%s\n", first+i, rest)
	}
	files["benchmarks/0001.ndjson"] = &fstest.MapFile{Data: []byte(out.String())}
	datasettest.WriteFiles(t, dir, files)
	return dir
}

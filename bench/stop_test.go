//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"modeldex/bench/generate"
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
	source := os.DirFS("../data")
	if !datasettest.Long() {
		source = datasettest.Sample(t)
	}
	write := func(name string, seed uint64) string {
		to := filepath.Join(dir, name)
		_, err := generate.Write(to, source, generate.Options{Rows: rows, Seed: seed, Lean: true})
		must(err)
		return to
	}
	one, other := write("one", 1), write("other", 2)
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
			s, err := startServer(program, dir, link, 1)
			must(err)
			t.Cleanup(s.stop)
			used := func() time.Duration {
				t.Helper()
				n, err := processorTime([]int{s.cmd.Process.Pid})
				must(err)
				return n
			}
			start := used()
			turn(other) // every benchmark differs
			for used() < start+time.Duration(share*float64(start)) && !strings.Contains(s.output.String(), published) {
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
			if strings.Contains(s.output.String(), published) {
				t.Error("a load that the signal met was published")
			}
			if !strings.Contains(s.output.String(), `"msg":"stopped"`) || strings.Contains(s.output.String(), "dataset rejected") {
				t.Errorf("the program did not stop in order: %s", s.output.String())
			}
		})
	}
}

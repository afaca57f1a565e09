package httpapi

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkReload measures reads of the real program while it loads releases of 1,000 benchmarks: quiet,
// while a release is loaded, and, as a control, quiet beside a process of the lowest priority that uses a
// whole core, as loading does.
//
//	go test ./httpapi -run '^$' -bench BenchmarkReload -benchtime 1x
func BenchmarkReload(b *testing.B) {
	const releases, rows = 5, 1_000
	for range b.N {
		work, data := b.TempDir(), newGrowingOf(b, "../data")
		env, secret := bulkKey(b, work)
		p := launch(b, work, env, "serve", "--addr", "127.0.0.1:0", "--data", data.dir, "--dumps", "off")
		if err := p.awaitServing(); err != nil {
			b.Fatal(err)
		}
		never := func() bool { return false }
		readFor(b, p.addr, secret, never, time.Second)
		var quiet, loading, control []time.Duration
		var took, used time.Duration
		for n := range releases {
			quiet = append(quiet, readFor(b, p.addr, secret, never, 2*time.Second)...)
			began, before := time.Now(), processorTime(b, p.cmd.Process.Pid)
			data.add(b, rows)
			loading = append(loading, readFor(b, p.addr, secret, func() bool { return strings.Count(p.stderr.String(), "dataset loaded") > n+1 }, time.Minute)...)
			took, used = took+time.Since(began), used+processorTime(b, p.cmd.Process.Pid)-before
			burner := launchBeside(b, "burn 1")
			control = append(control, readFor(b, p.addr, secret, never, 2*time.Second)...)
			burner.end()
		}
		for name, reads := range map[string][]time.Duration{"quiet": quiet, "loading": loading, "control": control} {
			slices.Sort(reads)
			b.ReportMetric(p99(reads), name+"-p99-µs")
			b.ReportMetric(float64(reads[len(reads)/2].Microseconds()), name+"-p50-µs")
			b.ReportMetric(float64(reads[len(reads)-1].Microseconds()), name+"-max-µs")
		}
		b.ReportMetric(took.Seconds()/releases, "s/release")
		b.ReportMetric(used.Seconds()/releases, "processor-s/release")
		if _, err := p.stop(); err != nil {
			b.Fatal(err)
		}
	}
}

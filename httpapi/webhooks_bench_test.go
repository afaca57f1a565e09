package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"modeldex/quota"
)

// BenchmarkWebhooks measures reads of the real program: quiet; while it loads a release of 1,000
// benchmarks that no webhook asks for; while it loads such a release and queues the messages for 10,000
// webhooks; while it delivers them on loopback; and, as a control, quiet again beside a process that
// uses as much processor time as the receiver did. The receiver is a process of the lowest priority. The memory is that before and after.
//
//	go test ./httpapi -run '^$' -bench BenchmarkWebhooks -benchtime 1x -timeout 20m
func BenchmarkWebhooks(b *testing.B) {
	const hooks, rows = 10_000, 1_000
	for range b.N {
		work, data := b.TempDir(), newGrowingOf(b, "../data")
		receiver := launchBeside(b, "receive")
		env, secret := bulkKey(b, work)
		serve := []string{"serve", "--addr", "127.0.0.1:0", "--data", data.dir, "--webhooks-to-loopback", "--dumps", "off"}
		p := launch(b, work, env, serve...)
		if err := p.awaitServing(); err != nil {
			b.Fatal(err)
		}
		never := func() bool { return false }
		readFor(b, p.addr, secret, never, time.Second)
		data.add(b, rows)
		alone := readFor(b, p.addr, secret, func() bool { return strings.Count(p.stderr.String(), "dataset loaded") > 1 }, time.Minute)
		addWebhook(b, p.addr, secret, receiver.url)
		if _, err := p.stop(); err != nil {
			b.Fatal(err)
		}
		addHooks(b, filepath.Join(work, "modeldex.db"), receiver.url, hooks-1)
		p = launch(b, work, env, serve...)
		if err := p.awaitServing(); err != nil {
			b.Fatal(err)
		}
		readFor(b, p.addr, secret, never, time.Second)
		before := resident(b, p)
		idle := processorTime(b, p.cmd.Process.Pid)
		quiet := readFor(b, p.addr, secret, never, 10*time.Second)
		idle = processorTime(b, p.cmd.Process.Pid) - idle
		began, received, served := time.Now(), processorTime(b, receiver.pid), processorTime(b, p.cmd.Process.Pid)
		data.add(b, rows)
		announcing := readFor(b, p.addr, secret, func() bool { return strings.Contains(p.stderr.String(), "release announced to webhooks") }, 5*time.Minute)
		announced := time.Now()
		busy := readFor(b, p.addr, secret, receiver.has(hooks), 5*time.Minute)
		took := time.Since(announced)
		received, served = processorTime(b, receiver.pid)-received, processorTime(b, p.cmd.Process.Pid)-served
		if !receiver.has(hooks)() {
			b.Errorf("fewer than %d messages came\n%s", hooks, p.stderr)
		}
		after := resident(b, p)
		burner := launchBeside(b, fmt.Sprintf("burn %f", received.Seconds()/took.Seconds()))
		control := readFor(b, p.addr, secret, never, 10*time.Second)
		burner.end()
		b.ReportMetric(p99(quiet), "quiet-p99-µs")
		b.ReportMetric(p99(alone), "release-p99-µs")
		b.ReportMetric(p99(control), "control-p99-µs")
		b.ReportMetric(p99(announcing), "announcing-p99-µs")
		b.ReportMetric(announced.Sub(began).Seconds(), "announcing-s")
		b.ReportMetric(p99(busy), "delivering-p99-µs")
		b.ReportMetric(p99(slices.Sorted(slices.Values(slices.Concat(announcing, busy)))), "busy-p99-µs")
		b.ReportMetric(float64(busy[len(busy)-1].Microseconds()), "delivering-max-µs")
		b.ReportMetric(float64(len(quiet))/10, "quiet-reads/s")
		b.ReportMetric(float64(len(busy))/took.Seconds(), "delivering-reads/s")
		b.ReportMetric(hooks/took.Seconds(), "messages/s")
		b.ReportMetric(100*received.Seconds()/took.Seconds(), "receiver-%")
		b.ReportMetric(100*served.Seconds()/took.Seconds(), "server-%")
		b.ReportMetric(10*idle.Seconds(), "server-quiet-%")
		b.ReportMetric(before, "before-MiB")
		b.ReportMetric(after, "peak-MiB")
		if _, err := p.stop(); err != nil {
			b.Fatal(err)
		}
		receiver.end()
	}
}

// besideEnv has the test program be a process beside the one being measured: "receive" takes messages,
// "burn F" uses the share F of one processor.
const besideEnv = "MODELDEX_TEST_BESIDE"

// beside is such a process.
type beside struct {
	pid int
	url string // of a receiver
	end func()
}

// launchBeside starts one with the lowest priority.
func launchBeside(b *testing.B, role string) *beside {
	b.Helper()
	cmd := exec.Command("nice", "-n", "19", os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), besideEnv+"="+role), os.Stderr
	in, err := cmd.StdinPipe() // its end is the end of the process
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Skip("no process of a low priority: ", err)
	}
	p := &beside{pid: cmd.Process.Pid, end: sync.OnceFunc(func() { in.Close(); _ = cmd.Wait() })}
	b.Cleanup(p.end)
	if p.url, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	p.url = strings.TrimSpace(p.url)
	return p
}

// has says whether n messages have come. It is asked often and looks ten times a second.
func (p *beside) has(n int) func() bool {
	var last atomic.Int64
	var reached atomic.Bool
	return func() bool {
		now, before := time.Now().UnixNano(), last.Load()
		if now-before < int64(100*time.Millisecond) || !last.CompareAndSwap(before, now) {
			return reached.Load()
		}
		resp, err := http.Get(p.url)
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		if got, err := strconv.Atoi(string(text)); err == nil && got >= n {
			reached.Store(true)
		}
		return reached.Load()
	}
}

// runBeside is the program of such a process, until its standard input ends.
func runBeside(role string) int {
	if share, ok := strings.CutPrefix(role, "burn "); ok {
		f, err := strconv.ParseFloat(share, 64)
		if err != nil {
			return 1
		}
		fmt.Println()
		go func() {
			const slice = 10 * time.Millisecond
			for {
				began := time.Now()
				for time.Since(began) < time.Duration(f*float64(slice)) {
				}
				time.Sleep(slice - time.Since(began))
			}
		}()
	} else {
		var messages atomic.Int64
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				fmt.Fprint(w, messages.Load())
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			messages.Add(1)
		}))
		defer receiver.Close()
		fmt.Println(receiver.URL)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// processorTime is what a process has used.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Skip("this system does not say how much processor time a process has used: ", runtime.GOOS)
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest) // from the third of proc(5) on
	var ticks int64
	for _, f := range fields[11:13] { // utime and stime, in hundredths of a second
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// bulkKey issues a key whose limits are never reached, in the ledger of a directory, and returns the
// environment with its tier.
func bulkKey(b *testing.B, work string) (env []string, secret string) {
	b.Helper()
	tiers, err := filepath.Abs("testdata/tiers.json")
	if err != nil {
		b.Fatal(err)
	}
	env = []string{"MODELDEX_TIERS=" + tiers}
	secret, _, _ = runProgram(b, work, env, "keys", "issue", "--name", "n", "--email", "b@example.com", "--use-case", "u", "--tier", "bulk")
	return env, strings.TrimSpace(secret)
}

// addWebhook makes a webhook through the API.
func addWebhook(b *testing.B, addr, secret, url string) {
	b.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+addr+"/api/v1/webhooks", strings.NewReader(fmt.Sprintf(`{"url":%q}`, url)))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+secret)
	req.Header.Set("Content-Type", "application/json")
	resp, err := newTransport(b).RoundTrip(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusCreated {
		b.Fatalf("creating a webhook: %s", body)
	}
}

// addHooks puts webhooks of other keys into a ledger that no server uses, with 100 different
// filters.
func addHooks(b *testing.B, path, url string, n int) {
	b.Helper()
	l, err := quota.Open(path, quota.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	ctx := context.Background()
	const perKey = 20
	for i := range n {
		id := quota.ID(1<<50 + i/perKey)
		if i%perKey == 0 {
			r := quota.Record{ID: id, Rev: 1, Status: quota.StatusActive, Tier: "bulk", Digest: quota.Digest{1, byte(i), byte(i >> 8), byte(i >> 16)}}
			if err := l.Create(ctx, r, quota.Person{Name: "n"}, 0); err != nil {
				b.Fatal(err)
			}
		}
		h := quota.Hook{
			Key: quota.HookKey{Account: id, Hook: quota.HookID(i + 1)}, Rev: 1, URL: url, Events: []string{"benchmark.created"},
			Filters: fmt.Sprintf("min_tps=0.%03d", i%100), MaxRecords: 100, Secrets: []quota.HookSecret{{Secret: []byte("0123456789abcdef0123456789abcdef")}},
			State: quota.HookActive, Next: 1,
		}
		if err := l.CreateHook(ctx, h, perKey); err != nil {
			b.Fatal(err)
		}
	}
}

// readFor reads lists over four connections until done holds or the time is up, and returns how long
// each read took, sorted.
func readFor(b *testing.B, addr, secret string, done func() bool, most time.Duration) []time.Duration {
	b.Helper()
	transport := newTransport(b)
	end := time.Now().Add(most)
	parts := make([][]time.Duration, 4)
	var readers sync.WaitGroup
	for i := range parts {
		readers.Go(func() {
			for n := 0; !done() && time.Now().Before(end); n++ {
				req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://%s/api/v1/benchmarks?limit=20&min_tps=%d", addr, n%50), http.NoBody)
				if err != nil {
					b.Error(err)
					return
				}
				req.Header.Set("Authorization", "Bearer "+secret)
				began := time.Now()
				resp, err := transport.RoundTrip(req)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					b.Errorf("status %d", resp.StatusCode)
					return
				}
				parts[i] = append(parts[i], time.Since(began))
				time.Sleep(time.Millisecond) // 1 ms between reads: the readers are not to fill the processors
			}
		})
	}
	readers.Wait()
	all := slices.Concat(parts...)
	if len(all) == 0 {
		b.Fatal("nothing was read")
	}
	slices.Sort(all)
	return all
}

// p99 is in microseconds.
func p99(sorted []time.Duration) float64 {
	return float64(sorted[len(sorted)*99/100].Microseconds())
}

// resident is the most memory the program has had, in MiB.
func resident(b *testing.B, p *process) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		b.Skip("this system does not say how much memory a process has: ", runtime.GOOS)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	if err != nil {
		b.Fatal(err)
	}
	return kib / 1024
}

package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
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

// BenchmarkWebhooks measures reads of the real program in three times: quiet, while it loads a release
// of 1,000 benchmarks that no webhook asks for, and while it announces such a release to 10,000 webhooks
// on loopback; and its memory before and after.
//
//	go test ./httpapi -run '^$' -bench BenchmarkWebhooks -benchtime 1x
func BenchmarkWebhooks(b *testing.B) {
	const hooks, rows = 10_000, 1_000
	for range b.N {
		work, data := b.TempDir(), newGrowingOf(b, "../data")
		var messages atomic.Int64
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			messages.Add(1)
		}))
		tiers, err := filepath.Abs("testdata/tiers.json")
		if err != nil {
			b.Fatal(err)
		}
		env := []string{"MODELDEX_TIERS=" + tiers}
		secret, _, _ := runProgram(b, work, env, "keys", "issue", "--name", "n", "--email", "b@example.com", "--use-case", "u", "--tier", "bulk")
		secret = strings.TrimSpace(secret)
		serve := []string{"serve", "--addr", "127.0.0.1:0", "--data", data.dir, "--webhooks-to-loopback"}
		p := launch(b, work, env, serve...)
		if err := p.awaitServing(); err != nil {
			b.Fatal(err)
		}
		data.add(b, rows)
		alone := readFor(b, p.addr, secret, func() bool { return false }, 20*time.Second)
		addWebhook(b, p.addr, secret, receiver.URL)
		if _, err := p.stop(); err != nil {
			b.Fatal(err)
		}
		addHooks(b, filepath.Join(work, "modeldex.db"), receiver.URL, hooks-1)
		p = launch(b, work, env, serve...)
		if err := p.awaitServing(); err != nil {
			b.Fatal(err)
		}
		readFor(b, p.addr, secret, func() bool { return false }, time.Second)
		before := resident(b, p)
		quiet := readFor(b, p.addr, secret, func() bool { return false }, 5*time.Second)
		began := time.Now()
		data.add(b, rows)
		busy := readFor(b, p.addr, secret, func() bool { return messages.Load() >= hooks }, 5*time.Minute)
		took := time.Since(began)
		if got := messages.Load(); got != hooks {
			b.Errorf("%d messages came, want %d\n%s", got, hooks, p.stderr)
		}
		after := resident(b, p)
		b.ReportMetric(p99(quiet), "quiet-p99-µs")
		b.ReportMetric(p99(alone), "release-p99-µs")
		b.ReportMetric(p99(busy), "busy-p99-µs")
		b.ReportMetric(float64(busy[len(busy)-1].Microseconds()), "busy-max-µs")
		b.ReportMetric(float64(len(busy))/took.Seconds(), "busy-reads/s")
		b.ReportMetric(hooks/took.Seconds(), "messages/s")
		b.ReportMetric(before, "before-MiB")
		b.ReportMetric(after, "peak-MiB")
		if _, err := p.stop(); err != nil {
			b.Fatal(err)
		}
		receiver.Close()
	}
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

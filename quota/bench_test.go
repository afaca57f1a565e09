package quota

// What a call costs, how it scales over keys and cores, and what a stored key costs:
//
//	go test ./quota -run '^$' -bench . -benchmem -cpu 1,2
//	go test ./quota -run '^$' -bench 'Open/keys=1000000' -benchtime 1x

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fillLedger makes a ledger at path with n accounts, each with calls counted in month m, and
// returns the secret of the last one. It writes what Create would, in large transactions.
func fillLedger(tb testing.TB, path string, n int, m Month) (last Secret) {
	tb.Helper()
	l, err := Open(path, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	const perTx = 50_000
	for from := 0; from < n; from += perTx {
		err := l.UpdateRows(context.Background(), func(rows Rows) error {
			usage, err := rows.makeMonth(m)
			if err != nil {
				return err
			}
			for i := from; i < min(from+perTx, n); i++ {
				last = NewSecret("mdx")
				d, _ := ParseKey(last.Reveal(), "mdx")
				r := Record{
					ID: ID(1_700_000_000+i) << idSecond, Rev: 1, Status: StatusActive, Tier: FreeTier,
					Created: 1_700_000_000, Changed: 1_700_000_000, Hint: last.Hint(), Digest: d,
				}
				if err := rows.create(r, Person{Name: "A tester", Email: fmt.Sprintf("tester-%d@example.com", i), UseCase: "Testing"}); err != nil {
					return err
				}
				if err := usage.Put(r.ID.key(), []byte{7}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return last
}

func benchKeeper(tb testing.TB, cfg Config) *Keeper {
	tb.Helper()
	l, err := Open(filepath.Join(tb.TempDir(), "modeldex.db"), Options{})
	if err != nil {
		tb.Fatal(err)
	}
	k, err := NewKeeper(context.Background(), l, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := k.Close(context.Background()); err != nil {
			tb.Error(err)
		}
		l.Close()
	})
	return k
}

// benchSecrets issues n keys that are busy already: their leases are as long as leases get,
// and no burst or quota rejects them, so that what is measured is the admitted call.
func benchSecrets(tb testing.TB, k *Keeper, n int) []string {
	tb.Helper()
	wide := &plan{
		status: StatusActive, tier: FreeTier, limit: MaxLimit, burst: freeBurst,
		pace: pace{step: 1, depth: int64(time.Hour)}, // a nanosecond a call is never too fast
	}
	out := make([]string, n)
	var tasks sync.WaitGroup
	for i := range out {
		issued, refusal, err := k.Issue(context.Background(), IssueRequest{Name: "b", Email: "b@example.com", UseCase: "b"})
		if err != nil || refusal.Reason != 0 {
			tb.Fatalf("Issue() = %+v, %v", refusal, err)
		}
		out[i] = issued.Secret.Reveal()
		d, _ := ParseKey(out[i], "mdx")
		acc := k.directory.get(&d).acc
		acc.plan.Store(wide)
		tasks.Go(func() {
			if v := spendOne(k, out[i]); v != Admitted {
				tb.Errorf("Admit() = %v, want admitted", v)
				return
			}
			k.leases.commitMu.Lock()
			p := acc.period.Load()
			p.window, p.base, p.before = k.clock.instant().mono, 0, maxLease
			k.leases.commitMu.Unlock()
			k.leases.want(p)
		})
	}
	tasks.Wait()
	time.Sleep(200 * time.Millisecond) // a few commits
	return out
}

// spendOne is the whole path of a counted call: parse, authenticate, burst, hold, charge.
func spendOne(k *Keeper, secret string) Verdict {
	d, ok := ParseKey(secret, "mdx")
	if !ok {
		return UnknownKey
	}
	call := k.Admit(d)
	call.Charge()
	return call.Verdict
}

func BenchmarkParseKey(b *testing.B) {
	secret := NewSecret("mdx").Reveal()
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := ParseKey(secret, "mdx"); !ok {
			b.Fatal("ParseKey() = false")
		}
	}
}

// BenchmarkSpend is one hot key on one core. Calls rejected while a lease is written would be
// cheaper than admitted ones, so they are reported.
func BenchmarkSpend(b *testing.B) {
	k := benchKeeper(b, Config{LeaseWait: time.Minute})
	secret := benchSecrets(b, k, 1)[0]
	refused := 0
	b.ReportAllocs()
	for b.Loop() {
		if spendOne(k, secret) != Admitted {
			refused++
		}
	}
	b.ReportMetric(float64(refused)/float64(b.N), "refused/op")
}

// BenchmarkSpendKeys spends from distinct keys on all cores at once.
func BenchmarkSpendKeys(b *testing.B) {
	for _, n := range []int{1, 2, 64, 1024} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			k := benchKeeper(b, Config{LeaseWait: time.Minute})
			secrets := benchSecrets(b, k, n)
			var next, refused atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				at := int(next.Add(1)) * n / 2 // each goroutine begins with another key
				bad := int64(0)
				for i := at; pb.Next(); i++ {
					if n <= runtime.GOMAXPROCS(0) {
						i = at // and stays with it when there are enough
					}
					if spendOne(k, secrets[i%n]) != Admitted {
						bad++
					}
				}
				refused.Add(bad)
			})
			b.ReportMetric(float64(refused.Load())/float64(b.N), "refused/op")
		})
	}
}

func heapBytes() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkOpen opens a ledger of many keys and reports the memory each costs.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprintf("keys=%d", n), func(b *testing.B) {
			if n > 100_000 && testing.Short() {
				b.Skip("a million keys take half a minute to write")
			}
			path := filepath.Join(b.TempDir(), "modeldex.db")
			secret := fillLedger(b, path, n, MonthOf(time.Now()))
			b.ResetTimer()
			for range b.N {
				before := heapBytes()
				l, err := Open(path, Options{})
				if err != nil {
					b.Fatal(err)
				}
				k, err := NewKeeper(context.Background(), l, Config{})
				if err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				b.ReportMetric(float64(heapBytes()-before)/float64(n), "bytes/key")
				if v := spendOne(k, secret.Reveal()); v != Admitted {
					b.Fatalf("Admit() = %v, want admitted", v)
				}
				k.Close(context.Background())
				l.Close()
				b.StartTimer()
			}
		})
	}
}

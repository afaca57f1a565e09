package webhook

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"modeldex/dataset"
	"modeldex/quota"
	"modeldex/quota/hooks"
)

// silent listens and never answers. It returns the URL and counts the connections.
func silent(t *testing.T) (url string, connections func() int) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	came := make(chan net.Conn, 1000) // keeps them open
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			came <- c
		}
	}()
	t.Cleanup(func() { ln.Close() })
	return "http://" + ln.Addr().String() + "/", func() int { return len(came) }
}

// addAccount adds an account to the ledger.
func (k *kit) addAccount(id quota.ID) quota.ID {
	k.t.Helper()
	r := quota.Record{ID: id, Rev: 1, Status: quota.StatusActive, Tier: "pro", Digest: quota.Digest{byte(id)}}
	if err := k.ledger.Create(context.Background(), r, quota.Person{Name: "B"}, 0); err != nil {
		k.t.Fatal(err)
	}
	return id
}

// TestFairness: receivers of one account that do not answer, however many their ports, keep nobody else waiting.
func TestFairness(t *testing.T) {
	k, r := newKit(t), newReceiver(t)
	victim := k.create(r, "", Created)
	hog := k.addAccount(77)
	var counts []func() int
	for range MaxPerKey {
		url, connections := silent(t)
		if _, _, err := k.Create(context.Background(), hog, func(h *hooks.Hook) { h.URL = url }); err != nil {
			t.Fatal(err)
		}
		counts = append(counts, connections)
	}
	connected := func() (n int) {
		for _, c := range counts {
			n += c()
		}
		return n
	}
	k.publish([]dataset.Benchmark{bench(1, 1, "cuda")})
	k.await("the slow requests", func() bool { return connected() == perAccount })
	for n := range 5 {
		began := time.Now()
		k.test(victim)
		r.wait(n + 2) // and the release
		if took := time.Since(began); took > attemptTime/2 {
			t.Errorf("message %d took %s", n, took)
		}
	}
	if n := connected(); n > perAccount { // each has a host of its own
		t.Errorf("%d requests of one account are under way, want at most %d", n, perAccount)
	}
}

// TestTurns: no account has more than its share of the slots, and each that waits gets one.
func TestTurns(t *testing.T) {
	k := newKit(t)
	const accounts, each = 12, 20
	var mu sync.Mutex
	running, total, most := map[quota.ID]int{}, 0, 0
	var all sync.WaitGroup
	for i := range accounts * each {
		account := quota.ID(i % accounts)
		all.Go(func() {
			done, err := k.turn(t.Context(), account)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			running[account]++
			total++
			most = max(most, total)
			if running[account] > perAccount || total > atATime {
				t.Errorf("%d requests, %d of one account", total, running[account])
			}
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
			running[account]--
			total--
			mu.Unlock()
			done()
		})
	}
	all.Wait()
	if most <= perAccount {
		t.Errorf("at most %d requests at a time", most)
	}
	for range perAccount {
		done, err := k.turn(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
	}
	ended, end := context.WithTimeout(t.Context(), time.Millisecond)
	defer end()
	if _, err := k.turn(ended, 1); err == nil {
		t.Error("an account has a turn more than its share")
	}
}

// TestSlowNames: names that are resolved slowly for one account hold up no other, and one is resolved at a time.
func TestSlowNames(t *testing.T) {
	k := newKit(t)
	k.stop()
	asked := make(chan struct{}, 100)
	k.cfg.Guard.Resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	k.open()
	k.start()
	done := make(chan struct{}, 3)
	for range 3 {
		go func() {
			if err := k.CheckURL(k.owner, "https://slow.example.com/"); err == nil {
				t.Error("a name that cannot be resolved is accepted")
			}
			done <- struct{}{}
		}()
	}
	<-asked
	began := time.Now()
	if err := k.CheckURL(k.owner+1, "https://8.8.8.8/"); err != nil || time.Since(began) > resolveTime/2 {
		t.Errorf("beside slow names of another account: %v after %s", err, time.Since(began))
	}
	for range 3 {
		<-done
	}
}

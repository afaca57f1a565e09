package webhook

import (
	"context"
	"net"
	"testing"
	"time"

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
	total := 0
	var counts []func() int
	for range MaxPerKey {
		url, connections := silent(t)
		h, _, err := k.Create(context.Background(), hog, Draft{URL: &url})
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, connections)
		for range 3 {
			if _, err := k.Try(context.Background(), h.Key); err != nil {
				t.Fatal(err)
			}
		}
	}
	connected := func() (n int) {
		for _, c := range counts {
			n += c()
		}
		return n
	}
	k.await("a slow request", func() bool { return connected() > 0 })
	for range 5 {
		began := time.Now()
		if _, err := k.Try(context.Background(), victim); err != nil {
			t.Fatal(err)
		}
		total++
		r.wait(total)
		if took := time.Since(began); took > attemptTime/2 {
			t.Errorf("message %d took %s", total, took)
		}
	}
	if n := connected(); n > perHost { // all ports are those of one host
		t.Errorf("%d requests of one account are under way to one host, want at most %d", n, perHost)
	}
}

// TestSlots: of entries whose time has come one of the account with the fewest requests is next, and no account has
// more than its share.
func TestSlots(t *testing.T) {
	d := newSender(time.Now)
	for account := range quota.ID(3) {
		for i := range hooks.ID(20) {
			d.wake(hooks.Hook{Key: hooks.Key{Account: account + 1, Hook: i + 1}, URL: "https://" + string(rune('a'+i)) + ".example.com:8443/"})
		}
	}
	running := map[quota.ID]int{}
	for {
		e, _ := d.next()
		if e == nil {
			break
		}
		running[e.key.Account]++
		for a, n := range running {
			if n > running[e.key.Account] && a != e.key.Account && running[e.key.Account] < n-1 {
				t.Errorf("account %d has %d requests while another has %d", e.key.Account, running[e.key.Account], n)
			}
		}
	}
	for account := range quota.ID(3) {
		if n := running[account+1]; n != perAccount {
			t.Errorf("account %d has %d requests under way, want %d", account+1, n, perAccount)
		}
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
	<-asked // for the prefixes of translators
	done := make(chan struct{}, 3)
	for range 3 {
		go func() {
			if err := k.CheckURL(context.Background(), k.owner, "https://slow.example.com/"); err == nil {
				t.Error("a name that cannot be resolved is accepted")
			}
			done <- struct{}{}
		}()
	}
	<-asked
	began := time.Now()
	if err := k.CheckURL(context.Background(), k.owner+1, "https://8.8.8.8/"); err != nil || time.Since(began) > resolveTime/2 {
		t.Errorf("beside slow names of another account: %v after %s", err, time.Since(began))
	}
	for range 3 {
		<-done
	}
}

package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/etcd/etcdtest"
)

// A change whose response is lost with the connection is found to be made: a rotation does not leave its owner without a
// key, and no account is made that nobody has the key of.
func TestLostResponses(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.Start(t, 1)
	s := &server{t: t, link: etcdtest.NewLink(t, c.Endpoints[0]), prefix: fmt.Sprintf("modeldex-%d", prefixes.Add(1))}
	s.start()
	defer closeServer(t, s)
	ctx := context.Background()
	// broken breaks the connection for a moment, after some of the bytes that etcd answers an act with.
	broken := func(act func()) {
		s.link.CutAfter(1 + rand.Int64N(1500))
		heal := time.AfterFunc(50*time.Millisecond, func() { s.link.SetCut(false) })
		act()
		heal.Stop()
		s.link.SetCut(false)
	}
	issue := func(email string) (quota.IssuedKey, error) {
		issued, _, err := s.keeper.Issue(ctx, quota.IssueRequest{Name: "a", Email: email, UseCase: "a", Unlimited: true})
		return issued, err
	}
	key, err := issue("first@example.com")
	if err != nil {
		t.Fatal(err)
	}
	rounds := 12
	if etcdtest.Long() {
		rounds = 200
	}
	failed := 0
	for round := range rounds {
		old, v := digestOf(s, key), quota.Admitted
		broken(func() {
			next, verdict, e := s.keeper.Rotate(ctx, old, 0)
			if v, err = verdict, e; err == nil && v == quota.Admitted {
				key = next
			}
		})
		if err == nil && v != quota.Admitted {
			t.Fatalf("round %d: Rotate() = %v: the key is lost to its owner", round, v)
		}
		if err != nil {
			failed++
		}
		wantStored(t, s, key, round)

		email := fmt.Sprintf("a%d@example.com", round)
		var second quota.IssuedKey
		broken(func() { second, err = issue(email) })
		want := 1
		if err != nil {
			want = 0
			failed++
		} else {
			wantStored(t, s, second, round)
		}
		got := 0
		again(t, func() error {
			got = 0
			return s.store.Find(ctx, quota.Filter{Email: email}, func(quota.Record, quota.Person) bool { got++; return true })
		})
		if got != want {
			t.Errorf("round %d: %d accounts, want %d (%v)", round, got, want, err)
		}
	}
	t.Logf("%d of %d changes failed, and were not made", failed, 2*rounds)
}

// An etcd that is restored from a backup while a server uses it ends the server, before it acknowledges anything: it would not
// see the changes of others. Nothing needs to be counted for that.
func TestEtcdRestored(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.Start(t, 1)
	s := &server{t: t, link: etcdtest.NewLink(t, c.Endpoints[0]), prefix: "restored"}
	s.start()
	defer func() {
		_ = s.keeper.Close(context.Background()) // it has nothing to settle
		closeStore(t, s)
	}()
	ctx := context.Background()
	issue := func() (quota.ID, error) {
		issued, _, err := s.keeper.Issue(ctx, quota.IssueRequest{Name: "a", Email: "a@example.com", UseCase: "a", Unlimited: true})
		return issued.Account.ID, err
	}
	first, err := issue()
	if err != nil {
		t.Fatal(err)
	}
	c.Kill(0)
	restore := c.Save(0)
	c.Restart(0)
	c.Wait()
	again(t, func() error { _, err := issue(); return err })
	c.Kill(0)
	restore()
	c.Restart(0)
	c.Wait()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		_, err := s.keeper.SetStatus(ctx, first, quota.StatusSuspended)
		if errors.Is(err, quota.ErrRemoved) {
			break
		}
		if err == nil {
			t.Fatal("a change is acknowledged after the restore")
		}
		if time.Now().After(end) {
			t.Fatalf("Suspend() = %v, want %v", err, quota.ErrRemoved)
		}
	}
	select {
	case <-s.keeper.Lost():
	case <-time.After(patience):
		t.Error("Lost says nothing")
	}
}

func closeStore(t *testing.T, s *server) {
	if err := s.store.Close(); err != nil {
		t.Error(err)
	}
}

func digestOf(s *server, key quota.IssuedKey) quota.Digest {
	d, _ := quota.ParseKey(key.Secret.Reveal(), s.keeper.KeyPrefix())
	return d
}

// wantStored checks that the key that was handed out last is the one that is stored.
func wantStored(t *testing.T, s *server, key quota.IssuedKey, round int) {
	t.Helper()
	var r quota.Record
	again(t, func() (err error) {
		r, _, err = s.store.Get(context.Background(), key.Account.ID)
		return err
	})
	if r.Digest != digestOf(s, key) {
		t.Fatalf("round %d: another key than the one that was handed out is stored", round)
	}
}

// again does what may fail as long as a connection is made again.
func again(t *testing.T, act func() error) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		err := act()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

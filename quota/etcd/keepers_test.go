package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/etcd"
	"modeldex/quota/etcd/etcdtest"
)

// patience is how long a test waits for what must come; it bounds a failing test only.
const patience = 2 * time.Minute

// server is one process of a fleet: a keeper on its own connection to etcd.
type server struct {
	t      *testing.T
	link   *etcdtest.Link
	prefix string
	skew   time.Duration

	store  *etcd.Store
	keeper *quota.Keeper
	shown  map[quota.ID]uint64 // what was left the last time, in this life
}

func (s *server) start() {
	s.t.Helper()
	store, err := etcd.Open(context.Background(), etcd.Options{Endpoints: []string{s.link.Addr()}, Prefix: s.prefix, DialTimeout: 30 * time.Second})
	if err != nil {
		s.t.Fatal(err)
	}
	tiers, err := quota.NewTiers(quota.Tier{Name: quota.FreeTier, CallsPerMonth: 1000, Burst: quota.Burst{Rate: 1_000_000, PerSeconds: 1, Depth: 1_000_000}})
	if err != nil {
		s.t.Fatal(err)
	}
	keeper, err := quota.NewKeeper(context.Background(), store, quota.Config{
		Tiers: tiers, CommitEvery: 5 * time.Millisecond, LeaseWait: 100 * time.Millisecond, StoreTimeout: 2 * time.Second,
		Now: func() time.Time { return time.Now().Add(s.skew) },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.store, s.keeper, s.shown = store, keeper, map[quota.ID]uint64{}
}

// kill ends the process without giving anything back: its connection is cut before it can.
func (s *server) kill() {
	s.link.SetCut(true)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	go func(k *quota.Keeper, st *etcd.Store) { _ = k.Close(ctx); _ = st.Close() }(s.keeper, s.store)
	time.Sleep(10 * time.Millisecond) // the keeper is closed to calls at once
	<-ctx.Done()
}

// spend makes one call and checks what is left against the last answer.
func (s *server) spend(k *fleetKey) {
	call := s.keeper.Admit(k.digest)
	if call.Verdict != quota.Admitted {
		return
	}
	k.answered.Add(1)
	left := call.Charge().Remaining
	if last, ok := s.shown[k.id]; ok && left > last {
		s.t.Errorf("calls left rose from %d to %d on one server", last, left)
	}
	s.shown[k.id] = left
}

type fleetKey struct {
	digest   quota.Digest
	id       quota.ID
	limit    uint64
	answered atomic.Uint64
}

// TestFleet lets three servers answer calls of a few keys through thousands of steps while they are
// killed, cut off and restarted, with clocks half a minute apart. Counted from outside: never more
// calls answered than the quota; never fewer counted than answered; at the end at most one lease
// per kill too many.
func TestFleet(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.Start(t, 1)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	prefix := fmt.Sprintf("modeldex-%d", prefixes.Add(1))
	servers := make([]*server, 3)
	for i := range servers {
		servers[i] = &server{t: t, link: etcdtest.NewLink(t, c.Endpoints[0]), prefix: prefix, skew: time.Duration(i-1) * 30 * time.Second}
		servers[i].start()
	}
	keys := make([]*fleetKey, 4)
	for i := range keys {
		keys[i] = &fleetKey{limit: uint64(300 * (i + 1))}
		issued, refusal, err := servers[i%3].keeper.Issue(context.Background(), quota.IssueRequest{
			Name: "a", Email: fmt.Sprintf("a%d@example.com", i), UseCase: "a", Limit: keys[i].limit, Unlimited: true,
		})
		if err != nil || refusal.Reason != 0 {
			t.Fatalf("Issue() = %+v, %v", refusal, err)
		}
		keys[i].digest, _ = quota.ParseKey(issued.Secret.Reveal(), servers[0].keeper.KeyPrefix())
		keys[i].id = issued.Account.ID
	}
	steps, kills := 300, 0
	if n, err := strconv.Atoi(os.Getenv("MODELDEX_FLEET_STEPS")); err == nil {
		steps = n // the long form
	}
	for step := range steps {
		s := servers[rnd.IntN(len(servers))]
		switch n := rnd.IntN(1000); {
		case n < 8:
			kills++
			s.kill()
			s.link.SetCut(false)
			s.start()
		case n < 12:
			s.link.SetCut(!s.link.IsCut())
		case n < 20:
			for _, s := range servers {
				s.link.SetCut(false)
			}
		case n < 24:
			time.Sleep(time.Duration(rnd.IntN(40)) * time.Millisecond)
		default:
			s.spend(keys[rnd.IntN(len(keys))])
		}
		if step%500 == 0 {
			checkAnswered(t, keys)
		}
	}
	for _, s := range servers {
		s.link.SetCut(false)
	}
	for _, s := range servers {
		closeServer(t, s)
	}
	checkAnswered(t, keys)
	last, err := etcd.Open(context.Background(), etcd.Options{Endpoints: c.Endpoints, Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	defer last.Close()
	for i, k := range keys {
		months, err := last.Usage(context.Background(), k.id)
		if err != nil {
			t.Fatal(err)
		}
		var counted uint64
		for _, m := range months {
			counted += m.Calls
		}
		answered := k.answered.Load()
		lease := max(1, k.limit/100) + 1 // and the call that was being answered
		if counted < answered || counted > answered+uint64(kills)*lease {
			t.Errorf("seed %d: key %d: %d calls counted, %d answered, with %d kills of at most %d calls each", seed, i, counted, answered, kills, lease)
		}
	}
	t.Logf("%d kills", kills)
}

func checkAnswered(t *testing.T, keys []*fleetKey) {
	t.Helper()
	for i, k := range keys {
		if got := k.answered.Load(); got > k.limit {
			t.Fatalf("key %d: %d calls answered, the quota is %d", i, got, k.limit)
		}
	}
}

// closeServer stops a server cleanly, also when its connection is only just coming back.
func closeServer(t *testing.T, s *server) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if s.keeper.Ready(context.Background()) == nil {
			break
		}
	}
	if err := errors.Join(s.keeper.Close(context.Background()), s.store.Close()); err != nil {
		t.Errorf("closing a server: %v", err)
	}
}

// A change made on one server takes effect on the others. In the long form (MODELDEX_LONG_TESTS=1) a server whose connection
// is cut says so, goes on from its leases, and catches up by itself.
func TestChangesReachAllServers(t *testing.T) {
	t.Parallel() // it waits
	c := etcdtest.Start(t, 1)
	prefix := fmt.Sprintf("modeldex-%d", prefixes.Add(1))
	servers := make([]*server, 2)
	for i := range servers {
		servers[i] = &server{t: t, link: etcdtest.NewLink(t, c.Endpoints[0]), prefix: prefix}
		servers[i].start()
		defer closeServer(t, servers[i])
	}
	ctx := context.Background()
	issue := func(email string) (quota.Digest, quota.ID) {
		issued, _, err := servers[0].keeper.Issue(ctx, quota.IssueRequest{Name: "a", Email: email, UseCase: "a", Limit: 100_000, Unlimited: true})
		if err != nil {
			t.Fatal(err)
		}
		d, _ := quota.ParseKey(issued.Secret.Reveal(), servers[0].keeper.KeyPrefix())
		return d, issued.Account.ID
	}
	verdict := func(s *server, d quota.Digest) quota.Verdict { call := s.keeper.AdmitFree(d); return call.Verdict }
	wait := func(what string, done func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if done() {
				return
			}
		}
		t.Fatalf("%s passed without: %s", patience, what)
	}
	first, id := issue("a@example.com")
	wait("the new key on the other server", func() bool { return verdict(servers[1], first) == quota.Admitted })
	if _, err := servers[0].keeper.SetStatus(ctx, id, quota.StatusSuspended); err != nil {
		t.Fatal(err)
	}
	wait("the suspension on the other server", func() bool { return verdict(servers[1], first) == quota.Suspended })
	if _, err := servers[1].keeper.SetStatus(ctx, id, quota.StatusActive); err != nil {
		t.Fatal(err)
	}
	wait("the resumption on the first server", func() bool { return verdict(servers[0], first) == quota.Admitted })

	if !etcdtest.Long() {
		return // that a watch is broken is noticed after seconds of silence
	}
	for range 50 { // so that a lease is there
		call := servers[1].keeper.Admit(first)
		call.Charge()
	}
	servers[1].link.SetCut(true)
	if _, err := servers[0].keeper.SetStatus(ctx, id, quota.StatusRevoked); err != nil {
		t.Fatal(err)
	}
	wait("the broken watch in Ready and Stats", func() bool {
		return servers[1].keeper.Stats().Blind && servers[1].keeper.Ready(ctx) != nil
	})
	second, _ := issue("b@example.com")
	servers[1].link.SetCut(false)
	wait("the revocation after the cut", func() bool { return verdict(servers[1], first) == quota.Revoked })
	wait("the key issued during the cut", func() bool { return verdict(servers[1], second) == quota.Admitted })
	wait("Ready after the cut", func() bool { return servers[1].keeper.Ready(ctx) == nil })
}

// A server that could not reach etcd for longer connects again soon after etcd is back: the pause between two attempts
// does not grow with the length of the outage.
func TestReconnects(t *testing.T) {
	t.Parallel() // it waits
	if !etcdtest.Long() {
		t.Skip("half a minute without etcd; MODELDEX_LONG_TESTS=1 runs it")
	}
	c := etcdtest.Start(t, 1)
	s := &server{t: t, link: etcdtest.NewLink(t, c.Endpoints[0]), prefix: fmt.Sprintf("modeldex-%d", prefixes.Add(1))}
	s.start()
	defer closeServer(t, s)
	s.link.SetCut(true)
	time.Sleep(30 * time.Second)
	s.link.SetCut(false)
	healed := time.Now()
	for s.keeper.Ready(context.Background()) != nil {
		if time.Since(healed) > patience {
			t.Fatalf("not ready %s after etcd is back", patience)
		}
		time.Sleep(50 * time.Millisecond)
	}
	// Silence of the watch, a committer's pause of up to 5 s and an attempt to connect can come together.
	if took := time.Since(healed); took > 8*time.Second {
		t.Errorf("ready %s after etcd is back, want at most 8 s", took)
	}
}

package quota

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// sharedStore is a ledger in memory that several processes share, as a distributed one would:
// accounts are common, every node counts its own calls, and a change reaches the other nodes
// by watching. Accounts are kept by a real ledger; only the counts are the store's own.
type sharedStore struct {
	*Ledger

	mu       sync.Mutex
	own      map[nodeCount]uint64
	watchers map[int]chan Record
}

type nodeCount struct {
	node  int
	id    ID
	month Month
}

func newSharedStore(tb testing.TB) *sharedStore {
	return &sharedStore{
		Ledger:   openLedger(tb, filepath.Join(tb.TempDir(), "modeldex.db")),
		own:      map[nodeCount]uint64{},
		watchers: map[int]chan Record{},
	}
}

// total returns the calls of all nodes; the caller holds mu.
func (s *sharedStore) total(id ID, m Month) (sum uint64) {
	for k, v := range s.own {
		if k.id == id && k.month == m {
			sum += v
		}
	}
	return sum
}

func (s *sharedStore) counted(id ID, m Month) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.total(id, m)
}

// node is the store as one process has it. fail, when set, is asked before and after each
// write of counts whether it fails there.
type node struct {
	*sharedStore
	n    int
	fail func() error
}

func (s *sharedStore) node(n int) *node {
	s.watchers[n] = make(chan Record, 100)
	return &node{sharedStore: s, n: n, fail: func() error { return nil }}
}

func (s *node) Load(ctx context.Context, m Month, fn func(Record, uint64) error) error {
	return s.Ledger.Load(ctx, m, func(r Record, _ uint64) error { return fn(r, s.counted(r.ID, m)) })
}

func (s *node) Counts(_ context.Context, batch []Count) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, c := range batch {
		batch[i].Own = s.own[nodeCount{s.n, c.ID, c.Month}]
		batch[i].Total = s.total(c.ID, c.Month)
	}
	return nil
}

func (s *node) Reserve(_ context.Context, batch []Count) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fail(); err != nil {
		return err
	}
	for i, c := range batch {
		at := nodeCount{s.n, c.ID, c.Month}
		others := s.total(c.ID, c.Month) - s.own[at]
		room := max(s.own[at], c.Limit-min(others, c.Limit))
		s.own[at] = min(c.Own, room)
		batch[i].Own, batch[i].Total = s.own[at], others+s.own[at]
	}
	return s.fail()
}

func (s *node) Update(ctx context.Context, id ID, fn func(*Record, *Person) error) (Record, error) {
	r, err := s.Ledger.Update(ctx, id, fn)
	s.tell(r, err)
	return r, err
}

func (s *node) Create(ctx context.Context, r Record, p Person, perEmail int) error {
	err := s.Ledger.Create(ctx, r, p, perEmail)
	s.tell(r, err)
	return err
}

func (s *node) tell(r Record, err error) {
	if err != nil {
		return
	}
	for _, w := range s.watchers {
		w <- r
	}
}

func (s *node) Watch(ctx context.Context, fn func(Record)) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case r := <-s.watchers[s.n]:
			fn(r)
		}
	}
}

func keeperOn(tb testing.TB, s Store, cfg Config) *Keeper {
	tb.Helper()
	k, err := NewKeeper(context.Background(), s, cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

func issueOn(tb testing.TB, k *Keeper, limit uint64) (Digest, ID) {
	tb.Helper()
	issued, refusal, err := k.Issue(context.Background(), IssueRequest{Name: "a", Email: "a@example.com", UseCase: "a", Limit: limit})
	if err != nil || refusal.Reason != 0 {
		tb.Fatalf("Issue() = %+v, %v", refusal, err)
	}
	d, _ := ParseKey(issued.Secret.Reveal(), k.KeyPrefix())
	return d, issued.Account.ID
}

func quickTiers(tb testing.TB) Tiers {
	tb.Helper()
	ts, err := NewTiers(Tier{Name: FreeTier, CallsPerMonth: 1_000, Burst: Burst{Rate: maxBurst, PerSeconds: 1, Depth: maxBurst}})
	if err != nil {
		tb.Fatal(err)
	}
	return ts
}

// Two processes share one ledger: what one issues, rotates or revokes the other obeys, and
// together they spend one quota exactly.
func TestTwoKeepers(t *testing.T) {
	ctx := context.Background()
	store := newSharedStore(t)
	cfg := Config{Tiers: quickTiers(t), CommitEvery: time.Millisecond}
	first, second := store.node(1), store.node(2)
	one, two := keeperOn(t, first, cfg), keeperOn(t, second, cfg)
	digest, id := issueOn(t, one, 5_000)
	waitFor(t, func() bool { c := two.AdmitFree(digest); return c.Verdict == Admitted })

	var charged [2]uint64
	var tasks sync.WaitGroup
	for i, k := range []*Keeper{one, two} {
		tasks.Go(func() {
			for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
				call := k.Admit(digest)
				switch {
				case call.Verdict == Admitted:
					call.Charge()
					charged[i]++
				case call.Verdict == QuotaExhausted:
					// The other one may still give back what it has leased.
					if store.counted(id, k.clock.cal.Load().month) == 5_000 && call.charged >= 5_000 {
						return
					}
				}
			}
		})
	}
	tasks.Wait()
	if sum := charged[0] + charged[1]; sum > 5_000 || sum < 4_800 || charged[0] == 0 || charged[1] == 0 {
		t.Errorf("charged %v, want about 5000 together and never more", charged)
	}

	issued, _, err := two.Rotate(ctx, digest, 0)
	if err != nil {
		t.Fatal(err)
	}
	fresh, _ := ParseKey(issued.Secret.Reveal(), two.KeyPrefix())
	waitFor(t, func() bool {
		old, now := one.AdmitFree(digest), one.AdmitFree(fresh)
		return old.Verdict == Rotated && now.Verdict == Admitted
	})
	if _, err := one.SetStatus(ctx, id, StatusRevoked); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { c := two.AdmitFree(fresh); return c.Verdict == Revoked })
	if err := errors.Join(one.Close(ctx), two.Close(ctx)); err != nil {
		t.Fatal(err)
	}
	if got, want := store.counted(id, one.clock.cal.Load().month), charged[0]+charged[1]; got != want {
		t.Errorf("the ledger counts %d calls, want the %d charged", got, want)
	}
}

// waitFor waits for what another goroutine is about to do.
func waitFor(tb testing.TB, done func() bool) {
	tb.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			tb.Fatal("nothing happened for two minutes")
		}
	}
}

// Writes fail at random, half of them after they were done. However often, the ledger never
// holds fewer calls than were charged, and the quota is neither passed nor lost.
func TestUncertainWrites(t *testing.T) {
	const limit = 3_000
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd, disk := rand.New(rand.NewPCG(seed, 3)), rand.New(rand.NewPCG(seed, 4))
	synctest.Test(t, func(t *testing.T) {
		store := newSharedStore(t)
		n := store.node(1)
		errDisk := errors.New("disk")
		n.fail = func() error {
			if disk.IntN(4) == 0 { // only ever asked under the store's lock
				return errDisk
			}
			return nil
		}
		k := keeperOn(t, n, Config{Tiers: quickTiers(t)})
		digest, id := issueOn(t, k, limit)
		month, charged := k.clock.cal.Load().month, uint64(0)
		for charged < limit {
			call := k.Admit(digest)
			switch call.Verdict {
			case Admitted:
				if rnd.IntN(4) == 0 {
					call.Release()
					break
				}
				call.Charge()
				charged++
			case LedgerUnavailable:
				time.Sleep(call.Standing().RetryAfter)
			default:
				t.Fatalf("Admit() = %v after %d calls", call.Verdict, charged)
			}
			if rnd.IntN(50) == 0 {
				time.Sleep(time.Duration(rnd.IntN(10)) * time.Second) // long enough to be idle
			}
			if got := store.counted(id, month); got < charged || got > limit || got > charged+limit/100+1 {
				t.Fatalf("the ledger counts %d calls when %d were charged", got, charged)
			}
		}
		if call := k.Admit(digest); call.Verdict != QuotaExhausted {
			t.Errorf("Admit() = %v, want quota_exhausted", call.Verdict)
		}
		n.fail = func() error { return nil }
		if err := k.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := store.counted(id, month); got != limit {
			t.Errorf("the ledger counts %d calls, want %d", got, limit)
		}
	})
}

// A silent key's lease shrinks to one call, then to none; the count goes on.
func TestSilentKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSharedStore(t)
		k := keeperOn(t, store.node(1), Config{Tiers: quickTiers(t)})
		digest, id := issueOn(t, k, 100_000)
		month := k.clock.cal.Load().month
		spend := func(n int) (last Standing) {
			for range n {
				call := k.Admit(digest)
				if call.Verdict != Admitted {
					t.Fatalf("Admit() = %v", call.Verdict)
				}
				last = call.Charge()
				time.Sleep(time.Millisecond)
			}
			return last
		}
		spend(5_000)
		if ahead := store.counted(id, month) - 5_000; ahead < 100 || ahead > 1_000 {
			t.Errorf("a busy key's lease is %d calls, want hundreds, at most a second's and a hundredth of the quota", ahead)
		}
		time.Sleep(10 * time.Second)
		if ahead := store.counted(id, month) - 5_000; ahead > 1 {
			t.Errorf("a silent key's lease is %d calls, want at most one", ahead)
		}
		time.Sleep(coldAfter + 10*time.Second)
		if got := store.counted(id, month); got != 5_000 {
			t.Errorf("the ledger counts %d calls, want 5000", got)
		}
		if got := spend(1); got.Remaining != 94_999 {
			t.Errorf("Remaining = %d, want 94999", got.Remaining)
		}
		if err := k.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// Many calls at once, all of which end free, leave a lease longer than any: what is above a
// hundredth of the quota goes back with the next sweep, though the key goes on calling.
func TestLeaseOfFreeCallsShrinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSharedStore(t)
		k := keeperOn(t, store.node(1), Config{Tiers: quickTiers(t)})
		digest, id := issueOn(t, k, 1_000)
		month := k.clock.cal.Load().month
		var callers sync.WaitGroup
		for range 200 {
			callers.Go(func() {
				call := k.Admit(digest)
				time.Sleep(100 * time.Millisecond) // until all are admitted
				if call.Release(); call.Verdict != Admitted {
					t.Errorf("Admit() = %v, want admitted", call.Verdict)
				}
			})
		}
		callers.Wait()
		if got := store.counted(id, month); got < 200 {
			t.Fatalf("the ledger counts %d calls, want the 200 that were held", got)
		}
		const calls = 10
		for range calls {
			call := k.Admit(digest)
			call.Charge()
			time.Sleep(300 * time.Millisecond) // never silent
		}
		if ahead := store.counted(id, month) - calls; ahead > 10 {
			t.Errorf("the lease is %d calls, want at most a hundredth of 1000", ahead)
		}
		if err := k.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := store.counted(id, month); got != calls {
			t.Errorf("the ledger counts %d calls, want %d", got, calls)
		}
	})
}

// When the month turns, the leases of the old one are given back without a call being made,
// except for a call still being answered, and the old period leaves memory.
func TestOldMonthIsSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSharedStore(t)
		start := time.Now()
		ahead := MonthOf(start).End().Sub(start) - 3*time.Second
		k := keeperOn(t, store.node(1), Config{Tiers: quickTiers(t), Now: func() time.Time { return time.Now().Add(ahead) }})
		digest, id := issueOn(t, k, 100_000)
		month := k.clock.cal.Load().month
		for range 1_000 {
			call := k.Admit(digest)
			call.Charge()
			time.Sleep(time.Millisecond)
		}
		held := k.Admit(digest)
		if store.counted(id, month) < 1_002 {
			t.Fatal("there is no lease to give back")
		}
		time.Sleep(10 * time.Second)
		if got := store.counted(id, month); got != 1_001 {
			t.Errorf("the ledger counts %d calls of the old month, want 1000 and the one held", got)
		}
		held.Release()
		time.Sleep(5 * time.Second)
		if got := store.counted(id, month); got != 1_000 {
			t.Errorf("the ledger counts %d calls of the old month, want 1000", got)
		}
		if got := k.Stats().Periods; got != 0 {
			t.Errorf("%d periods in memory, want none", got)
		}
		if err := k.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// The time to wait that a rejected caller is told while the store fails is enough, once it is back.
func TestOutageIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSharedStore(t)
		n := store.node(1)
		var mu sync.Mutex
		errDisk := error(nil)
		set := func(err error) { mu.Lock(); errDisk = err; mu.Unlock() }
		n.fail = func() error { mu.Lock(); defer mu.Unlock(); return errDisk }
		var told []string
		k := keeperOn(t, n, Config{
			Tiers:       quickTiers(t),
			OnError:     func(err error) { told = append(told, err.Error()) },
			OnRecovered: func(after time.Duration) { told = append(told, "back after "+after.String()) },
		})
		digest, _ := issueOn(t, k, 0)
		set(errors.New("disk"))
		call := k.Admit(digest)
		for range 5 {
			if call.Verdict != LedgerUnavailable {
				t.Fatalf("Admit() = %v, want ledger_unavailable", call.Verdict)
			}
			time.Sleep(call.Standing().RetryAfter)
			call = k.Admit(digest)
		}
		set(nil)
		time.Sleep(call.Standing().RetryAfter)
		call = k.Admit(digest)
		if call.Verdict != Admitted {
			t.Errorf("Admit() = %v after waiting as told, want admitted", call.Verdict)
		}
		call.Release() // Close waits for calls being answered
		time.Sleep(sweepEvery)
		synctest.Wait()
		if len(told) != 2 || told[0] != "writing leases: disk" || !strings.HasPrefix(told[1], "back after ") {
			t.Errorf("told %q, want the outage and its end, once each", told)
		}
		// A longer one is told every minute, and when its reason changes.
		told = nil
		set(errors.New("disk"))
		for call = k.Admit(digest); call.Verdict == Admitted; call = k.Admit(digest) {
			call.Charge()
		}
		time.Sleep(150 * time.Second)
		set(errors.New("network"))
		time.Sleep(30 * time.Second)
		set(nil)
		time.Sleep(30 * time.Second)
		synctest.Wait()
		want := []string{"writing leases: disk", "writing leases: disk", "writing leases: disk", "writing leases: network"}
		if len(told) != 5 || !slices.Equal(told[:4], want) || !strings.HasPrefix(told[4], "back after 3m") {
			t.Errorf("told %q, want %q and that it is back", told, want)
		}
		if err := k.Ready(context.Background()); err != nil {
			t.Errorf("Ready() = %v", err)
		}
		if err := k.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// A store that hangs delays a call no longer than LeaseWait.
func TestHangingStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSharedStore(t)
		n := store.node(1)
		n.fail = func() error { time.Sleep(10 * time.Second); return nil }
		k := keeperOn(t, n, Config{Tiers: quickTiers(t)})
		digest, _ := issueOn(t, k, 0)
		began := time.Now()
		call := k.Admit(digest)
		if call.Verdict != LedgerUnavailable || time.Since(began) != 2*time.Second {
			t.Errorf("Admit() = %v after %v, want ledger_unavailable after 2s", call.Verdict, time.Since(began))
		}
		if s := call.Standing(); s.BurstRemaining != s.Burst.Depth || s.BurstReset != 0 {
			t.Errorf("%d of %d calls may still come at once, want all: the call was given back", s.BurstRemaining, s.Burst.Depth)
		}
		time.Sleep(30 * time.Second)
		call = k.Admit(digest)
		if call.Verdict != Admitted {
			t.Errorf("Admit() = %v once the write is done, want admitted", call.Verdict)
		}
		call.Release()
		if err := k.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

// Close waits for calls that are being answered, so that the count is exact.
func TestCloseWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := keeperOn(t, newSharedStore(t).node(1), Config{})
		digest, _ := issueOn(t, k, 0)
		call, began := k.Admit(digest), time.Now()
		time.AfterFunc(3*time.Second, func() { call.Release() })
		if err := k.Close(context.Background()); err != nil || time.Since(began) < 3*time.Second || time.Since(began) > 4*time.Second {
			t.Errorf("Close() = %v after %v, want it as soon as the call is answered, after 3s", err, time.Since(began))
		}
	})
}

// How a lease grows: with the last second's traffic, to a hundredth of the quota, and less
// near its end.
func TestLeaseSize(t *testing.T) {
	tests := []struct {
		name                    string
		limit, charged, traffic uint64
		want                    uint64
	}{
		{"first call", 1_000, 0, 1, 1},
		{"silent", 1_000, 10, 0, 1},
		{"slow key", 100_000, 10, 7, 7},
		{"a hundredth of free", 1_000, 10, 500, 10},
		{"a hundredth of pro", 100_000, 10, 5_000, 1_000},
		{"an eighth of what is left", 1_000, 960, 500, 5},
		{"the last calls", 1_000, 993, 500, 1},
		{"nothing left", 1_000, 1_000, 500, 1},
		{"limit below what is charged", 10, 500, 500, 1},
		{"tiny quota", 50, 0, 500, 1},
		{"no limit to speak of", MaxLimit, 0, 1 << 40, maxLease},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := leaseSize(tt.limit, tt.charged, tt.traffic); got != tt.want {
				t.Errorf("leaseSize(%d, %d, %d) = %d, want %d", tt.limit, tt.charged, tt.traffic, got, tt.want)
			}
		})
	}
}

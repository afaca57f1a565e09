package quotatest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"modeldex/quota"

	"github.com/google/go-cmp/cmp"
)

// Month is the month in which the conformance suite counts.
var month = quota.MonthOf(Start)

// Conformance checks that a store keeps what quota.Store promises. open returns the processes of one
// new ledger, at least one; it is called once per test. A store that only one process may hold
// returns one.
func Conformance(t *testing.T, open func(t *testing.T) []quota.Store) {
	for name, test := range map[string]func(*testing.T, []quota.Store){
		"accounts":  testAccounts,
		"addresses": testAddresses,
		"find":      testFind,
		"updates":   testUpdates,
		"counts":    testCounts,
		"history":   testHistory,
		"model":     testCountsModel,
		"load":      testLoad,
		"watch":     testWatch,
		"copy":      testCopy,
		"days":      testDays,
		"rotations": testRotations,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// record returns a valid account; n distinguishes accounts and orders them.
func record(n int) quota.Record {
	r := quota.Record{
		ID: quota.ID(uint64(Start.Unix()+int64(n))<<30 | uint64(n)), Rev: 1, Status: quota.StatusActive, Tier: "free",
		Created: Start.Unix(), Changed: Start.Unix(), Hint: fmt.Sprintf("mdx_...%04d", n),
	}
	r.Digest[0], r.Digest[1], r.Digest[2], r.Digest[31] = byte(n), byte(n>>8), byte(n>>16), 1
	return r
}

func person(n int) quota.Person {
	return quota.Person{Name: fmt.Sprintf("Person %d", n), Email: fmt.Sprintf("person-%d@example.com", n), UseCase: "Testing"}
}

// must fails the test for an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pick returns one of the processes.
func pick(stores []quota.Store) quota.Store { return stores[rand.N(len(stores))] }

func testAccounts(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	want := record(1)
	want.Limit = 77
	must(t, pick(stores).Create(ctx, want, person(1), 0))
	for _, s := range stores {
		must(t, s.Ping(ctx))
		r, p, err := s.Get(ctx, want.ID)
		if diff := cmp.Diff(want, r); diff != "" || p != person(1) || err != nil {
			t.Errorf("Get() = %v, %v, want what was created:\n%s", p, err, diff)
		}
		if _, _, err := s.Get(ctx, want.ID+1); !errors.Is(err, quota.ErrNotFound) {
			t.Errorf("Get(missing) = %v, want ErrNotFound", err)
		}
		if err := s.Create(ctx, want, person(2), 0); !errors.Is(err, quota.ErrTaken) {
			t.Errorf("Create(same id) = %v, want ErrTaken", err)
		}
		if _, err := s.Usage(ctx, want.ID+1); !errors.Is(err, quota.ErrNotFound) {
			t.Errorf("Usage(missing) = %v, want ErrNotFound", err)
		}
	}
	if err := stores[0].Create(ctx, quota.Record{}, person(3), 0); err == nil {
		t.Error("Create(no record) = nil, want an error")
	}
}

// However many processes create keys of one address at once, it gets as many as allowed.
func testAddresses(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	const allowed = 3
	var work sync.WaitGroup
	results := make([]error, 4*len(stores))
	for i := range results {
		work.Go(func() { results[i] = stores[i%len(stores)].Create(ctx, record(i+1), person(9), allowed) })
	}
	work.Wait()
	made := 0
	for i, err := range results {
		switch {
		case err == nil:
			made++
		case !errors.Is(err, quota.ErrTooMany):
			t.Errorf("Create() %d = %v, want ErrTooMany", i, err)
		}
	}
	if made != min(allowed, len(results)) {
		t.Errorf("%d keys were created, want %d", made, min(allowed, len(results)))
	}
	// A revoked key does not count, a suspended one does.
	var ids []quota.ID
	must(t, stores[0].Find(ctx, quota.Filter{Email: "PERSON-9@example.com"}, func(r quota.Record, _ quota.Person) bool {
		ids = append(ids, r.ID)
		return true
	}))
	if len(ids) != made {
		t.Fatalf("Find(address) = %v, want %d accounts", ids, made)
	}
	setStatus := func(id quota.ID, to quota.Status) {
		_, err := pick(stores).Update(ctx, id, func(r *quota.Record, _ *quota.Person) error { r.Status = to; return nil })
		must(t, err)
	}
	setStatus(ids[0], quota.StatusSuspended)
	if err := pick(stores).Create(ctx, record(100), person(9), allowed); !errors.Is(err, quota.ErrTooMany) {
		t.Errorf("Create() with a suspended key = %v, want ErrTooMany", err)
	}
	setStatus(ids[0], quota.StatusRevoked)
	must(t, pick(stores).Create(ctx, record(100), person(9), allowed))
}

func testFind(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	for i := range 25 {
		r := record(i + 1)
		if i%5 == 0 {
			r.Tier, r.Limit = "enterprise", 9
		}
		if i%7 == 0 {
			r.Status = quota.StatusSuspended
		}
		must(t, pick(stores).Create(ctx, r, person(i+1), 0))
	}
	for _, tt := range []struct {
		name string
		f    quota.Filter
		want func(i int) bool
	}{
		{"all", quota.Filter{}, func(int) bool { return true }},
		{"tier", quota.Filter{Tier: "enterprise"}, func(i int) bool { return i%5 == 0 }},
		{"status", quota.Filter{Status: quota.StatusSuspended}, func(i int) bool { return i%7 == 0 }},
		{"hint", quota.Filter{Hint: record(4).Hint}, func(i int) bool { return i == 3 }},
		{"after", quota.Filter{After: record(20).ID}, func(i int) bool { return i >= 20 }},
		{"address", quota.Filter{Email: "Person-3@Example.com"}, func(i int) bool { return i == 2 }},
		{"nothing", quota.Filter{Email: "person-3@example.org"}, func(int) bool { return false }},
	} {
		var want, got []quota.ID
		for i := range 25 {
			if tt.want(i) {
				want = append(want, record(i+1).ID)
			}
		}
		must(t, pick(stores).Find(ctx, tt.f, func(r quota.Record, p quota.Person) bool {
			if p == (quota.Person{}) {
				t.Errorf("%s: account %s has no person", tt.name, r.ID)
			}
			got = append(got, r.ID)
			return true
		}))
		if !slices.Equal(got, want) {
			t.Errorf("Find(%s) = %v, want %v", tt.name, got, want)
		}
	}
	n := 0
	must(t, stores[0].Find(ctx, quota.Filter{}, func(quota.Record, quota.Person) bool { n++; return n < 4 }))
	if n != 4 {
		t.Errorf("Find() went on for %d accounts, want 4", n)
	}
}

func testUpdates(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	id := record(1).ID
	must(t, stores[0].Create(ctx, record(1), person(1), 0))
	// Every change counts, also when all processes change at once.
	var work sync.WaitGroup
	const each = 10
	for _, s := range stores {
		work.Go(func() {
			for range each {
				if _, err := s.Update(ctx, id, func(r *quota.Record, _ *quota.Person) error { r.Limit++; return nil }); err != nil {
					t.Errorf("Update() = %v", err)
				}
			}
		})
	}
	work.Wait()
	changes := uint64(each * len(stores))
	r, _, err := pick(stores).Get(ctx, id)
	if err != nil || r.Limit != changes || r.Rev != changes+1 {
		t.Errorf("after %d changes: limit %d, rev %d, %v", changes, r.Limit, r.Rev, err)
	}
	refused := errors.New("no")
	if _, err := stores[0].Update(ctx, id, func(r *quota.Record, _ *quota.Person) error { r.Limit = 0; return refused }); err != refused { //nolint:errorlint // as it is
		t.Errorf("Update() = %v, want fn's error as it is", err)
	}
	if _, err := stores[0].Update(ctx, id, func(r *quota.Record, _ *quota.Person) error { r.Tier = ""; return nil }); err == nil {
		t.Error("Update() to an invalid record = nil, want an error")
	}
	if _, err := stores[0].Update(ctx, id+1, func(*quota.Record, *quota.Person) error { return nil }); !errors.Is(err, quota.ErrNotFound) {
		t.Errorf("Update(missing) = %v, want ErrNotFound", err)
	}
	// Erasing takes the person out of the account and of the list of the address.
	_, err = pick(stores).Update(ctx, id, func(r *quota.Record, p *quota.Person) error {
		*p, r.Erased, r.Status = quota.Person{}, true, quota.StatusRevoked
		return nil
	})
	must(t, err)
	r, p, err := pick(stores).Get(ctx, id)
	if err != nil || p != (quota.Person{}) || !r.Erased || r.Limit != changes {
		t.Errorf("after erasing: %+v, %+v, %v", r, p, err)
	}
	must(t, pick(stores).Find(ctx, quota.Filter{Email: person(1).Email}, func(r quota.Record, _ quota.Person) bool {
		t.Errorf("Find(erased address) has %s", r.ID)
		return true
	}))
}

func testCounts(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	s, id := stores[0], record(1).ID
	must(t, s.Create(ctx, record(1), person(1), 0))
	reserve := func(s quota.Store, own, limit, wantOwn, wantTotal uint64) {
		t.Helper()
		for range 2 { // repeated: the same state
			batch := []quota.Count{{ID: id, Month: month, Own: own, Limit: limit}}
			must(t, s.Reserve(ctx, batch))
			if batch[0].Own != wantOwn || batch[0].Total != wantTotal {
				t.Errorf("Reserve(%d of %d) = %d, %d, want %d, %d", own, limit, batch[0].Own, batch[0].Total, wantOwn, wantTotal)
			}
		}
	}
	reserve(s, 10, 100, 10, 10)
	reserve(s, 7, 100, 7, 7)       // lower
	reserve(s, 150, 100, 100, 100) // cut to what fits
	reserve(s, 120, 50, 100, 100)  // never below what is stored
	reserve(s, 30, 50, 30, 30)     // asked to go down, it goes down
	if len(stores) > 1 {
		other := stores[1]
		reserve(other, 50, 50, 20, 50)
		reserve(s, 31, 50, 30, 50) // no room
		reserve(s, 0, 50, 0, 20)
		reserve(other, 50, 50, 50, 50)
		reserve(other, 20, 50, 20, 20)
		reserve(s, 30, 50, 30, 50)
	}
	for _, s := range stores {
		batch := []quota.Count{{ID: id, Month: month}, {ID: id, Month: month - 1}, {ID: id + 1, Month: month}}
		must(t, s.Counts(ctx, batch))
		if batch[1].Total != 0 || batch[2].Total != 0 || batch[0].Total < 30 {
			t.Errorf("Counts() = %+v", batch)
		}
	}
	// More counts than any one transaction takes.
	var many []quota.Count
	for i := range 350 {
		many = append(many, quota.Count{ID: record(1000 + i).ID, Month: month, Own: uint64(i + 1), Limit: 1000})
	}
	must(t, s.Reserve(ctx, many))
	again := slices.Clone(many)
	must(t, pick(stores).Counts(ctx, again))
	for i := range again {
		if again[i].Total != uint64(i+1) {
			t.Errorf("count %d = %d, want %d", i, again[i].Total, i+1)
		}
	}
}

func testHistory(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	id := record(1).ID
	must(t, stores[0].Create(ctx, record(1), person(1), 0))
	if m, err := pick(stores).Newest(ctx); m != 0 || err != nil {
		t.Errorf("Newest() of an empty ledger = %v, %v, want 0", m, err)
	}
	var want []quota.MonthCalls
	for i := range 3 {
		m := month - 14 + quota.Month(7*i) // across the end of years
		must(t, pick(stores).Reserve(ctx, []quota.Count{{ID: id, Month: m, Own: uint64(i + 1), Limit: 100}}))
		want = append(want, quota.MonthCalls{Month: m, Calls: uint64(i + 1)})
	}
	for _, s := range stores {
		got, err := s.Usage(ctx, id)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("Usage() = %v:\n%s", err, diff)
		}
		if m, err := s.Newest(ctx); m != month || err != nil {
			t.Errorf("Newest() = %v, %v, want %v", m, err, month)
		}
	}
}

// testCountsModel compares random reservations, by several processes at once, with the rule: the sum
// never passes the limit, and what a process was told it has is there.
func testCountsModel(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const keys, limit, rounds = 6, 500, 40
	owns := make([][keys]uint64, len(stores))
	var work sync.WaitGroup
	for n, s := range stores {
		work.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(n)))
			for range rounds {
				var batch []quota.Count
				for k := range keys {
					if rnd.IntN(2) == 0 {
						own := owns[n][k] + rnd.Uint64N(60)
						own -= min(own, rnd.Uint64N(40))
						batch = append(batch, quota.Count{ID: record(k + 1).ID, Month: month, Own: own, Limit: limit, Before: owns[n][k]})
					}
				}
				asked := slices.Clone(batch)
				if err := s.Reserve(ctx, batch); err != nil {
					t.Errorf("Reserve() = %v", err)
					return
				}
				for i, c := range batch {
					k := int(c.ID&0xff) - 1
					before := owns[n][k]
					if c.Own > asked[i].Own && c.Own > before || c.Own < before && c.Own != asked[i].Own || c.Total > limit || c.Total < c.Own {
						t.Errorf("Reserve(%+v) with %d before = %+v", asked[i], before, c)
					}
					owns[n][k] = c.Own
				}
			}
		})
	}
	work.Wait()
	for k := range keys {
		sum := uint64(0)
		for n := range stores {
			sum += owns[n][k]
		}
		for n, s := range stores {
			batch := []quota.Count{{ID: record(k + 1).ID, Month: month}}
			must(t, s.Counts(ctx, batch))
			if batch[0].Own != owns[n][k] || batch[0].Total != sum || sum > limit {
				t.Errorf("seed %d: key %d at process %d: %+v, want own %d of %d", seed, k, n, batch[0], owns[n][k], sum)
			}
		}
	}
}

func testLoad(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	want := map[quota.ID]uint64{}
	for i := range 30 {
		r := record(i + 1)
		must(t, pick(stores).Create(ctx, r, person(i+1), 0))
		want[r.ID] = 0
		for n, s := range stores {
			if i%3 == 0 {
				must(t, s.Reserve(ctx, []quota.Count{{ID: r.ID, Month: month, Own: uint64(n + 1), Limit: 1000}, {ID: r.ID, Month: month - 1, Own: 5, Limit: 1000}}))
				want[r.ID] += uint64(n + 1)
			}
		}
	}
	for _, s := range stores {
		got := map[quota.ID]uint64{}
		must(t, s.Load(ctx, month, func(r quota.Record, calls uint64) error {
			got[r.ID] = calls
			return nil
		}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Load():\n%s", diff)
		}
	}
	stop := errors.New("stop")
	n := 0
	if err := stores[0].Load(ctx, month, func(quota.Record, uint64) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("Load() = %v after %d accounts, want fn's error after 1", err, n)
	}
}

// testWatch checks that changes of other processes arrive, and that Watch ends with its context.
func testWatch(t *testing.T, stores []quota.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	last := stores[len(stores)-1]
	must(t, stores[0].Create(ctx, record(1), person(1), 0))
	must(t, last.Load(ctx, month, func(quota.Record, uint64) error { return nil }))
	seen := make(chan quota.Record, 100)
	ended := make(chan error, 1)
	go func() { ended <- last.Watch(ctx, func(r quota.Record) { seen <- r }) }()
	if len(stores) > 1 {
		must(t, stores[0].Create(ctx, record(2), person(2), 0))
		_, err := stores[0].Update(ctx, record(1).ID, func(r *quota.Record, _ *quota.Person) error { r.Status = quota.StatusRevoked; return nil })
		must(t, err)
		for _, want := range []struct {
			id     quota.ID
			status quota.Status
		}{{record(2).ID, quota.StatusActive}, {record(1).ID, quota.StatusRevoked}} {
			select {
			case r := <-seen:
				if r.ID != want.id || r.Status != want.status {
					t.Errorf("Watch() saw %s %v, want %s %v", r.ID, r.Status, want.id, want.status)
				}
			case <-time.After(time.Minute): // far above what any machine needs
				t.Fatal("Watch() saw nothing")
			}
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Watch() = %v, want that the context was canceled", err)
	}
}

// testCopy copies a ledger into a file, and checks that a target with accounts is left alone.
func testCopy(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	from, ok := stores[0].(quota.Portable)
	if !ok {
		t.Skip("this store cannot be copied")
	}
	for i := range 40 {
		r := record(i + 1)
		must(t, from.Create(ctx, r, person(i+1), 0))
		for m := range quota.Month(i % 4) {
			must(t, pick(stores).Reserve(ctx, []quota.Count{{ID: r.ID, Month: month - m, Own: uint64(10*i) + uint64(m) + 1, Limit: 10_000}}))
		}
	}
	_, err := from.Update(ctx, record(7).ID, func(r *quota.Record, p *quota.Person) error {
		*p, r.Erased, r.Status = quota.Person{}, true, quota.StatusRevoked
		r.Old = []quota.OldSecret{{Digest: quota.Digest{9, 9}, Until: 12}}
		return nil
	})
	must(t, err)
	path := filepath.Join(t.TempDir(), "copy.db")
	to, err := quota.Open(path, quota.Options{})
	must(t, err)
	defer to.Close()
	report, err := quota.Copy(ctx, from, to)
	if err != nil || report.Accounts != 40 || report.Calls == 0 {
		t.Fatalf("Copy() = %+v, %v, want 40 accounts", report, err)
	}
	if again, err := quota.Sum(ctx, from); err != nil || again != report {
		t.Errorf("Sum(source) = %+v, %v, want that of the copy, %+v", again, err, report)
	}
	if _, err := quota.Copy(ctx, from, to); !errors.Is(err, quota.ErrNotEmpty) {
		t.Errorf("Copy() again = %v, want ErrNotEmpty", err)
	}
	if _, err := quota.Copy(ctx, to, from); !errors.Is(err, quota.ErrNotEmpty) {
		t.Errorf("Copy() back = %v, want ErrNotEmpty", err)
	}
	if check, err := to.Check(ctx); err != nil || len(check.Findings) > 0 {
		t.Errorf("Check(copy) = %v, %v", check.Findings, err)
	}
}

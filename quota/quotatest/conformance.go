package quotatest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"modeldex/quota"

	"github.com/google/go-cmp/cmp"
)

// month is the month in which the conformance suite counts.
var month = quota.MonthOf(Start)

// Conformance checks that a store keeps what quota.Store promises. open returns the processes of one new ledger, at
// least one; it is called once per test. A store that only one process may hold returns one.
func Conformance(t *testing.T, open func(t *testing.T) []quota.Store) {
	for name, test := range map[string]func(*testing.T, []quota.Store){
		"addresses": testAddresses,
		"find":      testFind,
		"updates":   testUpdates,
		"counts":    testCounts,
		"load":      testLoad,
		"copy":      testCopy,
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

// However many processes create keys of one address at once, it gets as many as allowed.
func testAddresses(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	const allowed = 3
	var made atomic.Int64
	var work sync.WaitGroup
	for i := range 4 * len(stores) {
		work.Go(func() {
			switch err := stores[i%len(stores)].Create(ctx, record(i+1), person(9), allowed); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, quota.ErrTooMany):
				t.Errorf("Create() %d = %v, want ErrTooMany", i, err)
			}
		})
	}
	work.Wait()
	ids := idsOf(t, stores[0], quota.Filter{Email: "PERSON-9@example.com"})
	if made.Load() != allowed || len(ids) != allowed {
		t.Fatalf("%d keys were created, and found are %v, want %d", made.Load(), ids, allowed)
	}
	// A revoked key does not count, a suspended one does.
	for _, status := range []quota.Status{quota.StatusSuspended, quota.StatusRevoked} {
		_, err := pick(stores).Update(ctx, ids[0], func(r *quota.Record, _ *quota.Person) error { r.Status = status; return nil })
		must(t, err)
		if err := pick(stores).Create(ctx, record(100), person(9), allowed); errors.Is(err, quota.ErrTooMany) != (status == quota.StatusSuspended) {
			t.Errorf("Create() with a key that is %v = %v", status, err)
		}
	}
}

// idsOf are the accounts that match a filter.
func idsOf(t *testing.T, s quota.Store, f quota.Filter) (ids []quota.ID) {
	t.Helper()
	must(t, s.Find(context.Background(), f, func(r quota.Record, p quota.Person) bool {
		if p == (quota.Person{}) {
			t.Errorf("account %s has no person", r.ID)
		}
		ids = append(ids, r.ID)
		return true
	}))
	return ids
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
	for f, want := range map[quota.Filter][]int{
		{Tier: "enterprise"}:            {1, 6, 11, 16, 21},
		{Status: quota.StatusSuspended}: {1, 8, 15, 22},
		{Hint: record(4).Hint}:          {4},
		{After: record(22).ID}:          {23, 24, 25},
		{Email: "Person-3@Example.com"}: {3},
		{Email: "person-3@example.org"}: nil,
	} {
		var ids []quota.ID
		for _, n := range want {
			ids = append(ids, record(n).ID)
		}
		if got := idsOf(t, pick(stores), f); !slices.Equal(got, ids) {
			t.Errorf("Find(%+v) = %v, want %v", f, got, ids)
		}
	}
	n := 0
	must(t, stores[0].Find(ctx, quota.Filter{}, func(quota.Record, quota.Person) bool { n++; return n < 4 }))
	if all := idsOf(t, pick(stores), quota.Filter{}); n != 4 || len(all) != 25 {
		t.Errorf("Find() went on for %d accounts, want 4, and found %d of 25", n, len(all))
	}
}

// testUpdates creates an account and changes it from all processes at once. Every change counts.
func testUpdates(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	want, id := record(1), record(1).ID
	want.Limit = 77
	must(t, pick(stores).Create(ctx, want, person(1), 0))
	for _, s := range stores {
		must(t, s.Ping(ctx))
		r, p, err := s.Get(ctx, id)
		if diff := cmp.Diff(want, r); diff != "" || p != person(1) || err != nil {
			t.Errorf("Get() = %v, %v, want what was created:\n%s", p, err, diff)
		}
		_, _, missing := s.Get(ctx, id+1)
		_, unused := s.Usage(ctx, id+1)
		if taken := s.Create(ctx, want, person(2), 0); !errors.Is(missing, quota.ErrNotFound) || !errors.Is(unused, quota.ErrNotFound) || !errors.Is(taken, quota.ErrTaken) {
			t.Errorf("Get(missing) = %v, Usage(missing) = %v, Create(same id) = %v", missing, unused, taken)
		}
	}
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
	refused := errors.New("no")
	_, asItIs := stores[0].Update(ctx, id, func(r *quota.Record, _ *quota.Person) error { r.Limit = 0; return refused })
	_, invalid := stores[0].Update(ctx, id, func(r *quota.Record, _ *quota.Person) error { r.Tier = ""; return nil })
	_, missing := stores[0].Update(ctx, id+1, func(*quota.Record, *quota.Person) error { return nil })
	if none := stores[0].Create(ctx, quota.Record{}, person(3), 0); asItIs != refused || invalid == nil || none == nil || !errors.Is(missing, quota.ErrNotFound) { //nolint:errorlint // as it is
		t.Errorf("Update() refused = %v, invalid = %v, missing = %v; Create(no record) = %v", asItIs, invalid, missing, none)
	}
	changes := uint64(each * len(stores))
	if r, _, err := pick(stores).Get(ctx, id); err != nil || r.Limit != 77+changes || r.Rev != changes+1 {
		t.Errorf("after %d changes: limit %d, rev %d, %v", changes, r.Limit, r.Rev, err)
	}
	// Erasing takes the person out of the account and of the list of the address.
	_, err := pick(stores).Update(ctx, id, erase)
	must(t, err)
	r, p, err := pick(stores).Get(ctx, id)
	if err != nil || p != (quota.Person{}) || !r.Erased || r.Limit != 77+changes {
		t.Errorf("after erasing: %+v, %+v, %v", r, p, err)
	}
	if ids := idsOf(t, pick(stores), quota.Filter{Email: person(1).Email}); len(ids) > 0 {
		t.Errorf("Find(erased address) has %v", ids)
	}
}

func erase(r *quota.Record, p *quota.Person) error {
	*p, r.Erased, r.Status = quota.Person{}, true, quota.StatusRevoked
	return nil
}

func testCounts(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	s, other, id := stores[0], stores[len(stores)-1], record(1).ID
	type step struct {
		s                           quota.Store
		own, limit, want, wantTotal uint64
	}
	steps := []step{
		{s, 10, 100, 10, 10}, {s, 7, 100, 7, 7}, // lower
		{s, 150, 100, 100, 100}, // cut to what fits
		{s, 120, 50, 100, 100},  // never below what is stored
		{s, 30, 50, 30, 30},     // asked to go down, it goes down
	}
	if len(stores) > 1 {
		steps = append(steps, []step{{other, 50, 50, 20, 50}, {s, 31, 50, 30, 50}, {s, 0, 50, 0, 20}, {other, 50, 50, 50, 50}, {other, 20, 50, 20, 20}, {s, 30, 50, 30, 50}}...)
	}
	for i, step := range steps {
		for range 2 { // repeated: the same state
			batch := []quota.Count{{ID: id, Month: month, Own: step.own, Limit: step.limit}}
			must(t, step.s.Reserve(ctx, batch))
			if batch[0].Own != step.want || batch[0].Total != step.wantTotal {
				t.Errorf("step %d: Reserve() = %d, %d, want %d, %d", i, batch[0].Own, batch[0].Total, step.want, step.wantTotal)
			}
		}
	}
	// More counts than any one transaction takes.
	var many []quota.Count
	for i := range 350 {
		many = append(many, quota.Count{ID: record(1000 + i).ID, Month: month, Own: uint64(i + 1), Limit: 1000})
	}
	must(t, s.Reserve(ctx, many))
	again := slices.Concat(many, []quota.Count{{ID: id, Month: month - 1}, {ID: id + 1, Month: month}})
	must(t, pick(stores).Counts(ctx, again))
	for i, c := range again {
		want := uint64(i + 1)
		if i >= 350 {
			want = 0
		}
		if c.Total != want {
			t.Errorf("count %d = %d, want %d", i, c.Total, want)
		}
	}
}

// testLoad reads what was counted: by account, by month, and in all.
func testLoad(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	if m, err := pick(stores).Newest(ctx); m != 0 || err != nil {
		t.Errorf("Newest() of an empty ledger = %v, %v, want 0", m, err)
	}
	want, last := map[quota.ID]uint64{}, record(28).ID
	for i := range 30 {
		r := record(i + 1)
		must(t, pick(stores).Create(ctx, r, person(i+1), 0))
		want[r.ID] = 0
		for n, s := range stores {
			if i%3 == 0 {
				must(t, s.Reserve(ctx, []quota.Count{{ID: r.ID, Month: month, Own: uint64(n + 1), Limit: 1000}, {ID: r.ID, Month: month - 7, Own: 5, Limit: 1000}}))
				want[r.ID] += uint64(n + 1)
			}
		}
	}
	months := []quota.MonthCalls{{Month: month - 7, Calls: uint64(5 * len(stores))}, {Month: month, Calls: want[last]}} // of two years
	for _, s := range stores {
		got := map[quota.ID]uint64{}
		must(t, s.Load(ctx, month, func(r quota.Record, calls uint64) error {
			got[r.ID] = calls
			return nil
		}))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Load():\n%s", diff)
		}
		usage, err := s.Usage(ctx, last)
		newest, errNewest := s.Newest(ctx)
		if !slices.Equal(usage, months) || newest != month || err != nil || errNewest != nil {
			t.Errorf("Usage() = %v, %v, Newest() = %v, %v, want %v", usage, err, newest, errNewest, months)
		}
	}
	stop := errors.New("stop")
	n := 0
	if err := stores[0].Load(ctx, month, func(quota.Record, uint64) error { n++; return stop }); !errors.Is(err, stop) || n != 1 {
		t.Errorf("Load() = %v after %d accounts, want fn's error after 1", err, n)
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
		r.Old = []quota.OldSecret{{Digest: quota.Digest{9, 9}, Until: 12}}
		return erase(r, p)
	})
	must(t, err)
	to, err := quota.Open(filepath.Join(t.TempDir(), "copy.db"), quota.Options{})
	must(t, err)
	defer to.Close()
	report, err := quota.Copy(ctx, from, to)
	if err != nil || report.Accounts != 40 || report.Calls == 0 {
		t.Fatalf("Copy() = %+v, %v, want 40 accounts", report, err)
	}
	if again, err := quota.Sum(ctx, to); err != nil || again != report {
		t.Errorf("Sum(copy) = %+v, %v, want %+v", again, err, report)
	}
	_, again := quota.Copy(ctx, from, to)
	if _, back := quota.Copy(ctx, to, from); !errors.Is(again, quota.ErrNotEmpty) || !errors.Is(back, quota.ErrNotEmpty) {
		t.Errorf("Copy() again = %v, and back = %v, want ErrNotEmpty", again, back)
	}
	if check, err := to.Check(ctx); err != nil || len(check.Findings) > 0 {
		t.Errorf("Check(copy) = %v, %v", check.Findings, err)
	}
}

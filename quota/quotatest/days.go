package quotatest

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"modeldex/quota"

	"github.com/google/go-cmp/cmp"
)

// testDays adds to days from all processes at once.
func testDays(t *testing.T, stores []quota.Store) {
	ctx := context.Background()
	must(t, stores[0].Create(ctx, record(1), person(1), 0))
	must(t, stores[0].Create(ctx, record(2), person(2), 0))
	id := record(1).ID
	today := quota.DayOf(Start)
	var work sync.WaitGroup
	for _, s := range stores {
		if days, err := s.Days(ctx, id); err != nil || len(days) != 0 {
			t.Errorf("Days(new) = %v, %v", days, err)
		}
	}
	for _, s := range stores {
		work.Go(func() {
			for i := range 10 {
				err := s.AddDays(ctx, []quota.AccountDay{
					{ID: id, DayUsage: quota.DayUsage{Day: today - quota.Day(i%2), Calls: 2}},
					{ID: record(2).ID, DayUsage: quota.DayUsage{Day: today, Calls: 1}},
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	n := uint64(5 * len(stores))
	want := []quota.DayUsage{{Day: today - 1, Calls: 2 * n}, {Day: today, Calls: 2 * n}}
	store := pick(stores)
	days, err := store.Days(ctx, id)
	if diff := cmp.Diff(want, days); diff != "" || err != nil {
		t.Errorf("Days() = %v:\n%s", err, diff)
	}
	if from, ok := stores[0].(quota.Portable); ok {
		to, err := quota.Open(filepath.Join(t.TempDir(), "days.db"), quota.Options{})
		must(t, err)
		defer to.Close()
		if _, err := quota.Copy(ctx, from, to); err != nil {
			t.Errorf("Copy() = %v", err)
		}
		if copied, err := to.Days(ctx, id); err != nil || !cmp.Equal(want, copied) {
			t.Errorf("Days(copy) = %v, %v", copied, err)
		}
		if check, err := to.Check(ctx); err != nil || len(check.Findings) > 0 {
			t.Errorf("Check(copy) = %v, %v", check.Findings, err)
		}
	}
	// The days that are too old go.
	must(t, store.AddDays(ctx, []quota.AccountDay{{ID: id, DayUsage: quota.DayUsage{Day: today + quota.KeepDays - 1, Calls: 1}}}))
	if days, err = store.Days(ctx, id); err != nil || len(days) != 2 || days[0].Day != today {
		t.Errorf("Days() after %d days = %v, %v", quota.KeepDays, days, err)
	}
	// A clock that was a year ahead for a while does not hide what is counted after it.
	for _, day := range []quota.Day{today + 365, today, today + 1} {
		must(t, store.AddDays(ctx, []quota.AccountDay{{ID: id, DayUsage: quota.DayUsage{Day: day, Calls: 1}}}))
	}
	if days, err = store.Days(ctx, id); err != nil || !cmp.Equal(days, []quota.DayUsage{{Day: today, Calls: 1}, {Day: today + 1, Calls: 1}}) {
		t.Errorf("Days() after a day of next year = %v, %v, want today and tomorrow", days, err)
	}
}

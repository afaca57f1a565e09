package quota_test

import (
	"context"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/quotatest"

	"github.com/google/go-cmp/cmp"
)

// A key's days count what it was charged, across midnight and a clean restart.
func TestDays(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("pro", 0)
	first := quota.DayOf(kit.Clock.Now())
	kit.MustSpend(key, 3)
	kit.Clock.Advance(24 * time.Hour)
	kit.MustSpend(key, 1)
	free := kit.AdmitFree(key.Digest)
	free.Charge()
	call := kit.Admit(key.Digest)
	call.Release()
	want := []quota.DayUsage{{Day: first, Calls: 3}, {Day: first + 1, Calls: 1}}
	check := func(when string) {
		t.Helper()
		got, err := kit.Days(context.Background(), key.ID)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: Days() = %v:\n%s", when, err, diff)
		}
	}
	check("at once")
	kit.Reopen()
	check("after a restart")
	kit.MustSpend(key, 1)
	want[1].Calls++
	check("after another call")
}

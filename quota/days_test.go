package quota_test

import (
	"context"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/quotatest"

	"github.com/google/go-cmp/cmp"
)

// A key's days count what it was charged and what it could have spared, across midnight and a clean
// restart.
func TestDays(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("pro", 0)
	first := quota.DayOf(kit.Clock.Now())
	kit.MustSpend(key, 3)
	answer := func(tag uint64, paging uint32) {
		t.Helper()
		kit.Clock.Advance(time.Second)
		call := kit.Admit(key.Digest)
		call.Charge()
		call.NoteSent(tag, paging)
	}
	answer(7, 500)
	answer(7, 500) // again: a 304 would have been free, so larger pages would not have helped
	answer(8, 250)
	kit.Clock.Advance(24 * time.Hour)
	answer(8, 0)
	free := kit.AdmitFree(key.Digest)
	free.Charge()
	call := kit.Admit(key.Digest)
	call.Release()
	call.NoteNotModified()
	want := []quota.DayUsage{{Day: first, Calls: 6, Repeated: 1, Paging: 750}, {Day: first + 1, Calls: 1, NotModified: 1}}
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
	answer(9, 0)
	want[1].Calls++
	check("after another call")
}

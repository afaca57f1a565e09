package quota_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"modeldex/quota"
	"modeldex/quota/quotatest"
)

func date(y int, m time.Month, d, hour, min, sec int) time.Time {
	return time.Date(y, m, d, hour, min, sec, 0, time.UTC)
}

func wantUsage(tb testing.TB, kit *quotatest.Kit, key quotatest.Key, want ...quota.MonthCalls) {
	tb.Helper()
	got, err := kit.Usage(context.Background(), key.ID)
	if err != nil {
		tb.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("Usage() (-want +got)\n%s", diff)
	}
}

func calls(y int, m time.Month, n uint64) quota.MonthCalls {
	return quota.MonthCalls{Month: quota.MonthOf(date(y, m, 1, 0, 0, 0)), Calls: n}
}

// The month turns while the key calls: one second before it is exhausted, then it is not.
func TestMonthTurns(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	kit.Clock.Jump(date(2028, time.February, 29, 23, 59, 0))
	key := kit.MustIssue("", 5)
	kit.MustSpend(key, 5)
	kit.Clock.Advance(time.Minute - time.Second)
	got := wantVerdict(t, kit, key, quota.QuotaExhausted)
	if got.RetryAfter != time.Second || got.Reset != date(2028, time.March, 1, 0, 0, 0).Unix() {
		t.Errorf("standing %+v, want one second to wait until March", got)
	}
	kit.Clock.Advance(time.Second - 1)
	wantVerdict(t, kit, key, quota.QuotaExhausted)
	kit.Clock.Advance(1)
	if got := kit.MustSpend(key, 2); got.Remaining != 3 || got.Reset != date(2028, time.April, 1, 0, 0, 0).Unix() {
		t.Errorf("standing %+v, want 3 left until April", got)
	}
	wantUsage(t, kit, key, calls(2028, time.February, 5), calls(2028, time.March, 2))
	kit.Reopen()
	wantUsage(t, kit, key, calls(2028, time.February, 5), calls(2028, time.March, 2))
}

// A call admitted in one month and charged in the next counts in the first, which is settled
// all the same.
func TestChargeAfterTurn(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	kit.Clock.Jump(date(2026, time.March, 31, 23, 59, 59))
	key := kit.MustIssue("", 5)
	kit.MustSpend(key, 1)
	charged, released := kit.Admit(key.Digest), kit.Admit(key.Digest)
	kit.Clock.Advance(10 * time.Second)
	if got := kit.MustSpend(key, 1); got.Remaining != 4 {
		t.Errorf("in April Remaining = %d, want 4", got.Remaining)
	}
	got := charged.Charge()
	if got.Remaining != 3 || got.Reset != date(2026, time.April, 1, 0, 0, 0).Unix() {
		t.Errorf("charged late: %+v, want 3 left of March", got)
	}
	released.Release()
	wantUsage(t, kit, key, calls(2026, time.March, 2), calls(2026, time.April, 1))
	kit.Reopen()
	wantUsage(t, kit, key, calls(2026, time.March, 2), calls(2026, time.April, 1))
}

// A clock that falls back a little over the month's end does not reopen the old month: its
// quota is not spent a second time, and the new month's count goes on.
func TestClockFallsBackALittle(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	kit.Clock.Jump(date(2026, time.April, 1, 0, 0, 1))
	key := kit.MustIssue("", 5)
	kit.MustSpend(key, 2)
	for _, back := range []time.Time{date(2026, time.March, 31, 23, 59, 0), date(2026, time.March, 31, 10, 0, 0)} {
		kit.Clock.Jump(back)
		kit.Clock.Advance(time.Second)
		if got := wantVerdict(t, kit, key, quota.Admitted); got.Remaining != 3 || got.Reset != date(2026, time.May, 1, 0, 0, 0).Unix() {
			t.Errorf("at %v: %+v, want 3 left of April", back, got)
		}
	}
	kit.Reopen() // the ledger knows it has been in April
	if got := kit.MustSpend(key, 1); got.Remaining != 2 {
		t.Errorf("after a restart Remaining = %d, want 2", got.Remaining)
	}
	wantUsage(t, kit, key, calls(2026, time.April, 3))
}

// A clock that was far ahead and is put right is followed; either month goes on where it was.
func TestClockFallsFarBack(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 5)
	right := kit.Clock.Now()
	kit.MustSpend(key, 2)
	kit.Clock.Jump(date(2031, time.January, 5, 0, 0, 0))
	kit.Clock.Advance(time.Second)
	kit.MustSpend(key, 4)
	kit.Clock.Jump(right)
	kit.Clock.Advance(time.Second)
	if got := kit.MustSpend(key, 1); got.Remaining != 2 {
		t.Errorf("back in March Remaining = %d, want 2: the month goes on", got.Remaining)
	}
	kit.Reopen()
	if got := kit.MustSpend(key, 2); got.Remaining != 0 {
		t.Errorf("after a restart Remaining = %d, want 0", got.Remaining)
	}
	wantVerdict(t, kit, key, quota.QuotaExhausted)
	kit.Clock.Jump(date(2031, time.January, 5, 0, 0, 0))
	if got := kit.MustSpend(key, 1); got.Remaining != 0 {
		t.Errorf("in 2031 again Remaining = %d, want 0: nothing is minted", got.Remaining)
	}
	wantUsage(t, kit, key, calls(2026, time.March, 5), calls(2031, time.January, 5))
}

// A write that began before the clock was put right ends after it: the second it began in is not
// followed any more. Else the last day of March, which is within a day of April, would count as April.
func TestClockFallsBackDuringWrite(t *testing.T) {
	ledger, err := quota.Open(filepath.Join(t.TempDir(), "modeldex.db"), quota.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	clock := quotatest.NewClock(date(2026, time.April, 15, 0, 0, 0))
	store := &slowStore{Ledger: ledger}
	keeper, err := quota.NewKeeper(context.Background(), store, quota.Config{Now: clock.Now, Mono: clock.Mono, CommitEvery: time.Microsecond, LeaseWait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	issued, _, err := keeper.Issue(context.Background(), quota.IssueRequest{Name: "n", Email: "n@example.org", UseCase: "u", Unlimited: true})
	if err != nil {
		t.Fatal(err)
	}
	digest, _ := quota.DigestOf(issued.Secret.Reveal(), keeper.KeyPrefix())
	store.during = func() {
		for _, wall := range []time.Time{date(2026, time.March, 2, 0, 0, 0), date(2026, time.March, 31, 12, 0, 0)} {
			clock.Jump(wall)
			keeper.AdmitFree(digest)
		}
	}
	call := keeper.Admit(digest)
	if call.Charge(); call.Verdict != quota.Admitted {
		t.Fatalf("Admit() = %v", call.Verdict)
	}
	if err := keeper.Close(context.Background()); err != nil { // waits for the write to end
		t.Error(err)
	}
	call = keeper.AdmitFree(digest)
	if got, want := call.Standing().Reset, date(2026, time.April, 1, 0, 0, 0).Unix(); got != want {
		t.Errorf("on the last day of March the month ends at %d, want %d", got, want)
	}
}

// slowStore lets time pass during the first write of counts.
type slowStore struct {
	*quota.Ledger
	during func()
}

func (s *slowStore) Reserve(ctx context.Context, batch []quota.Count) error {
	if during := s.during; during != nil {
		s.during = nil
		during()
	}
	return s.Ledger.Reserve(ctx, batch)
}

func TestRestartMonthsLater(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 5)
	kit.MustSpend(key, 5)
	kit.Reopen()
	wantVerdict(t, kit, key, quota.QuotaExhausted)
	kit.Clock.Advance(200 * 24 * time.Hour)
	kit.Reopen()
	if got := kit.MustSpend(key, 1); got.Remaining != 4 {
		t.Errorf("months later Remaining = %d, want 4", got.Remaining)
	}
	wantUsage(t, kit, key, calls(2026, time.March, 5), calls(2026, time.September, 1))
}

// Compacting loses nothing of old months, not even when one is counted in again.
func TestCompactKeepsHistory(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	kit.Clock.Jump(date(2026, time.January, 15, 0, 0, 0))
	one, two := kit.MustIssue("", 9), kit.MustIssue("", 9)
	for i := range 4 {
		kit.MustSpend(one, i+1)
		if i == 2 {
			kit.MustSpend(two, 1)
		}
		kit.Clock.Jump(date(2026, time.February+time.Month(i), 15, 0, 0, 0))
	}
	kit.Stop()
	before, after, err := quota.Compact(kit.Path)
	if err != nil || after >= before {
		t.Fatalf("Compact() = %d, %d, %v, want a smaller file", before, after, err)
	}
	report, err := quota.Check(kit.Path)
	if err != nil || len(report.Findings) > 0 || report.Accounts != 2 || len(report.Months) != 4 {
		t.Errorf("Check() = %+v, %v, want 2 accounts, four months, no findings", report, err)
	}
	kit.Start()
	jan, feb, mar, apr := calls(2026, time.January, 1), calls(2026, time.February, 2), calls(2026, time.March, 3), calls(2026, time.April, 4)
	wantUsage(t, kit, one, jan, feb, mar, apr)
	wantUsage(t, kit, two, calls(2026, time.March, 1))
	kit.Clock.Jump(date(2026, time.February, 3, 0, 0, 0))
	if got := kit.MustSpend(one, 1); got.Remaining != 6 {
		t.Errorf("in February again Remaining = %d, want 6", got.Remaining)
	}
	feb.Calls = 3
	kit.Stop()
	if _, _, err := quota.Compact(kit.Path); err != nil {
		t.Fatal(err)
	}
	kit.Start()
	wantUsage(t, kit, one, jan, feb, mar, apr)
}

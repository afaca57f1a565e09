package quota_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"modeldex/quota"
	"modeldex/quota/quotatest"
)

// wide is a set of tiers whose bursts reject no call, for tests about the month.
func wide(tb testing.TB) quota.Tiers {
	tb.Helper()
	burst := quota.Burst{Rate: 1_000_000, PerSeconds: 1, Depth: 1_000_000}
	ts, err := quota.NewTiers(
		quota.Tier{Name: "free", CallsPerMonth: 1_000, Burst: burst},
		quota.Tier{Name: "pro", CallsPerMonth: 100_000, Burst: burst},
		quota.Tier{Name: "enterprise", Burst: burst},
	)
	if err != nil {
		tb.Fatal(err)
	}
	return ts
}

func wantVerdict(tb testing.TB, kit *quotatest.Kit, key quotatest.Key, want quota.Verdict) quota.Standing {
	tb.Helper()
	call := kit.Admit(key.Digest)
	defer call.Release()
	if call.Verdict != want {
		tb.Errorf("Admit() = %v, want %v", call.Verdict, want)
	}
	return call.Standing()
}

// A key spends all of its quota, over a restart, and not one call more.
func TestSpendAll(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 0)
	if got := kit.MustSpend(key, 100); got.Remaining != 900 {
		t.Errorf("after 100 calls Remaining = %d, want 900", got.Remaining)
	}
	kit.Reopen()
	if got := kit.MustSpend(key, 900); got.Remaining != 0 {
		t.Errorf("after 1000 calls Remaining = %d, want 0", got.Remaining)
	}
	kit.Clock.Advance(time.Second)
	got := wantVerdict(t, kit, key, quota.QuotaExhausted)
	if want := quota.MonthOf(quotatest.Start).End().Sub(kit.Clock.Now()); got.RetryAfter != want {
		t.Errorf("call 1001: RetryAfter = %v, want %v", got.RetryAfter, want)
	}
	if got.BurstRemaining != 10 {
		t.Errorf("call 1001: BurstRemaining = %d, want 10: a refused call costs no burst", got.BurstRemaining)
	}
}

func TestUnknownKey(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	call := kit.Admit(quota.Digest{1})
	if want := (quota.Standing{Tier: "none"}); call.Verdict != quota.UnknownKey || call.Charge() != want || call.Release() != want || call.ID() != 0 {
		t.Errorf("Admit(unknown) = %v, %+v, want unknown_key and nothing", call.Verdict, call.Standing())
	}
}

// What is released costs nothing, and only the first of Charge and Release counts.
func TestRelease(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 3)
	for range 5 {
		call := kit.Admit(key.Digest)
		if got := call.Release(); got.Remaining != 3 {
			t.Fatalf("Release: Remaining = %d, want 3", got.Remaining)
		}
		call.Charge()
		call.Release()
	}
	call := kit.Admit(key.Digest)
	for range 3 {
		if got := call.Charge(); got.Remaining != 2 {
			t.Fatalf("Charge: Remaining = %d, want 2", got.Remaining)
		}
		call.Release()
	}
	free := kit.AdmitFree(key.Digest)
	if free.Verdict != quota.Admitted || free.Charge().Remaining != 2 {
		t.Errorf("AdmitFree() = %v, %+v, want admitted with 2 left", free.Verdict, free.Standing())
	}
}

// Calls that were under way when the limit was lowered are not held again once they are given back: charged
// and held calls together stay within the new limit.
func TestLoweredLimit(t *testing.T) {
	kit := quotatest.New(t, quota.Config{Tiers: wide(t)})
	key := kit.MustIssue("enterprise", 300)
	kit.MustSpend(key, 10)
	held := make([]quota.Call, 80)
	for i := range held {
		if held[i] = kit.Admit(key.Digest); held[i].Verdict != quota.Admitted {
			t.Fatalf("Admit() = %v, want admitted", held[i].Verdict)
		}
	}
	if _, err := kit.SetTier(ctx, key.ID, "enterprise", 50); err != nil {
		t.Fatal(err)
	}
	for i := range held {
		before := 90 - i // charged and held
		want := quota.Admitted
		if before >= 50 {
			want = quota.QuotaExhausted
		}
		call := kit.Admit(key.Digest)
		if call.Verdict != want {
			t.Fatalf("Admit() = %v with %d calls charged and held of 50, want %v", call.Verdict, before, want)
		}
		call.Release()
		more := kit.Admit(key.Digest)
		if more.Verdict == quota.Admitted {
			if got := more.Extend(3); before < 48 && got != quota.Admitted || before >= 48 && got != quota.QuotaExhausted {
				t.Fatalf("Extend(3) = %v with %d calls charged and held of 50", got, before)
			}
			more.Release()
		}
		held[i].Release()
	}
}

// The last calls are held by others: no call passes them, and a refund makes room again.
func TestHeldCallsCount(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 2)
	one, two := kit.Admit(key.Digest), kit.Admit(key.Digest)
	if one.Verdict != quota.Admitted || two.Verdict != quota.Admitted {
		t.Fatalf("Admit() = %v, %v, want both admitted", one.Verdict, two.Verdict)
	}
	got := wantVerdict(t, kit, key, quota.QuotaExhausted)
	if got.Remaining != 2 || got.RetryAfter != time.Second {
		t.Errorf("third call: Remaining %d after %v, want 2 left and a second to wait", got.Remaining, got.RetryAfter)
	}
	one.Release()
	kit.MustSpend(key, 1)
	if got := two.Charge(); got.Remaining != 0 {
		t.Errorf("Remaining = %d, want 0", got.Remaining)
	}
	wantVerdict(t, kit, key, quota.QuotaExhausted)
}

// A burst told in time: ten at once, reject, wait less than told, wait as told.
func TestBurstStory(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 0)
	for i := range 10 {
		call := kit.Admit(key.Digest)
		got := call.Charge()
		if call.Verdict != quota.Admitted || got.BurstRemaining != 9-i {
			t.Fatalf("call %d: %v, BurstRemaining = %d, want admitted, %d", i, call.Verdict, got.BurstRemaining, 9-i)
		}
	}
	got := wantVerdict(t, kit, key, quota.BurstExceeded)
	if got.RetryAfter != 100*time.Millisecond || got.RetrySeconds() != 1 || got.BurstReset != time.Second || got.Remaining != 990 {
		t.Errorf("eleventh call: %+v, want to wait 100ms, full in 1s, 990 left", got)
	}
	kit.Clock.Advance(100*time.Millisecond - 1)
	wantVerdict(t, kit, key, quota.BurstExceeded)
	kit.Clock.Advance(1)
	wantVerdict(t, kit, key, quota.Admitted)
	wantVerdict(t, kit, key, quota.BurstExceeded)
	// However often it is rejected, the meter fills at its rate.
	kit.Clock.Advance(500 * time.Millisecond)
	for range 5 {
		wantVerdict(t, kit, key, quota.Admitted)
	}
	wantVerdict(t, kit, key, quota.BurstExceeded)
	// A rest fills it to its depth and no further.
	kit.Clock.Advance(time.Hour)
	if got := wantVerdict(t, kit, key, quota.Admitted); got.BurstRemaining != 9 {
		t.Errorf("after a rest BurstRemaining = %d, want 9", got.BurstRemaining)
	}
}

// A steady caller at the rate is never rejected; released and uncounted calls count as well.
func TestBurstCountsEveryCall(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 0)
	for range 200 {
		kit.Clock.Advance(100 * time.Millisecond)
		wantVerdict(t, kit, key, quota.Admitted)
	}
	kit.Clock.Advance(time.Second)
	for range 10 {
		if call := kit.AdmitFree(key.Digest); call.Verdict != quota.Admitted {
			t.Fatalf("AdmitFree() = %v, want admitted", call.Verdict)
		}
	}
	if call := kit.AdmitFree(key.Digest); call.Verdict != quota.BurstExceeded {
		t.Errorf("eleventh AdmitFree() = %v, want burst_exceeded", call.Verdict)
	}
	wantVerdict(t, kit, key, quota.BurstExceeded)
}

// The burst is on the monotonic clock: the wall clock may jump as it likes.
func TestBurstIgnoresWallClock(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 0)
	for range 10 {
		wantVerdict(t, kit, key, quota.Admitted)
	}
	for _, jump := range []time.Duration{time.Hour, -2 * time.Hour, -time.Minute} {
		kit.Clock.Jump(kit.Clock.Now().Add(jump))
		wantVerdict(t, kit, key, quota.BurstExceeded)
	}
}

// Sixty-four callers share one key. Every charged call sees its own number left, each number
// once; no caller sees it rise; refunds let no call pass the quota.
func TestParallelExactness(t *testing.T) {
	const callers, limit = 64, 20_000
	kit := quotatest.New(t, quota.Config{Tiers: wide(t)})
	key := kit.MustIssue("enterprise", limit)
	seen := make([][]uint64, callers)
	var tasks sync.WaitGroup
	for i := range callers {
		tasks.Go(func() { seen[i] = spendAll(t, kit, key, i) })
	}
	tasks.Wait()
	var all []uint64
	for i, own := range seen {
		if !slices.IsSortedFunc(own, func(a, b uint64) int { return int(b) - int(a) }) {
			t.Errorf("caller %d saw Remaining rise", i)
		}
		all = append(all, own...)
	}
	slices.Sort(all)
	if len(all) != limit {
		t.Fatalf("%d calls were charged, want %d", len(all), limit)
	}
	for i, left := range all {
		if left != uint64(i) {
			t.Fatalf("Remaining %d is missing or came twice", i)
		}
	}
	kit.Reopen()
	if usage, err := kit.Usage(context.Background(), key.ID); err != nil || len(usage) != 1 || usage[0].Calls != limit {
		t.Errorf("Usage() = %v, %v, want one month with %d calls", usage, err, limit)
	}
}

// spendAll charges two calls of three and gives the third back, until none is left.
func spendAll(t *testing.T, kit *quotatest.Kit, key quotatest.Key, n int) (seen []uint64) {
	for {
		kit.Clock.Advance(time.Microsecond)
		call := kit.Admit(key.Digest)
		switch n++; {
		case call.Verdict == quota.Admitted && n%3 == 0:
			call.Release()
		case call.Verdict == quota.Admitted:
			seen = append(seen, call.Charge().Remaining)
		case call.Verdict == quota.QuotaExhausted && call.Standing().Remaining == 0:
			return seen
		case call.Verdict != quota.QuotaExhausted && call.Verdict != quota.BurstExceeded:
			t.Errorf("Admit() = %v", call.Verdict)
			return seen
		}
	}
}

// Admit and Charge on a leased key allocate nothing.
func TestAdmitAllocs(t *testing.T) {
	kit := quotatest.New(t, quota.Config{Tiers: wide(t)})
	key := kit.MustIssue("enterprise", quota.MaxLimit)
	for range 5_000 {
		kit.Clock.Advance(10 * time.Microsecond)
		call := kit.Admit(key.Digest)
		call.Charge()
	}
	got := testing.AllocsPerRun(100, func() {
		kit.Clock.Advance(10 * time.Microsecond)
		call := kit.Admit(key.Digest)
		call.Release()
	})
	if got != 0 {
		t.Errorf("a call allocates %v times, want 0", got)
	}
}

func TestCloseRefusesCalls(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 0)
	kit.MustSpend(key, 3)
	held := kit.Admit(key.Digest)
	done, stop := context.WithCancel(context.Background())
	stop()
	old := kit.Keeper
	if err := old.Close(done); err != nil {
		t.Fatal(err)
	}
	call := old.Admit(key.Digest)
	if call.Verdict != quota.LedgerUnavailable {
		t.Errorf("Admit() after Close = %v, want ledger_unavailable", call.Verdict)
	}
	if _, _, err := old.Issue(context.Background(), quota.IssueRequest{Name: "a", Email: "a@example.com", UseCase: "a"}); err == nil {
		t.Error("Issue() after Close = nil, want ErrClosed")
	}
	if _, err := old.SetStatus(context.Background(), key.ID, quota.StatusSuspended); err == nil {
		t.Error("Suspend() after Close = nil, want ErrClosed")
	}
	if err := old.Ready(context.Background()); err == nil {
		t.Error("Ready() after Close = nil, want ErrClosed")
	}
	// The held call was not waited for, so it stays counted, answered or not.
	held.Charge()
	usage, err := kit.Ledger.Usage(context.Background(), key.ID)
	if err != nil || usage[0].Calls != 4 {
		t.Errorf("Usage() = %v, %v, want 4 calls", usage, err)
	}
	var again error
	if kit.Keeper, again = quota.NewKeeper(context.Background(), kit.Ledger, quota.Config{Now: kit.Clock.Now, Mono: kit.Clock.Mono}); again != nil {
		t.Fatal(again)
	}
}

func TestStats(t *testing.T) {
	kit := quotatest.New(t, quota.Config{})
	key := kit.MustIssue("", 0)
	kit.MustIssue("", 0)
	kit.MustSpend(key, 1)
	got := kit.Stats()
	if got.Accounts != 2 || got.Periods != 1 || got.Commits == 0 || got.Failing || got.Failures != 0 {
		t.Errorf("Stats() = %+v, want 2 accounts, 1 period and commits", got)
	}
	if err := kit.Ready(context.Background()); err != nil {
		t.Errorf("Ready() = %v", err)
	}
}

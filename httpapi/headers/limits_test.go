package headers

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"modeldex/quota"
)

// TestPlanLines asks for the header lines of more plans than are kept, of two months, from several goroutines at once.
func TestPlanLines(t *testing.T) {
	var p Plans
	months := []quota.Month{quota.MonthOf(time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)), quota.MonthOf(time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC))}
	var callers sync.WaitGroup
	for caller := range 4 {
		callers.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(caller)))
			for i := range 5000 {
				month := months[min(1, (i+r.IntN(100))/2500)]
				pl := plan{fmt.Sprint("tier-", r.IntN(2)), uint64(1 + r.IntN(maxPlans)), quota.Burst{Rate: 1, PerSeconds: 1 + r.IntN(2), Depth: 7}}
				got := p.of(pl, month.End().Unix())
				policy := fmt.Sprintf(`"burst";q=7;w=%d, "month";q=%d;w=%d`, pl.burst.PerSeconds, pl.limit, int64(month.End().Sub(month.Start()).Seconds()))
				want := fmt.Sprintf("X-RateLimit-Limit: %d\r\nX-RateLimit-Reset: %d\r\nX-RateLimit-Tier: %s\r\nRateLimit-Policy: %s\r\n", pl.limit, month.End().Unix(), pl.tier, policy)
				if string(got) != want {
					t.Errorf("of(%v, %v) = %q, want %q", pl, month, got, want)
				}
			}
		})
	}
	callers.Wait()
	if n := len(p.known.Load().lines); n > maxPlans {
		t.Errorf("%d plans are kept, want at most %d", n, maxPlans)
	}
}

// TestLimitLinesAllocs holds the headers of a plan that calls again to no allocation.
func TestLimitLinesAllocs(t *testing.T) {
	var p Plans
	space := make(Lines, 0, 1024)
	st := quota.Standing{Tier: "free", Limit: 1000, Remaining: 999, Reset: 1_772_323_200, Burst: quota.Burst{Rate: 10, PerSeconds: 1, Depth: 10}}
	write := func() { p.AppendLines(space, st, 1_772_000_000) }
	write()
	if got := testing.AllocsPerRun(100, write); got != 0 {
		t.Errorf("appendLines allocates %v times, want 0", got)
	}
}

package httpapi

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"modeldex/quota"

	"github.com/valyala/fasthttp"
)

// TestPlanTexts asks for the texts of more plans than are kept, of two months, from several goroutines at once.
func TestPlanTexts(t *testing.T) {
	var p plans
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
				if want := (planTexts{fmt.Sprint(pl.limit), fmt.Sprint(month.End().Unix()), policy}); got != want {
					t.Errorf("of(%v, %v) = %v, want %v", pl, month, got, want)
				}
			}
		})
	}
	callers.Wait()
	if n := len(p.known.Load().texts); n > maxPlans {
		t.Errorf("%d plans are kept, want at most %d", n, maxPlans)
	}
}

// TestLimitHeadersAllocs holds the headers of a plan that calls again to no allocation.
func TestLimitHeadersAllocs(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	var p plans
	var h fasthttp.ResponseHeader
	st := quota.Standing{Tier: "free", Limit: 1000, Remaining: 999, Reset: 1_772_323_200, Burst: quota.Burst{Rate: 10, PerSeconds: 1, Depth: 10}}
	write := func() { p.limitHeaders(&h, st, 1_772_000_000) }
	write()
	if got := testing.AllocsPerRun(100, write); got != 0 {
		t.Errorf("limitHeaders allocates %v times, want 0", got)
	}
}

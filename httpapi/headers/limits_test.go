package headers

import (
	"testing"
	"time"

	"modeldex/quota"
)

// TestLimits: the headers of a standing have the numbers of its plan and its month, and take no allocation.
func TestLimits(t *testing.T) {
	reset := quota.MonthOf(time.Date(2026, 2, 3, 0, 0, 0, 0, time.UTC)).End().Unix()
	st := quota.Standing{
		Tier: "free", Limit: 1000, Remaining: 999, Reset: reset,
		Burst: quota.Burst{Rate: 1, PerSeconds: 2, Depth: 7}, BurstRemaining: 6, BurstReset: 1500 * time.Millisecond,
	}
	want := "X-RateLimit-Limit: 1000\r\nX-RateLimit-Remaining: 999\r\nX-RateLimit-Reset: 1772323200\r\nX-RateLimit-Tier: free\r\n" +
		"RateLimit-Policy: \"burst\";q=7;w=2, \"month\";q=1000;w=2419200\r\nRateLimit: \"burst\";r=6;t=2, \"month\";r=999;t=60\r\n"
	if got := (Lines{}).AddLimits(st, reset-60); string(got) != want {
		t.Errorf("the headers are\n%s\nwant\n%s", got, want)
	}
	space := make(Lines, 0, 1024)
	if got := testing.AllocsPerRun(100, func() { space[:0].AddLimits(st, reset-60) }); got != 0 {
		t.Errorf("AddLimits allocates %v times, want 0", got)
	}
}

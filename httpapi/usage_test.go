package httpapi

import (
	"encoding/json"
	"testing"
	"time"

	"modeldex/httpapi/usage"
	"modeldex/quota"
)

// A key sees what its calls cost and could have cost: repeats, 304, small pages.
func TestUsageView(t *testing.T) {
	t.Parallel()
	// Noon of a day within a month: the test may run when a day or a month turns.
	noon := func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	s := newServiceAt(t, mustSmallLive(t), quota.Burst{Rate: 1_000_000, PerSeconds: 1, Depth: 1_000_000}, noon)
	first := s.ask(t, "GET", "/api/v1/benchmarks?limit=2")
	tag := first.header.Get("ETag")
	s.ask(t, "GET", "/api/v1/benchmarks?limit=2") // a repeat
	if a := s.ask(t, "GET", "/api/v1/benchmarks?limit=2", "If-None-Match", tag); a.status != 304 {
		t.Fatalf("status %d, want 304", a.status)
	}
	s.list(t, *s.list(t, "/api/v1/benchmarks?limit=5").Links.Next) // a page of 5, where 500 could be had
	s.ask(t, "GET", "/api/v1/models/no-such-model")
	var got struct{ Data KeyUsage }
	if err := json.Unmarshal(s.ask(t, "GET", "/api/v1/keys/self").body, &got); err != nil {
		t.Fatal(err)
	}
	u := got.Data
	if len(u.Days) != 1 || u.Days[0] != (usage.Day{Date: u.Days[0].Date, Calls: 5, NotModified: 1, Repeated: 1, Paging: 0.99}) || u.Savings != (usage.Savings{Saved: 1, IfNoneMatch: 1, LargerPages: 0.99}) || u.Used != 5 {
		t.Errorf("days %+v, savings %+v, used %d", u.Days, u.Savings, u.Used)
	}
	if u.Forecast.CallsPerDay != 120 || u.Forecast.ExhaustedAt != nil {
		t.Errorf("forecast %+v, want 5 calls of the first hour to be 120 per day", u.Forecast)
	}
}

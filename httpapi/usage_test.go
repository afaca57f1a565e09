package httpapi

import (
	"encoding/json"
	"testing"
	"time"

	"modeldex/quota"
)

// A key sees what it was charged.
func TestUsageView(t *testing.T) {
	t.Parallel()
	// Noon of a day within a month: the test may run when a day or a month turns.
	noon := func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	s := newServiceAt(t, mustSmallLive(t), quota.Burst{Rate: 1_000_000, PerSeconds: 1, Depth: 1_000_000}, noon)
	tag := s.ask(t, "GET", "/api/v1/benchmarks?limit=2").header.Get("ETag")
	if a := s.ask(t, "GET", "/api/v1/benchmarks?limit=2", "If-None-Match", tag); a.status != 304 {
		t.Fatalf("status %d, want 304", a.status)
	}
	s.list(t, *s.list(t, "/api/v1/benchmarks?limit=5").Links.Next)
	s.ask(t, "GET", "/api/v1/models/no-such-model")
	var got struct{ Data KeyUsage }
	if err := json.Unmarshal(s.ask(t, "GET", "/api/v1/keys/self").body, &got); err != nil {
		t.Fatal(err)
	}
	u := got.Data
	if u.Used != 4 || len(u.Usage) != 1 || u.Usage[0].Calls != 4 {
		t.Errorf("usage %+v, used %d", u.Usage, u.Used)
	}
}

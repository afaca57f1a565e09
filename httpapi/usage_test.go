package httpapi

import (
	"encoding/json"
	"testing"
	"time"

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
	if len(u.Days) != 1 || u.Days[0] != (DayView{u.Days[0].Date, 5, 1, 1, 0.99}) || u.Savings != (SavingsView{1, 1, 0.99}) || u.Used != 5 {
		t.Errorf("days %+v, savings %+v, used %d", u.Days, u.Savings, u.Used)
	}
	if u.Forecast.CallsPerDay != 120 || u.Forecast.ExhaustedAt != nil {
		t.Errorf("forecast %+v, want 5 calls of the first hour to be 120 per day", u.Forecast)
	}
}

// TestDaysView: the days of a key are the newest 31, today among them, and their sums are of those alone.
func TestDaysView(t *testing.T) {
	today := quota.DayOf(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	days, sum := daysView([]quota.DayUsage{{Day: today - 31, Calls: 7, NotModified: 70}, {Day: today - 30, Calls: 5, NotModified: 3}, {Day: today, Calls: 2, NotModified: 1}}, today)
	if len(days) != 2 || days[0].Date != "2026-10-22" || days[1].Date != "2026-11-21" || sum.Saved != 4 {
		t.Errorf("days %+v, savings %+v, want two days and 4 calls saved", days, sum)
	}
}

func TestForecast(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) // 9.5 days before the month ends
	today := quota.DayOf(now)
	var days []quota.DayUsage
	for i := range 10 {
		days = append(days, quota.DayUsage{Day: today - quota.Day(9-i), Calls: 65})
	}
	a := &quota.Account{Limit: 1000, Used: 700, Remaining: 300, ResetsAt: quota.MonthOf(now).End(), CreatedAt: now.AddDate(0, -3, 0)}
	f := forecast(a, days, now) // 455 calls in 6.5 days
	if f.CallsPerDay != 70 || f.ProjectedUsed != 700+665 || f.ExhaustedAt == nil || !f.ExhaustedAt.Equal(time.Date(2026, 11, 25, 18, 51, 0, 0, time.UTC)) {
		t.Errorf("forecast %+v %v", f, f.ExhaustedAt)
	}
	a.Limit, a.Remaining = 2000, 1300
	if f := forecast(a, days, now); f.ExhaustedAt != nil {
		t.Errorf("forecast below the limit: %v", f.ExhaustedAt)
	}
	if f := forecast(a, nil, now); f.CallsPerDay != 0 || f.ProjectedUsed != 700 {
		t.Errorf("forecast without calls: %+v", f)
	}
	if f := forecast(&quota.Account{CreatedAt: now, ResetsAt: now.Add(time.Hour)}, nil, now); f.CallsPerDay != 0 || f.ExhaustedAt != nil {
		t.Errorf("forecast of a new key: %+v", f)
	}
}

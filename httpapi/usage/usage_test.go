package usage

import (
	"testing"
	"time"

	"modeldex/quota"
)

// TestDays: the days of a key are the newest 31, today among them.
func TestDays(t *testing.T) {
	today := quota.DayOf(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	days := Days([]quota.DayUsage{{Day: today - 31, Calls: 7}, {Day: today - 30, Calls: 5}, {Day: today, Calls: 2}}, today)
	if len(days) != 2 || days[0] != (Day{"2026-10-22", 5}) || days[1] != (Day{"2026-11-21", 2}) {
		t.Errorf("days %+v, want two", days)
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
	f := ForecastOf(a, days, now) // 455 calls in 6.5 days
	if f.CallsPerDay != 70 || f.ProjectedUsed != 700+665 || f.ExhaustedAt == nil || !f.ExhaustedAt.Equal(time.Date(2026, 11, 25, 18, 51, 0, 0, time.UTC)) {
		t.Errorf("forecast %+v %v", f, f.ExhaustedAt)
	}
	a.Limit, a.Remaining = 2000, 1300
	if f := ForecastOf(a, days, now); f.ExhaustedAt != nil {
		t.Errorf("forecast below the limit: %v", f.ExhaustedAt)
	}
	if f := ForecastOf(a, nil, now); f.CallsPerDay != 0 || f.ProjectedUsed != 700 {
		t.Errorf("forecast without calls: %+v", f)
	}
	if f := ForecastOf(&quota.Account{CreatedAt: now, ResetsAt: now.Add(time.Hour)}, nil, now); f.CallsPerDay != 0 || f.ExhaustedAt != nil {
		t.Errorf("forecast of a new key: %+v", f)
	}
}

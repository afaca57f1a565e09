// Package usage says what the owner of a key sees of its use: the days, and where the month is going.
//
// Everything is a function of what quota has counted and of the time. The types are part of the OpenAPI document.
package usage

import (
	"math"
	"time"

	"modeldex/dataset"
	"modeldex/quota"
)

// Day is what a key did on one day.
type Day struct {
	// Day in UTC.
	Date dataset.Date `json:"date" jsonschema:"example=2026-11-22"`
	// Calls charged.
	Calls uint64 `json:"calls" jsonschema:"minimum=0,example=412"`
}

// Forecast says where the month is going if the key goes on as in the last days.
type Forecast struct {
	// Calls per day: the mean of the last 7 days, or since the key was issued if that is less.
	CallsPerDay float64 `json:"calls_per_day" jsonschema:"minimum=0,example=58.9"`
	// Calls that will be used at the end of the month: used, and calls_per_day until then. It may be above the limit.
	ProjectedUsed uint64 `json:"projected_used" jsonschema:"minimum=0,example=930"`
	// When the month's calls will be used up; null if they will not be before it ends.
	ExhaustedAt *time.Time `json:"exhausted_at" jsonschema:"nullable"`
}

// shownDays is how many days of use are shown.
const shownDays = 31

// Days are the days shown today.
func Days(days []quota.DayUsage, today quota.Day) []Day {
	out := []Day{}
	for _, d := range days {
		if today-d.Day < shownDays {
			out = append(out, Day{dataset.Date(d.Day.Start().Format(time.DateOnly)), d.Calls})
		}
	}
	return out
}

// forecastDays is how many days a forecast rests on, today included.
const forecastDays = 7

// ForecastOf goes on with the mean of the last days, of which today is as long as it has lasted.
func ForecastOf(a *quota.Account, days []quota.DayUsage, now time.Time) (f Forecast) {
	from := (quota.DayOf(now) - forecastDays + 1).Start()
	if a.CreatedAt.After(from) {
		from = a.CreatedAt
	}
	calls := uint64(0)
	for _, d := range days {
		if d.Day >= quota.DayOf(from) {
			calls += d.Calls
		}
	}
	const day = 24 * time.Hour
	span := max(now.Sub(from), time.Hour) // the rate of a key's first minutes says nothing
	perDay := float64(calls) / (float64(span) / float64(day))
	left := max(0, float64(a.ResetsAt.Sub(now))/float64(day))
	f.CallsPerDay = math.Round(perDay*10) / 10
	f.ProjectedUsed = a.Used + uint64(math.Round(perDay*left))
	if f.ProjectedUsed > a.Limit && perDay > 0 {
		at := now.Add(time.Duration(float64(a.Remaining) / perDay * float64(day))).UTC().Truncate(time.Minute)
		f.ExhaustedAt = &at
	}
	return f
}
